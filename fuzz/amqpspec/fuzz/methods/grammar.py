"""The grammar of a dialect of classes and methods: each method, header, body, table and frame as a tree.

Knows: how the tables' rows are encoded on the wire. Must not know: states, what is illegal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from amqpspec.fuzz.grammar import Production, protocol_header
from amqpspec.fuzz.methods.samples import method_value, tag_value
from amqpspec.fuzz.trees.tree import Node, Role, find, group, leaf, number, replaced, size_of
from amqpspec.spec.methods import AmqpClass, Field, Method, MethodDialect, TypeTag
from amqpspec.spec.model import Side

CHANNEL = 1
"""The channel that a state opens, and on which productions travel."""

BODY = b"amqpspec"
WIDTHS_OCTETS = {
    "octet": 1, "short": 2, "long": 4, "longlong": 8, "timestamp": 8, "boolean": 1, "int8": 1, "uint8": 1, "int16": 2,
    "uint16": 2, "int32": 4, "uint32": 4, "int64": 8, "uint64": 8, "float": 4, "double": 8,
}  # fmt: skip
_ROLES = {
    "delivery-tag": Role.DELIVERY, "reply-code": Role.CODE, "class-id": Role.CLASS_ID, "method-id": Role.METHOD_ID,
    "timestamp": Role.TIME, "channel-max": Role.SEQUENCE, "frame-max": Role.SEQUENCE,
    "prefetch-size": Role.SEQUENCE, "prefetch-count": Role.SEQUENCE,
}  # fmt: skip


def productions(dialect: MethodDialect) -> Iterator[Production]:
    """Every production."""
    yield Production("protocol-header", protocol_header(dialect.protocol_header))
    for method in dialect.methods.values():
        yield Production(f"method/{method.name}", method_tree(dialect, method), method.sent_by)
    for row in dialect.classes:
        if row.properties or any(method.content for method in row.methods):
            yield Production(
                f"header/{row.name}", group("header", header_frame(dialect, row, row.properties))
            )
            yield Production(f"header/{row.name}/bare", group("header", header_frame(dialect, row, ())))
    for method in dialect.methods.values():
        if method.content:
            yield Production(f"content/{method.name}", content_tree(dialect, method), method.sent_by)
    yield Production("body", group("body", body_frame(dialect, BODY)))
    for tag in dialect.table_tags:
        yield Production(f"table/{tag.name}", table_tree(dialect, tag))
    for name, code in dialect.layout.types.items():
        if name not in ("method", "header", "body"):
            tree = group(
                name, frame(dialect, code, (), channel=0 if name in ("heartbeat", "trace") else CHANNEL)
            )
            yield Production(f"frame/{name}", tree, Side.BOTH)


# --- frames


def frame(dialect: MethodDialect, code: int, payload: Iterable[Node], channel: int = CHANNEL) -> Node:
    """One frame around the parts of a payload."""
    parts: dict[str, Callable[[int], Node]] = {
        "type": lambda width: number("type", Role.FRAME_TYPE, width, code),
        "cycle": lambda width: number("cycle", Role.CYCLE, width, 0),
        "channel": lambda width: number("channel", Role.CHANNEL, width, channel),
        "size": lambda width: size_of(width, "payload", kind="frame"),
    }
    header = [parts[name](width) for name, width in dialect.layout.header]
    end = number("end", Role.END, 1, dialect.layout.end)
    return group("frame", *header, group("payload", *payload), end, kind="frame")


def method_tree(dialect: MethodDialect, method: Method) -> Node:
    """A method frame with sample arguments."""
    return group(method.name, method_frame(dialect, method))


def method_frame(dialect: MethodDialect, method: Method) -> Node:
    """A method frame with sample arguments; those of class connection travel on channel 0."""
    args = group("args", *_run(dialect, method.fields, lambda f: method_value(method, f)))
    ids = (
        _id("class-id", Role.CLASS_ID, method.class_id),
        _id("method-id", Role.METHOD_ID, method.method_id),
    )
    channel = 0 if method.class_name == "connection" else CHANNEL
    return frame(dialect, dialect.layout.types["method"], (*ids, args), channel)


def _id(name: str, role: Role, value: int) -> Node:
    return number(name, role, 2, value)


def header_frame(
    dialect: MethodDialect, row: AmqpClass, properties: Sequence[Field], body_size: Node | None = None
) -> Node:
    """A content header frame with sample properties."""
    given = {f.name for f in properties}
    word = sum(0x8000 >> place for place, f in enumerate(row.properties) if f.name in given)
    valued = [f for f in properties if f.type != "bit"]
    parts = (
        _id("class-id", Role.CLASS_ID, row.index),
        number("weight", Role.COUNT, 2, 0),
        body_size or number("body-size", Role.SIZE, 8, len(BODY), "body"),
        number("flags", Role.FLAGS, 2, word),
        group("properties", *_run(dialect, valued, lambda f: method_value(None, f))),
    )
    return frame(dialect, dialect.layout.types["header"], parts)


def body_frame(dialect: MethodDialect, octets: bytes) -> Node:
    """A body frame."""
    return frame(dialect, dialect.layout.types["body"], (leaf("data", Role.OPAQUE, octets),))


def content_tree(dialect: MethodDialect, method: Method) -> Node:
    """A method, its content header and a body; the header's body size follows the body."""
    row = dialect.classes_by_name[method.class_name]
    size = size_of(8, "/body.payload", name="body-size", kind="body")
    frames = {
        "method": method_frame(dialect, method),
        "header": header_frame(dialect, row, row.properties[:2], size),
        "body": body_frame(dialect, BODY),
    }
    return group(method.name, *(replace(node, name=name) for name, node in frames.items()))


# --- fields


def _run(dialect: MethodDialect, fields: Sequence[Field], value: Callable[[Field], object]) -> Iterator[Node]:
    """Fields one after the other; neighbouring bits share octets."""
    for is_bit, run in groupby(fields, lambda f: f.type == "bit"):
        if is_bit:
            bits = list(run)
            word = sum(1 << place for place, f in enumerate(bits) if value(f))
            octets = word.to_bytes((len(bits) + 7) // 8, "little")
            yield leaf("+".join(f.name for f in bits), Role.FLAGS, octets, "bit")
        else:
            yield from (field_node(dialect, f, value(f)) for f in run)


def field_node(dialect: MethodDialect, field: Field, value: object) -> Node:
    """One argument or property that is no bit."""
    if field.type == "table":
        return table(dialect, field.name, value if isinstance(value, dict) else {})
    role = _ROLES.get(field.domain) or _ROLES.get(field.name)
    return primitive(field.name, field.type, value, role)


def primitive(name: str, kind: str, value: object, role: Role | None = None) -> Node:
    """A value of a primitive that holds no others."""
    if kind in ("shortstr", "longstr", "bytes"):
        octets = value.encode() if isinstance(value, str) else value
        assert isinstance(octets, bytes)
        size_kind = "shortstr" if kind == "shortstr" else "longstr"
        text = leaf(
            "text" if kind != "bytes" else "data", Role.TEXT if kind != "bytes" else Role.OPAQUE, octets
        )
        return group(
            name, size_of(1 if kind == "shortstr" else 4, text.name, kind=size_kind), text, kind=kind
        )
    octets = value if isinstance(value, bytes) else int(str(value)).to_bytes(WIDTHS_OCTETS[kind], "big")
    return leaf(name, role or (Role.TIME if kind == "timestamp" else Role.NUMBER), octets, kind)


def table(dialect: MethodDialect, name: str, entries: dict[str, str]) -> Node:
    """A field table: names to the names of tags, each with a sample value."""
    tags = {tag.name: tag for tag in dialect.table_tags}
    return table_of(name, [entry(dialect, key, tags[tag]) for key, tag in entries.items()])


def table_of(name: str, entries: Iterable[Node]) -> Node:
    """A field table of ready entries."""
    return group(name, size_of(4, "entries", kind="table"), group("entries", *entries), kind="table")


def entry(dialect: MethodDialect, key: str, tag: TypeTag) -> Node:
    """A name, a tag and a sample value."""
    name = primitive("name", "shortstr", key)
    return group(key, name, *tagged(dialect, tag), kind="entry")


def tagged(dialect: MethodDialect, tag: TypeTag, depth: int = 1) -> tuple[Node, ...]:
    """A tag and a sample value after it; tables and arrays hold a long string or, at depth 0, nothing."""
    octet = leaf("tag", Role.TYPE_TAG, tag.tag.encode(), "tag")
    inner = next(t for t in dialect.table_tags if t.primitive == "longstr")
    if tag.primitive == "table":
        return octet, table_of("value", [entry(dialect, "k", inner)] if depth else [])
    if tag.primitive == "array":
        items = [group(f"item-{n}", *tagged(dialect, inner)) for n in range(2)] if depth else []
        return octet, group("value", size_of(4, "items", kind="array"), group("items", *items), kind="array")
    if tag.primitive == "void":
        return (octet,)
    if tag.primitive == "decimal":
        scale, unscaled = number("scale", Role.NUMBER, 1, 2), number("unscaled", Role.NUMBER, 4, 100)
        return octet, group("value", scale, unscaled, kind="decimal")
    return octet, primitive(
        "value", tag.primitive, tag_value(tag.primitive, WIDTHS_OCTETS.get(tag.primitive, 0))
    )


def table_tree(dialect: MethodDialect, tag: TypeTag) -> Node:
    """A content header whose table property holds one value of a tag: a place that every server has to read."""
    row = next(c for c in dialect.classes if c.name == "basic")
    field = next(f for f in row.properties if f.type == "table")
    whole = header_frame(dialect, row, (field,))
    held = table_of(field.name, [entry(dialect, "k", tag)])
    way = group("header", whole)
    return with_part(way, f"frame.payload.properties.{field.name}", held)


def with_part(root: Node, path: str, new: Node) -> Node:
    """The tree with another part at a path."""

    return replaced(root, find(root, path).way, lambda _: (new,))
