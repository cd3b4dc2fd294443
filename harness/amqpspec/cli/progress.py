"""The progress of a run.

Knows: terminals. Must not know: how rows are made.
"""

from __future__ import annotations

import shutil
import threading
from collections import Counter
from collections.abc import Sequence
from typing import Any, Self

import click

from amqpspec.cli.common import interactive
from amqpspec.net.clock import monotonic_s
from amqpspec.record.rows import CaseRow, Outcome


class Ticker:
    """One line on a terminal for counted work, with the remaining time; nothing elsewhere."""

    def __init__(self, quiet: bool) -> None:
        self._shown = not quiet and interactive()
        self._started_s = monotonic_s()

    def __call__(self, text: str, done: int, of: int) -> None:
        """Update the number of finished items and the last of them."""
        if not self._shown:
            return
        left_s = (monotonic_s() - self._started_s) * (of - done) / max(1, done)
        _draw(f"{done}/{of} {_minutes(left_s)} left {text}")
        if done == of:
            click.echo(err=True)


class Steps:
    """Work with named steps: one line on a terminal, with a running clock; elsewhere a line for each step.

    Steps may begin in any thread. ``of`` contains all names, in the order in which they usually begin; a text begins
    with one of them.
    """

    EVERY_S = 1.0

    def __init__(self, of: Sequence[str]) -> None:
        self._of, self._place, self._text = of, 0, ""
        self._shown = interactive()
        self._started_s = monotonic_s()
        self._lock, self._over = threading.Lock(), threading.Event()
        self._clock = threading.Thread(target=self._go_on, daemon=True)

    def __call__(self, text: str) -> None:
        """A step has begun."""
        name = text.partition(":")[0]
        with self._lock:
            self._text = text
            if name in self._of:
                self._place = max(self._place, self._of.index(name) + 1)
            self._show() if self._shown else click.echo(f"  {text}", err=True)

    def remark(self, text: str) -> None:
        """A remark that also has to stay visible."""
        with self._lock:
            if self._shown:
                _draw("")
            click.echo(f"\r  {text}" if self._shown else f"  {text}", err=True)

    def __enter__(self) -> Self:
        if self._shown:
            self._clock.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._shown:
            self._clock.join()
            _draw("")
            click.echo("\r", nl=False, err=True)

    def _go_on(self) -> None:
        while not self._over.wait(self.EVERY_S):
            with self._lock:
                self._show()

    def _show(self) -> None:
        gone_s, done = monotonic_s() - self._started_s, self._place - 1
        left = f", about {_minutes(gone_s * (len(self._of) - done) / done)} left" if done > 0 else ""
        _draw(f"{self._place}/{len(self._of)} {_minutes(gone_s)}{left} {self._text}")


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def _draw(line: str) -> None:
    """A line that replaces the previous one, as wide as the terminal."""
    columns = shutil.get_terminal_size().columns - 1
    click.echo(f"\r{line[:columns]:{columns}}", nl=False, err=True)


class Progress:
    """A bar on a terminal, nothing elsewhere."""

    def __init__(self, planned: int, quiet: bool) -> None:
        self._bar: Any = None
        self._counts: Counter[Outcome] = Counter()
        if not quiet and interactive():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar
            from rich.table import Column

            # The most important part comes first: on 40 columns the counts of verdicts are cut, not the remaining
            # time.
            columns = (
                MofNCompleteColumn(),
                TimeRemainingColumn(compact=True, elapsed_when_finished=True),
                BarColumn(bar_width=10),
                TextColumn("{task.description}", table_column=Column(no_wrap=True, overflow="ellipsis")),
            )
            self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("", total=planned)

    def saw(self, row: CaseRow) -> None:
        """A case has ended."""
        self._counts[row.verdict] += 1
        if self._bar is not None:
            said = "  ".join(f"{count} {outcome}" for outcome, count in self._counts.items())
            self._bar.update(self._task, advance=1, description=said)

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
