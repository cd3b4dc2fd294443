"""One case from beginning to end: its world, its verdict, its evidence, its cleaning up.

Knows: how exceptions become outcomes. Must not know: other cases, concurrency, reports.
Our fault is never the target's: whatever the harness raises by itself is ``error``.
"""

from __future__ import annotations

import secrets
import threading
import traceback
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from amqpspec.net.clock import monotonic_ns, monotonic_s, utc_instant, utc_now
from amqpspec.peer.context import (
    BudgetSpent,
    Cleanup,
    Context,
    MissingHook,
    Nodes,
    OutOfReach,
    Patience,
    Unmet,
)
from amqpspec.peer.line import Line
from amqpspec.record.evidence import evidence_path
from amqpspec.record.rows import BlockedBy, CaseRow, Facts, Outcome
from amqpspec.record.transcript import Transcript, TranscriptError, starred
from amqpspec.run.case import Case
from amqpspec.run.conditions import conditions_of
from amqpspec.run.driver import Driver, Entity, driver_of, maker_of
from amqpspec.run.made import Made
from amqpspec.run.recorded import NO_TRANSCRIPT, Budget, Stopped, Streams
from amqpspec.run.verdict import Verdict, by_time, facts_of
from amqpspec.spec.dialects import widest
from amqpspec.spec.model import Refusal
from amqpspec.target.live import Live
from amqpspec.wire.transport import StreamEnded

_ASIDE_S = 5.0
_LEAVING_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class World:
    """What all cases of one run share."""

    live: Live
    folder: Path
    tag: str
    patience: Patience = field(default_factory=Patience)
    stop: threading.Event = field(default_factory=threading.Event)
    restart: Callable[[], None] | None = None
    keep_evidence: bool = True
    recognised: str = ""
    token: str = field(default_factory=lambda: secrets.token_hex(3))
    """What tells this run's names from those of another with the same tag: a broker may keep its nodes."""
    nodes: Nodes | None = None
    """How queues are created on the target, once it has reported."""
    made: Made = field(default_factory=Made)
    """The nodes that this run has made on its target."""

    @property
    def dialect(self) -> str:
        """The id of what is spoken: as which the target was recognised, else its dialect in the widest overlay."""
        return self.recognised or widest(self.live.target.dialect)

    @property
    def driver(self) -> Driver:
        """How what is spoken is driven."""
        return driver_of(self.dialect)

    def context(self, case_id: str, streams: Streams, case: Case | None = None) -> Context:
        """The world of one case."""
        nodes = self.nodes or self.live.nodes
        return Context(
            dialect=self.dialect,
            requirements=case.requirements if case else (),
            dial=streams.dial,
            login=self.live.login,
            logins=self.live.logins,
            vhosts=self.live.vhosts,
            patience=self.patience,
            tag=f"{self.tag}-{self.token}.{case_id}",
            nodes=nodes,
            make_node=partial(self._make_node, streams.transcript),
            restart_hook=streams.telling_of(self.restart),
            cleanup=Cleanup(
                on_making=lambda vhost, kind, name: self.made.add((vhost, nodes.address_of(name), kind))
            ),
        )

    def streams(self, name: str, budget_s: float) -> Streams:
        """Streams that are written down under a name in the run's evidence."""
        directions = partial(self.driver.direction, self.dialect)
        transcript = Transcript(self.folder / evidence_path(name), directions, self.live.secrets)
        return Streams(self.live.endpoint, transcript, Budget(monotonic_s() + budget_s, self.stop))

    def _make_node(self, transcript: Transcript, context: Context, vhost: str, address: str) -> None:
        """Create a node for a case if it is not created with a link; raises MissingHook if it cannot be made."""
        if not context.nodes.are_made:
            return
        self.made.add((vhost, address, "queue"))
        try:
            with self.aside(context, vhost) as own:
                maker_of(self.dialect).make(own, [address])
        except (Unmet, StreamEnded, BudgetSpent) as error:
            why = f"no node {address} could be made by {context.nodes.way}: {error}"
            transcript.write("unmade", monotonic_ns(), address=address, why=why)
            raise MissingHook(why) from error

    @contextmanager
    def aside(self, context: Context, vhost: str, budget_s: float = _ASIDE_S) -> Iterator[Context]:
        """The same world in a virtual host, with streams of its own that no one judges."""
        streams = Streams(self.live.endpoint, NO_TRANSCRIPT, Budget(monotonic_s() + budget_s, self.stop))
        try:
            yield replace(context, dial=streams.dial, login=context.in_vhost(vhost))
        finally:
            streams.hang_up()


def execute(case: Case, world: World, attempt: int = 1, look: Callable[[], str] = lambda: "") -> CaseRow:
    """Run one case; raises Stopped if the run was stopped before there was a verdict.

    ``look`` returns why the target is no longer alive, if so; it is called before the case's connections are closed.
    """
    streams = world.streams(case.id, case.budget_s)
    transcript = streams.transcript
    context = world.context(case.id if attempt == 1 else f"{case.id}.{attempt}", streams, case)
    begun_ns = monotonic_ns()
    # The budget begins with the transcript's first line: who derives the verdict later knows no other beginning.
    streams.budget.until_s = begun_ns / 1e9 + case.budget_s
    transcript.write(
        "case",
        begun_ns,
        id=case.id,
        dialect=world.dialect,
        title=case.title,
        requirements=list(case.covers),
        target=world.live.url.redacted,
        started=utc_now(),
        attempt=attempt,
        conditions=conditions_of(context, world.live.secrets),
    )
    started_ns = monotonic_ns()
    try:
        peer = world.driver.peer(context)
        verdict = _starred(_with_redials(verdict_of(case, peer), context.redials), world.live.secrets)
        if died := look():
            verdict = dead_of(verdict, died)
        duration_ms, ended_at = (monotonic_ns() - started_ns) / 1e6, utc_instant()
        ended = streams.endings
        transcript.write(
            "verdict",
            monotonic_ns(),
            verdict=str(verdict.outcome),
            expected=verdict.expected,
            observed=verdict.observed,
        )
        _leave(peer, _LEAVING_SHARE * world.patience.reply_s)
    finally:
        with closing(transcript):
            streams.hang_up()
    peer.lines.clear()  # peers know each other; apart, what they received is given back at once
    _clean(context, world)
    row = replace(row_of(case, verdict), died=died)
    return replace(row, ended=ended, ended_at=ended_at, duration_ms=round(duration_ms, 3), attempt=attempt)


def dead_of(verdict: Verdict, died: str) -> Verdict:
    """The verdict if the target died of the case."""
    observed = f"{verdict.observed}; the target died: {died}"
    return Verdict(Outcome.FAIL, verdict.expected, observed, verdict.facts)


def _with_redials(verdict: Verdict, redials: Collection[str]) -> Verdict:
    """The verdict, with what was tried again on the way to it."""
    return replace(verdict, observed="; ".join([verdict.observed, *redials])) if redials else verdict


def _leave(peer: Line, within_s: float) -> None:
    """Close what the case left open: some brokers do not get over a client that just hangs up."""
    for one in peer.lines:
        with suppress(Unmet, StreamEnded, BudgetSpent):
            one.leave(within_s)


def row_of(case: Case, verdict: Verdict) -> CaseRow:
    """What a verdict on a case is recorded as."""
    blocked = verdict.outcome in (Outcome.BLOCKED, Outcome.NOT_APPLICABLE)
    return case.row(
        verdict.outcome,
        expected=verdict.expected,
        observed=verdict.observed,
        reason=f"expected {verdict.expected}, observed {verdict.observed}" if blocked else "",
        evidence=evidence_path(case.id),
        blocked_by=verdict.blocked_by,
        facts=verdict.facts,
    )


def _starred(verdict: Verdict, secrets: Collection[str]) -> Verdict:
    expected, observed = starred(verdict.expected, secrets), starred(verdict.observed, secrets)
    return replace(
        verdict, expected=expected, observed=observed, facts=_starred_facts(verdict.facts, secrets)
    )


def _starred_facts(facts: Facts, secrets: Collection[str]) -> Facts:
    """Error conditions are a target's own words, which may repeat what it was sent."""
    refusal, first = (_starred_refusal(each, secrets) for each in (facts.refusal, facts.first))
    arrivals = tuple(starred(kind, secrets) for kind in facts.arrivals)
    return replace(facts, refusal=refusal, arrivals=arrivals, way=starred(facts.way, secrets), first=first)


def _starred_refusal(refusal: Refusal | None, secrets: Collection[str]) -> Refusal | None:
    if refusal is not None and isinstance(refusal.code, str):
        return replace(refusal, code=starred(refusal.code, secrets))
    return refusal


def verdict_of(case: Case, peer: Line) -> Verdict:
    """The result of a case, whatever happens in it; raises Stopped, TranscriptError."""
    verdict = _judged(case, peer)
    quiet_s, slowest_s = (
        max(getattr(line, name) for line in peer.lines) for name in ("quiet_s", "slowest_s")
    )
    verdict = by_time(verdict, quiet_s, slowest_s)
    if verdict.outcome in (Outcome.PASS, Outcome.OBSERVED):
        return verdict
    first = next((line.refused for line in peer.lines if line.refused is not None), None)
    return replace(verdict, facts=replace(verdict.facts, first=first))


def _judged(case: Case, peer: Line) -> Verdict:
    try:
        return case.body(peer)
    except Unmet as unmet:
        facts = facts_of(unmet.seen)
        if peer.claimed:
            return Verdict(_deviation(case), f"{peer.claimed}: {unmet.expected}", unmet.observed, facts)
        return Verdict(Outcome.BLOCKED, unmet.expected, unmet.observed, facts, BlockedBy.PREREQUISITE)
    except StreamEnded as ended:
        return _unjudged(BlockedBy.PREREQUISITE, "a connection to the target", f"connection {ended.how}")
    except OutOfReach as limit:
        facts = facts_of(limit.seen)
        expected = "a target on which the case can run"
        return Verdict(Outcome.NOT_APPLICABLE, expected, str(limit), facts, BlockedBy.LIMIT)
    except MissingHook as missing:
        return _unjudged(BlockedBy.HOOK, "what the case needs of the configuration", str(missing))
    except BudgetSpent:
        expected = peer.claimed or f"a verdict within {case.budget_s:.0f} s"
        return _unjudged(BlockedBy.BUDGET, expected, f"the budget of {case.budget_s:.0f} s was used up")
    except (Stopped, TranscriptError):
        raise
    except Exception as error:
        return Verdict(Outcome.ERROR, "a verdict", last_line(error))


_UNJUDGED = {BlockedBy.BUDGET: Outcome.INCONCLUSIVE}


def _unjudged(by: BlockedBy, expected: str, observed: str) -> Verdict:
    return Verdict(_UNJUDGED.get(by, Outcome.BLOCKED), expected, observed, blocked_by=by)


def _deviation(case: Case) -> Outcome:
    return Outcome.NONSTRICT if case.requirements[0].level == "SHOULD" else Outcome.FAIL


def last_line(error: BaseException) -> str:
    """An exception of the harness in one line, with its place."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({Path(frame.filename).name}:{frame.lineno})"


def _clean(context: Context, world: World) -> None:
    """Delete what the case created; what cannot be deleted is left, the case has its verdict already."""
    for vhost in {vhost for vhost, _, _ in context.cleanup.entities}:
        # What was made last may need what was made first.
        made = reversed(context.cleanup.entities)
        entities: list[Entity] = [(kind, name) for v, kind, name in made if v == vhost]
        with suppress(Unmet, StreamEnded, BudgetSpent, Stopped), world.aside(context, vhost) as own:
            world.driver.delete(own, entities)
            world.made.discard((vhost, context.nodes.address_of(name), kind) for kind, name in entities)
