"""The run as a comment on a pull request: counts, then new deviations, then known ones.

Knows: GitHub's Markdown and its limit on a comment.
Must not know: HTML reports.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from amqpspec.record.rows import CaseRow, Outcome
from amqpspec.reports.causes import Cause, causes
from amqpspec.reports.files import atomic_text
from amqpspec.reports.load import LoadedRun
from amqpspec.reports.outcomes import LOOKS, dialect_title
from amqpspec.reports.standing import Deviations
from amqpspec.reports.summary import (
    LevelCount,
    Score,
    by_level,
    coverage,
    headline,
    occurring,
    total,
)
from amqpspec.reports.text import one_line, plural

_NAMED = 20
LIMIT = 60_000  # characters; a comment takes 65,536
_TEXT_LIMIT = 300
_RESERVE = 1_000  # headings of lists whose items do not fit
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~!&])")


def write_summary(path: Path, run: LoadedRun) -> None:
    """Write the summary of a run."""
    with atomic_text(path) as out:
        out.write(summary(run))


def summary(run: LoadedRun, limit: int = LIMIT) -> str:
    """The whole comment in fewer characters than ``limit``; omitted items are counted."""
    foot = _foot(run)
    parts = [_head(run), _counts(run)]
    room = limit - len(foot) - sum(map(len, parts)) - _RESERVE
    for part in _parts(run):
        text = part(room)
        parts.append(text)
        room -= len(text) + 1
    return "\n".join([part for part in parts if part] + [foot])


def plain(text: str) -> str:
    """Text that Markdown shows unchanged, on one line; an ``@`` in it mentions no one."""
    return _SPECIAL.sub(r"\\\1", one_line(text, _TEXT_LIMIT)).replace("@", "&#64;")


def code(text: str) -> str:
    """Text as inline code, safe against back-quotes in it."""
    flat = one_line(text, _TEXT_LIMIT).replace("|", "¦")
    fence = "`" * (1 + max(map(len, re.findall("`+", flat)), default=0))
    pad = " " if "`" in flat else ""
    return f"{fence}{pad}{flat}{pad}{fence}" if flat else ""


def _head(run: LoadedRun) -> str:
    meta, score = run.meta, Score.of_run(run)
    title = f"### {dialect_title(meta.target.dialect)}: {plain(meta.target.label)}, {headline(run)}\n"
    lines = [title, f"**{score.green} of {score.of} pass**{_observed(run)}. {_adds_up(run)}", *_warnings(run)]
    return "\n".join(lines) + "\n"


def _observed(run: LoadedRun) -> str:
    observed = run.tally.verdicts.get(Outcome.OBSERVED, 0)
    return f" ({observed} of them observed)" if observed else ""


def _adds_up(run: LoadedRun) -> str:
    tally = run.tally
    return (
        f"{tally.planned} planned = {tally.run} run + {tally.not_applicable} not applicable"
        f" + {tally.blocked} blocked + {tally.excluded} excluded."
    )


def _warnings(run: LoadedRun) -> Iterator[str]:
    if run.meta.partial:
        yield "\n> **Partial run:** it ended early; the counts cover the recorded cases."
    if run.stale:
        shown = "".join(f"\n> - {plain(entry)}" for entry in run.stale[:20])
        more = f"\n> - and {len(run.stale) - 20} more" if len(run.stale) > 20 else ""
        yield f"\n> **Stale baseline:** {plural(len(run.stale), 'entry')} matched no result.{shown}{more}"


def _counts(run: LoadedRun) -> str:
    outcomes = occurring(run.cases)
    names = [f"{LOOKS[outcome].symbol} {LOOKS[outcome].word}" for outcome in outcomes]
    rows = [_count_row(count, outcomes) for count in by_level(run.cases)]
    head = ["| " + " | ".join(["level", *names, "planned"]) + " |", "|---|" + "---:|" * (len(outcomes) + 1)]
    return "\n".join([*head, *rows, _count_row(total(run.cases), outcomes)]) + "\n"


def _count_row(count: LevelCount, outcomes: Sequence[Outcome]) -> str:
    numbers = [str(count.outcomes.get(outcome) or "") for outcome in outcomes]
    cells = [plain(count.level), *numbers, str(count.planned)]
    if count.level == "all":
        cells = [f"**{cell}**" if cell else "" for cell in cells]
    return "| " + " | ".join(cells) + " |"


def _parts(run: LoadedRun) -> list[Callable[[int], str]]:
    found = Deviations.of_run(run)
    lists = [
        ("Unexpected deviations", found.unexpected, False),
        ("Not decided, or a harness error", found.undecided, False),
        ("Known deviations", found.known, True),
        ("Nonstrict: purpose served, wording not met", found.nonstrict, True),
    ]
    parts = [_case_list(run, *each) for each in lists if each[1]]
    return [*parts, *([_blocked(found.blocked)] if found.blocked else [])]


def _case_list(run: LoadedRun, title: str, cases: Sequence[CaseRow], folded: bool) -> Callable[[int], str]:
    heading, found = f"{title} ({len(cases)})", causes(cases)
    before, after = _frame(heading, folded)

    def write(room: int) -> str:
        items = [_cause(run, cause) for cause in found]
        return _within(before, items, after, len(found), room)

    return write


def _frame(heading: str, folded: bool) -> tuple[str, str]:
    if folded:
        return f"<details><summary>{heading}</summary>\n\n", "\n</details>\n"
    return f"#### {heading}\n\n", ""


def _within(before: str, items: Iterable[str], after: str, count: int, room: int) -> str:
    more = "- … and {} more in matrix.html\n"
    taken: list[str] = []
    room -= len(before) + len(after) + len(more) + 6
    for item in items:
        if len(item) > room:
            break
        taken.append(item)
        room -= len(item)
    rest = more.format(count - len(taken)) if len(taken) < count else ""
    return before + "".join(taken) + rest + after


def _cause(run: LoadedRun, cause: Cause) -> str:
    """One case in full; for several cases, their common cause, their ids, and the first case."""
    if len(cause.cases) == 1:
        return _item(run, cause.cases[0])
    ids = ", ".join(code(case.id) for case in cause.cases[:_NAMED])
    if len(cause.cases) > _NAMED:
        ids += f" and {len(cause.cases) - _NAMED} more in matrix.html"
    first = _item(run, cause.cases[0]).splitlines()[1:]
    head = f"- {LOOKS[cause.verdict].symbol} **{plain(cause.headline)}**: {ids}; the first of them:"
    return "\n".join([head, *first]) + "\n"


def _item(run: LoadedRun, case: CaseRow) -> str:
    look = LOOKS[case.verdict]
    lines = [f"- {look.symbol} {code(case.id)} **{plain(case.level)}** {plain(case.title)}"]
    for name, text in (("expected", case.expected), ("observed", case.observed)):
        lines += [f"  - {name}: {plain(text)}"] if text else []
    lines += [f"  - clause: {_clauses(run, case)}"] if case.requirements else []
    if case.reason:
        why = "known because" if case.is_known else "reason"
        lines.append(f"  - {why}: {plain(case.reason)}")
    return "\n".join(lines) + "\n"


def _clauses(run: LoadedRun, case: CaseRow) -> str:
    rows = run.clauses(case)
    shown = [f"{code(row.id)} ({plain(row.clause)})" if row.clause else code(row.id) for row in rows[:4]]
    return ", ".join(shown) + (f" and {len(rows) - 4} more" if len(rows) > 4 else "")


def _blocked(cases: Sequence[CaseRow]) -> Callable[[int], str]:
    def reason(case: CaseRow) -> str:
        return case.reason or "no reason recorded"

    groups = [(why, len(list(same))) for why, same in groupby(sorted(cases, key=reason), key=reason)]
    before, after = _frame(f"Blocked ({len(cases)})", folded=True)

    def write(room: int) -> str:
        items = (f"- {plural(count, 'case')}: {plain(why)}\n" for why, count in groups)
        return _within(before, items, after, len(groups), room)

    return write


def _foot(run: LoadedRun) -> str:
    meta, covered = run.meta, coverage([run])
    facts = [
        f"{covered.covered} of {plural(covered.total, 'requirement')} covered by a case",
        f"amqpspec {plain(meta.suite_version)}",
        f"run {code(meta.id)}",
        plain(meta.started),
    ]
    return f"<sub>{' · '.join(facts)}. Evidence with every octet is in matrix.html.</sub>\n"
