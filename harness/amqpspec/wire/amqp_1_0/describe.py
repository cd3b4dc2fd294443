"""Frames as text and as JSON data, and their octets, both without secrets.

Knows: what to say of each kind of frame, readable or not, and where secrets stand. Must not know: files, verdicts.

In a frame that is, or may be, part of a SASL exchange and cannot be read, everything is masked after the point up
to which it was understood. Masked octets are ``*``, so that sizes and offsets keep their meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from amqpspec.spec.amqp_1_0 import DIALECT, LAYOUT
from amqpspec.spec.typed import Category, Composite
from amqpspec.wire.amqp_1_0.composites import READERS, Composed
from amqpspec.wire.amqp_1_0.frames import AMQP_FRAME, HEADER_OCTETS, SASL_FRAME, TypedFrame, header_id
from amqpspec.wire.amqp_1_0.message import describe_payload
from amqpspec.wire.amqp_1_0.problems import Problem
from amqpspec.wire.amqp_1_0.secrets import MECHANISM_OCTETS, SECRETS, instead_of
from amqpspec.wire.amqp_1_0.values import Described, Repeated
from amqpspec.wire.amqp_1_0.writing import pack
from amqpspec.wire.errors import WireError
from amqpspec.wire.greeting import ProtocolHeader
from amqpspec.wire.words import MAX_LINE, cut, entries, first_octets, leaf, masked, said, with_fields

Span = tuple[int, int]

_DESCRIBED = 0x00
_LIST_HEADS = {0xC0: 3, 0xD0: 9, 0x45: 1}
_STRINGS = (0xA1, 0xB1)
_DESCRIPTORS = tuple(
    bytes((_DESCRIBED,)) + pack(encoding, descriptor)
    for row in DIALECT.sasl_frames
    for encoding, descriptor in (
        ("smallulong", row.code), ("ulong8", row.code), ("sym8", row.symbol), ("sym32", row.symbol),
    )
)  # fmt: skip


def describe_frame(frame: TypedFrame | ProtocolHeader) -> dict[str, Any]:
    """What a frame is, in one line of ``text`` and as JSON data.

    ``type`` and ``text`` are always there, ``channel`` for every frame, ``performative`` and ``fields`` where one was
    read, ``payload_octets`` if there are some, ``error`` for a body that cannot be read, ``problems`` for what the
    specification says against it.
    """
    if isinstance(frame, ProtocolHeader):
        known = header_id(frame.octets)
        return {"type": "protocol-header", "text": f"{frame}{f' ({known})' if known else ''}"}
    kind = LAYOUT.type_name(frame.frame_type)
    return {"type": kind, "channel": frame.channel, **_body(kind, frame)}


def _body(kind: str, frame: TypedFrame) -> dict[str, Any]:
    if frame.error is not None:
        error = frame.error
        # What could not be read of a SASL frame may be its secret.
        what = said(error, "cannot be read" if frame.frame_type == SASL_FRAME else None)
        return {"text": f"unreadable frame, {_begins(frame)}: {what}", "error": what}
    if frame.performative is None:
        known = frame.frame_type in (AMQP_FRAME, SASL_FRAME)
        what = (
            f"empty {kind} frame" if known else f"frame of unknown type {frame.frame_type}, {_begins(frame)}"
        )
        return {"text": what}
    return _performative(frame, frame.performative)


def _performative(frame: TypedFrame, performative: Composed) -> dict[str, Any]:
    fields = _fields(performative)
    data: dict[str, Any] = {"performative": performative.name, "fields": fields}
    text = with_fields(performative.name, fields)
    if frame.payload:
        data["payload_octets"] = len(frame.payload)
        plain = performative.name == "transfer"
        what = f" ({describe_payload(frame.payload)})" if plain else ""
        text = f"{text} payload of {len(frame.payload)} octets{what}"
    problems = [_complaint(performative.name, problem) for problem in frame.problems]
    if problems:
        data["problems"] = problems
        text = f"{text} — wrong: {'; '.join(problems)}"
    return {"text": cut(text, MAX_LINE), **data}


def _complaint(name: str, problem: Problem) -> str:
    return f"{problem.where}: expected {problem.expected}" if name in SECRETS else str(problem)


def _fields(composed: Composed) -> dict[str, Any]:
    given = [f for f in composed.row.fields if f.key in composed.given]
    hidden = {f.name: instead_of(composed.name, f.name, composed[f.key]) for f in given}
    return {f.name: hidden[f.name] or json_safe(composed[f.key]) for f in given}


def json_safe(value: Any) -> Any:
    """A plain value as JSON data: octets as text or hex, composites by name, long things cut."""
    if isinstance(value, Composed):
        return {"type": value.name, **_fields(value)}
    if isinstance(value, Described):
        return {"descriptor": json_safe(value.descriptor), "value": json_safe(value.value)}
    if isinstance(value, Repeated):
        return {"entries": len(value), "each": json_safe(value.value)}
    if isinstance(value, Mapping):
        return entries(list(value.items()), lambda pairs: {str(json_safe(k)): json_safe(v) for k, v in pairs})
    if isinstance(value, list | tuple):
        return entries(value, lambda items: [json_safe(item) for item in items])
    return str(value) if isinstance(value, UUID) else leaf(value)


def _begins(frame: TypedFrame) -> str:
    body = redacted(frame.octets)[-len(frame.payload) :] if frame.octets and frame.payload else frame.payload
    return first_octets(body)


# --- secrets


def redacted(octets: bytes) -> bytes:
    """One frame's octets, or its first ones, with its secret masked; the length stays."""
    return masked(octets, secret_spans(octets))


def secret_spans(octets: bytes) -> list[Span]:
    """Where secrets are in one frame, or in the first octets of one: (start, stop), sizes left out.

    A secret that is there in full is reported by its own octets; else everything is from where it might begin.
    """
    if len(octets) <= HEADER_OCTETS or octets.startswith(b"AMQP"):
        return []
    begin, sasl = octets[4] * LAYOUT.doff_word_octets, octets[5] == SASL_FRAME
    if begin < HEADER_OCTETS:
        return _from(octets, HEADER_OCTETS) if sasl else []
    extended = [(HEADER_OCTETS, min(begin, len(octets)))] if sasl and begin > HEADER_OCTETS else []
    return extended + (_in_body(octets, begin, sasl) if begin < len(octets) else [])


def _in_body(octets: bytes, begin: int, sasl: bool) -> list[Span]:
    try:
        row, at = _row(octets, begin)
    except WireError:
        return _from(octets, _known_descriptor(octets, begin)) if sasl else []
    if row is None or row.name not in SECRETS:
        return _from(octets, begin) if sasl and row is None else []
    return _in_list(octets, row, at)


def _row(octets: bytes, at: int) -> tuple[Composite | None, int]:
    """The composite that a body begins with, and where its list begins; raises WireError."""
    if octets[at] != _DESCRIBED:
        return None, at
    descriptor, at = READERS.read(octets, at + 1)
    known = DIALECT.described.get(descriptor) if isinstance(descriptor, int | str) else None
    return known if isinstance(known, Composite) else None, at


def _known_descriptor(octets: bytes, begin: int) -> int:
    """Up to where a body that is cut short can be the descriptor of a composite."""
    body = octets[begin:]
    if any(start.startswith(body) for start in _DESCRIPTORS):
        return len(octets)
    return begin


def _in_list(octets: bytes, row: Composite, at: int) -> list[Span]:
    """The secret field of a composite whose list begins at an offset, and what is not of the list's fields."""
    place = next(n for n, f in enumerate(row.fields) if f.name == SECRETS[row.name])
    if at >= len(octets):
        return []
    if octets[at] not in _LIST_HEADS:
        return _from(octets, at + 1)
    at += _LIST_HEADS[octets[at]]
    for _ in range(place):
        harmless = _harmless(octets, at)
        try:
            _, stop = READERS.read(octets, at)
        except WireError:
            return _from(octets, harmless)
        if harmless < stop:
            return _from(octets, harmless)
        at = stop
    try:
        _, end = READERS.read(octets, at)
    except WireError:
        return _from(octets, _content(octets, at))
    start = min(_content(octets, at), end)
    secret = [(start, end)] if start < end else []
    return secret + _behind(octets, len(row.fields) - place - 1, end)


def _behind(octets: bytes, fields: int, at: int) -> list[Span]:
    """What follows the secret, as far as it is none of the fields that belong there; they may be cut short."""
    cut = len(octets) < int.from_bytes(octets[:4], "big")
    for _ in range(fields):
        if at < len(octets):
            try:
                _, at = READERS.read(octets, at)
            except WireError:
                return [] if cut and octets[at] in _STRINGS else _from(octets, at)
    return _from(octets, at)


def _harmless(octets: bytes, at: int) -> int:
    """Up to where a field can be the name of a mechanism."""
    at = _content(octets, at)
    while at < len(octets) and octets[at] in MECHANISM_OCTETS:
        at += 1
    return at


def _content(octets: bytes, at: int) -> int:
    """Where the octets of a value begin, after its constructor and size."""
    return at + 1 + _size_octets(octets[at]) if at < len(octets) else at


def _from(octets: bytes, at: int) -> list[Span]:
    return [(at, len(octets))] if at < len(octets) else []


def _size_octets(code: int) -> int:
    encoding = DIALECT.encodings_by_code.get(code)
    return encoding.width_octets if encoding and encoding.category is Category.VARIABLE else 0
