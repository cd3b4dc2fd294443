"""The rules by which a broker refuses, and wrong refusals: the data of one dialect.

Knows: rows of a ledger, the three faults of every rule. Must not know: any dialect, or when a rule is broken; the
code that calls ``refuse`` does. For every rule listed in ``rows``, ``not-refused:ROW``, ``wrong-code:ROW`` and
``wrong-scope:ROW`` exist automatically, unless the ledger accepts every code or scope.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from amqpspec.reference.fault import Fault
from amqpspec.spec.dialects import load_ledger
from amqpspec.spec.model import Refusal, Requirement

MUTE = None
"""The scope of a broker that neither answers nor ends: only a fault does that."""


@dataclass(frozen=True, kw_only=True)
class RefusalRules(ABC):
    """The refusals of one dialect's broker.

    ``also`` names other rows that the same refusal keeps, so that a fault which spoils it breaks them, too.
    ``unjudged`` are refusals of what no rule covers, such as a reject of an unknown delivery: no case can judge
    them. With ``strict_codes``, a code that the ledger only tolerates is a wrong one.
    """

    ledger: str
    rows: tuple[str, ...]
    also: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unjudged: tuple[str, ...] = ()
    strict_codes: bool = False

    # --- refusing

    def row_of(self, rule: str) -> Requirement:
        """The row that a rule is refused by; raises KeyError for a rule that is not listed."""
        if rule not in self.rows:
            raise KeyError(f"{rule}: not among the refusals of {self.ledger}")
        return load_ledger(self.ledger)[rule]

    def right(self, rule: str, dialect_id: str) -> Refusal:
        """What a peer that speaks a dialect is to see of a refusal; raises KeyError for a rule that is not listed."""
        return self.row_of(rule).accepts[0]

    @abstractmethod
    def confused(self, right: Refusal) -> Iterable[int | str]:
        """Codes of the same scope that are easily treated as the right one."""

    def wrong_code(self, row: Requirement) -> Refusal | None:
        """The right scope with a wrong code; None if the ledger tolerates every code."""
        right = row.accepts[0]
        if right.code is None:
            return None
        natural = (Refusal(right.scope, code) for code in self.confused(right))
        taken = row.accepts if self.strict_codes else (*row.accepts, *row.tolerates)
        return next((refusal for refusal in natural if not is_among(refusal, taken)), None)

    @abstractmethod
    def wrong_scope(self, row: Requirement) -> Refusal | None:
        """The right code (if there is one) at a scope that the ledger does not tolerate; MUTE is silence."""

    # --- faults

    def faults(self) -> Iterator[Fault]:
        """The three faults of every rule that a black box can see, or two where every code passes."""
        ledger = load_ledger(self.ledger)
        for rule in self.rows:
            if ledger[rule].testable and rule not in self.unjudged:
                others = [ledger[other] for other in self.also.get(rule, ())]
                yield from self._faults_of(ledger[rule], others)

    def _faults_of(self, row: Requirement, others: Sequence[Requirement]) -> Iterator[Fault]:
        everything = (row.id, *(other.id for other in others))
        yield Fault(f"not-refused:{row.id}", everything, "accepts what the rule forbids")
        if (code := self.wrong_code(row)) is not None:
            yield Fault(
                f"wrong-code:{row.id}", _broken(code, row, others), f"the refusal carries {code.code}"
            )
        scope = self.wrong_scope(row)
        how = "by silence" if scope is MUTE else f"at the scope {scope.scope}"
        yield Fault(f"wrong-scope:{row.id}", _broken(scope, row, others), f"the refusal comes {how}")


def is_among(refusal: Refusal, known: Iterable[Refusal]) -> bool:
    """Whether a refusal is one of these; one without a code means every code at its scope."""
    return any(k.scope is refusal.scope and k.code in (None, refusal.code) for k in known)


def passes(refusal: Refusal, row: Requirement) -> bool:
    """Whether the ledger tolerates a refusal."""
    return is_among(refusal, (*row.accepts, *row.tolerates))


def _broken(refusal: Refusal | None, row: Requirement, others: Iterable[Requirement]) -> tuple[str, ...]:
    """The row, and those of the others that do not tolerate a refusal."""
    also = (other.id for other in others if refusal is None or not passes(refusal, other))
    return (row.id, *also)
