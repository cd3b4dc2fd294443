"""C12: messages of AMQP/Fast bent: fields of their heads, fragments, restarts, packed bodies.

Knows: heads, fragments, PREPARE and READY. Must not know: destinations, windows.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from amqpspec.fuzz.amqp_fast_0_8.kit import fragment, may, open_handle, say, send
from amqpspec.fuzz.families.base import Bend, Location, coded_bodies, edges, locations_at
from amqpspec.fuzz.families.material import flipped_flags
from amqpspec.fuzz.states.model import State
from amqpspec.fuzz.trees.tree import Place, Role
from amqpspec.fuzz.trees.values import TEXTS
from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.wire.amqp_fast_0_8.message import encode_head, encode_message

_ROWS = ("messages/head/body-size", "messages/fragments/not-mixed", "messages/frames/size")
_FLAGS = ("partial", "out_of_band", "recovery")
_HASHES = ("", "0", "da39a3ee5e6b4b0d3255bfef95601890afd80709", "x" * 40, "d" * 255, "DA39A3EE")
_SIZES = (0, 1, 8, 1 << 16, 1 << 20, (1 << 31) - 1, (1 << 32) - 1)


def _flags(place: Place) -> str:
    return "flags" if place.node.role is Role.FLAGS and place.node.kind == "bit" else ""


def messages(dialect_id: str, state: State) -> Iterator[Location]:
    """Where this family bends in a state."""
    yield from locations_at(dialect_id, state, _flags, flipped_flags)
    if may(state, "handle.send"):
        yield Location("head.field", _heads, ("messages/head/body-size",))
        yield Location("head.cut", _cut_heads, _ROWS)
        yield Location("fragment.order", _fragments, _ROWS)
        yield Location("body.packed", coded_bodies(lambda body, coding: send(body, encoding=coding)))
    if may(state, "handle.prepare"):
        restarts = ("restartable/option", "restartable/wrong-hash", "handle/prepare/not-batched")
        yield Location("restart.prepare", _prepares, restarts)
        yield Location("restart.ready", _readies, ("handle/ready/open",))


def _heads() -> Iterator[Bend]:
    for field in DIALECT.message_head:
        kind = DIALECT.types_by_name[field.type]
        if kind.name == "shortstr":
            for words, text in TEXTS:
                yield Bend(f"{field.name}: {words}", (_with(field.key, text),))
        elif kind.octets:
            numbers = range(256) if kind.octets == 1 else edges(kind.octets, -1)
            for number in numbers:
                yield Bend(f"{field.name} {number}", (_with(field.key, number),))


def _with(key: str, value: Any) -> bytes:
    return send(b"x", **{key: value})


def _cut_heads() -> Iterator[Bend]:
    """Heads that end too early in one fragment, and heads that continue in the next one."""
    whole = encode_message(b"amqpspec", headers={"K": "v"})
    for count in range(len(whole)):
        yield Bend(f"a message cut after {count} octets", (fragment(whole[:count]),))
        parts = fragment(whole[:count], partial=True) + fragment(whole[count:])
        yield Bend(f"a message in two fragments, of which the first has {count} octets", (parts,))
    ones = b"".join(fragment(whole[at : at + 1], partial=at + 1 < len(whole)) for at in range(len(whole)))
    yield Bend("a message in fragments of one octet", (ones,))


def _fragments() -> Iterator[Bend]:
    """Flags in every order; fragments of two handles, of two messages, of none."""
    begins, rest = encode_message(b"amqp", body_size=8), b"spec"
    for first, second in product(product((False, True), repeat=3), repeat=2):
        flags = [dict(zip(_FLAGS, given, strict=True)) for given in (first, second)]
        parts = fragment(begins, **flags[0]) + fragment(rest, **flags[1])
        yield Bend(f"fragments with {first} and {second}", (parts,))
    mixed = fragment(begins, partial=True) + open_handle() + fragment(begins, handle_id=7, partial=True)
    yield Bend("fragments of two handles", (mixed + fragment(rest) + fragment(rest, handle_id=7),))
    for between in (
        "connection.ping",
        "channel.ack",
        "handle.flow",
        "handle.close",
        "channel.close",
        "handle.query",
    ):
        octets = fragment(begins, partial=True) + say(between) + fragment(rest)
        yield Bend(f"{between} between fragments", (octets,))
    for name in ("another", ""):
        octets = fragment(begins, partial=True) + fragment(rest, dest_name=name)
        yield Bend(f"a message that goes on to {name!r}", (octets,))
    for service in (0, 1, 2, 3, 4, 255, 65_535):
        yield Bend(
            f"service type {service}",
            (fragment(begins, partial=True) + fragment(rest, service_type=service),),
        )


def _prepare(size: int = 1 << 20, body: bytes = b"", hash: str = "", **head: object) -> bytes:
    octets = encode_head(body_size=size, identifier="amqpspec-fuzz-c12", **head) + body
    return say("handle.prepare", fragment=octets, content_hash=hash)


def _prepares() -> Iterator[Bend]:
    for size in _SIZES:
        for hash in _HASHES:
            yield Bend(f"PREPARE of {size} octets, hash {hash[:10]!r}", (_prepare(size, hash=hash),))
        yield Bend(f"PREPARE of {size} octets with 64 of them", (_prepare(size, b"x" * 64),))
        rest = fragment(b"x" * 64, recovery=True)
        yield Bend(f"PREPARE of {size} octets, then 64 of them", (_prepare(size) + rest,))
        yield Bend(f"PREPARE of {size} octets, then a message", (_prepare(size) + send(),))
    for count in (2, 64):
        yield Bend(f"{count} PREPAREs", (_prepare() * count,))
    head = encode_head(body_size=1 << 20)
    for count in range(len(head)):
        yield Bend(f"PREPARE with {count} octets of a head", (say("handle.prepare", fragment=head[:count]),))


def _readies() -> Iterator[Bend]:
    """READY that no one asked for; recovery of what was never prepared."""
    for size in _SIZES:
        yield Bend(f"READY {size}", (say("handle.ready", message_size=size),))
        yield Bend(f"PREPARE, then READY {size}", (_prepare() + say("handle.ready", message_size=size),))
    for partial in (True, False):
        yield Bend(f"recovery, partial {partial}", (fragment(b"x" * 64, recovery=True, partial=partial),))
        closed = say("handle.close") + open_handle(1) + fragment(b"x" * 64, recovery=True, partial=partial)
        yield Bend(f"recovery on another handle, partial {partial}", (_prepare() + closed,))
