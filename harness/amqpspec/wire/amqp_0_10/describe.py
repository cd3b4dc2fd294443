"""Frames of AMQP 0-10 as text and as JSON data, with what they complete; secrets taken out.

Knows: what to say of each kind of segment, readable or not. Must not know: files, verdicts, what was sent before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.spec.assemblies import Content, PackedField
from amqpspec.wire.amqp_0_10.frames import FIRST_FRAME, LAYOUT, Frame
from amqpspec.wire.amqp_0_10.instructions import COMMAND, CONTROL, HEADER, HeaderEntry
from amqpspec.wire.amqp_0_10.problems import Problem
from amqpspec.wire.amqp_0_10.secrets import SECRETS, shown_fields
from amqpspec.wire.amqp_0_10.segments import Assembly, Segment, read_header, read_instruction
from amqpspec.wire.amqp_0_10.serial import in_words
from amqpspec.wire.amqp_0_10.values import Array, Map, Packed, UnknownStruct, Value
from amqpspec.wire.errors import WireError
from amqpspec.wire.greeting import ProtocolHeader
from amqpspec.wire.words import MAX_LINE, cut, entries, first_octets, leaf, named, said, with_fields

_LEAST_STRUCT = len("(struct-0.0 0 octets)")
_RANGES = (Content.SEQUENCE_SET, Content.BYTE_RANGES)


def describe_frame(frame: Frame | ProtocolHeader) -> dict[str, Any]:
    """What a frame is, in one line of ``text`` and as JSON data.

    ``type`` and ``text`` are always there, ``channel`` for every frame; ``control`` or ``command`` by name with its
    ``fields`` where the frame completes one, ``header`` structs, ``error`` for what cannot be read or has no place,
    ``problems`` for what the specification says against it.
    """
    if isinstance(frame, ProtocolHeader):
        return {"type": "protocol-header", "text": str(frame)}
    kind = LAYOUT.type_name(frame.type)
    data: dict[str, Any] = {"type": kind, "channel": frame.channel}
    text = _text(kind, frame, data)
    problems = [str(problem) for problem in frame.problems]
    if frame.assembly is not None:
        problems += _of_assembly(frame.assembly, data)
    if problems:
        data["problems"] = problems
        text = f"{text} — wrong: {'; '.join(problems)}"
    return {"text": cut(text, MAX_LINE), **data}


def _text(kind: str, frame: Frame, data: dict[str, Any]) -> str:
    if frame.error is not None:
        data["error"] = said(frame.error)
        return f"{kind} frame out of place, {len(frame.payload)} octets: {data['error']}"
    if frame.segment is None:
        part = "first" if frame.flags & FIRST_FRAME else "next"
        return f"{part} frame of a {kind} segment, {len(frame.payload)} octets"
    if frame.segment.type in (CONTROL, COMMAND):
        return _instruction(kind, frame.segment, data)
    if frame.segment.type == HEADER:
        return _header(frame.segment, data)
    return f"{kind} of {first_octets(frame.segment.octets)}"


def _instruction(kind: str, segment: Segment, data: dict[str, Any]) -> str:
    instruction = read_instruction(segment)
    data[kind] = instruction.name
    fields = _fields(instruction.row.fields if instruction.row else (), instruction.args)
    secret = instruction.name in SECRETS
    data["fields"] = shown_fields(instruction, fields) if secret else fields
    if instruction.sync:
        data["sync"] = True
    if instruction.error is None:
        return with_fields(f"{instruction.name}{' sync' if instruction.sync else ''}", data["fields"])
    return _unreadable(instruction.name, segment, instruction.error, data, secret=secret)


def _header(segment: Segment, data: dict[str, Any]) -> str:
    structs, error = read_header(segment)
    if error is not None:
        return _unreadable("header", segment, error, data)
    found = structs or ()
    data["header"] = entries(found, lambda some: [json_safe(entry) for entry in some])
    # A line has room for these at most.
    return " ".join(["header", *map(_struct, found[: MAX_LINE // _LEAST_STRUCT])])


def _struct(entry: HeaderEntry) -> str:
    if isinstance(entry, UnknownStruct):
        return f"({_unknown(entry)} {first_octets(entry.octets)})"
    return f"({with_fields(entry.name, _fields(DIALECT.structs[entry.name].fields, entry.fields))})"


def _unreadable(
    name: str, segment: Segment, error: WireError, data: dict[str, Any], *, secret: bool = False
) -> str:
    """The error, without what may show a secret: its hex window, and what was found where one was expected."""
    data["error"] = said(error, "cannot be read" if secret else None)
    begins = f"{len(segment.octets)} octets" if secret else first_octets(segment.octets)
    return f"unreadable {name}, {begins}: {data['error']}"


def _of_assembly(assembly: Assembly, data: dict[str, Any]) -> Iterable[str]:
    """What is wrong with the whole, beyond the problems of its segments."""
    secret = assembly.name in SECRETS
    yield from (_complaint(problem, secret) for problem in assembly.problems)
    if assembly.error is not None and assembly.error.where == "assembly":
        data["error"] = said(assembly.error)
        yield data["error"]


def _complaint(problem: Problem, secret: bool) -> str:
    return f"{problem.where}: expected {problem.expected}" if secret else str(problem)


# --- values


def _fields(rows: Sequence[PackedField], args: Mapping[str, Any]) -> dict[str, Any]:
    return {row.name: _field(row, args[row.key]) for row in rows if row.key in args}


def _field(row: PackedField, value: Any) -> Any:
    return _of_type(DIALECT.base(row.type), value)


def _of_type(kind: str | int, value: Any) -> Any:
    row = DIALECT.types_by_name.get(kind) if isinstance(kind, str) else None
    if row is not None and row.content in _RANGES:
        return cut(in_words(value))
    if row is not None and row.content is Content.DECIMAL:
        return f"{value[1]}e-{value[0]}"
    return json_safe(value)


def json_safe(value: Any) -> Any:
    """A decoded value as JSON data: octets as text or hex, structs by name, ranges and decimals as text."""
    if isinstance(value, Value):
        return _of_type(*value)
    if isinstance(value, Map):
        return named(value, json_safe)
    if isinstance(value, Array):
        return entries(value.items, lambda items: [_of_type(value.type, item) for item in items])
    if isinstance(value, Packed):
        return {"struct": value.name, **_fields(DIALECT.structs[value.name].fields, value.fields)}
    if isinstance(value, UnknownStruct):
        return {"struct": _unknown(value), "octets": leaf(value.octets)}
    if isinstance(value, tuple):
        return entries(value, lambda items: [json_safe(item) for item in items])
    return str(value) if isinstance(value, UUID) else leaf(value)


def _unknown(struct: UnknownStruct) -> str:
    return f"struct-{'.'.join(map(str, struct.code))}"
