"""What a hostile server of AMQP/Fast sends, and how a client's answer to it is read.

Knows: frames that break one rule each. Must not know: single cases.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any

from amqpspec.run.clients.agent import Ran
from amqpspec.run.clients.client import CannotDo
from amqpspec.run.clients.judging import No, Rule, answers_violation, refusal_by, takes_no_notice
from amqpspec.run.clients.provoking import Provocation, behind, declare_duty, instead
from amqpspec.run.clients.provoking import declare as declare_hostile
from amqpspec.spec.model import Refusal, Scope
from amqpspec.suites.clients_fast_0_8 import DIALECT
from amqpspec.wire.amqp_fast_0_8.frames import CommandFrame, CommandReader, command_frame, encode_frame
from amqpspec.wire.conversation import Conversation, Said
from amqpspec.wire.hostility import Deed, Hostility

SERVED = "amqp-fast-0-8"
_SCOPES = {
    "connection.close": Scope.CONNECTION,
    "channel.close": Scope.CHANNEL,
    "handle.close": Scope.HANDLE,
}
_ERRORS = 300

POINTS: Mapping[str, tuple[str, str]] = {
    "challenge": ("connection.challenge", "connect"),
    "tune": ("connection.tune", "connect"),
    "open": ("connection.reply", "connect"),
    "channel": ("channel.reply", "connect"),
    "handle": ("handle.reply", "send"),
    "created": ("handle.created", "receive"),
    "notify": ("handle.notify", "receive"),
}
"""Where a server begins to misbehave: the frame, and a scenario that leads there."""
FURTHER: Mapping[str, tuple[str, str]] = {
    "handle-close": ("handle.close", "send"),
    "channel-close": ("channel.close", "connect"),
    "index": ("handle.index", "browse"),
    "shown": ("handle.notify", "browse"),
    "ready": ("handle.ready", "restart"),
    "prepare": ("handle.prepare", "restart"),
}


# --- octets


def read(frame: bytes) -> CommandFrame:
    """A frame of our own broker."""
    reader = CommandReader(max_size=1 << 24)
    reader.feed(frame)
    item = reader.next()
    assert isinstance(item, CommandFrame) and item.error is None
    return item


def again(frame: bytes, *, fragment: bytes | None = None, **changes: Any) -> bytes:
    """A frame with other fields, another fragment, or a false size or end."""
    held = read(frame)
    behind = held.fragment if fragment is None else fragment
    known = {key: value for key, value in held.args.items() if key != "fragment_size"}
    return command_frame(held.name, fragment=behind, **{**known, **changes})


def changed(fragment: Callable[[bytes], bytes] | None = None, **changes: Any) -> Deed:
    """The frame with other fields in its place."""
    return instead(
        lambda f: again(f, fragment=None if fragment is None else fragment(read(f).fragment), **changes)
    )


def fields_changed(change: Callable[[bytes], bytes]) -> Deed:
    """The frame with other octets between its code and its end."""

    def octets(frame: bytes) -> bytes:
        held = read(frame)
        return encode_frame(held.code, change(held.fields)) + held.fragment

    return instead(octets)


def lying_size(announced: int) -> Deed:
    """The frame, and after it one that announces this many octets."""
    return behind(b"\xff\xff" + struct.pack(">I", announced) + b"\x0e" + bytes(70_000))


# --- judging


def _says(said: Said) -> No | None:
    """A CLOSE; below 300 a code says that all is well."""
    if said.name not in _SCOPES:
        return None
    code = said.what.args["reply_code"]
    return No(Refusal(_SCOPES[said.name], code), code >= _ERRORS)


def reading(talk: Conversation, ran: Ran) -> Refusal | None:
    """How a client refused by a CLOSE with an error, or by ending the socket."""
    return refusal_by(talk, ran, _says, lambda _: False)


def hostile(
    where: dict[str, Any], id: str, row: str, at: tuple[str, str], deed: Deed, title: str, connection: int = 1
) -> None:
    """Declare a case in a module: ``at`` a frame of the server in a scenario, the deed; judged by the row."""
    meant = Hostility(at[0], deed, connection=connection)
    provocation = Provocation(f"client.hostile.{id}", row, at[1], meant, title)
    declare_hostile(where, DIALECT, SERVED, provocation, reading, answers_violation)


def allowed(where: dict[str, Any], id: str, row: str, at: tuple[str, str], deed: Deed, title: str) -> None:
    """Declare a case of what a server may do: the client continues."""
    provocation = Provocation(f"client.understands.{id}", row, at[1], Hostility(at[0], deed), title)
    declare_hostile(where, DIALECT, SERVED, provocation, reading, takes_no_notice)


def asked(
    where: dict[str, Any], id: str, row: str, at: tuple[str, str], deed: Deed, title: str, rule: Rule
) -> None:
    """Declare a case of what a server may do: the client keeps a rule from then on."""

    def done(talk: Conversation, ran: Ran) -> bool:
        places = list(rule(talk))
        if not places:
            raise CannotDo("the client did not do what the case is about")
        return all(place.kept for place in places)

    provocation = Provocation(f"client.asked.{id}", row, at[1], Hostility(at[0], deed), title)
    declare_duty(where, DIALECT, provocation, done)
