"""A dialect of the 0-9 family as scapy layers: their ``fields_desc`` come from the same tables as everything else.

Knows: methods, content headers, field tables. Must not know: frames, streams, how our own codec reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from typing import Any

from amqpspec.spec.methods import Field, MethodDialect, TypeTag, load_methods
from amqpspec.wire.layers import Body, Layers, bits, items, length, packet, python_name, raw, scapy

_NUMBERS = {
    "octet": "ByteField", "short": "ShortField", "long": "IntField", "longlong": "LongField",
    "timestamp": "LongField", "boolean": "ByteField", "int8": "SignedByteField", "uint8": "ByteField",
    "int16": "SignedShortField", "uint16": "ShortField", "int32": "SignedIntField", "uint32": "IntField",
    "int64": "SignedLongField", "uint64": "LongField", "float": "IEEEFloatField", "double": "IEEEDoubleField",
}  # fmt: skip
_LENGTHS = {"shortstr": "B", "longstr": "I", "bytes": "I"}
_FLAG_BITS = 16


@cache
def layers_for(dialect_id: str) -> AmqpLayers:
    """The layers of a dialect by id, made once."""
    return AmqpLayers(load_methods(dialect_id))


class AmqpLayers(Layers):
    """The layers of one dialect: see ``Layers``.

    ``methods`` are by name, ``headers`` (content headers) by class name; ``table`` and ``array`` hold ``entry`` and
    ``item`` layers, whose ``value`` is one of ``values`` by tag. Fields are named as arguments are.
    """

    def __init__(self, dialect: MethodDialect) -> None:
        self.table = packet("AmqpTable", [length("size", "I", "entries"), _entries(lambda: self.entry)])
        self.array = packet("AmqpArray", [length("size", "I", "entries"), _entries(lambda: self.item)])
        self.values = {t.tag: self._value(t) for t in dialect.table_tags}
        tagged = list(_tagged_value(dialect.table_tags, self.values))
        self.entry = packet("AmqpEntry", [*_string("key", "shortstr"), *tagged])
        self.item = packet("AmqpItem", tagged)
        self.methods = {
            m.name: packet(m.name, [*_ids(m.class_id, m.method_id), *self._arguments(m.fields)])
            for m in dialect.methods.values()
        }
        self.headers = {c.name: self._header(c.name, c.index, c.properties) for c in dialect.classes}
        super().__init__("Amqp", dialect.layout, dialect.protocol_header, self._body(dialect))

    # --- tables

    def _value(self, tag: TypeTag) -> Any:
        if tag.primitive in ("table", "array"):
            return self.table if tag.primitive == "table" else self.array
        title = f"Amqp {tag.name}"
        if tag.primitive == "decimal":
            scale, unscaled = _number("scale", "octet"), _number("unscaled", "int32")
            return packet(title, [scale, unscaled])
        if tag.primitive == "void":
            return packet(title, [])
        return packet(title, [*_single("value", tag.primitive, self.table)])

    # --- methods and content headers

    def _arguments(self, fields: Sequence[Field]) -> Iterator[Any]:
        for number, (kind, run) in enumerate(groupby(fields, lambda f: f.type == "bit")):
            if kind:
                yield from bits([python_name(f.key) for f in run], f"unused_{number}")
            else:
                yield from (part for f in run for part in _single(python_name(f.key), f.type, self.table))

    def _header(self, name: str, class_id: int, properties: Sequence[Field]) -> Any:
        f = scapy()
        flag_names = ["continued", *(f"bit_{n}" for n in range(1, _FLAG_BITS - len(properties)))]
        flag_names += [p.key for p in reversed(properties)]
        start = [
            f.ShortField("class_id", class_id),
            f.ShortField("weight", 0),
            f.LongField("body_size_octets", 0),
            f.FlagsField("flags", 0, _FLAG_BITS, flag_names),
            f.ConditionalField(_more_flags(), _flagged(1)),
        ]
        parts = (
            f.ConditionalField(part, _flagged(1 << _FLAG_BITS - 1 - number))
            for number, p in enumerate(properties)
            for part in _single(python_name(p.key), p.type, self.table)
        )
        return packet(f"{name}.content-header", [*start, *parts])

    # --- frames

    def _body(self, dialect: MethodDialect) -> Body:
        types = dialect.layout.types
        methods = {ids: self.methods[m.name] for ids, m in dialect.methods_by_id.items()}
        headers = {c.index: self.headers[c.name] for c in dialect.classes}
        bodies: dict[int, Callable[[bytes], Any]] = {
            types["method"]: lambda octets: methods.get((_u16(octets, 0), _u16(octets, 2))),
            types["header"]: lambda octets: headers.get(_u16(octets, 0)),
        }

        def body(octets: bytes, frame: Any) -> Any:
            choose = bodies.get(frame.type) if frame is not None else None
            return ((choose(octets) if choose else None) or raw())(octets)

        return body


# --- scapy's vocabulary


@cache
def _more_flags() -> Any:
    """Flag words after the first one, as octets: each says in its lowest bit whether another follows."""

    def getfield(self: Any, packet: Any, octets: bytes) -> tuple[bytes, bytes]:
        at = 2
        while at < len(octets) and octets[at - 1] & 1:
            at += 2
        return octets[at:], octets[:at]

    kind = type("MoreFlagsField", (scapy().StrField,), {"getfield": getfield, "__slots__": ()})
    return kind("more_flags", b"\0\0")


def _entries(layer: Callable[[], Any]) -> Any:
    return items("entries", lambda _: layer(), lambda packet: packet.size)


def _number(name: str, primitive: str) -> Any:
    return getattr(scapy(), _NUMBERS[primitive])(name, 0)


def _string(name: str, primitive: str) -> Iterator[Any]:
    yield length(f"{name}_size", _LENGTHS[primitive], name)
    yield scapy().StrLenField(name, b"", length_from=lambda packet: getattr(packet, f"{name}_size"))


def _single(name: str, primitive: str, table: Any) -> Iterator[Any]:
    """One argument, property or value: a number, a string with its length, or a table."""
    if primitive in _NUMBERS:
        yield _number(name, primitive)
    elif primitive in _LENGTHS:
        yield from _string(name, primitive)
    else:
        yield scapy().PacketField(name, table(), table)


def _ids(class_id: int, method_id: int) -> Iterator[Any]:
    yield scapy().ShortField("amqp_class", class_id)
    yield scapy().ShortField("amqp_method", method_id)


def _tagged_value(tags: Iterable[TypeTag], layers: Mapping[str, Any]) -> Iterator[Any]:
    by_code = {ord(tag): layer for tag, layer in layers.items()}

    def value(octets: bytes, _parent: Any = None) -> Any:
        return by_code.get(_parent.tag if _parent is not None else -1, raw())(octets)

    names = {ord(t.tag): f"{t.tag} {t.name}" for t in tags}
    yield scapy().ByteEnumField("tag", ord("S"), names)
    yield scapy().PacketField("value", None, value)


def _flagged(mask: int) -> Callable[[Any], bool]:
    return lambda packet: bool(int(packet.flags) & mask)


def _u16(octets: bytes, at: int) -> int:
    return int.from_bytes(octets[at : at + 2], "big")
