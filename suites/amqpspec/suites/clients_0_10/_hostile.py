"""What a hostile server of AMQP 0-10 sends, and how a client's answer to it is read.

Knows: frames that break one rule each. Must not know: triggers, scenarios.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from amqpspec.peer.amqp_0_10.arrivals import AssemblyArrived
from amqpspec.run.clients.agent import Application, Ran
from amqpspec.run.clients.client import CannotDo
from amqpspec.run.clients.judging import Done, No, Undecided, has_left, refusal_by, stayed_s, survived
from amqpspec.run.clients.provoking import Provocation, Reading, declare, declare_duty, followed
from amqpspec.spec.model import Refusal, Scope, Side
from amqpspec.suites import demands
from amqpspec.suites.clients_0_10 import DIALECT
from amqpspec.suites.clients_0_10._books import assembly_of, fields
from amqpspec.wire.amqp_0_10.frames import WHOLE, Frame, encode_assembly, encode_frame
from amqpspec.wire.amqp_0_10.instructions import encode_instruction, kind_of
from amqpspec.wire.amqp_0_10.reader import FrameReader
from amqpspec.wire.amqp_0_10.segments import Assembly
from amqpspec.wire.conversation import Conversation, Said
from amqpspec.wire.hostility import Deed, Hostility, Passing

SERVED = "amqp-0-10"
_TIMES_SILENT = 6
_WORSE = (Application.CRASH, Application.MEMORY)
_NORMAL = 200

POINTS = {
    "start": ("connection.start", "connect"),
    "tune": ("connection.tune", "connect"),
    "open-ok": ("connection.open-ok", "publish"),
    "attached": ("session.attached", "publish"),
    "completed": ("session.completed", "publish"),
    "transfer": ("message.transfer", "consume"),
}
"""Where a server begins to misbehave: a name for it, the assembly, a scenario that leads there, and on from there.

A client that has nothing left to do but to leave may have said so before it reads what the server does.
"""


# --- octets


def channel_of(octets: bytes) -> int:
    """The channel of an assembly."""
    return int.from_bytes(octets[6:8], "big")


def read(octets: bytes) -> Assembly:
    """What our own broker has written."""
    reader = FrameReader()
    reader.feed(octets)
    while (item := reader.next()) is not None:
        if isinstance(item, Frame) and item.assembly is not None:
            return item.assembly
    raise AssertionError("expected a whole assembly")


def args_of(octets: bytes) -> dict[str, Any]:
    """The arguments of a control or command of our own broker."""
    instruction = read(octets).instruction
    assert instruction is not None
    return dict(instruction.args)


def again(octets: bytes, **changes: Any) -> bytes:
    """An assembly with other arguments; None leaves one out."""
    assembly = read(octets)
    return encode_assembly(
        assembly.name,
        assembly.channel,
        header=assembly.header,
        body=assembly.body,
        **(args_of(octets) | changes),
    )


def lying(name: str, channel: int, args: dict[str, Any] | None = None, **lies: Any) -> bytes:
    """A control or command with false flags or size; see ``encode_instruction``."""
    return encode_frame(encode_instruction(name, args or {}, **lies), type=kind_of(name), channel=channel)


def pointed(channel: int, octets: bytes, number: int = 0) -> bytes:
    """A command of a server that has sent none, with its command-point."""
    return encode_assembly("session.command-point", channel, command_id=number, command_offset=0) + octets


def behind(octets: Callable[[int], bytes]) -> Deed:
    """The assembly, and octets after it on its channel."""
    return followed(lambda frame: octets(channel_of(frame)))


def frame(kind: int, **header: Any) -> Callable[[int], bytes]:
    """A frame with a false header, on a channel."""
    return lambda channel: encode_frame(
        header.get("payload", b""), type=kind, channel=channel, **_header(header)
    )


def _header(header: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in header.items() if key != "payload"}


def lying_size(size: int, rest: int = 70_000) -> Deed:
    """The assembly, and after it a frame that announces this many octets."""
    return behind(lambda channel: struct.pack(">BBHBBHI", WHOLE, 0, size, 0, 0, channel, 0) + bytes(rest))


# --- judging


def reading(went_on: Callable[[Conversation], bool] = lambda talk: False) -> Reading:
    """How a client refused by close, exception, detached or reject, or by ending the socket."""
    return lambda talk, ran: refusal_by(talk, ran, says, went_on)


def says(said: Said) -> No | None:
    """Whether a frame ends or refuses something; a close with 200 is what a client says that is done, too.

    A server that rejects a message refuses nothing that the client did about its deed.
    """
    if said.name == "message.reject" and said.sender is Side.SERVER:
        return None
    assembly = assembly_of(said)
    refusal = None if assembly is None or assembly.error is not None else AssemblyArrived(assembly).refusal
    return None if refusal is None else No(refusal, refusal.code != _NORMAL)


def leaving(*names: str) -> Reading:
    """A client that says one of these after the deed has continued."""

    def went_on(talk: Conversation) -> bool:
        return any(s.at_ns >= (talk.talk.hostile_ns or 0) for s in talk.by_client(*names))

    return reading(went_on)


def limited(key: str, at_least: int) -> Reading:
    """Applies where tune-ok sets a limit below that; a client that takes anything is only not to die of it."""

    def judge(talk: Conversation, ran: Ran) -> Refusal | None:
        tuned = next((fields(s) for s in talk.by_client("connection.tune-ok")), {})
        limit = tuned.get(key)
        if (limit is None or limit >= at_least) and ran.application not in _WORSE:
            raise CannotDo(f"the client's {key.replace('_', '-')} is {'not set' if limit is None else limit}")
        return reading()(talk, ran)

    return judge


def answering(scope: Scope, asked: str, answer: str) -> Reading:
    """The answer to an end of the server's, on its channel and by its name; a close of the connection says more."""

    def judge(talk: Conversation, ran: Ran) -> Refusal | None:
        since = [s for s in talk.said if s.at_ns >= (talk.talk.hostile_ns or 0)]
        ended = next((s for s in since if s.sender is Side.SERVER and s.name == asked), None)
        by_client = [s for s in since if s.sender is Side.CLIENT]
        if any(s.name == answer and _is_about(s, ended) for s in by_client):
            return Refusal(scope)
        if any(s.name == "connection.close" for s in by_client):
            return Refusal(Scope.CONNECTION)
        if ran.application is Application.UNSEEN and not talk.talk.ended:
            raise Undecided("the client had not answered yet")
        return Refusal(Scope.SOCKET) if has_left(talk, ran) else None

    return judge


def _is_about(answer: Said, ended: Said | None) -> bool:
    """Whether an answer is about the session, or the connection, that the server ended."""
    if ended is None:
        return True
    return answer.channel == ended.channel and fields(answer).get("name") == fields(ended).get("name")


def surviving(talk: Conversation, ran: Ran) -> Refusal | None:
    """How a client refused what is too much for it; its socket may also have ended with its process."""
    refusal = reading()(talk, ran)
    if refusal == Refusal(Scope.SOCKET):
        survived(talk, ran)
    return refusal


def learned(talk: Conversation, ran: Ran) -> bool:
    """Whether the application learned of it; raises Undecided if no one watched."""
    if ran.application is Application.UNSEEN:
        raise Undecided("it was not observed whether the application was informed")
    return ran.application is Application.REPORTED


def silenced(talk: Conversation, ran: Ran) -> Refusal | None:
    """A client that chose a heartbeat left within six of them: two are the limit, the others are grace."""
    delay_s = next((fields(s).get("heartbeat") or 0 for s in talk.by_client("connection.tune-ok")), 0)
    if not delay_s:
        raise CannotDo("the client chose no heartbeat")
    return reading(lambda talk: (stayed_s(talk) or 0) > _TIMES_SILENT * delay_s)(talk, ran)


def hostile(
    where: dict[str, Any],
    id: str,
    row: str,
    at: tuple[str, str],
    deed: Deed,
    title: str,
    reads: Reading | None = None,
    connection: int = 1,
    ends_after_s: float | None = None,
    passing: Passing | None = None,
) -> None:
    """Declare a case in a module: ``at`` an assembly of the server in a scenario, the deed; judged by the row."""
    after, scenario = at
    hostility = Hostility(after, deed, connection=connection, ends_after_s=ends_after_s, passing=passing)
    declare(where, DIALECT, SERVED, Provocation(id, row, scenario, hostility, title), reads or reading())


def demand(row: str, verb: str = "reject") -> str:
    """The verb of a title, as strong as the row."""
    return demands.demand(DIALECT, row, verb)


def duty(where: dict[str, Any], id: str, row: str, point: str, deed: Deed, done: Done, title: str) -> None:
    """Declare a case in a module: at a point the deed, and whether the client did what it has to do then."""
    after, scenario = POINTS[point]
    declare_duty(where, DIALECT, Provocation(id, row, scenario, Hostility(after, deed), title), done)
