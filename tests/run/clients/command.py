"""``amqpspec client`` and ``amqpspec agent`` as tests of clients call them.

Knows: their options. Must not know: cases.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from pathlib import Path

import psutil
from click.testing import CliRunner, Result

from amqpspec.cli.main import cli


def client(dialect: str, tmp_path: Path, *words: str) -> Result:
    """A run of the suite for clients, into ``run`` of the test's folder."""
    options = ["client", "--dialect", dialect, "--json", "--out", str(tmp_path / "run"), *words]
    return CliRunner().invoke(cli, options)


def verdicts_of(result: Result) -> dict[str, str]:
    """What a run said, by case."""
    return {case["id"]: case["verdict"] for case in json.loads(result.stdout)["cases"]}


def agent(dialect: str, *faults: str) -> str:
    """The command line of the reference agent with mistakes."""
    options = " ".join(f"--fault {fault}" for fault in faults)
    return f"{sys.executable} -m amqpspec agent --dialect {dialect} {options}"


def is_alive(pid: int) -> bool:
    """Whether an agent's process runs; one that has ended and is not waited for does not."""
    with suppress(psutil.NoSuchProcess):
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    return False
