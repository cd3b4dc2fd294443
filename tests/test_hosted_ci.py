"""What other people's CI calls: the GitHub action, and the image."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from amqpspec.cli.run import run

ROOT = Path(__file__).parents[1]
BUILDER = next(filter(None, map(shutil.which, ("buildah", "podman", "docker"))), None)


@pytest.fixture(scope="module")
def action() -> ModuleType:
    """The step's program, which is no module of the package."""
    spec = importlib.util.spec_from_file_location("action", ROOT / ".ci" / "action.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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
        command, cwd=folder, env=environment | {"GITHUB_OUTPUT": str(told)}, check=False, timeout=120,
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
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert [*(tmp_path / "dist").glob("amqpspec-*.whl")]


@pytest.mark.skipif(BUILDER is None, reason="no buildah, podman or docker here")
def test_the_image_certifies_the_reference_broker() -> None:
    assert BUILDER is not None
    verb = ["bud"] if BUILDER.endswith("buildah") else ["build"]
    made = subprocess.run(
        [BUILDER, *verb, "--file", "Containerfile", "--tag", "amqpspec-test", "."],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=500,
    )  # fmt: skip
    if made.returncode:
        pytest.skip(f"no image can be built here: {made.stderr.strip().splitlines()[-1]}")
    if verb == ["bud"]:
        return
    command = [BUILDER, "run", "--rm", "amqpspec-test", "run", "reference", "channel.open.twice"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
