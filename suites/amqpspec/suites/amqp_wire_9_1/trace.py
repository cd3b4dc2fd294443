"""Trace frames: on channel 0 only, and discarded by peers that do not use them."""

from __future__ import annotations

from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.methods.oracles import allows, rejects_violation
from amqpspec.run.oracles import equals, holds
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._cases import on_channel, on_queue
from amqpspec.suites.amqp_0_9_1._wire import fetch, question
from amqpspec.suites.amqp_wire_9_1._wire import answered, hand_frame

_TRACE = 7


@on_channel("trace.frame", covers=["grammar/trace-frame"])
def trace_frame_by_hand(peer: Peer) -> Verdict:
    """The server accepts frames of type 7 on channel 0, with any payload or none."""
    peer.claim("no exception for trace frames by the grammar")
    # A payload may be anything, end octets included: only the size shows where it ends.
    for payload in (b"", b"\x00", bytes(range(256)), b"\xce" * 9):
        peer.send_octets(hand_frame(peer, _TRACE, payload, 0))
    return allows(peer)


@on_channel("trace.channel-zero", covers=["trace-frames/channel-zero"])
def trace_off_channel_zero(peer: Peer) -> Verdict:
    """A trace frame on a channel that was never opened is refused."""
    # Channel 2, so that the barrier on channel 1 is left alone.
    peer.send_frame("trace", b"trace", 2)
    return rejects_violation(peer)


@on_channel("amq_wlp_trace_01", covers=["amq_wlp_trace_01", "trace-frames/channel-zero"])
def trace_on_an_open_channel(peer: Peer) -> Verdict:
    """A trace frame on an open channel is refused."""
    peer.send_frame("trace", b"trace", 1)
    return rejects_violation(peer)


@on_channel("wlp.trace_01.empty", covers=["amq_wlp_trace_01"])
def empty_trace_on_an_open_channel(peer: Peer) -> Verdict:
    """An empty trace frame on an open channel is refused as well."""
    peer.send_frame("trace", b"", 1)
    return rejects_violation(peer)


@on_channel("amq_wlp_trace_02", covers=["amq_wlp_trace_02"])
def trace_is_thrown_away(peer: Peer) -> Verdict:
    """A trace frame without a handler is discarded without an error."""
    peer.claim("no exception after trace frames, and answers as before")
    peer.send_frame("trace", b"trace", 0)
    # A question after the first trace frame: discarded means that the stream continues at the right octet.
    peer.send_octets(question(peer))
    answered(peer)
    peer.send_frame("trace", bytes(2000), 0)
    # Trace frames of the server are not counted: it may send them at any time.
    return allows(peer)


@on_queue("wlp.trace_02.amid-content", covers=["amq_wlp_trace_02"])
def trace_amid_a_content(peer: Peer, queue: str) -> Verdict:
    """Trace frames between the frames of a content do not change the content."""
    peer.claim("the whole content")
    frames = [peer.method_frame("basic.publish", routing_key=queue), peer.content_frames(b"body")]
    for octets in frames:
        peer.send_octets(octets)
        peer.send_frame("trace", b"trace", 0)
    body = fetch(peer, queue).body
    return holds(peer, body == b"body", f"body {body!r}")


@case("wlp.trace_02.in-handshake", covers=["amq_wlp_trace_02"])
def trace_amid_the_handshake(peer: Peer) -> Verdict:
    """A trace frame during the handshake is also discarded."""
    peer.greet()
    peer.claim("a handshake that continues after a trace frame")
    peer.send_frame("trace", b"trace", 0)
    peer.start_ok()
    peer.tune()
    peer.send_frame("trace", b"trace", 0)
    arrival = peer.call("connection.open", channel=0, virtual_host=peer.login.vhost)
    return equals(peer, arrival.name, "connection.open-ok", "answer")
