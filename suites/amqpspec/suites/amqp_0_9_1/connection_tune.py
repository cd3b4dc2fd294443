"""Connections: the limits of tune and tune-ok: channels, frames, heartbeats (amqp-0-9-1 class connection)."""

from __future__ import annotations

from amqpspec.peer.context import CLIENT_PROPERTIES
from amqpspec.peer.events import Reaction
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.methods.oracles import rejects_violation
from amqpspec.run.oracles import does_not_apply, equals, holds, judge_reaction, observed_either_way, outlived
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._cases import on_small_frames
from amqpspec.suites.amqp_0_9_1._limits import NO_HEARTBEATS, limit_of_its_own, opened_with_heartbeats
from amqpspec.suites.amqp_0_9_1._queues import arrive
from amqpspec.wire.methods.codec import Call

HIGHEST_CHANNEL = 65535
HIGHEST_FRAME_TRIED = 131_072
HIGHEST_FRAME_OCTETS = 0xFFFFFFFF
HEARTBEAT_PATIENCE_S = 15.0
# Long enough for a server that takes zero for a short interval: it would send a heartbeat, or drop the
# client. One that keeps an interval of a minute of its own is not found out.
SILENCE_S = 4.0


# --- channels


@case("connection.tune.channel-max.highest", covers=["connection/tune/channel-max"])
def highest_channel_is_usable(peer: Peer) -> Verdict:
    """The client can open the highest offered channel number, or 65535 if the offer is zero."""
    peer.open_connection()
    highest = peer.channel_max or HIGHEST_CHANNEL
    peer.claim(f"channel {highest} can be opened")
    if (limited := limit_of_its_own(peer, highest, offered=peer.channel_max)) is not None:
        return limited
    return holds(peer, True, f"channel.open-ok on channel {highest}")


@case("connection.tune.channel-max.lowered", covers=["connection/tune/channel-max"])
def lowered_channel_max_is_usable(peer: Peer) -> Verdict:
    """If the client lowers channel-max to two, channels one and two can be open at the same time."""
    peer.open_connection(channel_max=2)
    peer.claim("channels 1 and 2 open at the same time")
    peer.call("channel.open", channel=2)
    peer.call("channel.open", channel=1)
    peer.barrier(2)
    return holds(peer, True, "both channels work")


@case("connection.tune.channel-max.number-above", covers=["connection/tune/channel-max"])
def channel_number_above_limit(peer: Peer) -> Verdict:
    """A channel number above the offered channel-max is refused, even if it is the only channel."""
    peer.open_connection()
    above = peer.channel_max + 1
    if not 1 < above <= HIGHEST_CHANNEL:
        return does_not_apply(peer, f"channel-max {peer.channel_max} leaves nothing above it")
    peer.send("channel.open", channel=above)
    return outlived(peer, rejects_violation(peer, above, barrier=False))


@case("connection.tune.channel-max.one-too-many", covers=["connection/tune/channel-max"])
def one_channel_too_many(peer: Peer) -> Verdict:
    """A channel number above the agreed channel-max is refused if all lower ones are open."""
    peer.open_connection(channel_max=2)
    peer.call("channel.open", channel=1)
    peer.call("channel.open", channel=2)
    # In tune-ok, channel-max is how many channels the client uses, in tune it is the highest number
    # (amqp-0-9-1 connection/tune/channel-max): this case breaks the former, the one above the latter.
    peer.send("channel.open", channel=3)
    return outlived(peer, rejects_violation(peer, 3, barrier=False))


@case(
    "connection.tune-ok.channel-max.above-offer",
    covers=["connection/tune-ok/channel-max/upper-limit"],
    slow=True,
)
def channel_max_above_offer(peer: Peer) -> Verdict:
    """The server closes the socket, without a close handshake, after a channel-max above its offer."""
    tune = _offer(peer)
    if tune["channel_max"] in (0, HIGHEST_CHANNEL):
        return does_not_apply(peer, f"channel-max {tune['channel_max']} leaves nothing above it")
    return _refuses_limits(peer, channel_max=tune["channel_max"] + 1, frame_max=tune["frame_max"])


@case("connection.tune-ok.channel-max.zero", covers=["connection/tune-ok/channel-max/upper-limit"], slow=True)
def channel_max_of_zero(peer: Peer) -> Verdict:
    """A channel-max of zero (no limit) counts as above a limited offer, or as all that the server offers."""
    return _without_limit(peer, "channel-max", channel_max=0)


# --- frames


@case("connection.tune-ok.frame-max.zero", covers=["connection/tune-ok/frame-max/upper-limit"], slow=True)
def frame_max_of_zero(peer: Peer) -> Verdict:
    """A frame-max of zero (no limit) counts as above a limited offer, or as all that the server offers."""
    return _without_limit(peer, "frame-max", frame_max=0)


@case("connection.tune-ok.frame-max.smallest", covers=["connection/tune-ok/frame-max/minimum"])
def smallest_frame_max(peer: Peer) -> Verdict:
    """A client may select a frame-max of 4096 octets."""
    peer.greet()
    peer.start_ok()
    peer.claim("open-ok after a tune-ok with a frame-max of 4096 octets")
    peer.tune(frame_max=_smallest(peer))
    peer.call("connection.open", channel=0, virtual_host=peer.login.vhost)
    return holds(peer, True, "open-ok")


@on_small_frames("connection.tune.frame-max.exact", covers=["connection/tune/frame-max/whole-frame"])
def frame_of_exact_size(peer: Peer) -> Verdict:
    """A client may select a frame-max below the offer, and the server accepts a whole frame of exactly that size."""
    queue = peer.queue()
    body = b"x" * (peer.frame_max_octets - peer.dialect.layout.overhead_octets)
    peer.claim("a message whose body frame is of frame-max octets")
    peer.publish(queue, body)
    arrive(peer, queue, 1)
    message = peer.get(queue)
    return equals(peer, message and len(message.body), len(body), "body octets")


@on_small_frames("connection.tune.frame-max.one-octet-over", covers=["connection/tune/frame-max/whole-frame"])
def frame_of_one_octet_too_many(peer: Peer) -> Verdict:
    """A frame that exceeds frame-max by one octet, including header and end octet, is refused."""
    return _refuses_body_frame(peer, peer.frame_max_octets + 1)


@case(
    "connection.tune.frame-max.before-agreement",
    covers=["connection/tune/frame-max/minimum", "connection/tune-ok/frame-max/minimum"],
)
def large_start_ok(peer: Peer) -> Verdict:
    """The server accepts a start-ok of 4096 octets, because no limits are agreed yet."""
    peer.greet()
    peer.claim("tune, in answer to a start-ok frame of 4096 octets")
    peer.send_octets(_start_ok_of(peer, _smallest(peer)))
    peer.expect("connection.tune", channel=0)
    return holds(peer, True, "connection.tune")


@case("connection.tune.frame-max.offer", covers=["connection/tune/frame-max/minimum-offered"])
def offered_frame_max(peer: Peer) -> Verdict:
    """The server offers a frame-max of 4096 octets or more, or no limit."""
    offered = _offer(peer)["frame_max"]
    return holds(peer, offered == 0 or offered >= _smallest(peer), f"frame-max {offered}")


@on_small_frames("connection.tune-ok.frame-max.far-over", covers=["connection/tune-ok/frame-max/all-frames"])
def frame_far_too_large(peer: Peer) -> Verdict:
    """A body frame of twice the agreed frame-max is refused."""
    return outlived(peer, _refuses_body_frame(peer, 2 * peer.frame_max_octets))


@on_small_frames("connection.tune-ok.frame-max.method", covers=["connection/tune-ok/frame-max/all-frames"])
def method_frame_too_large(peer: Peer) -> Verdict:
    """The agreed frame-max applies to method frames as well."""
    peer.send(
        "queue.declare",
        queue=peer.name("q"),
        exclusive=True,
        arguments={"x-amqpspec-padding": "x" * 2 * peer.frame_max_octets},
    )
    return outlived(peer, rejects_violation(peer, barrier=False))


@case("connection.tune-ok.frame-max.server-frames", covers=["connection/tune-ok/frame-max/all-frames"])
def server_keeps_to_frame_max(peer: Peer) -> Verdict:
    """The server splits a large body into frames of at most the agreed frame-max."""
    body = bytes(range(256)) * 128
    peer = peer.open_small()
    queue = peer.queue()
    peer.publish(queue, body)
    arrive(peer, queue, 1)
    peer.claim(f"the body of {len(body)} octets in frames of at most {peer.frame_max_octets}")
    message = peer.get(queue)
    whole = message is not None and message.body == body
    largest = peer.assembler.largest_frame_octets
    observed = f"largest frame {largest} octets, body {'whole' if whole else 'not the one sent'}"
    return holds(peer, whole and largest <= peer.frame_max_octets, observed)


@case(
    "connection.tune-ok.frame-max.below-minimum",
    covers=["connection/tune-ok/frame-max/minimum-chosen"],
    slow=True,
)
def frame_max_below_minimum(peer: Peer) -> Verdict:
    """The server rejects a client that selects a frame-max below 4096 octets, or uses 4096 octets in its place."""
    tune = _offer(peer)
    reaction = _reaction_to(peer, channel_max=tune["channel_max"], frame_max=_smallest(peer) - 1)
    if reaction.refusal is not None:
        return judge_reaction(peer, reaction)
    # The sentence binds the client and names no reaction: a server may use 4096 octets in place of less.
    peer.claim("a refusal, or a connection with frames of 4096 octets")
    peer.expected(reaction.arrivals[-1], "connection.open-ok")
    peer.agree(tune["channel_max"], _smallest(peer))
    return _works_with_frames_of(peer.open_channel(), _smallest(peer))


@case(
    "connection.tune-ok.frame-max.above-offer", covers=["connection/tune-ok/frame-max/upper-limit"], slow=True
)
def frame_max_above_offer(peer: Peer) -> Verdict:
    """The server closes the socket, without a close handshake, after a frame-max above its offer."""
    tune = _offer(peer)
    if tune["frame_max"] in (0, HIGHEST_FRAME_OCTETS):
        return does_not_apply(peer, f"frame-max {tune['frame_max']} leaves nothing above it")
    return _refuses_limits(peer, channel_max=tune["channel_max"], frame_max=tune["frame_max"] + 1)


# --- heartbeats


@case(
    "connection.tune.heartbeat.wish-is-kept", covers=["connection/tune/heartbeat", "wire/heartbeat/interval"]
)
def wish_for_heartbeats_is_kept(peer: Peer) -> Verdict:
    """A server that requests heartbeats sends them; one that requests none does not drop a silent client."""
    tune = _offer(peer)
    # A client may ask for less than the offer, and a case should not wait for an offered minute.
    wanted = min(tune["heartbeat"], 1)
    peer.tune(proposed=tune, heartbeat=wanted)
    peer.call("connection.open", channel=0, virtual_host=peer.login.vhost)
    if not wanted:
        peer.claim("a connection without heartbeats, as the server requests none")
        return _stays_silent(peer)
    peer.claim(f"heartbeats of a server that requested one every {tune['heartbeat']} s")
    beat = peer.heartbeat(HEARTBEAT_PATIENCE_S)
    # That it comes in time is only a SHOULD, of PDF §4.2.7. None at all, though the server wanted some, is more.
    return holds(peer, beat is not None, "a heartbeat" if beat else "none")


@case("connection.tune-ok.heartbeat.zero", covers=["connection/tune-ok/heartbeat"], slow=True)
def no_heartbeats_wanted(peer: Peer) -> Verdict:
    """A client that requests no heartbeats receives none, and may be silent for longer than the handshake timeout."""
    peer.open_connection(heartbeat=0)
    peer.claim("no heartbeat, and no end, for a client that requested none")
    return _stays_silent(peer, max(SILENCE_S, peer.context.patience.ending_s))


@case(
    "connection.tune-ok.heartbeat.seconds",
    covers=["connection/tune-ok/heartbeat", "wire/heartbeat/interval"],
    slow=True,
)
def heartbeats_at_the_clients_wish(peer: Peer) -> Verdict:
    """A client that requests a heartbeat every second receives them, well before the server's own interval ends."""
    requested = opened_with_heartbeats(peer, 1)
    peer.claim("two heartbeats for a client that requested one every second, and sends some")
    until_s = peer.now() + HEARTBEAT_PATIENCE_S
    beats = 0
    while beats < 2 and peer.ended is None and peer.now() < until_s:
        # Or the server would be right to drop the client.
        peer.send_frame("heartbeat", b"", 0)
        beats += peer.heartbeat(within_s=0.5) is not None
    if not (beats or requested):
        return does_not_apply(peer, NO_HEARTBEATS)
    row = "wire/heartbeat/interval" if beats else "connection/tune-ok/heartbeat"
    return equals(peer, beats, 2, "heartbeats", row)


# --- steps of this module


def _offer(peer: Peer) -> Call:
    """The limits that a server offers in tune, which is not answered yet; raises Unmet."""
    peer.greet()
    peer.start_ok()
    return peer.expect("connection.tune", channel=0).call


def _smallest(peer: Peer) -> int:
    """The frame size that everyone must take, in octets."""
    return peer.dialect.layout.min_size_octets


def _without_limit(peer: Peer, name: str, **limit: int) -> Verdict:
    """Zero in tune-ok is refused, as being above an offer, or means as much as the server has room for."""
    tune = _offer(peer)
    peer.agree(tune["channel_max"], tune["frame_max"])
    limits = {"channel_max": tune["channel_max"], "frame_max": tune["frame_max"], **limit}
    peer.send("connection.tune-ok", channel=0, **limits)
    peer.send("connection.open", channel=0, virtual_host=peer.login.vhost)
    reaction = peer.reaction(0, barrier=False)
    if reaction.refusal is not None and tune[name.replace("-", "_")]:
        return judge_reaction(peer, reaction)
    peer.claim(f"a connection with the {name} on offer")
    peer.expected(reaction.arrivals[-1], "connection.open-ok")
    highest = tune["channel_max"] or HIGHEST_CHANNEL
    if (limited := limit_of_its_own(peer, highest, offered=tune["channel_max"])) is not None:
        return limited
    if highest > 1:
        peer.call("channel.open")
    queue = peer.queue()
    # Without a limit, a server may still reject a large frame (connection/tune/frame-max/zero).
    largest = min(tune["frame_max"] or _smallest(peer), HIGHEST_FRAME_TRIED)
    body = b"x" * (largest - peer.dialect.layout.overhead_octets)
    peer.publish(queue, body, channel=highest, chunk=len(body))
    arrive(peer, queue, 1, highest)
    message = peer.get(queue)
    whole = message is not None and message.body == body
    return (
        observed_either_way(peer, f"{name} zero is as much as is offered")
        if whole
        else holds(peer, False, "the body was not the one sent")
    )


def _refuses_limits(peer: Peer, *, channel_max: int, frame_max: int) -> Verdict:
    """Limits in tune-ok are refused; connection.open after them shows a server that takes them."""
    return judge_reaction(peer, _reaction_to(peer, channel_max=channel_max, frame_max=frame_max))


def _reaction_to(peer: Peer, *, channel_max: int, frame_max: int) -> Reaction:
    """The reaction to limits in tune-ok, and to connection.open after them."""
    peer.send("connection.tune-ok", channel=0, channel_max=channel_max, frame_max=frame_max)
    peer.send("connection.open", channel=0, virtual_host=peer.login.vhost)
    return peer.reaction(0, barrier=False)


def _works_with_frames_of(peer: Peer, octets: int) -> Verdict:
    """Both sides send frames of this size and no larger ones: a body that takes two frames passes through a queue."""
    queue = peer.queue()
    body = b"x" * octets
    peer.publish(queue, body)
    arrive(peer, queue, 1)
    message = peer.get(queue)
    whole, largest = message is not None and message.body == body, peer.assembler.largest_frame_octets
    if whole and largest <= octets:
        return observed_either_way(peer, f"{octets} octets take the place of less")
    return holds(
        peer, False, f"largest frame {largest} octets, body {'whole' if whole else 'not the one sent'}"
    )


def _refuses_body_frame(peer: Peer, frame_octets: int) -> Verdict:
    """A body frame of this many octets, more than frame-max, is refused."""
    queue = peer.queue()
    body = b"x" * (frame_octets - peer.dialect.layout.overhead_octets)
    peer.publish(queue, body, chunk=len(body))
    # A server that accepts the frame answers the barrier soon; one that ends the connection may take its time.
    return rejects_violation(peer, within_s=peer.context.patience.ending_s)


def _start_ok_of(peer: Peer, octets: int) -> bytes:
    """A start-ok frame of just this many octets, filled up with a property of the client."""

    def filled(padding: int) -> bytes:
        return peer.method_frame(
            "connection.start-ok",
            0,
            client_properties={**CLIENT_PROPERTIES, "padding": "x" * padding},
            mechanism=peer.login.mechanism,
            response=peer.credentials(peer.login.mechanism),
            locale="en_US",
        )

    # The property is there already with no padding, so each octet of padding is one octet of frame.
    return filled(octets - len(filled(0)))


def _stays_silent(peer: Peer, silence_s: float = SILENCE_S) -> Verdict:
    """Neither heartbeat nor end comes while no one says anything, and the connection answers afterwards."""
    beat = peer.heartbeat(peer.rest_on_time(silence_s))
    peer.call("channel.open")
    peer.barrier()
    return holds(peer, beat is None, "a heartbeat" if beat else "silence, then answers")
