"""The peer that a case of AMQP/Fast uses: queues, messages, browsing, restartable messages, closing.

Knows: the conversation from the client's side. Must not know: sockets, files, how verdicts are reported.

A missing answer raises ``Unmet``: before ``claim`` it blocks the case, after ``claim`` it is a failure.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from amqpspec.peer.amqp_fast_0_8.arrivals import CommandArrived, MessageArrived
from amqpspec.peer.amqp_fast_0_8.watching import Watching
from amqpspec.peer.context import Unmet
from amqpspec.peer.events import Arrival
from amqpspec.wire.amqp_fast_0_8.message import cut, encode_message

QUEUE, TOPIC, ANY = 1, 2, 3
_MAKER = 0xD000
"""Handles from this number on are used to create queues."""


class Peer(Watching):
    """One connection with the methods for cases. ``another`` returns an additional, independent one."""

    _maker = _MAKER

    # --- queues

    def queue(self, channel: int = 1) -> str:
        """Create a temporary queue without a reader; returns its generated name.

        Raises Unmet. The queue is deleted with this connection.
        """
        handle = self._made()
        self.open_handle(handle, channel)
        self.call("handle.consume", handle_id=handle, service_type=QUEUE, prefetch=1, dynamic=True)
        name = str(self.expect("handle.created", handle=handle)["dest_name"])
        self.close_handle(handle)
        return name

    def named_queue(self, hint: str = "q", channel: int = 1) -> str:
        """Create a queue with a unique name and without a reader; it outlives this connection. Raises Unmet."""
        name, handle = self.will_clean("queue", self.name(hint)), self._made()
        self.open_handle(handle, channel)
        self.call(
            "handle.consume", handle_id=handle, service_type=QUEUE, prefetch=1, dynamic=True, dest_name=name
        )
        self.close_handle(handle)
        return name

    def _made(self) -> int:
        self._maker += 1
        return self._maker

    def consume(self, name: str, handle: int = 1, **fields: Any) -> CommandArrived:
        """Read a queue, or another service, on a handle; returns the REPLY. Raises Unmet."""
        usual = {"service_type": QUEUE, "prefetch": 100, "dest_name": name}
        return self.call("handle.consume", handle_id=handle, **{**usual, **fields})

    def reader(self, name: str, handle: int = 1, channel: int = 1, **fields: Any) -> None:
        """Open a handle, and read a queue, or another service, on it. Raises Unmet."""
        self.open_handle(handle, channel)
        self.consume(name, handle, **fields)

    def close_handle(self, handle: int = 1) -> CommandArrived:
        """Close a handle; returns the answer. Raises Unmet."""
        self.send("handle.close", handle_id=handle)
        return self.expect("handle.close", handle=handle)

    def close_channel(self, channel: int = 1) -> CommandArrived:
        """Close a channel; returns the answer. Raises Unmet."""
        self.send("channel.close", channel_id=channel)
        return self.expect("channel.close", channel=channel)

    # --- messages to the target

    def fragments(
        self,
        name: str,
        message: bytes,
        handle: int = 1,
        *,
        chunk: int | None = None,
        confirm_tag: int = 0,
        **fields: Any,
    ) -> list[bytes]:
        """The SENDs of a message, with head and body, as octets: in fragments that the target accepts, or of
        ``chunk`` octets.
        """
        usual = {"service_type": QUEUE, "dest_name": name, "handle_id": handle, "confirm_tag": confirm_tag}
        pieces = cut(message, chunk or self.frame_max_octets)
        return [
            self.octets("handle.send", fragment=piece, **{"partial": partial, **usual, **fields})
            for piece, partial in pieces
        ]

    def publish(
        self,
        name: str,
        body: bytes = b"",
        handle: int = 1,
        *,
        service: int = QUEUE,
        chunk: int | None = None,
        **head: Any,
    ) -> None:
        """Send a message without waiting; other arguments are fields of its head."""
        message = encode_message(body, **head)
        self.send_octets(b"".join(self.fragments(name, message, handle, chunk=chunk, service_type=service)))

    def store(
        self, name: str, body: bytes = b"", handle: int = 1, *, service: int = QUEUE, **head: Any
    ) -> CommandArrived:
        """Send a message and wait for its confirmation; raises Unmet."""
        tag = self.fresh_tag()
        message = encode_message(body, **head)
        pieces = self.fragments(name, message, handle, confirm_tag=tag, service_type=service)
        self.send_octets(b"".join(pieces))
        return self.confirmation(tag, handle)

    def publish_all(self, name: str, bodies: list[bytes], handle: int = 1, *, service: int = QUEUE) -> None:
        """Send several messages; the last one is confirmed. Raises Unmet."""
        for body in bodies[:-1]:
            self.publish(name, body, handle, service=service)
        self.store(name, bodies[-1], handle, service=service)

    # --- messages from the target

    def delivery(self, handle: int = 1, within_s: float | None = None) -> MessageArrived:
        """The next complete message for a handle; raises Unmet if none arrives."""
        places = self._places(handle, 0)

        def wanted(arrival: Arrival) -> bool:
            if isinstance(arrival, MessageArrived):
                return arrival.handle == handle
            return (
                isinstance(arrival, CommandArrived)
                and arrival.refusal is not None
                and any(arrival.get(key) == id for key, id in places.items())
            )

        arrival = self.wait(wanted, self.patience_s if within_s is None else within_s)
        if isinstance(arrival, MessageArrived):
            return arrival
        raise Unmet(f"a message for handle {handle}", arrival.describe(self.dialect), arrival)

    def deliveries(self, count: int, handle: int = 1) -> list[MessageArrived]:
        """The next messages, this many; raises Unmet if fewer arrive."""
        return [self.delivery(handle) for _ in range(count)]

    def bodies(self, count: int, handle: int = 1) -> list[bytes]:
        """The bodies of the next messages, this many."""
        return [message.body for message in self.deliveries(count, handle)]

    def received(self, handle: int = 1) -> list[MessageArrived]:
        """Messages for a handle that no wait has returned yet; does not wait."""
        return self.messages((handle,))

    def messages(self, handles: Iterable[int]) -> list[MessageArrived]:
        """What messages have arrived for handles and were not taken, in their order; does not wait."""
        wanted = {*handles}
        found = self.stashed(lambda a: isinstance(a, MessageArrived) and a.handle in wanted)
        return [a for a in found if isinstance(a, MessageArrived)]

    def left_in(self, name: str, channel: int = 1) -> list[bytes]:
        """The waiting messages of a queue, read on a separate handle without acknowledgement; raises Unmet.

        A later marker shows the end: all waiting messages have arrived before it.
        """
        handle, marker = self._made(), self.name("marker").encode()
        self.reader(name, handle, channel, no_ack=True)
        self.publish(name, marker, handle)
        found: list[bytes] = []
        while (body := self.delivery(handle).body) != marker:
            found.append(body)
        self.close_handle(handle)
        return found

    def ack(self, number: int, channel: int = 1) -> CommandArrived:
        """Acknowledge up to a message, and wait for the confirmation; raises Unmet."""
        return self.call("channel.ack", channel_id=channel, message_nbr=number)

    # --- browsing

    def index(self, name: str, least: int = 0, handle: int = 1) -> CommandArrived:
        """Query the waiting messages of a queue; returns INDEX. Raises Unmet."""
        self.send("handle.query", handle_id=handle, message_nbr=least, dest_name=name)
        return self.expect("handle.index", handle=handle)

    def numbers(self, name: str, handle: int = 1) -> list[int]:
        """The numbers of all waiting messages of a queue, in as many INDEXes as necessary; raises Unmet."""
        found: list[int] = []
        while True:
            index = self.index(name, found[-1] + 1 if found else 0, handle)
            more = listed(index["message_list"])
            found += more
            if not index["message_nbr"] or not more:
                return found

    def browse(self, number: int, handle: int = 1) -> MessageArrived:
        """Browse one message; raises Unmet."""
        self.send("handle.browse", handle_id=handle, message_nbr=number, confirm_tag=self.fresh_tag())
        return self.delivery(handle)

    # --- the end

    def close(self) -> Arrival:
        """Close the connection according to the text; returns the answer, or another arrival."""
        self.send("connection.close")
        return self.wait(self.closes, self.patience_s)

    def leave(self, within_s: float) -> None:
        """Close the connection cleanly; called after the verdict."""
        if self.dialled and not self.is_over() and self.is_open:
            self.send("connection.close")
            self.wait(self.closes, within_s)


def listed(octets: bytes) -> list[int]:
    """The numbers of a message list, with expanded ranges; raises Unmet for an invalid list."""
    found: list[int] = []
    for item in octets.decode("ascii", "replace").split():
        low, hyphen, high = item.partition("-")
        if not low.isdecimal() or (hyphen and not high.isdecimal()) or len(item) > 21:
            raise Unmet("numbers and ranges, separated by spaces", repr(octets[:60]))
        ends = int(low), int(high or low)
        if ends[1] - ends[0] > 1_000_000:
            raise Unmet("a list of at most a million numbers", item)
        found += range(ends[0], ends[1] + 1)
    return sorted(found)  # no text gives an order (handle.index)
