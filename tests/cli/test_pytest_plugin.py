"""``pytest --pyargs amqpspec.suites --amqp-target …``: pytest selects, reports and exits; the runner is the same."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from amqpspec.net.ports import free_port
from amqpspec.record.journal import read_cases
from amqpspec.run.case import Case, load_suite
from amqpspec.suites.amqp_0_9_1 import channel
from tests.cli.verbs import ROOT, command, outside, process

FAULT = "not-refused:channel/open/state"
SELECT = "channel.open or channel.close"


def pytest_suites(folder: Path, *args: str, target: str = "reference") -> subprocess.CompletedProcess[str]:
    options = [
        "--amqp-target",
        target,
        "--amqp-out",
        str(folder / "run"),
        "-o",
        f"cache_dir={folder / 'cache'}",
    ]
    return pytest_outside(str(ROOT / "suites"), *options, *args)


def pytest_outside(*args: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """pytest in a separate process."""
    return outside([sys.executable, "-m", "pytest", "-q", *args], cwd=cwd)


def test_cases_of_another_dialect_are_left_out(tmp_path: Path) -> None:
    done = pytest_suites(tmp_path, "-k", "connections.opening or handle.open")
    assert done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED, done.stdout + done.stderr
    assert "deselected" in done.stdout and "failed" not in done.stdout


def test_a_conforming_target_passes(tmp_path: Path) -> None:
    done = pytest_suites(tmp_path, "-k", SELECT, "--junitxml", str(tmp_path / "junit.xml"))
    assert done.returncode == 0, done.stdout + done.stderr
    (suite,) = ET.parse(tmp_path / "junit.xml").getroot()
    names = {case.get("name", "") for case in suite}
    assert "channel.open.twice" in names and all("channel.open" in n or "channel.close" in n for n in names)
    properties = {(p.get("name"), p.get("value")) for case in suite for p in case.iter("property")}
    assert {("requirement", "channel/open/state"), ("level", "MUST")} <= properties
    assert {row.id for row in read_cases(tmp_path / "run")} == names


def test_each_case_runs_once_under_xdist(tmp_path: Path) -> None:
    with process(command("reference", "--fault", FAULT)) as broker:
        assert broker.stdout is not None
        url = broker.stdout.readline().strip()
        done = pytest_suites(tmp_path, "-k", f"{SELECT} or durable.restart", "-n", "2", target=url)
    assert done.returncode == 1 and "channel.open.twice" in done.stdout, done.stdout + done.stderr
    assert "1 failed" in done.stdout and "skipped" in done.stdout
    ran = [sorted(row.id for row in read_cases(tmp_path / "run" / worker)) for worker in ("gw0", "gw1")]
    assert all(ran) and len({*ran[0], *ran[1]}) == len(ran[0]) + len(ran[1])
    assert all("channel.open" in name or "channel.close" in name for names in ran for name in names)
    assert {case.id for case in channel_cases()} <= {*ran[0], *ran[1]}


def channel_cases() -> list[Case]:
    return [
        case
        for case in load_suite("amqp-0-9-1").values()
        if case.suite == "channel" and case.id[:12] == "channel.open"
    ]


def test_a_deviation_fails_with_what_was_expected_and_no_traceback(tmp_path: Path) -> None:
    with process(command("reference", "--fault", FAULT)) as broker:
        assert broker.stdout is not None
        url = broker.stdout.readline().strip()
        done = pytest_suites(tmp_path, "-k", SELECT, target=url)
        assert done.returncode == 1
        assert "expected: connection exception" in done.stdout and "observed: " in done.stdout
        assert "Traceback" not in done.stdout + done.stderr
        again = pytest_suites(tmp_path, "--lf", "-v", target=url)
        assert again.returncode == 1
        assert "1 failed" in again.stdout and "passed" not in again.stdout.splitlines()[-1]
        first = pytest_suites(tmp_path, "-x", "-k", "channel", target=url)
        assert first.returncode == 1 and "1 failed" in first.stdout.splitlines()[-1]


def test_single_cases_are_named_by_node(tmp_path: Path) -> None:
    node = f"{channel.__file__}::channel.open.twice"
    options = ["--amqp-target", "reference", "--amqp-out", str(tmp_path / "run"), "-p", "no:cacheprovider"]
    done = pytest_outside(node, *options)
    assert done.returncode == 0 and "1 passed" in done.stdout


def test_nothing_is_run_for_a_list(tmp_path: Path) -> None:
    done = pytest_suites(tmp_path, "--collect-only", "-k", "channel.open.twice")
    assert done.returncode == 0 and "channel.open.twice" in done.stdout
    assert not (tmp_path / "run").exists()


def test_a_target_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    done = pytest_suites(tmp_path, "-k", SELECT, target=f"amqp://127.0.0.1:{free_port()}")
    assert done.returncode == 4
    assert "could not reach the target" in done.stderr and "Traceback" not in done.stderr


def test_without_a_target_there_are_no_cases() -> None:
    done = pytest_outside(str(ROOT / "suites"), "-p", "no:cacheprovider")
    assert done.returncode == 5


def test_another_project_loads_nothing_but_the_plugin(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import sys\n"
        "def test_it():\n"
        "    ours = {name for name in sys.modules if name.split('.')[0] == 'amqpspec'}\n"
        "    assert ours == {'amqpspec', 'amqpspec.run', 'amqpspec.run.pytest_plugin'}\n"
    )
    options = ("-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", str(tmp_path))
    done = pytest_outside(*options, str(tmp_path), cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
