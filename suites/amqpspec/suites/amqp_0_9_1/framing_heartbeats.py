"""The wire level, sixth part: heartbeats (PDF §4.2.7). Bounds are generous: only the order of magnitude is judged."""

from __future__ import annotations

from amqpspec.peer.methods.arrivals import HeartbeatArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.methods.oracles import allows, rejects_violation
from amqpspec.run.oracles import does_not_apply, holds, judge_reaction, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._cases import on_channel
from amqpspec.suites.amqp_0_9_1._limits import NO_HEARTBEATS, opened_with_heartbeats

_AGREED, _FORM = "connection/tune-ok/heartbeat", "wire/heartbeat/form"
_INTERVAL_S = 1
_PATIENCE_S = 15.0
"""For what an interval of one second brings about."""
_LIFETIME_S = 4.0
"""Long enough that a connection with an interval of one second is dead if it is thought silent."""


@on_channel("amq_wlp_heartbeat_01", covers=["amq_wlp_heartbeat_01"])
def heartbeat_off_channel_zero(peer: Peer) -> Verdict:
    """A heartbeat on an open channel other than 0 is refused."""
    peer.send_frame("heartbeat", b"", 1)
    return rejects_violation(peer)


@case("amq_wlp_heartbeat_02", covers=["amq_wlp_heartbeat_02"])
def heartbeat_that_nobody_asked_for(peer: Peer) -> Verdict:
    """Heartbeats on a connection that agreed on no heartbeats are discarded without an error."""
    peer.open_channel(heartbeat=0)
    peer.claim("no exception after heartbeats that were not agreed on")
    for _ in range(3):
        peer.send_frame("heartbeat", b"", 0)
    return allows(peer)


@case("framing.heartbeat.interval", covers=["wire/heartbeat/interval", _AGREED, _FORM], slow=True)
def server_sends_heartbeats(peer: Peer) -> Verdict:
    """A server that has nothing else to send sends heartbeats at the agreed interval, on channel 0 and empty."""
    requested = opened_with_heartbeats(peer, _INTERVAL_S)
    peer.claim(f"three heartbeats within {_PATIENCE_S:.0f} s of an interval of {_INTERVAL_S} s")
    beats = _beats(peer, 3)
    if not (beats or requested):
        return does_not_apply(peer, NO_HEARTBEATS)
    # An interval that is not kept is a SHOULD. Without any heartbeat, what tune-ok says has no effect.
    row = "wire/heartbeat/interval" if beats else _AGREED
    formed = all((beat.frame.channel, beat.frame.payload) == (0, b"") for beat in beats)
    return worst(
        [
            holds(peer, len(beats) == 3, f"{len(beats)} heartbeats", row=row),
            holds(peer, formed, "another channel, or a payload", "heartbeats on channel 0, empty", _FORM),
        ]
    )


@case("framing.heartbeat.before-open", covers=["wire/heartbeat/interval"])
def server_sends_heartbeats_from_tune_ok_on(peer: Peer) -> Verdict:
    """A server sends heartbeats from tune-ok on, even before connection.open."""
    peer.greet()
    peer.start_ok()
    requested_s = peer.tune(heartbeat=_INTERVAL_S)["heartbeat"]
    peer.claim("a heartbeat between tune-ok and open")
    count = len(_beats(peer, 1))
    if not (count or requested_s):
        return does_not_apply(peer, NO_HEARTBEATS)
    return holds(peer, count == 1, f"{count} heartbeats")


@case("framing.heartbeat.methods-instead", covers=["wire/heartbeat/any-octet"], slow=True)
def methods_do_for_heartbeats(peer: Peer) -> Verdict:
    """The server does not drop a client that sends methods but no heartbeats."""
    peer.open_channel(heartbeat=_INTERVAL_S)
    peer.claim("methods alone keep the connection open")
    # Two intervals of silence end the socket (PDF §4.2.7): the case continues for twice that.
    until_s = peer.now() + _LIFETIME_S
    while peer.now() < until_s:
        peer.barrier()
        _let_pass(peer, 0.3)
    return allows(peer)


@case("framing.heartbeat.octets-instead", covers=["wire/heartbeat/any-octet"], slow=True)
def single_octets_do_for_heartbeats(peer: Peer) -> Verdict:
    """The server does not drop a client while it sends one frame octet by octet."""
    peer.open_channel(heartbeat=_INTERVAL_S)
    # A request for flow is answered before the frame, not within it.
    peer.barrier()
    octets = peer.method_frame("exchange.declare", exchange="amq.direct", passive=True)
    peer.claim("declare-ok after one frame sent octet by octet")
    # PDF §4.2.7 accepts any octet in place of a heartbeat, not only a whole frame. One frame takes four intervals to
    # arrive.
    for octet in octets:
        peer.send_octets(bytes((octet,)))
        _let_pass(peer, _LIFETIME_S / len(octets))
    arrival = peer.expect("exchange.declare-ok")
    return holds(peer, True, arrival)


@case("framing.heartbeat.missed", covers=["wire/heartbeat/missed"], slow=True)
def silent_client_is_dropped(peer: Peer) -> Verdict:
    """The server drops a client that is silent for more than two intervals, without a close handshake."""
    requested = opened_with_heartbeats(peer, _INTERVAL_S)
    peer.call("channel.open")
    # No barrier: it would be a sign of life.
    reaction = peer.reaction(0, barrier=False, within_s=_PATIENCE_S)
    beats = any(f.type == peer.dialect.layout.types["heartbeat"] for f in peer.assembler.frames)
    if reaction.refusal is None and not (beats or requested):
        return does_not_apply(peer, NO_HEARTBEATS)
    return judge_reaction(peer, reaction)


@case("framing.heartbeat.not-too-soon", covers=["wire/heartbeat/missed"], slow=True)
def silent_client_is_given_two_intervals(peer: Peer) -> Verdict:
    """The server does not drop a client that is silent for less than two intervals."""
    # Counted from before the handshake: the clock errs in the server's favour.
    started_s = peer.now()
    peer.open_channel(heartbeat=_INTERVAL_S)
    peer.claim(f"a connection that lasts for {2 * _INTERVAL_S} s of silence")
    peer.reaction(0, barrier=False, within_s=_PATIENCE_S)
    lasted_s = peer.now() - started_s
    return holds(peer, lasted_s >= 2 * _INTERVAL_S, f"{lasted_s:.1f} s")


def _beats(peer: Peer, wanted: int) -> list[HeartbeatArrived]:
    """Heartbeats of the server, up to ``wanted``, while sending some; the patience bounds the wait."""
    until_s = peer.now() + _PATIENCE_S
    beats: list[HeartbeatArrived] = []
    while len(beats) < wanted and peer.ended is None and peer.now() < until_s:
        # The client keeps its own side of the bargain, or the server would drop it for silence.
        peer.send_frame("heartbeat", b"", 0)
        if (beat := peer.heartbeat(within_s=_INTERVAL_S / 2)) is not None:
            beats.append(beat)
    return beats


def _let_pass(peer: Peer, duration_s: float) -> None:
    """Read for so long; what arrives is kept for later."""
    peer.wait(lambda arrival: False, duration_s)
