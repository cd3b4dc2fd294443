"""AMQP 1.0 as scapy layers: Packet classes whose ``fields_desc`` come from the same tables as everything else.

Knows: encodings, composites. Must not know: frames, streams, how our own codec reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from amqpspec.spec.amqp_1_0 import DIALECT
from amqpspec.spec.typed import Category, Composite, Encoding, TypedField
from amqpspec.wire.layers import Layers, built, computed, items, length, packet, python_name, raw, scapy

__all__ = ["TypedLayers", "layers_for"]

_NUMBERS = {
    "ubyte": "ByteField", "ushort": "ShortField", "uint": "IntField", "ulong": "LongField", "byte": "SignedByteField",
    "short": "SignedShortField", "int": "SignedIntField", "long": "SignedLongField", "float": "IEEEFloatField",
    "double": "IEEEDoubleField", "timestamp": "SignedLongField", "char": "IntField", "boolean": "ByteField",
}  # fmt: skip
_NARROW = {"uint": "ByteField", "ulong": "ByteField", "int": "SignedByteField", "long": "SignedByteField"}
_FORMATS = {1: "B", 4: "I"}
_TAKEN = ("name", "payload", "time", "fields", "count", "size")
"""Names that a Packet, or the list around the fields, has for itself."""
_DESCRIBED, _NULL, _LIST8, _LIST32 = 0x00, 0x40, 0xC0, 0xD0


@cache
def layers_for(dialect_id: str) -> TypedLayers:
    """The layers, made once."""
    return TypedLayers()


class TypedLayers(Layers):
    """The layers of AMQP 1.0: see ``Layers``.

    ``values`` are by the name of their encoding, ``described`` is a described value, ``composites`` are by name, with a
    field for each of theirs. The body of a frame is a composite of ``bodies``, with the ``payload_octets`` after it.
    """

    def __init__(self) -> None:
        encodings = DIALECT.encodings.values()
        self.values = {e.name: packet(f"amqp-{e.name}", self._value(e)) for e in encodings}
        self._by_code = {e.code: self.values[e.name] for e in encodings}
        described = [_code(_DESCRIBED), self._any("descriptor"), self._any("value")]
        self.described = packet("amqp-described", described)
        rows = DIALECT.composites.values()
        self.composites = {row.name: packet(row.name, self._composite(row)) for row in rows}
        framed = (*DIALECT.performatives, *DIALECT.sasl_frames)
        self.bodies = {
            row.name: packet(row.name, [*self._composite(row), scapy().StrField("payload_octets", b"")])
            for row in framed
        }
        super().__init__("Amqp10", DIALECT.layout, DIALECT.protocol_header, self._body)

    # --- values

    def _value(self, encoding: Encoding) -> Iterator[Any]:
        f, width, kind = scapy(), encoding.width_octets, DIALECT.primitive_of[encoding.code]
        yield _code(encoding.code)
        if encoding.category is Category.VARIABLE:
            yield length("size", _FORMATS[width], "value")
            yield f.StrLenField("value", b"", length_from=lambda packet: packet.size)
        elif encoding.category is Category.COMPOUND:
            yield length("size", _FORMATS[width], "items", more=width)
            yield f.FieldLenField("count", None, fmt=_FORMATS[width], count_of="items")
            yield items("items", self._layer, lambda packet: max(0, packet.size - width))
        elif encoding.category is Category.ARRAY:
            yield length("size", _FORMATS[width], "elements", more=width)
            yield f.FieldLenField("count", 0, fmt=_FORMATS[width], length_of="elements")
            yield f.StrLenField("elements", b"", length_from=lambda packet: max(0, packet.size - width))
        elif width and kind in _NUMBERS:
            narrow = width == 1 and kind in _NARROW
            yield getattr(f, _NARROW[kind] if narrow else _NUMBERS[kind])("value", 0)
        elif width:
            yield f.StrFixedLenField("value", bytes(width), length=width)

    def _any(self, name: str) -> Any:
        """A field that holds any value; null if it is left out."""
        return _value_field()(name, None, lambda octets, _parent=None: self._layer(octets)(octets))

    def _layer(self, octets: bytes) -> Any:
        """The layer of a value: its composite, where a descriptor of the common form names one."""
        if not octets or octets[0] != _DESCRIBED:
            return self._by_code.get(octets[0], raw()) if octets else raw()
        row = _row(octets)
        return self.composites[row.name] if row is not None else self.described

    # --- composites

    def _composite(self, row: Composite) -> Iterator[Any]:
        f = scapy()
        yield _code(_DESCRIBED, "described")
        yield f.XByteField("descriptor_code", DIALECT.encodings["smallulong"].code)
        yield f.XByteField("descriptor", row.code)
        yield f.XByteField("list_code", _LIST8)
        for code, suffix, width in ((_LIST8, "", 1), (_LIST32, "_4", 4)):
            number = f.ByteField if width == 1 else f.IntField
            yield f.ConditionalField(computed(number, f"size{suffix}", _size_of(row, width)), _when(code))
            yield f.ConditionalField(
                computed(number, f"count{suffix}", lambda packet: _count(packet, row)), _when(code)
            )
        for place, field in enumerate(row.fields):
            yield f.ConditionalField(self._any(_name(field)), _present(row, place))

    def _body(self, octets: bytes, frame: Any) -> Any:
        row = _row(octets)
        layer = self.bodies.get(row.name) if row is not None else None
        return (layer or raw())(octets)


# --- what a composite has


def _row(octets: bytes) -> Composite | None:
    """The composite that octets are, where its descriptor is one octet and its list has a size of one or four."""
    if len(octets) < 4 or octets[0] != _DESCRIBED or octets[1] != DIALECT.encodings["smallulong"].code:
        return None
    row = DIALECT.described.get(octets[2])
    lists = [e.code for e in DIALECT.primitives_by_name["list"].encodings]
    return row if isinstance(row, Composite) and octets[3] in lists else None


def _count(packet: Any, row: Composite) -> int:
    """How many fields a composite has: as announced, else up to the last one that was given."""
    announced = packet.fields.get("count", packet.fields.get("count_4"))
    if announced is not None:
        return int(announced)
    given = [n for n, field in enumerate(row.fields) if packet.fields.get(_name(field)) is not None]
    return given[-1] + 1 if given and packet.list_code in (_LIST8, _LIST32) else 0


def _size_of(row: Composite, width: int) -> Callable[[Any], int]:
    def size(packet: Any) -> int:
        fields = row.fields[: _count(packet, row)]
        return width + sum(len(built(packet.fields.get(_name(f))) or b"\x40") for f in fields)

    return size


def _present(row: Composite, place: int) -> Callable[[Any], bool]:
    return lambda packet: _count(packet, row) > place


def _when(code: int) -> Callable[[Any], bool]:
    return lambda packet: packet.list_code == code


def _name(field: TypedField) -> str:
    return python_name(field.key, _TAKEN)


# --- scapy's vocabulary


def _code(code: int, name: str = "code") -> Any:
    return scapy().XByteField(name, code)


@cache
def _value_field() -> Any:
    """A field for one value, null if it is left out."""
    field = scapy().PacketField

    def i2m(self: Any, packet: Any, value: Any) -> Any:
        return bytes((_NULL,)) if value is None else field.i2m(self, packet, value)

    return type("ValueField", (field,), {"i2m": i2m, "__slots__": ()})
