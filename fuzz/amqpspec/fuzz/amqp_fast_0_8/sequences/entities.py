"""Verbs of connections, channels and handles in AMQP/Fast, and what has to be refused.

Knows: desks and books. Must not know: messages, how outcomes are observed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from amqpspec.fuzz.amqp_fast_0_8.sequences.books import Channel, Handle
from amqpspec.fuzz.amqp_fast_0_8.sequences.desk import AUDITOR
from amqpspec.fuzz.amqp_fast_0_8.sequences.desk import CommandDesk as Desk
from amqpspec.fuzz.sequences.step import Violation
from amqpspec.fuzz.sequences.world import Args, Table, Verb
from amqpspec.peer.amqp_fast_0_8.arrivals import CommandArrived
from amqpspec.peer.amqp_fast_0_8.peer import QUEUE
from amqpspec.peer.context import Unmet

SHARED, TOPICS = ("q0", "q1"), ("t0",)
_PEERS, _CHANNELS, _HANDLES = 3, 2, 3
_NO_MESSAGE = 0x7FFFFFF0
"""A message number that no delivery has."""


def on_channel(act: Callable[..., None]) -> Callable[..., None]:
    """A verb of a channel, which steps call by its name."""
    return lambda desk, name, *args: act(desk, desk.books.channels[name], *args)


def on_handle(act: Callable[..., None]) -> Callable[..., None]:
    """A verb of a handle, which steps call by its name."""
    return lambda desk, name, *args: act(desk, desk.books.handles[name], *args)


# --- connections


def connections(desk: Desk) -> list[int]:
    """The connections of the program."""
    return sorted(number for number in desk.peers if number != AUDITOR)


def _connect(desk: Desk, number: int) -> None:
    desk.connect(number)
    desk.open_channel(number, transacted=False)


def _connected(desk: Desk) -> Iterable[Args]:
    return [(n,) for n in connections(desk)]


def _half_close(desk: Desk, number: int) -> None:
    """Only the sending side of a connection is closed; it is read to its end."""
    peer = desk.peers[number]
    peer.transport.half_close()
    peer.expect_end()
    desk.reset(number)


# --- channels and handles


def _with_room(desk: Desk) -> Iterable[Args]:
    rooms = [n for n in connections(desk) if len(desk.books.channels_of(n)) < _CHANNELS]
    return [(n, transacted) for transacted in (1, 0) for n in rooms]


def _open_channel(desk: Desk, number: int, transacted: int) -> None:
    desk.open_channel(number, transacted=bool(transacted))


def _channels(desk: Desk) -> Iterable[Args]:
    return [(name,) for name in desk.books.channels]


def close_channel(desk: Desk, channel: Channel) -> None:
    """A channel is closed, and its handles with it."""
    handles, peer = desk.books.handles_of(channel), desk.peer(channel)
    desk.ending(
        "close not answered",
        handles,
        lambda: peer.close_channel(channel.id),
        lambda: desk.books.end_channels([channel]),
    )


def _with_handles(desk: Desk) -> Iterable[Args]:
    books = desk.books
    return [(name,) for name, c in books.channels.items() if len(books.handles_of(c)) < _HANDLES]


def handles(desk: Desk) -> Iterable[Args]:
    """All handles."""
    return [(name,) for name in desk.books.handles]


def _close_handle(desk: Desk, handle: Handle) -> None:
    peer = desk.peer(handle.channel)
    desk.ending(
        "close not answered",
        [handle],
        lambda: peer.close_handle(handle.id),
        lambda: desk.books.end_handle(handle),
    )


# --- what has to be refused


def _refused(desk: Desk, handle: Handle, what: str, command: str, **fields: object) -> None:
    """A command on a handle closes it, its channel or its connection; raises Violation where it is confirmed."""
    channel, peer = handle.channel, desk.peer(handle.channel)
    try:
        peer.call(command, handle_id=handle.id, **fields)
    except Unmet as unmet:
        if not isinstance(unmet.seen, CommandArrived):
            raise Violation(f"no answer to {what}", "a CLOSE", unmet.observed) from unmet
        _closed(desk, handle, channel, unmet.seen)
    else:
        raise Violation(f"{what} not refused", "a CLOSE", f"{command} confirmed")


def _closed(desk: Desk, handle: Handle, channel: Channel, seen: CommandArrived) -> None:
    """What the target has closed is gone: a REPLY with an error leaves all as it was."""
    if seen.name == "handle.close":
        desk.ending("", [handle], lambda: None, lambda: desk.books.end_handle(handle))
    elif seen.name == "channel.close":
        handles = desk.books.handles_of(channel)
        desk.ending("", handles, lambda: None, lambda: desk.books.end_channels([channel]))
    elif seen.name == "connection.close":
        desk.drop(channel.peer)
        desk.vanished(desk.books.end_peer(channel.peer, suddenly=False))
    else:
        desk.collect()


def idle(desk: Desk) -> Iterable[Args]:
    """Handles that read nothing."""
    return [(name,) for name, handle in desk.books.handles.items() if handle.reader is None]


def _consume_nothing(desk: Desk, handle: Handle) -> None:
    nowhere = desk.context.name("none")
    _refused(
        desk, handle, "consume of no queue", "handle.consume",
        service_type=QUEUE, prefetch=1, dest_name=nowhere,
    )  # fmt: skip


def _guarded(desk: Desk) -> Iterable[Args]:
    """Handles that read nothing, with each queue that another one reads exclusively."""
    guarded = [h.reader.stock.name for h in desk.books.handles.values() if h.reader and h.reader.exclusive]
    return [(*handle, stock) for handle in idle(desk) for stock in guarded]


def _consume_beside(desk: Desk, handle: Handle, stock: str) -> None:
    _refused(
        desk, handle, "consume beside an exclusive reader", "handle.consume",
        service_type=QUEUE, prefetch=1, dest_name=desk.address(stock),
    )  # fmt: skip


def _unget_nothing(desk: Desk, handle: Handle) -> None:
    _refused(desk, handle, "unget of no message", "handle.unget", message_nbr=_NO_MESSAGE)


VERBS: Table[Desk] = {
    "connect": Verb(lambda desk: desk.unused(_PEERS), _connect, 2),
    "handle": Verb(_with_handles, on_channel(Desk.open_handle), 4),
    "channel": Verb(_with_room, _open_channel, 3),
    "close-handle": Verb(handles, on_handle(_close_handle)),
    "close-channel": Verb(_channels, on_channel(close_channel)),
    "leave": Verb(_connected, Desk.leave),
    "reset": Verb(_connected, Desk.reset),
    "half-close": Verb(_connected, _half_close),
    "consume-nothing": Verb(idle, on_handle(_consume_nothing)),
    "consume-beside": Verb(_guarded, on_handle(_consume_beside)),
    "unget-nothing": Verb(handles, on_handle(_unget_nothing)),
}
