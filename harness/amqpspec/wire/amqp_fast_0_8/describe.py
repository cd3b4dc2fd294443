"""Commands as text and as JSON data, and their octets, both without secrets.

Knows: what to say of commands, readable or not, and of what follows them. Must not know: files, verdicts.

Masked octets are ``*``, so that sizes and offsets keep their meaning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.spec.commands import CommandField
from amqpspec.wire.amqp_fast_0_8.frames import CommandFrame
from amqpspec.wire.amqp_fast_0_8.message import decode_opening
from amqpspec.wire.amqp_fast_0_8.secrets import RESPONSE, instead_of, secret_spans
from amqpspec.wire.errors import WireError
from amqpspec.wire.greeting import ProtocolHeader
from amqpspec.wire.values import Table
from amqpspec.wire.words import MAX_LINE, cut, first_octets, leaf, masked, named, said, with_fields

_CHANNEL = "channel_id"


def describe_frame(frame: CommandFrame | ProtocolHeader, opens: bool = False) -> dict[str, Any]:
    """What a command is, in one line of ``text`` and as JSON data; ``opens``: its fragment begins with a head.

    ``type`` and ``text`` are always there, ``command`` if it is known, ``channel`` where the command names one,
    ``fields`` for what was read, ``error`` for a frame that cannot be read, ``fragment`` for what follows it.
    """
    if isinstance(frame, ProtocolHeader):
        return {"type": "protocol-header", "text": str(frame)}
    row = frame.command
    data: dict[str, Any] = {"type": str(row.tier) if row else "unknown"}
    if row is not None:
        data["command"] = row.name
    if _CHANNEL in frame.args:
        data["channel"] = frame.args[_CHANNEL]
    text = _readable(frame, data) if frame.error is None else _unreadable(frame, frame.error, data)
    if frame.fragment:
        text += f" fragment of {_fragment(frame.fragment, opens, data)}"
    return {"text": cut(text, MAX_LINE), **data}


def redacted(octets: bytes) -> bytes:
    """The octets of one frame and its fragment, or the first of them, with secrets masked; the length stays."""
    return masked(octets, secret_spans(octets))


def json_safe(value: Any) -> Any:
    """A decoded value as JSON data: octets as text or hex, a decimal as text, duplicate fields as pairs."""
    if isinstance(value, Table):
        return named(value, lambda typed: json_safe(typed.value))
    return f"{value[1]}e-{value[0]}" if isinstance(value, tuple) else leaf(value)


def _fields(name: str, rows: Sequence[CommandField], args: Mapping[str, Any]) -> dict[str, Any]:
    read = [(row.name, args[row.key]) for row in rows if row.key in args]
    return {key: instead_of(name, key, value) or json_safe(value) for key, value in read}


def _readable(frame: CommandFrame, data: dict[str, Any]) -> str:
    data["fields"] = _fields(frame.name, frame.command.fields if frame.command else (), frame.args)
    return with_fields(frame.name, data["fields"])


def _unreadable(frame: CommandFrame, error: WireError, data: dict[str, Any]) -> str:
    """The error without what may show a secret: its hex window, and what was found where one was expected."""
    secret = frame.name == RESPONSE
    data["error"] = said(error, "cannot be read" if secret else None)
    begins = f"{len(frame.fields)} octets" if secret else first_octets(frame.fields)
    return f"unreadable {frame.name}, {begins}: {data['error']}"


def _fragment(fragment: bytes, opens: bool, data: dict[str, Any]) -> str:
    data["fragment"] = shown = {"octets": len(fragment)}
    if not opens:
        return first_octets(fragment)
    try:
        head, body = decode_opening(fragment)
    except WireError as error:
        return f"{first_octets(fragment)}, unreadable message head: {said(error)}"
    data["fragment"] = shown | {"head": _fields("", DIALECT.message_head, head), "body_octets": len(body)}
    text = with_fields("message head", data["fragment"]["head"])
    return f"{len(fragment)} octets: {text} body begins with {first_octets(body)}"
