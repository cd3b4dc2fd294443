"""What the ledger of AMQP 1.0 says of octets sent in a state: the one rule that they break, if it is one.

Knows: which rule each breach is, and where the text leaves no doubt. Must not know: families, targets.

Careful by intent, for a wrong claim is worse than none: only the first frame is judged, only if it breaks one rule,
and only if the row defines a reaction. What a message holds is a matter of its receiver.
"""

from __future__ import annotations

from collections.abc import Mapping

from amqpspec.fuzz.amqp_1_0.states import LINKS
from amqpspec.fuzz.judge.headers import known_headers
from amqpspec.fuzz.states.model import State
from amqpspec.spec.amqp_1_0 import HEADERS, LAYOUT
from amqpspec.wire.amqp_1_0.frames import Performative, TypedFrame, TypedReader
from amqpspec.wire.amqp_1_0.values import Repeated
from amqpspec.wire.errors import Kind, WireError

_SAFE_OCTETS = 512
"""What every peer takes; whether it takes more is for it to say."""


def judge(state: State, steps: tuple[bytes, ...]) -> str:
    """The requirement that the octets break in a state, or nothing if that is not beyond doubt."""
    if not state.judged:
        return ""
    octets = b"".join(steps)
    return _of_header(octets) if state.name == "raw" else _of_frame(state, octets)


def _of_header(octets: bytes) -> str:
    begins = octets[:8]
    if begins[:4] != b"AMQP" or len(begins) < 8 or begins in known_headers():
        return ""
    layers = {header[4] for header in HEADERS.values()}
    if begins[4] in layers:
        return "version/unsupported"
    return "version/protocol-id/unacceptable" if begins[5:] == HEADERS["amqp"][5:] else ""


def _of_frame(state: State, octets: bytes) -> str:
    if len(octets) < LAYOUT.header_octets or octets[:4] == b"AMQP":
        return ""
    size, doff = int.from_bytes(octets[:4], "big"), octets[4]
    broken = _of_layout(size, doff)
    if broken:
        # A target may wait for the whole of a frame before it looks at it.
        is_whole = size < LAYOUT.header_octets or len(octets) == size
        return broken[0] if len(broken) == 1 and is_whole else ""
    reader = TypedReader()
    reader.feed(octets)
    try:
        frame = reader.next()
    except WireError:
        return ""
    # What follows, even in part, may be refused earlier: a target may read on while it judges.
    if not isinstance(frame, TypedFrame) or size > _SAFE_OCTETS or reader.pending_octets:
        return ""
    return _of_body(state, frame) if frame.frame_type == LAYOUT.types["amqp"] else ""


def _of_layout(size: int, doff: int) -> list[str]:
    broken = ["framing/size/below-header"] if size < LAYOUT.header_octets else []
    if doff < LAYOUT.min_doff:
        broken.append("framing/doff/below-header")
    elif doff * LAYOUT.doff_word_octets > size and not broken:
        broken.append("framing/doff/beyond-size")
    return broken


def _of_body(state: State, frame: TypedFrame) -> str:
    if frame.channel not in (state.channels or {0}):
        return ""
    if frame.error is not None:
        if frame.error.kind is Kind.BODY:
            return "model/nine-frame-bodies"
        # Where the reader gives up on what the specification permits, nothing is claimed.
        bounded = frame.error.kind is Kind.BOUND
        return "definitions/condition/decode-error" if state.channels and not bounded else ""
    performative = frame.performative
    if performative is None or frame.problems:
        return ""
    # A target may measure an array's count by the octets that are left, and these elements have none (§1.6.24).
    if _has_empty_elements(performative.fields):
        return ""
    return _of_performative(state, performative)


def _of_performative(state: State, performative: Performative) -> str:
    name = performative.row.name
    if "sasl-frame" in performative.row.provides:
        return ""
    if name == "begin" and state.channels and performative["remote_channel"] is None:
        return "sessions/begin/unused-channel"
    if not state.channels or "handle" not in performative.given:
        return ""
    attached = performative["handle"] in state.handles
    if name == "attach" and attached and performative["name"] not in LINKS:
        return "performatives/attach/handle/in-use"
    # Any transfer may be refused for the window, which the target may have closed meanwhile. A detach may be ignored:
    # the link is gone.
    is_flow = name == "flow" and _fits_session(state, performative)
    return "performatives/flow/handle/unattached" if is_flow and not attached else ""


def _fits_session(state: State, flow: Performative) -> bool:
    """Whether a flow gives the ids that the target expects; it may be refused for others (§2.5.6)."""
    sent = sum(say.name == "transfer" for step in state.steps for say in step.says)
    # Only the number 0 is replaced by the one that the target expects.
    return (flow["next_incoming_id"], flow["next_outgoing_id"]) == (0, sent)


def _has_empty_elements(value: object) -> bool:
    """Whether a value holds an array whose elements take no octets."""
    if isinstance(value, Repeated):
        return True
    if isinstance(value, Mapping):
        return any(map(_has_empty_elements, (*value, *value.values())))
    return isinstance(value, list) and any(map(_has_empty_elements, value))
