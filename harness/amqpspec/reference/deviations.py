"""The set of faults that are switched on, as everything in a reference broker asks about it.

Knows: names. Must not know: what any of them does, or which exist; ``amqpspec.reference.faults`` does.
"""

from __future__ import annotations

from collections.abc import Collection


class Deviations:
    """The faults of one broker."""

    __slots__ = ("names",)

    def __init__(self, names: Collection[str] = ()) -> None:
        self.names = frozenset(names)

    def faulty(self, name: str) -> bool:
        """Whether the fault of that name is on."""
        return name in self.names


NONE = Deviations()
