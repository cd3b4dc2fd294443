"""A smaller tree of one step with the same effect; sizes and counts follow what is left of what they measure.

Knows: parts and roles; searches as hierarchical delta debugging does. Must not know: any dialect, how effects are seen.

What a tree cannot read, such as a frame with a wrong size, is a part without parts: its octets stay as they are here.
Parts that say what others are (types, ids, tags) stay, too; without them, it would be another frame.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from amqpspec.fuzz.inputs.corpus import tree_of
from amqpspec.fuzz.inputs.part import inputs_part
from amqpspec.fuzz.trees.tree import Node, Role, leaf, octets_of, walk
from amqpspec.fuzz.trees.values import boundaries
from amqpspec.fuzz.triage.search import Search, fewest

_TEXTS = frozenset({Role.TEXT, Role.SYMBOL, Role.OPAQUE})
_NUMBERS = frozenset({
    Role.NUMBER, Role.CODE, Role.TIME, Role.FLAGS, Role.SEQUENCE, Role.DELIVERY, Role.HANDLE, Role.COUNT, Role.SIZE,
})  # fmt: skip
_MAX_NUMBER_OCTETS, _RUN_OCTETS = 8, 4

Edits = Mapping[Node, tuple[Node, ...]]


def smaller_tree(dialect_id: str, search: Search, at: int) -> None:
    """Ask for smaller trees of one step of the best. Raises Spent."""
    shrinker = _Shrinker(search, at, tree_of(dialect_id, search.best[at]))
    shrinker.cut()
    shrinker.simplify(list(_parts(shrinker.tree)), inputs_part(dialect_id).null)
    shrinker.flatten()
    shrinker.octets(_RUN_OCTETS)
    shrinker = _Shrinker(search, at, tree_of(dialect_id, search.best[at]))
    shrinker.values()
    shrinker.octets(1)


def is_simplest(node: Node) -> bool:
    """Whether nothing could be simpler in its place: no octets, zero, or what says what others are."""
    return node.measure is not None or _simplest(node) is None


class _Shrinker:
    """``tree`` is always that of the best step."""

    def __init__(self, search: Search, at: int, tree: Node) -> None:
        self._search, self._at, self.tree = search, at, tree

    def _holds(self, edits: Edits) -> bool:
        """Whether the tree with other parts keeps the effect; then it is the tree."""
        tree = rebuilt(self.tree, edits)
        if not self._search.step(self._at, octets_of(tree)):
            return False
        self.tree = tree
        return True

    def cut(self) -> None:
        """Each frame ends after the last part that is needed, found by halves."""
        for frame in self.tree.children:
            parts = _tail(frame)
            middle, needed, enough = 0, -1, len(parts)
            while enough - needed > 1:
                if self._holds(dict.fromkeys(parts[middle:enough], ())):
                    enough = middle
                else:
                    needed = middle
                middle = (needed + enough) // 2

    def simplify(self, parts: Sequence[Node], null: bytes) -> None:
        """All parts as simple as can be but those that are needed; of these, the parts that they hold in turn."""
        while parts:
            simpler = {part: (found,) for part in parts if (found := _simplest(part)) is not None}
            held = [child for part in self._without(simpler) for child in part.children]
            if null:
                held = self._without({part: (leaf(part.name, Role.TYPE_TAG, null),) for part in held})
            held = self._without(dict.fromkeys(held, ()))
            parts = [below for part in held for below in _parts(part)]

    def _without(self, edits: Edits) -> list[Node]:
        """Make as many of these edits as keep the effect; the parts that have to stay as they are."""
        todo = list(edits)

        def keeps(kept: Sequence[Node]) -> bool:
            left = set(kept)
            return self._holds({part: edits[part] for part in todo if part not in left})

        return list(fewest(todo, keeps))

    def flatten(self) -> None:
        """A part in place of one of its kind that holds it: the innermost first, then the next."""
        while any(
            self._holds({outer: (replace(inner, name=outer.name),)}) for outer, inner in _nested(self.tree)
        ):
            pass

    def values(self) -> None:
        """Numbers at the least of their edges that is enough, and texts without the octets that are not needed."""
        for node in [place.node for place in walk(self.tree) if not is_simplest(place.node)]:
            if node.role in _NUMBERS:
                self._lower(node)
            elif node.role in _TEXTS:
                self._shorten(node, node.role)

    def octets(self, least: int) -> None:
        """What frames hold without the octets that are not needed, whatever they mean; only sizes of frames follow.

        A body that cannot be read, such as one with a wrong size within, has only its octets.
        """
        for part in [part for frame in self.tree.children for part in frame.children]:
            if part.children or (part.role is Role.OPAQUE and part.octets):
                self._shorten(part, Role.OPAQUE, least)

    def _lower(self, node: Node) -> None:
        width, value = len(node.octets), int.from_bytes(node.octets, "big")
        for edge in (edge for edge in boundaries(width) if edge < value):
            if self._holds({node: (_with(node, edge.to_bytes(width, "big")),)}):
                return

    def _shorten(self, node: Node, role: Role, least: int = 1) -> None:
        now = node

        def keeps(kept: Sequence[int]) -> bool:
            nonlocal now
            shorter = leaf(node.name, role, bytes(kept), node.kind)
            if not self._holds({now: (shorter,)}):
                return False
            now = shorter
            return True

        fewest(octets_of(node), keeps, least)


def _nested(root: Node) -> Iterator[tuple[Node, Node]]:
    """Parts that hold others of their kind, each with the last and the first of these."""
    for outer in [place.node for place in walk(root) if place.node.children and place.node.kind]:
        inner = [place.node for place in walk(outer) if place.node.kind == outer.kind]
        yield from ((outer, node) for node in (*inner[-1:], *inner[:1]))


def rebuilt(node: Node, edits: Edits) -> Node:
    """The tree with other parts, or none, in place of some; a group of which nothing is left is left out."""
    children = tuple(new for child in node.children for new in _edited(child, edits))
    if len(children) == len(node.children) and all(map(lambda a, b: a is b, children, node.children)):
        return node
    return Node(node.name, node.role, node.octets, children, node.measure, node.kind)


def _edited(child: Node, edits: Edits) -> tuple[Node, ...]:
    if child in edits:
        return edits[child]
    new = rebuilt(child, edits)
    return () if child.children and not new.children else (new,)


def _with(node: Node, octets: bytes) -> Node:
    return leaf(node.name, node.role, octets, node.kind)


def _tail(frame: Node) -> list[Node]:
    """What may be missing at a frame's end: the parts without parts of all that it holds after its header."""
    held = [child for child in frame.children if child.children]
    return [place.node for part in held for place in walk(part) if not place.node.children]


def _parts(node: Node) -> Iterator[Node]:
    """The topmost parts that might be simpler. What a size measures, but for that of a frame, counts as one."""
    measured = {n for c in node.children if c.measure and c.kind != "frame" for n in c.measure.of}
    for child in node.children:
        if child.measure is not None:
            continue
        if not child.children or child.name in measured:
            yield child
        else:
            yield from _parts(child)


def _simplest(node: Node) -> Node | None:
    """What is simplest in its place; None if it is that, or says what others are."""
    if node.is_group:
        return Node(node.name, kind=node.kind) if node.children else None
    if node.role in _TEXTS and node.octets:
        return _with(node, b"")
    if node.role in _NUMBERS and 0 < len(node.octets) <= _MAX_NUMBER_OCTETS and any(node.octets):
        return _with(node, bytes(len(node.octets)))
    return None
