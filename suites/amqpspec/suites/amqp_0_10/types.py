"""Types: values of each type pass through the server in application headers unchanged.

Knows: what is peculiar about each type, its least and its largest value. Must not know: targets.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.record.rows import Outcome
from amqpspec.run.case import case
from amqpspec.run.oracles import equals
from amqpspec.run.verdict import Verdict
from amqpspec.wire.amqp_0_10.reading import decode
from amqpspec.wire.amqp_0_10.values import Array, Map, Value, plain
from amqpspec.wire.amqp_0_10.writing import encode, encode_value


def _integers(bits: int, *, signed: bool) -> tuple[int, ...]:
    least = -(1 << bits - 1) if signed else 0
    most = (1 << bits - signed) - 1
    # Numbers whose octets differ show in which order they stand.
    return (least, 0, 1, most, int.from_bytes(bytes(range(1, bits // 8 + 1)), "big"))


def _octets(count: int) -> tuple[bytes, ...]:
    return (bytes(count), b"\xff" * count, bytes(range(count % 256)) + bytes(count - count % 256))


VALUES: Mapping[str, Sequence[Any]] = {
    "int8": (-128, -1, 0, 127),
    "uint8": (0, 127, 128, 255),
    "boolean": (True, False),
    "int16": _integers(16, signed=True),
    "uint16": _integers(16, signed=False),
    "int32": _integers(32, signed=True),
    "uint32": _integers(32, signed=False),
    "int64": _integers(64, signed=True),
    "uint64": _integers(64, signed=False),
    "char": ("A", "€"),
    "float": (0.0, 1.5, -2.0, math.inf),
    "double": (0.0, math.pi, -1e300, math.inf),
    "char-utf32": ("A", "ß", "\U0001f600"),
    "datetime": (0, 1_217_203_200, -1),
    "uuid": (UUID(int=0), UUID(bytes=bytes(range(16)))),
    "str8-latin": ("", "plain", "Ÿ€"),
    "str8": ("", "a" * 255, "ü" * 127),
    "str8-utf16": ("", "wide ü"),
    "str16-latin": ("", "Š" * 300),
    "str16": ("", "ü€\U0001f600", "b" * 300),
    "str16-utf16": ("", "wide \U0001f600"),
    "vbin8": (b"", bytes(255)),
    "vbin16": (b"", bytes(range(256)) * 3),
    "vbin32": (b"", bytes(range(256)) * 3),
    "dec32": ((0, 0), (2, -12345), (255, 2**31 - 1)),
    "dec64": ((0, 0), (7, -(2**40)), (255, 2**63 - 1)),
    "void": (None,),
    "map": ({}, {"a": Value("uint8", 1), "b": Value("map", {"c": Value("str8", "d")})}),
    "list": ((), (Value("uint8", 1), Value("list", (Value("void", None),)))),
    "array": (Array("uint16", ()), Array("uint16", (1, 258)), Array("str8", ("a", ""))),
    **{
        name: _octets(count)
        for name, count in {
            "bin8": 1, "bin16": 2, "bin32": 4, "bin40": 5, "bin64": 8, "bin72": 9, "bin128": 16, "bin256": 32,
            "bin512": 64, "bin1024": 128,
        }.items()
    },
}  # fmt: skip


def _returned(peer: Peer, values: Sequence[Value]) -> Map:
    """The application headers that return for these."""
    peer.open_session()
    queue = peer.queue()
    peer.claim("the same values, with their types")
    peer.publish(queue, message={"application_headers": {f"k{at}": value for at, value in enumerate(values)}})
    peer.subscribe(queue)
    found = peer.transfer().message.get("application_headers")
    return found if isinstance(found, Map) else Map()


def _same(peer: Peer, values: Sequence[Value]) -> tuple[Verdict, Map]:
    returned = _returned(peer, values)
    found = dict(returned)
    seen = [encode_value(found[f"k{at}"]).hex() if f"k{at}" in found else "none" for at in range(len(values))]
    return equals(peer, seen, [encode_value(value).hex() for value in values], "values"), returned


def _bare(headers: Map) -> dict[str, tuple[type, Any]]:
    """Headers without the types that they had; lists and arrays are alike."""
    values = {key: plain(value) for key, value in headers}
    bare = {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}
    return {key: (type(value), value) for key, value in bare.items()}


def _alike(peer: Peer, values: Sequence[Value]) -> Verdict:
    """No text says that a broker keeps the types of a user's headers: equal values of others serve as well."""
    verdict, returned = _same(peer, values)
    sent, _ = decode("map", encode("map", {f"k{at}": value for at, value in enumerate(values)}))
    if verdict.outcome is Outcome.FAIL and _bare(returned) == _bare(sent):
        return replace(verdict, outcome=Outcome.NONSTRICT)
    return verdict


def _declare(name: str) -> None:
    def body(peer: Peer) -> Verdict:
        return _alike(peer, [Value(name, value) for value in VALUES[name]])

    body.__module__, body.__doc__ = __name__, f"The target returns values of type {name} unchanged."
    globals()[f"type_{name.replace('-', '_')}"] = case(f"type.{name}", covers=[f"type/{name}"])(body)


for _name in VALUES:
    _declare(_name)


@case("encoding.map.all-types", covers=["encoding/map/all-types-round-trip"])
def all_types_in_one_map(peer: Peer) -> Verdict:
    """A map with a value of every type, including nested ones, arrives unchanged."""
    return _alike(peer, [Value(name, values[-1]) for name, values in VALUES.items()])


@case("type.boolean.any-octet", covers=["type/boolean"])
def any_octet_is_true(peer: Peer) -> Verdict:
    """Any octet other than zero is true."""
    sent = (b"\x01", b"\x02", b"\xff")
    found = dict(_returned(peer, [Value(0x08, octet) for octet in sent]))
    return equals(peer, [value.value for value in found.values()], [True] * len(sent), "values")
