"""Whole processes: what the quick verbs cost, and what ten times the evidence does to a run's memory.

Knows: how to run a command and ask the operating system what it used. Must not know: what the verbs do.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.row import Row

ROUNDS = 5
VERB = [sys.executable, "-m", "amqpspec.cli.main"]
BARE = [sys.executable, "-c", "import click"]


def rows() -> Iterator[Row]:
    """CPU of ``--help`` and ``list`` beside an interpreter that only loads click; memory at 10× beside 1×."""
    for verb in ("--help", "list"):
        ours, bare = _interleaved([*VERB, verb], BARE)
        yield Row(
            f"cli.{verb.strip('-')}.cpu", round(ours, 3), round(bare, 3), round(ours / bare, 2), "s of CPU"
        )
    once, ten = _peak_mib(1), _peak_mib(10)
    yield Row("run.memory.evidence-10x", ten, once, round(ten / once, 2), "MiB at peak")


def _interleaved(ours: list[str], theirs: list[str]) -> tuple[float, float]:
    spent: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for side, command in enumerate((ours, theirs)):
            spent[side].append(_used(command)[0])
    return statistics.median(spent[0]), statistics.median(spent[1])


def _peak_mib(repeat: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        out = str(Path(folder) / "run")
        return round(
            _used([*VERB, "run", "reference", "--quiet", "--repeat", str(repeat), "--out", out])[1] / 1024
        )


_MAXRSS_UNIT = 1024 if sys.platform == "darwin" else 1  # macOS counts octets, Linux KiB


def _used(command: list[str]) -> tuple[float, int]:
    """CPU seconds and peak memory (KiB) of one process."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss // _MAXRSS_UNIT
