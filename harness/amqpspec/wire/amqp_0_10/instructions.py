"""Controls, commands and header segments: what a segment holds, to octets and back.

Knows: codes, the session header before a command's arguments, structs of a header. Must not know: frames, sessions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.spec.assemblies import Command, Control
from amqpspec.wire.amqp_0_10.reading import CODE_OCTETS, READERS, STRUCTS, Fields
from amqpspec.wire.amqp_0_10.values import Packed, Raw, UnknownStruct
from amqpspec.wire.amqp_0_10.writing import encode, encode_fields, encode_struct
from amqpspec.wire.errors import WireError, too_short, unreadable

CONTROL, COMMAND = DIALECT.layout.types["control"], DIALECT.layout.types["command"]
HEADER, BODY = DIALECT.layout.types["header"], DIALECT.layout.types["body"]
ROWS: Mapping[str, Control] = {**DIALECT.controls, **DIALECT.commands}
"""Every control and command by name: no name is used for both."""

_BY_CODE: Mapping[int, Mapping[tuple[int, int], Control]] = {
    CONTROL: DIALECT.controls_by_code,
    COMMAND: DIALECT.commands_by_code,
}
_PACK_OCTETS = DIALECT.layout.arguments_pack_octets
_ARGUMENTS = {name: Fields(row.fields, _PACK_OCTETS) for name, row in ROWS.items()}
_SESSION_HEADER = DIALECT.structs["session.header"]
_READ_SESSION_HEADER = STRUCTS[_SESSION_HEADER.name]

HeaderEntry = Packed | UnknownStruct


class Instruction(NamedTuple):
    """A control or a command by its segment.

    ``row`` is None for codes that no table has. ``args`` are arguments by their keys (``routing_key``), those that are
    there; where ``error`` says why the segment cannot be read, as many as could be. ``session`` is the header that
    a command has before its arguments.
    """

    kind: int
    code: tuple[int, ...]
    row: Control | None
    args: Mapping[str, Any]
    session: Mapping[str, Any]
    error: WireError | None = None

    @property
    def name(self) -> str:
        """The name in the tables, or ``control-1.99``."""
        if self.row is not None:
            return self.row.name
        return f"{DIALECT.layout.type_name(self.kind)}-{'.'.join(map(str, self.code)) or '?'}"

    @property
    def sync(self) -> bool:
        """Whether a command asks for notice of its completion."""
        return bool(self.session.get("sync"))


def kind_of(name: str) -> int:
    """The type of the segment in which a control or a command travels."""
    return COMMAND if isinstance(ROWS[name], Command) else CONTROL


# --- writing


def encode_instruction(
    name: str,
    args: Mapping[str, Any],
    *,
    sync: bool = False,
    session: Raw | None = None,
    code: tuple[int, int] | None = None,
    flags: int | None = None,
    extra: bytes = b"",
) -> bytes:
    """The segment of a control or a command, legal or not; ``Raw`` octets can replace any argument.

    ``session`` takes the place of a command's whole session header; ``code`` and the packing ``flags`` may be wrong
    if they are given; ``extra`` octets follow the last argument. Raises KeyError, TypeError, EncodeError.
    """
    row = ROWS[name]
    octets = bytes((row.class_code, row.code) if code is None else code)
    if session is not None:
        octets += session
    elif isinstance(row, Command):
        octets += encode_struct(_SESSION_HEADER, {"sync": sync})
    return octets + encode_fields(row.fields, _PACK_OCTETS, args, name, flags) + extra


def encode_header(entries: Iterable[HeaderEntry | Raw]) -> bytes:
    """A header segment of these structs, in their order; raises EncodeError."""
    return b"".join(encode("struct32", entry, "header segment") for entry in entries)


# --- reading


def decode_instruction(kind: int, octets: bytes) -> Instruction:
    """What a control or command segment holds; never raises: what cannot be read is reported by ``error``."""
    code, args, session = tuple(octets[:CODE_OCTETS]), dict[str, Any](), dict[str, Any]()
    row = _BY_CODE[kind].get((code[0], code[1])) if len(code) == CODE_OCTETS else None
    try:
        _read(kind, row, octets, args, session)
    except WireError as error:
        return Instruction(kind, code, row, args, session, error)
    return Instruction(kind, code, row, args, session)


def _read(
    kind: int, row: Control | None, octets: bytes, args: dict[str, Any], session: dict[str, Any]
) -> None:
    what, at, end = DIALECT.layout.type_name(kind), CODE_OCTETS, len(octets)
    if end < CODE_OCTETS:
        raise too_short(f"{what} code", octets, 0, CODE_OCTETS, end)
    if row is None:
        raise unreadable(what, octets, 0, f"a {what} of {DIALECT.id}", f"code {octets[0]}.{octets[1]}")
    if kind == COMMAND:
        header, at = _READ_SESSION_HEADER(octets, at, end, 0)
        session.update(header.fields)
    at = _ARGUMENTS[row.name].read(octets, at, end, 0, args)
    if at != end:
        raise unreadable("arguments", octets, at, "the end of the arguments", f"{end - at} octets more")


def decode_header(octets: bytes) -> tuple[HeaderEntry, ...]:
    """The structs of a header segment in the order in which they stand; raises WireError."""
    return tuple(_header(octets))


def _header(octets: bytes) -> Iterable[HeaderEntry]:
    at, end, read = 0, len(octets), READERS["struct32"]
    while at < end:
        entry, at = read(octets, at, end, 0)
        yield entry
