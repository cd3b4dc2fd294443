"""Avoiding inputs that end a target without a restart: in halves, one half with each resumption.

Knows: how many inputs from the position on are suspected. Must not know: what they are, how they are sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Caution:
    """``left`` inputs are suspects, ``size`` of them are sent together next; ``avoided`` inputs are never sent again.

    ``random`` says that the suspects are random inputs.
    """

    left: int = 0
    size: int = 0
    random: bool = False
    avoided: set[str] = field(default_factory=set)

    def limited(self, size: int) -> int:
        """The size of the next batch, which would otherwise be ``size``."""
        return min(size, self.size) if self.left else size

    def killed(self, ids: Iterable[str], *, random: bool = False) -> None:
        """A batch of these ended the target: its first half is tried next, and a single input never again."""
        named, self.random = list(ids), random
        if len(named) == 1:
            self.avoided.update(named)
            self.left = self.size = 0
        else:
            self.left, self.size = len(named), (len(named) + 1) // 2

    def survived(self, inputs: int) -> None:
        """The target survived this many: half of the remaining suspects come next."""
        self.left = max(0, self.left - inputs)
        self.size = max(1, (self.left + 1) // 2)

    def to_json(self) -> dict[str, Any]:
        """For ``progress.json``."""
        return {
            "left": self.left, "size": self.size, "random": self.random, "avoided": sorted(self.avoided),
        }  # fmt: skip

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Caution:
        """What ``to_json`` wrote; an older version wrote nothing."""
        left, size = int(data.get("left", 0)), int(data.get("size", 0))
        return cls(left, size, bool(data.get("random", False)), set(data.get("avoided", ())))
