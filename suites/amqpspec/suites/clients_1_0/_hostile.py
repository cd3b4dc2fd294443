"""What a hostile server of AMQP 1.0 sends, and how a client's answer to it is read.

Knows: frames that break one rule each. Must not know: triggers, scenarios.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from amqpspec.peer.amqp_1_0.books import number
from amqpspec.run.clients.agent import Application, Ran
from amqpspec.run.clients.client import CannotDo
from amqpspec.run.clients.judging import No, Undecided, has_left, refusal_by, stayed_s, survived
from amqpspec.run.clients.provoking import Provocation, Reading, declare, followed
from amqpspec.spec.model import Refusal, Scope, Side
from amqpspec.suites import demands
from amqpspec.suites.clients_1_0 import DIALECT
from amqpspec.suites.clients_1_0._books import UNLIMITED, Books, fields
from amqpspec.suites.clients_1_0._state import Link, Session
from amqpspec.wire.amqp_1_0.composites import Composed, Performative, decode_composite
from amqpspec.wire.amqp_1_0.frames import HEADER_OCTETS, encode_frame, performative_frame
from amqpspec.wire.conversation import Conversation, Said
from amqpspec.wire.hostility import Deed, Hostility, Passing

SERVED = "amqp-1-0"
_SCOPES = {"close": Scope.CONNECTION, "end": Scope.SESSION, "detach": Scope.LINK}
_NOT_TAKEN = ("rejected", "released", "modified")
"""Outcomes of a delivery that its receiver did not process (§3.4)."""
_TIMES_IDLE = 6
_WORSE = (Application.CRASH, Application.MEMORY)


# --- octets


def channel_of(frame: bytes) -> int:
    """The channel of a frame."""
    return int.from_bytes(frame[6:8], "big")


def read(frame: bytes) -> tuple[Performative, bytes]:
    """What a frame of our own broker holds: performative and payload."""
    held, end = decode_composite(frame, HEADER_OCTETS)
    assert isinstance(held, Performative)
    return held, frame[end:]


def again(frame: bytes, payload: bytes | None = None, **changes: Any) -> bytes:
    """A frame with other fields; None leaves a field out."""
    held, rest = read(frame)
    given = {key: value for key, value in held.values.items() if key in held.given} | changes
    kept = {key: value for key, value in given.items() if value is not None}
    octets = rest if payload is None else payload
    return performative_frame(held.name, channel_of(frame), payload=octets, **kept)


def cut_short(frame: bytes) -> bytes:
    """A frame whose performative ends an octet too early, and nothing after it."""
    return encode_frame(read(frame)[0].octets[:-1], channel_of(frame), frame[5])


def behind(octets: Callable[[int], bytes]) -> Deed:
    """The frame, and octets after it that depend on its channel."""
    return followed(lambda frame: octets(channel_of(frame)))


def lying_size(size: int, rest: int = 70_000) -> Deed:
    """The frame, and after it one that announces this many octets."""
    return behind(lambda channel: struct.pack(">IBBH", size, 2, 0, channel) + bytes(rest))


# --- judging


def reading(went_on: Callable[[Conversation], bool] = lambda talk: False) -> Reading:
    """How a client refused by close, end or detach with an error, or by ending the socket."""
    return lambda talk, ran: refusal_by(talk, ran, says, went_on)


def says(said: Said) -> No | None:
    """Whether a frame ends or refuses something."""
    if said.name == "disposition":
        state = fields(said)["state"]
        rejects = isinstance(state, Composed) and state.name in _NOT_TAKEN
        return No(Refusal(Scope.DELIVERY), is_error=True) if rejects and fields(said)["role"] else None
    if said.name not in _SCOPES:
        return None
    error = fields(said)["error"]
    condition = error["condition"] if isinstance(error, Composed) else None
    code = str(condition) if condition is not None else None
    return No(Refusal(_SCOPES[said.name], code), is_error=error is not None)


def limited(key: str, size: int, frame: str = "open") -> Reading:
    """Applies if the client announced a limit below ``size``; a client that accepts anything has to survive it."""

    def judge(talk: Conversation, ran: Ran) -> Refusal | None:
        limit = next((number(fields(s)[key], UNLIMITED) for s in talk.by_client(frame)), UNLIMITED)
        if limit >= size and ran.application not in _WORSE:
            raise CannotDo(f"the client's {key.replace('_', '-')} is {limit}")
        return reading()(talk, ran)

    return judge


def surviving(talk: Conversation, ran: Ran) -> Refusal | None:
    """How a client refused what is too much for it; its socket may also have ended with its process."""
    refusal = reading()(talk, ran)
    if refusal == Refusal(Scope.SOCKET):
        survived(talk, ran)
    return refusal


def answering(name: str) -> Reading:
    """The answer to an end of the server's is one of the same name, or of something wider, with an error or without."""
    wider = list(_SCOPES)[: list(_SCOPES).index(name) + 1]

    def judge(talk: Conversation, ran: Ran) -> Refusal | None:
        answer = next((s for s in _answers(talk, name) if s.name in wider), None)
        if answer is not None:
            return Refusal(_SCOPES[answer.name])
        if ran.application is Application.UNSEEN and not talk.talk.ended:
            raise Undecided("the client had not answered yet")
        return Refusal(Scope.SOCKET) if has_left(talk, ran) else None

    return judge


def _answers(talk: Conversation, name: str) -> Iterator[Said]:
    """The client's ends, since the server ended something, of that thing or of something wider."""
    books, ended = Books(), _Ended()
    for said in talk.said:
        if said.at_ns >= (talk.talk.hostile_ns or 0):
            if said.sender is Side.SERVER and said.name == name and not ended.is_known:
                ended = _ended_by(books, said)
            elif said.sender is Side.CLIENT and ended.is_answered(books, said):
                yield said
        books.take(said)


@dataclass(frozen=True, slots=True)
class _Ended:
    """What the server ended, as the client has it; None: the connection, or what the client has never begun."""

    session: Session | None = None
    link: Link | None = None
    is_known: bool = False

    def is_answered(self, books: Books, said: Said) -> bool:
        """Whether a frame of the client ends it, or something wider. A detach has to close the link (§2.6.6)."""
        if said.name == "detach":
            link = books.link_of(said)
            is_same = self.link is None or (link is not None and link.is_again(self.link))
            return is_same and fields(said)["closed"] is True
        return said.name == "close" or (said.name == "end" and self.session in (None, books.session_of(said)))


def _ended_by(books: Books, said: Said) -> _Ended:
    session = books.by_server_channel.get(said.channel)
    if session is None or said.name != "detach":
        return _Ended(session, None, True)
    return _Ended(session, session.by_server_handle.get(number(fields(said)["handle"], -1)), True)


def silenced(talk: Conversation, ran: Ran) -> Refusal | None:
    """A client that announced an idle timeout left within six of them: two are the threshold, the others are grace."""
    idle_ms = next((number(fields(s)["idle_time_out"], 0) for s in talk.by_client("open")), 0)
    if not idle_ms:
        raise CannotDo("the client announced no idle-time-out")

    def outlived(talk: Conversation) -> bool:
        return (stayed_s(talk) or 0) > _TIMES_IDLE * idle_ms / 1000

    return reading(outlived)(talk, ran)


def demand(row: str, verb: str = "refuse") -> str:
    """The verb of a title, as strong as the row."""
    return demands.demand(DIALECT, row, verb)


def hostile(
    where: dict[str, Any],
    id: str,
    row: str,
    at: tuple[str, str],
    deed: Deed,
    title: str,
    reads: Reading | None = None,
    connection: int = 1,
    passing: Passing | None = None,
) -> None:
    """Declare a case in a module: ``at`` a frame of the server in a scenario, the deed; judged by the row."""
    after, scenario = at
    hostility = Hostility(after, deed, connection=connection, passing=passing)
    provocation = Provocation(id, row, scenario, hostility, title)
    declare(where, DIALECT, SERVED, provocation, reads or reading())
