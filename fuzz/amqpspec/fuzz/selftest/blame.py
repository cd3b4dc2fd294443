"""How often the right input is blamed: defects planted at drawn spots that few inputs of a batch hit.

Knows: how spots are drawn, what the right answer is. Must not know: how blame is found.

Each draw takes a batch as a campaign would send it, a frame of one of its inputs, and a condition on that frame (its
name, a field's value, octets in it) that holds for few inputs of the batch and for nothing that is sent on the way
into the state. A batch of which the oracle does not complain (no answer was due that could be late) is drawn again,
and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from amqpspec.fuzz.campaign.order import BATCH
from amqpspec.fuzz.executor.client import Unanswered
from amqpspec.fuzz.executor.clock import now_s
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.executor.tempo import Tempo
from amqpspec.fuzz.inputs.catalogue import Cell, cells
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.mutation import random_id, random_input
from amqpspec.fuzz.oracles.monitor import Monitor
from amqpspec.fuzz.oracles.suspicion import Oracle, Suspicion
from amqpspec.fuzz.parts import fuzzed_dialects
from amqpspec.fuzz.selftest.defects import KINDS, Defect
from amqpspec.fuzz.selftest.frames import ClientFrame, FrameCondition
from amqpspec.fuzz.selftest.part import frames_in
from amqpspec.fuzz.selftest.process import SeededBroker
from amqpspec.fuzz.selftest.selftest import Notify, table
from amqpspec.fuzz.states.model import Values
from amqpspec.fuzz.states.ways import octets_of_step, states
from amqpspec.fuzz.triage.triage import NOISY, Blame, Status, Triage
from amqpspec.reference.faults import all_faults

CONFORMANCE = "conformance"
SHARE = 0.99
_HITS_AT_MOST = 4
_DRAWS, _TRIES, _AT_MOST = 400, 12, 2
_RANDOM_SHARE = 0.25
_OCTETS = (4, 8)
_WAYS = ("not-refused", "wrong-code", "wrong-scope")
"""How a refusal goes wrong in the reference broker: ``wrong-code:ROW``."""


@dataclass(frozen=True, slots=True)
class Draw:
    """One planted defect (or a fault of the reference broker), and the batch that meets it."""

    kind: str
    dialect: str
    items: tuple[FuzzInput, ...]
    hits: int
    defect: Defect | None = None
    fault: str = ""

    @property
    def words(self) -> str:
        """Where it takes effect."""
        return self.defect.condition.words if self.defect is not None else self.fault

    @property
    def oracle(self) -> Oracle:
        """Who has to see it."""
        return KINDS.get(self.kind, Oracle.CONFORMANCE)

    def is_right(self, item: FuzzInput) -> bool:
        """Whether an input meets it."""
        if self.defect is not None:
            return self.defect.is_in(item.octets)
        return self.fault.partition(":")[2] == item.expectation.requirement


@dataclass(frozen=True, slots=True)
class Blamed:
    """The inputs that were blamed for a planted defect."""

    draw: Draw
    blame: Blame
    trials: int
    seconds_s: float

    @property
    def is_right(self) -> bool:
        """Whether it is an input that meets it."""
        return self.blame.item is not None and self.draw.is_right(self.blame.item)

    @property
    def is_finding(self) -> bool:
        """Whether a campaign would report it: what a busy machine can cause is not, when it does not repeat."""
        seen_once = self.blame.item is None or self.blame.status is Status.LOST
        return not (seen_once and self.draw.oracle in NOISY)

    @property
    def line(self) -> str:
        """One line for people."""
        named = str(self.blame.item.id) if self.blame.item else "the whole batch"
        return (
            f"{self.draw.dialect}/{self.draw.kind} at {self.draw.words[:80]}, {self.draw.hits} of "
            f"{len(self.draw.items)}: {'right' if self.is_right else 'WRONG'}, {self.blame.status}, "
            f"{self.trials} trials, {self.seconds_s:.1f} s: {named}"
        )

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        item = self.blame.item
        return {
            "dialect": self.draw.dialect, "kind": self.draw.kind, "oracle": str(self.draw.oracle),
            "spot": self.draw.words, "hits": self.draw.hits, "batch": len(self.draw.items),
            "right": self.is_right, "status": str(self.blame.status), "input": str(item.id) if item else None,
            "trials": self.trials, "seconds": round(self.seconds_s, 1),
        }  # fmt: skip


@dataclass(slots=True)
class BlameResult:
    """All blames; ``unseen`` are draws of which no oracle complained, ``unconfirmed`` those that made no finding."""

    blamed: list[Blamed] = field(default_factory=list)
    unseen: Counter[str] = field(default_factory=Counter)
    unconfirmed: Counter[str] = field(default_factory=Counter)

    @property
    def share(self) -> float:
        """How many of them are right."""
        return sum(b.is_right for b in self.blamed) / len(self.blamed) if self.blamed else 0.0

    @property
    def holds(self) -> bool:
        """Whether at least 99 of 100 are right."""
        return self.share >= SHARE

    @property
    def table(self) -> list[str]:
        """Kinds by dialects: how many are right of how many."""
        all_, right = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        for one in self.blamed:
            key = (one.draw.dialect, f"{one.draw.kind} ({one.draw.oracle})")
            all_[key] += 1
            right[key] += one.is_right
        return table([(*key, f"{right[key]} of {count}") for key, count in all_.items()])

    def to_json(self) -> dict[str, Any]:
        """``blames``, ``right``, ``share``, ``unseen``, ``unconfirmed``, and a row for each."""
        return {
            "blames": len(self.blamed), "right": sum(b.is_right for b in self.blamed),
            "share": round(self.share, 4), "unseen": dict(self.unseen), "unconfirmed": dict(self.unconfirmed),
            "rows": [b.to_json() for b in self.blamed],
        }  # fmt: skip


def blame_many(
    folder: Path,
    count: int,
    *,
    dialects: Sequence[str] = (),
    kinds: Sequence[str] = (*KINDS, CONFORMANCE),
    seed: int = 1,
    notify: Notify = lambda line: None,
) -> BlameResult:
    """Plant defects, kind by kind and dialect by dialect, until this many are blamed.

    One that no oracle sees wherever it is planted is left out; at most as many as other places can replace.
    """
    result, dialects = BlameResult(), dialects or fuzzed_dialects()
    for number in range(_AT_MOST * count):
        if len(result.blamed) == count:
            break
        kind = kinds[number // len(dialects) % len(kinds)]
        dialect = dialects[number % len(dialects)]
        for again in range(_TRIES):
            drawn = draw(dialect, kind, Random(f"{seed} {number} {again}"))
            one = _blamed(drawn, folder / f"{number}-{again}")
            if one is not None and one.is_finding:
                break
            (result.unseen if one is None else result.unconfirmed)[kind] += 1
        else:
            notify(f"{dialect}/{kind}: nothing seen in {_TRIES} draws")
            continue
        assert one is not None
        result.blamed.append(one)
        notify(f"{len(result.blamed)}: {one.line}")
    return result


def _blamed(drawn: Draw, folder: Path) -> Blamed | None:
    """One defect blamed, or None where its oracle saw nothing, or something else than the inputs meets it."""
    faults = (drawn.fault,) if drawn.fault else ()
    with SeededBroker(drawn.defect, folder, drawn.dialect, faults) as broker:
        subject = broker.subject()
        monitor = Monitor(subject)
        try:
            tempo = Tempo.of(subject.round_trip_s(), subject.patience, subject.hang_s)
            if _sent(subject, monitor, tempo, [item for item in drawn.items if not drawn.is_right(item)]):
                return None
            seen = _of(drawn.oracle, _sent(subject, monitor, tempo, drawn.items))
        except Unanswered:
            return None
        if seen is None:
            return None
        begun_s = now_s()
        triage = Triage(subject, monitor, tempo)
        blame = triage.blame(drawn.items, seen)
        monitor.close()
    return Blamed(drawn, blame, triage.trials, now_s() - begun_s)


def _sent(
    subject: Subject, monitor: Monitor, tempo: Tempo, items: Sequence[FuzzInput]
) -> tuple[Suspicion, ...]:
    """What the oracles say of a batch; of one that meets nothing, they learn what is usual. Raises Unanswered."""
    monitor.before()
    executor = subject.executor(tempo)
    results = list(executor.run(items))
    executor.close()
    return monitor.after(results).suspicions


def _of(oracle: Oracle, suspicions: Sequence[Suspicion]) -> Suspicion | None:
    return next((s for s in suspicions if s.oracle is oracle), None)


# --- what is drawn


def draw(dialect: str, kind: str, random: Random) -> Draw:
    """A defect of a kind at a spot that few inputs of a batch hit; the same for the same state of ``random``."""
    for _ in range(_DRAWS):
        drawn = _fault(dialect, random) if kind == CONFORMANCE else _defect(dialect, kind, random)
        if drawn is not None and 0 < drawn.hits <= _HITS_AT_MOST:
            return drawn
    raise LookupError(
        f"{dialect}/{kind}: expected a spot that few inputs hit, actual: none in {_DRAWS} draws"
    )


def _defect(dialect: str, kind: str, random: Random) -> Draw | None:
    items = _batch(dialect, random)
    frames = [frame for frame in frames_in(dialect, random.choice(items).octets) if frame.name]
    if not frames:
        return None
    condition = _condition(random.choice(frames), random)
    if condition is None or any(condition.is_at(frame) for frame in _usual(dialect)):
        return None
    planted = Defect(kind, "drawn", condition, dialect)
    return Draw(kind, dialect, items, sum(planted.is_in(item.octets) for item in items), planted)


def _condition(frame: ClientFrame, random: Random) -> FrameCondition | None:
    """A condition that holds for this frame."""
    way = random.randrange(4)
    if way == 0:
        return FrameCondition(frozenset({frame.name}))
    if way < 3 and frame.fields:
        name = random.choice(sorted(frame.fields))
        return FrameCondition(frozenset({frame.name}), name, frame.fields[name])
    length = random.randint(*_OCTETS)
    if len(frame.payload) < length:
        return None
    at = random.randrange(len(frame.payload) - length + 1)
    names = frozenset({frame.name}) if random.random() < 0.5 else frozenset[str]()
    return FrameCondition(names, octets=frame.payload[at : at + length])


def _fault(dialect: str, random: Random) -> Draw | None:
    """A refusal that is left out or goes wrong, and a batch of a cell in which it is due."""
    items = _cut(random.choice(_refusing(dialect)), random)
    rows = sorted({item.expectation.requirement for item in items if item.expectation.must_refuse})
    faults = [f"{way}:{row}" for way in _WAYS for row in rows if f"{way}:{row}" in all_faults(dialect)]
    return Draw(CONFORMANCE, dialect, items, 1, fault=random.choice(faults)) if faults else None


@cache
def _refusing(dialect: str) -> tuple[Cell, ...]:
    # Which rows they are would take the judge's word on every input; whether there is one takes the first.
    return tuple(
        cell for cell in cells(dialect) if cell.touches or any(item.expectation.requirement for item in cell)
    )


def _batch(dialect: str, random: Random) -> tuple[FuzzInput, ...]:
    """As a campaign sends them: of one cell, or drawn."""
    if random.random() < _RANDOM_SHARE:
        seed, first = random.randrange(1 << 16), random.randrange(1 << 30)
        ids = (random_id(dialect, seed, first + n) for n in range(BATCH))
        return tuple(item for item in (random_input(dialect, one) for one in ids) if item.octets)
    return _cut(random.choice(cells(dialect)), random)


def _cut(cell: Cell, random: Random) -> tuple[FuzzInput, ...]:
    first = BATCH * random.randrange(-(-cell.inputs // BATCH))
    return tuple(cell.input(n) for n in range(first, min(cell.inputs, first + BATCH)))


@cache
def _usual(dialect: str) -> tuple[ClientFrame, ...]:
    """What is sent on the ways into states, as any connection sends it."""
    frames: list[ClientFrame] = []
    for state in states(dialect).values():
        for step in state.steps:
            frames += frames_in(dialect, octets_of_step(dialect, step, Values()))
    return tuple(frames)


__all__ = ["CONFORMANCE", "BlameResult", "Blamed", "Draw", "blame_many", "draw"]
