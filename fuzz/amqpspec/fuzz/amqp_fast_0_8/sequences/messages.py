"""Verbs of messages in AMQP/Fast: sent, read, browsed, acknowledged, given back, held back by a transaction; races.

Knows: desks and books. Must not know: how outcomes are observed.
"""

from __future__ import annotations

from collections.abc import Iterable

from amqpspec.fuzz.amqp_fast_0_8.sequences.books import Channel, Handle, Reader
from amqpspec.fuzz.amqp_fast_0_8.sequences.desk import CommandDesk as Desk
from amqpspec.fuzz.amqp_fast_0_8.sequences.entities import (
    SHARED,
    TOPICS,
    close_channel,
    idle,
    on_channel,
    on_handle,
)
from amqpspec.fuzz.sequences.desk import sure
from amqpspec.fuzz.sequences.step import Violation
from amqpspec.fuzz.sequences.stock import Copy, Stock
from amqpspec.fuzz.sequences.world import Args, Table, Verb
from amqpspec.peer.amqp_fast_0_8.peer import QUEUE, TOPIC, Peer

_COUNTS, _PREFETCHES, _BURST, _MOST = (1, 3), (1, 2, 100), 3, 20

# --- sending


def _sendable(desk: Desk) -> Iterable[Args]:
    for count in _COUNTS:
        for handle in desk.books.handles.values():
            full = len(handle.channel.sent) + count > _MOST
            yield from ((handle.name, place, count) for place in ([] if full else _places(desk, handle)))


def _places(desk: Desk, handle: Handle) -> list[str]:
    """Queues and topics; a temporary queue may be gone before a transaction is over."""
    temporary = [] if handle.channel.transacted else list(desk.books.owners)
    return [*SHARED, *temporary, *TOPICS]


def _send(desk: Desk, handle: Handle, place: str, count: int) -> None:
    """Messages of which the last is confirmed: then all are there, or in the transaction."""
    sure("send not confirmed", lambda: _sent(desk, handle, place, count))
    desk.collect()


def _sent(desk: Desk, handle: Handle, place: str, count: int) -> list[Copy]:
    bodies, copies = list[bytes](), list[Copy]()
    address, service = _address(desk, place)
    for _ in range(count):
        number = desk.books.number()
        bodies.append(b"m%d" % number)
        if handle.channel.transacted:
            handle.channel.sent.append((number, place))
        else:
            copies += desk.books.put(number, place, handle.channel.peer)
    desk.peer(handle.channel).publish_all(address, bodies, handle.id, service=service)
    return copies


def _address(desk: Desk, place: str) -> tuple[str, int]:
    if place in SHARED:
        desk.stock(place)
    return desk.address(place), TOPIC if place in TOPICS else QUEUE


# --- reading


def _readable(desk: Desk) -> Iterable[Args]:
    for prefetch in _PREFETCHES:
        for name, handle in desk.books.handles.items() if prefetch else ():
            if handle.reader is None:
                yield from ((name, place, prefetch, no_ack) for no_ack in (0, 1) for place in _open(desk))


def _open(desk: Desk) -> list[str]:
    """Queues that no one reads exclusively; temporary ones are read where they are made."""
    guarded = {h.reader.stock.name for h in desk.books.handles.values() if h.reader and h.reader.exclusive}
    return [name for name in SHARED if name not in guarded | desk.books.fading]


def _read(desk: Desk, handle: Handle, place: str, prefetch: int, no_ack: int) -> None:
    _start(desk, handle, Reader(desk.stock(place), prefetch, bool(no_ack)))


def _unread(desk: Desk) -> Iterable[Args]:
    stocks = desk.books.stocks
    free = [p for p in _open(desk) if p not in stocks or not desk.books.readers_of(stocks[p])]
    return [(*handle, place) for handle in idle(desk) for place in free]


def _read_alone(desk: Desk, handle: Handle, place: str) -> None:
    _start(desk, handle, Reader(desk.stock(place), 2, exclusive=True))


def _start(desk: Desk, handle: Handle, reader: Reader) -> None:
    # Paused, it may be so from the beginning of what it reads.
    handle.reader = reader
    desk.call(
        handle, "handle.consume", service_type=QUEUE, dest_name=reader.stock.address, prefetch=reader.prefetch,
        no_ack=reader.no_ack, exclusive=reader.exclusive,
    )  # fmt: skip


def _read_temporary(desk: Desk, handle: Handle) -> None:
    """The target makes a queue and names it; it goes with the connection."""
    word = desk.books.name("x")
    peer = desk.peer(handle.channel)
    desk.call(handle, "handle.consume", service_type=QUEUE, prefetch=2, dynamic=True)
    created = sure("temporary queue without a name", lambda: peer.expect("handle.created", handle=handle.id))
    stock = desk.books.stocks[word] = Stock(word, str(created["dest_name"]))
    desk.books.owners[word] = handle.channel.peer
    handle.reader = Reader(stock, 2)


def _subscribable(desk: Desk) -> Iterable[Args]:
    return [(*handle, topic, no_local) for no_local in (0, 1) for handle in idle(desk) for topic in TOPICS]


def _subscribe(desk: Desk, handle: Handle, topic: str, no_local: int) -> None:
    word = desk.books.name("y")
    desk.call(
        handle, "handle.consume", service_type=TOPIC, dest_name=desk.address(topic), prefetch=100,
        no_local=bool(no_local),
    )  # fmt: skip
    handle.reader = Reader(Stock(word, ""), 100, topic=topic, no_local=bool(no_local))


def _flowing(desk: Desk) -> Iterable[Args]:
    return [(name,) for name, handle in desk.books.handles.items() if handle.reader and not handle.paused]


def _pause(desk: Desk, handle: Handle) -> None:
    """What arrived before the confirmation was on its way; nothing does after it."""
    desk.call(handle, "handle.flow", flow_pause=True)
    handle.paused = True


def _paused(desk: Desk) -> Iterable[Args]:
    return [(name,) for name, handle in desk.books.handles.items() if handle.paused]


def _resume(desk: Desk, handle: Handle) -> None:
    handle.paused = False
    desk.call(handle, "handle.flow", flow_pause=False)


def _browsable(desk: Desk) -> Iterable[Args]:
    """Queues that no one reads: what they show cannot be gone before it is asked for."""
    stocks = [stock for stock in desk.books.stocks.values() if not desk.books.readers_of(stock)]
    return [(*handle, stock.name) for handle in idle(desk) for stock in stocks if stock.certain]


def _browse(desk: Desk, handle: Handle, place: str) -> None:
    """The first message is shown, is not delivered, and stays."""
    stock = desk.books.stocks[place]
    peer = desk.peer(handle.channel)
    shown = sure("message not shown", lambda: peer.browse(_first(peer, handle, stock), handle.id))
    if shown.delivered:
        raise Violation("browsed message is delivered", "delivered 0", "delivered 1")
    stock.left(shown.body)


def _first(peer: Peer, handle: Handle, stock: Stock) -> int:
    return next(iter(peer.numbers(stock.address, handle.id)), 0)


# --- outcomes


def _acknowledgeable(desk: Desk) -> Iterable[Args]:
    channels = desk.books.channels.values()
    return [(c.name, number) for c in channels for number, held in c.held.items() if not held.acked]


def _ack(desk: Desk, channel: Channel, number: int) -> None:
    desk.books.ack(channel, number)
    desk.ask(channel, "channel.ack", message_nbr=number)


def _returnable(desk: Desk) -> Iterable[Args]:
    """For queues only, and not what is acknowledged (handle.unget)."""
    for channel in desk.books.channels.values():
        for number, held in channel.held.items():
            reader = held.handle.reader
            if not held.acked and reader is not None and not reader.topic:
                yield channel.name, number


def _unget(desk: Desk, channel: Channel, number: int) -> None:
    handle = channel.held[number].handle
    desk.books.unget(channel, number)
    desk.call(handle, "handle.unget", message_nbr=number)


# --- transactions


def _transacted(desk: Desk) -> Iterable[Args]:
    """Where nothing uncertain can arrive beside the end of the transaction."""
    for channel in desk.books.channels.values():
        readers = [h.reader for h in desk.books.handles_of(channel) if h.reader]
        if channel.transacted and not any(c.unsure for r in readers for c in r.stock.ready):
            yield (channel.name,)


def _commit(desk: Desk, channel: Channel) -> None:
    desk.quiet(channel)
    desk.books.committed(channel)
    desk.ask(channel, "channel.commit")


def _rollback(desk: Desk, channel: Channel) -> None:
    desk.quiet(channel)
    desk.books.rolled_back(channel)
    desk.ask(channel, "channel.rollback")


# --- races


def _outside(desk: Desk) -> Iterable[Args]:
    return [(h.name, q) for h in desk.books.handles.values() if not h.channel.transacted for q in SHARED]


def _burst(desk: Desk, handle: Handle, place: str) -> list[Copy]:
    """Messages that are not confirmed."""
    address, service = _address(desk, place)
    copies = list[Copy]()
    for _ in range(_BURST):
        number = desk.books.number()
        copies += desk.books.put(number, place, handle.channel.peer)
        desk.peer(handle.channel).publish(address, b"m%d" % number, handle.id, service=service)
    return copies


def _send_reset(desk: Desk, handle: Handle, place: str) -> None:
    """Messages are sent, and the connection reset at once: some of them arrive, or none."""
    copies = _burst(desk, handle, place)
    desk.books.stocks[place].unsettle(copies)
    desk.reset(handle.channel.peer)


def _holding(desk: Desk) -> Iterable[Args]:
    return [(c.name,) for c in desk.books.channels.values() if c.held and not c.transacted]


def _ack_reset(desk: Desk, channel: Channel) -> None:
    """All is acknowledged, and the connection reset at once: each message is gone or goes back."""
    desk.peer(channel).send("channel.ack", channel_id=channel.id, message_nbr=max(channel.held))
    desk.books.rolled_back(channel, unsure=True)
    desk.reset(channel.peer)


def _commit_reset(desk: Desk, channel: Channel) -> None:
    """A transaction is committed, and the connection reset at once: all of it happens, or nothing."""
    desk.peer(channel).send("channel.commit", channel_id=channel.id)
    sent = channel.sent
    desk.books.rolled_back(channel, unsure=True)
    for number, place in sent:
        for copy in desk.books.put(number, place, channel.peer):
            copy.stock.unsettle([copy])
    desk.reset(channel.peer)


def _fed(desk: Desk) -> Iterable[Args]:
    """A handle that reads a queue, and one of another connection that can send to it."""
    for handle in desk.books.handles.values():
        for source in desk.books.handles.values():
            is_free = source.channel.peer != handle.channel.peer and not source.channel.transacted
            if handle.reader and handle.reader.stock.name in SHARED and is_free:
                yield handle.name, source.name


def _close_beside(desk: Desk, handle: Handle, source: str) -> None:
    """Messages arrive while the channel of a reader is closed."""
    sender = desk.books.handles[source]
    assert handle.reader is not None
    stock = handle.reader.stock
    lossy = _is_lossy(desk, handle.channel, stock)
    for copy in _burst(desk, sender, stock.name):
        copy.fresh, copy.unsure = False, lossy
    close_channel(desk, handle.channel)
    desk.quiet(sender.channel)


def _is_lossy(desk: Desk, channel: Channel, stock: Stock) -> bool:
    """Whether a reader that acknowledges nothing may have been sent messages that it did not see."""
    readers = [h.reader for h in desk.books.handles_of(channel) if h.reader]
    return any(reader.no_ack and reader.stock is stock for reader in readers)


VERBS: Table[Desk] = {
    "send": Verb(_sendable, on_handle(_send), 8),
    "read": Verb(_readable, on_handle(_read), 5),
    "read-alone": Verb(_unread, on_handle(_read_alone)),
    "read-temporary": Verb(idle, on_handle(_read_temporary), 2),
    "subscribe": Verb(_subscribable, on_handle(_subscribe), 3),
    "pause": Verb(_flowing, on_handle(_pause), 2),
    "resume": Verb(_paused, on_handle(_resume), 2),
    "browse": Verb(_browsable, on_handle(_browse)),
    "ack": Verb(_acknowledgeable, on_channel(_ack), 6),
    "unget": Verb(_returnable, on_channel(_unget), 3),
    "commit": Verb(_transacted, on_channel(_commit), 3),
    "rollback": Verb(_transacted, on_channel(_rollback), 3),
    "send-then-reset": Verb(_outside, on_handle(_send_reset)),
    "ack-then-reset": Verb(_holding, on_channel(_ack_reset)),
    "commit-then-reset": Verb(_transacted, on_channel(_commit_reset)),
    "close-beside-send": Verb(_fed, on_handle(_close_beside), 2),
}
