"""What a comparison has found: differences by cell and reactions, and what could not be compared.

Knows: reactions. Must not know: how they were observed, files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from amqpspec.fuzz.differential.side import Reaction
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput

MOST_GROUPS = 10_000
"""This many groups are kept at most: random inputs never end, and what targets answer is up to them."""


class Kind(StrEnum):
    """The result of one input that was compared."""

    EQUAL = "equal"
    DIFFERENT = "different"
    DECLARED = "declared"
    UNSTABLE = "unstable"
    UNREPEATED = "unrepeated"


@dataclass(slots=True)
class Group:
    """Inputs of one cell with the same reactions; ``sample`` is the first one, ``declared`` are targets left out of it.

    A target that is unstable has several reactions.
    """

    cell: str
    sample: FuzzInput
    reactions: Mapping[str, tuple[str, ...]]
    violates: Mapping[str, str] = field(default_factory=dict)
    declared: tuple[str, ...] = ()
    count: int = 0


@dataclass(slots=True)
class Tally:
    """Counts by kind, and the groups of what differs or is unstable; ``inputs`` are those that were sent."""

    inputs: int = 0
    kinds: Counter[Kind] = field(default_factory=Counter)
    missing: Counter[tuple[str, str]] = field(default_factory=Counter)
    different: dict[tuple[str, ...], Group] = field(default_factory=dict)
    unstable: dict[tuple[str, ...], Group] = field(default_factory=dict)
    ungrouped: int = 0

    @property
    def compared(self) -> int:
        """How many inputs had a reaction of every target."""
        return sum(self.kinds.values())

    def equal(self) -> None:
        """All targets reacted in the same way."""
        self.kinds[Kind.EQUAL] += 1

    def unrepeated(self) -> None:
        """They did not, and an input that was repeated had no result."""
        self.kinds[Kind.UNREPEATED] += 1

    def miss(self, item: FuzzInput, targets: Iterable[str]) -> None:
        """These targets have no reaction, because the input did not reach its state."""
        for name in targets:
            self.missing[name, item.state] += 1

    def swing(self, item: FuzzInput, target: str, seen: Iterable[str]) -> None:
        """A target reacts in different ways to the same input."""
        self.kinds[Kind.UNSTABLE] += 1
        reactions = tuple(sorted(set(seen)))
        self._count(self.unstable, Group(cell_of(item), item, {target: reactions}))

    def settle(
        self, item: FuzzInput, reactions: Mapping[str, Reaction], known: Mapping[str, frozenset[str]]
    ) -> None:
        """Reactions that did not change when they were repeated; ``known`` are the violations that are declared."""
        declared = tuple(name for name, one in reactions.items() if one.requirement in known[name])
        others = {name: (one.text,) for name, one in reactions.items() if name not in declared}
        if len({one.text for one in reactions.values()}) == 1:
            self.kinds[Kind.EQUAL] += 1
        elif len(set(others.values())) <= 1:
            self.kinds[Kind.DECLARED] += 1
        else:
            self.kinds[Kind.DIFFERENT] += 1
            violates = {name: one.requirement for name, one in reactions.items() if one.requirement}
            self._count(self.different, Group(cell_of(item), item, others, violates, declared))

    def _count(self, groups: dict[tuple[str, ...], Group], new: Group) -> None:
        said = (word for name, texts in new.reactions.items() for word in (name, *texts))
        key = (new.cell, *said)
        if key not in groups and len(groups) >= MOST_GROUPS:
            self.ungrouped += 1
            return
        groups.setdefault(key, new).count += 1


def cell_of(item: FuzzInput) -> str:
    """``C04/frame.size/channel``; of a random input, production and state."""
    return f"{item.id.family}/{item.id.role}/{item.state}"
