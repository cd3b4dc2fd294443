"""Both sides' state of a conversation, frame by frame, as the rules for clients see it.

Knows: what controls and commands change. Must not know: rules, verdicts. The order is the server's: what the client
sends may cross what precedes it. A rule for which that matters says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from amqpspec.spec.model import Side
from amqpspec.wire.amqp_0_10.frames import Frame
from amqpspec.wire.amqp_0_10.instructions import COMMAND, Instruction
from amqpspec.wire.amqp_0_10.segments import Assembly
from amqpspec.wire.amqp_0_10.serial import add
from amqpspec.wire.conversation import Conversation, Said


@dataclass(slots=True)
class Session:
    """A session as the client has it on a channel.

    ``next_id`` is the id of the client's next command, ``next_in`` that of the server's; None before command-point.
    """

    name: bytes
    next_id: int | None = None
    next_in: int | None = None
    delivered: set[int] = field(default_factory=set)
    """Transfers of the server, by id."""
    resolved: set[int] = field(default_factory=set)
    """Those of them that the client has accepted, rejected or released."""
    destinations: set[str] = field(default_factory=set)
    unacquired: set[int] = field(default_factory=set)
    """Transfers that the server did not let the client acquire."""
    accepted: set[int] = field(default_factory=set)
    """What the client has accepted in the current transaction: a rollback discards it."""
    selected: bool = False
    point: int | None = None
    """The offset of the client's command-point after which no command has begun yet."""


@dataclass(slots=True)
class Books:
    """Everything that both sides have said so far."""

    sessions: dict[int, Session] = field(default_factory=dict)
    known: dict[bytes, Session] = field(default_factory=dict)
    """The last state of each session by its name, attached or not."""
    closed: Said | None = None
    flushed: set[int] = field(default_factory=set)
    """The channels on which the server has asked what is expected."""
    tuned: Mapping[str, Any] | None = None
    """The client's tune-ok."""

    def take(self, said: Said) -> None:
        """Take down a frame."""
        if frame_of(said) is None:
            return
        if said.sender is Side.CLIENT:
            self._client(said)
        else:
            self._server(said)

    def _client(self, said: Said) -> None:
        kind, session = said.name, self.sessions.get(said.channel)
        if kind == "connection.tune-ok":
            self.tuned = fields(said)
        elif kind == "connection.close":
            self.closed = self.closed or said
        elif kind == "session.attach" and session is None:
            self._attach(said.channel, fields(said).get("name", b""))
        elif kind in ("session.detach", "session.detached"):
            self.sessions.pop(said.channel, None)
        elif session is not None:
            _of_client(session, said)

    def _attach(self, channel: int, name: bytes) -> None:
        """A session begins, or continues: its transfers keep their ids."""
        before = self.known.get(name, Session(name))
        session = Session(name, None, None, before.delivered, before.resolved)
        session.unacquired = before.unacquired
        self.known[name] = self.sessions[channel] = session

    def _server(self, said: Said) -> None:
        session = self.sessions.get(said.channel)
        if said.name in ("session.detach", "session.detached"):
            self.sessions.pop(said.channel, None)
        elif said.name == "session.flush" and fields(said).get("expected"):
            self.flushed.add(said.channel)
        elif session is not None and said.name == "session.command-point":
            session.next_in = fields(said).get("command_id")
        elif session is not None and session.next_in is not None and is_command(said):
            if said.name == "message.transfer":
                _delivered(session, session.next_in, is_acquired=not fields(said).get("acquire_mode"))
            session.next_in = add(session.next_in, 1)


def _delivered(session: Session, id: int, *, is_acquired: bool) -> None:
    """A transfer of the server; its id may be used again, if nothing is left of the session's first life."""
    session.delivered.add(id)
    session.resolved.discard(id)
    if is_acquired:
        session.unacquired.discard(id)
    else:
        session.unacquired.add(id)


def _of_client(session: Session, said: Said) -> None:
    args = fields(said)
    if said.name == "session.command-point":
        session.next_id, session.point = args.get("command_id"), args.get("command_offset", 0)
        return
    if track_of(said) == 1:
        session.point = None
    if not is_command(said):
        return
    if session.next_id is not None:
        session.next_id = add(session.next_id, 1)
    if said.name in ("message.accept", "message.reject", "message.release"):
        named = ids(args.get("transfers")) & session.delivered
        session.resolved |= named
        session.accepted |= named if said.name == "message.accept" else set()
    elif said.name == "message.acquire":
        session.unacquired -= ids(args.get("transfers"))
    elif said.name in ("tx.commit", "tx.rollback"):
        # Only accepts are discarded; the client still holds those messages (tx.rollback).
        session.resolved -= session.accepted if said.name == "tx.rollback" else set()
        session.accepted.clear()
    elif said.name == "message.subscribe":
        session.destinations.add(args.get("destination", ""))
    elif said.name == "message.cancel":
        session.destinations.discard(args.get("destination", ""))
    elif said.name == "tx.select":
        session.selected = True
        session.accepted.clear()


def walk(talk: Conversation, *names: str) -> Iterator[tuple[Said, Books]]:
    """What the client said, of these names (none: everything), each with the state before it."""
    books = Books()
    for said in talk.said:
        if said.sender is Side.CLIENT and (not names or said.name in names):
            yield said, books
        books.take(said)


# --- one frame


def frame_of(said: Said) -> Frame | None:
    """The frame; None for a protocol header, and where framing is lost."""
    return said.what if isinstance(said.what, Frame) else None


def assembly_of(said: Said) -> Assembly | None:
    """What a frame completes."""
    frame = frame_of(said)
    return None if frame is None else frame.assembly


def instruction_of(said: Said) -> Instruction | None:
    """The control or command that a frame completes."""
    assembly = assembly_of(said)
    return None if assembly is None else assembly.instruction


def fields(said: Said) -> Mapping[str, Any]:
    """The arguments that are there; none if nothing can be read."""
    instruction = instruction_of(said)
    return {} if instruction is None else instruction.args


def is_command(said: Said) -> bool:
    """Whether a frame completes a command."""
    instruction = instruction_of(said)
    return instruction is not None and instruction.kind == COMMAND


def track_of(said: Said) -> int:
    """The track of a frame; -1 for what is none."""
    frame = frame_of(said)
    return -1 if frame is None else frame.track


_MOST_IDS = 1 << 16


def ids(ranges: Any) -> set[int]:
    """The numbers of ranges; of very many, the first ones."""
    found: set[int] = set()
    for lower, upper in ranges or ():
        found |= set(range(lower, min(upper, lower + _MOST_IDS) + 1))
    return found
