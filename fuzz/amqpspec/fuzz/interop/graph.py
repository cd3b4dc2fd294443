"""The session graph: what a client sends one after the other, each as a tree, and what it waits for in between.

Knows: states and productions. Must not know: any tool that walks the graph.

Ways into states that begin alike share their requests. A slot of a way (login, virtual host, limits) is a part of the
request's tree, marked by its place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from amqpspec.fuzz.grammar import grammar
from amqpspec.fuzz.inputs.corpus import tree_of
from amqpspec.fuzz.states.model import Say, Slot, State, Step, Values
from amqpspec.fuzz.states.ways import octets_of_step, states
from amqpspec.fuzz.trees.tree import Node, Way, octets_of, walk

_MARKED = Values(
    user="slot-user",
    password="slot-password",
    vhost="slot-vhost",
    queue="slot-queue",
    channel_max=0x51A7,
    frame_max_octets=0x51A7_51A7,
    hostname="slot-hostname",
    container="slot-container",
)
_LEFT = frozenset({Slot.NEXT_INCOMING, Slot.DELIVERY_COUNT})
"""What a session of boofuzz does not know: it stays the number that it is without a target."""


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """Something that is sent. ``slots`` are the parts of its tree that are filled in when the target is known."""

    name: str
    tree: Node
    slots: Mapping[Way, Slot] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Edge:
    """Where a request may come: after another (``after`` empty: first of all), once the answers have arrived.

    ``state`` is the last state on the way, and ``since`` what was sent after it.
    """

    after: str
    request: str
    waits: tuple[str, ...]
    state: str
    since: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionGraph:
    """All requests of a dialect by name, and its edges, in the order of a conversation."""

    dialect: str
    requests: Mapping[str, Request]
    edges: tuple[Edge, ...]


@dataclass(slots=True)
class _Point:
    """A place in the trie of ways: the request that leads here, and what follows once which answers have arrived."""

    name: str
    following: dict[tuple[tuple[str, ...], Say], _Point] = field(default_factory=dict)


@cache
def session_graph(dialect_id: str) -> SessionGraph:
    """The graph of a dialect; raises KeyError for an unknown one."""
    return _Graph(dialect_id).made()


class _Graph:
    def __init__(self, dialect_id: str) -> None:
        self.dialect = dialect_id
        self.requests: dict[str, Request] = {}
        self.edges: list[Edge] = []
        self.made_of: dict[str, list[Request]] = {}
        self.root = _Point("")
        self.ends: dict[tuple[str, tuple[str, ...]], State] = {}

    def made(self) -> SessionGraph:
        points = [(state, *self._way(state)) for state in states(self.dialect).values()]
        self._edges_of_ways(self.root, "raw", ())
        for state, point, waits in points:
            self._productions(state, point, waits)
        return SessionGraph(self.dialect, self.requests, tuple(self.edges))

    # --- ways

    def _way(self, state: State) -> tuple[_Point, tuple[str, ...]]:
        """The end of a state's way, and what is waited for there; requests are created if they do not exist yet."""
        point, waits = self.root, tuple[str, ...]()
        for step in state.steps:
            for say in step.says:
                if (waits, say) not in point.following:
                    request = self._request(self._named(_word(say.name or say.words)), say)
                    self.requests[request.name] = request
                    point.following[waits, say] = _Point(request.name)
                point, waits = point.following[waits, say], ()
            waits = step.wait_for
        self.ends.setdefault((point.name, waits), state)
        return point, waits

    def _named(self, wanted: str) -> str:
        """A name that no request has yet."""
        names = (wanted, *(f"{wanted}_{number}" for number in range(2, 1000)))
        return next(name for name in names if name not in self.requests)

    def _request(self, name: str, say: Say) -> Request:
        marked = tree_of(self.dialect, octets_of_step(self.dialect, Step((say,)), _MARKED))
        tree = tree_of(self.dialect, octets_of_step(self.dialect, Step((say,)), Values()))
        slots = {place.way: slot for place in walk(marked) if (slot := _slot_of(place.node)) is not None}
        return Request(name, tree, slots)

    def _edges_of_ways(self, point: _Point, state: str, since: tuple[str, ...]) -> None:
        for (waits, _), following in point.following.items():
            end = self.ends.get((point.name, waits))
            here, behind = (end.name, ()) if end is not None else (state, since)
            self.edges.append(Edge(point.name, following.name, waits, here, behind))
            self._edges_of_ways(following, here, (*behind, following.name))

    # --- productions

    def _productions(self, state: State, point: _Point, waits: tuple[str, ...]) -> None:
        """What may follow in a state, except for what a way continues with anyway."""
        following = [p for (waited, _), p in point.following.items() if waited == waits]
        known = {octets_of(self.requests[p.name].tree) for p in following}
        for name in state.next:
            production = grammar(self.dialect)[name]
            if octets_of(production.tree) not in known:
                request = self._of_production(name, production.tree, point.name)
                self.edges.append(Edge(point.name, request.name, waits, state.name))

    def _of_production(self, name: str, tree: Node, after: str) -> Request:
        """A production's request; it may come in several states, but only once after the same request."""
        for request in self.made_of.setdefault(name, []):
            if not any((edge.after, edge.request) == (after, request.name) for edge in self.edges):
                return request
        request = Request(self._named(_word(name)), tree)
        self.made_of[name].append(request)
        self.requests[request.name] = request
        return request


def _word(name: str) -> str:
    """A name in which nothing has a meaning for other tools."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def _slot_of(node: Node) -> Slot | None:
    """The slot whose mark is in a leaf."""
    if node.is_group or node.measure is not None or not node.octets:
        return None
    known = (slot for slot in Slot if slot not in _LEFT)
    return next((slot for slot in known if _mark(_MARKED.of(slot), len(node.octets)) == node.octets), None)


def _mark(mark: str | bytes | int, width_octets: int) -> bytes:
    if isinstance(mark, int):
        return mark.to_bytes(width_octets, "big") if mark < 1 << 8 * width_octets else b""
    return mark.encode() if isinstance(mark, str) else mark
