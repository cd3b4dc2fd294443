"""Limits around a broker's process: there before its first instruction, read from the system, kept by a restart."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from amqpspec.target.config import Target
from amqpspec.target.known import Running
from amqpspec.target.known.memory import limit_in_force_mib, limited
from amqpspec.target.known.process import Command, _under_limit, is_alive, spawn
from amqpspec.target.known.state import Options, _from_json
from amqpspec.target.live import TargetError, _check_limit
from tests.waiting import until

MIB = 1 << 20


def test_without_a_wish_a_command_stays_as_it_is() -> None:
    command = Command(("java", "-Xmx512m"), {}, data_limit_octets=3 << 30)
    assert limited(command, None) is command


@pytest.mark.parametrize(
    ("word", "lowered"),
    [
        ("-Xmx512m", "-Xmx512m"), ("-Xmx4g", "-Xmx1024m"),
        ("-XX:MaxDirectMemorySize=1536m", "-XX:MaxDirectMemorySize=512m"),
        ("-Xms4g", "-Xms4g"), ("broker", "broker"),
    ],
)  # fmt: skip
def test_the_limits_of_a_jvm_fit_into_that_of_its_process(word: str, lowered: str) -> None:
    found = limited(Command(("java", word), {}), 2048)
    assert found.argv == ("java", lowered) and found.data_limit_octets == 2048 * MIB


def test_a_process_is_limited_before_it_begins(tmp_path: Path) -> None:
    said = "import resource; print(resource.getrlimit(resource.RLIMIT_DATA))"
    command = Command((sys.executable, "-c", said), dict(os.environ), data_limit_octets=512 * MIB)
    process = spawn(command, tmp_path, tmp_path / "log")
    until(lambda: not is_alive(process), "the process is at its end")
    assert f"({512 * MIB}, {512 * MIB})" in (tmp_path / "log").read_text()


def test_a_limit_is_read_from_the_system() -> None:
    waits = (sys.executable, "-c", "print(1, flush=True); input()")
    argv = _under_limit(Command(waits, dict(os.environ), None, 256 * MIB))
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        assert limit_in_force_mib(child.pid) == 256
        child.kill()
    assert limit_in_force_mib(None) is None and limit_in_force_mib(child.pid) is None


def test_a_process_beyond_its_limit_gets_no_more_memory(tmp_path: Path) -> None:
    greedy = (sys.executable, "-c", "bytearray(1 << 30)")
    argv = _under_limit(Command(greedy, dict(os.environ), None, 256 * MIB))
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert "MemoryError" in done.stderr


def test_a_command_that_is_not_there_is_left_to_whoever_starts_it() -> None:
    command = Command(("/no/such/broker",), {}, data_limit_octets=MIB)
    assert _under_limit(command) == ("/no/such/broker",)


def test_a_state_of_before_there_were_limits_can_be_read() -> None:
    row = {
        "version": "1", "ports": {"amqp": 1, "tls": None, "extra": []}, "options": {"plugins": [], "tls": None},
        "log": "log", "log_offset_octets": 0, "processes": [], "complete": False, "ready": False,
    }  # fmt: skip
    assert _from_json(row).options == Options()
    row["options"] = {"plugins": [], "tls": None, "memory_limit_mib": 2048}
    assert _from_json(row).options.memory_limit_mib == 2048


@pytest.mark.parametrize("actual", [None, 3072])
def test_a_target_that_wants_a_limit_is_refused_without(actual: int | None) -> None:
    running = Running("rabbitmq", "amqp://x/", 1, Path("log"), "3", memory_limit_mib=actual)
    with pytest.raises(
        TargetError, match=r"memory limit of 2048 MiB, actual: .*restart rabbitmq --memory-limit 2048"
    ):
        _check_limit(Target("rabbit", broker="rabbitmq", memory_limit_mib=2048), running)
    _check_limit(Target("rabbit", broker="rabbitmq"), running)
    smaller = Running("rabbitmq", "amqp://x/", 1, Path("log"), "3", memory_limit_mib=2048)
    _check_limit(Target("rabbit", broker="rabbitmq", memory_limit_mib=3072), smaller)
