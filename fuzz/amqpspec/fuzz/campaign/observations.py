"""The results of inputs, as rows of the observations that runs and campaigns share.

Knows: results, columns. Must not know: files, who judged.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from amqpspec.fuzz.executor.result import End, InputResult
from amqpspec.fuzz.inputs.identity import RANDOM
from amqpspec.record.observation import FUZZ, PREFIX_OCTETS, VERDICT_CODES, row
from amqpspec.record.rows import Outcome as Verdict

_WORDS_CHARS = 200


@dataclass(frozen=True, slots=True)
class Source:
    """What all rows of a campaign have in common."""

    run: str
    target: str
    product: str
    target_version: str
    suite_version: str
    grammar: str
    dialect: str


@dataclass(frozen=True, slots=True)
class TimedResult:
    """A result with its time (microseconds, UTC), its worker, and how many times its input had been sent."""

    result: InputResult
    at_us: int
    worker: int = 0
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the oracles said of an input; ``crash`` is the signature of its finding."""

    verdict: Verdict = Verdict.PASS
    crash: str = ""
    finding: str = ""
    baseline: str = ""


def observations(
    source: Source, seen: Sequence[TimedResult], judged: Iterable[Judgement]
) -> list[dict[str, Any]]:
    """Yield one row for each input that was sent."""
    pairs = zip(seen, judged, strict=True)
    return [observation(source, one, how) for one, how in pairs if one.result.end is not End.REFUSED]


def observation(source: Source, seen: TimedResult, judged: Judgement) -> dict[str, Any]:
    """One row."""
    result = seen.result
    id, latency_s = result.item.id, result.timing.latency_s
    return row(
        kind=FUZZ, run=source.run, target=source.target, product=source.product,
        target_version=source.target_version, suite_version=source.suite_version, grammar=source.grammar,
        dialect=source.dialect, case=f"{id.family}/{id.role}/{id.state}", attempt=seen.attempt,
        verdict=VERDICT_CODES[_verdict(result, judged)], baseline=judged.baseline or None, family=id.family,
        role=id.role, input=str(id), state=result.item.state, end_state=str(result.end),
        production=_production(id.family, id.role), reaction=result.reaction[:_WORDS_CHARS],
        crash=judged.crash or None, sent_octets=result.sent_octets, received_octets=result.received_octets,
        sent_prefix=_beginning(result.item.steps), latency_us=None if latency_s is None else int(latency_s * 1e6),
        at_us=datetime.fromtimestamp(seen.at_us // 1_000_000, UTC).replace(microsecond=seen.at_us % 1_000_000),
        detail=_detail(result), worker=seen.worker, evidence=f"findings/{judged.finding}" if judged.finding else None,
    )  # fmt: skip


def _verdict(result: InputResult, judged: Judgement) -> Verdict:
    """What an oracle said of it; otherwise, an input that missed its state was blocked, and nothing is claimed."""
    if judged.verdict is Verdict.PASS and not result.reached:
        return Verdict.BLOCKED
    return judged.verdict


def _detail(result: InputResult) -> str | None:
    """How the conversation continued, if it did."""
    return json.dumps({"obedience": str(result.obedience)}) if result.obedience else None


def _production(family: str, role: str) -> str:
    """The name of a production in the grammar; for a family, what it changes."""
    return role.replace("@", "/") if family == RANDOM else f"{family}/{role}"


def _beginning(steps: tuple[bytes, ...]) -> bytes:
    first = bytearray()
    for step in steps:
        first += step[:PREFIX_OCTETS]
        if len(first) >= PREFIX_OCTETS:
            break
    return bytes(first[:PREFIX_OCTETS])
