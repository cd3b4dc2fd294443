"""Agents that are kept: what they say belongs to the right task, and what is not like new is replaced."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from click.testing import CliRunner

from amqpspec.cli.main import cli
from amqpspec.net.clock import monotonic_s
from amqpspec.run.clients.agent import AgentError, Application, Limits, Ran, Task
from amqpspec.run.clients.batch import BatchAgents
from tests import waiting
from tests.run.clients.command import is_alive

_PATIENT = Limits(start_s=30.0, scenario_s=30.0)
_HASTY = Limits(start_s=20.0, scenario_s=0.3)
_AGENT = """
import json, os, resource, signal, subprocess, sys, time
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
def tell(event, **data):
    print(json.dumps({"event": event, **data}), flush=True)
done = lambda code=0: tell("done", order=task["order"], exit_code=code)
tell("ready")
for line in sys.stdin:
    task = json.loads(line)
    exec(task["scenario"])
"""


@dataclass(frozen=True, slots=True)
class _Sockets:
    connected_s: float | None
    is_open: bool = False


@contextmanager
def _agents(program: str = _AGENT) -> Iterator[BatchAgents]:
    with BatchAgents((sys.executable, "-c", program)) as agents:
        yield agents


def _run(agents: BatchAgents, scenario: str, limits: Limits = _PATIENT, is_open: bool = False) -> Ran:
    return agents.run(Task("amqp://x", scenario, {}), limits, _Sockets(monotonic_s(), is_open))


def test_a_process_is_kept() -> None:
    with _agents() as agents:
        pids = {
            _run(agents, "tell('at', order=task['order'], pid=os.getpid()); done()").events[0]["pid"]
            for _ in "abc"
        }
        assert len(pids) == 1 and agents.started == 1
    assert not psutil.pid_exists(pids.pop())


@pytest.mark.parametrize(
    ("scenario", "application"),
    [
        ("done()", Application.SILENT),
        ("done(1)", Application.REPORTED),
        ("done(89)", Application.CANNOT),
        ("tell('error', order=task['order']); done()", Application.REPORTED),
        ("tell('error'); done()", Application.SILENT),
        ("tell('error', order=task['order'] - 1); done()", Application.SILENT),
        ("sys.exit(1)", Application.REPORTED),
        ("done(); sys.exit(1)", Application.SILENT),
        ("os.kill(os.getpid(), signal.SIGSEGV)", Application.CRASH),
        ("print('no JSON'); print('[' * 100000); print('x' * (3 << 20)); done()", Application.SILENT),
    ],
)
def test_what_a_task_comes_to(scenario: str, application: Application) -> None:
    with _agents() as agents:
        assert _run(agents, "done()").application is Application.SILENT
        ran = _run(agents, scenario)
        assert (ran.application, ran.is_shared) == (application, True)
        assert _run(agents, "done(1)").application is Application.REPORTED, "whatever was before"


@pytest.mark.parametrize(
    "scenario",
    [
        "time.sleep(600)",
        "while True: tell('delivered', order=task['order'])",
        "while True: sys.stdout.write('x')",
        "[done(code) for code in (-1, 256, True, '0', None, 0.5)]",
        "tell('done', order=task['order'] + 1, exit_code=0)",
    ],
)
def test_an_agent_that_does_not_say_done_is_ended_and_replaced(scenario: str) -> None:
    with _agents() as agents:
        begun_s = monotonic_s()
        ran = _run(agents, scenario, _HASTY)
        assert ran.application is Application.HANG and ran.stopped_ns is not None
        assert monotonic_s() - begun_s < 20
        assert _run(agents, "done()").application is Application.SILENT
        assert agents.started == 2


def test_an_agent_that_takes_too_much_memory_is_ended() -> None:
    limits = Limits(start_s=60.0, scenario_s=60.0, memory_octets=200 << 20)
    with _agents() as agents:
        ran = _run(agents, "kept = b'x' * (300 << 20); time.sleep(600)", limits)
    assert (ran.application, ran.is_shared) == (Application.MEMORY, False)


def test_a_process_that_leaves_children_is_replaced() -> None:
    child = (
        "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "tell('child', order=task['order'], pid=p.pid); done()"
    )
    with _agents() as agents:
        pid = _run(agents, child).events[0]["pid"]
        waiting.until(lambda: not is_alive(pid), "the end of an agent's child")
        assert _run(agents, "done()").is_shared is False


def test_a_process_that_holds_a_connection_is_replaced() -> None:
    with _agents() as agents:
        assert _run(agents, "done()", is_open=True).application is Application.SILENT
        assert _run(agents, "done()").is_shared is False


def test_a_process_that_chatters_between_tasks_is_ended() -> None:
    with _agents() as agents:
        pid = _run(
            agents, "tell('at', order=task['order'], pid=os.getpid()); done()\nwhile True: print('x' * 1000)"
        ).events[0]["pid"]
        waiting.until(lambda: not is_alive(pid), "the end of an agent that chatters")


@pytest.mark.parametrize(
    "program", ["pass", "raise ValueError('what is this')", "import time; time.sleep(600)"]
)
def test_an_agent_that_knows_no_batches_is_a_mistake_of_the_user(program: str) -> None:
    with _agents(program) as agents, pytest.raises(AgentError, match="--batch"):
        _run(agents, "done()", Limits(start_s=0.5))
    with BatchAgents(["/nonexistent/agent"]) as agents, pytest.raises(FileNotFoundError):
        _run(agents, "done()")


# --- the verb

_CASES = (
    "client.start-ok.*",
    "client.hostile.end-octet.*",
    "client.hostile.fin.d*",
    "client.hostile.*deliver-to-nobody*",
)


@pytest.mark.parametrize("faults", [(), ("ignores-every-violation",), ("crashes-on-what-it-cannot-read",)])
def test_a_batch_comes_to_the_same_verdicts(tmp_path: Path, faults: tuple[str, ...]) -> None:
    words = [sys.executable, "-m", "amqpspec", "agent", *(w for f in faults for w in ("--fault", f))]
    found = []
    for batch in ([], ["--batch"]):
        command = " ".join([*words, *batch])
        run = [
            "client",
            "--json",
            "--out",
            str(tmp_path / "-".join(["run", *batch])),
            "--command",
            command,
            *batch,
        ]
        result = CliRunner().invoke(cli, [*run, *_CASES])
        cases = json.loads(result.stdout)["cases"]
        found.append({c["id"]: (c["verdict"], c["observed"], c["facts"].get("application")) for c in cases})
    assert found[0] == found[1]


def test_an_agent_that_knows_no_batches_is_one_line(tmp_path: Path) -> None:
    command = f"{sys.executable} -c pass"
    result = CliRunner().invoke(
        cli,
        ["client", "--out", str(tmp_path / "run"), "--batch", "--command", command, "client.start-ok.locale"],
    )
    assert result.exit_code == 2
    assert result.stderr.strip().splitlines()[-1].endswith("(--batch), actual: nothing")
