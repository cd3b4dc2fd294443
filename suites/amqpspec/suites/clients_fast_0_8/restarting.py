"""Restartable messages: PREPARE, READY and the rest of the message."""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.run.amqp_fast_0_8.books import Books
from amqpspec.run.clients.judging import Looked, Rule
from amqpspec.spec.model import Side
from amqpspec.suites.clients_fast_0_8._rules import declare, each
from amqpspec.wire.amqp_fast_0_8.frames import CommandFrame
from amqpspec.wire.amqp_fast_0_8.message import decode_opening
from amqpspec.wire.conversation import Conversation, Said
from amqpspec.wire.errors import WireError

_C = Side.CLIENT
_ENOUGH_S = 1.0
_WHERE = ("restart", "send")


def _is_restartable(frame: CommandFrame, books: Books) -> bool:
    channel = books.channels.get(books.channel_of(frame))
    return channel is None or bool(channel["restartable"])


def _needs_fragments(frame: CommandFrame, books: Books) -> bool:
    try:
        head, body = decode_opening(frame.fragment)
    except WireError:
        return True
    whole = len(frame.fragment) - len(body) + head["body_size"]
    limit = books.proposed.get("FRAME_MAX", 0)
    return not limit or whole > limit


def _is_alone(frame: CommandFrame, books: Books) -> bool:
    return (_C, frame.args["handle_id"]) not in books.prepared


def _went_on(talk: Conversation, asked: Said, later: list[Said]) -> bool:
    """Whether a client did something else in place of an answer, or stayed and did nothing.

    One that closes something next may have decided so before it read the command.
    """
    if later:
        return not later[0].name.endswith(".close")
    if talk.talk.is_left or any(talk.by_client("connection.close")):
        return False
    stayed_s = ((talk.talk.ended_ns or asked.at_ns) - asked.at_ns) / 1e9
    return stayed_s > _ENOUGH_S


def _crosses(asked: Said, later: list[Said]) -> bool:
    """Whether a PREPARE, which no client asks for, may have crossed a close, and what a client sent before that."""
    soon_ns = asked.at_ns + _ENOUGH_S * 1e9
    return asked.name == "handle.prepare" and any(
        s.name.endswith(".close") and s.at_ns <= soon_ns for s in later
    )


def _answered(name: str, answer: str) -> Rule:
    """Each of these commands of the server is answered, unless the client closes something next, or the talk is cut."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for asked in talk.by_server(name):
            said = list(talk.said)
            later = [
                s for s in said[said.index(asked) + 1 :] if s.sender is _C and s.name != "connection.ping"
            ]
            id = asked.what.args["handle_id"]
            answers = [s for s in later if s.name == answer and s.what.args["handle_id"] == id]
            is_due = talk.talk.is_whole and _went_on(talk, asked, later) and not _crosses(asked, later)
            if answers or is_due:
                yield Looked(asked, bool(answers), f"no {answer} after it")

    return rule


for _id, _rows, _rule, _title in (
    ("prepare.mode", "restartable/option", each(_is_restartable, "handle.prepare"),
     "The client sends PREPARE only on restartable channels."),
    ("prepare.size", "restartable/not-for-one-fragment", each(_needs_fragments, "handle.prepare"),
     "The client sends no PREPARE for a message that fits into one fragment."),
    ("prepare.alone", "handle/prepare/not-batched", each(_is_alone, "handle.prepare"),
     "The client sends a second PREPARE only after the READY to the first."),
    ("prepare.answered", "restartable/download handle/ready/client-support handle/summary/client/prepare",
     _answered("handle.prepare", "handle.ready"),
     "The client answers PREPARE with READY."),
    ("ready.answered", "handle/summary/client/ready", _answered("handle.ready", "handle.send"),
     "The client answers READY with the rest of the message."),
):  # fmt: skip
    declare(globals(), _id, _rows, _rule, _title, _WHERE)
