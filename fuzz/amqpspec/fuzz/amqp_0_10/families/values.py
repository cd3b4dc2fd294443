"""Values of AMQP 0-10 bent: zero-width arrays, nesting, names, type codes.

Knows: encodings, and where a map stands that holds values of any type. Must not know: sessions, messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from amqpspec.fuzz.amqp_0_10.kit import attach, maps, may, say, transfer
from amqpspec.fuzz.families.base import Bends, Location, bend, each, in_names, many
from amqpspec.fuzz.families.material import DEPTHS, NAME_COUNTS
from amqpspec.fuzz.families.tables import TableForm, table_locations
from amqpspec.fuzz.states.model import State
from amqpspec.fuzz.trees.tree import edited
from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.wire.amqp_0_10.malformed import counted, nested, sized, struct
from amqpspec.wire.values import Raw

_ROWS = ("encoding/map/malformed", "encoding/type-codes/reserved", "encoding/type-codes/skipping")
_COUNTS = (0, 1, 255, 256, 65_535, 10**6, 1 << 24, (1 << 31) - 1, 1 << 31, (1 << 32) - 1)
_MAX_OCTETS = 60_000
_CODES = {t.name: t.code or 0 for t in DIALECT.types}
_MAP, _LIST, _ARRAY, _STRUCT = (_CODES[name] for name in ("map", "list", "array", "struct32"))
_STR16 = _CODES["str16"]
Values = Callable[[], Iterator[tuple[str, bytes]]]
"""Words, and a type code with the value after it."""


def _map(value: bytes, count: int = 1) -> bytes:
    """A map of entries by the name k, all alike."""
    return bytes(counted("map", (b"\x01k" + value) * count, count))


def _location(state: State, role: str, values: Values) -> Iterator[Location]:
    if any(True for _ in maps(state)):
        yield Location(role, _placed(state, values), _ROWS)


def _placed(state: State, values: Values) -> Bends:
    """Each value in a map in each place."""
    return lambda: (
        bend(f"{name} {place.path}: {words}", edited(root, place.way, _map(octets)))
        for name, root, place in maps(state)
        for words, octets in values()
        if len(octets) <= _MAX_OCTETS
    )


# --- C1


def zero_width(_: str, state: State) -> Iterator[Location]:
    """Arrays of elements that take no octets, and counts of what is not there."""
    yield from _location(state, "array.count", _empty_arrays)
    yield from _location(state, "array.nested", _nested_arrays)
    yield from _location(state, "list.count", _short_lists)


def _array(code: int, count: int, items: bytes = b"") -> bytes:
    return bytes((_ARRAY,)) + counted("array", items, count, item_code=code)


def _empty_arrays() -> Iterator[tuple[str, bytes]]:
    for code in (*range(0xF0, 0x100), _ARRAY, _LIST, _STR16, 0x02, 0xB0):
        for count in _COUNTS:
            yield f"{count} times 0x{code:02x}", _array(code, count)


def _nested_arrays() -> Iterator[tuple[str, bytes]]:
    """Arrays of arrays: each level multiplies."""
    for count in _COUNTS[3:]:
        inner = bytes(counted("array", b"", count, item_code=_CODES["void"]))
        for many_ in (1, 64):
            yield f"{many_} arrays of {count} voids", _array(_ARRAY, many_, inner * many_)
        listed = (bytes((_ARRAY,)) + inner) * 64
        yield f"a list of 64 arrays of {count} voids", bytes((_LIST,)) + counted("list", listed, 64)


def _short_lists() -> Iterator[tuple[str, bytes]]:
    for count in _COUNTS:
        for kind, code in (("list", _LIST), ("map", _MAP)):
            yield f"{kind} of {count} without any", bytes((code,)) + counted(kind, b"", count)
            one = b"\xf0" if kind == "list" else b"\x01k\xf0"
            yield f"{kind} of {count} with one", bytes((code,)) + counted(kind, one, count)


# --- C3


def nesting(_: str, state: State) -> Iterator[Location]:
    """What can hold itself."""
    for role, deep in _NESTED.items():
        yield from _location(state, f"nested.{role}", _depths(deep))


def _depths(deep: Callable[[int], bytes]) -> Values:
    return lambda: ((f"{depth} deep", deep(depth)) for depth in DEPTHS if depth * 9 <= _MAX_OCTETS)


def _arrays(depth: int) -> bytes:
    """An array of one array, and so on; the innermost is empty."""
    value = bytes(counted("array", b"", 0, item_code=_CODES["void"]))
    for _ in range(depth):
        value = bytes(counted("array", value, 1, item_code=_ARRAY))
    return bytes((_ARRAY,)) + value


def _structs(depth: int) -> bytes:
    """Message properties whose application headers hold message properties, and so on."""
    value = struct("message.message-properties", {})
    for _ in range(min(depth, 1000)):
        headers = Raw(_map(bytes((_STRUCT,)) + value))
        value = struct("message.message-properties", {"application_headers": headers})
    return bytes((_STRUCT,)) + value


_NESTED: dict[str, Callable[[int], bytes]] = {
    "list": lambda depth: bytes((_LIST,)) + nested(depth),
    "map": lambda depth: bytes((_MAP,)) + nested(depth, "map"),
    "array": _arrays,
    "struct": _structs,
    "unclosed": lambda depth: (bytes((_LIST,)) + (9 * depth).to_bytes(4, "big") + b"\0\0\0\1") * depth,
}


# --- C6


def interning(_: str, state: State) -> Iterator[Location]:
    """Names of every kind, many of each."""
    yield from in_names(_NAMED, partial(may, state), NAME_COUNTS)


def _attached(name: str) -> bytes:
    """A session on the same channel as all others."""
    octets = name.encode()
    return say("session.attach", 2, name=octets) + say("session.detach", 2, name=octets)


def _table(texts: list[str]) -> dict[str, str]:
    return dict.fromkeys(texts, "v")


_NAMED: dict[str, tuple[str, Callable[[list[str]], bytes]]] = {
    "name.client-property": (
        "connection.start-ok",
        lambda texts: say("connection.start-ok", client_properties=_table(texts)),
    ),
    "name.session": ("session.attach", each(_attached)),
    "name.header": (
        "message.transfer",
        lambda texts: transfer(b"", message={"application_headers": _table(texts)}),
    ),
    "name.routing-key": ("message.transfer", each(lambda text: transfer(b"", key=text))),
    "name.content-type": (
        "message.transfer",
        each(lambda text: transfer(b"", message={"content_type": text})),
    ),
    "name.queue": ("queue.query", each(lambda text: say("queue.query", queue=text))),
    "name.argument": (
        "queue.declare",
        lambda texts: say("queue.declare", exclusive=True, arguments=_table(texts)),
    ),
    "name.destination": ("message.stop", each(lambda text: say("message.stop", destination=text))),
}

# --- C11


def _field(name: bytes, tag: int, value: bytes) -> bytes:
    return bytes(sized("str8", name)) + bytes((tag,)) + value


def _counted(fields: bytes) -> bytes:
    """A map that says of how many entries its octets are, as far as they can be distinguished: those by short names."""
    count = max(1, fields.count(b"\x01k"), fields.count(b"\0\x95\0\0"))
    return bytes(counted("map", fields, count))


_FORM = TableForm(
    "map",
    _counted,
    _field,
    _STR16,
    lambda text: bytes(sized("str16", text)),
    (_MAP,),
    most_octets=_MAX_OCTETS,
)


def tables(dialect_id: str, state: State) -> Iterator[Location]:
    """Invalid maps."""
    yield from table_locations(_FORM, dialect_id, state)
    if may(state, "session.attach"):
        sizes = (0, 1, 255, 256, 4000)
        yield Location("session.name", many("octets of a name", sizes, lambda n: attach(2, b"\xff" * n)))
