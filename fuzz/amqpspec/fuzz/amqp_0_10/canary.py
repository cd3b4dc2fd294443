"""The canaries of AMQP 0-10: a queue that stores a message, and queues that are subscribed to.

Knows: sessions, queues, its own transfers. Must not know: inputs, processes, what a complaint leads to.

All queues are exclusive; two of them are subscribed to, each in a session on a separate channel. On one more channel
nothing is ever asked.
"""

from __future__ import annotations

from typing import Any

from amqpspec.fuzz.executor.clock import now_s
from amqpspec.fuzz.executor.heard import Heard
from amqpspec.fuzz.oracles.part import HeldBack
from amqpspec.fuzz.oracles.queues import DELIVERY_S, QueueCanary, QueueClient, consuming
from amqpspec.wire.amqp_0_10.frames import encode_assembly
from amqpspec.wire.amqp_0_10.values import Packed

_STORE, _FIRST, _SECOND, _QUIET = 1, 2, 3, 4
"""Channels: that of the queue that stores, two that are subscribed to, one that receives nothing."""
_UNLIMITED, _NONE = (1 << 32) - 1, 1
_STORED = "stored"
_STOP = "message.stop"
_CREDIT = (_STOP, "message.flow")
"""A producer that was stopped has no credit until it is given some."""


class AssemblyClient(QueueClient):
    """A client with controls, commands and messages."""

    _is_stopped = False

    def next(self, until_s: float) -> Heard | None:
        """Return the next thing that the target says, or None at ``until_s``."""
        said = super().next(until_s)
        if said is not None and said.name in _CREDIT:
            self._is_stopped = said.name == _STOP
        return said

    def say(self, name: str, /, channel: int = _STORE, **args: Any) -> None:
        """One control or command."""
        self.send(encode_assembly(name, channel, **args))

    def call(self, name: str, /, channel: int = _STORE, **args: Any) -> None:
        """One command, up to its completion. Raises Unanswered."""
        self.say(name, channel, sync=True, **args)
        self.completed(channel)

    def completed(self, channel: int) -> None:
        """Wait until something on a channel is reported as completed. Raises Unanswered."""
        while (said := self.wait("session.completed")).channel != channel:
            self.passed.append(said)

    def attach(self, channel: int, name: bytes) -> None:
        """A session, and its command-point. Raises Unanswered."""
        self.say("session.attach", channel, name=name)
        self.wait("session.attached")
        self.say("session.command-point", channel, command_id=0, command_offset=0)

    def subscribe(self, queue: str, destination: str, channel: int, messages: int) -> None:
        """Be sent this many messages of a queue. Raises Unanswered."""
        self.say(
            "message.subscribe",
            channel,
            queue=queue,
            destination=destination,
            accept_mode=_NONE,
            acquire_mode=0,
        )
        self.say("message.flow", channel, destination=destination, unit=1, value=_UNLIMITED)
        self.call("message.flow", channel, destination=destination, unit=0, value=messages)

    def publish(self, queue: str, body: bytes, channel: int = _STORE) -> None:
        """A message straight to a queue. Raises HeldBack if the target has stopped it (message.stop)."""
        while not self._is_stopped and (said := self.next(now_s())) is not None:
            self.passed.append(said)
        if self._is_stopped:
            raise HeldBack(f"the target took back its credit ({_STOP})")
        properties = Packed(
            "message.delivery-properties", {"priority": 4, "delivery_mode": 1, "routing_key": queue}
        )
        args = {"destination": "", "accept_mode": _NONE, "acquire_mode": 0}
        self.say("message.transfer", channel, header=[properties], body=body, **args)


class AssemblyCanary(QueueCanary[AssemblyClient]):
    """Exclusive queues; two of them are subscribed to."""

    client_class = AssemblyClient

    def settle(self) -> None:
        """Attach the sessions, if the target allows this many, and declare the queues."""
        client, number = self.client, self.number
        self.store = f"amqpspec.canary.{number}.s"
        client.enter("session")
        for channel in range(_FIRST, min(_QUIET, client.values.channel_max) + 1):
            client.attach(channel, f"amqpspec-canary-{number}-{channel}".encode())
            if self.listens and channel < _QUIET:
                self.inboxes[channel] = f"amqpspec.canary.{number}.i{channel}"
        for channel, queue in ((_STORE, self.store), *self.inboxes.items()):
            client.call("queue.declare", channel, queue=queue, exclusive=True, auto_delete=True)
        with consuming():
            client.subscribe(self.store, _STORED, _STORE, 0)
            for channel, queue in self.inboxes.items():
                client.subscribe(queue, "inbox", channel, _UNLIMITED)

    def fetched(self) -> bytes | None:
        """Credit for one message of the store; None if none arrives. Raises Unanswered."""
        client = self.client
        client.say("message.flow", _STORE, destination=_STORED, unit=0, value=1)
        until_s = now_s() + DELIVERY_S
        while (said := client.next(until_s)) is not None:
            if said.name == "message.transfer" and said.channel == _STORE:
                return said.payload
            client.passed.append(said)
        return None

    def counts(self, said: Heard) -> bool:
        """Whether something is a transfer, or on a channel that asked nothing."""
        return said.name == "message.transfer" or said.channel not in (0, _STORE, *self.inboxes)
