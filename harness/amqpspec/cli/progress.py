"""What a run shows while it goes on.

Knows: terminals. Must not know: how rows come about.
"""

from __future__ import annotations

from collections import Counter
from types import TracebackType
from typing import Any, Self

from amqpspec.cli.common import interactive
from amqpspec.record.rows import CaseRow, Outcome


class Progress:
    """A bar on a terminal, nothing elsewhere."""

    def __init__(self, planned: int, quiet: bool) -> None:
        self._bar: Any = None
        self._counts: Counter[Outcome] = Counter()
        if not quiet and interactive():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as Bar

            console = Console(stderr=True)
            columns = (
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.description}"),
            )
            self._bar = Bar(*columns, console=console, transient=True)
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
