"""AMQP 0-10 as scapy layers: Packet classes whose ``fields_desc`` come from the same tables as everything else.

Knows: controls, commands, structs, values. Must not know: assemblies, streams, how our own codec reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.spec.assemblies import Category, Command, Content, Control, PackedField, Struct, WireType
from amqpspec.wire.layers import Layers, computed, items, length, packet, python_name, raw, scapy

_NUMBERS = {
    (Content.UNSIGNED, 1): "ByteField", (Content.UNSIGNED, 2): "ShortField", (Content.UNSIGNED, 4): "IntField",
    (Content.UNSIGNED, 8): "LongField", (Content.SIGNED, 1): "SignedByteField",
    (Content.SIGNED, 2): "SignedShortField", (Content.SIGNED, 4): "SignedIntField",
    (Content.SIGNED, 8): "SignedLongField", (Content.TIME, 8): "SignedLongField", (Content.SERIAL, 4): "IntField",
    (Content.FLOAT, 4): "IEEEFloatField", (Content.FLOAT, 8): "IEEEDoubleField", (Content.BOOLEAN, 1): "ByteField",
}  # fmt: skip
_FORMATS = {1: "B", 2: "H", 4: "I"}
_FLAGS = {1: "ByteField", 2: "LEShortField", 4: "LEIntField"}
_TYPES = DIALECT.layout.types
_FRAME_WHOLE = DIALECT.layout.flags["first-frame"] | DIALECT.layout.flags["last-frame"]
_TAKEN = (*dir(object), "name", "payload", "time", "fields", "flags", "type", "code", "size", "options")


@cache
def layers_for(dialect_id: str) -> AssemblyLayers:
    """The layers, made once."""
    return AssemblyLayers()


class AssemblyLayers(Layers):
    """The layers of AMQP 0-10: see ``Layers``.

    ``instructions`` are controls and commands by name, ``structs`` by name, ``values`` by the name of their type;
    ``entry`` is one of a map, ``item`` one of a list. Packing flags that are left out are those of the fields given;
    a ``bit`` is nothing but its flag, and needs ``packing``. A segment is dissected if it is one frame: the others
    can be assembled only with the state of a channel.
    """

    def __init__(self) -> None:
        self.values = {t.name: packet(f"amqp-{t.name}", self._value(t)) for t in DIALECT.types}
        self._by_code = {t.code: self.values[t.name] for t in DIALECT.types if t.code is not None}
        tagged = [scapy().XByteField("code", 0), self._any("value")]
        self.entry = packet(
            "Amqp010Entry", [length("key_length", "B", "key"), *_text("key", "key_length"), *tagged]
        )
        self.item = packet("Amqp010Item", tagged)
        rows = DIALECT.structs.values()
        self.structs = {row.name: packet(row.name, self._struct(row)) for row in rows}
        instructions = {**DIALECT.controls, **DIALECT.commands}.values()
        self.instructions = {row.name: packet(row.name, self._instruction(row)) for row in instructions}
        self.header = packet("Amqp010Header", [_all("structs", self._coded)])
        super().__init__("Amqp010", DIALECT.layout, DIALECT.protocol_header, self._body)

    # --- frames

    def _body(self, octets: bytes, frame: Any) -> Any:
        whole = frame is not None and frame.flags & _FRAME_WHOLE == _FRAME_WHOLE
        kind = frame.type if whole else -1
        if kind == _TYPES["header"]:
            return self.header(octets)
        by_code = {_TYPES["control"]: DIALECT.controls_by_code, _TYPES["command"]: DIALECT.commands_by_code}
        row = by_code.get(kind, {}).get((octets[0], octets[1])) if len(octets) >= 2 else None
        return (self.instructions[row.name] if row is not None else raw())(octets)

    # --- values

    def _value(self, kind: WireType) -> Iterator[Any]:
        f, width = scapy(), kind.width_octets
        if kind.category is Category.FIXED:
            if width:
                yield _fixed("value", kind)
            return
        if kind.content in (Content.MAP, Content.LIST):
            yield length("size", "I", "items", more=4)
            yield f.FieldLenField("count", None, fmt="I", count_of="items")
            yield items(
                "items", lambda _: self.entry if kind.content is Content.MAP else self.item, _behind_count
            )
        else:
            yield length("size", _FORMATS[width], "value")
            yield from _text("value", "size")

    def _any(self, name: str) -> Any:
        """The value after a type code."""

        def value(octets: bytes, _parent: Any = None) -> Any:
            return self._by_code.get(_parent.code if _parent is not None else -1, raw())(octets)

        return scapy().PacketField(name, None, value)

    def _coded(self, octets: bytes) -> Any:
        """The layer of a struct that stands alone: identified by its codes, after its size."""
        row = DIALECT.structs_by_code.get((octets[4], octets[5])) if len(octets) >= 6 else None
        return self.structs[row.name] if row is not None else self.values["struct32"]

    # --- structs, controls, commands

    def _struct(self, row: Struct) -> Iterator[Any]:
        f = scapy()
        if row.size_octets:
            number = {1: f.ByteField, 2: f.ShortField, 4: f.IntField}[row.size_octets]
            yield computed(number, "octets", lambda p: len(_rest(p, row.size_octets)))
        for name, code in zip(("class_code", "struct_code"), row.code or (), strict=False):
            yield f.ByteField(name, code)
        yield from self._packed(row.fields, row.pack_octets)

    def _instruction(self, row: Control) -> Iterator[Any]:
        f = scapy()
        yield f.ByteField("instruction_class", row.class_code)
        yield f.ByteField("instruction_code", row.code)
        if isinstance(row, Command):
            yield f.ByteField("session_size", 1)
            yield f.ByteField("session_flags", 0)
        yield from self._packed(row.fields, DIALECT.layout.arguments_pack_octets)
        yield f.StrField("behind", b"")

    def _packed(self, fields: Sequence[PackedField], pack_octets: int) -> Iterator[Any]:
        if pack_octets:
            yield computed(getattr(scapy(), _FLAGS[pack_octets]), "packing", lambda p: _given(p, fields))
        for place, field in enumerate(fields):
            if DIALECT.base(field.type) == "bit":
                continue
            one = self._field(field)
            yield scapy().ConditionalField(one, _present(fields, place)) if pack_octets else one

    def _field(self, field: PackedField) -> Any:
        base, name = DIALECT.base(field.type), _name(field)
        if base in DIALECT.structs:
            return scapy().PacketField(name, None, lambda octets, _parent=None: self.structs[base](octets))
        kind = DIALECT.types_by_name[base]
        if kind.category is Category.FIXED:
            return _fixed(name, kind)
        return scapy().PacketField(name, None, self.values[base])


def _fixed(name: str, kind: WireType) -> Any:
    number = _NUMBERS.get((kind.content, kind.width_octets))
    if number is not None:
        return getattr(scapy(), number)(name, None)
    return scapy().StrFixedLenField(name, None, length=kind.width_octets)


def _text(name: str, size: str) -> Iterator[Any]:
    yield scapy().StrLenField(name, b"", length_from=lambda packet: getattr(packet, size))


def _all(name: str, layer: Callable[[bytes], Any]) -> Any:
    """Layers up to the end of the octets."""
    return scapy().PacketListField(
        name, [], next_cls_cb=lambda _, __, ___, left: layer(left) if left else None, max_count=1 << 20
    )


def _behind_count(packet: Any) -> int:
    return max(0, int(packet.size) - 4)


def _name(field: PackedField) -> str:
    return python_name(field.key, _TAKEN)


def _given(packet: Any, fields: Sequence[PackedField]) -> int:
    """The packing flags of what was given: scapy's fields, and bits, which are flags alone."""
    return sum(1 << place for place, f in enumerate(fields) if packet.fields.get(_name(f)) is not None)


def _present(fields: Sequence[PackedField], place: int) -> Callable[[Any], bool]:
    def present(packet: Any) -> bool:
        flags = packet.fields.get("packing")
        return bool((_given(packet, fields) if flags is None else flags) >> place & 1)

    return present


def _rest(packet: Any, size_octets: int) -> bytes:
    """What a struct's size counts: all that is after it."""
    copy = packet.copy()
    copy.fields["octets"] = 0
    copy.clear_cache()
    return bytes(copy)[size_octets:]
