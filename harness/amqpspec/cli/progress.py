"""What a run shows while it goes on.

Knows: terminals. Must not know: how rows come about.
"""

from __future__ import annotations

import shutil
from collections import Counter
from types import TracebackType
from typing import Any, Self

import click

from amqpspec.cli.common import interactive
from amqpspec.net.clock import monotonic_s
from amqpspec.record.rows import CaseRow, Outcome


class Ticker:
    """One line on a terminal for work that is counted, with the time left; nothing elsewhere."""

    def __init__(self, quiet: bool) -> None:
        self._shown = not quiet and interactive()
        self._started_s = monotonic_s()

    def __call__(self, text: str, done: int, of: int) -> None:
        """So much is done, and this was the last of it."""
        if not self._shown:
            return
        left_s = int((monotonic_s() - self._started_s) * (of - done) / max(1, done))
        columns = shutil.get_terminal_size().columns - 1
        line = f"{done}/{of} {left_s // 60}:{left_s % 60:02} left {text}"
        click.echo(f"\r{line[:columns]:{columns}}", nl=done == of, err=True)


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

            # What says most stands first: on 40 columns the counts of verdicts are cut, not the time left.
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
