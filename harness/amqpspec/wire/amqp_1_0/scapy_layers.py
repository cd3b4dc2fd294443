"""AMQP 1.0 as scapy layers: Packet classes whose ``fields_desc`` come from the same tables as everything else.

Knows: scapy's fields. Must not know: how our own codec reads, sockets.
For looking and for scripts, not for speed: scapy is imported when the first layer is asked for. Sizes and counts
left out are computed; what cannot be dissected becomes scapy's ``Raw``, the octets stay the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from keyword import iskeyword
from typing import Any

from amqpspec.spec.amqp_1_0 import DIALECT, LAYOUT
from amqpspec.spec.typed import Category, Composite, Encoding, TypedField
from amqpspec.wire.methods.scapy_layers import bind, protocol_header_layer, stream_layer, unbind

__all__ = ["TypedLayers", "typed_layers"]

_NUMBERS = {
    "ubyte": "ByteField", "ushort": "ShortField", "uint": "IntField", "ulong": "LongField", "byte": "SignedByteField",
    "short": "SignedShortField", "int": "SignedIntField", "long": "SignedLongField", "float": "IEEEFloatField",
    "double": "IEEEDoubleField", "timestamp": "SignedLongField", "char": "IntField", "boolean": "ByteField",
}  # fmt: skip
_NARROW = {"uint": "ByteField", "ulong": "ByteField", "int": "SignedByteField", "long": "SignedByteField"}
_FORMATS = {1: "B", 4: "I"}
_MAX_ITEMS = 1 << 16
_DESCRIBED, _NULL, _LIST8, _LIST32 = 0x00, 0x40, 0xC0, 0xD0
_WORD_OCTETS = LAYOUT.doff_word_octets


@cache
def typed_layers() -> TypedLayers:
    """The layers, made once."""
    return TypedLayers()


class TypedLayers:
    """The layers of AMQP 1.0.

    ``frame`` is one frame, ``protocol_header`` what begins a layer, ``stream`` both one after the other, and what is
    not complete as ``Raw``; ``bind`` lets scapy find them by port. ``values`` are by the name of their encoding,
    ``described`` is a described value, ``composites`` are by name, with a field for each of theirs. The body of a
    frame is a composite of ``bodies``, which has the ``payload_octets`` behind it.
    """

    def __init__(self) -> None:
        encodings = DIALECT.encodings.values()
        self.values = {e.name: _packet(f"amqp-{e.name}", self._value(e)) for e in encodings}
        self._by_code = {e.code: self.values[e.name] for e in encodings}
        described = [_code(_DESCRIBED), self._any("descriptor"), self._any("value")]
        self.described = _packet("amqp-described", described)
        rows = DIALECT.composites.values()
        self.composites = {row.name: _packet(row.name, self._composite(row)) for row in rows}
        framed = (*DIALECT.performatives, *DIALECT.sasl_frames)
        self.bodies = {
            row.name: _packet(row.name, [*self._composite(row), _rest("payload_octets")]) for row in framed
        }
        self.frame = _packet("amqp-1-0-frame", self._frame())
        self.protocol_header = protocol_header_layer("Amqp10ProtocolHeader", LAYOUT.headers["amqp"])
        self.stream = stream_layer("Amqp10Stream", self.frame, self.protocol_header, _frame_octets)

    def bind(self, *ports: int) -> None:
        """Dissect TCP segments from and to these ports as streams of AMQP 1.0, 5672 where none is given."""
        bind(self.stream, ports)

    def unbind(self, *ports: int) -> None:
        """Take ``bind`` back."""
        unbind(self.stream, ports)

    # --- values

    def _value(self, encoding: Encoding) -> Iterator[Any]:
        f, width, kind = _scapy(), encoding.width_octets, DIALECT.primitive_of[encoding.code]
        yield _code(encoding.code)
        if encoding.category is Category.VARIABLE:
            yield f.FieldLenField("size", None, fmt=_FORMATS[width], length_of="value")
            yield f.StrLenField("value", b"", length_from=lambda packet: packet.size)
        elif encoding.category is Category.COMPOUND:
            yield _size(width, "items")
            yield f.FieldLenField("count", None, fmt=_FORMATS[width], count_of="items")
            yield self._items(width)
        elif encoding.category is Category.ARRAY:
            yield _size(width, "elements")
            yield f.FieldLenField("count", 0, fmt=_FORMATS[width], length_of="elements")
            yield f.StrLenField("elements", b"", length_from=lambda packet: max(0, packet.size - width))
        elif width and kind in _NUMBERS:
            narrow = width == 1 and kind in _NARROW
            yield getattr(f, _NARROW[kind] if narrow else _NUMBERS[kind])("value", 0)
        elif width:
            yield f.StrFixedLenField("value", bytes(width), length=width)

    def _items(self, width: int) -> Any:
        return _scapy().PacketListField(
            "items",
            [],
            lambda octets, _parent=None: self._layer(octets)(octets),
            length_from=lambda packet: max(0, packet.size - width),
            max_count=_MAX_ITEMS,
        )

    def _any(self, name: str) -> Any:
        """A field that holds any value; null where it is left out."""
        return _value_field()(name, None, lambda octets, _parent=None: self._layer(octets)(octets))

    def _layer(self, octets: bytes) -> Any:
        """The layer of a value: its composite, where a descriptor of the common form names one."""
        if not octets or octets[0] != _DESCRIBED:
            return self._by_code.get(octets[0], _raw()) if octets else _raw()
        row = _row(octets)
        return self.composites[row.name] if row is not None else self.described

    # --- composites and frames

    def _composite(self, row: Composite) -> Iterator[Any]:
        f = _scapy()
        yield _code(_DESCRIBED, "described")
        yield f.XByteField("descriptor_code", DIALECT.encodings["smallulong"].code)
        yield f.XByteField("descriptor", row.code)
        yield f.XByteField("list_code", _LIST8)
        for code, suffix, width in ((_LIST8, "", 1), (_LIST32, "_4", 4)):
            number = f.ByteField if width == 1 else f.IntField
            yield f.ConditionalField(_computed(number, f"size{suffix}", _size_of(row, width)), _when(code))
            yield f.ConditionalField(
                _computed(number, f"count{suffix}", lambda packet: _count(packet, row)), _when(code)
            )
        for place, field in enumerate(row.fields):
            yield f.ConditionalField(self._any(_name(field)), _present(row, place))

    def _frame(self) -> Iterator[Any]:
        f = _scapy()
        types = {code: name for name, code in LAYOUT.types.items()}
        yield _computed(
            f.IntField, "size", lambda p: LAYOUT.header_octets + len(p.extended or b"") + len(_built(p.body))
        )
        yield _computed(
            f.ByteField, "doff", lambda p: LAYOUT.min_doff + len(p.extended or b"") // _WORD_OCTETS
        )
        yield f.ByteEnumField("type", LAYOUT.types["amqp"], types)
        yield f.ShortField("channel", 0)
        yield f.StrLenField("extended", b"", length_from=_extended_octets)
        yield f.PacketLenField("body", None, self._body, length_from=_body_octets)

    def _body(self, octets: bytes, _parent: Any = None) -> Any:
        row = _row(octets)
        layer = self.bodies.get(row.name) if row is not None else None
        return (layer or _raw())(octets)


# --- what a composite has


def _row(octets: bytes) -> Composite | None:
    """The composite that octets are, where its descriptor is one octet and its list has a size of one or four."""
    if len(octets) < 4 or octets[0] != _DESCRIBED or octets[1] != DIALECT.encodings["smallulong"].code:
        return None
    row = DIALECT.described.get(octets[2])
    lists = [e.code for e in DIALECT.primitives_by_name["list"].encodings]
    return row if isinstance(row, Composite) and octets[3] in lists else None


def _count(packet: Any, row: Composite) -> int:
    """How many fields a composite has: as told, else up to the last one that was given."""
    told = packet.fields.get("count", packet.fields.get("count_4"))
    if told is not None:
        return int(told)
    given = [n for n, field in enumerate(row.fields) if packet.fields.get(_name(field)) is not None]
    return given[-1] + 1 if given and packet.list_code in (_LIST8, _LIST32) else 0


def _size_of(row: Composite, width: int) -> Callable[[Any], int]:
    def size(packet: Any) -> int:
        fields = row.fields[: _count(packet, row)]
        return width + sum(len(_built(packet.fields.get(_name(f))) or b"\x40") for f in fields)

    return size


def _present(row: Composite, place: int) -> Callable[[Any], bool]:
    return lambda packet: _count(packet, row) > place


def _when(code: int) -> Callable[[Any], bool]:
    return lambda packet: packet.list_code == code


def _name(field: TypedField) -> str:
    taken = field.key in ("name", "payload", "time", "fields", "count", "size") or iskeyword(field.key)
    return f"{field.key}_" if taken else field.key


def _frame_octets(octets: bytes) -> int | None:
    """How long a frame says it is; None where that has not come yet, or cannot be."""
    size = int.from_bytes(octets[:4], "big")
    return size if len(octets) >= 4 and size >= LAYOUT.header_octets else None


def _extended_octets(packet: Any) -> int:
    return int(max(0, packet.doff * _WORD_OCTETS - LAYOUT.header_octets))


def _body_octets(packet: Any) -> int:
    return int(max(0, packet.size - packet.doff * _WORD_OCTETS))


def _built(value: Any) -> bytes:
    return b"" if value is None else bytes(value)


# --- scapy's vocabulary


@cache
def _scapy() -> Any:
    from scapy import fields

    return fields


def _raw() -> Any:
    from scapy.packet import Raw

    return Raw


def _packet(name: str, fields_desc: Iterable[Any]) -> Any:
    """A Packet class that leaves what follows it to the packet around it."""
    from scapy.packet import Packet

    title = "".join(part.capitalize() for part in name.split("-"))
    members = {
        "__module__": __name__,
        "name": name,
        "fields_desc": list(fields_desc),
        "extract_padding": lambda self, octets: (b"", octets),
    }
    return type(Packet)(title, (Packet,), members)


def _code(code: int, name: str = "code") -> Any:
    return _scapy().XByteField(name, code)


def _rest(name: str) -> Any:
    return _scapy().StrField(name, b"")


def _size(width: int, of: str) -> Any:
    def adjust(_: Any, size: int) -> int:
        return size + width

    return _scapy().FieldLenField("size", None, fmt=_FORMATS[width], length_of=of, adjust=adjust)


def _computed(kind: Any, name: str, compute: Callable[[Any], int]) -> Any:
    """A number that is computed where it was left out."""

    def i2m(self: Any, packet: Any, value: Any) -> Any:
        return compute(packet) if value is None else value

    return type(f"Computed{kind.__name__}", (kind,), {"i2m": i2m, "__slots__": ()})(name, None)


@cache
def _value_field() -> Any:
    """A field for one value, null where it is left out."""
    field = _scapy().PacketField

    def i2m(self: Any, packet: Any, value: Any) -> Any:
        return bytes((_NULL,)) if value is None else field.i2m(self, packet, value)

    return type("ValueField", (field,), {"i2m": i2m, "__slots__": ()})
