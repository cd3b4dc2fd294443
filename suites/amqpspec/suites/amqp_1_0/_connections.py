"""Steps that cases about connections share: what a target wrote and when, ways to make it close, signs of life.

Knows: the peer's verbs, frames as they arrived. Must not know: single cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

from amqpspec.peer.amqp_1_0.books import FrameArrived
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import OutOfReach, Unmet
from amqpspec.peer.events import Arrival, Ended, Garbled, Quiet, Reaction
from amqpspec.record.rows import Outcome
from amqpspec.run.oracles import holds, worst
from amqpspec.run.verdict import Verdict
from amqpspec.wire.amqp_1_0.frames import HEADERS, TypedFrame, encode_frame

PLAIN_FRAMES: Mapping[str, Mapping[str, Any]] = {
    "begin": {"next_outgoing_id": 0, "incoming_window": 10, "outgoing_window": 10},
    "attach": {"name": "l", "handle": 0, "role": "sender", "initial_delivery_count": 0},
    "flow": {"incoming_window": 10, "next_outgoing_id": 0, "outgoing_window": 10},
    "transfer": {"handle": 0, "delivery_id": 0, "delivery_tag": b"t", "message_format": 0},
    "disposition": {"role": "receiver", "first": 0},
    "detach": {"handle": 0},
    "end": {},
}
"""Each performative but open and close, with what it has to have."""

# A described empty list (45) under code 0x19, one behind close (0x18), the last of the nine.
UNKNOWN_PERFORMATIVE = bytes.fromhex("00 53 19 45")
# attach (0x12) as a list of one octet in size and count: 255 octets and 9 fields are
# announced, one null is there.
LYING_LIST = bytes.fromhex("00 53 12 c0 ff 09 40")
_FEW_LOOKS = 4
# What a case is ready to wait; a target may announce minutes.
_LONGEST_IDLE_S = 30.0
# More than a minute, after which Artemis, for one, ends a silent connection.
_WAITS = 7
# A sign of life in each 0.8 of the timeout: in time, though only just.
_STILL = 0.8
_LISTENING_S = 4.0
PACE_MS = 1000
"""The idle-time-out that cases ask for."""


def plain_frame(peer: Peer, name: str, channel: int = 0) -> bytes:
    """A performative with what it has to have, as octets that are not booked."""
    return peer.exact(name, channel, **PLAIN_FRAMES.get(name, {}))


# --- what the target wrote


def frames_of(peer: Peer) -> list[TypedFrame]:
    """The target's frames in their order, without those of the login."""
    # SASL frames belong to another layer and have no place in the order of the nine (amqp-1.0 §2.3.1).
    return [frame for frame in peer.listener.frames if not frame.name.startswith("sasl-")]


def behind_close(peer: Peer) -> list[TypedFrame]:
    """What the target wrote after its close."""
    frames = frames_of(peer)
    at = next((n for n, frame in enumerate(frames) if frame.name == "close"), len(frames))
    return frames[at + 1 :]


def nothing_behind_close(peer: Peer, end: Arrival, row: str = "") -> Verdict:
    """The target's close was the last that it wrote; ``end`` is how the stream ended after it."""
    if peer.closed_by is None:
        return holds(peer, False, f"no close, {end.describe(peer.dialect)}", row=row, seen=end)
    more = ", ".join(dict.fromkeys(frame.name for frame in behind_close(peer)))
    if not more and isinstance(end, Garbled):
        more = end.describe(peer.dialect)
    return holds(peer, not more, f"after close: {more or 'nothing'}", row=row)


def begins_with_open(peer: Peer, row: str = "") -> Verdict:
    """The target's first frame, if it sent any, is an open on channel 0."""
    first = next(iter(frames_of(peer)), None)
    reported = "no frame" if first is None else f"{first.name} on channel {first.channel}"
    right = first is None or (first.name == "open" and first.channel == 0)
    return holds(peer, right, f"first frame: {reported}", "open on channel 0 first", row)


def about(verdict: Verdict, what: str) -> Verdict:
    """A verdict that says which of several breaches it is about."""
    return replace(verdict, observed=f"{what}: {verdict.observed}")


def until_failure(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of several verdicts; none is sought any more once one is a failure."""
    found = []
    # Each breach costs a connection and, where the target is silent, the whole patience.
    for verdict in verdicts:
        found.append(verdict)
        if verdict.outcome is Outcome.FAIL:
            break
    return worst(found)


# --- opening


def pipelined(peer: Peer, *octets: bytes) -> None:
    """The AMQP header and frames after it in one write, once the security layer is passed."""
    # SASL has to end before the AMQP header may be sent, so only what follows can be
    # pipelined (amqp-1.0 §2.4.2).
    peer.secure()
    peer.send_octets(HEADERS["amqp"] + b"".join(octets))


def reaction_to_open(peer: Peer) -> Reaction:
    """What the target does about an open that was sent: refuses, or answers, and then a round trip as well."""
    arrival = peer.arrival("open", channel=None, within_s=peer.context.patience.ending_s)
    # Until the target has opened, no round trip is possible.
    if isinstance(arrival, FrameArrived) and arrival.name == "open":
        return peer.reaction()
    return peer.reaction_of([arrival])


# --- closing


def closing(peer: Peer, **open_fields: Any) -> Peer:
    """A connection on which the target has closed for an error, and waits for the other close.

    Targets differ in what they close for: several breaches are tried, each on a separate connection.
    """
    seen = "nothing"
    for breach in (_unmapped, _unknown, _unreadable, _bad_offset, _bad_size):
        other = peer.another()
        other.open_connection(**open_fields)
        # Nothing goes out by itself from here on: the case decides what arrives after the
        # target's close, and when.
        other.polite = other.keeps_alive = False
        other.send_octets(breach(other))
        arrival = other.arrival("close", within_s=_FEW_LOOKS * peer.context.patience.quiet_s)
        if isinstance(arrival, FrameArrived) and arrival.name == "close":
            return other
        seen = arrival.describe(peer.dialect)
        other.hang_up()
    raise Unmet("a close for one of several breaches", seen)


def _unmapped(peer: Peer) -> bytes:
    return plain_frame(peer, "transfer")


def _unknown(peer: Peer) -> bytes:
    return encode_frame(UNKNOWN_PERFORMATIVE)


def _unreadable(peer: Peer) -> bytes:
    return encode_frame(LYING_LIST)


def _bad_offset(peer: Peer) -> bytes:
    # Size 8, data offset 1, type 0, channel 0.
    return bytes.fromhex("00000008 01 00 0000")


def _bad_size(peer: Peer) -> bytes:
    # Size 4, less than the header itself.
    return bytes.fromhex("00000004 02 00 0000")


# --- signs of life


def own_idle_s(peer: Peer) -> float:
    """The idle timeout that the target announces; raises OutOfReach for none, or one too long to wait for."""
    idle_s = peer.idle_timeout_ms / 1000
    if not idle_s:
        raise OutOfReach("the target announces no idle-time-out")
    if idle_s > _LONGEST_IDLE_S:
        raise OutOfReach(f"the target's idle-time-out is {idle_s:g} s, longer than a case waits")
    return idle_s


def long_wait_s(peer: Peer) -> float:
    """How long to wait for what has no time limit: several times an ending."""
    return _WAITS * peer.context.patience.ending_s


def listen(peer: Peer, for_s: float) -> list[tuple[float, Arrival]]:
    """All that arrives in that time, and when; shorter where the target closes or ends."""
    until_s = peer.now() + for_s
    found: list[tuple[float, Arrival]] = []
    while peer.now() < until_s and not isinstance(arrival := peer.read(until_s), Quiet):
        found.append((peer.now(), arrival))
        if isinstance(arrival, Ended | Garbled) or peer.closes(arrival):
            break
    return found


def longest_gap_s(start_s: float, heard: list[tuple[float, Arrival]], end_s: float) -> float:
    """The longest time between two arrivals, the beginning and the end counting as such."""
    times_s = [start_s, *(at_s for at_s, _ in heard), end_s]
    return max(later - earlier for earlier, later in pairwise(times_s))


def kinds(heard: list[tuple[float, Arrival]]) -> str:
    """Which frames arrived, by name."""
    names = {arrival.name for _, arrival in heard if isinstance(arrival, FrameArrived)}
    return ", ".join(sorted(names)) or "nothing"


def kept_alive(peer: Peer, idle_s: float, sign: Callable[[], None], share: float = _STILL) -> str:
    """Outlive twice an idle timeout by one sign of life in each share of it; returns what the target sent meanwhile.

    Raises Unmet if the target closes or ends.
    """
    peer.keeps_alive = False
    heard: list[tuple[float, Arrival]] = []
    # What is announced is half of the threshold (amqp-1.0 §2.4.5): only beyond twice of it is a
    # connection kept alive by what was sent.
    until_s = peer.now() + 2.4 * idle_s
    while peer.now() < until_s:
        sign()
        heard += listen(peer, share * idle_s)
        if peer.is_over() or peer.ended is not None:
            raise Unmet("an open connection", heard[-1][1].describe(peer.dialect), heard[-1][1])
    return kinds(heard)


def paced(peer: Peer, idle_ms: int = PACE_MS) -> Peer:
    """An open connection on which the target has to keep a pace; raises OutOfReach if it does not support that pace."""
    peer.open_connection(idle_time_out=idle_ms)
    arrival = peer.arrival("close", within_s=peer.context.patience.quiet_s)
    # A peer that does not support the value closes with an error that says so (amqp-1.0 §2.4.5).
    if isinstance(arrival, FrameArrived) and arrival.name == "close" and arrival.condition is not None:
        raise OutOfReach(f"the target does not support an idle-time-out of {idle_ms} ms", arrival)
    return peer


def keeps_pace(peer: Peer) -> Verdict:
    """The time between two frames of the target is at most twice the requested time."""
    # The peer announces half of what it tolerates, as amqp-1.0 §2.4.5 asks of everyone: up
    # to twice of it is in time.
    limit_s = 2 * PACE_MS / 1000
    peer.claim(f"a frame within each {limit_s:g} s, twice the idle-time-out of the partner")
    start_s = peer.now()
    heard = listen(peer, _LISTENING_S + limit_s)
    gap_s = longest_gap_s(start_s, heard, peer.now())
    if peer.is_over() or peer.ended is not None:
        return holds(peer, False, heard[-1][1])
    kept = gap_s <= limit_s + peer.context.patience.quiet_s
    return holds(
        peer, kept, f"frames: {kinds(heard)}; " + ("in time" if kept else f"{gap_s:.1f} s of silence")
    )
