"""The canaries of AMQP/Fast: a temporary queue that stores a message, and another one that is read all the time.

Knows: handles, temporary queues, its own deliveries. Must not know: inputs, processes, what a complaint leads to.

Both queues go with the connection. On one more channel nothing is ever asked.
"""

from __future__ import annotations

from typing import Any

from amqpspec.fuzz.executor.clock import now_s
from amqpspec.fuzz.executor.heard import Heard
from amqpspec.fuzz.oracles.queues import DELIVERY_S, QueueCanary, QueueClient, consuming
from amqpspec.wire.amqp_fast_0_8.frames import command_frame
from amqpspec.wire.amqp_fast_0_8.message import encode_message

_QUEUE, _TAG = 1, 0x0203
_SENDER, _STORE, _INBOX, _QUIET = 1, 2, 3, 4
"""Handles, each on the channel of its number; the last one receives nothing."""


class CommandClient(QueueClient):
    """A client with commands and messages."""

    def say(self, name: str, /, **fields: Any) -> None:
        """One command."""
        self.send(command_frame(name, **fields))

    def call(self, name: str, /, **fields: Any) -> Heard:
        """One command, and its confirmation. Raises Unanswered."""
        self.say(name, confirm_tag=_TAG, **fields)
        return self.wait(f"{name.partition('.')[0]}.reply")

    def open(self, number: int) -> None:
        """A channel, and a handle with every right on it."""
        self.call("channel.open", channel_id=number)
        self.open_handle(number)

    def open_handle(self, number: int) -> None:
        """A handle with every right on the channel of its number."""
        rights = {"producer": True, "consumer": True, "browser": True}
        self.call("handle.open", channel_id=number, handle_id=number, **rights)

    def made_queue(self, handle: int) -> str:
        """Make a temporary queue that the handle reads; returns its name."""
        self.say(
            "handle.consume", handle_id=handle, confirm_tag=_TAG, service_type=_QUEUE, prefetch=1, dynamic=True,
            no_ack=True,
        )  # fmt: skip
        created = self.wait("handle.created")
        self.wait("handle.reply")
        return created.payload.decode()

    def close_handle(self, handle: int) -> None:
        """Close a handle. Raises Unanswered."""
        self.say("handle.close", handle_id=handle, reply_code=200)
        self.wait("handle.close")

    def publish(self, queue: str, body: bytes, channel: int = _SENDER) -> None:
        """A message to a queue, always on the handle that sends."""
        fields = {"handle_id": _SENDER, "service_type": _QUEUE, "dest_name": queue}
        self.say("handle.send", fragment=encode_message(body), **fields)


class CommandCanary(QueueCanary[CommandClient]):
    """Temporary queues; one of them is read all the time."""

    client_class = CommandClient

    def settle(self) -> None:
        """Open channels and handles, and make the queues."""
        client = self.client
        client.enter("handle")
        for number in (_STORE, _INBOX, _QUIET):
            client.open(number)
        with consuming():
            self.store = client.made_queue(_STORE)
            client.close_handle(_STORE)
            if self.listens:
                self.inboxes = {_INBOX: client.made_queue(_INBOX)}

    def fetched(self) -> bytes | None:
        """Read the store for a moment; None if nothing arrives. Raises Unanswered."""
        client = self.client
        client.open_handle(_STORE)
        client.call(
            "handle.consume",
            handle_id=_STORE,
            service_type=_QUEUE,
            prefetch=1,
            no_ack=True,
            dest_name=self.store,
        )
        until_s, found = now_s() + DELIVERY_S, self._passed(_STORE)
        while not found and (said := client.next(until_s)) is not None:
            if said.name == "handle.notify" and said.channel == _STORE:
                found = [said.payload]
            else:
                client.passed.append(said)
        client.close_handle(_STORE)
        return found[0] if found else None

    def _passed(self, handle: int) -> list[bytes]:
        """Bodies for a handle that came while something else was waited for."""
        found = [s for s in self.client.passed if s.name == "handle.notify" and s.channel == handle]
        self.client.passed[:] = [s for s in self.client.passed if s not in found]
        return [said.payload for said in found]

    def counts(self, said: Heard) -> bool:
        """Whether something is a message, or on the channel that asked nothing."""
        return said.name == "handle.notify" or said.channel == _QUIET
