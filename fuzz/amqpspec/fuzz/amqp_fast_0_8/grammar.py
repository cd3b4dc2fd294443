"""The grammar of AMQP/Fast: each command, message and table as a tree, made from the tables.

Knows: how the tables' rows are encoded on the wire. Must not know: states, what is illegal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from amqpspec.fuzz.amqp_fast_0_8.samples import sample
from amqpspec.fuzz.grammar import Production
from amqpspec.fuzz.trees.tree import Node, Role, counted, group, leaf, number, size_of
from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.spec.commands import Command, CommandField, Payload
from amqpspec.spec.methods import TypeTag

BODY = b"amqpspec"
TABLE = "fields"
"""The kind of a table: sizes of two octets, and no table inside another."""
Value = Callable[[CommandField], object]
_ROLES = {
    "channel-id": Role.CHANNEL, "handle-id": Role.HANDLE, "confirm-tag": Role.SEQUENCE, "prefetch": Role.SEQUENCE,
    "message-size": Role.SEQUENCE, "message-nbr": Role.DELIVERY, "reply-code": Role.CODE, "expiration": Role.TIME,
    "version": Role.VERSION, "fragment-size": Role.SIZE, "body-size": Role.SIZE,
}  # fmt: skip
_TAG_OCTETS = 4
"""Of a number in a table."""


def productions() -> Iterator[Production]:
    """Every production."""
    yield Production("greeting", greeting())
    for command in DIALECT.commands:
        yield Production(f"command/{command.name}", command_tree(command), command.sent_by)
    rows = DIALECT.commands_by_name
    for name, given in _VARIANTS.items():
        tree = command_tree(rows[name.partition("/")[0]], given)
        yield Production(f"command/{name}", tree)
    yield Production("message/fragments", _fragments())
    yield Production("frame/escaped", group("escaped", frame(rows["connection.ping"], {}, long=True)))
    for tag in DIALECT.table_tags:
        headers = table("headers", [entry("K", tag)])
        yield Production(f"table/{tag.name}", command_tree(rows["handle.send"], {}, {"headers": headers}))


_VARIANTS: Mapping[str, Mapping[str, object]] = {
    "handle.consume/queue": {"service-type": 1, "dynamic": True, "dest-name": ""},
    "handle.flow/pause": {"flow-pause": True},
    "channel.open/transacted": {"channel-id": 2, "transacted": True},
    "channel.open/restartable": {"channel-id": 2, "restartable": True},
    "connection.ping/quiet": {"respond": False},
    "handle.send/any": {"service-type": 3},
}
"""Commands that do another thing by one of their fields."""


# --- frames


def greeting() -> Node:
    """The two octets that begin a connection."""
    id, version = DIALECT.protocol_header
    return group("greeting", number("id", Role.VERSION, 1, id), number("version", Role.VERSION, 1, version))


def command_tree(
    command: Command,
    given: Mapping[str, Any] | None = None,
    head: Mapping[str, Any] | None = None,
) -> Node:
    """A command in its frame, and the fragment after it; values by the names of fields, nodes as they are."""
    parts = [frame(command, given or {})]
    if command.payload is not Payload.NONE:
        parts.append(group("fragment", *message(head or {})))
    return group(command.name, *parts)


def frame(
    command: Command,
    given: Mapping[str, Any],
    *,
    fragment: str = "fragment",
    long: bool = False,
) -> Node:
    """One frame; ``fragment`` is the part after it that a fragment-size counts, ``long`` escapes the size."""
    sizes = {"fragment-size": fragment_size(fragment)}
    values = {**sizes, **given}
    fields = run(command.fields, lambda f: values.get(f.name, _sample(command, f)))
    return framed(command.code, group("fields", *fields), long=long)


def fragment_size(fragment: str) -> Node:
    """The size of a fragment, which follows it."""
    return size_of(4, f"/{fragment}", name="fragment-size", kind="fragment")


def body_size(fragment: str) -> Node:
    """The size of the body in a fragment, which follows it."""
    return size_of(4, f"/{fragment}.body", name="body-size", kind="body")


def framed(code: int, fields: Node, *, long: bool = False) -> Node:
    """One frame of any code around its fields."""
    layout = DIALECT.layout
    size = size_of(layout.size_octets, "code", "fields", "end", kind="frame")
    if long:
        escape = number("escape", Role.FLAGS, layout.size_octets, layout.escape or 0)
        sizes = [escape, size_of(layout.long_size_octets, "code", "fields", "end", kind="long-frame")]
    else:
        sizes = [size]
    end = number("end", Role.END, 1, layout.end)
    return group("frame", *sizes, number("code", Role.FRAME_TYPE, 1, code), fields, end, kind="frame")


def _sample(command: Command | None, field: CommandField) -> object:
    return {} if field.type == "table" and command is None else sample(command, field)


def message(given: Mapping[str, Any], body: bytes = BODY) -> list[Node]:
    """Head and body of a message."""
    values = {"body-size": body_size("fragment"), "headers": {"K": b"v"}, **given}
    fields = run(DIALECT.message_head, lambda f: values.get(f.name, _sample(None, f)))
    return [group("head", *fields), leaf("body", Role.OPAQUE, body)]


def _fragments() -> Node:
    """A message in two fragments; the head in the first of them knows the size of the whole body."""
    send = DIALECT.commands_by_name["handle.send"]
    first = group("fragment", *message({"body-size": 2 * len(BODY)}))
    begins = frame(send, {"partial": True})
    ends = frame(send, {}, fragment="rest")
    return group("fragments", begins, first, ends, leaf("rest", Role.OPAQUE, BODY))


# --- fields


def run(fields: Sequence[CommandField], value: Value) -> Iterator[Node]:
    """Fields one after the other; neighbouring bits share octets."""
    for is_bit, found in groupby(fields, lambda f: f.type == "bit"):
        if is_bit:
            bits = list(found)
            word = sum(1 << place for place, f in enumerate(bits) if value(f))
            octets = word.to_bytes((len(bits) + 7) // 8, "little")
            yield leaf("+".join(f.name for f in bits), Role.FLAGS, octets, "bit")
        else:
            yield from (field_node(f, value(f)) for f in found)


def field_node(field: CommandField, value: Any) -> Node:
    """One field that is no bit; a tree as it is."""
    if isinstance(value, Node):
        return value
    kind = DIALECT.types_by_name[field.type]
    if kind.name == "table":
        return table(field.name, [_plain_entry(key, item) for key, item in value.items()])
    if kind.octets:
        octets = value if isinstance(value, bytes) else int(value).to_bytes(kind.octets, "big")
        return leaf(field.name, _ROLES.get(field.name, Role.NUMBER), octets, kind.name)
    return text(field.name, kind.name, kind.length_octets, value)


def text(name: str, kind: str, width_octets: int, value: str | bytes) -> Node:
    """A string after its size."""
    octets = value.encode() if isinstance(value, str) else value
    return counted(name, width_octets, leaf("text", Role.TEXT, octets), kind)


def table(name: str, entries: Iterable[Node]) -> Node:
    """A table of ready entries."""
    width = DIALECT.types_by_name["table"].length_octets
    return counted(name, width, group("entries", *entries), TABLE, "table")


def entry(key: str | bytes, tag: TypeTag, value: Any = None) -> Node:
    """A name, a tag, and a value or a sample of one."""
    octet = leaf("tag", Role.TYPE_TAG, tag.tag.encode(), "tag")
    name = text("name", "shortstr", DIALECT.types_by_name["shortstr"].length_octets, key)
    own = key if isinstance(key, str) else "entry"
    return group(own, name, octet, value_node(tag, value), kind="entry")


def value_node(tag: TypeTag, value: Any = None) -> Node:
    """What follows a tag; a sample if there is no value, octets as they are."""
    if tag.primitive == "longstr":
        width = DIALECT.types_by_name["longstr"].length_octets
        return text("value", "longstr", width, b"long" if value is None else value)
    if tag.primitive == "decimal":
        octets = b"\2\0\0\0\x64" if value is None else value
        scale, mantissa = leaf("scale", Role.NUMBER, octets[:1]), leaf("mantissa", Role.NUMBER, octets[1:])
        return group("value", scale, mantissa, kind="decimal")
    role = Role.TIME if tag.primitive == "time32" else Role.NUMBER
    plain = 1 if value is None else value
    octets = plain if isinstance(plain, bytes) else int(plain).to_bytes(_TAG_OCTETS, "big")
    return leaf("value", role, octets, tag.primitive)


def _plain_entry(key: str, value: int | bytes) -> Node:
    wanted = "longstr" if isinstance(value, bytes) else "int32"
    return entry(key, next(t for t in DIALECT.table_tags if t.primitive == wanted), value)
