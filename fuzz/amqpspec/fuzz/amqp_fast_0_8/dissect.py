"""Recorded octets of AMQP/Fast as trees, as fine as the grammar has them: frames, fields, tables, fragments.

Knows: how the tables' rows are encoded on the wire. Must not know: where octets come from.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from amqpspec.fuzz.amqp_fast_0_8.grammar import (
    body_size,
    entry,
    field_node,
    fragment_size,
    framed,
    greeting,
    table,
)
from amqpspec.fuzz.inputs.cursor import Cursor, Unreadable, at_end, cut, sure
from amqpspec.fuzz.trees.tree import Node, Role, group, leaf, octets_of, replaced, walk
from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.spec.commands import CommandField
from amqpspec.wire.amqp_fast_0_8.frames import CommandFrame, CommandReader

_MAX_OCTETS = 1 << 24
_DECIMAL_OCTETS, _NUMBER_OCTETS = 5, 4


def frames(octets: bytes) -> Iterator[Node]:
    """Frames whose sizes follow their fields, fragments, and what is none of them as it is."""
    done = 0
    if octets.startswith(DIALECT.protocol_header):
        done = len(DIALECT.protocol_header)
        yield greeting()
    begin = done
    cuts = cut(CommandReader(max_size=_MAX_OCTETS), octets[begin:])
    for number, (item, _, end) in enumerate(cuts):
        if not isinstance(item, CommandFrame):
            break
        done, name = begin + end, f"fragment-{number}"
        tree = _frame(item, octets[begin + item.offset : done - len(item.fragment)])
        if not item.fragment:
            yield tree
            continue
        yield _measured(tree, fragment_size(name))
        parts = _message(item.fragment)
        held = group(name, *parts)
        fits = len(parts) > 1 and parts[0].children[0].octets == len(parts[1].octets).to_bytes(4, "big")
        yield _measured(held, body_size(name)) if fits else held
    if done < len(octets):
        yield leaf("rest", Role.OPAQUE, octets[done:])


def _measured(tree: Node, size: Node) -> Node:
    """The tree with a size in place of the number that it is; as it is if there is none."""
    way = next((place.way for place in walk(tree) if place.node.name == size.name), None)
    return tree if way is None else replaced(tree, way, lambda _: (size,))


def _frame(item: CommandFrame, octets: bytes) -> Node:
    """A frame as fine as it can be read; as it is where its size is written otherwise than it has to be."""
    rows = item.command.fields if item.command is not None else ()
    parts = sure(lambda: tuple(_whole(rows, Cursor(item.fields))), item.fields)
    fields = group("fields", *parts) if parts else leaf("fields", Role.OPAQUE, item.fields)
    long = octets[:2] == (DIALECT.layout.escape or 0).to_bytes(2, "big")
    tree = framed(item.code, fields, long=long)
    return tree if octets_of(tree) == octets else leaf("frame", Role.OPAQUE, octets)


def _message(octets: bytes) -> tuple[Node, ...]:
    """Head and body, where a fragment begins with a head."""

    def read() -> tuple[Node, ...]:
        cursor = Cursor(octets)
        head = group("head", *_fields(DIALECT.message_head, cursor))
        return head, leaf("body", Role.OPAQUE, octets[cursor.at :])

    return sure(read, octets) or (leaf("body", Role.OPAQUE, octets),)


def _whole(rows: tuple[CommandField, ...], cursor: Cursor) -> Iterator[Node]:
    yield from _fields(rows, cursor)
    at_end(cursor)


def _fields(rows: tuple[CommandField, ...], cursor: Cursor) -> Iterator[Node]:
    for is_bit, found in groupby(rows, lambda f: f.type == "bit"):
        if is_bit:
            names = [f.name for f in found]
            yield leaf("+".join(names), Role.FLAGS, cursor.take((len(names) + 7) // 8), "bit")
        else:
            yield from (_field(f, cursor) for f in found)


def _field(field: CommandField, cursor: Cursor) -> Node:
    kind = DIALECT.types_by_name[field.type]
    octets = cursor.take(kind.octets or cursor.number(kind.length_octets))
    if kind.name == "table":
        return table(field.name, _entries(Cursor(octets)))
    return field_node(field, octets)


def _entries(cursor: Cursor) -> list[Node]:
    found: list[Node] = []
    while cursor.left:
        name = cursor.take(cursor.number(1))
        octet = cursor.take(1)
        tag = next((t for t in DIALECT.table_tags if t.tag.encode() == octet), None)
        if tag is None:
            raise Unreadable
        if tag.primitive == "longstr":
            value = cursor.take(cursor.number(2))
        else:
            value = cursor.take(_DECIMAL_OCTETS if tag.primitive == "decimal" else _NUMBER_OCTETS)
        found.append(entry(name, tag, value))
    return found
