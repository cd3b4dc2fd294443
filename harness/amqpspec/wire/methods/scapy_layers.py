"""A dialect as scapy layers: Packet classes whose ``fields_desc`` come from the same tables as everything else.

Knows: scapy's fields. Must not know: how our own codec reads, sockets.
For looking and for scripts, not for speed: scapy is imported when the first layer is asked for, which takes a
while. Lengths left out are computed; what cannot be dissected becomes scapy's ``Raw``, the octets stay the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby, takewhile
from keyword import iskeyword
from typing import Any

from amqpspec.spec.methods import Field, MethodDialect, TypeTag, load_methods
from amqpspec.wire.capture import AMQP_PORT, Segment, read_pcapng, write_pcapng

__all__ = ["AmqpLayers", "Segment", "layers_for", "read_pcapng", "write_pcapng"]

_NUMBERS = {
    "octet": "ByteField", "short": "ShortField", "long": "IntField", "longlong": "LongField",
    "timestamp": "LongField", "boolean": "ByteField", "int8": "SignedByteField", "uint8": "ByteField",
    "int16": "SignedShortField", "uint16": "ShortField", "int32": "SignedIntField", "uint32": "IntField",
    "int64": "SignedLongField", "uint64": "LongField", "float": "IEEEFloatField", "double": "IEEEDoubleField",
}  # fmt: skip
_LENGTHS = {"shortstr": "B", "longstr": "I", "bytes": "I"}
_MAX_ENTRIES = 1 << 20
_FLAG_BITS = 16
_HEADER_OCTETS = 8


@cache
def layers_for(dialect_id: str) -> AmqpLayers:
    """The layers of a dialect by id, made once."""
    return AmqpLayers(load_methods(dialect_id))


class AmqpLayers:
    """The layers of one dialect.

    ``frame`` is one frame, ``protocol_header`` what comes before all, ``stream`` both one after the other, and what is
    not complete as ``Raw``; ``methods`` are by name, ``headers`` (content headers) by class name; ``table`` and
    ``array`` hold ``entry`` and ``item`` layers, whose ``value`` is one of ``values`` by tag. Fields are named as
    arguments are, ``global`` is ``global_``. ``bind`` lets scapy find the layers by port.
    """

    def __init__(self, dialect: MethodDialect) -> None:
        self.table = _packet("AmqpTable", [_length("size", "I", "entries"), _entries(lambda: self.entry)])
        self.array = _packet("AmqpArray", [_length("size", "I", "entries"), _entries(lambda: self.item)])
        self.values = {t.tag: self._value(t) for t in dialect.table_tags}
        tagged = list(_tagged_value(dialect.table_tags, self.values))
        self.entry = _packet("AmqpEntry", [*_string("key", "shortstr"), *tagged])
        self.item = _packet("AmqpItem", tagged)
        self.methods = {
            m.name: _packet(m.name, [*_ids(m.class_id, m.method_id), *self._arguments(m.fields)])
            for m in dialect.methods.values()
        }
        self.headers = {c.name: self._header(c.name, c.index, c.properties) for c in dialect.classes}
        self.frame = self._frame(dialect)
        self.protocol_header = protocol_header_layer("AmqpProtocolHeader", dialect.protocol_header)
        self.stream = stream_layer("AmqpStream", self.frame, self.protocol_header, _frame_octets(dialect))

    def bind(self, *ports: int) -> None:
        """Dissect TCP segments from and to these ports as streams of this dialect, 5672 where none is given."""
        bind(self.stream, ports)

    def unbind(self, *ports: int) -> None:
        """Take ``bind`` back."""
        unbind(self.stream, ports)

    # --- tables

    def _value(self, tag: TypeTag) -> Any:
        if tag.primitive in ("table", "array"):
            return self.table if tag.primitive == "table" else self.array
        title = f"Amqp {tag.name}"
        if tag.primitive == "decimal":
            scale, unscaled = _number("scale", "octet"), _number("unscaled", "int32")
            return _packet(title, [scale, unscaled])
        if tag.primitive == "void":
            return _packet(title, [])
        return _packet(title, [*_single("value", tag.primitive, self.table)])

    # --- methods and content headers

    def _arguments(self, fields: Sequence[Field]) -> Iterator[Any]:
        for number, (kind, run) in enumerate(groupby(fields, lambda f: f.type == "bit")):
            if kind:
                yield from _bits([_name(f) for f in run], f"unused_{number}")
            else:
                yield from (part for f in run for part in _single(_name(f), f.type, self.table))

    def _header(self, name: str, class_id: int, properties: Sequence[Field]) -> Any:
        f = _scapy()
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
            for part in _single(_name(p), p.type, self.table)
        )
        return _packet(f"{name}.content-header", [*start, *parts])

    # --- frames

    def _frame(self, dialect: MethodDialect) -> Any:
        f, layout = _scapy(), dialect.layout
        methods = {ids: self.methods[m.name] for ids, m in dialect.methods_by_id.items()}
        headers = {c.index: self.headers[c.name] for c in dialect.classes}
        bodies: dict[int, Callable[[bytes], Any]] = {
            layout.types["method"]: lambda octets: methods.get((_u16(octets, 0), _u16(octets, 2))),
            layout.types["header"]: lambda octets: headers.get(_u16(octets, 0)),
        }

        def body(octets: bytes, _parent: Any = None) -> Any:
            choose = bodies.get(_parent.type) if _parent is not None else None
            return ((choose(octets) if choose else None) or _raw())(octets)

        header: dict[str, Any] = {
            "type": f.ByteEnumField("type", layout.types["method"], {c: n for n, c in layout.types.items()}),
            "cycle": f.ByteField("cycle", 0),
            "channel": f.ShortField("channel", 0),
            "size": _length("size", "I", "body", lambda packet, _: len(bytes(packet.body or b""))),
        }
        return _packet(
            "AmqpFrame",
            [
                *(header[name] for name, _ in layout.header),
                f.PacketLenField("body", None, body, length_from=lambda packet: packet.size),
                f.XByteField("end", layout.end),
            ],
        )


# --- streams, as both families have them


def protocol_header_layer(name: str, octets: bytes) -> Any:
    """The eight octets that begin a conversation."""
    f = _scapy()
    numbers = [f.ByteField(f"octet_{at}", octet) for at, octet in enumerate(octets[4:], start=4)]
    return _packet(name, [f.StrFixedLenField("magic", octets[:4], length=4), *numbers])


def stream_layer(
    name: str, frame: Any, protocol_header: Any, frame_octets: Callable[[bytes], int | None]
) -> Any:
    """Frames and protocol headers one after the other; ``frame_octets`` says how long the next frame is, if it can."""

    def octets_of_next(octets: bytes) -> int | None:
        return _HEADER_OCTETS if octets[:4] == b"AMQP" else frame_octets(octets)

    def choose(packet: Any, before: Any, last: Any, left: bytes) -> Any:
        size = octets_of_next(left)
        if not left or size is None or size > len(left):
            return _raw() if left else None
        return protocol_header if left[:4] == b"AMQP" else frame

    def whole(cls: Any, data: bytes, metadata: Any, session: Any) -> Any:
        """A packet once nothing is missing at its end: what scapy's TCPSession asks."""
        at = 0
        while at < len(data):
            size = octets_of_next(data[at:])
            if size is None or at + size > len(data):
                return None
            at += size
        return cls(data)

    field = _scapy().PacketListField("frames", [], next_cls_cb=choose, max_count=_MAX_ENTRIES)
    return _packet(name, [field], tcp_reassemble=classmethod(whole))


def bind(stream: Any, ports: Sequence[int]) -> None:
    """Let scapy dissect TCP segments of ports as streams."""
    from scapy.layers.inet import TCP
    from scapy.packet import bind_layers

    for port in ports or (AMQP_PORT,):
        bind_layers(TCP, stream, dport=port)
        bind_layers(TCP, stream, sport=port)


def unbind(stream: Any, ports: Sequence[int]) -> None:
    """Take ``bind`` back."""
    from scapy.layers.inet import TCP
    from scapy.packet import split_layers

    for port in ports or (AMQP_PORT,):
        split_layers(TCP, stream, dport=port)
        split_layers(TCP, stream, sport=port)


def _frame_octets(dialect: MethodDialect) -> Callable[[bytes], int | None]:
    layout = dialect.layout
    at = sum(width for name, width in takewhile(lambda part: part[0] != "size", layout.header))

    def octets_of(octets: bytes) -> int | None:
        if len(octets) < layout.header_octets:
            return None
        return layout.overhead_octets + int.from_bytes(octets[at : at + 4], "big")

    return octets_of


# --- scapy's vocabulary


@cache
def _more_flags() -> Any:
    """Flag words behind the first one, as octets: each says in its lowest bit whether another follows."""

    def getfield(self: Any, packet: Any, octets: bytes) -> tuple[bytes, bytes]:
        at = 2
        while at < len(octets) and octets[at - 1] & 1:
            at += 2
        return octets[at:], octets[:at]

    kind = type("MoreFlagsField", (_scapy().StrField,), {"getfield": getfield, "__slots__": ()})
    return kind("more_flags", b"\0\0")


@cache
def _scapy() -> Any:
    from scapy import fields

    return fields


def _raw() -> Any:
    from scapy.packet import Raw

    return Raw


def _packet(name: str, fields_desc: Iterable[Any], **more: Any) -> Any:
    """A Packet class that leaves what follows it to the packet around it."""
    from scapy.packet import Packet

    title = "".join(
        part.capitalize() if part.islower() else part for part in name.replace("-", ".").split(".")
    )
    members: Mapping[str, Any] = {
        "__module__": __name__,
        "name": name,
        "fields_desc": list(fields_desc),
        "extract_padding": lambda self, octets: (b"", octets),
        **more,
    }
    return type(Packet)(title.replace(" ", ""), (Packet,), dict(members))


def _name(field: Field) -> str:
    return f"{field.key}_" if iskeyword(field.key) else field.key


def _number(name: str, primitive: str) -> Any:
    return getattr(_scapy(), _NUMBERS[primitive])(name, 0)


def _length(name: str, fmt: str, of: str, adjust: Callable[[Any, int], int] = lambda _, size: size) -> Any:
    return _scapy().FieldLenField(name, None, fmt=fmt, length_of=of, adjust=adjust)


def _string(name: str, primitive: str) -> Iterator[Any]:
    yield _length(f"{name}_size", _LENGTHS[primitive], name)
    yield _scapy().StrLenField(name, b"", length_from=lambda packet: getattr(packet, f"{name}_size"))


def _single(name: str, primitive: str, table: Any) -> Iterator[Any]:
    """One argument, property or value: a number, a string with its length, or a table."""
    if primitive in _NUMBERS:
        yield _number(name, primitive)
    elif primitive in _LENGTHS:
        yield from _string(name, primitive)
    else:
        yield _scapy().PacketField(name, table(), table)


def _bits(keys: Sequence[str], unused: str) -> Iterator[Any]:
    """Bits fill an octet from its low end; scapy begins at the high one."""
    filler = -len(keys) % 8
    if filler:
        yield _scapy().BitField(unused, 0, filler)
    yield from (_scapy().BitField(key, 0, 1) for key in reversed(keys))


def _ids(class_id: int, method_id: int) -> Iterator[Any]:
    yield _scapy().ShortField("amqp_class", class_id)
    yield _scapy().ShortField("amqp_method", method_id)


def _entries(layer: Callable[[], Any]) -> Any:
    return _scapy().PacketListField(
        "entries",
        [],
        lambda octets, _parent=None: layer()(octets),
        length_from=lambda packet: packet.size,
        max_count=_MAX_ENTRIES,
    )


def _tagged_value(tags: Iterable[TypeTag], layers: Mapping[str, Any]) -> Iterator[Any]:
    by_code = {ord(tag): layer for tag, layer in layers.items()}

    def value(octets: bytes, _parent: Any = None) -> Any:
        return by_code.get(_parent.tag if _parent is not None else -1, _raw())(octets)

    names = {ord(t.tag): f"{t.tag} {t.name}" for t in tags}
    yield _scapy().ByteEnumField("tag", ord("S"), names)
    yield _scapy().PacketField("value", None, value)


def _flagged(mask: int) -> Callable[[Any], bool]:
    return lambda packet: bool(int(packet.flags) & mask)


def _u16(octets: bytes, at: int) -> int:
    return int.from_bytes(octets[at : at + 2], "big")
