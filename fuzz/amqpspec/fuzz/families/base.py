"""What families are made of: locations, which are roles that are bent in a state, and the bent octets in a fixed order.

Knows: trees, states. Must not know: any family, what the ledger says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from typing import NamedTuple, TypeVar

from amqpspec.fuzz.families.material import CODINGS, names, packed
from amqpspec.fuzz.grammar import Production, grammar
from amqpspec.fuzz.states.model import State
from amqpspec.fuzz.trees.tree import Node, Place, Role, Way, edited, octets_at, octets_of, walk
from amqpspec.fuzz.trees.values import boundaries


class Bend(NamedTuple):
    """The octets to send, step by step, and a description of the mutation."""

    words: str
    steps: tuple[bytes, ...]


T = TypeVar("T")
V = TypeVar("V")
_FULLY = 2

Bends = Callable[[], Iterable[Bend]]


class Location(NamedTuple):
    """A role that a family bends in a state; ``touches`` are the requirement ids around it."""

    role: str
    bends: Bends
    touches: tuple[str, ...] = ()


def next_productions(dialect_id: str, state: State) -> list[Production]:
    """What may legally come next in a state."""
    return [grammar(dialect_id)[name] for name in state.next]


def bend(words: str, *steps: Node | bytes) -> Bend:
    """Trees or octets as steps."""
    return Bend(words, tuple(octets_of(s) if isinstance(s, Node) else s for s in steps))


Pick = Callable[[Place], str]
"""A part to the role under which it is bent; empty if it is not."""

Variants = Callable[[Node, Place], Iterable[tuple[str, bytes]]]
"""A tree and one of its parts to octets that take the part's place, with words."""


def locations_at(
    dialect_id: str, state: State, pick: Pick, variants: Variants, *touches: str, rest: Variants | None = None
) -> Iterator[Location]:
    """A location for each role among the parts of what may follow.

    ``rest`` are the variants of all but the first two parts, where all variants of all of them would be too many.
    """
    found: dict[str, list[tuple[Production, Place]]] = {}
    for production in next_productions(dialect_id, state):
        for place in walk(production.tree):
            role = pick(place)
            if role:
                found.setdefault(role, []).append((production, place))
    for role, places in found.items():
        yield Location(role, _editing(places, variants, rest or variants), touches)


def _editing(places: list[tuple[Production, Place]], variants: Variants, rest: Variants) -> Bends:
    def bends() -> Iterator[Bend]:
        for number, (production, place) in enumerate(places):
            for words, octets in (variants if number < _FULLY else rest)(production.tree, place):
                tree = edited(production.tree, place.way, octets)
                yield bend(f"{production.name} {place.path}: {words}", tree)

    return bends


def numbers_of(values: Callable[[int, int], Iterable[int]]) -> Variants:
    """Variants that put other numbers in place of one; ``values`` gets its width and what it is."""

    def variants(root: Node, place: Place) -> Iterator[tuple[str, bytes]]:
        old = octets_at(root, place.way)
        for number in values(len(old), int.from_bytes(old, "big")):
            yield f"{number} for {int.from_bytes(old, 'big')}", number.to_bytes(len(old), "big")

    return variants


def edges(width_octets: int, value: int) -> list[int]:
    """The edges of a number, without what it is."""
    return [number for number in boundaries(width_octets) if number != value]


def every_octet(root: Node, place: Place) -> Iterator[tuple[str, bytes]]:
    """Every other value of one octet."""
    old = octets_at(root, place.way)
    for octet in range(256):
        if bytes((octet,)) != old:
            yield f"0x{octet:02x}", bytes((octet,))


def cut_after(root: Node, way: Way, octets: bytes) -> bytes:
    """The octets up to and with one part, which holds other octets: what it announces never comes."""
    whole = octets_of(edited(root, way, octets))
    return whole[: _start(root, way) + len(octets)]


def _start(root: Node, way: Way) -> int:
    at, node = 0, root
    for depth, step in enumerate(way):
        at += sum(len(octets_at(root, (*way[:depth], before))) for before in range(step))
        node = node.children[step]
    return at


def many(words: str, counts: Iterable[int], make: Callable[[int], bytes]) -> Bends:
    """Things in growing numbers: the octets of this many of them."""
    return lambda: (Bend(f"{words}: {count}", (make(count),)) for count in counts)


def over(values: Iterable[V], words: str, make: Callable[[V], bytes]) -> Bends:
    """The octets for each of several values, which the words name."""
    return lambda: (Bend(words.format(value), (make(value),)) for value in values)


def pipelined(parts: Mapping[str, bytes]) -> Iterator[Bend]:
    """The parts of a handshake at once, in parts, without their beginning; and each many times."""
    texts = list(parts)
    for first in range(len(texts)):
        for last in range(first + 1, len(texts) + 1):
            chosen = texts[first:last]
            yield Bend(", ".join(chosen), (b"".join(parts[text] for text in chosen),))
    for text in texts:
        yield Bend(f"{text} 16 times", (parts[text] * 16,))


# --- roles, and things in numbers


def by_role(role: Role, named: str = "") -> Pick:
    """Parts of a role, under their own names or under this one."""
    return lambda place: (named or place.node.name) if place.node.role is role else ""


def each(make: Callable[[T], bytes]) -> Callable[[Iterable[T]], bytes]:
    """What is made of several things: the octets of one after the other."""
    return lambda things: b"".join(map(make, things))


def counted_from(first: int, make: Callable[[int], bytes], before: bytes = b"") -> Callable[[int], bytes]:
    """This many things, numbered from the first one on, after some octets."""
    return lambda count: before + b"".join(map(make, range(first, first + count)))


Kinds = Mapping[str, tuple[str, Callable[[T], bytes]]]
"""Roles, each with the message that may have to come next, and the octets that are made."""


def in_numbers(
    kinds: Kinds[int], may: Callable[[str], bool], counts: Iterable[int], *touches: str
) -> Iterator[Location]:
    """Things of each kind in growing numbers."""
    for role, (name, make) in kinds.items():
        if may(name):
            yield Location(role, many(role, counts, make), touches)


def in_names(
    kinds: Kinds[list[str]], may: Callable[[str], bool], counts: Iterable[int]
) -> Iterator[Location]:
    """Names of each kind in growing numbers."""
    for role, (name, make) in kinds.items():
        if may(name):
            yield Location(role, _named(role.partition(".")[2], counts, make))


def _named(kind: str, counts: Iterable[int], make: Callable[[list[str]], bytes]) -> Bends:
    return many(f"names: {kind}", counts, lambda count: make(names(kind, count)))


# --- what several dialects send


def coded_bodies(make: Callable[[bytes, str], bytes]) -> Bends:
    """Bodies with every name of a coding, whatever they are; ``make`` gets a body and a name."""

    def bends() -> Iterator[Bend]:
        bomb = packed(b"\0" * (1 << 22))
        bodies = {
            "packed": packed(b"amqpspec"),
            "4 MiB of zeros": bomb,
            "cut": bomb[:-9],
            "plain": b"amqpspec",
        }
        for coding, (words, body) in product(CODINGS, bodies.items()):
            yield Bend(f"encoding {coding}, body {words}", (make(body, coding),))

    return bends
