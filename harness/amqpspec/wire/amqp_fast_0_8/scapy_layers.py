"""AMQP/Fast as scapy layers: Packet classes whose ``fields_desc`` come from the same tables as everything else.

Knows: commands, message heads, field tables. Must not know: frames, streams, how our own codec reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from typing import Any

from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.spec.commands import CommandField, Payload
from amqpspec.spec.methods import TypeTag
from amqpspec.wire import layers
from amqpspec.wire.layers import Behind, Layers, built, length, packet, python_name, raw, scapy

_NUMBERS = {1: "ByteField", 2: "ShortField", 4: "IntField"}
_FORMATS = {1: "B", 2: "H"}
_SIZE, _FRAGMENT = "fragment_size", "fragment_"


@cache
def layers_for(dialect_id: str) -> CommandLayers:
    """The layers, made once."""
    return CommandLayers()


class CommandLayers(Layers):
    """The layers of AMQP/Fast: see ``Layers``.

    ``commands`` are by name. A frame has its ``fragment_`` after it, as octets: only who follows a channel knows
    whether it begins with a head, and is ``message`` then. ``table`` holds ``entry`` layers, whose ``value`` is one of
    ``values`` by tag. Fields are named as the keys of commands.
    """

    def __init__(self) -> None:
        self.values = {tag.tag: packet(f"fast {tag.name}", _of_tag(tag)) for tag in DIALECT.table_tags}
        self.entry = packet("FastEntry", [*_counted("key", "shortstr"), *self._tagged()])
        self.table = packet("FastTable", self._entries())
        self.commands = {c.name: packet(f"fast {c.name}", self._fields(c.fields)) for c in DIALECT.commands}
        head = [*self._fields(DIALECT.message_head), scapy().StrField("body", b"")]
        self.message = packet("FastMessage", head)
        field = scapy().StrLenField(_FRAGMENT, b"", length_from=_fragment_octets)
        behind = Behind(field, _fragment_octets)
        super().__init__("Fast", DIALECT.layout, DIALECT.protocol_header, self._body, behind)

    def _body(self, octets: bytes, frame: Any) -> Any:
        row = DIALECT.commands_by_code.get(frame.code) if frame is not None else None
        return (self.commands[row.name] if row else raw())(octets)

    # --- fields

    def _fields(self, fields: Sequence[CommandField]) -> Iterator[Any]:
        kinds = DIALECT.types_by_name
        for number, (are_bits, run) in enumerate(groupby(fields, lambda f: kinds[f.type].is_bit)):
            if are_bits:
                yield from layers.bits([f.key for f in run], f"unused_{number}")
            else:
                yield from (part for f in run for part in self._single(f))

    def _single(self, field: CommandField) -> Iterator[Any]:
        kind, name = DIALECT.types_by_name[field.type], python_name(field.key, dir(raw()))
        if field.type == "table":
            yield scapy().PacketField(name, self.table(), self.table)
        elif not kind.octets:
            yield from _counted(name, field.type)
        elif name in _COMPUTED:
            yield layers.computed(scapy().IntField, name, _COMPUTED[name])
        else:
            yield getattr(scapy(), _NUMBERS[kind.octets])(name, 0)

    # --- tables

    def _entries(self) -> Iterator[Any]:
        yield length("size", _format("table"), "entries")
        yield layers.items("entries", lambda _: self.entry, lambda table: table.size)

    def _tagged(self) -> Iterator[Any]:
        by_code = {ord(tag): layer for tag, layer in self.values.items()}

        def value(octets: bytes, _parent: Any = None) -> Any:
            return by_code.get(_parent.tag if _parent is not None else -1, raw())(octets)

        names = {ord(tag.tag): f"{tag.tag} {tag.name}" for tag in DIALECT.table_tags}
        yield scapy().ByteEnumField("tag", ord("S"), names)
        yield scapy().PacketField("value", None, value)


def _of_tag(tag: TypeTag) -> Iterator[Any]:
    f = scapy()
    if tag.primitive == "longstr":
        yield from _counted("value", "longstr")
    elif tag.primitive == "decimal":
        yield from (f.ByteField("decimals", 0), f.SignedIntField("mantissa", 0))
    else:
        yield (f.SignedIntField if tag.primitive == "int32" else f.IntField)("value", 0)


def _counted(name: str, kind: str) -> Iterator[Any]:
    yield length(f"{name}_length", _format(kind), name)
    yield scapy().StrLenField(name, b"", length_from=lambda packet: getattr(packet, f"{name}_length"))


def _format(kind: str) -> str:
    return _FORMATS[DIALECT.types_by_name[kind].length_octets]


# --- fragments


def _behind(command: Any) -> int:
    """The octets after the frame in which a command stands."""
    return len(built(getattr(command.parent, _FRAGMENT, None)))


_COMPUTED: Mapping[str, Callable[[Any], int]] = {_SIZE: _behind, "body_size": lambda head: len(head.body)}
"""Sizes of what follows them: if they are left out, and if it is known."""


def _fragment_octets(frame: Any) -> int:
    """How many octets of a fragment a frame announces; none if they go out of band."""
    row = DIALECT.commands_by_code.get(frame.code)
    if row is None or row.payload is Payload.NONE:
        return 0
    told = frame.body.fields
    return 0 if told.get("out_of_band") else int(told.get(_SIZE) or 0)
