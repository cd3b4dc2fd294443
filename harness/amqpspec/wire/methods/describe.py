"""Frames as text and as JSON data, and their octets, both without secrets.

Knows: what to say of each kind of frame, readable or not, and where secrets stand. Must not know: files, verdicts.

A frame that cannot be read may hide a secret anywhere after the point up to which it was understood: from there
on it is masked whole. Masked octets are ``*``, so that sizes and offsets keep their meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from amqpspec.spec.methods import FrameLayout, Method
from amqpspec.wire.errors import WireError
from amqpspec.wire.greeting import ProtocolHeader
from amqpspec.wire.methods.codec import Codec
from amqpspec.wire.methods.frames import Frame
from amqpspec.wire.methods.secrets import SECRETS
from amqpspec.wire.values import Table
from amqpspec.wire.words import MAX_LINE, entries, first_octets, leaf, masked, named, said, with_fields

_IDS_OCTETS = _SIZE_OCTETS = 4


def describe_frame(codec: Codec, frame: Frame | ProtocolHeader) -> dict[str, Any]:
    """What a frame is, in one line of ``text`` and as JSON data.

    ``type`` and ``text`` are always there, ``channel`` for every frame, ``cycle`` if it is not zero, ``method``
    if it is known, ``fields`` for what was read, ``error`` for a frame that cannot be read.
    """
    if isinstance(frame, ProtocolHeader):
        return {"type": "protocol-header", "text": str(frame)}
    kind = codec.dialect.layout.type_name(frame.type)
    try:
        what = _KINDS.get(kind, _other)(codec, frame)
    except WireError as error:
        what = _unreadable(codec, kind, frame, error)
    where = {"channel": frame.channel, "cycle": frame.cycle} if frame.cycle else {"channel": frame.channel}
    return {"type": kind, **where, **what}


def redacted(codec: Codec, layout: FrameLayout, octets: bytes) -> bytes:
    """One frame's octets, end octet included, with its secret masked; the length stays."""
    start = layout.header_octets
    ended = octets[-1:] == bytes((layout.end,))
    payload = octets[start:-1] if ended else octets[start:]
    return octets[:start] + _masked(codec, payload) + (octets[-1:] if ended and len(octets) > start else b"")


def json_safe(value: Any) -> Any:
    """A decoded value as JSON data: octets as text or hex, a decimal as text, duplicate fields as pairs."""
    if isinstance(value, Table):
        return named(value, lambda typed: json_safe(typed.value))
    if isinstance(value, list):
        return entries(value, lambda items: [json_safe(item.value) for item in items])
    if isinstance(value, tuple):
        return f"{value[1]}e-{value[0]}"
    return leaf(value)


# --- kinds of frames


def _method(codec: Codec, frame: Frame) -> dict[str, Any]:
    call = codec.decode_method(frame.payload)
    shown = [f for f in call.method.fields if call.args[f.key] or not f.reserved]
    fields = {f.name: json_safe(call.args[f.key]) for f in shown}
    secret = SECRETS.get(call.name)
    if secret:
        fields[secret] = f"<redacted, {len(call[secret])} octets>"
    return {"text": _line(call.name, fields), "method": call.name, "fields": fields}


def _header(codec: Codec, frame: Frame) -> dict[str, Any]:
    header = codec.decode_header(frame.payload)
    row = codec.dialect.classes_by_id[header.class_id]
    present = [f for f in row.properties if f.key in header.properties]
    properties = {f.name: json_safe(header.properties[f.key]) for f in present}
    fields = {"class": row.name, "weight": header.weight, "body-size": header.body_size_octets}
    text = f"content header of {row.name}, {header.body_size_octets} octets of body"
    return {"text": _line(text, properties), "fields": {**fields, "properties": properties}}


def _body(codec: Codec, frame: Frame) -> dict[str, Any]:
    return {"text": f"content body, {_begins(codec, frame)}", "fields": {"octets": len(frame.payload)}}


def _heartbeat(codec: Codec, frame: Frame) -> dict[str, Any]:
    return {"text": f"heartbeat with a payload of {_begins(codec, frame)}" if frame.payload else "heartbeat"}


def _opaque(codec: Codec, frame: Frame) -> dict[str, Any]:
    """Octets for someone else: a trace handler, a reader of what travels out of band."""
    kind = codec.dialect.layout.type_name(frame.type)
    return {"text": f"{kind} frame, {_begins(codec, frame)}", "fields": {"octets": len(frame.payload)}}


def _other(codec: Codec, frame: Frame) -> dict[str, Any]:
    return {"text": f"frame of unknown type {frame.type}, {_begins(codec, frame)}"}


_KINDS: Mapping[str, Callable[[Codec, Frame], dict[str, Any]]] = {
    "method": _method,
    "header": _header,
    "body": _body,
    "heartbeat": _heartbeat,
    "trace": _opaque,
    "oob-method": _opaque,
    "oob-header": _opaque,
    "oob-body": _opaque,
}


def _unreadable(codec: Codec, kind: str, frame: Frame, error: WireError) -> dict[str, Any]:
    """The error without its hex window, which may show a secret."""
    method = _method_of(codec, frame.payload) if kind == "method" else None
    what = said(error)
    text = f"unreadable {method.name if method else kind}, {_begins(codec, frame)}: {what}"
    return {"text": text, **({"method": method.name} if method else {}), "error": what}


def _begins(codec: Codec, frame: Frame) -> str:
    return first_octets(_masked(codec, frame.payload))


# --- secrets


def _masked(codec: Codec, payload: bytes) -> bytes:
    method = _method_of(codec, payload)
    if method is None or method.name not in SECRETS:
        return payload
    return masked(payload, [_secret_span(codec, method, payload)])


def _method_of(codec: Codec, payload: bytes) -> Method | None:
    ids = (int.from_bytes(payload[:2], "big"), int.from_bytes(payload[2:_IDS_OCTETS], "big"))
    return codec.dialect.methods_by_id.get(ids) if len(payload) >= _IDS_OCTETS else None


def _secret_span(codec: Codec, method: Method, payload: bytes) -> tuple[int, int]:
    """Where the secret, a long string, begins and ends in a method's payload."""
    secret = SECRETS[method.name]
    try:
        size = len(codec.decode_method(payload)[secret])
        start = codec.offset_of(payload, secret) + _SIZE_OCTETS
        return start, start + size
    except WireError:
        return min(_understood(codec, method, payload), len(payload)), len(payload)


def _understood(codec: Codec, method: Method, payload: bytes) -> int:
    """Up to where an unreadable payload cannot hold its secret: the end of the table before it, else its size."""
    first_size_end = _IDS_OCTETS + _SIZE_OCTETS
    if method.fields[0].name == SECRETS[method.name]:
        return first_size_end
    try:
        return codec.offset_of(payload, method.fields[1].name)
    except WireError as error:
        return max(error.offset, first_size_end)


def _line(start: str, fields: dict[str, Any]) -> str:
    text = with_fields(start, fields)
    return text if len(text) <= MAX_LINE else f"{text[:MAX_LINE]}…"
