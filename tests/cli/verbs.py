"""The command line from inside and from outside."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from amqpspec.cli.main import cli
from tests.waiting import PATIENCE_S

ROOT = Path(__file__).parents[2]
SMALL = ("channel.open.twice", "framing.frame.types-that-are-not-defined", "exchange.durable.restart")


def amqpspec(*args: str | Path, code: int | None = None) -> Result:
    """Run a verb in this process."""
    result = CliRunner().invoke(cli, [str(arg) for arg in args], prog_name="amqpspec")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert code is None or result.exit_code == code, result.output
    return result


def error(*args: str | Path, code: int) -> str:
    """Run a verb that must fail with one clear line."""
    result = amqpspec(*args, code=code)
    (line,) = result.stderr.splitlines()
    assert line.startswith("amqpspec: ")
    return line.removeprefix("amqpspec: ")


def command(*args: str | Path) -> list[str]:
    """The same as a process."""
    return [sys.executable, "-m", "amqpspec.cli.main", *(str(arg) for arg in args)]


def outside(args: Sequence[str], **facts: Any) -> subprocess.CompletedProcess[str]:
    """Run a process to its end."""
    return subprocess.run(args, capture_output=True, text=True, timeout=PATIENCE_S, **facts)


@contextmanager
def process(args: Sequence[str], **facts: Any) -> Iterator[subprocess.Popen[str]]:
    """A process that is ended with the block."""
    running = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **facts)
    try:
        yield running
    finally:
        if running.poll() is None:
            running.kill()
        running.communicate()


def document(folder: Path) -> dict[str, Any]:
    """A run's results.json."""
    data = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert isinstance(data, dict)
    assert data["planned"] == data["run"] + data["not_applicable"] + data["blocked"] + data["excluded"]
    assert data["planned"] == len(data["cases"])
    return data
