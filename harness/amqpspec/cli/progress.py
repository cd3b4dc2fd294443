"""What a run shows while it goes on and when it is over.

Knows: terminals. Must not know: how rows come about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import click

from amqpspec.cli.common import interactive
from amqpspec.record.rows import CaseRow, Outcome, RunRow
from amqpspec.reports.text import one_line
from amqpspec.run.results import Exit, Results

_COLOURS = {
    Outcome.PASS: "green",
    Outcome.OBSERVED: "green",
    Outcome.NONSTRICT: "yellow",
    Outcome.FAIL: "red",
    Outcome.ERROR: "magenta",
}
_NAMED = 3
_SAYS = {
    Exit.CONFORMING: "conforming",
    Exit.DEVIATIONS: "deviations",
    Exit.TARGET: "target not reached",
    Exit.HARNESS: "harness error",
    Exit.STALE: "stale baseline",
}


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

    @staticmethod
    def conclude(row: RunRow, results: Results, folder: Path, quiet: bool) -> None:
        """One line for each deviation, then the counts that add up and where the reports are."""
        if not quiet and results.exit_code is not Exit.TARGET:
            for line in _lines(results.rows):
                click.echo(line)
            for entry in results.stale:
                click.echo(f"stale baseline entry {entry['case']}: {entry['why']}")
            if row.note:
                click.echo(one_line(row.note))
        tally = results.tally
        verdicts = ", ".join(f"{count} {name}" for name, count in tally.verdicts.items()) or "none"
        known = sum(case.baseline == "known" for case in results.rows)
        click.echo(
            f"{one_line(row.target.label)}, {row.target.dialect}: {_headline(row, results)} — {verdicts}"
            f"{f' ({known} known)' if known else ''}; planned {tally.planned} = run {tally.run}"
            f" + not applicable {tally.not_applicable} + blocked {tally.blocked} + excluded {tally.excluded}",
            err=quiet,
        )
        click.echo(f"report: {folder / 'matrix.html'}", err=quiet)


def _headline(row: RunRow, results: Results) -> str:
    """What the exit code says; a run that was stopped, lost its target or judged nothing is no error of the harness."""
    if results.exit_code is Exit.HARNESS and Outcome.ERROR not in {case.verdict for case in results.rows}:
        return "incomplete run" if row.partial else "nothing judged"
    if results.exit_code is Exit.CONFORMING and any(case.baseline == "known" for case in results.rows):
        return "baseline met"
    return f"{_SAYS[results.exit_code]}{' (partial)' if row.partial else ''}"


def _worth_a_line(case: CaseRow) -> bool:
    quiet = (Outcome.PASS, Outcome.OBSERVED, Outcome.NOT_APPLICABLE, Outcome.EXCLUDED)
    return case.verdict not in quiet and case.baseline != "known"


def _lines(rows: Sequence[CaseRow]) -> Iterator[str]:
    """A line for each deviation; cases that are blocked for the same reason share one."""
    shown = [row for row in rows if _worth_a_line(row)]
    yield from (_line(row) for row in shown if row.verdict is not Outcome.BLOCKED)
    blocked = [row for row in shown if row.verdict is Outcome.BLOCKED]
    for reason, by_configuration in dict.fromkeys(
        (row.reason, row.is_blocked_by_configuration) for row in blocked
    ):
        cases = [row.id for row in blocked if row.reason == reason]
        named = ", ".join(cases[:_NAMED]) + (
            f" and {len(cases) - _NAMED} more" if len(cases) > _NAMED else ""
        )
        word = f"{Outcome.BLOCKED} by configuration" if by_configuration else f"{Outcome.BLOCKED:12}"
        yield f"{word} {named}: {one_line(reason)}"


def _line(case: CaseRow) -> str:
    outcome = click.style(f"{case.verdict:12}", fg=_COLOURS.get(case.verdict))
    said = one_line(f"expected {case.expected}; observed {case.observed}")
    return f"{outcome} {case.id}: {said} [{', '.join(case.requirements)}]"
