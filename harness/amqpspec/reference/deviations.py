"""The active faults of a reference broker.

Knows: names. Must not know: their effects, or which exist; ``amqpspec.reference.faults`` does.
"""

from __future__ import annotations

from collections.abc import Collection


class Deviations:
    """The faults of one broker."""

    __slots__ = ("names",)

    def __init__(self, names: Collection[str] = ()) -> None:
        self.names = frozenset(names)

    def faulty(self, name: str) -> bool:
        """Whether the fault with that name is active."""
        return name in self.names


NONE = Deviations()
