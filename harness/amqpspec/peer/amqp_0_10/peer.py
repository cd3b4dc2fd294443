"""The peer that a case uses: prerequisites, claims, messages, barriers, reactions.

Knows: the conversation of AMQP 0-10 from the client's side. Must not know: sockets, files, how verdicts are reported.

``call`` sends something and receives its answer. A missing answer raises ``Unmet``: before ``claim`` it blocks the
case, after ``claim`` it is a failure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from amqpspec.peer.amqp_0_10.arrivals import AssemblyArrived
from amqpspec.peer.amqp_0_10.books import Session
from amqpspec.peer.amqp_0_10.opening import Opening, is_one
from amqpspec.peer.context import Unmet
from amqpspec.peer.events import Arrival, Ended, Garbled, Quiet, Reaction
from amqpspec.spec.assemblies import Command
from amqpspec.wire.amqp_0_10.instructions import ROWS, HeaderEntry
from amqpspec.wire.amqp_0_10.serial import SerialSet
from amqpspec.wire.amqp_0_10.values import Packed
from amqpspec.wire.values import Raw

EXPLICIT, NONE = 0, 1
"""Accept modes."""
PRE_ACQUIRED, NOT_ACQUIRED = 0, 1
"""Acquire modes."""
CREDIT, WINDOW = 0, 1
"""Flow modes."""
MESSAGES, OCTETS = 0, 1
"""Units of credit."""
UNLIMITED = 0xFFFFFFFF
_LAST_WORDS = ("session.detached", "session.detach")
_PLAIN: Mapping[str, Any] = {"priority": 4, "delivery_mode": 1}


class Peer(Opening):
    """One client connection with the methods for cases. ``another`` returns an additional, independent one."""

    # --- requests

    def call(self, name: str, /, channel: int = 0, **args: Any) -> Any:
        """Send something and receive its answer; raises Unmet for any other arrival, or none.

        Returns the responding control, the result of a command that has one (``Packed``), otherwise its completion.
        """
        row = ROWS[name]
        if not isinstance(row, Command):
            return self.call_control(name, channel, **args)
        number = self.send(name, channel, sync=True, **args)
        return self.result(number, channel) if row.result else self.completion(number, channel)

    def query(self, name: str, /, channel: int = 0, **args: Any) -> Mapping[str, Any]:
        """The fields of a command's result; raises Unmet."""
        result = self.call(name, channel, **args)
        assert isinstance(result, Packed)
        return result.fields

    def completion(
        self, number: int | None, channel: int = 0, within_s: float | None = None
    ) -> AssemblyArrived | None:
        """Wait until a command is reported as completed; raises Unmet. None if that was reported before."""
        session = self.sessions[channel]
        if _is_among(number, session):
            return None

        def done(arrival: Arrival) -> bool:
            return is_one(arrival, ("session.completed",), channel) and _is_among(number, session)

        wanted = f"completion of command {number}"
        arrival = self.wait(
            lambda a: done(a) or _ends(a, channel), self.patience_s if within_s is None else within_s
        )
        if isinstance(arrival, AssemblyArrived) and arrival.name == "session.completed":
            return arrival
        raise Unmet(wanted, arrival.describe(self.dialect), arrival)

    def result(self, number: int | None, channel: int = 0) -> Packed:
        """Wait for the result of a command; raises Unmet."""
        arrival = self.wait(
            lambda a: (
                _ends(a, channel)
                or (
                    is_one(a, ("execution.result",), channel)
                    and isinstance(a, AssemblyArrived)
                    and a["command_id"] == number
                )
            ),
            self.patience_s,
        )
        value = arrival["value"] if isinstance(arrival, AssemblyArrived) else None
        if isinstance(value, Packed):
            return value
        raise Unmet(f"a result of command {number}", arrival.describe(self.dialect), arrival)

    def pending(self, *names: str, channel: int | None = 0) -> list[AssemblyArrived]:
        """Arrivals of these kinds on the channel that no wait has returned yet."""
        found = self.stashed(lambda a: is_one(a, names, channel))
        return [a for a in found if isinstance(a, AssemblyArrived)]

    # --- proof of silence

    def barrier(self, channel: int = 0) -> None:
        """Prove that the target has processed everything sent so far on the channel; raises Unmet.

        Afterwards, ``pending`` returns the arrivals.
        """
        # Servers may deliver from another thread than the one that answers: data in flight at the first answer
        # arrives before the second one.
        for _ in range(2):
            self.call("execution.sync", channel)

    # --- reactions

    def reaction(self, channel: int = 0, *, barrier: bool = True, within_s: float | None = None) -> Reaction:
        """Watch the target's reaction to the last octets until it refuses, answers, or accepts them.

        It accepted them if it answers a later barrier on the same channel; without ``barrier`` (if the channel cannot
        carry one), if nothing arrived within the patience for endings.
        """
        patience = self.context.patience
        if not barrier:
            return self.reacted(self._watch(channel, None, within_s or patience.ending_s))
        # Most refusals arrive immediately. They are awaited without the barrier, which would be another violation on
        # a session that the target is about to end.
        seen = self._watch(channel, None, patience.quiet_s)
        if not isinstance(seen[-1], Quiet):
            return self.reacted(seen)
        number = self.send("execution.sync", channel, sync=True)
        return self.reacted(seen[:-1] + self._watch(channel, number, within_s or patience.reply_s))

    def _watch(self, channel: int, number: int | None, within_s: float) -> list[Arrival]:
        until_s, seen = self.now() + within_s, list[Arrival]()
        while self.now() < until_s:
            arrival = self.read(until_s)
            if isinstance(arrival, Quiet):
                break
            if not isinstance(arrival, AssemblyArrived):
                seen.append(arrival)
                if isinstance(arrival, Ended | Garbled):
                    return seen
            elif self._decides(arrival, channel, number, seen):
                return seen
        seen.append(Quiet(within_s))
        return seen

    def _decides(
        self, arrival: AssemblyArrived, channel: int, number: int | None, seen: list[Arrival]
    ) -> bool:
        """Whether an arrival decides the reaction; unrelated arrivals are kept for a later wait."""
        ended = arrival.refusal is not None or arrival.name in _LAST_WORDS
        here = arrival.channel == channel or arrival.name == "connection.close"
        if here and ended:
            seen.append(arrival)
            # An exception ends its session; how it ends belongs to the reaction.
            return arrival.name != "execution.exception"
        done = number is not None and _is_among(number, self.sessions[channel])
        if done and is_one(arrival, ("session.completed",), channel):
            seen.append(arrival)
            return True
        self.keep(arrival)
        return False

    # --- entities and messages

    def queue(self, channel: int = 0, **args: Any) -> str:
        """Declare a queue for the case (exclusive by default); returns its name."""
        name = args.pop("queue", None) or self.name("q")
        args.setdefault("exclusive", not args.get("durable", False))
        self.will_clean("queue", name)
        self.call("queue.declare", channel, queue=name, **args)
        return str(name)

    def exchange(self, type: str = "direct", channel: int = 0, **args: Any) -> str:
        """Declare an exchange for the case; returns its name."""
        name = args.pop("exchange", None) or self.name("x")
        self.will_clean("exchange", name)
        self.call("exchange.declare", channel, exchange=name, type=type, **args)
        return str(name)

    def publish(
        self,
        routing_key: str = "",
        body: bytes | None = b"",
        channel: int = 0,
        *,
        exchange: str | None = None,
        delivery: Mapping[str, Any] | None = None,
        message: Mapping[str, Any] | None = None,
        accept_mode: int = NONE,
        sync: bool = False,
    ) -> int | None:
        """Transfer one message, through the default exchange if only a queue's name is given. Returns the id.

        Waits while the target has stopped the destination; raises Withheld.
        """
        self.await_credit(exchange or "", channel)
        return self.send(
            "message.transfer",
            channel,
            sync=sync,
            header=entries(routing_key, delivery, message),
            body=body,
            destination=exchange,
            accept_mode=accept_mode,
            acquire_mode=PRE_ACQUIRED,
        )

    def transferring(self, routing_key: str, body: bytes, channel: int = 0) -> bytes:
        """The octets of a transfer like that of ``publish``, for sending it more than once."""
        return self.encoded(
            "message.transfer",
            channel,
            header=entries(routing_key),
            body=body,
            accept_mode=NONE,
            acquire_mode=PRE_ACQUIRED,
        )

    def subscribe(
        self,
        queue: str,
        channel: int = 0,
        *,
        destination: str | None = None,
        messages: int | None = UNLIMITED,
        octets: int | None = UNLIMITED,
        accept_mode: int = EXPLICIT,
        acquire_mode: int = PRE_ACQUIRED,
        **args: Any,
    ) -> str:
        """Subscribe to a queue and give credit (None: no credit of that unit); returns the destination."""
        name = destination or self.name("d")
        self.call(
            "message.subscribe",
            channel,
            queue=queue,
            destination=name,
            accept_mode=accept_mode,
            acquire_mode=acquire_mode,
            **args,
        )
        self.flow(name, channel, messages=messages, octets=octets)
        return name

    def flow(
        self, destination: str, channel: int = 0, *, messages: int | None = None, octets: int | None = None
    ) -> None:
        """Give credit to a subscription."""
        for unit, value in ((MESSAGES, messages), (OCTETS, octets)):
            if value is not None:
                self.send("message.flow", channel, destination=destination, unit=unit, value=value)

    def transfer(self, channel: int = 0, within_s: float | None = None) -> AssemblyArrived:
        """The next transfer; raises Unmet if none arrives."""
        return self.expect("message.transfer", channel=channel, within_s=within_s)

    def transfers(self, count: int, channel: int = 0) -> list[AssemblyArrived]:
        """The next this many transfers; raises Unmet if fewer come."""
        return [self.transfer(channel) for _ in range(count)]

    def accept(self, transfers: Iterable[AssemblyArrived], channel: int = 0) -> None:
        """Accept transfers, and complete them."""
        ids = [transfer.id for transfer in transfers if transfer.id is not None]
        self.call(
            "message.accept", channel, transfers=SerialSet.of((number, number) for number in ids).ranges
        )
        self.complete(ids, channel)

    def drain(self, queue: str, channel: int = 0) -> list[AssemblyArrived]:
        """All available messages of a queue, removed from it."""
        name = self.subscribe(queue, channel, messages=None, octets=None, accept_mode=NONE)
        self.flow(name, channel, messages=UNLIMITED, octets=UNLIMITED)
        self.call("message.flush", channel, destination=name)
        self.call("message.cancel", channel, destination=name)
        found = self.pending("message.transfer", channel=channel)
        mine = [a for a in found if a["destination"] == name]
        for other in (a for a in found if a["destination"] != name):
            self.keep(other)
        self.complete([a.id for a in mine if a.id is not None], channel)
        return mine


def entries(
    routing_key: str, delivery: Mapping[str, Any] | None = None, message: Mapping[str, Any] | None = None
) -> list[HeaderEntry | Raw]:
    """The header segment of a transfer: delivery properties with the key, and message properties if there are any."""
    properties = {**_PLAIN, "routing_key": routing_key, **(delivery or {})}
    found: list[HeaderEntry | Raw] = [Packed("message.delivery-properties", properties)]
    if message is not None:
        found.append(Packed("message.message-properties", message))
    return found


def _is_among(number: int | None, session: Session) -> bool:
    """Whether a command was reported as completed."""
    return number is not None and number in session.done


def _ends(arrival: Arrival, channel: int) -> bool:
    return is_one(arrival, ("execution.exception", *_LAST_WORDS), channel)
