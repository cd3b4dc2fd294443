"""What the scapy layers of all dialects share: packets, frames and streams made of a layout, ports.

Knows: scapy's fields, layouts. Must not know: any dialect, how our own codec reads, sockets.
For looking and for scripts, not for speed: scapy is imported when the first layer is made, which takes a while. Sizes
left out are computed; what cannot be dissected becomes scapy's ``Raw``, the octets stay the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache
from keyword import iskeyword
from typing import Any, NamedTuple, cast

from amqpspec.spec.dialects import part_of
from amqpspec.spec.framing import Layout
from amqpspec.wire.capture import AMQP_PORT
from amqpspec.wire.framing import frame_octets

MAX_ITEMS = 1 << 20
_NUMBERS = {1: "ByteField", 2: "ShortField", 4: "IntField", 8: "LongField"}
Body = Callable[[bytes, Any], Any]
"""Makes the layer of a frame's body from its octets and the frame around it."""


class Behind(NamedTuple):
    """What follows a frame and outside of it: a field, and how many octets the frame says there are."""

    field: Any
    octets: Callable[[Any], int]


class Layers:
    """The layers of one dialect.

    ``frame`` is one frame, ``protocol_header`` what a conversation begins with, ``stream`` both one after the other,
    and what is not complete as ``Raw``. With ``bind``, scapy finds the layers by port. A name that Python or scapy
    has taken ends with an underscore: ``global_``.
    """

    def __init__(
        self, title: str, layout: Layout, protocol_header: bytes, body: Body, behind: Behind | None = None
    ) -> None:
        more = [] if behind is None else [behind.field]
        self.frame = packet(f"{title}Frame", [*_frame(layout, body), *more])
        self.protocol_header = packet(f"{title}ProtocolHeader", _greeting(layout, protocol_header))
        whole = _whole_octets(layout, self.frame, behind)
        self.stream = _stream(f"{title}Stream", layout, self.frame, self.protocol_header, whole)

    def bind(self, *ports: int) -> None:
        """Dissect TCP segments from and to these ports as streams of this dialect, 5672 if none is given."""
        from scapy.layers.inet import TCP
        from scapy.packet import bind_layers

        for port in ports or (AMQP_PORT,):
            bind_layers(TCP, self.stream, dport=port)
            bind_layers(TCP, self.stream, sport=port)

    def unbind(self, *ports: int) -> None:
        """Take ``bind`` back."""
        from scapy.layers.inet import TCP
        from scapy.packet import split_layers

        for port in ports or (AMQP_PORT,):
            split_layers(TCP, self.stream, dport=port)
            split_layers(TCP, self.stream, sport=port)


def layers_of(dialect_id: str) -> Layers:
    """The layers of any dialect by id; raises UnknownDialectError."""
    make = cast(Callable[[str], Layers], part_of(dialect_id, "layers"))
    return make(dialect_id)


# --- frames and streams of a layout


def _frame(layout: Layout, body: Body) -> Iterator[Any]:
    f = scapy()
    for name, width in layout.header:
        yield from _of_header(layout, name, width)
    if layout.doff_word_octets:
        yield f.StrLenField("extended", b"", length_from=lambda p: _extended_octets(layout, p))

    def chosen(octets: bytes, _parent: Any = None) -> Any:
        return body(octets, _parent)

    yield f.PacketLenField("body", None, chosen, length_from=lambda p: _body_octets(layout, p))
    if layout.end is not None:
        yield f.XByteField("end", layout.end)


def _of_header(layout: Layout, name: str, width: int) -> Iterator[Any]:
    f = scapy()
    kind = getattr(f, _NUMBERS[width])
    if name == "size":
        yield computed(kind, name, lambda p: _short(layout, _counted(layout, p)))
        if layout.escape is not None:
            long = getattr(f, _NUMBERS[layout.long_size_octets])
            wanted = computed(long, "long_size", lambda p: _counted(layout, p))
            yield f.ConditionalField(wanted, lambda p: _is_long(layout, p))
    elif name == "doff":
        word = layout.doff_word_octets
        yield computed(kind, name, lambda p: layout.min_doff + len(p.extended or b"") // word)
    elif name == "type":
        names = {code: name for name, code in layout.types.items()}
        yield f.ByteEnumField(name, next(iter(names)), names)
    else:
        yield kind(python_name(name.replace("-", "_"), dir(raw())), 0)


def _counted(layout: Layout, frame: Any) -> int:
    return layout.least_size + len(getattr(frame, "extended", b"") or b"") + len(built(frame.body))


def _short(layout: Layout, size: int) -> int:
    return size if layout.escape is None else min(size, layout.escape)


def _is_long(layout: Layout, frame: Any) -> bool:
    size = frame.fields.get("size")
    return _short(layout, _counted(layout, frame) if size is None else size) == layout.escape


def _extended_octets(layout: Layout, frame: Any) -> int:
    return max(0, int(frame.doff) * layout.doff_word_octets - layout.header_octets)


def _body_octets(layout: Layout, frame: Any) -> int:
    extended = _extended_octets(layout, frame) if layout.doff_word_octets else 0
    size = frame.long_size if layout.escape is not None and frame.size == layout.escape else frame.size
    return max(0, int(size) - layout.least_size - extended)


def _greeting(layout: Layout, octets: bytes) -> Iterator[Any]:
    f, magic = scapy(), layout.greeting.magic
    yield f.StrFixedLenField("magic", magic, length=len(magic))
    for at, octet in enumerate(octets[len(magic) :], start=len(magic)):
        yield f.ByteField(f"octet_{at}", octet)


def _whole_octets(layout: Layout, frame: Any, behind: Behind | None) -> Callable[[bytes], int | None]:
    """How long a frame is together with what follows it; None if that cannot be said."""

    def whole(octets: bytes) -> int | None:
        size = frame_octets(layout, octets)
        if behind is None or size is None or size > len(octets):
            return size
        return size + behind.octets(frame(octets[:size]))

    return whole


def _stream(
    title: str, layout: Layout, frame: Any, protocol_header: Any, whole_octets: Callable[[bytes], int | None]
) -> Any:
    """Frames and protocol headers one after the other."""
    greeting = layout.greeting

    def greets(octets: bytes, first: bool) -> bool:
        anywhere = first or greeting.anywhere or greeting.decisive
        return anywhere and octets.startswith(greeting.magic)

    def octets_of_next(octets: bytes, first: bool) -> int | None:
        return greeting.length_octets if greets(octets, first) else whole_octets(octets)

    def choose(_: Any, before: Any, last: Any, left: bytes) -> Any:
        first = last is None
        size = octets_of_next(left, first)
        if not left or size is None or size > len(left):
            return raw() if left else None
        return protocol_header if greets(left, first) else frame

    def whole(cls: Any, data: bytes, metadata: Any, session: Any) -> Any:
        """A packet once nothing is missing at its end: what scapy's TCPSession asks."""
        at = 0
        while at < len(data):
            size = octets_of_next(data[at:], not at)
            if size is None or at + size > len(data):
                return None
            at += size
        return cls(data)

    field = scapy().PacketListField("frames", [], next_cls_cb=choose, max_count=MAX_ITEMS)
    return packet(title, [field], tcp_reassemble=classmethod(whole))


# --- scapy's vocabulary


@cache
def scapy() -> Any:
    """Scapy's module of fields."""
    from scapy import fields

    return fields


def raw() -> Any:
    """Scapy's layer of octets that nothing is known of."""
    from scapy.packet import Raw

    return Raw


def packet(name: str, fields_desc: Iterable[Any], **more: Any) -> Any:
    """A Packet class that leaves what follows it to the packet around it."""
    from scapy.packet import Packet

    words = name.replace("-", ".").replace(" ", "").split(".")
    title = "".join(word.capitalize() if word.islower() else word for word in words)
    members = {
        "__module__": __name__,
        "name": name,
        "fields_desc": list(fields_desc),
        "extract_padding": lambda self, octets: (b"", octets),
        **more,
    }
    return type(Packet)(title, (Packet,), members)


def python_name(key: str, taken: Collection[str] = ()) -> str:
    """A field's name as an attribute of a packet."""
    return f"{key}_" if iskeyword(key) or key in taken else key


def built(value: Any) -> bytes:
    """The octets of a layer, none if there is none."""
    return b"" if value is None else bytes(value)


def length(name: str, fmt: str, of: str, more: int = 0) -> Any:
    """The length of another field in octets, plus a constant."""
    return scapy().FieldLenField(name, None, fmt=fmt, length_of=of, adjust=lambda _, size: size + more)


def items(name: str, layer: Callable[[bytes], Any], octets: Callable[[Any], int]) -> Any:
    """Layers one after the other, as many as fit into this many octets."""
    return scapy().PacketListField(
        name, [], lambda left, _parent=None: layer(left)(left), length_from=octets, max_count=MAX_ITEMS
    )


def computed(kind: Any, name: str, compute: Callable[[Any], int]) -> Any:
    """A number that is computed if it was left out."""

    def i2m(self: Any, packet: Any, value: Any) -> Any:
        return compute(packet) if value is None else value

    return type(f"Computed{kind.__name__}", (kind,), {"i2m": i2m, "__slots__": ()})(name, None)


def bits(names: Sequence[str], unused: str) -> Iterator[Any]:
    """Bits fill an octet from its low end; scapy begins at the high one."""
    filler = -len(names) % 8
    if filler:
        yield scapy().BitField(unused, 0, filler)
    yield from (scapy().BitField(name, 0, 1) for name in reversed(names))
