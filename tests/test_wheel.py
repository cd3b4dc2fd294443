"""The wheel, installed into an empty environment beside a project that has folders of our names."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from packaging.requirements import Requirement

from amqpspec.reference.server import ReferenceBroker
from amqpspec.spec.dialects import certified_dialects
from tests.waiting import PATIENCE_S

ROOT = Path(__file__).parents[1]
SOURCES = [ROOT / folder / "amqpspec" for folder in ("harness", "suites", "fuzz", "reports")]
FOLDERS = ("harness", "suites", "fuzz", "reports", "tests")
MANUAL = "data/share/man/man1/amqpspec.1"

_THEIR_TEST = """
import sys

import harness, suites, fuzz, reports


def test_modules_are_this_projects_own(pytestconfig):
    for module in (harness, suites, fuzz, reports):
        assert str(pytestconfig.rootpath) in module.__file__
    if not pytestconfig.getoption("--amqp-target"):
        ours = {name for name in sys.modules if name.startswith("amqpspec.")}
        assert ours == {"amqpspec.run", "amqpspec.run.pytest_plugin"}
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as it is published."""
    folder = tmp_path_factory.mktemp("dist")
    done = said([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=ROOT)
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Programs of an environment with the wheel and what a run needs."""
    return installed(wheel, tmp_path_factory.mktemp("bare"))


@pytest.fixture(scope="module")
def with_pytest(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with ``amqpspec[pytest]``."""
    programs = installed(wheel, tmp_path_factory.mktemp("with-pytest"), "pytest")
    (programs / "pytest").write_text(
        f"#!{programs / 'python'}\nimport pytest\nraise SystemExit(pytest.main())\n"
    )
    (programs / "pytest").chmod(0o755)
    return programs


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of someone else, with folders of the names that ours has."""
    for folder in FOLDERS:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").write_text("")
    (tmp_path / "tests" / "test_theirs.py").write_text(_THEIR_TEST)
    return tmp_path


def said(args: list[Any], **facts: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(arg) for arg in args], capture_output=True, text=True, timeout=PATIENCE_S, check=False, **facts
    )


def installed(wheel: Path, place: Path, *extras: str) -> Path:
    """An environment of the wheel and the packages that it asks for, which are those that stand here."""
    assert said([sys.executable, "-m", "venv", "--without-pip", place]).returncode == 0
    (site,) = place.glob("lib/python*/site-packages")
    options = ["--no-deps", "--no-index", "--no-compile", "--disable-pip-version-check"]
    done = said([sys.executable, "-m", "pip", "--python", place / "bin/python", "install", *options, wheel])
    assert done.returncode == 0, done.stderr
    (dist_info,) = site.glob("amqpspec-*.dist-info")
    for name in needed(metadata.PathDistribution(dist_info).requires or [], extras):
        link(metadata.distribution(name), site)
    return place / "bin"


def needed(requires: list[str], extras: tuple[str, ...]) -> set[str]:
    """The names of all packages that some requirements lead to."""
    found: set[str] = set()
    left = [(text, extras) for text in requires]
    while left:
        text, wanted = left.pop()
        row = Requirement(text)
        if row.name in found or not any(
            row.marker is None or row.marker.evaluate({"extra": extra}) for extra in ("", *wanted)
        ):
            continue
        found.add(row.name)
        left += [(more, tuple(row.extras)) for more in metadata.requires(row.name) or []]
    return found


def link(distribution: metadata.Distribution, site: Path) -> None:
    for name in {file.parts[0] for file in distribution.files or []} - {"..", "__pycache__"}:
        if not (site / name).exists():
            (site / name).symlink_to(Path(str(distribution.locate_file(name))))


# --- what is inside


def test_it_holds_all_files_of_the_sources_and_nothing_else(wheel: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    sources = {
        str(path.relative_to(source.parent))
        for source in SOURCES
        for path in source.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    sources.add("amqpspec/target/targets.yaml")
    assert {name for name in inside if not re.match(r"[^/]+\.(dist-info|data)/", name)} == sources
    assert [name.partition(".data/")[2] for name in inside if ".data/" in name] == [MANUAL]
    for kind in (
        "requirements.yaml",
        "baselines/rabbitmq.yaml",
        ".css",
        ".js",
        ".html.j2",
        "results-1.json",
        "results-2.json",
        "marts.json",
    ):
        assert any(name.endswith(kind) for name in inside), kind


def test_its_contents_are_clean(wheel: Path) -> None:
    done = said([sys.executable, "-m", "check_wheel_contents", "--no-config", wheel])
    assert done.returncode == 0, done.stdout + done.stderr


# --- what it can do


def test_the_man_page_is_installed(bare: Path) -> None:
    assert (bare.parent / "share/man/man1/amqpspec.1").read_text("utf-8").startswith('.\\" docs/')


def test_verbs_work_with_nothing_but_what_a_run_needs(bare: Path, project: Path) -> None:
    def amqpspec(*args: str, code: int = 0) -> str:
        done = said([bare / "amqpspec", *args], cwd=project)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    assert not [name for name in ("pyarrow", "pytest", "pyspark") if has(bare, name)]
    assert {*json.loads(amqpspec("coverage", "--json"))["dialects"]} == {*certified_dialects()}
    assert "queue.declare" in amqpspec("list", "queue.declare*")
    assert "channel/open/state" in amqpspec("explain", "channel.open.twice")
    counted = json.loads(amqpspec("run", "reference", "queue.declare.*", "--out", "run", "--json"))
    assert counted["run"] == counted["planned"] > 0
    assert amqpspec("report", "run", "--out", "page.html") == "page.html\n"
    evidence = next((project / "run" / "evidence").iterdir())
    amqpspec("replay", str(evidence), "--pcap", "replay.pcapng")
    amqpspec("baseline", "run", "--out", "baseline.yaml")
    amqpspec("selftest", "--dialect", "amqp-wire-9-1", "--fault", "own-header-refused")
    assert "--fault" in amqpspec("reference", "--help")
    assert "rabbitmq" in amqpspec("brokers", "list")


@pytest.mark.parametrize(("verb", "extra"), [("fuzz", "fuzz"), ("query", "pipeline")])
def test_a_verb_that_needs_more_says_which_extra_brings_it(
    bare: Path, project: Path, verb: str, extra: str
) -> None:
    (project / "marts").mkdir()
    done = said([bare / "amqpspec", verb, "reference"], cwd=project)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"amqpspec: {verb} needs pyarrow: pip install 'amqpspec[{extra}]'\n"


def test_baselines_of_known_targets_come_along(bare: Path, project: Path) -> None:
    program = """
from amqpspec.target.find import built_in_targets
from amqpspec.target.config import read_targets
targets = read_targets(built_in_targets()).values()
print(*(target.baseline for target in targets if target.baseline), sep="\\n")
"""
    done = said([bare / "python", "-c", program], cwd=project)
    baselines = [Path(line) for line in done.stdout.splitlines()]
    assert baselines and all(path.is_relative_to(bare.parent) and path.is_file() for path in baselines)


@pytest.mark.parametrize("start", [["pytest"], ["python", "-m", "pytest"]])
def test_a_project_with_folders_of_our_names_keeps_them(
    with_pytest: Path, project: Path, start: list[str]
) -> None:
    done = said([with_pytest / start[0], *start[1:], "-q", "tests"], cwd=project)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("1 passed")


def test_our_suite_runs_beside_the_tests_of_such_a_project(with_pytest: Path, project: Path) -> None:
    ours = ["--amqp-target", "reference", "--pyargs", "amqpspec.suites"]
    done = said(
        [with_pytest / "python", "-m", "pytest", "-q", "tests", *ours, "-k", "theirs or queue.declare"],
        cwd=project,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.splitlines()[-1].split()[0]) > 20
    assert (project / "out" / "pytest").is_dir()


# --- a stranger


def test_a_stranger_gets_from_docs_ci_to_a_red_and_a_green_build(bare: Path, tmp_path: Path) -> None:
    """Every command of the document, word by word except for the port, in an empty folder with an empty environment."""
    commands = re.findall(r"^\$ (amqpspec .*)$", (ROOT / "docs" / "ci.md").read_text("utf-8"), re.MULTILINE)
    environment = {"PATH": f"{bare}:/usr/bin:/bin", "HOME": str(tmp_path)}
    hosted = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(tmp_path / "step.md")}
    told: dict[str, tuple[int, str]] = {}
    with ReferenceBroker("rabbitmq-0-9-1", faults=["wrong-code:channel/open/state"]) as broker:
        for line in commands:
            words = re.sub(r"amqp://guest:guest@localhost:5672/|\bURL\b", broker.url, line).split()
            done = said([bare / words[0], *words[1:]], cwd=tmp_path, env=environment | hosted)
            told[line.split("@localhost:5672/")[-1].strip()] = (done.returncode, done.stdout + done.stderr)
    codes = {line: code for line, (code, _) in told.items()}
    shards = [codes.pop(f"amqpspec run URL --shard {part}") for part in ("1/2 --out one", "2/2 --out two")]
    assert sorted(shards) == [0, 1]
    assert codes == {
        "--junit junit.xml --out first": 1,
        "amqpspec baseline first --out known.yaml": 0,
        "--baseline known.yaml --junit junit.xml --out run": 0,
        "amqpspec certificate run": 0,
        "amqpspec certificate verify run/certificate.json": 0,
        "amqpspec merge one two --out whole --baseline known.yaml": 0,
    }, told
    red = told["--junit junit.xml --out first"][1]
    assert "::error title=channel.open.twice::A second open" in red
    assert "channel.open.twice" in (tmp_path / "step.md").read_text("utf-8")
    assert ET.parse(tmp_path / "junit.xml").getroot().get("failures") == "0"
    assert "requirements judged" in ET.parse(tmp_path / "run" / "badge.svg").getroot().attrib["aria-label"]
    assert "baseline met" in told["amqpspec certificate run"][1]
    assert "all fit" in told["amqpspec certificate verify run/certificate.json"][1]
    for folder in ("first", "run", "whole"):
        assert (tmp_path / folder / "matrix.html").stat().st_size < 2_000_000, "a page that people open"
    assert not (tmp_path / ".brokers").exists(), "nothing lies about"


def test_a_stranger_with_a_broker_that_conforms_has_a_green_build(bare: Path, tmp_path: Path) -> None:
    environment = {"PATH": "/usr/bin:/bin"}
    with ReferenceBroker("rabbitmq-0-9-1") as broker:
        done = said([bare / "amqpspec", "run", broker.url, "--out", "run"], cwd=tmp_path, env=environment)
    assert done.returncode == 0 and "no deviation" in done.stdout, done.stdout + done.stderr


def has(programs: Path, package: str) -> bool:
    return said([programs / "python", "-c", f"import {package}"]).returncode == 0
