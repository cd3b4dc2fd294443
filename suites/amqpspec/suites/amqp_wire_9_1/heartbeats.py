"""Heartbeats: their frame, their rate, and the reaction to unexpected ones. Bounds are generous."""

from __future__ import annotations

from amqpspec.peer.methods.arrivals import HeartbeatArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case, declare
from amqpspec.run.methods.oracles import rejects_violation
from amqpspec.run.oracles import does_not_apply, equals, holds
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1 import framing_heartbeats
from amqpspec.suites.amqp_0_9_1._cases import on_channel
from amqpspec.suites.amqp_0_9_1._limits import NO_HEARTBEATS, opened_with_heartbeats
from amqpspec.suites.amqp_wire_9_1._wire import sent_frames

_INTERVAL_S = 1
_PATIENCE_S = 15.0
"""For what an interval of one second brings about."""


@case("heartbeat.frame", covers=["grammar/heartbeat-frame"])
def heartbeat_frame_is_empty(peer: Peer) -> Verdict:
    """The server sends heartbeats with type 8, on channel 0 and without a payload."""
    requested = opened_with_heartbeats(peer, _INTERVAL_S)
    peer.claim("a frame of type 8 on channel 0, empty")
    beat = _beat(peer)
    if beat is None and not requested:
        return does_not_apply(peer, NO_HEARTBEATS)
    if beat is None:
        return holds(peer, False, f"no heartbeat within {_PATIENCE_S:.0f} s")
    frame = beat.frame
    return equals(peer, (frame.type, frame.channel, frame.payload), (8, 0, b""), "type, channel, payload")


@case("heartbeat.negotiated", covers=["heartbeat-frames/negotiated"], slow=True)
def heartbeats_at_the_agreed_rate(peer: Peer) -> Verdict:
    """A server that has nothing else to send sends heartbeats at the agreed interval."""
    requested = opened_with_heartbeats(peer, _INTERVAL_S)
    peer.claim(f"three heartbeats within {_PATIENCE_S:.0f} s of an interval of {_INTERVAL_S} s")
    # Fifteen intervals for three heartbeats: a busy machine may be late, the order of magnitude may not.
    until_s = peer.now() + _PATIENCE_S
    beats = 0
    while beats < 3 and peer.ended is None and peer.now() < until_s:
        beats += _beat(peer, until_s - peer.now()) is not None
    if not (beats or requested):
        return does_not_apply(peer, NO_HEARTBEATS)
    return holds(peer, beats == 3, f"{beats} heartbeats")


@case("heartbeat.negotiated.none", covers=["heartbeat-frames/negotiated"], slow=True)
def no_heartbeats_where_none_were_agreed(peer: Peer) -> Verdict:
    """If the agreed interval is zero, the server sends no heartbeat and does not drop a silent client."""
    peer.open_connection(heartbeat=0)
    peer.claim("no heartbeat, and no end, where none were agreed on")
    # Three times the interval of the other cases, in silence, and longer than a handshake may take.
    silence_s = max(3.0 * _INTERVAL_S, peer.context.patience.ending_s)
    beat = peer.heartbeat(peer.rest_on_time(silence_s))
    peer.call("channel.open")
    peer.barrier()
    return holds(peer, beat is None, "a heartbeat" if beat else "silence, then answers")


@on_channel("heartbeat.channel-zero", covers=["heartbeat-frames/channel-zero"])
def heartbeat_on_an_unopened_channel(peer: Peer) -> Verdict:
    """A heartbeat on a channel that was never opened is refused."""
    peer.send_frame("heartbeat", b"", 2)
    return rejects_violation(peer)


@on_channel("amq_wlp_heartbeat_01", covers=["amq_wlp_heartbeat_01", "heartbeat-frames/channel-zero"])
def heartbeat_off_channel_zero(peer: Peer) -> Verdict:
    """A heartbeat on an open channel is refused."""
    peer.send_frame("heartbeat", b"", 1)
    return rejects_violation(peer)


@on_channel("wlp.heartbeat_01.payload", covers=["amq_wlp_heartbeat_01"])
def heartbeat_with_a_payload(peer: Peer) -> Verdict:
    """A heartbeat with a payload is refused."""
    # The grammar gives a heartbeat size zero: apart from the channel, only the payload can be wrong.
    peer.send_frame("heartbeat", b"beat", 0)
    return rejects_violation(peer)


declare(
    globals(),
    framing_heartbeats.heartbeat_that_nobody_asked_for,
    "amq_wlp_heartbeat_02",
    ["amq_wlp_heartbeat_02"],
)


@case("wlp.heartbeat_02.in-handshake", covers=["amq_wlp_heartbeat_02"])
def heartbeat_amid_the_handshake(peer: Peer) -> Verdict:
    """A heartbeat after tune-ok is also discarded."""
    peer.handshake(heartbeat=0)
    peer.claim("open-ok after a heartbeat that was not agreed on")
    peer.send_frame("heartbeat", b"", 0)
    peer.call("connection.open", channel=0, virtual_host=peer.login.vhost)
    beats = len(sent_frames(peer, "heartbeat"))
    return holds(peer, True, f"open-ok; heartbeats of the server: {beats}")


def _beat(peer: Peer, within_s: float = _PATIENCE_S) -> HeartbeatArrived | None:
    """A heartbeat of the server, while sending some; None if there is none in time."""
    until_s = peer.now() + within_s
    while peer.ended is None and peer.now() < until_s:
        # The client's own heartbeats keep a server that monitors from dropping it.
        peer.send_frame("heartbeat", b"", 0)
        if (beat := peer.heartbeat(within_s=_INTERVAL_S / 2)) is not None:
            return beat
    return None
