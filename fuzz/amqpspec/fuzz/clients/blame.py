"""Finds the inputs to blame for a suspicion: alone, then by bisecting the inputs of one process, then in fewer
octets.

Knows: what has to be asked again. Must not know: how findings are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from amqpspec.fuzz.clients.bout import Met, Ring
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.oracles.suspicion import Oracle, Suspicion
from amqpspec.fuzz.triage.shrink import Steps, smaller_steps
from amqpspec.fuzz.triage.triage import Status
from amqpspec.net.clock import monotonic_s
from amqpspec.run.clients.batch import BatchAgents

_TRIES, _SHRINK_TRIES = 2, 24
_SHRINK_S, _SHRINK_TIMES = (20.0, 90.0), 6


@dataclass(frozen=True, slots=True)
class Blamed:
    """``item`` alone is to blame, smallest octets; None where only ``batch`` in one process, or nothing, does it again.

    ``evidence`` is the conversation that shows it, relative to the campaign's folder.
    """

    status: Status
    suspicion: Suspicion
    item: FuzzInput | None
    batch: tuple[FuzzInput, ...]
    evidence: str
    said: str


Sequel = Callable[[Sequence[FuzzInput]], Met | None]
"""Sends inputs in order to one new process: what shows the suspicion, if anything does."""


def blame(ring: Ring, met: Met, history: Sequence[FuzzInput], name: str) -> Blamed:
    """The inputs to blame for a suspicion; ``history`` are the inputs that its process"""
    assert met.suspicion is not None
    oracle = met.suspicion.oracle
    tries = [ring.meet(met.item, name, alone=True) for _ in range(_TRIES)]
    again = [one for one in tries if one.suspicion is not None and one.suspicion.oracle is oracle]
    if again and not _happens_anyway(ring, met.item, oracle):
        status = Status.STABLE if len(again) == _TRIES else Status.FLAKY
        return _smallest(ring, again[-1], name, status)
    if not again and len(history) > 1:
        found = _of_many(history, lambda items: _in_one_process(ring, items, name, oracle))
        if found is not None:
            return found
    return _blamed(Status.LOST, met, None, (met.item,))


def _happens_anyway(ring: Ring, item: FuzzInput, oracle: Oracle) -> bool:
    """Whether the client does the same on a correct server."""
    found = ring.harmless(item)
    return found is not None and found.oracle is oracle


def _smallest(ring: Ring, met: Met, name: str, status: Status) -> Blamed:
    """The same with as few octets as a bounded search finds."""
    assert met.suspicion is not None
    oracle, until_s, best = met.suspicion.oracle, monotonic_s() + _shrinking_s(met), met

    def keeps(steps: Steps) -> bool:
        nonlocal best
        if not steps or monotonic_s() > until_s:
            return False
        found = ring.meet(replace(met.item, steps=steps), name, alone=True)
        same = found.suspicion is not None and found.suspicion.oracle is oracle
        best = found if same else best
        return same

    if status is Status.STABLE:
        smaller_steps(met.item, keeps, _SHRINK_TRIES)
        # The last conversation in the folder may be one that did not show it.
        shown = ring.meet(best.item, name, alone=True)
        best = shown if shown.suspicion is not None and shown.suspicion.oracle is oracle else best
    return _blamed(status, best, best.item, ())


def _shrinking_s(met: Met) -> float:
    """How long a smaller input is looked for: what takes long each time is not worth as many tries."""
    talks = [c.talk for c in met.encounter.conversations]
    moments_ns = [
        at_ns for talk in talks for at_ns in (*(c.at_ns for c in talk.chunks), talk.ended_ns or 0) if at_ns
    ]
    took_s = (max(moments_ns) - min(moments_ns)) / 1e9 if moments_ns else 0.0
    return min(max(_SHRINK_TIMES * took_s, _SHRINK_S[0]), _SHRINK_S[1])


def _of_many(history: Sequence[FuzzInput], sequel: Sequel) -> Blamed | None:
    """The fewest inputs by halving that do it in one process; None where not even all of them do."""
    shown = sequel(history)
    if shown is None:
        return None
    while len(history) > 1:
        middle = len(history) // 2
        halves = (history[middle:], history[:middle])
        enough = next(((half, met) for half in halves if (met := sequel(half)) is not None), None)
        if enough is None:
            break
        history, shown = enough
    return _blamed(Status.FLAKY, shown, None, tuple(history))


def _in_one_process(ring: Ring, items: Sequence[FuzzInput], name: str, oracle: Oracle) -> Met | None:
    with BatchAgents(ring.arena.command) as agents:
        own = replace(ring, runner=agents)
        for item in items:
            met = own.meet(item, name)
            if met.suspicion is not None and met.suspicion.oracle is oracle:
                return met
    return None


def _blamed(status: Status, met: Met, item: FuzzInput | None, batch: tuple[FuzzInput, ...]) -> Blamed:
    assert met.suspicion is not None
    return Blamed(status, met.suspicion, item, batch, met.encounter.evidence, met.encounter.ran.said)
