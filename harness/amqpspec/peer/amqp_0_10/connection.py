"""One connection of AMQP 0-10, below the vocabulary of cases: controls and commands, sent and received.

Knows: what was sent and what arrived on it, and the state of its sessions. Must not know: sockets, verdicts.

If it is ``polite`` (the default), it answers what requires an answer: close, detach, request-timeout, flush, and
completed with timely-reply (the last only if it ``knows``: known completions are not sent again).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from amqpspec.peer.amqp_0_10.arrivals import AssemblyArrived, refusal_of
from amqpspec.peer.amqp_0_10.books import Session
from amqpspec.peer.amqp_0_10.listening import AssemblyListener
from amqpspec.peer.context import Context
from amqpspec.peer.events import Arrival, Reaction
from amqpspec.peer.line import Line
from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.spec.assemblies import AssemblyDialect
from amqpspec.wire.amqp_0_10.frames import encode_assembly
from amqpspec.wire.amqp_0_10.instructions import COMMAND, HeaderEntry, kind_of
from amqpspec.wire.amqp_0_10.problems import Problem
from amqpspec.wire.amqp_0_10.serial import SerialSet, latest
from amqpspec.wire.values import Raw

NORMAL = 0


class Connection(Line):
    """Controls and commands to and from the target."""

    dialect: AssemblyDialect

    def __init__(self, context: Context, lines: list[Line] | None = None) -> None:
        self.listener = AssemblyListener()
        super().__init__(context, DIALECT, self.listener, lines)
        self.knows = True
        self.max_frame_octets = DIALECT.layout.min_max_frame_size
        self.channel_max: int | None = None
        self.closed_by: AssemblyArrived | None = None
        self.sessions: dict[int, Session] = {}
        self.stopped: set[tuple[int, str]] = set()

    def is_over(self) -> bool:
        """Whether the target has ended the connection, or announced its end."""
        return self.ended is not None or self.closed_by is not None

    @property
    def problems(self) -> list[Problem]:
        """Violations of the specification in the target's frames so far."""
        return self.listener.problems

    # --- sending

    def encoded(
        self,
        name: str,
        /,
        channel: int = 0,
        *,
        sync: bool = False,
        header: Iterable[HeaderEntry | Raw] | None = None,
        body: bytes | None = None,
        **args: Any,
    ) -> bytes:
        """A control or a command in frames of the agreed size."""
        return encode_assembly(
            name, channel, sync=sync, header=header, body=body, max_frame_octets=self.max_frame_octets, **args
        )

    def number(self, channel: int = 0) -> int | None:
        """The id of the next command on a channel, also for commands that are sent as octets."""
        session = self.sessions.get(channel)
        return None if session is None else session.number()

    def send(
        self,
        name: str,
        /,
        channel: int = 0,
        *,
        sync: bool = False,
        header: Iterable[HeaderEntry | Raw] | None = None,
        body: bytes | None = None,
        **args: Any,
    ) -> int | None:
        """Send a control or a command and do not wait; returns the id of a command, None if it has none."""
        octets = self.encoded(name, channel, sync=sync, header=header, body=body, **args)
        number = self.number(channel) if kind_of(name) == COMMAND else None
        self.send_octets(octets)
        if name == "session.command-point" and channel in self.sessions and not args.get("command_offset"):
            self.sessions[channel].next_id = args["command_id"]
        return number

    def complete(self, ids: Iterable[int], channel: int = 0, timely: bool = False) -> None:
        """Report commands of the target as completed: these, and earlier ones."""
        session = self.sessions[channel]
        session.finished = latest(session.finished, ((number, number) for number in ids))
        self.send("session.completed", channel, commands=session.reported, timely_reply=timely)

    # --- receiving

    def noted(self, arrival: Arrival) -> Arrival:
        """Record an arrival; answer it if polite."""
        if not isinstance(arrival, AssemblyArrived):
            return arrival
        session = self.sessions.get(arrival.channel)
        if arrival.name == "connection.close":
            self.closed_by = arrival
        elif session is not None:
            arrival = self._booked(session, arrival)
        if self.polite:
            self._answer(arrival, session)
        return arrival

    def _arrived(self, until_s: float) -> Arrival:
        # A producer that is stopped has no credit from then on (message.stop), whenever its commands are counted.
        arrival = super()._arrived(until_s)
        if isinstance(arrival, AssemblyArrived):
            self._heed(arrival)
        return arrival

    def _heed(self, arrival: AssemblyArrived) -> None:
        """Record which destinations the target has stopped; any credit (message.flow) starts them again."""
        place = arrival.channel, arrival["destination"] or ""
        if arrival.name == "message.stop":
            self.stopped.add(place)
        elif arrival.name == "message.flow" and arrival["value"] != 0:
            self.stopped.discard(place)
        elif arrival.name == "session.detached":
            self.stopped = {(channel, name) for channel, name in self.stopped if channel != arrival.channel}

    def await_credit(self, destination: str, channel: int = 0) -> None:
        """Wait while the target has stopped a destination; raises Withheld if that outlasts the patience."""
        reason = f"message.stop for {self.patience_s:.1f} s"
        self.await_leave(
            lambda: reason if (channel, destination) in self.stopped else "", "credit for a transfer", _ends
        )

    def closes(self, arrival: Arrival) -> bool:
        """Whether it is the target's connection.close."""
        return isinstance(arrival, AssemblyArrived) and arrival.name == "connection.close"

    def reaction_of(self, arrivals: Sequence[Arrival]) -> Reaction:
        """The refusal in the arrivals."""
        return Reaction(tuple(arrivals), *refusal_of(tuple(arrivals)))

    def _booked(self, session: Session, arrival: AssemblyArrived) -> AssemblyArrived:
        if arrival.name == "session.command-point" and not arrival["command_offset"]:
            session.next_in = arrival["command_id"]
        elif arrival.name == "session.completed":
            session.done = latest(session.done, arrival["commands"] or ())
        elif arrival.name == "session.known-completed":
            session.known = latest(session.known, arrival["commands"] or ())
        elif arrival.name in ("session.detached", "session.detach"):
            session.attached = False
        instruction = arrival.assembly.instruction
        if instruction is not None and instruction.kind == COMMAND:
            return replace(arrival, id=session.arrived())
        return arrival

    def _answer(self, arrival: AssemblyArrived, session: Session | None) -> None:
        channel = arrival.channel
        if arrival.name == "connection.close":
            self.send("connection.close-ok", channel)
        elif arrival.name == "session.detach":
            self.send("session.detached", channel, name=arrival["name"] or b"", code=NORMAL)
        elif arrival.name == "session.request-timeout":
            self.send("session.timeout", channel, timeout=arrival["timeout"])
        elif arrival.name == "session.completed" and arrival["timely_reply"] and self.knows:
            self.send("session.known-completed", channel, commands=arrival["commands"])
        elif session is not None and arrival.name == "session.flush":
            self._answer_flush(session, arrival)
        elif session is not None and arrival.id is not None and arrival.name != "message.transfer":
            # Only transfers wait for a window; other commands are completed when they are read.
            session.finished = latest(session.finished, ((arrival.id, arrival.id),))

    def _answer_flush(self, session: Session, arrival: AssemblyArrived) -> None:
        if arrival["expected"]:
            following = SerialSet.single(session.next_in) if session.next_in is not None else SerialSet()
            self.send("session.expected", session.channel, commands=following.ranges)
        if arrival["confirmed"]:
            self.send("session.confirmed", session.channel, commands=session.reported)
        if arrival["completed"]:
            self.send("session.completed", session.channel, commands=session.reported)


def _ends(arrival: Arrival) -> bool:
    return not isinstance(arrival, AssemblyArrived) or arrival.refusal is not None
