"""The faults of the 1.0 broker: what it refuses by rule, the rows that fall with it, how refusing is wrong, behaviours.

Knows: rows of the 1.0 ledger, which condition or scope it does not accept for each, which modules act out faults.
Must not know: when a rule is broken; connections, sessions and links do.
"""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.reference.amqp_1_0 import (
    addresses,
    announcing,
    answering,
    attaching,
    beginning,
    connection,
    coordinating,
    dispatch,
    dispositions,
    endpoints,
    errors,
    flow_state,
    flows,
    idle,
    inbox,
    incoming,
    logins,
    messages,
    nodes,
    opening,
    outgoing,
    receiving,
    relaying,
    retiring,
    securing,
    sending,
    session,
    transactions,
    uniqueness,
    wire,
)  # fmt: skip
from amqpspec.reference.fault import word_table
from amqpspec.reference.faults import Faults
from amqpspec.reference.refusals import MUTE, RefusalRules, passes
from amqpspec.spec.model import Refusal, Requirement, Scope

_MODULES = (
    wire, inbox, logins, securing, announcing, opening, connection, idle, errors, beginning, session, flow_state, flows,
    attaching, answering, addresses, nodes, endpoints, sending, outgoing, receiving, incoming, messages, dispositions,
    transactions, coordinating, retiring, relaying, uniqueness, dispatch,
)  # fmt: skip

_ROWS = """
    version/highest-not-above version/highest-otherwise version/unparseable version/protocol-id/unacceptable
    framing/size/below-header framing/doff/below-header framing/doff/beyond-size framing/type
    framing/performative
    connections/opening/limits-before connections/opening/open-first connections/opening/channel-zero
    connections/idle-timeout/close connections/idle-timeout/unsupported connections/empty-frame/after-open
    connections/states/legal-frames
    sessions/begin/unused-channel sessions/begin/remote-channel-empty sessions/states/unmapped
    links/recovering/no-record links/errors/errant-link links/errors/resume links/errors/pipelined-attach
    transfers/delivery-tag/unique transfers/large/not-within-link
    performatives/open/mandatory performatives/open/max-frame-size/exceeded
    performatives/open/channel-max/exceeded performatives/begin/mandatory
    performatives/begin/handle-max/exceeded performatives/attach/mandatory performatives/attach/handle/in-use
    performatives/attach/target/none performatives/attach/unsettled/null-keys
    performatives/attach/incomplete-unsettled/receiver performatives/attach/initial-delivery-count/set
    performatives/attach/max-message-size/exceeded performatives/flow/mandatory
    performatives/flow/handle/unattached performatives/flow/delivery-count/without-handle
    performatives/flow/link-credit/without-handle performatives/flow/available/without-handle
    performatives/flow/drain/without-handle performatives/flow/properties/without-handle
    performatives/transfer/handle performatives/transfer/delivery-id/first
    performatives/transfer/delivery-id/differs performatives/transfer/delivery-tag/first
    performatives/transfer/delivery-tag/differs performatives/transfer/message-format/first
    performatives/transfer/message-format/differs performatives/transfer/settled/mode-settled
    performatives/transfer/settled/mode-unsettled performatives/transfer/rcv-settle-mode/illegal
    performatives/disposition/mandatory performatives/detach/mandatory
    definitions/delivery-tag/length definitions/fields/symbol-keys definitions/condition/not-found
    definitions/condition/unauthorized-access definitions/condition/decode-error
    definitions/condition/not-allowed definitions/condition/invalid-field definitions/condition/not-implemented
    definitions/condition/window-violation definitions/condition/unattached-handle
    definitions/condition/transfer-limit-exceeded definitions/min-max-frame-size/lower-bound
    sasl/frame/empty
    transactions/unknown-id transactions/control/settled transactions/acquisition
"""
_ALSO = word_table("""
version/highest-not-above: version/mismatch/outgoing-closed version/unsupported version/single-version
    connections/states/header-mismatch version/example-minor version/protocol-id-is-no-version
version/highest-otherwise: version/mismatch/outgoing-closed version/unsupported version/single-version
    connections/states/header-mismatch
version/unparseable: version/example-http
version/protocol-id/unacceptable: version/protocol-id-is-no-version version/protocol-id/choice
framing/size/below-header: definitions/condition/framing-error connections/closing/close-frame
    connections/closing/read-on connections/closing/timeout
framing/performative: model/nine-frame-bodies
connections/opening/limits-before: version/data-matches-header sasl/frame/max-size
connections/opening/open-first: performatives/open/first-frame
connections/idle-timeout/close: connections/idle-timeout/measure connections/idle-timeout/half
    connections/idle-timeout/unresponsive
connections/idle-timeout/unsupported: performatives/open/idle-time-out/unsupported
sessions/begin/unused-channel: definitions/condition/illegal-state
sessions/begin/remote-channel-empty: performatives/begin/remote-channel/unset
sessions/states/unmapped: sessions/states/end-sent
links/recovering/no-record: performatives/attach/source/none
links/errors/errant-link: definitions/condition/errant-link
links/errors/resume: links/errors/resume-unsettled links/errors/pipelined-attach
performatives/attach/handle/in-use: performatives/attach/handle/free definitions/condition/handle-in-use
performatives/attach/target/none: links/recovering/no-record
performatives/attach/max-message-size/exceeded: definitions/condition/message-size-exceeded
    links/errors/detach-with-error
performatives/flow/handle/unattached: sessions/errors/end definitions/condition/unattached-handle
performatives/open/channel-max/exceeded: connections/pipelined/within-limits
definitions/condition/not-found: links/establishing/null-terminus links/establishing/refused-detach
    links/establishing/create-terminus
definitions/condition/transfer-limit-exceeded: links/flow/credit-reduced
""")

_EASILY_CONFUSED = {
    Scope.LINK: ("amqp:internal-error", "amqp:link:detach-forced", "amqp:resource-locked"),
    Scope.SESSION: ("amqp:internal-error", "amqp:session:window-violation"),
    Scope.CONNECTION: ("amqp:internal-error", "amqp:connection:forced"),
}
_WIDER = (Scope.SESSION, Scope.CONNECTION, Scope.SOCKET)
_ANY_CODE = "amqp:internal-error"


class _Refusals(RefusalRules):
    """Conditions in place of codes, and scopes from the link to the socket."""

    def confused(self, right: Refusal) -> tuple[str, ...]:
        """Other conditions of the same scope."""
        return _EASILY_CONFUSED.get(right.scope, ())

    def wrong_scope(self, row: Requirement) -> Refusal | None:
        """The right condition at a scope that the ledger does not tolerate, never a narrower one; MUTE for an end."""
        if row.accepts[0].scope is Scope.SOCKET:
            return MUTE
        return next((refusal for refusal in _candidates(row.accepts[0]) if not passes(refusal, row)), None)


def _candidates(first: Refusal) -> Iterator[Refusal]:
    """A scope narrower than the right one does not exist when this is refused."""
    code = first.code or _ANY_CODE
    if first.scope is Scope.HEADER:
        yield Refusal(Scope.SOCKET)
        return
    for scope in _WIDER:
        if scope is not first.scope and not (scope is Scope.SESSION and first.scope is Scope.CONNECTION):
            yield Refusal(scope, None if scope is Scope.SOCKET else code)


DIALECT_FAULTS = Faults(
    tuple(fault for module in _MODULES for fault in module.FAULTS),
    _Refusals(ledger="amqp-1-0", rows=tuple(_ROWS.split()), also=_ALSO, strict_codes=True),
)
