"""What other people's CI calls: the GitHub action, and the image."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from amqpspec.cli.run import run
from tests.waiting import PATIENCE_S

ROOT = Path(__file__).parents[1]
BUILDER = next(filter(None, map(shutil.which, ("buildah", "podman", "docker"))), None)


def program(name: str) -> ModuleType:
    """A program of CI, which is no module of the package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / ".ci" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def action() -> ModuleType:
    """The step's program."""
    return program("action")


@pytest.fixture(scope="module")
def declared() -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    return document


def ran(folder: Path, **inputs: str) -> tuple[int, dict[str, str]]:
    """The exit code of the step, and its outputs."""
    told = folder / "outputs"
    told.unlink(missing_ok=True)
    environment = {f"AMQPSPEC_{name.upper()}": value for name, value in inputs.items()}
    command = [sys.executable, str(ROOT / ".ci" / "action.py")]
    done = subprocess.run(
        command, cwd=folder, env=environment | {"GITHUB_OUTPUT": str(told)}, check=False, timeout=PATIENCE_S,
        capture_output=True,
    )  # fmt: skip
    lines = told.read_text("utf-8").splitlines() if told.exists() else []
    return done.returncode, dict(line.split("=", 1) for line in lines)


def test_every_input_reaches_the_step_and_every_output_has_a_source(declared: dict[str, Any]) -> None:
    _, step, upload = declared["runs"]["steps"]
    used = set(step["env"].values()) | {upload["if"], upload["with"]["name"]}
    assert all(any(f"inputs.{name}" in text for text in used) for name in declared["inputs"])
    assert all(
        f"steps.{step['id']}.outputs.{name} " in out["value"] for name, out in declared["outputs"].items()
    )
    # An expression inside a script would be read by the shell.
    assert not [s for s in declared["runs"]["steps"] if "${{" in s.get("run", "")]


def test_inputs_become_options_that_run_knows(action: ModuleType, declared: dict[str, Any]) -> None:
    line = action.arguments({
        "AMQPSPEC_URL": "", "AMQPSPEC_TARGET": "reference", "AMQPSPEC_BASELINE": "known.yaml",
        "AMQPSPEC_STRICT": "true", "AMQPSPEC_CASES": " channel.open.twice\n queue.* ", "PATH": "/bin",
    })  # fmt: skip
    assert line == [
        "--target=reference", "--baseline=known.yaml", "--strict", "--out=amqpspec-run",
        "--force", "--", "channel.open.twice", "queue.*",
    ]  # fmt: skip
    known = {option for parameter in run.params for option in parameter.opts}
    assert {f"--{name}" for name in action.OPTIONS} | {"--strict", "--out"} <= known
    assert {*action.OPTIONS} < declared["inputs"].keys()


def test_a_green_and_a_red_step(tmp_path: Path, declared: dict[str, Any]) -> None:
    cases = "channel.open.twice connection.open"
    code, told = ran(tmp_path, target="reference", cases="channel.open.twice", out="green")
    assert code == 0 and told.keys() == declared["outputs"].keys()
    assert told["folder"] == "green" and (tmp_path / "green" / "deviations.sarif").exists()
    assert [told[name] for name in ("planned", "pass", "fail", "blocked")] == ["1", "1", "0", "0"]
    code, told = ran(tmp_path, target="nobody", cases="channel.open.twice", out="green")
    assert code == 2 and told == {"exit-code": "2"}, "counts of the run before are not told again"
    code, told = ran(tmp_path, url="amqp://127.0.0.1:1/", dialect="amqp-0-9-1", out="red", cases=cases)
    assert code == int(told["exit-code"]) != 0


def test_an_order_that_cannot_be_is_told_without_results(tmp_path: Path) -> None:
    assert ran(tmp_path, target="nobody", out="none") == (2, {"exit-code": "2"})


def test_the_image_gets_all_that_the_wheel_is_made_of(tmp_path: Path) -> None:
    sent = [
        line[1:] for line in (ROOT / ".containerignore").read_text("utf-8").splitlines() if line[0] == "!"
    ]
    for name in sent:
        place = ROOT / name
        copy: Any = shutil.copytree if place.is_dir() else shutil.copy
        copy(place, tmp_path / name)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist")]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=PATIENCE_S
    )
    assert done.returncode == 0, done.stderr
    assert [*(tmp_path / "dist").glob("amqpspec-*.whl")]


# --- releases


def test_a_release_needs_no_password_and_only_its_publisher_has_a_token() -> None:
    text = (ROOT / ".github/workflows/release.yaml").read_text("utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    assert "secrets." not in text and "password" not in text.partition("\n")[2]
    assert {name for name, job in jobs.items() if "permissions" in job} == {"publish"}
    assert jobs["publish"]["permissions"] == {"id-token": "write"} and jobs["publish"]["needs"] == "build"
    assert not [step for step in jobs["publish"]["steps"] if "run" in step], (
        "what publishes runs nothing of ours"
    )
    assert any(step.get("run", "").startswith("python .ci/released.py") for step in jobs["build"]["steps"])


def test_what_is_released_has_its_version_and_its_notes() -> None:
    complaint = program("released").complaint
    notes = "# Changelog\n\n## 0.2.0 (2026-11-22)\n"
    assert complaint("v0.2.0", "0.2.0", notes, []) == ""
    assert complaint("v0.2.1", "0.2.0", notes, []).startswith("expected the tag v0.2.0")
    assert "towncrier build" in complaint("v0.3.0", "0.3.0", notes, [])
    assert complaint("v0.2.0", "0.2.0", notes, ["a.added.md"]).startswith("changes/a.added.md: ")


def test_every_fragment_is_of_a_kind_that_towncrier_knows() -> None:
    towncrier = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["towncrier"]
    kinds = {kind["directory"] for kind in towncrier["type"]}
    names = [path.name for path in (ROOT / towncrier["directory"]).iterdir() if path.name[0] != "."]
    assert names and all(re.fullmatch(rf"[\w-]+\.({'|'.join(kinds)})\.md", name) for name in names)
    assert towncrier["start_string"] in (ROOT / towncrier["filename"]).read_text("utf-8")


# --- the image


def instructions() -> list[list[str]]:
    """The Containerfile, an instruction a row, continued lines joined."""
    text = (ROOT / "Containerfile").read_text("utf-8").replace("\\\n", " ")
    return [line.split() for line in text.splitlines() if line and line[0] != "#"]


def test_the_containerfile_is_sound() -> None:
    """What a linter would say: stages that are there, releases that are named, no one's root, arguments as a list."""
    stages: list[str] = []
    user = ""
    for name, *words in instructions():
        assert name in ("FROM", "WORKDIR", "COPY", "RUN", "USER", "ENTRYPOINT", "CMD"), name
        if name == "FROM":
            base = words[0]
            assert base in stages or re.fullmatch(r"docker\.io/library/python:3\.\d+-slim", base), base
            user = "" if base not in stages else user
            stages.append(words[2] if words[1:2] == ["AS"] else "")
        if name == "USER":
            user = words[0]
        if name == "COPY" and words[0].startswith("--from="):
            assert words[0].removeprefix("--from=") in stages
        if name in ("ENTRYPOINT", "CMD"):
            assert isinstance(json.loads(" ".join(words)), list)
            assert user == "amqpspec", "what runs in the end is no root"
        if "pip install" in " ".join(words):
            assert "--no-cache-dir" in words
    assert stages == ["build", "run", "pipeline", ""] and instructions()[-1] == ["FROM", "run"]


# As root in a separate container, a builder has neither namespaces nor overlays.
ISOLATION = {"BUILDAH_ISOLATION": "chroot"}
IS_BUILDAH = bool(BUILDER and BUILDER.endswith("buildah"))
NO_BASE = ("initializing source", "Cannot connect to the Docker daemon", "failed to resolve", "no such host")


def built(*words: str) -> subprocess.CompletedProcess[str]:
    assert BUILDER is not None
    return subprocess.run(
        [BUILDER, *(["--storage-driver", "vfs"] if IS_BUILDAH else []), *words], cwd=ROOT, capture_output=True,
        text=True, check=False, timeout=500, env={**os.environ, **ISOLATION},
    )  # fmt: skip


@pytest.mark.skipif(BUILDER is None, reason="no buildah, podman or docker here")
def test_the_image_certifies_the_reference_broker() -> None:
    made = built("bud" if IS_BUILDAH else "build", "--file", "Containerfile", "--tag", "amqpspec-test", ".")
    if made.returncode and any(words in made.stderr for words in NO_BASE):
        pytest.skip(f"no image can be built here: {made.stderr.strip().splitlines()[-1]}")
    assert made.returncode == 0, made.stderr
    case = ("run", "reference", "channel.open.twice")
    if IS_BUILDAH:
        box = built("from", "amqpspec-test").stdout.strip()
        done = built("run", box, "--", "amqpspec", *case)
        built("rm", box)
    else:
        done = built("run", "--rm", "amqpspec-test", *case)
    assert done.returncode == 0 and "1 pass" in done.stdout, done.stderr
