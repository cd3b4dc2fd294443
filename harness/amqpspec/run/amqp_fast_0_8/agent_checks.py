"""What a careful client of AMQP/Fast looks at in each command of its server, and by which code it refuses.

Knows: the rules that bind a server, as far as a client can see them. Must not know: scenarios, sockets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from amqpspec.run.amqp_fast_0_8.books import Arriving, Books
from amqpspec.run.clients.scenario import Violated
from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.spec.amqp_fast_0_8.types import FIELD_NAME
from amqpspec.spec.model import Side
from amqpspec.wire.amqp_fast_0_8.frames import CommandFrame
from amqpspec.wire.amqp_fast_0_8.message import decode_opening
from amqpspec.wire.errors import Kind, WireError
from amqpspec.wire.values import Table

FRAME_ERROR, _INVALID_FIELD, _COMMAND_INVALID = 501, 502, 503
_CHANNEL_ERROR, _HANDLE_ERROR, INVALID_CONTENT = 504, 505, 542
_LARGEST_NEGOTIATION = 4096
_NAME = re.compile(FIELD_NAME)
_C, _S = Side.CLIENT, Side.SERVER


def of_octets(error: WireError) -> Violated:
    """What octets that cannot be read are refused with."""
    return Violated(_COMMAND_INVALID if error.kind is Kind.UNKNOWN else FRAME_ERROR, str(error))


def check(books: Books, frame: CommandFrame) -> None:
    """Check a command of the server before it is recorded; raises Violated."""
    if frame.command is not None and frame.command.sent_by is Side.CLIENT:
        raise Violated(_COMMAND_INVALID, f"{frame.name} comes from clients only")
    if any("\0" in value for value in frame.args.values() if isinstance(value, str)):
        raise Violated(_INVALID_FIELD, f"{frame.name}: a short string with a zero octet")
    for value in frame.args.values():
        if isinstance(value, Table):
            _check_names(value)
    if books.sent(_S, "connection.close"):
        raise Violated(_COMMAND_INVALID, f"{frame.name} behind CONNECTION CLOSE")
    _check_place(books, frame)
    if frame.name in _CHECKS:
        _CHECKS[frame.name](books, frame)


def _check_names(table: Table) -> None:
    for name, _ in table:
        if _NAME.fullmatch(name) is None:
            raise Violated(_INVALID_FIELD, f"field name {name[:40]!r}")


def _check_place(books: Books, frame: CommandFrame) -> None:
    """A command names a channel or a handle that is open for the server."""
    channel, handle = frame.args.get("channel_id"), frame.args.get("handle_id")
    if channel is not None and not books.has_channel(channel, _S):
        raise Violated(_CHANNEL_ERROR, f"{frame.name} for channel {channel}, which is not open")
    if handle is not None and not books.has_handle(handle, _S):
        raise Violated(_HANDLE_ERROR, f"{frame.name} for handle {handle}, which is not open")
    # Between the fragments of a message nothing stands on its channel (messages/fragments).
    within = books.arriving.get((_S, books.channel_of(frame)))
    if within is not None and (frame.name, handle) != ("handle.notify", within.handle):
        raise Violated(_COMMAND_INVALID, f"{frame.name} between the fragments of a message")


def _challenge(books: Books, frame: CommandFrame) -> None:
    answered = books.sent(_S, frame.name) == books.sent(_C, "connection.response")
    if not answered or books.sent(_S, "connection.tune"):
        raise Violated(_COMMAND_INVALID, "an unexpected challenge")
    if len(frame.fields) + DIALECT.layout.overhead_octets > _LARGEST_NEGOTIATION:
        raise Violated(FRAME_ERROR, f"a challenge of {len(frame.fields)} octets")


def _tune(books: Books, frame: CommandFrame) -> None:
    if books.sent(_S, frame.name) or not books.sent(_C, "connection.response"):
        raise Violated(_COMMAND_INVALID, "an unexpected tune")
    if len(frame.fields) + DIALECT.layout.overhead_octets > _LARGEST_NEGOTIATION:
        raise Violated(FRAME_ERROR, f"a tune of {len(frame.fields)} octets")
    if list(frame.args["dictionary"]):
        raise Violated(_INVALID_FIELD, "a dictionary of the server")
    options = first_of(frame.args["options"])
    for name, value in options.items():
        if name not in _OPTIONS or not (isinstance(value, int) and value >= 0):
            raise Violated(_INVALID_FIELD, f"{name} is {value!r}")
    least = DIALECT.layout.min_frame_max_octets
    if options.get("FRAME_MAX", least) < least:
        raise Violated(_INVALID_FIELD, f"FRAME_MAX {options['FRAME_MAX']}")


def first_of(table: Table) -> dict[str, Any]:
    """The values of a table by name, of several under one name the first."""
    found: dict[str, Any] = {}
    for name, typed in table:
        found.setdefault(name, typed.value)
    return found


def _reply(books: Books, frame: CommandFrame) -> None:
    if books.asked[frame.args["confirm_tag"]] <= 0:
        raise Violated(_COMMAND_INVALID, f"{frame.name} with an unknown confirm-tag")


def _created(books: Books, frame: CommandFrame) -> None:
    if books.creating[frame.args["handle_id"]] <= 0:
        raise Violated(_COMMAND_INVALID, "CREATED without a dynamic CONSUME")


def _index(books: Books, frame: CommandFrame) -> None:
    if books.queries[frame.args["handle_id"]] <= 0:
        raise Violated(_COMMAND_INVALID, "INDEX without QUERY")


def _prepare(books: Books, frame: CommandFrame) -> None:
    id = frame.args["handle_id"]
    if not books.channels[books.channel_of(frame)]["restartable"] or id not in books.consuming:
        raise Violated(_COMMAND_INVALID, "PREPARE on a channel that is not restartable")
    if (_S, id) in books.prepared | books.resuming:
        raise Violated(_COMMAND_INVALID, "a second PREPARE before READY")
    try:
        decode_opening(frame.fragment)
    except WireError as error:
        raise Violated(INVALID_CONTENT, str(error)) from error


def _ready(books: Books, frame: CommandFrame) -> None:
    if (_C, frame.args["handle_id"]) not in books.prepared:
        raise Violated(_COMMAND_INVALID, "READY without PREPARE")


def _notify(books: Books, frame: CommandFrame) -> None:
    args, id = frame.args, frame.args["handle_id"]
    if args["delivered"] and id not in books.consuming:
        raise Violated(_COMMAND_INVALID, f"a message for handle {id}, which consumes nothing")
    if not args["delivered"] and books.browses[id] <= 0:
        raise Violated(_COMMAND_INVALID, "a browsed message without BROWSE")
    channel = books.channel_of(frame)
    if args["delivered"] and args["message_nbr"] != books.last_number.get(channel, 0) + 1:
        raise Violated(_INVALID_FIELD, f"message number {args['message_nbr']}")
    if args["recovery"] and (_S, id) not in books.resuming:
        raise Violated(_COMMAND_INVALID, "the rest of a message that was never prepared")
    if args["partial"] and args["dest_name"]:
        raise Violated(_INVALID_FIELD, "a destination on a fragment that is not the last")
    _check_content(books.message_with(_S, frame), frame)


def _check_content(message: Arriving, frame: CommandFrame) -> None:
    """Whether head and fragments add up, so far or in the end."""
    if frame.args["recovery"]:
        return
    if message.is_too_long:
        raise Violated(INVALID_CONTENT, f"more than {message.body_octets} octets of a body")
    if not frame.args["partial"] and message.sent_octets != message.body_octets:
        raise Violated(INVALID_CONTENT, f"{message.sent_octets} octets of {message.body_octets}")


_OPTIONS = frozenset(option.name for option in DIALECT.tune_options)
_CHECKS: Mapping[str, Callable[[Books, CommandFrame], None]] = {
    "connection.challenge": _challenge,
    "connection.tune": _tune,
    "connection.reply": _reply,
    "channel.reply": _reply,
    "handle.reply": _reply,
    "handle.created": _created,
    "handle.index": _index,
    "handle.prepare": _prepare,
    "handle.ready": _ready,
    "handle.notify": _notify,
}
