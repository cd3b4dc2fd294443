"""The grammar of AMQP 0-10: each control, command, transfer, struct and type as a tree, made from the tables.

Knows: how the tables' rows are encoded on the wire. Must not know: states, what is illegal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from amqpspec.fuzz.amqp_0_10.samples import CHANNEL, EXCHANGE, is_given, sample
from amqpspec.fuzz.grammar import Production, protocol_header
from amqpspec.fuzz.trees.tree import Node, Role, count_of, counted, group, leaf, number, size_of
from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.spec.assemblies import (
    AssemblyDialect,
    Category,
    Content,
    Control,
    PackedField,
    Struct,
    WireType,
)
from amqpspec.spec.model import Side

BODY = b"amqpspec"
WHOLE, FIRST, MIDDLE, LAST = 0x0F, 0x0B, 0x03, 0x07
"""Flags of a segment in one frame: alone in its assembly, the first of several, between others, the last one."""
_ROLES = {
    "sequence-no": Role.SEQUENCE, "sequence-set": Role.DELIVERY, "byte-ranges": Role.DELIVERY, "datetime": Role.TIME,
}  # fmt: skip
BY_NAME = {
    "channel-max": Role.SEQUENCE, "max-frame-size": Role.SEQUENCE, "value": Role.SEQUENCE, "unit": Role.CODE,
    "reply-code": Role.CODE, "error-code": Role.CODE, "code": Role.CODE, "delivery-tag": Role.DELIVERY,
    "prefetch-count": Role.SEQUENCE, "prefetch-size": Role.SEQUENCE, "timeout": Role.TIME, "ttl": Role.TIME,
}  # fmt: skip
_TEXTS = (Content.UTF8, Content.LATIN, Content.UTF16)
_RANGES = {Content.SEQUENCE_SET: 4, Content.BYTE_RANGES: 8}
_SYNCED = frozenset({"execution.exception"})


def productions() -> Iterator[Production]:
    """Every production."""
    return _Grammar(DIALECT).productions()


class Maker:
    """Values, structs and frames as trees."""

    def __init__(self, dialect: AssemblyDialect) -> None:
        self.dialect = dialect

    # --- values

    def value(self, name: str, kind: WireType, value: Any, role: Role | None = None) -> Node:
        """A value of a type; numbers, octets and texts as they are, of a map names to the names of types."""
        if kind.content is Content.MAP:
            return self.map_of(
                name, [self.entry(key, self.dialect.types_by_name[t]) for key, t in value.items()]
            )
        if kind.content is Content.LIST:
            return self.list_of(name, [self.item(0, self.dialect.types_by_name["str8"])])
        if kind.content is Content.ARRAY:
            return self.array_of(name, self.dialect.types_by_name["str16"], ["one", "two"])
        if kind.content is Content.STRUCT:
            return self.struct(name, self.dialect.structs[str(value or "message.acquired")], 4, coded=True)
        if kind.content in _RANGES:
            return self.ranges(name, kind, [(0, 0)])
        if kind.category is Category.VARIABLE:
            octets = value.encode() if isinstance(value, str) else value
            own = role or (Role.TEXT if kind.content in _TEXTS else Role.OPAQUE)
            return counted(name, kind.width_octets, leaf("text", own, octets), kind.name)
        octets = value if isinstance(value, bytes) else int(value).to_bytes(kind.width_octets, "big")
        return leaf(name, role or _ROLES.get(kind.name, Role.NUMBER), octets, kind.name)

    def ranges(self, name: str, kind: WireType, ranges: Iterable[tuple[int, int]]) -> Node:
        """A set of ranges."""
        width = _RANGES[kind.content]
        parts = [
            group(f"range-{n}", *(number(end, Role.DELIVERY, width, at, kind.name) for end, at in ends))
            for n, ends in enumerate(zip(("lower", "upper"), pair, strict=True) for pair in ranges)
        ]
        return counted(name, kind.width_octets, group("ranges", *parts), kind.name)

    def map_of(self, name: str, entries: Sequence[Node]) -> Node:
        """A map of ready entries."""
        count = count_of(4, "entries", kind="map")
        return group(
            name, size_of(4, "count", "entries", kind="map"), count, group("entries", *entries), kind="map"
        )

    def list_of(self, name: str, items: Sequence[Node]) -> Node:
        """A list of ready items."""
        count = count_of(4, "items", kind="list")
        return group(
            name, size_of(4, "count", "items", kind="list"), count, group("items", *items), kind="list"
        )

    def array_of(self, name: str, kind: WireType, values: Iterable[Any]) -> Node:
        """An array of values of one type."""
        items = [self.value(f"item-{n}", kind, value) for n, value in enumerate(values)]
        size = size_of(4, "code", "count", "items", kind="array")
        count = count_of(4, "items", kind="array")
        return group(name, size, self.code(kind), count, group("items", *items), kind="array")

    def code(self, kind: WireType) -> Node:
        """The code of a type."""
        return number("code", Role.TYPE_TAG, 1, kind.code or 0, "tag")

    def entry(self, key: str, kind: WireType, value: Any = None) -> Node:
        """A key, a type, and a value or a sample of one."""
        text = counted("name", 1, leaf("text", Role.TEXT, key.encode()), "str8")
        return group(key or "entry", text, *self.item(0, kind, value).children, kind="entry")

    def item(self, place: int, kind: WireType, value: Any = None) -> Node:
        """A type and a value after it."""
        return group(f"item-{place}", self.code(kind), self.value("value", kind, self.example(kind, value)))

    def example(self, kind: WireType, value: Any = None) -> Any:
        """A value of a type that holds no others."""
        if value is not None:
            return value
        if kind.content in (Content.MAP, Content.STRUCT):
            return {"k": "str8"} if kind.content is Content.MAP else "message.acquired"
        if kind.content is Content.UUID or (
            kind.content is Content.OPAQUE and kind.category is Category.FIXED
        ):
            return b"\1" * kind.width_octets
        if kind.content is Content.UTF16:
            return b"\0t"
        return "text" if kind.category is Category.VARIABLE and kind.content in _TEXTS else (
            b"octets" if kind.category is Category.VARIABLE and kind.content is Content.OPAQUE else
            (0x41 if kind.width_octets else 0)
        )  # fmt: skip

    # --- structs and arguments

    def struct(
        self, name: str, row: Struct, size_octets: int, *, coded: bool, full: bool = True, **given: Any
    ) -> Node:
        """A struct with its size, codes and packing flags."""
        codes = [leaf("struct-code", Role.DESCRIPTOR, bytes(row.code or (0, 0)))] if coded else []
        held = [*codes, *self.packed(row.name, row.fields, row.pack_octets, full=full, **given)]
        if not size_octets:
            return group(name, *held, kind="struct")
        size = size_of(size_octets, *(part.name for part in held), kind="struct")
        return group(name, size, *held, kind="struct")

    def packed(
        self, owner: str, fields: Sequence[PackedField], pack_octets: int, *, full: bool, **given: Any
    ) -> list[Node]:
        """Packing flags, and the fields that are there; bits among them are named with True."""
        there = [f for f in fields if f.key in given or is_given(f, full=full)]
        word = sum(1 << fields.index(f) for f in there if given.get(f.key) is not False)
        args = group(
            "args",
            *(self.field(owner, f, given.get(f.key)) for f in there if self.dialect.base(f.type) != "bit"),
        )
        flags = [leaf("packing", Role.FLAGS, word.to_bytes(pack_octets, "little"), "packing")]
        return [*(flags if pack_octets else []), args]

    def field(self, owner: str, field: PackedField, value: Any = None) -> Node:
        """One field that is there; a tree as it is."""
        if isinstance(value, Node):
            return value
        base = self.dialect.base(field.type)
        if base in self.dialect.structs:
            row = self.dialect.structs[base]
            return self.struct(field.name, row, row.size_octets, coded=row.code is not None)
        element = self.dialect.element(field)
        if element:
            return self._elements(field.name, element)
        given = sample(self.dialect, owner, field) if value is None else value
        return self.value(field.name, self.dialect.types_by_name[base], given, BY_NAME.get(field.name))

    def _elements(self, name: str, element: str) -> Node:
        """An array of what a domain says."""
        base = self.dialect.base(element)
        if base in self.dialect.types_by_name:
            return self.array_of(name, self.dialect.types_by_name[base], ["one", "two"])
        return self.array_of(name, self.dialect.types_by_name["struct32"], ["message.acquired"])

    # --- frames

    def frame(
        self,
        kind: str,
        payload: Iterable[Node],
        *,
        flags: int = WHOLE,
        channel: int = CHANNEL,
        name: str = "frame",
    ) -> Node:
        """One frame around a part of a segment."""
        layout = self.dialect.layout
        track = layout.tracks["control" if kind == "control" else "command"]
        parts = {
            "flags": number("flags", Role.FLAGS, 1, flags, "frame"),
            "type": number("type", Role.FRAME_TYPE, 1, layout.types[kind]),
            "size": size_of(2, "payload", extra=layout.header_octets, kind="frame"),
            "reserved-1": number("reserved-1", Role.NUMBER, 1, 0, "reserved"),
            "track": number("track", Role.NUMBER, 1, track, "track"),
            "channel": number("channel", Role.CHANNEL, 2, channel),
            "reserved-2": number("reserved-2", Role.NUMBER, 4, 0, "reserved"),
        }
        return group(
            name, *(parts[field] for field, _ in layout.header), group("payload", *payload), kind="frame"
        )

    def instruction(self, row: Control, *, full: bool = True, sync: bool = True, **given: Any) -> list[Node]:
        """The segment of a control or a command."""
        codes = [
            number("class-id", Role.CLASS_ID, 1, row.class_code),
            number("method-id", Role.METHOD_ID, 1, row.code),
        ]
        if row.name in self.dialect.commands:
            flags = leaf("packing", Role.FLAGS, bytes((int(sync and row.name not in _SYNCED),)), "packing")
            codes.append(counted("session-header", 1, flags, "session-header"))
        pack_octets = self.dialect.layout.arguments_pack_octets
        return [*codes, *self.packed(row.name, row.fields, pack_octets, full=full, **given)]

    def alone(self, row: Control, *, full: bool = True, **given: Any) -> Node:
        """A control or a command in a separate frame."""
        kind = "command" if row.name in self.dialect.commands else "control"
        channel = 0 if row.class_name == "connection" else CHANNEL
        return group(row.name, self.frame(kind, self.instruction(row, full=full, **given), channel=channel))

    def header_struct(self, name: str, *, full: bool = True, **given: Any) -> Node:
        """One struct of a header segment."""
        return self.struct(
            name.partition(".")[2], self.dialect.structs[name], 4, coded=True, full=full, **given
        )

    def transfer(
        self, *structs: Node, body: bytes | None = BODY, row: str = "message.transfer", **given: Any
    ) -> Node:
        """A command with its header and its body, each in a separate frame."""
        command = self.frame(
            "command", self.instruction(self.dialect.commands[row], **given), flags=FIRST, name="command"
        )
        header = self.frame("header", structs, flags=LAST if body is None else MIDDLE, name="header")
        rest = [] if body is None else [self.body(body)]
        return group(row, command, header, *rest)

    def body(self, octets: bytes, flags: int = LAST, name: str = "body") -> Node:
        """A frame with a part of a body."""
        return self.frame("body", (leaf("data", Role.OPAQUE, octets),), flags=flags, name=name)


MAKER = Maker(DIALECT)


class _Grammar(Maker):
    def productions(self) -> Iterator[Production]:
        dialect = self.dialect
        yield Production("protocol-header", protocol_header(dialect.protocol_header), Side.BOTH)
        for control in dialect.controls.values():
            yield from self._both(f"control/{control.name}", control)
        for command in dialect.commands.values():
            if command.segments is None:
                yield from self._both(f"command/{command.name}", command)
            else:
                yield from self._with_segments(command.name, command.sent_by)
        yield from self._messages()

    def _both(self, name: str, row: Control) -> Iterator[Production]:
        """With all fields that fit, and with those alone that have to be there."""
        yield Production(name, self.alone(row), row.sent_by)
        if any(is_given(field, full=True) and not field.required for field in row.fields):
            yield Production(f"{name}/bare", self.alone(row, full=False), row.sent_by)

    def _with_segments(self, name: str, side: Side) -> Iterator[Production]:
        segments = self.dialect.commands[name].segments
        assert segments is not None
        structs = [self.header_struct(struct, full=False) for struct in segments.header]
        body = BODY if segments.body else None
        yield Production(f"content/{name}", self.transfer(*structs, body=body, row=name), side)

    def _messages(self) -> Iterator[Production]:
        """Transfers with each struct, each type in a map, and a body in several frames."""
        properties = self.header_struct(
            "message.delivery-properties", full=False, routing_key="amqpspec.fuzz.none"
        )
        bare = self.transfer(properties, body=None, destination=EXCHANGE)
        yield Production("message/bare", bare, Side.BOTH)
        for name in ("message.delivery-properties", "message.message-properties"):
            struct = self.header_struct(name)
            tree = self.transfer(*([properties] * (name[8] == "m")), struct)
            yield Production(f"struct/{name}", tree, Side.BOTH)
        for kind in self.dialect.types:
            if kind.code is not None:
                headers = self.map_of("application-headers", [self.entry("k", kind)])
                struct = self.header_struct(
                    "message.message-properties", full=False, application_headers=headers
                )
                yield Production(f"type/{kind.name}", self.transfer(properties, struct), Side.BOTH)
        yield Production("message/frames", self._in_frames(properties), Side.BOTH)
        header = group("header", self.frame("header", [properties], flags=MIDDLE, name="header"))
        yield Production("header/message", header, Side.BOTH)
        yield Production("body", group("body", self.body(BODY)), Side.BOTH)
        yield Production("body/rest", group("body", self.body(BODY, LAST & ~2)), Side.BOTH)

    def _in_frames(self, properties: Node) -> Node:
        """Every segment in two frames."""
        row = self.dialect.commands["message.transfer"]
        parts = self.instruction(row)
        return group(
            "message.transfer",
            self.frame("command", parts[:2], flags=FIRST & ~1, name="command-1"),
            self.frame("command", parts[2:], flags=FIRST & ~2, name="command-2"),
            self.frame("header", [properties], flags=MIDDLE & ~1, name="header-1"),
            self.frame("header", (), flags=MIDDLE & ~2, name="header-2"),
            self.body(BODY[:4], LAST & ~1, "body-1"),
            self.body(BODY[4:], LAST & ~2, "body-2"),
        )
