"""Open and close (amqp-1.0 §2.7.1, §2.7.9), field by field."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amqpspec.peer.amqp_1_0.frames import OMIT
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import OutOfReach, owed
from amqpspec.peer.events import Quiet
from amqpspec.record.rows import Outcome
from amqpspec.run.amqp_1_0.oracles import judge_arrival, rejects_violation, well_formed
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, judge_reaction, observed_either_way, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0._cases import in_session, on_connection
from amqpspec.suites.amqp_1_0._connections import (
    PLAIN_FRAMES,
    about,
    begins_with_open,
    closing,
    frames_of,
    keeps_pace,
    listen,
    long_wait_s,
    nothing_behind_close,
    paced,
    plain_frame,
    reaction_to_open,
    until_failure,
)
from amqpspec.suites.amqp_1_0._links import bodies, fill
from amqpspec.suites.amqp_1_0._transfers import contents, put, sender
from amqpspec.wire.amqp_1_0.values import Array, Map, Symbol, Value

_LEAST_OCTETS = 512
_LARGE_OCTETS = 10_000
_HUGE_OCTETS = 200_000
_LONGEST_TRY_OCTETS = 16 << 20
_HIGHEST_CHANNEL = 65535
_EVERY_CHANNEL_UP_TO = 1000
_LONG_BUDGET_S = 150
_LISTENING_S = 1.0
_MESSAGES = 20
_LOCALE = Symbol("en-US")
_NONE, _ONE, _LIST = Array("sym8", []), _LOCALE, Array("sym8", [_LOCALE, Symbol("de-CH")])


@case("open.first-frame", covers=["performatives/open/first-frame"], slow=True, budget_s=_LONG_BUDGET_S)
def frames_before_open(peer: Peer) -> Verdict:
    """The target rejects any other frame in place of open; its own first frame is open."""
    return until_failure(about(_in_place_of_open(peer.another(), name), name) for name in PLAIN_FRAMES)


@case("open.container-id", covers=["performatives/open/mandatory"])
def open_without_container_id(peer: Peer) -> Verdict:
    """The target rejects an open without container-id: a null field or an empty list."""
    return until_failure(
        about(_opened_by(peer.another(), octets), octets.hex(" ")) for octets in _nameless(peer)
    )


@case("open.container-id.own", covers=["performatives/open/mandatory"])
def container_id_of_the_target(peer: Peer) -> Verdict:
    """The target's open contains a container-id."""
    opened = owed(peer.open_connection().opened, "open")
    reported = opened["container_id"]
    right = isinstance(reported, str) and "container_id" in opened.given
    return worst((holds(peer, right, f"container-id {reported!r}", "a string"), well_formed(peer, opened)))


@case("open.hostname.default", covers=["performatives/open/hostname/default"])
def open_without_hostname(peer: Peer) -> Verdict:
    """The target works with a default host if the hostname is missing or null."""
    peer.connect()
    peer.claim("open, and a session that works")
    for hostname in (OMIT, None):
        other = peer.another()
        other.open_connection(hostname=hostname)
        other.begin()
    return holds(peer, True, "both opened")


# --- max-frame-size


@case("open.max-frame-size.unset", covers=["performatives/open/max-frame-size/unset"])
def no_limit_of_the_partner(peer: Peer) -> Verdict:
    """An open without max-frame-size sets no limit: a large message passes in both directions."""
    address = peer.node()
    peer.open_connection(max_frame_size=OMIT)
    link = sender(peer, address)
    if 0 < link.max_message_size < _HUGE_OCTETS:
        raise OutOfReach(f"the target accepts messages of {link.max_message_size} octets at most")
    peer.claim(f"a message of {_HUGE_OCTETS} octets in both directions")
    peer.outcome(peer.transfer(link, bytes(_HUGE_OCTETS)))
    found = [len(body) for body in contents(peer, address, at_least=1)]
    return equals(peer, found, [_HUGE_OCTETS], "octets")


@case("open.max-frame-size.respected", covers=["performatives/open/max-frame-size/respected"])
def frames_within_the_limit(peer: Peer) -> Verdict:
    """The target sends no frame larger than the partner's max-frame-size."""
    address = peer.node()
    put(peer.another(), address, *[bytes(_LARGE_OCTETS)] * 2)
    return worst(_largest_within(peer.another(), address, octets) for octets in (_LEAST_OCTETS, 1024))


@on_connection("open.max-frame-size.exceeded", covers=["performatives/open/max-frame-size/exceeded"])
def frame_beyond_the_limit(peer: Peer) -> Verdict:
    """The target rejects a frame one octet larger than its max-frame-size."""
    limit = peer.max_frame_octets
    if limit > _LONGEST_TRY_OCTETS:
        raise OutOfReach("the target names no limit, or one too large to try")
    link = sender(peer, peer.node())
    peer.send_octets(_of_size(lambda count: _transfer(peer, link.handle, count), limit + 1))
    return rejects_violation(peer)


@case("open.max-frame-size.minimum", covers=["performatives/open/max-frame-size/minimum"])
def frames_of_the_least_limit(peer: Peer) -> Verdict:
    """The target accepts frames of 512 octets: open, attach, transfer."""
    peer.greet()
    peer.claim("open, attach and an outcome")
    id = peer.container_id
    octets = _of_size(lambda n: peer.exact("open", container_id=id, properties=_padding(n)), _LEAST_OCTETS)
    peer.send_octets(octets)
    peer.books.open_sent = True
    peer.expect("open")
    if peer.max_frame_octets < _LEAST_OCTETS:
        return holds(peer, False, f"max-frame-size {peer.max_frame_octets}")
    peer.begin()
    return worst((_least_attach(peer), _least_transfer(peer)))


# --- channel-max


@case("open.channel-max.respected", covers=["performatives/open/channel-max/respected"])
def channels_within_the_limit(peer: Peer) -> Verdict:
    """The target uses no channel above the partner's channel-max, not even to answer one begin too many."""
    return worst(_channels_within(peer.another(), highest) for highest in (0, 1))


@on_connection("open.channel-max.exceeded", covers=["performatives/open/channel-max/exceeded"])
def channel_beyond_the_limit(peer: Peer) -> Verdict:
    """The target rejects a begin on a channel above its channel-max."""
    if peer.channel_max >= _HIGHEST_CHANNEL:
        raise OutOfReach("the target accepts every channel")
    peer.send("begin", peer.channel_max + 1)
    return rejects_violation(peer, peer.channel_max + 1)


@on_connection("open.channel-max.sessions", covers=["performatives/open/channel-max/sessions"])
def as_many_sessions_as_channels(peer: Peer) -> Verdict:
    """All channels up to the highest can have a session at the same time."""
    highest = peer.channel_max
    channels = range(highest + 1) if highest < _EVERY_CHANNEL_UP_TO else (0, highest // 2, highest)
    peer.claim(f"begin on each of {len(channels)} channels up to {highest}")
    peer.send_octets(b"".join(peer.frame("begin", channel) for channel in channels))
    for channel in channels:
        peer.expect("begin", channel=channel)
    return holds(peer, True, "all begun")


# --- idle-time-out, locales


@case("open.idle-time-out.required", covers=["performatives/open/idle-time-out/required"], slow=True)
def pace_that_was_asked_for(peer: Peer) -> Verdict:
    """The target sends frames at the interval that the partner's open requires."""
    paced(peer)
    return keeps_pace(peer)


@case("open.idle-time-out.zero", covers=["performatives/open/idle-time-out/zero"])
def no_timeout(peer: Peer) -> Verdict:
    """An idle-time-out of zero means no timeout: the connection stays open."""
    peer.connect()
    peer.claim("a connection that stays open, with zero as without a value")
    for fields in ({"idle_time_out": 0}, {}):
        other = peer.another()
        other.open_connection(**fields)
        listen(other, _LISTENING_S)
        other.begin()
    return holds(peer, True, "both stay open")


@on_connection(
    "open.idle-time-out.internal",
    covers=["performatives/open/idle-time-out/internal"],
    slow=True,
    budget_s=_LONG_BUDGET_S,
)
def timeout_that_is_not_announced(peer: Peer) -> Verdict:
    """A target that announces no idle timeout may have one: the case records whether it tolerates silence."""
    if peer.idle_timeout_ms:
        return observed_either_way(peer, "an idle timeout is announced")
    peer.keeps_alive = False
    arrival = peer.arrival("close", within_s=long_wait_s(peer))
    if isinstance(arrival, Quiet):
        return observed_either_way(peer, "none is announced, and silence is tolerated")
    verdict = judge_arrival(peer, arrival)
    if verdict.outcome is Outcome.PASS:
        way = "none is announced"
        return observed_either_way(peer, way, arrival, f"{way}; {verdict.observed}")
    return verdict


@case("open.locales.none", covers=["performatives/open/outgoing-locales/none"])
def locales_left_out(peer: Peer) -> Verdict:
    """Locales that are null, empty, single or multiple have no effect: en-US is always available."""
    peer.connect()
    peer.claim("open each time")
    for locales in (None, _NONE, _ONE, _LIST):
        other = peer.another()
        other.open_connection(outgoing_locales=locales, incoming_locales=locales)
        other.close()
    return holds(peer, True, "opened each time")


# --- close


@in_session("close.written", covers=["performatives/close/written"])
def close_is_answered(peer: Peer) -> Verdict:
    """The target answers a close with a close without an error."""
    peer.claim("close without error")
    closed = peer.close()
    return holds(peer, closed.condition is None, closed)


@in_session("close.written.half-closed", covers=["performatives/close/written"])
def close_on_a_half_closed_stream(peer: Peer) -> Verdict:
    """A peer can half-close the stream after its close: it still receives the target's close."""
    peer.claim("close without error")
    peer.transport.half_close(peer.frame("close"))
    closed = peer.expect("close")
    return holds(peer, closed.condition is None, closed)


@case("close.nothing-after", covers=["performatives/close/nothing-after"])
def nothing_behind_a_close_for_an_error(peer: Peer) -> Verdict:
    """The target sends nothing after a close for an error, although there is credit for waiting messages."""
    address = fill(peer, peer.node(), *bodies(_MESSAGES))
    link = peer.receiver(address)
    peer.polite = False
    octets = peer.frame("flow", handle=link, link_credit=_MESSAGES)
    peer.send_octets(octets + _unmapped(peer))
    if peer.arrival("close") is not peer.closed_by or peer.closed_by is None:
        raise OutOfReach("the target does not close for a frame on a channel that has no session")
    peer.claim("nothing after close")
    return nothing_behind_close(peer, peer.expect_end(peer.context.patience.ending_s / 4))


@case("close.error", covers=["performatives/close/error"])
def error_of_a_close(peer: Peer) -> Verdict:
    """The error of a close states the cause in its description or its info."""
    error = owed(closing(peer).closed_by, "close")
    peer.claim("an error with a description, or with info")
    held = error.error
    if held is None:
        return holds(peer, False, "close without error")
    reported = held.get("description") or held.get("info")
    return holds(peer, bool(reported), f"{error.condition}, {reported or 'no word of the cause'}")


# --- steps of this module


def _in_place_of_open(peer: Peer, name: str) -> Verdict:
    peer.greet()
    peer.send_octets(plain_frame(peer, name))
    return worst((rejects_violation(peer, barrier=False), begins_with_open(peer)))


def _nameless(peer: Peer) -> tuple[bytes, ...]:
    """Opens without a container-id."""
    empty = peer.exact("open")
    return (
        empty,
        peer.exact("open", container_id=None, max_frame_size=65536),
        peer.exact("open", encoding="list8"),
    )


def _opened_by(peer: Peer, octets: bytes) -> Verdict:
    peer.greet()
    peer.send_octets(octets)
    return judge_reaction(peer, reaction_to_open(peer))


def _largest_within(peer: Peer, address: str, octets: int) -> Verdict:
    """The largest frame of the target on a connection with that limit: a long name, a message in pieces."""
    peer.open_connection(max_frame_size=octets)
    link = peer.receiver(address, name=peer.name("x" * 90), credit=1)
    peer.disposition(peer.delivery(link))
    peer.detach(link)
    reported = f"frames of at most {peer.largest_frame_octets} octets, {octets} taken"
    return holds(peer, peer.largest_frame_octets <= octets, reported)


def _channels_within(peer: Peer, highest: int) -> Verdict:
    peer.open_connection(channel_max=highest)
    for channel in range(min(highest, peer.channel_max) + 1):
        peer.begin(channel)
    if highest < peer.channel_max:
        peer.send("begin", highest + 1)
    peer.reaction()
    used = sorted({frame.channel for frame in frames_of(peer)})
    return holds(peer, max(used) <= highest, f"channels {used}, {highest} the highest")


def _count_for(make: Callable[[int], bytes], octets: int) -> int:
    """How many octets of padding make a frame of that size."""
    guess = octets - 200
    count = guess + octets - len(make(guess))
    if len(make(count)) != octets:
        raise OutOfReach(f"no frame of {octets} octets can be made")
    return count


def _of_size(make: Callable[[int], bytes], octets: int) -> bytes:
    return make(_count_for(make, octets))


def _padding(count: int) -> Map:
    return Map({Symbol("padding"): Value("str32-utf8", "x" * count)})


def _transfer(peer: Peer, handle: int, count: int) -> bytes:
    """A transfer of one message with that many octets of data."""
    payload = bytes.fromhex("00 53 75 b0") + count.to_bytes(4, "big") + bytes(count)
    return peer.exact("transfer", payload=payload, **{**_DELIVERY, "handle": handle})


def _least_attach(peer: Peer) -> Verdict:
    """An attach of 512 octets."""
    fields = peer.attach_fields("sender", name=peer.name("link"), handle=0, initial_delivery_count=0)
    count = _count_for(lambda n: peer.exact("attach", **{**fields, "properties": _padding(n)}), _LEAST_OCTETS)
    octets = peer.frame("attach", **{**fields, "properties": _padding(count)})
    peer.send_octets(octets)
    link = peer.session().every_link[-1]
    peer.expect("attach", link=link)
    peer.credit_for(link)
    return holds(peer, True, f"attach of {len(octets)} octets answered")


def _least_transfer(peer: Peer) -> Verdict:
    """A transfer of 512 octets, the whole message in it."""
    link = peer.session().every_link[0]
    room = _of_size(lambda n: _transfer(peer, link.handle, n), _LEAST_OCTETS)
    message = room[room.index(bytes.fromhex("00 53 75 b0")) :]
    octets = peer.transfer_octets(link, message=message, **_DELIVERY)
    peer.send_octets(octets)
    sent = peer.outcome(owed(link.last_outgoing, "an attached link"))
    return holds(peer, sent.result == "accepted", f"transfer of {len(octets)} octets: {sent.outcome}")


def _unmapped(peer: Peer) -> bytes:
    return plain_frame(peer, "transfer", min(peer.channel_max, 9))


_DELIVERY: dict[str, Any] = {"delivery_id": 0, "delivery_tag": b"t", "message_format": 0}
