"""The books of a program of AMQP/Fast: channels, handles, what they read and hold, what queues and topics hold.

Knows: the rules of windows, acknowledgements and transactions. Must not know: how a step is sent.

A topic is a stock for each subscription, which goes with its handle.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from amqpspec.fuzz.sequences.step import Violation
from amqpspec.fuzz.sequences.stock import Copy, Stock, Words, in_order
from amqpspec.peer.amqp_fast_0_8.arrivals import MessageArrived


@dataclass(eq=False, slots=True)
class Reader:
    """What a handle reads; ``topic`` is empty for a queue. ``last`` is the place of the last fresh message."""

    stock: Stock
    prefetch: int
    no_ack: bool = False
    exclusive: bool = False
    topic: str = ""
    no_local: bool = False
    last: int = 0


@dataclass(eq=False, slots=True)
class Handle:
    """A handle of a channel; ``id`` is its number on the connection."""

    name: str
    channel: Channel
    id: int
    reader: Reader | None = None
    paused: bool = False


@dataclass(eq=False, slots=True)
class Held:
    """A delivery without a final outcome; ``acked`` in a transaction that is not over."""

    copy: Copy
    handle: Handle
    acked: bool = False


@dataclass(eq=False, slots=True)
class Channel:
    """A channel; ``peer`` is the number of its connection. ``sent`` is what a transaction holds back, and where to."""

    name: str
    peer: int
    id: int
    transacted: bool = False
    last: int = 0
    held: dict[int, Held] = field(default_factory=dict)
    sent: list[tuple[int, str]] = field(default_factory=list)

    def room(self, handle: Handle, *, at_least: bool = False) -> bool:
        """Whether a handle can be sent one more message; ``at_least``: also where an ACK counts at COMMIT only."""
        reader = handle.reader
        if reader is None or reader.no_ack:
            return reader is not None
        used = sum(h.handle is handle and (at_least or not h.acked) for h in self.held.values())
        return used < reader.prefetch


class Books(Words):
    """All queues, channels and handles of a program, by the program's words."""

    def __init__(self) -> None:
        super().__init__()
        self.stocks: dict[str, Stock] = {}
        self.owners: dict[str, int] = {}
        """Temporary queues, and the connection with which each goes."""
        self.fading: set[str] = set()
        """Queues whose exclusive reader may still be there for a moment."""
        self.channels: dict[str, Channel] = {}
        self.handles: dict[str, Handle] = {}

    # --- looking

    def handles_of(self, *channels: Channel) -> list[Handle]:
        """The open handles of channels."""
        return [handle for handle in self.handles.values() if handle.channel in channels]

    def channels_of(self, peer: int) -> list[Channel]:
        """The open channels of a connection."""
        return [channel for channel in self.channels.values() if channel.peer == peer]

    def readers_of(self, stock: Stock) -> list[Handle]:
        """The handles that read a queue."""
        return [h for h in self.handles.values() if h.reader is not None and h.reader.stock is stock]

    def owed(self) -> list[tuple[Copy, Handle]]:
        """Copies that have to be delivered, each with a handle that has room for it."""
        return [
            (copy, handle)
            for handle in self.handles.values()
            if handle.reader and not handle.paused and handle.channel.room(handle, at_least=True)
            for copy in handle.reader.stock.certain
            if handle.name not in copy.refused_by
        ]

    def held_in(self, stock: Stock) -> list[Held]:
        """What channels hold of a queue."""
        return [held for c in self.channels.values() for held in c.held.values() if held.copy.stock is stock]

    # --- messages in

    def put(self, number: int, place: str, peer: int) -> list[Copy]:
        """A message is sent to a queue or a topic; gives its copies."""
        if place in self.stocks:
            return [self.stocks[place].put(number)]
        return [self._put_topic(number, handle) for handle in self._subscribers(place, peer)]

    def _subscribers(self, topic: str, peer: int) -> list[Handle]:
        return [
            handle
            for handle in self.handles.values()
            if handle.reader is not None
            and handle.reader.topic == topic
            and not (handle.reader.no_local and handle.channel.peer == peer)
        ]

    def _put_topic(self, number: int, handle: Handle) -> Copy:
        assert handle.reader is not None
        copy = handle.reader.stock.put(number)
        # Whether a topic keeps what its subscriber cannot be sent yet is left open.
        copy.unsure = handle.paused or not handle.channel.room(handle, at_least=True)
        return copy

    # --- messages out

    def delivered(self, handle: Handle, message: MessageArrived) -> None:
        """A message has arrived for a handle; raises Violation."""
        reader, channel = handle.reader, handle.channel
        if reader is None or not message.delivered:
            raise Violation("message for no reader", "messages for readers only", repr(message.body[:40]))
        copy = reader.stock.take(message.body, self._holder(reader.stock, message.body))
        self._fits(handle, reader, copy)
        _is_marked(copy, redelivered=message.redelivered)
        if message.number <= channel.last:
            raise Violation("message number not new", f"a number above {channel.last}", str(message.number))
        channel.last = message.number
        if len(self.readers_of(reader.stock)) == 1:
            reader.last = in_order(reader.last, copy)
        if reader.no_ack:
            reader.stock.drop(copy, "delivered without acknowledgement")
        else:
            channel.held[message.number] = Held(copy, handle)

    def _fits(self, handle: Handle, reader: Reader, copy: Copy) -> None:
        if handle.paused:
            raise Violation("delivered while paused", "no message for a paused handle", f"m{copy.number}")
        if not handle.channel.room(handle):
            expected = f"at most {reader.prefetch} messages without an ACK"
            raise Violation("delivered beyond prefetch", expected, f"m{copy.number} besides these")

    def _holder(self, stock: Stock, body: bytes) -> str:
        held = any(one.copy.body == body for one in self.held_in(stock))
        return "unacknowledged on a channel" if held else ""

    # --- outcomes

    def ack(self, channel: Channel, number: int) -> None:
        """All deliveries up to a number are acknowledged, at once or with the transaction."""
        for tag in [tag for tag in channel.held if tag <= number]:
            if channel.transacted:
                channel.held[tag].acked = True
            else:
                _settled(channel.held.pop(tag), "acknowledged")

    def unget(self, channel: Channel, number: int) -> None:
        """A message goes back for others; the handle that had it need not be sent it again."""
        held = channel.held.pop(number)
        held.copy.refused_by.add(held.handle.name)
        held.copy.stock.give_back(held.copy, marked=True)

    def committed(self, channel: Channel) -> list[Copy]:
        """A transaction takes effect: all that was received is settled, too; gives the copies that it sends."""
        for held in channel.held.values():
            _settled(held, "committed")
        sent, channel.held, channel.sent = channel.sent, {}, []
        return [copy for number, place in sent for copy in self.put(number, place, channel.peer)]

    def rolled_back(self, channel: Channel, lossy: Collection[Stock] = (), *, unsure: bool = False) -> None:
        """Nothing of a transaction happens; what was received goes back, acknowledged or not."""
        for held in channel.held.values():
            stock = held.copy.stock
            stock.give_back(held.copy, unsure=unsure or stock in lossy, marked=True)
        channel.held, channel.sent = {}, []

    # --- ends

    def end_handle(self, handle: Handle) -> None:
        """A handle is closed. Whether its channel still holds what it received, or gives it back, is left open."""
        self._forget(handle)
        for number in [n for n, held in handle.channel.held.items() if held.handle is handle]:
            held = handle.channel.held.pop(number)
            held.copy.stock.give_back(held.copy, unsure=True, marked=True)

    def _forget(self, handle: Handle) -> None:
        self.handles.pop(handle.name, None)
        handle.reader = None

    def end_channels(self, channels: Iterable[Channel]) -> None:
        """Channels are closed: their transactions are rolled back, and what they hold goes back.

        What goes back may be sent to a reader of a channel that closes with it, which may acknowledge nothing.
        """
        ending = list(channels)
        lossy = [h.reader.stock for h in self.handles_of(*ending) if h.reader and h.reader.no_ack]
        for channel in ending:
            self.channels.pop(channel.name, None)
            for handle in self.handles_of(channel):
                self._forget(handle)
            self.rolled_back(channel, lossy)

    def end_peer(self, peer: int, *, suddenly: bool) -> list[Stock]:
        """A connection is gone; gives its temporary queues, which are gone as well."""
        channels = self.channels_of(peer)
        if suddenly:
            readers = [handle.reader for handle in self.handles_of(*channels) if handle.reader]
            self.fading |= {reader.stock.name for reader in readers if reader.exclusive}
            for copy in [copy for reader in readers for copy in reader.stock.ready]:
                copy.fresh = False  # it may have been on its way
        self.end_channels(channels)
        own = [name for name, owner in self.owners.items() if owner == peer]
        for name in own:
            del self.owners[name]
        return [self.stocks.pop(name) for name in own]


def _settled(held: Held, how: str) -> None:
    held.copy.stock.drop(held.copy, how)


def _is_marked(copy: Copy, *, redelivered: bool) -> None:
    if copy.marked and not redelivered:
        raise Violation("redelivered is 0", f"m{copy.number} marked as redelivered", "redelivered 0")
    if copy.fresh and redelivered:
        raise Violation(
            "redelivered is 1", f"m{copy.number} not marked, which is delivered first", "redelivered 1"
        )
