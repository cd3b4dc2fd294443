"""Every rule that a broker of the 0-9 family enforces by refusing, and what refusing wrongly looks like.

Knows: the rules; which reply code or scope the ledger would neither accept nor tolerate for each.
Must not know: when a rule is broken; the handlers do, and they name it as the 0-9-1 ledger does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from amqpspec.reference.faults import rules_wire_9_1
from amqpspec.reference.faults.amqp_1_0 import rules as rules_1_0
from amqpspec.reference.faults.fault import Fault
from amqpspec.spec.dialects import load_ledger
from amqpspec.spec.methods import load_methods
from amqpspec.spec.model import Refusal, Requirement, Scope

REFUSALS = (
    "amq_wlp_frame_01",
    "amq_wlp_frame_02",
    "amq_wlp_frame_03",
    "amq_wlp_table_01",
    "amq_wlp_content_01",
    "amq_wlp_content_02",
    "amq_wlp_content_03",
    "amq_wlp_content_05",
    "amq_wlp_heartbeat_01",
    "wire/frame/channel-zero-for-connection",
    "wire/frame/channel-class-on-zero",
    "wire/frame/content-channel-open",
    "wire/method/unknown-class",
    "wire/method/unknown-method",
    "wire/method/truncated-arguments",
    "wire/method/trailing-octets",
    "wire/method/server-only",
    "wire/strings/shortstr-zero-octet",
    "wire/table/malformed",
    "wire/content/aborted-by-method",
    "wire/content/malformed-header",
    "wire/content/body-exceeds-size",
    "wire/content/unexpected-header",
    "wire/content/unexpected-body",
    "wire/heartbeat/missed",
    "connection/grammar",
    "connection/start/protocol-name",
    "connection/start/server-support",
    "connection/start-ok/mechanism/validity",
    "connection/start-ok/locale",
    "connection/secure",
    "connection/tune/channel-max",
    "connection/tune-ok/channel-max/upper-limit",
    "connection/tune-ok/frame-max/minimum-chosen",
    "connection/tune-ok/frame-max/upper-limit",
    "connection/open/virtual-host/security",
    "constant/invalid-path",
    "constant/frame-error",
    "constant/command-invalid",
    "constant/access-refused",
    "constant/not-found",
    "constant/precondition-failed",
    "constant/content-too-large",
    "channel/grammar",
    "channel/open/state",
    "exchange/default-access",
    "exchange/declare/exchange/reserved",
    "exchange/declare/exchange/syntax",
    "exchange/declare/type/typed",
    "exchange/declare/type/support",
    "exchange/declare/passive/not-found",
    "exchange/declare/passive/equivalent-mismatch",
    "exchange/delete/exchange/exists",
    "exchange/delete/if-unused/in-use",
    "exchange/bind/destination/exchange-existence",
    "exchange/bind/source/exchange-existence",
    "exchange/unbind/destination/must-exist",
    "exchange/unbind/source/must-exist",
    "queue/declare/queue/reserved",
    "queue/declare/queue/syntax",
    "queue/declare/passive/not-found",
    "queue/declare/passive/equivalent-mismatch",
    "queue/declare/exclusive/passive",
    "queue/declare/exclusive/exclusive",
    "queue/bind/queue/queue-known",
    "queue/bind/queue/must-exist",
    "queue/bind/exchange/exchange-existence",
    "queue/unbind/queue/queue-known",
    "queue/unbind/queue/must-exist",
    "queue/unbind/exchange/must-exist",
    "queue/purge/queue/queue-known",
    "queue/purge/queue/must-exist",
    "queue/delete/queue/queue-known",
    "queue/delete/queue/must-exist",
    "queue/delete/if-unused/in-use",
    "queue/delete/if-empty/not-empty",
    "domain/queue-name/unknown",
    "basic/consume/consumer-tag/duplicate",
    "basic/consume/consumer-tag/channel-local",
    "basic/consume/exclusive/in-use",
    "basic/consume/exclusive/alone",
    "basic/publish/exchange/must-exist",
    "basic/publish/exchange/internal",
    "basic/ack/multiple/exists-once",
    "basic/ack/multiple/exists-unknown",
    "basic/ack/multiple/exists-transacted",
    "basic/nack/multiple/exists-once",
    "basic/nack/multiple/exists-unknown",
    "tx/commit/transacted",
    "tx/rollback/transacted",
    "confirm/select/transacted",
)

_OF_NO_RULE = ("constant/precondition-failed",)
"""Refusals of what no rule speaks of, as a reject of an unknown delivery: no case can judge them."""

BORROWED = ("constant/not-implemented",)
"""Refusals of dialects that have more than this broker serves: in 0-9-1 nothing is like that."""

MUTE = None
"""The scope of a broker that neither answers nor ends: only a fault does that."""

_ANY_CODE = 541
_EASILY_CONFUSED = {
    Scope.CHANNEL: (404, 406, 403, 405),
    Scope.CONNECTION: (503, 504, 502, 501, 505, 530, 540, 541),
}


_CHANNEL_ZERO = (
    "connection/",
    "amq_wlp_frame_03",
    "amq_wlp_content_03",
    "wire/frame/channel-class-on-zero",
    "wire/frame/content-channel-open",
    "constant/invalid-path",
    "constant/command-invalid",
    "grammar/channel-non-zero",
    "channel-multiplexing/",
)
"""What is refused where there is no channel that could be closed."""


_BASE = "amqp-0-9-1"
_TYPED = "amqp-1-0"
_OWN: Mapping[str, tuple[str, ...]] = {
    _BASE: REFUSALS,
    "amqp-wire-9-1": rules_wire_9_1.REFUSALS,
    _TYPED: rules_1_0.REFUSALS,
}
_SPOKEN_AS: Mapping[str, Mapping[str, str]] = {"amqp-wire-9-1": rules_wire_9_1.SPOKEN_AS}
_ALSO: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "amqp-wire-9-1": rules_wire_9_1.ALSO,
    _TYPED: rules_1_0.ALSO,
}
_CODES: Mapping[str, Mapping[int, Refusal]] = {"amqp-wire-9-1": rules_wire_9_1.CODES}


def own_refusals(ledger_id: str) -> tuple[str, ...]:
    """The rules of a ledger by which its broker refuses."""
    return _OWN[ledger_id]


@cache
def row_of(rule: str, ledger_id: str) -> Requirement:
    """The row that a rule is refused by: of the ledger itself, or of 0-9-1's; raises KeyError for one not listed."""
    own = _SPOKEN_AS.get(ledger_id, {}).get(rule, rule)
    if own in _OWN[ledger_id]:
        return load_ledger(ledger_id)[own]
    if rule not in (*REFUSALS, *BORROWED):
        raise KeyError(f"{rule}: not listed in faults/refusals.py")
    return load_ledger(_BASE)[rule]


def right(rule: str, ledger_id: str, dialect_id: str = "") -> Refusal:
    """The refusal that a rule asks for, in codes that the dialect has; raises KeyError for a rule not listed."""
    refusal = row_of(rule, ledger_id).accepts[0]
    later = _CODES.get(ledger_id, {})
    if isinstance(refusal.code, int) and refusal.code not in load_methods(dialect_id or ledger_id).codes:
        return later.get(refusal.code, refusal)
    return refusal


def wrong_code(row: Requirement, ledger_id: str = _BASE) -> Refusal | None:
    """The right scope with a code that the ledger does not let pass; None if it lets every code pass."""
    if ledger_id == _TYPED:
        return rules_1_0.wrong_code(row)
    first = row.accepts[0]
    if first.code is None:
        return None
    natural = (Refusal(first.scope, code) for code in _EASILY_CONFUSED[first.scope])
    return next((refusal for refusal in natural if not _passes(refusal, row)), None)


def wrong_scope(row: Requirement, ledger_id: str = _BASE) -> Refusal | None:
    """The right code (where there is one) at a scope that the ledger does not let pass; None is silence."""
    if ledger_id == _TYPED:
        return rules_1_0.wrong_scope(row)
    first = row.accepts[0]
    code = first.code or _ANY_CODE
    wider = (Refusal(Scope.CHANNEL, code), Refusal(Scope.CONNECTION, code), Refusal(Scope.SOCKET))
    start = 1 if row.id.startswith(_CHANNEL_ZERO) or first.scope is not Scope.CONNECTION else 0
    return next((r for r in wider[start:] if r.scope is not first.scope and not _passes(r, row)), MUTE)


def _passes(refusal: Refusal, row: Requirement) -> bool:
    known = (*row.accepts, *row.tolerates)
    return any(k.scope is refusal.scope and k.code in (None, refusal.code) for k in known)


def refusal_faults(ledger_id: str) -> Iterator[Fault]:
    """The three faults of every rule that a black box can see, or two where every code passes."""
    ledger = load_ledger(ledger_id)
    for rule in _OWN.get(ledger_id, ()):
        if ledger[rule].testable and rule not in _OF_NO_RULE:
            others = [ledger[other] for other in _ALSO.get(ledger_id, {}).get(rule, ())]
            yield from _faults_of(ledger[rule], others, ledger_id)


def _faults_of(row: Requirement, others: Iterable[Requirement], ledger_id: str) -> Iterable[Fault]:
    everything = (row.id, *(other.id for other in others))
    yield Fault(f"not-refused:{row.id}", everything, "what the rule forbids is let pass")
    if (code := wrong_code(row, ledger_id)) is not None:
        yield Fault(f"wrong-code:{row.id}", _broken(code, row, others), f"the refusal carries {code.code}")
    scope = wrong_scope(row, ledger_id)
    how = "by silence" if scope is None else f"at the scope {scope.scope}"
    yield Fault(f"wrong-scope:{row.id}", _broken(scope, row, others), f"the refusal comes {how}")


def _broken(refusal: Refusal | None, row: Requirement, others: Iterable[Requirement]) -> tuple[str, ...]:
    """The row, and those of the others that do not let a refusal pass."""
    also = (other.id for other in others if refusal is None or not _passes(refusal, other))
    return (row.id, *also)
