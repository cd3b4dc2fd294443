"""What refusing wrongly looks like in the 0-9 family: with a reply code, or at a scope, that a row does not tolerate.

Knows: codes that are easily confused, which scope is wider than which. Must not know: any dialect's rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from amqpspec.reference.refusals import MUTE, RefusalRules, passes
from amqpspec.spec.dialects import load_dialect, load_ledger
from amqpspec.spec.model import Refusal, Requirement, Scope

_ANY_CODE = 541
_EASILY_CONFUSED = {
    Scope.CHANNEL: (404, 406, 403, 405),
    Scope.CONNECTION: (503, 504, 502, 501, 505, 530, 540, 541),
}


@dataclass(frozen=True, kw_only=True)
class MethodRefusals(RefusalRules):
    """The refusals of one dialect of the family.

    ``on_channel_zero``: how the ids begin of what is refused if there is no channel that could be closed.
    ``base`` is the dialect by whose rows handlers name rules; what the own ledger has no row for is refused by that
    one's. A rule is the own ledger's row of that name, the one that the ledger calls the same (``same_as``), or the
    one that ``spoken_as`` names. ``borrowed`` are refusals of dialects that have more than this broker serves: no row
    of the own ledger is like that. ``earlier_codes`` take the place of reply codes that the dialect spoken does not
    have yet.
    """

    on_channel_zero: tuple[str, ...]
    base: MethodRefusals | None = None
    spoken_as: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    borrowed: tuple[str, ...] = ()
    earlier_codes: Mapping[int, Refusal] = field(default_factory=dict)

    @cached_property
    def _own(self) -> Mapping[str, str]:
        """Every rule that a row of the own ledger is for, to that row."""
        ledger = load_ledger(self.ledger)
        same = {ledger[row].same_as: row for row in self.rows if ledger[row].same_as}
        spoken = {rule: row for rule, (row,) in self.spoken_as.items()}
        return {**{row: row for row in self.rows}, **same, **spoken}

    def row_of(self, rule: str) -> Requirement:
        """The row that a rule is refused by: the ledger's own, or else that of the base."""
        if rule in self._own:
            return load_ledger(self.ledger)[self._own[rule]]
        if self.base is not None:
            return self.base.row_of(rule)
        if rule not in self.borrowed:
            raise KeyError(f"{rule}: not among the refusals of {self.ledger}")
        return load_ledger(self.ledger)[rule]

    def right(self, rule: str, dialect_id: str) -> Refusal:
        """The refusal that a rule asks for, in codes that the dialect spoken has."""
        refusal = super().right(rule, dialect_id)
        if isinstance(refusal.code, int) and refusal.code in self.earlier_codes:
            known = refusal.code in load_dialect(dialect_id).refusal_codes.values()
            return refusal if known else self.earlier_codes[refusal.code]
        return refusal

    def confused(self, right: Refusal) -> tuple[int, ...]:
        """Codes of channels for one of a channel, codes of connections for one of a connection."""
        return _EASILY_CONFUSED[right.scope]

    def wrong_scope(self, row: Requirement) -> Refusal | None:
        """The next scope; a channel is closed in place of the connection only if there is one."""
        first = row.accepts[0]
        code = first.code or _ANY_CODE
        wider = (Refusal(Scope.CHANNEL, code), Refusal(Scope.CONNECTION, code), Refusal(Scope.SOCKET))
        start = 1 if row.id.startswith(self.on_channel_zero) or first.scope is not Scope.CONNECTION else 0
        return next((r for r in wider[start:] if r.scope is not first.scope and not passes(r, row)), MUTE)
