"""The planted defects: what goes wrong, in which dialect, at which frames, and which oracle has to see it.

Knows: names of frames, oracles. Must not know: how a defect is done.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from amqpspec.fuzz.oracles.suspicion import Oracle
from amqpspec.fuzz.parts import fuzzed_dialects
from amqpspec.fuzz.selftest.frames import FrameCondition
from amqpspec.fuzz.selftest.part import is_met, selftest_part

KINDS = {
    "crash": Oracle.CRASH,
    "hang": Oracle.HANG,
    "leak": Oracle.MEMORY,
    "cpu": Oracle.CPU,
    "late": Oracle.LATE,
    "corrupt": Oracle.CANARY,
    "wrong-user": Oracle.LEAK,
    "throw": Oracle.LOG,
    "mute": Oracle.OBEDIENCE,
    "mixed-up": Oracle.OBEDIENCE,
}
"""What goes wrong, and the oracle that has to see it."""


@dataclass(frozen=True, slots=True)
class Defect:
    """One planted defect; ``place`` is what the frames are called at which it strikes."""

    kind: str
    place: str
    condition: FrameCondition
    dialect: str

    @property
    def name(self) -> str:
        """``amqp-1-0/crash@rare``."""
        return f"{self.dialect}/{self.kind}@{self.place}"

    @property
    def oracle(self) -> Oracle:
        """Who has to see it."""
        return KINDS[self.kind]

    def is_in(self, octets: bytes) -> bool:
        """Whether octets hold a frame at which it strikes."""
        return is_met(self.condition, self.dialect, octets)

    def to_json(self) -> str:
        """As one line of JSON."""
        return json.dumps(
            {**self.condition.to_json(), "kind": self.kind, "place": self.place, "dialect": self.dialect}
        )

    @classmethod
    def from_json(cls, line: str) -> Defect:
        """From one line of JSON."""
        row = json.loads(line)
        return cls(row["kind"], row["place"], FrameCondition.from_json(row), row["dialect"])


def defects(dialects: Iterable[str] | None = None) -> tuple[Defect, ...]:
    """Every defect at every place, dialect by dialect; of all dialects if none is named."""
    return tuple(
        Defect(kind, place, condition, dialect)
        for dialect in (fuzzed_dialects() if dialects is None else dialects)
        for kind in KINDS
        for place, condition in selftest_part(dialect).conditions(kind).items()
    )


def defect(name: str) -> Defect:
    """A defect by name; raises KeyError."""
    dialect = name.partition("/")[0]
    return {d.name: d for d in defects(d for d in fuzzed_dialects() if d == dialect)}[name]
