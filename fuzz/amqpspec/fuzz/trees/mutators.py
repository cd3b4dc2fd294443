"""Mutators: small changes of a tree, each with a name; they stack.

Knows: parts and roles. Must not know: dialects' tables, states, how often a mutator is worth trying.

A mutator returns the same tree if it finds nothing to change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from amqpspec.fuzz.trees.choices import Choices
from amqpspec.fuzz.trees.tree import (
    Node,
    Place,
    Role,
    edited,
    group,
    leaf,
    octets_at,
    octets_of,
    replaced,
    walk,
)
from amqpspec.fuzz.trees.values import LONG_TEXTS, TEXTS, boundaries, huge, near
from amqpspec.wire.methods.malformed import nested_tables

Apply = Callable[[Node, Choices, Sequence[Node]], Node]
"""A tree, decisions, and trees to take parts from."""


@dataclass(frozen=True, slots=True)
class Mutator:
    """A named change."""

    name: str
    apply: Apply


_MEASURES = (Role.SIZE, Role.COUNT, Role.OFFSET)
_TEXTS = (Role.TEXT, Role.SYMBOL, Role.OPAQUE)
_MAX_NUMBER_OCTETS = 8
_DEPTHS = (2, 16, 64, 128, 512, 2000)
_REPEATS = (2, 3, 16, 256)
_COUNTS = (256, 65_535, 1 << 20, (1 << 31) - 1, (1 << 32) - 1)


def _pick(root: Node, choices: Choices, wanted: Callable[[Place], bool]) -> Place | None:
    places = [place for place in walk(root) if wanted(place)]
    return choices.pick(places) if places else None


def _is_number(place: Place) -> bool:
    node = place.node
    numbers = node.role not in (*_TEXTS, *_MEASURES, Role.GROUP)
    return numbers and 0 < len(node.octets) <= _MAX_NUMBER_OCTETS


def _is_measure(place: Place) -> bool:
    return place.node.measure is not None


def boundary(root: Node, choices: Choices, donors: Sequence[Node]) -> Node:
    """A number at one of its edges."""
    place = _pick(root, choices, _is_number)
    if place is None:
        return root
    width = len(place.node.octets)
    return edited(root, place.way, choices.pick(boundaries(width)).to_bytes(width, "big"))


def lie(root: Node, choices: Choices, donors: Sequence[Node]) -> Node:
    """A size, count or offset that is wrong, slightly or hugely; what it measures stays."""
    place = _pick(root, choices, _is_measure)
    if place is None:
        return root
    old = octets_at(root, place.way)
    value, width = int.from_bytes(old, "big"), len(old)
    wrong = choices.pick([near, huge])(width, value) or near(width, value)
    return edited(root, place.way, choices.pick(wrong).to_bytes(width, "big"))


def shorten(root: Node, choices: Choices, donors: Sequence[Node]) -> Node:
    """A part cut at its end; what measures it follows."""
    place = _pick(root, choices, lambda p: len(p.node.octets) > 0)
    if place is None:
        return root
    return edited(root, place.way, place.node.octets[: choices.below(len(place.node.octets))])


def cut(root: Node, choices: Choices, donors: Sequence[Node]) -> Node:
    """The whole cut at any octet, no measure following."""
    octets = octets_of(root)
    if not octets:
        return root
    return group(root.name, leaf("cut", Role.OPAQUE, octets[: choices.below(len(octets))]))


def repeat(root: Node, choices: Choices, donors: Sequence[Node]) -> Node:
    """A part several times over."""
    place = _pick(root, choices, lambda p: True)
    count = choices.pick(_REPEATS)
    return root if place is None else replaced(root, place.way, lambda old: (old,) * count)


def swap(root: Node, choices: Choices, donors: Sequence[Node]) -> Node:
    """Two neighbours in the other order."""
    place = _pick(root, choices, lambda p: len(p.node.children) > 1)
    if place is None:
        return root
    at = choices.below(len(place.node.children) - 1)

    def swapped(old: Node) -> tuple[Node]:
        parts = list(old.children)
        parts[at : at + 2] = parts[at + 1], parts[at]
        return (Node(old.name, old.role, children=tuple(parts), kind=old.kind),)

    return replaced(root, place.way, swapped)


def drop(root: Node, choices: Choices, donors: Sequence[Node]) -> Node:
    """A part left out."""
    place = _pick(root, choices, lambda p: True)
    return root if place is None else replaced(root, place.way, lambda old: ())


def insert(root: Node, choices: Choices, donors: Sequence[Node]) -> Node:
    """Octets put in before a part."""
    place = _pick(root, choices, lambda p: True)
    octets = choices.octets(1 + choices.below(8))
    return (
        root
        if place is None
        else replaced(root, place.way, lambda old: (leaf("inserted", Role.OPAQUE, octets), old))
    )


def retag(root: Node, choices: Choices, donors: Sequence[Node]) -> Node:
    """Another type tag, constructor, frame type or descriptor."""
    roles = (Role.TYPE_TAG, Role.FRAME_TYPE, Role.DESCRIPTOR)
    place = _pick(root, choices, lambda p: p.node.role in roles and len(p.node.octets) == 1)
    return root if place is None else edited(root, place.way, choices.octets(1))


def retext(root: Node, choices: Choices, donors: Sequence[Node]) -> Node:
    """An odd text in place of one; its size follows."""
    place = _pick(root, choices, lambda p: p.node.role in _TEXTS)
    _, text = choices.pick((*TEXTS, *LONG_TEXTS))
    return root if place is None else edited(root, place.way, text)


def nest(root: Node, choices: Choices, donors: Sequence[Node]) -> Node:
    """A table of tables, or a value in lists in lists."""
    place = _pick(root, choices, lambda p: p.node.kind == "table" or _is_typed(p))
    depth = choices.pick(_DEPTHS)
    if place is None:
        return root
    if place.node.kind == "table":
        return edited(root, place.way, bytes(nested_tables(depth)))
    inner = octets_at(root, place.way)
    openings = [b"\xd0" + (9 * n + len(inner) + 4).to_bytes(4, "big") + b"\0\0\0\1" for n in range(depth)]
    return edited(root, place.way, b"".join(reversed(openings)) + inner)


def zero_width(root: Node, choices: Choices, donors: Sequence[Node]) -> Node:
    """An array of nulls without end in place of a typed value."""
    place = _pick(root, choices, _is_typed)
    count = choices.pick(_COUNTS)
    if place is None:
        return root
    return edited(root, place.way, b"\xf0\0\0\0\5" + count.to_bytes(4, "big") + b"\x40")


def _is_typed(place: Place) -> bool:
    """Whether it is a whole value with its constructor."""
    return bool(place.node.children) and place.node.children[0].kind == "constructor"


def flip(root: Node, choices: Choices, donors: Sequence[Node]) -> Node:
    """A bit the other way round."""
    place = _pick(root, choices, lambda p: len(p.node.octets) > 0)
    if place is None:
        return root
    octets = bytearray(place.node.octets)
    bit = choices.below(8 * len(octets))
    octets[bit // 8] ^= 0x80 >> bit % 8
    return edited(root, place.way, bytes(octets))


def rechannel(root: Node, choices: Choices, donors: Sequence[Node]) -> Node:
    """Another channel or handle."""
    place = _pick(
        root, choices, lambda p: p.node.role in (Role.CHANNEL, Role.HANDLE) and len(p.node.octets) > 0
    )
    if place is None:
        return root
    # Another mutator may have cut it.
    width = len(place.node.octets)
    return edited(root, place.way, choices.pick((0, 1, 2, 255, (1 << 8 * width) - 1)).to_bytes(width, "big"))


def splice(root: Node, choices: Choices, donors: Sequence[Node]) -> Node:
    """A part of another tree in place of one of the same kind or role."""
    place = _pick(root, choices, lambda p: True)
    if place is None or not donors:
        return root
    donor = choices.pick(donors)
    like = [p.node for p in walk(donor) if (p.node.role, p.node.kind) == (place.node.role, place.node.kind)]
    # A measure of another tree measures parts that are not here: it would be a lie without intent.
    fits = [node for node in like if node.measure is None]
    if not fits:
        return root
    part = choices.pick(fits)
    return replaced(root, place.way, lambda old: (part,))


MUTATORS = tuple(
    Mutator(apply.__name__.replace("_", "-"), apply)
    for apply in (
        boundary, lie, shorten, cut, repeat, swap, drop, insert, retag, retext, nest, zero_width, flip, rechannel,
        splice,
    )
)  # fmt: skip
"""Every mutator."""


def stacked(root: Node, choices: Choices, donors: Sequence[Node], count: int) -> tuple[Node, tuple[str, ...]]:
    """This many mutators one upon the other; the tree, and the names of those that changed something."""
    names: list[str] = []
    for _ in range(count):
        mutator = choices.pick(MUTATORS)
        changed = mutator.apply(root, choices, donors)
        if changed is not root:
            root = changed
            names.append(mutator.name)
    return root, tuple(names)
