"""Channels and handles: their order, limits, transactions, closes."""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.run.amqp_fast_0_8.books import Books
from amqpspec.run.clients.judging import Looked
from amqpspec.spec.model import Side
from amqpspec.suites.clients_fast_0_8._rules import Kept, declare, each, walk
from amqpspec.wire.amqp_fast_0_8.frames import CommandFrame
from amqpspec.wire.conversation import Conversation

_C = Side.CLIENT
_OPENS = ("channel.open", "handle.open")
_SERVERS = (
    "connection.challenge", "connection.reply", "channel.reply", "handle.created", "handle.notify", "handle.index",
    "handle.reply",
)  # fmt: skip


def _names_an_open_handle(frame: CommandFrame, books: Books) -> bool:
    return books.has_handle(frame.args["handle_id"], _C)


def _names_an_open_channel(frame: CommandFrame, books: Books) -> bool:
    return books.has_channel(frame.args["channel_id"], _C)


def _chose_it(frame: CommandFrame, books: Books) -> bool:
    """A channel or handle that the client has opened, perhaps closed by now."""
    channel, handle = frame.args.get("channel_id"), frame.args.get("handle_id")
    return (channel is None or channel in books.seen_channels) and (
        handle is None or handle in books.seen_handles
    )


def _ids(talk: Conversation) -> Iterator[Looked]:
    for said, frame, books in walk(talk):
        if frame.name not in _OPENS and {"channel_id", "handle_id"} & frame.args.keys():
            yield Looked(said, _chose_it(frame, books), "the client never opened it")


def _channels(frame: CommandFrame, books: Books) -> bool:
    limit = books.proposed.get("CHANNEL_MAX", 0)
    return not limit or sum(books.has_channel(id, _C) for id in books.channels) < limit


def _handles(frame: CommandFrame, books: Books) -> bool:
    limit = books.proposed.get("HANDLE_MAX", 0)
    return not limit or sum(books.has_handle(id, _C) for id in books.handles) < limit


def _is_not(name: str) -> Kept:
    return lambda frame, books: frame.name != name


def _is_transacted(frame: CommandFrame, books: Books) -> bool:
    channel = books.channels.get(frame.args["channel_id"])
    return channel is None or bool(channel["transacted"])


def _only_opens_again(talk: Conversation) -> Iterator[Looked]:
    """After a CHANNEL CLOSE of its own a client sends nothing for that channel but OPEN, or another CLOSE."""
    closed: set[int] = set()
    for said, frame, _ in walk(talk):
        id = frame.args.get("channel_id", 0)
        if frame.name == "channel.open":
            closed.discard(id)
        elif id in closed:
            yield Looked(said, frame.name == "channel.close", f"channel {id} is closed")
        elif frame.name == "channel.close":
            yield Looked(said, True)
            closed.add(id)


def _closes_what_is_open(frame: CommandFrame, books: Books) -> bool:
    """Open, or already closing."""
    return frame.args["channel_id"] in books.channels


def _closes_an_open_handle(frame: CommandFrame, books: Books) -> bool:
    return frame.args["handle_id"] in books.handles


def _silent_behind_close(talk: Conversation) -> Iterator[Looked]:
    is_closed = False
    for said, frame, _ in walk(talk):
        if is_closed:
            yield Looked(said, frame.name == "connection.close", "after CONNECTION CLOSE")
        elif frame.name == "connection.close":
            yield Looked(said, True)
            is_closed = True


def _has_a_code(frame: CommandFrame, books: Books) -> bool:
    return 100 <= int(frame.args["reply_code"]) < 600


for _name in ("send", "consume", "flow", "unget", "query", "browse", "prepare", "ready"):
    declare(
        globals(), f"{_name}.handle", f"handle/{_name}/open",
        each(_names_an_open_handle, f"handle.{_name}"), f"{_name.upper()} names a handle that is open.",
    )  # fmt: skip
for _name in ("ack", "commit", "rollback"):
    declare(
        globals(), f"{_name}.channel", f"channel/{_name}/open",
        each(_names_an_open_channel, f"channel.{_name}"), f"{_name.upper()} names a channel that is open.",
    )  # fmt: skip
for _name in ("commit", "rollback"):
    declare(
        globals(), f"{_name}.transacted", f"channel/{_name}/transacted",
        each(_is_transacted, f"channel.{_name}"), f"{_name.upper()} is sent only on transacted channels.",
    )  # fmt: skip
for _name in _SERVERS:
    _tier, _, _command = _name.partition(".")
    declare(
        globals(), f"role.{_name}", f"{_tier}/summary/server/{_command}",
        each(_is_not(_name)),
        f"A client never sends {_name.replace('.', ' ').upper()}.",
    )  # fmt: skip
for _id, _rows, _rule, _title in (
    ("ids", "ids/client", _ids, "The client names only channels and handles that it opened."),
    ("handle.order", "scenarios/opening/order", each(_names_an_open_channel, "handle.open"),
     "The client opens handles only on open channels."),
    ("channel.id", "channel/open/channel-id", each(lambda f, b: f.args["channel_id"] > 0, "channel.open"),
     "The id of a channel is not zero."),
    ("channel.open.twice", "channel/open/open",
     each(lambda f, b: not b.has_channel(f.args["channel_id"], _C), "channel.open"),
     "The client does not open a channel that is already open."),
    ("handle.id", "handle/open/not-zero", each(lambda f, b: f.args["handle_id"] > 0, "handle.open"),
     "The id of a handle is not zero."),
    ("handle.open.twice", "handle/open/handle-id",
     each(lambda f, b: not b.has_handle(f.args["handle_id"], _C), "handle.open"),
     "The client does not open a handle that is already open."),
    ("channel-max", "tuning/channel-max", each(_channels, "channel.open"),
     "The client opens at most CHANNEL_MAX channels."),
    ("handle-max", "tuning/handle-max", each(_handles, "handle.open"), "The client opens at most HANDLE_MAX handles."),
    ("channel.close.open", "channel/close/state", each(_closes_what_is_open, "channel.close"),
     "CHANNEL CLOSE names a channel that is open or closing."),
    ("handle.close.open", "handle/close/open", each(_closes_an_open_handle, "handle.close"),
     "HANDLE CLOSE names a handle that is open or closing."),
    ("channel.close.last", "scenarios/errors/only-open", _only_opens_again,
     "After CHANNEL CLOSE the client sends only OPEN for that channel."),
    ("connection.close.last", "connection/close/repeated", _silent_behind_close,
     "After CONNECTION CLOSE the client sends nothing but another CLOSE."),
    ("close.codes", "errors/reply-codes",
     each(_has_a_code, "connection.close", "channel.close", "handle.close"), "A CLOSE has a code of three digits."),
):  # fmt: skip
    declare(globals(), _id, _rows, _rule, _title)
