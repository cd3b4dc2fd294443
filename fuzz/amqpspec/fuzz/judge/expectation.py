"""What the ledger requires of a target for an input; for most inputs, nothing.

Knows: ledgers. Must not know: how octets are judged, what a target did.
"""

from __future__ import annotations

from dataclasses import dataclass

from amqpspec.spec.dialects import judged_as, load_ledger
from amqpspec.spec.model import Refusal, Requirement
from amqpspec.spec.requirements import Ledger


@dataclass(frozen=True, slots=True)
class Expectation:
    """A requirement that the input breaks, and the refusals that keep it; without one, the input may be legal.

    An input that may be legal can be taken or refused in any way; the target has to survive.
    """

    requirement: str = ""
    accepts: tuple[Refusal, ...] = ()
    tolerates: tuple[Refusal, ...] = ()

    @property
    def must_refuse(self) -> bool:
        """Whether the ledger demands a refusal."""
        return bool(self.requirement)

    @property
    def kind(self) -> str:
        """``refusal`` or ``may be legal``."""
        return "refusal" if self.must_refuse else "may be legal"


MAY_BE_LEGAL = Expectation()


def ledger(dialect_id: str) -> Ledger:
    """The ledger of a dialect: that of the draft for the dialect in which it is deployed."""
    return load_ledger(judged_as(dialect_id))


def expect(dialect_id: str, requirement: str) -> Expectation:
    """What a requirement demands; raises KeyError for an unknown id, ValueError for a row without refusals."""
    if not requirement:
        return MAY_BE_LEGAL
    row = ledger(dialect_id)[requirement]
    if not row.accepts:
        raise ValueError(f"{dialect_id} {requirement}: expected a row with refusals, actual: none")
    return Expectation(row.id, row.accepts, row.tolerates)


def rows(dialect_id: str, *ids: str) -> tuple[Requirement, ...]:
    """Rows by id; raises KeyError."""
    return tuple(ledger(dialect_id)[id] for id in ids)
