"""Many cases at once: what the system has no room for is said before it begins, and the rest goes."""

from __future__ import annotations

import json
import os
import resource
import shlex
import subprocess
from pathlib import Path

import pytest

from amqpspec.peer.line import FLOOD_OCTETS
from amqpspec.reference.server import ReferenceBroker
from amqpspec.run.room import FILES_OF_A_CASE, OWN_FILES, Room, room_for
from tests.cli.verbs import command

PLENTY = 1 << 50


def files(most: int) -> int:
    return room_for(512, lambda needed: most, lambda: PLENTY).at_once


def test_files_bound_how_many_go_at_once() -> None:
    needed = 512 * FILES_OF_A_CASE + OWN_FILES
    assert room_for(512, lambda asked: asked, lambda: PLENTY) == Room(512)
    assert (files(needed), files(needed - 1), files(256), files(3)) == (512, 511, 48, 1)
    (said,) = room_for(512, lambda asked: 256, lambda: PLENTY).says
    assert said == f"-n 512: expected room for {needed} open files, actual 256 (ulimit -n): 48 cases at once"


def test_memory_that_may_not_suffice_is_said() -> None:
    assert room_for(2, lambda asked: asked, lambda: 2 * FLOOD_OCTETS) == Room(2)
    (said,) = room_for(2, lambda asked: asked, lambda: 2 * FLOOD_OCTETS - 1).says
    assert said == "-n 2: a target that floods every case may take 128 MiB of memory, 127 MiB are free"


def test_a_limit_that_may_be_raised_is_raised() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
        assert room_for(100, free_octets=lambda: PLENTY) == Room(100)
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (100 * FILES_OF_A_CASE + OWN_FILES, hard)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("limit", [256, None])
def test_512_at_once_stay_within_the_limits(limit: int | None, tmp_path: Path) -> None:
    """A whole suite by URL, with few descriptors: no error for want of them, and little memory."""
    said = tmp_path / "said"
    with ReferenceBroker("rabbitmq-0-9-1") as broker, said.open("w") as file:
        words = command("run", broker.url, "-d", "amqp-0-9-1", "-n", "512", "-q", "-o", tmp_path / "run")
        line = f"{f'ulimit -n {limit}; ' if limit else ''}exec {shlex.join(words)}"
        running = subprocess.Popen(["bash", "-c", line], stderr=file)
        _, status, used = os.wait4(running.pid, 0)
    running.returncode = os.waitstatus_to_exitcode(status)
    assert running.returncode == 0, said.read_text()
    assert ("-n 512: expected room for" in said.read_text()) == (limit is not None)
    verdicts = json.loads((tmp_path / "run" / "results.json").read_text("utf-8"))["verdicts"]
    assert "error" not in verdicts and verdicts["pass"] > 500
    assert used.ru_maxrss < 512 * 2048, "kilobytes: two MiB a case"
