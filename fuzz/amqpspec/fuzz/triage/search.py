"""What a search for a smaller input may ask: never the same octets twice, and at most as often as allowed.

Knows: steps of octets, ddmin. Must not know: how an effect is seen, frames, targets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

Steps = tuple[bytes, ...]
T = TypeVar("T")


class Spent(Exception):
    """Nothing may be asked any more."""


@dataclass(slots=True)
class Search:
    """The best steps so far; a call asks whether other ones keep the effect, and raises Spent if it may not."""

    best: Steps
    keeps: Callable[[Steps], bool]
    left: int
    known: dict[Steps, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.known[self.best] = True

    def __call__(self, steps: Steps) -> bool:
        """Whether these steps keep the effect. Raises Spent."""
        if not steps or _size(steps) > _size(self.best):
            return False
        if steps not in self.known:
            if not self.left:
                raise Spent
            self.left -= 1
            self.known[steps] = self.keeps(steps)
        if self.known[steps]:
            self.best = steps
        return self.known[steps]

    def step(self, at: int, octets: bytes) -> bool:
        """The same with other octets in one step of the best; a step without octets is none."""
        return bool(octets) and self((*self.best[:at], octets, *self.best[at + 1 :]))


def _size(steps: Steps) -> tuple[int, int, int, Steps]:
    """Fewer octets are smaller, then fewer steps, fewer octets that are not zero, smaller ones."""
    octets = b"".join(steps)
    return len(octets), len(steps), len(octets) - octets.count(0), steps


def fewest(parts: Sequence[T], keeps: Callable[[Sequence[T]], bool], least: int = 1) -> Sequence[T]:
    """Parts without which the effect is lost: all are left out, then halves, and so on down to single ones (ddmin).

    ``least`` ends it with runs of that many.
    """
    kept, chunk = parts, len(parts)
    while chunk >= least:
        at = 0
        while at < len(kept):
            fewer = [*kept[:at], *kept[at + chunk :]]
            if keeps(fewer):
                kept = fewer
            else:
                at += chunk
        chunk //= 2
    return kept
