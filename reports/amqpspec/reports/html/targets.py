"""The header of the page: the targets, the results, and the coverage.

Knows: which facts of a run a reader needs first. Must not know: HTML.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from amqpspec.record.rows import CaseRow, TargetRow
from amqpspec.reports.causes import Cause, causes
from amqpspec.reports.load import LoadedRun
from amqpspec.reports.outcomes import dialect_title
from amqpspec.reports.standing import Deviations, Numbers, numbers
from amqpspec.reports.summary import CONFORMS, LevelCount, Score, by_level, headline, total
from amqpspec.reports.text import plural


@dataclass(frozen=True, slots=True)
class Card:
    """One target as the page presents it; links use ``number``, which starts at 1."""

    number: int
    run: LoadedRun
    label: str
    headline: str
    score: Score
    levels: tuple[LevelCount, ...]
    total: LevelCount
    found: Deviations
    numbers: Numbers
    facts: tuple[str, ...]
    announced: tuple[tuple[str, str], ...]

    def causes(self, cases: Iterable[CaseRow]) -> list[Cause]:
        """The causes of these cases, each with its headline."""
        return causes(cases)

    @property
    def tone(self) -> str:
        """``good``, ``bad`` or ``warn``: the colour of the headline."""
        if self.found.unexpected:
            return "bad"
        return "good" if self.headline in (CONFORMS, "baseline met") else "warn"


def cards(runs: Sequence[LoadedRun]) -> list[Card]:
    """A card for each run, with distinct labels."""
    return [
        _card(number, run, label)
        for number, (run, label) in enumerate(zip(runs, labels(runs), strict=True), 1)
    ]


def labels(runs: Sequence[LoadedRun]) -> list[str]:
    """A label for each target; if two labels are equal, dialect, day or the run's id is added."""
    plain = [run.meta.target.label for run in runs]
    counts = Counter(plain)
    spoken = [f"{name} ({run.meta.target.dialect})" for name, run in zip(plain, runs, strict=True)]
    dated = [f"{name} ({run.meta.started[:10]})" for name, run in zip(plain, runs, strict=True)]
    exact = [f"{name} ({run.meta.id})" for name, run in zip(plain, runs, strict=True)]
    chosen = plain
    for longer in (spoken, dated, exact):
        if len(set(chosen)) == len(runs):
            break
        chosen = [more if counts[name] > 1 else name for name, more in zip(plain, longer, strict=True)]
    return chosen


def _card(number: int, run: LoadedRun, label: str) -> Card:
    return Card(
        number=number,
        run=run,
        label=label,
        headline=headline(run),
        score=Score.of_run(run),
        levels=tuple(by_level(run.cases)),
        total=total(run.cases),
        found=Deviations.of_run(run),
        numbers=numbers(run),
        facts=tuple(fact for fact in _facts(run) if fact),
        announced=tuple(_announced(run.meta.target.announced)),
    )


def _facts(run: LoadedRun) -> Iterable[str]:
    meta = run.meta
    yield when(meta.started, meta.ended)
    yield f"suite {meta.suite_version}"
    yield dialect_title(meta.target.dialect)
    yield f"profile {meta.target.profile}" if meta.target.profile else ""
    yield "strict" if meta.strict else ""
    yield f"run {meta.id}"


def _announced(properties: Mapping[str, object]) -> Iterable[tuple[str, str]]:
    for key, value in properties.items():
        yield (
            str(key),
            value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str),
        )


def identity(target: TargetRow) -> str:
    """The target's address, and its name in targets.yaml if it differs."""
    return target.url if target.name in (target.label, target.url) else f"{target.name} at {target.url}"


def when(started: str, ended: str) -> str:
    """``21 Nov 2026, 02:00:00–02:00:41 UTC (41 s)``; a text that is not a time stays unchanged."""
    first, last = _time(started), _time(ended)
    if first is None:
        return started
    day = f"{first.day} {first:%b %Y}, {first:%H:%M:%S}"
    if last is None:
        return f"{day} UTC"
    same_day = last.date() == first.date()
    end = f"{last:%H:%M:%S}" if same_day else f"{last.day} {last:%b %Y}, {last:%H:%M:%S}"
    return f"{day}–{end} UTC ({duration((last - first).total_seconds())})"


def duration(seconds: float) -> str:
    """``4.2 s``, ``41 s``, ``12 min 3 s``, ``8 h 0 min``."""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def _time(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def subtitle(runs: Sequence[LoadedRun]) -> str:
    """One line below the title: the number of targets and cases, and the time."""
    cases = len({case.id for run in runs for case in run.cases})
    days = sorted({run.meta.started[:10] for run in runs})
    span = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    versions = sorted({run.meta.suite_version for run in runs})
    return f"{plural(len(runs), 'target')} · {plural(cases, 'case')} · {span} · suite {', '.join(versions)}"
