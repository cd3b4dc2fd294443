"""Class connection: channels, sizes of frames and heartbeats, as tune and tune-ok settle them.

Knows: controls before and after open. Must not know: targets.
"""

from __future__ import annotations

from typing import Any

from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.peer.events import Ended, Quiet, Reaction
from amqpspec.run.amqp_0_10.oracles import rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import (
    borne_aloud,
    does_not_apply,
    equals,
    holds,
    observed_either_way,
)
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._cases import in_session
from amqpspec.suites.amqp_0_10._handshakes import Step, before_open, greeted_with, proposal
from amqpspec.wire.amqp_0_10.frames import encode_frame
from amqpspec.wire.amqp_0_10.instructions import CONTROL, encode_instruction

_LARGE, _SILENCE_S = 0xFFFF, 12.0


@case(
    "connection.tune.channel-max",
    covers=["connection/tune/channel-max/limit", "connection/tune-ok/channel-max/available-channels"],
)
def highest_channel(peer: Peer) -> Verdict:
    """With a channel-max of three, channels 0 to 2 can be used, and channel 3 cannot."""
    peer.open_connection(channel_max=3)
    for channel in (0, 1, 2):
        peer.open_session(channel)
        peer.barrier(channel)
    peer.send("session.attach", 3, name=peer.name("s").encode())
    return rejects_violation(
        peer,
        3,
        barrier=False,
        within_s=peer.patience_s,
        row="connection/tune-ok/channel-max/available-channels",
    )


@case("connection.tune-ok.channel-max.one", covers=["connection/tune-ok/channel-max/available-channels"])
def one_channel(peer: Peer) -> Verdict:
    """With a channel-max of one, the server sends close on channel 0, the only channel."""
    peer.handshake(channel_max=1)
    peer.send("connection.open", virtual_host=peer.name("missing"))
    close = peer.expect("connection.close", channel=None)
    return equals(peer, close.channel, 0, "connection.close on channel")


@case(
    "connection.tune-ok.channel-max.upper-limit",
    covers=["connection/tune-ok/channel-max/upper-limit"],
    slow=True,
)
def channel_max_above_the_offer(peer: Peer) -> Verdict:
    """If the client sends a channel-max above the offer, the server closes the socket without a close."""
    offer = proposal(peer)["channel_max"]
    if offer is None or offer >= _LARGE:
        return does_not_apply(peer, f"no channel-max can be higher than the offer {offer}")
    peer.send("connection.tune-ok", channel_max=offer + 1, max_frame_size=4096)
    peer.send("connection.open", virtual_host=peer.login.vhost)
    return rejects_violation(peer, barrier=False)


@case("connection.tune.max-frame-size.offered", covers=["connection/tune/max-frame-size/minimum/offered"])
def frame_size_on_offer(peer: Peer) -> Verdict:
    """The server offers a max-frame-size of at least 4096 octets, or sets no limit."""
    peer.claim("a max-frame-size of at least 4096, or none")
    size = proposal(peer)["max_frame_size"]
    return holds(peer, size is None or size >= 4096, f"max-frame-size {size}")


@case(
    "connection.tune.max-frame-size.lower",
    covers=["connection/tune/max-frame-size/lower", "connection/tune-ok/max-frame-size/max-frame-size/sent"],
)
def smaller_frames(peer: Peer) -> Verdict:
    """After peers agree on 4500 octets, the server sends no larger frame."""
    peer.open_connection(max_frame_size=4500)
    peer.open_session()
    queue = peer.queue()
    peer.claim("frames of at most 4500 octets")
    peer.publish(queue, bytes(20_000))
    peer.subscribe(queue)
    whole, largest = len(peer.transfer().body) == 20_000, peer.listener.largest_frame_octets
    return holds(peer, whole and largest <= 4500, f"frames of up to {largest} octets")


@case(
    "connection.tune.max-frame-size.accepted",
    covers=[
        "connection/tune/max-frame-size/minimum/accepted",
        "connection/tune-ok/max-frame-size/minimum/accepted",
    ],
)
def large_first_frame(peer: Peer) -> Verdict:
    """Before limits are agreed on, the server accepts a frame of 4096 octets."""
    greeted_with(peer, "PLAIN")
    peer.claim("connection.tune after a start-ok of 4096 octets")
    peer.max_frame_octets = 4096
    short = len(peer.encoded("connection.start-ok", **_start_ok(peer, "")))
    octets = peer.encoded("connection.start-ok", **_start_ok(peer, "x" * (4096 - short)))
    peer.send_octets(octets)
    peer.expect("connection.tune")
    return holds(peer, len(octets) == 4096, f"{len(octets)} octets were accepted")


def _start_ok(peer: Peer, filling: str) -> dict[str, Any]:
    response = f"\0{peer.login.user}\0{peer.login.password}".encode()
    properties = {"filling": filling}
    return {"client_properties": properties, "mechanism": "PLAIN", "response": response, "locale": "en_US"}


@case(
    "connection.tune-ok.max-frame-size.minimum",
    covers=["connection/tune-ok/max-frame-size/minimum/chosen"],
    slow=True,
)
def frames_too_small(peer: Peer) -> Verdict:
    """A max-frame-size below 4096 octets may be refused."""

    def step(size: int) -> Step:
        def send(one: Peer) -> None:
            offer = proposal(one)
            one.send("connection.tune-ok", channel_max=offer["channel_max"] or 1, max_frame_size=size)
            one.send("connection.open", virtual_host=one.login.vhost)

        return send

    return before_open(peer, map(step, (4095, 12)), borne_aloud)


@case(
    "connection.tune-ok.max-frame-size.upper-limit",
    covers=["connection/tune-ok/max-frame-size/upper-limit"],
    slow=True,
)
def frames_above_the_offer(peer: Peer) -> Verdict:
    """If the client sends a max-frame-size above the offer, the server closes the socket without a close."""
    offer = proposal(peer)
    if (offer["max_frame_size"] or _LARGE) >= _LARGE:
        return does_not_apply(peer, "the offer is already the largest possible frame size")
    peer.send(
        "connection.tune-ok",
        channel_max=offer["channel_max"] or 1,
        max_frame_size=offer["max_frame_size"] + 1,
    )
    peer.send("connection.open", virtual_host=peer.login.vhost)
    return rejects_violation(peer, barrier=False)


@case(
    "connection.tune-ok.max-frame-size.refused",
    covers=["connection/tune-ok/max-frame-size/max-frame-size/refused"],
)
def frame_beyond_the_agreed_size(peer: Peer) -> Verdict:
    """A frame of the agreed size is accepted; a frame that is one octet larger closes the connection."""
    peer.open_connection(max_frame_size=5000)
    peer.open_session()
    name = b"x" * (5000 - 12 - 7)
    told = encode_instruction("session.detached", {"name": name, "code": 0})
    # On a channel where nothing is attached that could be detached.
    peer.send_octets(encode_frame(told, type=CONTROL, channel=1))
    peer.barrier()
    peer.send_octets(encode_frame(bytes(5001 - 12), type=CONTROL))
    return rejects_violation(peer, barrier=False, within_s=peer.patience_s)


@case(
    "connection.tune.heartbeat-max",
    covers=[
        "connection/tune/heartbeat-max/permitted-range",
        "connection/tune/heartbeat-max/no-heartbeat-min",
    ],
)
def heartbeats_on_offer(peer: Peer) -> Verdict:
    """The server does not offer a heartbeat-max below heartbeat-min, or one without heartbeat-min."""
    peer.claim("heartbeat-min not above heartbeat-max, or neither")
    offer = proposal(peer)
    least, most = offer["heartbeat_min"], offer["heartbeat_max"]
    sound = most is None or (least is not None and most >= least)
    return holds(peer, sound, f"heartbeat-min {least}, heartbeat-max {most}")


@case(
    "connection.tune-ok.heartbeat.permitted-range",
    covers=["connection/tune-ok/heartbeat/permitted-range", "connection/tune-ok/heartbeat/no-heartbeat-min"],
    slow=True,
)
def heartbeat_out_of_range(peer: Peer) -> Verdict:
    """A heartbeat above heartbeat-max may be rejected."""
    offer = proposal(peer)
    most = offer["heartbeat_max"]
    if offer["heartbeat_min"] is not None and (most is None or most >= _LARGE):
        return does_not_apply(peer, f"no heartbeat can be higher than the offer {most}")
    peer.tune(proposed=offer, heartbeat=(most or 0) + 1)
    peer.send("connection.open", virtual_host=peer.login.vhost)
    return borne_aloud(peer, _until_open(peer))


def _until_open(peer: Peer) -> Reaction:
    arrival = peer.arrival("connection.open-ok")
    return peer.reaction_of([arrival])


@case(
    "connection.tune-ok.heartbeat",
    covers=["connection/tune-ok/heartbeat", "connection/tune/heartbeat-min"],
    slow=True,
)
def no_heartbeats(peer: Peer) -> Verdict:
    """A connection without a heartbeat works after 12 s of silence, and a server that supports none sends none."""
    offer = proposal(peer)
    peer.tune(proposed=offer)
    peer.call_control("connection.open", virtual_host=peer.login.vhost)
    peer.opened = True
    peer.open_session()
    peer.claim("the server executes commands afterwards, and sends no heartbeat if it supports none")
    # Servers often limit the time for a handshake to ten seconds: that limit must not end an open connection.
    arrival = peer.wait(lambda _: False, _SILENCE_S)
    peer.barrier()
    beats = peer.pending("connection.heartbeat", channel=None)
    if beats and offer["heartbeat_min"] is None:
        return holds(peer, False, beats[0], row="connection/tune/heartbeat-min")
    # The client does not want them (connection.tune-ok.heartbeat), but no text forbids them.
    return (
        observed_either_way(peer, "heartbeats") if beats else holds(peer, isinstance(arrival, Quiet), arrival)
    )


@in_session("connection.heartbeat.traffic", covers=["connection/heartbeat/traffic"])
def heartbeats_of_the_client(peer: Peer) -> Verdict:
    """A client may send heartbeats at any time, even if none were agreed on."""
    peer.claim("the server executes commands after heartbeats")
    for _ in range(2):
        peer.send("connection.heartbeat")
        peer.barrier()
    return holds(peer, True, "commands were executed after heartbeats")


@case("connection.heartbeat.missed", covers=["connection/heartbeat/missed"], slow=True)
def silent_client(peer: Peer) -> Verdict:
    """A client that misses its heartbeats may be disconnected, but not before twice the interval."""
    offer = proposal(peer)
    least, most = offer["heartbeat_min"], offer["heartbeat_max"]
    if least is None or not least <= 1 <= (most or 0):
        return does_not_apply(peer, f"a heartbeat of one second is not on offer: {least} to {most}")
    peer.tune(proposed=offer, heartbeat=1)
    started_s = peer.now()  # silence begins after what is sent last, and not with the answer to it
    peer.call_control("connection.open", virtual_host=peer.login.vhost)
    peer.claim("the server disconnects a silent client after more than two seconds, or keeps it")
    ended = peer.expect_end(6.0)
    if not isinstance(ended, Ended):
        return observed_either_way(peer, "a silent client is kept for six seconds")
    late = peer.now() - started_s >= 2.0
    return observed_either_way(peer, "a silent client is dropped") if late else holds(peer, False, ended)
