"""What a careful client of AMQP 0-10 looks at in each frame, control and command of a server before it takes it in.

Knows: the rules that a server can break, and what refuses each. Must not know: scenarios, how a refusal is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from amqpspec.peer.amqp_0_10.arrivals import AssemblyArrived
from amqpspec.peer.amqp_0_10.books import Session as Book
from amqpspec.spec.model import Scope, Side
from amqpspec.wire.amqp_0_10.conversations import error_of
from amqpspec.wire.amqp_0_10.frames import LAYOUT, Frame
from amqpspec.wire.amqp_0_10.instructions import COMMAND
from amqpspec.wire.amqp_0_10.segments import Assembly

FRAMING_ERROR, NOT_FOUND = 501, 404
ILLEGAL_STATE, COMMAND_INVALID, LIMIT_EXCEEDED, ILLEGAL_ARGUMENT, INVALID_ARGUMENT = 409, 503, 506, 531, 542
TRANSPORT_BUSY, NOT_ATTACHED, UNKNOWN_IDS = "transport-busy", "not-attached", "unknown-ids"
_ATTACHMENTS = ("session.attach", "session.attached", "session.detach", "session.detached")
_BEFORE_OPEN = (
    "connection.start",
    "connection.secure",
    "connection.tune",
    "connection.open-ok",
    "connection.redirect",
)
_ANYTIME = ("connection.close", "connection.heartbeat", "connection.close-ok")


class Watched(Protocol):
    """What the checks need of a connection: its phase, its sessions and subscriptions."""

    sessions: dict[int, Book]
    opened: bool
    due: tuple[str, ...]
    """The controls of the handshake of which one is due; none once the connection is open."""
    attaching: dict[int, bytes]
    """The sessions that wait for attached, by channel."""
    credit: dict[str, int]
    """How many messages each subscription may still bring."""
    requested: set[str]
    """The controls that the agent has asked for, and that have not come yet."""
    results: set[int]
    """The commands that wait for a result."""
    offsets: set[int]
    """The channels whose last command-point has an offset, and after which nothing has arrived."""

    @property
    def faulty(self) -> Callable[[str], bool]:
        """Whether a mistake is to be made."""
        ...


class Violated(Exception):
    """The server broke the specification; ``scope`` and ``code`` refuse it, ``socket`` does so silently.

    ``command_id`` is the command that an exception is about.
    """

    def __init__(
        self,
        scope: Scope,
        code: int | str,
        text: str,
        *,
        channel: int = 0,
        command_id: int | None = None,
    ) -> None:
        super().__init__(text)
        self.scope, self.code, self.channel, self.command_id = scope, code, channel, command_id


class OutOfOrder(Violated):
    """A control of the handshake came where another one was due."""


def framing(frame: Frame) -> Violated | None:
    """What refuses a frame by itself: its header, its place, or what it completes."""
    problem = next(iter(frame.problems), None)
    if problem is not None or frame.error is not None:
        return _broken(str(problem or frame.error))
    if frame.assembly is None:
        return None
    on_track = LAYOUT.tracks["command" if frame.assembly.segments[0].type == COMMAND else "control"]
    if frame.track != on_track:
        return _broken(f"{frame.assembly.name} on track {frame.track}")
    error = error_of(frame)
    if error is None:
        return None
    return _wrong(frame.assembly, str(error))


def _broken(text: str) -> Violated:
    return Violated(Scope.CONNECTION, FRAMING_ERROR, text)


def _wrong(assembly: Assembly, text: str) -> Violated:
    """What refuses an assembly by its contents.

    A command belongs to a session, which an exception ends; nothing else does (3.4.1.3).
    """
    if assembly.segments[0].type != COMMAND:
        return _broken(text)
    return Violated(Scope.SESSION, COMMAND_INVALID, text, channel=assembly.channel)


def look(session: Watched, arrival: AssemblyArrived) -> None:
    """Check that a control or a command is allowed at this point; raises Violated."""
    instruction = arrival.assembly.instruction
    row = None if instruction is None else instruction.row
    command = instruction is not None and instruction.kind == COMMAND
    if row is None or row.sent_by is Side.CLIENT:
        raise _wrong(arrival.assembly, f"{arrival.name}, which servers do not send")
    if not session.opened:
        _in_handshake(session, arrival)
        return
    if row.class_name == "connection":
        if arrival.name not in _ANYTIME:
            raise _broken(f"{arrival.name} on an open connection")
        return
    for problem in arrival.assembly.problems:
        raise _wrong(arrival.assembly, str(problem))
    book = session.sessions.get(arrival.channel)
    attached = book is not None and book.attached
    if not attached and arrival.name not in _ATTACHMENTS:
        why = f"{arrival.name} on channel {arrival.channel}, which has no session"
        raise _of_session(arrival, NOT_ATTACHED, why)
    if command and arrival.channel in session.offsets:
        raise _broken(f"{arrival.name} begins behind a command-point with an offset")
    if book is not None and command and book.next_in is None:
        raise _of_session(arrival, UNKNOWN_IDS, f"{arrival.name} before command-point")
    if arrival.name in _CHECKS:
        _CHECKS[arrival.name](session, book, arrival)


def _in_handshake(session: Watched, arrival: AssemblyArrived) -> None:
    tuned = "connection.open-ok" in session.due
    if arrival.name == "connection.close" or (tuned and arrival.name == "connection.heartbeat"):
        return
    if arrival.name not in session.due or arrival.channel:
        raise OutOfOrder(
            Scope.CONNECTION,
            FRAMING_ERROR,
            f"{arrival.name} where {' or '.join(session.due) or 'nothing'} was due",
        )
    for problem in arrival.assembly.problems:
        raise _wrong(arrival.assembly, str(problem))


# --- sessions


def _of_session(arrival: AssemblyArrived, code: int | str, text: str) -> Violated:
    return Violated(Scope.SESSION, code, text, channel=arrival.channel)


def _attached(session: Watched, book: Book | None, arrival: AssemblyArrived) -> None:
    wanted = session.attaching.get(arrival.channel, None if book is None else book.name)
    if wanted != arrival["name"]:
        raise _of_session(arrival, TRANSPORT_BUSY, "attached for another session")


def _completed(session: Watched, book: Book | None, arrival: AssemblyArrived) -> None:
    """Only what was sent can be completed, confirmed or expected."""
    assert book is not None
    for _, upper in arrival["commands"] or ():
        # The agent numbers from zero, and never comes as far as half of all numbers.
        if book.next_id is None or upper >= book.next_id:
            raise _of_session(arrival, ILLEGAL_ARGUMENT, f"{arrival.name} of {upper}, which was never sent")


def _pointed(session: Watched, book: Book | None, arrival: AssemblyArrived) -> None:
    if arrival["command_offset"]:
        session.offsets.add(arrival.channel)


def _resolved(session: Watched, book: Book | None, arrival: AssemblyArrived) -> None:
    """Only what was sent can be accepted, rejected or released."""
    assert book is not None
    for _, upper in arrival["transfers"] or ():
        if upper >= (book.next_id or 0):
            raise _of_session(arrival, INVALID_ARGUMENT, f"{arrival.name} of {upper}, which was never sent")


def _known(session: Watched, book: Book | None, arrival: AssemblyArrived) -> None:
    """Only what was reported as completed can be known to be."""
    assert book is not None
    for lower, upper in arrival["commands"] or ():
        if lower not in book.finished or upper not in book.finished:
            raise _of_session(arrival, ILLEGAL_ARGUMENT, f"{lower} to {upper}, which were never completed")


def _asked_for(session: Watched, book: Book | None, arrival: AssemblyArrived) -> None:
    if arrival.name not in session.requested:
        raise _of_session(arrival, ILLEGAL_STATE, f"{arrival.name}, which was not requested")


def _result(session: Watched, book: Book | None, arrival: AssemblyArrived) -> None:
    if arrival["command_id"] not in session.results:
        raise _of_session(arrival, INVALID_ARGUMENT, f"a result of command {arrival['command_id']}")


# --- messages


def _transfer(session: Watched, book: Book | None, arrival: AssemblyArrived) -> None:
    destination = arrival["destination"] or ""
    if destination not in session.credit:
        raise _of_session(arrival, NOT_FOUND, f"a transfer to {destination!r}, which is no subscription")
    if session.credit[destination] <= 0:
        raise _of_session(arrival, LIMIT_EXCEEDED, "a transfer beyond credit")
    length = arrival.message.get("content_length")
    if length is not None and length != len(arrival.body):
        raise _of_session(arrival, COMMAND_INVALID, f"{len(arrival.body)} octets, announced were {length}")
    session.credit[destination] -= 1


Check = Callable[[Watched, Book | None, AssemblyArrived], None]
_CHECKS: Mapping[str, Check] = {
    "session.attached": _attached,
    "session.command-point": _pointed,
    "session.completed": _completed,
    "session.confirmed": _completed,
    "session.known-completed": _known,
    "session.expected": _asked_for,
    "session.timeout": _asked_for,
    "execution.result": _result,
    "message.transfer": _transfer,
    **dict.fromkeys(("message.accept", "message.reject", "message.release"), _resolved),
}


def tuning(tune: AssemblyArrived) -> None:
    """Whether a server proposes what it may propose; raises Violated."""
    size, least, most = (tune[key] for key in ("max_frame_size", "heartbeat_min", "heartbeat_max"))
    if size is not None and size < LAYOUT.min_max_frame_size:
        raise Violated(Scope.SOCKET, 0, f"frames of {size} octets")
    if most is not None and (least is None or most < least):
        raise Violated(Scope.SOCKET, 0, f"heartbeats of at least {least} and at most {most} seconds")


_MANY_FRAMES, _MANY_IDS = 5, 1 << 20


def vast(arrival: AssemblyArrived, frames: int) -> bool:
    """Whether an arrival is legal, and yet too much for a client that counts one by one."""
    ranges = arrival["commands"] or ()
    return frames > _MANY_FRAMES or any(upper - lower > _MANY_IDS for lower, upper in ranges)


def unusual(arrival: AssemblyArrived, frames: int) -> str:
    """What is legal in an arrival and yet seldom seen; empty if nothing is. ``frames`` it came in."""
    if frames > len(arrival.assembly.segments):
        return f"{frames} frames"
    entries = arrival.assembly.header or ()
    names = [getattr(entry, "name", "unknown") for entry in entries]
    if names and names[0] != "message.delivery-properties":
        return f"a header that begins with {names[0]}"
    headers: Any = arrival.message.get("application_headers") or ()
    return "a value of an unknown type" if any(isinstance(value.type, int) for _, value in headers) else ""
