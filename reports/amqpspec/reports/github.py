"""Output for GitHub Actions: annotations of new deviations, and the summary of the step.

Knows: workflow commands, their escapes and limits. Must not know: where they are printed, other hosts.
"""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.record.rows import CaseRow
from amqpspec.reports.load import LoadedRun
from amqpspec.reports.standing import Deviations
from amqpspec.reports.text import one_line, plural

SHOWN = 9
"""GitHub shows ten annotations of a kind for each step: nine cases, and the number of the others."""
_TEXT_CHARS = 500


def workflow_commands(run: LoadedRun) -> Iterator[str]:
    """Workflow commands, one per line: an error for each new deviation, warnings for undecided cases and stale
    entries.
    """
    deviations = Deviations.of_run(run)
    yield from _commands("error", deviations.unexpected)
    yield from _commands("warning", deviations.undecided)
    for stale in run.stale[:SHOWN]:
        yield f"::error title=stale baseline::{_data(stale)}"


def _commands(kind: str, cases: tuple[CaseRow, ...]) -> Iterator[str]:
    for case in cases[:SHOWN]:
        said = f"{case.title}; expected {case.expected}; observed {case.observed or case.reason}"
        yield f"::{kind} title={_property(case.id)}::{_data(said)}"
    if len(cases) > SHOWN:
        more = plural(len(cases) - SHOWN, "case")
        yield f"::{kind} title=amqpspec::{more} more in the summary of this step"


def _data(text: str) -> str:
    # one_line removes line feeds, so that data from a target cannot begin a command.
    return one_line(text, _TEXT_CHARS).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
