"""Steps that cases about sessions share: what a session reports, how it continues elsewhere, halves of commands.

Knows: the peer's verbs, octets of commands. Must not know: verdicts, targets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from amqpspec.peer.amqp_0_10.arrivals import AssemblyArrived
from amqpspec.peer.amqp_0_10.books import Session
from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.peer.context import OutOfReach, Unmet
from amqpspec.wire.amqp_0_10.frames import FIRST_FRAME, FIRST_SEGMENT, LAST_FRAME, LAST_SEGMENT, encode_frame
from amqpspec.wire.amqp_0_10.instructions import COMMAND, encode_instruction
from amqpspec.wire.amqp_0_10.serial import Ranges, SerialSet
from amqpspec.wire.amqp_0_10.values import Packed

LAST_OFFSET = (1 << 64) - 1
LONG_S = 60
_PLACE = FIRST_SEGMENT | LAST_SEGMENT
_CUT = 10


@dataclass(frozen=True, slots=True)
class State:
    """What a target reports about the commands that it received;

    ``*_parts`` are fragments: ids with their ranges.
    """

    expected: Ranges
    confirmed: Ranges
    completed: Ranges
    expected_parts: Mapping[int, Ranges]
    confirmed_parts: Mapping[int, Ranges]


def state(peer: Peer, channel: int = 0) -> State:
    """Everything that flush can ask for; raises Unmet."""
    confirmed, completed = (told_now(peer, name, channel) for name in ("confirmed", "completed"))
    expected = told_now(peer, "expected", channel)
    sets = [tuple(told["commands"] or ()) for told in (expected, confirmed, completed)]
    return State(sets[0], sets[1], sets[2], _parts(expected), _parts(confirmed))


def told_now(peer: Peer, name: str, channel: int = 0) -> AssemblyArrived:
    """What a flush for one of the sets is answered by, and not the result before; raises Unmet."""
    wanted = f"session.{name}"
    asked: Mapping[str, Any] = {name: True}
    if name == "expected":
        peer.send("session.flush", channel, expected=True)
        return peer.expect(wanted, channel=channel)
    # Completed may come unasked at any time, expected never does: it tells what came before the answer, and after it.
    told_now(peer, "expected", channel)
    peer.pending(wanted, channel=channel)
    peer.send("session.flush", channel, **asked)
    told_now(peer, "expected", channel)
    found = peer.pending(wanted, channel=channel)
    if not found:
        raise Unmet(f"{wanted} after a flush that requests it", "session.expected after the next flush")
    return found[-1]


def expected_now(peer: Peer, channel: int = 0) -> Ranges:
    """The ids that are expected; raises Unmet."""
    return tuple(told_now(peer, "expected", channel)["commands"] or ())


def completed_now(peer: Peer, channel: int = 0) -> Ranges:
    """The completed commands that are not known to be; raises Unmet."""
    return tuple(told_now(peer, "completed", channel)["commands"] or ())


def _parts(told: AssemblyArrived) -> Mapping[int, Ranges]:
    fragments = getattr(told["fragments"], "items", ())
    found = (entry.fields for entry in fragments if isinstance(entry, Packed))
    return {fields.get("command_id", -1): tuple(fields.get("byte_ranges", ())) for fields in found}


def among(ranges: Ranges, ids: Iterable[int]) -> list[bool]:
    """For each id whether it is in ranges; those of a set that has no order hold nothing."""
    try:
        held = SerialSet.of(ranges)
    except ValueError:
        held = SerialSet()
    return [number in held for number in ids]


# --- sessions that continue


def lasting(peer: Peer, *, point: int = 0, timeout_s: int = LONG_S) -> Session:
    """A session that outlives its channel; OutOfReach if the target grants no timeout."""
    if not peer.opened:
        peer.open_connection()
    session = peer.attach()
    granted = peer.call_control("session.request-timeout", timeout=timeout_s)
    if granted["timeout"] == 0:
        raise OutOfReach("the target grants no timeout above zero, as it may (3.5.3)", granted)
    session.lasting = True
    peer.point(0, point)
    return session


def elsewhere(peer: Peer, session: Session) -> Peer:
    """Lose the connection, and attach the session on another one; no command-point is sent yet. Raises Unmet."""
    peer.hang_up()
    other: Peer = peer.another()
    other.open_connection()
    # The target may still take the old channel for alive (3.6.2).
    other.reattach(session)
    return other


# --- halves of commands


def halves(octets: bytes, channel: int = 0) -> tuple[bytes, bytes]:
    """Two frames of a command segment, the first with its first ten octets."""
    first = encode_frame(octets[:_CUT], type=COMMAND, channel=channel, flags=_PLACE | FIRST_FRAME)
    return first, encode_frame(octets[_CUT:], type=COMMAND, channel=channel, flags=_PLACE | LAST_FRAME)


def half_a_declare(peer: Peer) -> tuple[str, bytes, bytes]:
    """The name of a queue for the case, and two frames that declare it."""
    name = peer.will_clean("queue", peer.name("half"))
    args: Mapping[str, Any] = {"queue": name, "exclusive": True}
    return name, *halves(encode_instruction("queue.declare", args, sync=True))


def fails(peer: Peer, channel: int = 0) -> int | None:
    """Send a command that cannot be carried out; the id that the exception names. Raises Unmet."""
    peer.send("queue.delete", channel, queue=peer.name("missing"), sync=True)
    exception = peer.expect("execution.exception", channel=channel)
    if exception["command_id"] is None:
        raise Unmet("an exception with the id of its command", exception.describe(peer.dialect), exception)
    return int(exception["command_id"])
