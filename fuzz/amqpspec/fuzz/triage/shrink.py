"""Smaller inputs with the same effect: fewer steps and frames, then a smaller tree of each, then fewer octets.

Knows: the order of the stages, frames of an input. Must not know: how an effect is seen, targets.

Each stage begins with the best that the one before has found. When all of them have been through, they begin again, for
what was left out may have been all that other parts were needed for; it ends if none finds anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from amqpspec.fuzz.inputs.corpus import tree_of
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.trees.tree import octets_of
from amqpspec.fuzz.triage.search import Search, Spent, Steps, fewest
from amqpspec.fuzz.triage.shrink_tree import smaller_tree

__all__ = ["Steps", "smaller_steps"]


def smaller_steps(item: FuzzInput, keeps: Callable[[Steps], bool], limit: int) -> Steps:
    """The smallest steps found that keep the effect, the input's own if there are none.

    ``keeps`` is called at most ``limit`` times, never twice about the same steps, never about the input's own; what
    it raises ends the search, and is raised.
    """
    search = Search(item.steps, keeps, limit)
    before = None
    with suppress(Spent):
        while before != search.best:
            before = search.best
            _fewer_frames(item.dialect, search)
            for at in range(len(search.best)):
                smaller_tree(item.dialect, search, at)
            _fewer_octets(search)
    return search.best


@dataclass(frozen=True, slots=True)
class _Frame:
    """Octets that are kept or left out as a whole, and the step that they belong to."""

    step: int
    octets: bytes


def _fewer_frames(dialect_id: str, search: Search) -> None:
    frames = [
        _Frame(number, octets_of(part))
        for number, step in enumerate(search.best)
        for part in tree_of(dialect_id, step).children
    ]
    fewest(frames, lambda kept: search(_steps(kept)))


def _steps(frames: Sequence[_Frame]) -> Steps:
    """Frames as steps again; a step of which nothing is left is none."""
    octets: dict[int, bytes] = {}
    for frame in frames:
        octets[frame.step] = octets.get(frame.step, b"") + frame.octets
    return tuple(octets.values())


def _fewer_octets(search: Search) -> None:
    """Octets are left out, whatever they mean, and no size follows."""
    for at in reversed(range(len(search.best))):
        fewest(search.best[at], partial(_left_of, search, at))


def _left_of(search: Search, at: int, kept: Sequence[int]) -> bool:
    return search.step(at, bytes(kept))
