"""Values of AMQP 1.0 bent: zero-width arrays, nesting, interning, constructors, limits.

Knows: encodings, and where a value of any type can stand. Must not know: sessions, links, deliveries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from amqpspec.fuzz.amqp_1_0.kit import QUEUE, attach, begin, has_link, may, say, transfer, value_places
from amqpspec.fuzz.families.base import Bend, Bends, Location, bend, locations_at, numbers_of, over
from amqpspec.fuzz.families.material import DEPTHS, NAME_COUNTS, names
from amqpspec.fuzz.grammar import grammar
from amqpspec.fuzz.states.model import State
from amqpspec.fuzz.trees.tree import Place, edited, edited_path, octets_of
from amqpspec.spec.amqp_1_0 import DIALECT
from amqpspec.spec.typed import Category
from amqpspec.wire.amqp_1_0.message import encode_message
from amqpspec.wire.amqp_1_0.values import Symbol
from amqpspec.wire.amqp_1_0.writing import encode

_DECODE = ("definitions/condition/decode-error",)
_COUNTS32 = (0, 1, 255, 256, 65_535, 10**6, 1 << 24, 10**8, (1 << 31) - 1, 1 << 31, (1 << 32) - 1)
_COUNTS8 = (0, 1, 127, 128, 254, 255)
_MAX_OCTETS = 60_000


def _placed(state: State, values: Callable[[], Iterator[tuple[str, bytes]]]) -> Bends:
    """Each value in each place that takes any."""

    def bends() -> Iterator[Bend]:
        for name, root, place in value_places(state):
            for words, octets in values():
                yield bend(f"{name} {place.node.name}: {words}", edited(root, place.way, octets))

    return bends


def _location(
    state: State, role: str, values: Callable[[], Iterator[tuple[str, bytes]]], *touches: str
) -> Iterator[Location]:
    if any(True for _ in value_places(state)):
        yield Location(role, _placed(state, values), touches or _DECODE)


# --- C1


def zero_width(_: str, state: State) -> Iterator[Location]:
    """Arrays of elements that take no octets."""
    yield from _location(state, "array.count", _empty_arrays)
    yield from _location(state, "array.nested", _nested_empty_arrays)
    yield from _location(state, "list.count", _short_lists)


def array32(count: int, element: bytes, items: bytes = b"") -> bytes:
    """An array whose count may be wrong; its size does not."""
    body = count.to_bytes(4, "big") + element + items
    return b"\xf0" + len(body).to_bytes(4, "big") + body


def _empty_arrays() -> Iterator[tuple[str, bytes]]:
    encodings = [e for e in DIALECT.encodings.values() if e.category is Category.FIXED and not e.width_octets]
    for encoding in encodings:
        code = bytes((encoding.code,))
        for count in _COUNTS32:
            yield f"{count} times {encoding.name}", array32(count, code)
            yield f"{count} times {encoding.name}, described", array32(count, b"\0\xa3\x01d" + code)
        for count in _COUNTS8:
            yield f"array8, {count} times {encoding.name}", b"\xe0\x02" + bytes((count,)) + code


def _nested_empty_arrays() -> Iterator[tuple[str, bytes]]:
    """Arrays of arrays: each level multiplies."""
    for count in (255, 65_535, 10**6, (1 << 31) - 1, (1 << 32) - 1):
        for depth in (2, 3, 8):
            inner = array32(count, b"\x40")
            for _ in range(depth - 1):
                inner = array32(1, inner[:1], inner[1:])
            yield f"{depth} deep, {count} nulls", inner
        many = array32(count, b"\x40")
        yield f"64 arrays of {count} nulls", array32(64, many[:1], many[1:] * 64)
        yield f"a list of 64 arrays of {count} nulls", _list32(many * 64, 64)


def _list32(body: bytes, count: int) -> bytes:
    return b"\xd0" + (len(body) + 4).to_bytes(4, "big") + count.to_bytes(4, "big") + body


def _short_lists() -> Iterator[tuple[str, bytes]]:
    """Lists and maps that count more than they hold."""
    for count in _COUNTS32:
        yield f"list32 of {count} without items", _list32(b"", count)
        yield f"map32 of {count} without items", b"\xd1" + _list32(b"", count)[1:]
        yield f"list32 of {count}, one null", _list32(b"\x40", count)


# --- C3


def nesting(_: str, state: State) -> Iterator[Location]:
    """What can hold itself."""
    for role, nested in _NESTED.items():
        yield from _location(state, f"nested.{role}", _deep(nested))


def _deep(nested: Callable[[int], bytes]) -> Callable[[], Iterator[tuple[str, bytes]]]:
    def values() -> Iterator[tuple[str, bytes]]:
        for depth in DEPTHS:
            octets = nested(depth) if depth * 5 <= _MAX_OCTETS else b""
            if octets and len(octets) <= _MAX_OCTETS:
                yield f"{depth} deep", octets

    return values


def _wrapped(depth: int, opening: Callable[[int], bytes], inner: bytes) -> bytes:
    """Openings around a value, made from the inside; ``opening`` gets how many octets it opens."""
    parts, size = [inner], len(inner)
    for _ in range(depth):
        part = opening(size)
        parts.append(part)
        size += len(part)
    return b"".join(reversed(parts))


def _u32(number: int) -> bytes:
    return number.to_bytes(4, "big")


_NESTED: dict[str, Callable[[int], bytes]] = {
    "list": lambda depth: _wrapped(depth, lambda size: b"\xd0" + _u32(size + 4) + _u32(1), b"\x45"),
    "map": lambda depth: _wrapped(depth, lambda size: b"\xd1" + _u32(size + 5) + _u32(2) + b"\x41", b"\x40"),
    "array": lambda depth: (
        b"\xf0"
        + _wrapped(depth, lambda size: _u32(size + 5) + _u32(1) + b"\xf0", _u32(5) + _u32(0) + b"\x40")
    ),
    "described": lambda depth: b"\0\x43" * depth + b"\x40",
    "descriptor": lambda depth: b"\0" * depth + b"\x40" * (depth + 1),
    "unclosed": lambda depth: (b"\xd0" + _u32(9 * depth) + _u32(1)) * depth,
    "small-list": lambda depth: b"\xc0\xff\x01" * depth,
}


# --- C6


def interning(_: str, state: State) -> Iterator[Location]:
    """Symbols and names that a peer may keep forever."""
    yield from _location(state, "name.key", lambda: _maps(True))
    yield from _location(state, "name.string-key", lambda: _maps(False))
    yield from _location(state, "name.descriptor", _descriptors)
    if may(state, "sasl-init"):
        yield Location("name.mechanism", _mechanisms)
    if may(state, "attach"):
        yield Location("name.capability", over(NAME_COUNTS, "{} capabilities", _capable))
        yield Location("name.address", _addresses)
    if may(state, "transfer"):
        yield Location("name.property", over(NAME_COUNTS, "{} application properties", _described))


def _maps(symbols: bool) -> Iterator[tuple[str, bytes]]:
    for count in NAME_COUNTS:
        kind: type[str] = Symbol if symbols else str
        yield f"{count} keys", encode({kind(name): "v" for name in names("key", count)})


def _descriptors() -> Iterator[tuple[str, bytes]]:
    for count in NAME_COUNTS:
        values = (b"\0" + encode(Symbol(name)) + b"\x40" for name in names("descriptor", count))
        yield f"{count} descriptors", _list32(b"".join(values), count)


def _mechanisms() -> Iterator[Bend]:
    for name in names("mechanism", 64):
        yield Bend(f"mechanism {name}", (say("sasl-init", mechanism=name, initial_response=b""),))


def _capable(count: int) -> bytes:
    return attach("amqpspec-fuzz-new", 7, desired_capabilities=names("capability", count))


def _described(count: int) -> bytes:
    keys = dict.fromkeys(names("property", count), "v")
    return transfer(0, encode_message(application_properties=keys, data=b"x"))


def _addresses() -> Iterator[Bend]:
    for count in NAME_COUNTS:
        says = (
            attach(name, at, target={"address": name})
            for at, name in enumerate(names("address", min(count, 256)))
        )
        yield Bend(f"{count} addresses", (b"".join(says),))


# --- C11


def constructors(_: str, state: State) -> Iterator[Location]:
    """Every constructor before octets of every length; values that their type does not have."""
    yield from _location(state, "constructor", _every_constructor)
    yield from _location(state, "value.illegal", _illegal)


_BEHIND = (b"", b"\0", b"\1", b"\xff", b"\0\0\0\0", b"\0\0\0\4abcd", b"\xff" * 4, b"\xff" * 8, b"\0" * 16)


def _every_constructor() -> Iterator[tuple[str, bytes]]:
    for code in range(256):
        for octets in _BEHIND:
            yield f"constructor 0x{code:02x} before {octets.hex() or 'nothing'}", bytes((code,)) + octets


def _illegal() -> Iterator[tuple[str, bytes]]:
    from amqpspec.fuzz.trees.values import LONG_TEXTS, TEXTS
    from amqpspec.wire.amqp_1_0.boundaries import BOUNDARIES

    for row in BOUNDARIES:
        if len(row.octets) < _MAX_OCTETS:
            yield f"{row.type} {row.octets[:8].hex()}", row.octets
    for words, text in TEXTS:
        for code in (0xA0, 0xA1, 0xA3):
            yield f"0x{code:02x}: {words}", bytes((code, len(text))) + text
    for words, text in LONG_TEXTS[:2]:
        for code in (0xB0, 0xB1, 0xB3):
            yield f"0x{code:02x}: {words}", bytes((code,)) + _u32(len(text)) + text


# --- C5

_SIZES = (511, 512, 513, 4096, 4097, 16_384, 65_535, 65_536, 65_537, 131_072, 262_144, 1 << 20)
_CHANNELS = (1, 2, 254, 255, 256, 257, 1023, 1024, 32_767, 32_768, 65_534, 65_535)
_TAGS = (0, 1, 31, 32, 33, 64, 255, 256, 4096, 65_536)
_HANDLES = (*_CHANNELS, 65_536, (1 << 31) - 1, 1 << 31, (1 << 32) - 2, (1 << 32) - 1)


def limits(dialect_id: str, state: State) -> Iterator[Location]:
    """Frames, channels, handles, tags and messages about or beyond every usual limit."""
    if state.name == "header":
        yield from locations_at(
            dialect_id, state, _limit, numbers_of(_edges), "definitions/min-max-frame-size/lower-bound"
        )
        yield Location("frame.before-open", _long_open, ("connections/opening/limits-before",))
    if may(state, "begin"):
        yield Location("channel.too-high", _high_channels, ("performatives/open/channel-max/exceeded",))
    if may(state, "attach"):
        yield Location(
            "handle.too-high",
            over(_HANDLES, "attach with handle {}", lambda handle: attach("amqpspec-fuzz-new", handle)),
            ("performatives/begin/handle-max/exceeded",),
        )
        yield Location("link-name.too-long", _long_names, ("links/names/length",))
    if has_link(state):
        yield Location("frame.too-large", _large_frames, ("performatives/open/max-frame-size/exceeded",))
        yield Location(
            "delivery-tag.too-long",
            over(_TAGS, "delivery-tag of {} octets", lambda size: transfer(0, delivery_tag=b"t" * size)),
            ("definitions/delivery-tag/length",),
        )
        yield Location(
            "message.too-large", _large_messages, ("performatives/attach/max-message-size/exceeded",)
        )


def _limit(place: Place) -> str:
    limit = place.path.endswith((".max-frame-size.value", ".channel-max.value", ".handle-max.value"))
    return f"open.{place.path.split('.')[-2]}" if limit else ""


def _edges(width_octets: int, value: int) -> list[int]:
    top = 1 << 8 * width_octets
    edges = {0, 1, 7, 8, 9, 511, 512, 513, 65_534, 65_535, 65_536, top - 1, top >> 1, (top >> 1) - 1}
    return sorted(number for number in edges if number < top and number != value)


def _long_open() -> Iterator[Bend]:
    for size in _SIZES[:8]:
        short = len(say("open", container_id="x" * 256))
        yield Bend(f"open of {size} octets", (say("open", container_id="x" * max(256, 256 + size - short)),))
    for channel in _CHANNELS:
        yield Bend(f"open on channel {channel}", (say("open", channel, container_id="amqpspec-fuzz"),))


def _high_channels() -> Iterator[Bend]:
    for channel in _CHANNELS:
        yield Bend(f"begin on channel {channel}", (begin(channel),))
    tree = grammar("amqp-1-0")["frame/empty"].tree
    for channel in _CHANNELS:
        octets = octets_of(edited_path(tree, "frame.channel", channel.to_bytes(2, "big")))
        yield Bend(f"empty frame on channel {channel}", (octets,))


def _long_names() -> Iterator[Bend]:
    for size in (0, 1, 255, 256, 257, 4096, 32_768):
        yield Bend(f"link name of {size} octets", (attach("n" * size, 7),))
        yield Bend(
            f"address of {size} octets", (attach("amqpspec-fuzz-new", 7, target={"address": "a" * size}),)
        )


def _large_frames() -> Iterator[Bend]:
    for size in _SIZES:
        short = len(transfer(0, encode_message(data=b"x" * 300)))
        payload = encode_message(data=b"x" * max(0, size - short + 300))
        yield Bend(f"transfer of about {size} octets", (transfer(0, payload),))


def _large_messages() -> Iterator[Bend]:
    """Messages in many transfers, of which the last does not arrive."""
    for count in (2, 16, 256, 1024):
        parts = (transfer(0, b"x" * 256, more=True) for _ in range(count))
        yield Bend(f"{count} transfers of a delivery, more to come", (b"".join(parts),))
    yield Bend(f"many empty transfers to {QUEUE}", (transfer(0, b"", more=True) * 1024,))
