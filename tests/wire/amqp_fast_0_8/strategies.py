"""What hypothesis draws: the fields of every command, and their octets, which are put together here by struct alone."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.spec.commands import Command, CommandField
from amqpspec.wire.values import Table, Typed

Drawn = tuple[Any, bytes]
"""A value, and the octets that carry it."""

_NUMBERS = {"octet": (">B", 0xFF), "short": (">H", 0xFFFF), "long": (">I", 0xFFFFFFFF)}


def _with_length(form: str, octets: bytes) -> bytes:
    return struct.pack(form, len(octets)) + octets


def numbers(kind: str) -> st.SearchStrategy[Drawn]:
    form, most = _NUMBERS[kind]
    values = st.integers(0, most) | st.sampled_from([0, 1, most])
    return values.map(lambda value: (value, struct.pack(form, value)))


def shortstrs() -> st.SearchStrategy[Drawn]:
    """Any octets but too many: what is not UTF-8 has to survive, too."""
    octets = st.binary(max_size=255) | st.text(max_size=60).map(str.encode)
    return octets.map(lambda o: (o.decode("utf-8", "surrogateescape"), _with_length(">B", o)))


def longstrs() -> st.SearchStrategy[Drawn]:
    return st.binary(max_size=300).map(lambda octets: (octets, _with_length(">H", octets)))


def table_values() -> st.SearchStrategy[tuple[Typed, bytes]]:
    int32 = st.integers(-(2**31), 2**31 - 1)
    return st.one_of(
        longstrs().map(lambda drawn: (Typed("S", drawn[0]), b"S" + drawn[1])),
        int32.map(lambda n: (Typed("I", n), struct.pack(">ci", b"I", n))),
        st.tuples(st.integers(0, 255), int32).map(lambda d: (Typed("D", d), struct.pack(">cBi", b"D", *d))),
        numbers("long").map(lambda drawn: (Typed("T", drawn[0]), b"T" + drawn[1])),
    )


def tables() -> st.SearchStrategy[Drawn]:
    """Tables in which a name may occur twice."""

    def put_together(pairs: list[tuple[Drawn, tuple[Typed, bytes]]]) -> Drawn:
        octets = b"".join(name[1] + value[1] for name, value in pairs)
        return Table((name[0], value[0]) for name, value in pairs), _with_length(">H", octets)

    return st.lists(st.tuples(shortstrs(), table_values()), max_size=4).map(put_together)


_KINDS = {"shortstr": shortstrs(), "longstr": longstrs(), "table": tables()} | {
    k: numbers(k) for k in _NUMBERS
}


@st.composite
def fields(draw: st.DrawFn, rows: Sequence[CommandField]) -> tuple[dict[str, Any], bytes]:
    """The fields of a command or of a head: by their keys, and as octets."""
    args: dict[str, Any] = {}
    octets, place = bytearray(), 0
    for row in rows:
        if row.type == "bit":
            value = draw(st.booleans())
            if place == 0:
                octets.append(0)
            octets[-1] |= value << place
            args[row.key], place = value, place + 1
        else:
            args[row.key], more = draw(_KINDS[row.type])
            octets, place = octets + more, 0
    return args, bytes(octets)


@st.composite
def commands(draw: st.DrawFn) -> tuple[Command, dict[str, Any], bytes]:
    """Any command with its fields and their octets."""
    command = draw(st.sampled_from(DIALECT.commands))
    return (command, *draw(fields(command.fields)))


@st.composite
def streams(draw: st.DrawFn) -> list[tuple[str, dict[str, Any], bytes]]:
    """Commands with fragments of the size that they announce."""
    items = []
    for command, args, _ in draw(st.lists(commands(), max_size=6)):
        size = draw(st.integers(0, 40)) if "fragment_size" in args else 0
        fits = {**args, "fragment_size": size} if "fragment_size" in args else args
        elsewhere = command.name in ("handle.send", "handle.notify") and args["out_of_band"]
        items.append(
            (command.name, fits, b"" if elsewhere else draw(st.binary(min_size=size, max_size=size)))
        )
    return items
