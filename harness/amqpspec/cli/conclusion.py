"""The output at the end of a run: a line for each cause of deviations, then the numbers that all reports share.

Knows: terminals. Must not know: how rows are made, how anything is counted.
"""

from __future__ import annotations

from collections.abc import Iterator

import click

from amqpspec.record.rows import CaseRow, Outcome
from amqpspec.reports.causes import Cause, causes
from amqpspec.reports.load import LoadedRun
from amqpspec.reports.standing import Deviations, numbers
from amqpspec.reports.summary import headline
from amqpspec.reports.text import cut_octets, one_line
from amqpspec.run.exits import Exit

_COLOURS = {
    Outcome.PASS: "green",
    Outcome.OBSERVED: "green",
    Outcome.NONSTRICT: "yellow",
    Outcome.FAIL: "red",
    Outcome.ERROR: "magenta",
}


def conclude(run: LoadedRun, quiet: bool) -> None:
    """A line for each cause, then the counts and the paths of the reports."""
    if not quiet and run.exit_code != Exit.TARGET:
        for line in _lines(run):
            click.echo(line)
        for entry in run.stale:
            click.echo(f"stale baseline entry {entry}")
        if run.meta.note:
            click.echo(one_line(run.meta.note))
    click.echo(total_line(run), err=quiet)
    click.echo(f"report: {run.folder / 'matrix.html'}", err=quiet)


def total_line(run: LoadedRun) -> str:
    """The target, the result, and the counts."""
    counted, target = numbers(run), run.meta.target
    verdicts = ", ".join(f"{count} {name}" for name, count in counted.verdicts.items()) or "none"
    return (
        f"{one_line(target.label)}, {target.dialect}: {headline(run)} — {verdicts}"
        f"{f' ({counted.known} known)' if counted.known else ''}; planned {counted.planned} = run {counted.run}"
        f" + not applicable {counted.not_applicable} + blocked {counted.blocked} + excluded {counted.excluded}"
    )


def _lines(run: LoadedRun) -> Iterator[str]:
    """A line for each cause of deviations that are not known."""
    found = Deviations.of_run(run)
    for cause in causes((*found.unexpected, *found.undecided, *found.nonstrict)):
        yield _line(cause)
    configured = [case for case in found.blocked if case.is_blocked_by_configuration]
    for cases, word in (
        ([case for case in found.blocked if case not in configured], f"{Outcome.BLOCKED:12}"),
        (configured, f"{Outcome.BLOCKED} by configuration"),
    ):
        for cause in causes(cases):
            yield f"{word} {cause.named}: {one_line(cause.cases[0].reason)}"


def _line(cause: Cause) -> str:
    outcome = click.style(f"{cause.verdict:12}", fg=_COLOURS.get(cause.verdict))
    first = cause.cases[0]
    if len(cause.cases) == 1:
        return f"{outcome} {first.id}: {_said(first)}"
    return f"{outcome} {one_line(cause.headline)}: {cause.named}; the first of them {_said(first)}"


def _said(case: CaseRow) -> str:
    said = one_line(cut_octets(f"expected {case.expected}; observed {case.observed}"))
    return f"{said} [{', '.join(case.requirements)}]"
