"""Agents as processes: whatever one does, it ends within its limits, with all its children."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from amqpspec.net.clock import monotonic_s
from amqpspec.run.clients.agent import MAX_OUTPUT_OCTETS, Application, Limits, Ran, run_agent
from tests import waiting
from tests.run.clients.command import is_alive

_PATIENT = Limits(start_s=30.0, scenario_s=30.0)
_SEGFAULT = """
import os, resource, signal
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # no file of a core in the working directory
os.kill(os.getpid(), signal.SIGSEGV)
"""
_HASTY = Limits(start_s=0.3, scenario_s=0.3)


def _run(program: str, limits: Limits = _PATIENT, connected: bool = False) -> Ran:
    begun_s = monotonic_s()
    command = (sys.executable, "-c", program)
    return run_agent(
        command, {"AMQPSPEC_SCENARIO": "connect"}, limits, lambda: begun_s if connected else None
    )


@pytest.mark.parametrize(
    ("program", "application"),
    [
        ("pass", Application.SILENT),
        ("raise SystemExit(1)", Application.REPORTED),
        ("raise ValueError('x')", Application.REPORTED),
        ('print(\'{"event": "error"}\')', Application.REPORTED),
        ('print(\'{"event": "closed"}\')', Application.REPORTED),
        ('print(\'{"event": "delivered"}\')', Application.SILENT),
        ("print('no JSON'); print('[1]'); print('{\"event\": 7}'); print('[' * 100000)", Application.SILENT),
        ("raise SystemExit(89)", Application.CANNOT),
        (_SEGFAULT, Application.CRASH),
    ],
)
def test_what_an_agent_comes_to(program: str, application: Application) -> None:
    ran = _run(program)
    assert (ran.application, ran.stopped_ns) == (application, None)


@pytest.mark.parametrize("connected", [False, True])
def test_an_agent_that_hangs_is_ended(connected: bool) -> None:
    ran = _run("import time; time.sleep(600)", _HASTY, connected)
    assert (ran.application, ran.exit_code) == (Application.HANG, None)
    assert ran.stopped_ns is not None


def test_time_counts_from_the_connection() -> None:
    limits = Limits(start_s=0.05, scenario_s=30.0)
    assert _run("import time; time.sleep(0.5)", limits, connected=True).application is Application.SILENT


def test_an_agent_that_takes_too_much_memory_is_ended() -> None:
    limits = Limits(start_s=60.0, scenario_s=60.0, memory_octets=200 << 20)
    ran = _run("import time; kept = b'x' * (300 << 20); time.sleep(600)", limits)
    assert ran.application is Application.MEMORY


def test_output_is_read_to_its_end_and_kept_in_part() -> None:
    ran = _run(f"import sys; sys.stdout.write('x' * {3 * MAX_OUTPUT_OCTETS}); sys.stderr.write('last words')")
    assert (ran.application, ran.said) == (Application.SILENT, "last words")


def test_an_agent_that_floods_without_end_is_ended() -> None:
    ran = _run("while True: print('x' * 1000)", _HASTY, connected=True)
    assert (ran.application, ran.events) == (Application.HANG, ())


def test_children_do_not_outlive_an_agent(tmp_path: Path) -> None:
    left = tmp_path / "pid"
    child = (
        "import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']);"
        f"open({str(left)!r}, 'w').write(str(p.pid))"
    )
    _run(child)
    pid = int(left.read_text())
    waiting.until(lambda: not is_alive(pid), "the end of an agent's child")


def test_the_environment_is_handed_on() -> None:
    ran = _run(
        "import os, json; print(json.dumps({'event': 'got', 'scenario': os.environ['AMQPSPEC_SCENARIO']}))"
    )
    assert ran.events == ({"event": "got", "scenario": "connect"},)
