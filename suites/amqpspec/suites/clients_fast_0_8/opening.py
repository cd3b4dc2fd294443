"""From the greeting to CONNECTION OPEN, and the values that a client writes into its commands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from amqpspec.run.amqp_fast_0_8.books import Books
from amqpspec.run.clients.judging import Looked
from amqpspec.spec.amqp_fast_0_8 import DIALECT as TABLES
from amqpspec.spec.amqp_fast_0_8.types import FIELD_NAME, MECHANISMS
from amqpspec.spec.model import Side
from amqpspec.suites.clients_fast_0_8._rules import declare, each, walk
from amqpspec.wire.amqp_fast_0_8.frames import CommandFrame
from amqpspec.wire.amqp_fast_0_8.message import Openings, decode_opening
from amqpspec.wire.conversation import Conversation, Said
from amqpspec.wire.errors import WireError
from amqpspec.wire.greeting import ProtocolHeader
from amqpspec.wire.values import Table

_LARGEST = 4096
_LEAST_FRAME_MAX = 1024
_LOGIN = ("connect", "reconnect")
_EARLY = ("connection.response", "connection.tune", "connection.open")
_NAME = re.compile(FIELD_NAME)


def _greets(talk: Conversation) -> Iterator[Looked]:
    for first in list(talk.by_client())[:1]:
        kept = isinstance(first.what, ProtocolHeader) and first.what.octets == TABLES.protocol_header
        yield Looked(first, kept)


def _responds(talk: Conversation) -> Iterator[Looked]:
    for said, _, books in walk(talk, "connection.response"):
        challenges = books.sent(Side.SERVER, "connection.challenge")
        yield Looked(
            said, books.sent(Side.CLIENT, said.name) < challenges, f"challenges so far: {challenges}"
        )


def _picks(talk: Conversation) -> Iterator[Looked]:
    challenge = talk.first_of_server("connection.challenge")
    for response in talk.by_client("connection.response"):
        offered = challenge.what.args["mechanisms"].split() if challenge else []
        yield Looked(response, response.what.args["mechanism"] in offered, f"offered: {' '.join(offered)}")


def _logs_in(talk: Conversation) -> Iterator[Looked]:
    for response in talk.by_client("connection.response"):
        args = response.what.args
        tags = {name: typed.tag for name, typed in args["responses"]}
        wanted = MECHANISMS.get(args["mechanism"], ())
        yield Looked(response, all(tags.get(name) == "S" for name in wanted))


def _is_small(name: str) -> None:
    where = name.partition(".")[2]

    def rule(talk: Conversation) -> Iterator[Looked]:
        for said in talk.by_client(name):
            yield Looked(said, said.octets <= _LARGEST, f"{said.octets} octets")

    title = f"A frame of CONNECTION {where.upper()} has at most 4096 octets."
    declare(globals(), f"{where}.size", f"connection/{where}/size", rule, title, _LOGIN)


def _in_order(talk: Conversation) -> Iterator[Looked]:
    is_open = False
    for said, frame, _ in walk(talk):
        if frame.name in _EARLY:
            yield Looked(said, not is_open, "after OPEN")
        elif frame.name not in ("connection.ping", "connection.close"):
            yield Looked(said, is_open, "before OPEN")
        is_open = is_open or frame.name == "connection.open"


def _at_once(talk: Conversation) -> Iterator[Looked]:
    said = [s for s in talk.by_client() if isinstance(s.what, CommandFrame)]
    for before, opened in pairwise(said):
        if opened.name == "connection.open":
            yield Looked(opened, before.name in _EARLY, f"behind {before.name}")


def _options(talk: Conversation) -> Iterator[Looked]:
    known = {o.name for o in TABLES.tune_options if o.sent_by is not Side.SERVER}
    for tune in talk.by_client("connection.tune"):
        for name, typed in tune.what.args["options"]:
            yield Looked(tune, name in known and typed.tag == "I", f"option {name} of type {typed.tag}")


def _frame_max(frame: CommandFrame) -> int | None:
    value = frame.args["options"].plain().get("FRAME_MAX")
    return value if isinstance(value, int) else None


def _lowers(frame: CommandFrame, books: Books) -> bool:
    chosen, proposed = _frame_max(frame), books.proposed.get("FRAME_MAX")
    return chosen is None or not isinstance(proposed, int) or chosen <= proposed


def _names(talk: Conversation) -> Iterator[Looked]:
    for said, values in _values(talk):
        for name in (name for value in values if isinstance(value, Table) for name, _ in value):
            yield Looked(said, _NAME.fullmatch(name) is not None, f"field name {name[:40]!r}")


def _have_no_zero(talk: Conversation) -> Iterator[Looked]:
    for said, values in _values(talk):
        yield Looked(said, not any("\0" in value for value in values if isinstance(value, str)))


def _values(talk: Conversation) -> Iterator[tuple[Said, list[Any]]]:
    """The fields of each command of the client, and of the message head in the fragment after it."""
    openings = Openings()
    for said, frame, _ in walk(talk):
        yield said, [*frame.args.values(), *(_head(frame).values() if openings.opens(frame) else ())]
        openings.follow(frame)


def _head(frame: CommandFrame) -> Mapping[str, Any]:
    """The head that a fragment begins with; none of it if it continues in the next one, or cannot be read."""
    try:
        return decode_opening(frame.fragment).head
    except WireError:
        return {}


def _readable(talk: Conversation) -> Iterator[Looked]:
    for said in talk.by_client():
        yield Looked(said, said.name != "garbled", str(said.what) if said.name == "garbled" else "")


for _id, _rows, _rule, _title in (
    ("greeting", "initiation/client scenarios/preparing/initiation", _greets,
     "The client begins with the octets 128 and 1."),
    ("response.asked", "scenarios/preparing/response", _responds, "Each RESPONSE answers a CHALLENGE."),
    ("response.mechanism", "connection/response/mechanism", _picks,
     "RESPONSE selects a mechanism that the server offers."),
    ("response.plain", "plain/response", _logs_in, "RESPONSE to PLAIN contains the strings LOGIN and PASSWORD."),
    ("tune.options", "tuning/client-options", _options,
     "The client's TUNE contains only FRAME_MAX and HEARTBEAT, as integers."),
    ("tune.frame-max.maximum", "tuning/frame-max/client-maximum connection/tune/values",
     each(_lowers, "connection.tune"), "The client's FRAME_MAX does not exceed the server's."),
    ("tune.frame-max.minimum", "tuning/frame-max/client-minimum",
     each(lambda frame, books: (_frame_max(frame) or _LEAST_FRAME_MAX) >= _LEAST_FRAME_MAX, "connection.tune"),
     "The client's FRAME_MAX is not below 1024."),
    ("open.at-once", "connection/open/at-once", _at_once, "OPEN follows RESPONSE or TUNE immediately."),
):  # fmt: skip
    declare(globals(), _id, _rows, _rule, _title, _LOGIN)
for _name in ("connection.response", "connection.tune"):
    _is_small(_name)
for _id, _rows, _rule, _title in (
    ("handshake.order", "scenarios/preparing/open", _in_order,
     "The client sends RESPONSE, TUNE and OPEN before any other command, and none of them after OPEN."),
    ("frames.readable", "syntax/command-end", _readable,
     "Every frame of the client is complete, ends in CE, and can be decoded."),
    ("tables.names", "tables/names", _names,
     "Field names in the client's tables consist of letters, digits, _, $ and #."),
    ("short-strings.zero", "syntax/notes/zero-octet", _have_no_zero,
     "No short string of the client contains a zero octet."),
):  # fmt: skip
    declare(globals(), _id, _rows, _rule, _title)
