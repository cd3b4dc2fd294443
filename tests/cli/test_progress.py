"""Progress of work whose steps are named, on a terminal of 40 columns and elsewhere."""

from __future__ import annotations

import re
import shlex
import sys

from tests.cli.terminal import PLACING, on_a_terminal
from tests.cli.verbs import outside

PROGRAM = """
import threading
from amqpspec.cli import progress
from tests.waiting import PATIENCE_S

drawn, draw = threading.Semaphore(0), progress._draw
progress._draw = lambda line: (draw(line), drawn.release())
progress.Steps.EVERY_S = 0.01
steps = progress.Steps(["days", "verdicts", "differential"])
steps("Spark starts")
with steps:
    for name in ("days: 2026-11-21 to 2026-11-22", "verdicts", "differential: with a name that takes its room"):
        steps(name)
        for _ in range(5):
            assert not sys.stderr.isatty() or drawn.acquire(timeout=PATIENCE_S)
    steps.remark("left out: a file")
"""
COMMAND = [sys.executable, "-c", f"import sys\n{PROGRAM}"]


def test_a_line_with_a_clock_that_goes_on_while_a_step_takes_long() -> None:
    said = on_a_terminal(shlex.join(COMMAND))
    lines = [PLACING.sub("", part).rstrip() for part in said.split("\r")]
    assert all(len(line) < 40 for line in lines)
    days = [line for line in lines if line.startswith("1/3 0:00 days: 2026-11-21")]
    assert len(days) > 2, "drawn again while it goes on"
    assert any(re.match(r"3/3 0:0\d, about 0:0\d left differential", line) for line in lines)
    assert said.rstrip().endswith("left out: a file") or "  left out: a file" in said
    assert lines[-1] == "", "the line is taken back in the end"


def test_elsewhere_a_line_for_each_step_and_nothing_more() -> None:
    done = outside(COMMAND)
    assert done.stdout == "" and done.stderr.splitlines() == [
        "  Spark starts", "  days: 2026-11-21 to 2026-11-22", "  verdicts",
        "  differential: with a name that takes its room", "  left out: a file",
    ]  # fmt: skip
