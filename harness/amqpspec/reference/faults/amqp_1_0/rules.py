"""Every rule that the 1.0 broker enforces by refusing, the rows that fall with it, and how refusing is wrong.

Knows: rows of the 1.0 ledger; which condition or scope the ledger does not accept for each.
Must not know: when a rule is broken; connections, sessions and links do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from amqpspec.spec.model import Refusal, Requirement, Scope

REFUSALS = (
    "version/highest-not-above",
    "version/highest-otherwise",
    "version/unparseable",
    "version/protocol-id/unacceptable",
    "framing/size/below-header",
    "framing/doff/below-header",
    "framing/doff/beyond-size",
    "framing/type",
    "framing/performative",
    "connections/opening/limits-before",
    "connections/opening/open-first",
    "connections/opening/channel-zero",
    "connections/idle-timeout/close",
    "connections/idle-timeout/unsupported",
    "connections/empty-frame/after-open",
    "connections/states/legal-frames",
    "sessions/begin/unused-channel",
    "sessions/begin/remote-channel-empty",
    "sessions/states/unmapped",
    "links/recovering/no-record",
    "links/errors/errant-link",
    "links/errors/resume",
    "links/errors/pipelined-attach",
    "transfers/delivery-tag/unique",
    "transfers/large/not-within-link",
    "performatives/open/mandatory",
    "performatives/open/max-frame-size/exceeded",
    "performatives/open/channel-max/exceeded",
    "performatives/begin/mandatory",
    "performatives/begin/handle-max/exceeded",
    "performatives/attach/mandatory",
    "performatives/attach/handle/in-use",
    "performatives/attach/target/none",
    "performatives/attach/unsettled/null-keys",
    "performatives/attach/incomplete-unsettled/receiver",
    "performatives/attach/initial-delivery-count/set",
    "performatives/attach/max-message-size/exceeded",
    "performatives/flow/mandatory",
    "performatives/flow/handle/unattached",
    "performatives/flow/delivery-count/without-handle",
    "performatives/flow/link-credit/without-handle",
    "performatives/flow/available/without-handle",
    "performatives/flow/drain/without-handle",
    "performatives/flow/properties/without-handle",
    "performatives/transfer/handle",
    "performatives/transfer/delivery-id/first",
    "performatives/transfer/delivery-id/differs",
    "performatives/transfer/delivery-tag/first",
    "performatives/transfer/delivery-tag/differs",
    "performatives/transfer/message-format/first",
    "performatives/transfer/message-format/differs",
    "performatives/transfer/settled/mode-settled",
    "performatives/transfer/settled/mode-unsettled",
    "performatives/transfer/rcv-settle-mode/illegal",
    "performatives/disposition/mandatory",
    "performatives/detach/mandatory",
    "definitions/delivery-tag/length",
    "definitions/fields/symbol-keys",
    "definitions/condition/not-found",
    "definitions/condition/unauthorized-access",
    "definitions/condition/decode-error",
    "definitions/condition/not-allowed",
    "definitions/condition/invalid-field",
    "definitions/condition/not-implemented",
    "definitions/condition/window-violation",
    "definitions/condition/unattached-handle",
    "definitions/condition/transfer-limit-exceeded",
    "definitions/min-max-frame-size/lower-bound",
)

_HEADERS = (
    "version/mismatch/outgoing-closed",
    "version/unsupported",
    "version/single-version",
    "connections/states/header-mismatch",
)
_LATE = ("connections/closing/close-frame", "connections/closing/read-on", "connections/closing/timeout")

ALSO: Mapping[str, tuple[str, ...]] = {
    "version/highest-not-above": (*_HEADERS, "version/example-minor", "version/protocol-id-is-no-version"),
    "version/highest-otherwise": _HEADERS,
    "version/unparseable": ("version/example-http",),
    "version/protocol-id/unacceptable": ("version/protocol-id-is-no-version", "version/protocol-id/choice"),
    "framing/size/below-header": ("definitions/condition/framing-error", *_LATE),
    "framing/performative": ("model/nine-frame-bodies",),
    "connections/opening/limits-before": ("version/data-matches-header",),
    "connections/opening/open-first": ("performatives/open/first-frame",),
    "connections/idle-timeout/close": (
        "connections/idle-timeout/measure",
        "connections/idle-timeout/half",
        "connections/idle-timeout/unresponsive",
    ),
    "connections/idle-timeout/unsupported": ("performatives/open/idle-time-out/unsupported",),
    "sessions/begin/unused-channel": ("definitions/condition/illegal-state",),
    "sessions/begin/remote-channel-empty": ("performatives/begin/remote-channel/unset",),
    "sessions/states/unmapped": ("sessions/states/end-sent",),
    "links/recovering/no-record": ("performatives/attach/source/none",),
    "links/errors/errant-link": ("definitions/condition/errant-link",),
    "links/errors/resume": ("links/errors/resume-unsettled", "links/errors/pipelined-attach"),
    "performatives/attach/handle/in-use": (
        "performatives/attach/handle/free",
        "definitions/condition/handle-in-use",
    ),
    "performatives/attach/target/none": ("links/recovering/no-record",),
    "performatives/attach/max-message-size/exceeded": (
        "definitions/condition/message-size-exceeded",
        "links/errors/detach-with-error",
    ),
    "performatives/flow/handle/unattached": (
        "sessions/errors/end",
        "definitions/condition/unattached-handle",
    ),
    "performatives/open/channel-max/exceeded": ("connections/pipelined/within-limits",),
    "definitions/condition/not-found": (
        "links/establishing/null-terminus",
        "links/establishing/refused-detach",
        "links/establishing/create-terminus",
    ),
    "definitions/condition/transfer-limit-exceeded": ("links/flow/credit-reduced",),
}
"""Rows that the same spot keeps."""

_EASILY_CONFUSED = {
    Scope.LINK: ("amqp:internal-error", "amqp:link:detach-forced", "amqp:resource-locked"),
    Scope.SESSION: ("amqp:internal-error", "amqp:session:window-violation"),
    Scope.CONNECTION: ("amqp:internal-error", "amqp:connection:forced"),
}
_WIDER = (Scope.SESSION, Scope.CONNECTION, Scope.SOCKET)
_ANY_CODE = "amqp:internal-error"


def wrong_code(row: Requirement) -> Refusal | None:
    """The right scope with a condition that the ledger does not accept; None if it accepts every one."""
    first = row.accepts[0]
    if first.code is None or first.scope not in _EASILY_CONFUSED:
        return None
    natural = (Refusal(first.scope, code) for code in _EASILY_CONFUSED[first.scope])
    return next((refusal for refusal in natural if not _among(refusal, row.accepts)), None)


def wrong_scope(row: Requirement) -> Refusal | None:
    """The right condition at a scope that the ledger does not let pass; None is silence.

    A scope narrower than the right one is not there where that is refused.
    """
    first = row.accepts[0]
    allowed = (*row.accepts, *row.tolerates)
    return next((refusal for refusal in _candidates(first) if not _among(refusal, allowed)), None)


def _candidates(first: Refusal) -> Iterator[Refusal]:
    code = first.code or _ANY_CODE
    if first.scope is Scope.HEADER:
        yield Refusal(Scope.SOCKET)
        return
    for scope in _WIDER:
        if scope is not first.scope and not (scope is Scope.SESSION and first.scope is Scope.CONNECTION):
            yield Refusal(scope, None if scope is Scope.SOCKET else code)


def _among(refusal: Refusal, known: tuple[Refusal, ...]) -> bool:
    return any(k.scope is refusal.scope and k.code in (None, refusal.code) for k in known)
