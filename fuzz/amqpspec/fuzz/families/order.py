"""C9: frames out of state, on the wrong channel, in the wrong order.

Knows: every production, and which ones a state allows next. Must not know: what a target does with the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from amqpspec.fuzz.families.base import (
    Bend,
    Location,
    bend,
    by_role,
    locations_at,
    next_productions,
    numbers_of,
)
from amqpspec.fuzz.grammar import grammar
from amqpspec.fuzz.states.model import State
from amqpspec.fuzz.states.ways import from_client
from amqpspec.fuzz.trees.tree import Node, Role, octets_at, octets_of

_CHANNELS = (0, 1, 2, 255, 256, 2047, 2048, 32_767, 32_768, 65_534, 65_535)
_TOUCHES = (
    "channel/grammar", "connection/grammar", "wire/frame/channel-zero-for-connection", "wire/method/server-only",
    "wire/frame/channel-class-on-zero", "grammar/content-order", "connections/states/legal-frames",
)  # fmt: skip


def _others(width_octets: int, value: int) -> list[int]:
    return [channel for channel in _CHANNELS if channel != value]


def locations(dialect_id: str, state: State) -> Iterator[Location]:
    """Where this family bends in a state."""
    yield from locations_at(
        dialect_id, state, by_role(Role.CHANNEL, "frame.channel"), numbers_of(_others), *_TOUCHES
    )
    yield Location("order.client", lambda: _out_of_state(dialect_id, state, True), _TOUCHES)
    yield Location("order.server", lambda: _out_of_state(dialect_id, state, False), _TOUCHES)
    yield Location("order.twice", lambda: _twice(dialect_id, state), _TOUCHES)
    if any(len(p.tree.children) > 1 for p in next_productions(dialect_id, state)):
        yield Location("order.frames", lambda: _permuted(dialect_id, state), _TOUCHES)


def _out_of_state(dialect_id: str, state: State, client: bool) -> Iterator[Bend]:
    """Everything that one side may send at some time, and that this state does not allow."""
    for name, production in grammar(dialect_id).items():
        if name not in state.next and from_client(dialect_id, name) is client:
            yield bend(f"{name} in {state.name}", production.tree)


def _twice(dialect_id: str, state: State) -> Iterator[Bend]:
    """What may follow, several times over; then each pair of the first few."""
    productions = next_productions(dialect_id, state)
    for production in productions:
        for count in (2, 3, 64):
            yield bend(f"{production.name} {count} times", octets_of(production.tree) * count)
    for first, second in permutations(productions[:12], 2):
        yield bend(f"{first.name}, then {second.name}", first.tree, second.tree)


def _permuted(dialect_id: str, state: State) -> Iterator[Bend]:
    """The frames of one production in every other order, and each of them missing or doubled."""
    for production in next_productions(dialect_id, state):
        frames = production.tree.children
        if len(frames) < 2:
            continue
        orders: list[tuple[Node, ...]] = [order for order in permutations(frames) if order != frames]
        orders += [frames[:at] + frames[at + 1 :] for at in range(len(frames))]
        orders += [frames[: at + 1] + frames[at:] for at in range(len(frames))]
        for order in orders:
            names = ", ".join(node.name for node in order)
            # Frames are rendered at their original places, so that a part that measures another frame still finds
            # it.
            octets = b"".join(octets_at(production.tree, (frames.index(node),)) for node in order)
            yield bend(f"{production.name} as {names}", octets)
