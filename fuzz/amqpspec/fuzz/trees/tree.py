"""Trees of octets: every part of a message with its path and its role; sizes and counts follow what they span.

Knows: how parts become octets, and how one part is edited. Must not know: any dialect.

A measure is computed from its siblings, or from parts named by their path from the root, whenever the tree is
rendered. Editing the measure itself puts octets in its place, so that only it is false and everything around it
stays valid. A measure too large for its width is cut to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


class Role(StrEnum):
    """What a part is there for."""

    GROUP = "group"
    SIZE = "size"
    COUNT = "count"
    OFFSET = "offset"
    TYPE_TAG = "type-tag"
    FRAME_TYPE = "frame-type"
    CYCLE = "cycle"
    CHANNEL = "channel"
    HANDLE = "handle"
    CLASS_ID = "class-id"
    METHOD_ID = "method-id"
    DESCRIPTOR = "descriptor"
    DELIVERY = "delivery"
    SEQUENCE = "sequence"
    CODE = "code"
    FLAGS = "flags"
    NUMBER = "number"
    TIME = "time"
    TEXT = "text"
    SYMBOL = "symbol"
    OPAQUE = "opaque"
    VERSION = "version"
    END = "end"


@dataclass(frozen=True, slots=True)
class Measure:
    """A number computed from other parts: ``(octets or children of them + extra) / unit``.

    ``of`` names siblings; a name that begins with ``/`` is a path from the root.
    """

    width_octets: int
    of: tuple[str, ...]
    extra: int = 0
    unit: int = 1
    counts: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A part: octets, or children, or a measure. ``kind`` is its type in the words of the dialect."""

    name: str
    role: Role = Role.GROUP
    octets: bytes = b""
    children: tuple[Node, ...] = ()
    measure: Measure | None = None
    kind: str = ""
    _reaches_out: bool = field(default=False, init=False, repr=False)
    _rendered: bytes | None = field(default=None, init=False, repr=False)
    _places: tuple[Place, ...] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        reaches = any(n.startswith("/") for n in self.measure.of) if self.measure else False
        object.__setattr__(self, "_reaches_out", reaches or any(c._reaches_out for c in self.children))

    @property
    def is_group(self) -> bool:
        """Whether it is made of children, if only of none."""
        return self.role is Role.GROUP

    def child(self, name: str) -> Node | None:
        """The first child of a name."""
        return next((c for c in self.children if c.name == name), None)


Way = tuple[int, ...]


class Place(NamedTuple):
    """A part in its tree: its path by names, and its path by positions."""

    path: str
    way: Way
    node: Node


def group(name: str, *children: Node, kind: str = "") -> Node:
    """A part made of others."""
    return Node(name, children=children, kind=kind)


def leaf(name: str, role: Role, octets: bytes, kind: str = "") -> Node:
    """A part made of octets."""
    return Node(name, role, octets, kind=kind)


def number(name: str, role: Role, width_octets: int, value: int, kind: str = "") -> Node:
    """A part that is one number of fixed width."""
    return Node(name, role, value.to_bytes(width_octets, "big"), kind=kind)


def size_of(
    width_octets: int, *of: str, name: str = "size", extra: int = 0, unit: int = 1, kind: str = ""
) -> Node:
    """A part that says how many octets others have."""
    role = Role.SIZE if unit == 1 else Role.OFFSET
    return Node(name, role, measure=Measure(width_octets, of, extra, unit), kind=kind)


def count_of(width_octets: int, *of: str, extra: int = 0, kind: str = "") -> Node:
    """A part that says how many children others have."""
    return Node("count", Role.COUNT, measure=Measure(width_octets, of, extra, counts=True), kind=kind)


def counted(name: str, width_octets: int, held: Node, kind: str, size_kind: str = "") -> Node:
    """A part after the number of its octets."""
    return group(name, size_of(width_octets, held.name, kind=size_kind or kind), held, kind=kind)


# --- rendering


def octets_of(root: Node) -> bytes:
    """The tree as octets."""
    return _render(root, root)


def _render(node: Node, root: Node, within: tuple[str, ...] = ()) -> bytes:
    """``within`` are the paths being measured just now."""
    if node._rendered is not None:
        return node._rendered
    if node.measure is not None:
        return _measured(node.measure, (node,), {}, root, within)
    if not node.children:
        return node.octets
    done = {id(c): _render(c, root, within) for c in node.children if c.measure is None}
    parts = [
        done[id(c)] if c.measure is None else _measured(c.measure, node.children, done, root, within)
        for c in node.children
    ]
    octets = b"".join(parts)
    if not node._reaches_out:
        object.__setattr__(node, "_rendered", octets)
    return octets


def _measured(
    measure: Measure,
    siblings: tuple[Node, ...],
    done: dict[int, bytes],
    root: Node,
    within: tuple[str, ...] = (),
) -> bytes:
    total = measure.extra
    for name in measure.of:
        if name in within:
            # Mutation has put the measure into what it measures: inside of that, it spans nothing.
            continue
        if name.startswith("/"):
            parts = [place.node for place in walk(root) if place.path == name[1:]]
            total += sum(_span(part, measure, root, (*within, name)) for part in parts)
        elif measure.counts:
            total += sum(len(s.children) for s in siblings if s.name == name)
        else:
            widths = (
                s.measure.width_octets if s.measure else len(done[id(s)]) for s in siblings if s.name == name
            )
            total += sum(widths)
    width = measure.width_octets
    return (total // measure.unit % (1 << 8 * width)).to_bytes(width, "big")


def _span(part: Node, measure: Measure, root: Node, within: tuple[str, ...]) -> int:
    return len(part.children) if measure.counts else len(_render(part, root, within))


# --- finding


def walk(root: Node) -> tuple[Place, ...]:
    """Every part below the root in wire order, groups before what they hold."""
    if root._places is None:
        object.__setattr__(root, "_places", tuple(_walk(root)))
    assert root._places is not None
    return root._places


def _walk(root: Node) -> Iterator[Place]:
    """Without recursion: most of the parts are deep in the tree, and each would pass through all generators above."""
    pending = _below(root, "", ())
    while pending:
        place = pending.pop()
        yield place
        if place.node.children:
            pending += _below(place.node, f"{place.path}.", place.way)


def _below(node: Node, prefix: str, way: Way) -> list[Place]:
    """The children, the last one first."""
    children = node.children
    return [
        Place(prefix + children[at].name, (*way, at), children[at]) for at in reversed(range(len(children)))
    ]


def find(root: Node, path: str) -> Place:
    """The first part at a path; raises KeyError."""
    for place in walk(root):
        if place.path == path:
            return place
    raise KeyError(f"{path!r} in {root.name!r}")


def at(root: Node, way: Way) -> Node:
    """The part at a position."""
    node = root
    for step in way:
        node = node.children[step]
    return node


def octets_at(root: Node, way: Way) -> bytes:
    """The octets of one part at its place, with measures as they are computed there."""
    node = at(root, way)
    if node.measure is None:
        return _render(node, root)
    siblings = at(root, way[:-1]).children
    done = {id(c): _render(c, root) for c in siblings if c.measure is None}
    return _measured(node.measure, siblings, done, root)


# --- editing


def replaced(root: Node, way: Way, change: Callable[[Node], Iterable[Node]]) -> Node:
    """The tree with other parts, or none, in place of one."""
    first, *rest = way
    old = root.children[first]
    new = tuple(change(old)) if not rest else (replaced(old, tuple(rest), change),)
    children = root.children[:first] + new + root.children[first + 1 :]
    return Node(root.name, root.role, root.octets, children, root.measure, root.kind)


def edited(root: Node, way: Way, octets: bytes) -> Node:
    """The tree with other octets in place of one part, and nothing else changed but what measures it."""
    return replaced(root, way, lambda old: (Node(old.name, old.role, octets, kind=old.kind),))


def edited_path(root: Node, path: str, octets: bytes) -> Node:
    """The same by path; raises KeyError."""
    return edited(root, find(root, path).way, octets)
