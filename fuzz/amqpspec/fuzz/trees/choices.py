"""Choices: decisions drawn from a key, so that the same key always decides the same; recorded, replayed, shrunk.

Knows: how a key becomes octets. Must not know: what the decisions are about.

A key is hashed with a block number, and each block gives the next octets: no state runs from one input to the next,
so that input number 10⁹ costs what the first one costs. What was decided is kept as a list of numbers; smaller
numbers are simpler decisions, and a list that ends early continues with zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from typing import NamedTuple, TypeVar

T = TypeVar("T")

_BLOCK_OCTETS = 64


class ChoiceKey(NamedTuple):
    """What an input is drawn from; equal keys give equal choices on every machine."""

    grammar: str
    family: str
    path: str
    seed: int
    counter: int

    @property
    def octets(self) -> bytes:
        """The key as 32 octets."""
        parts = (self.grammar, self.family, self.path, str(self.seed), str(self.counter))
        return blake2b("\0".join(parts).encode(), digest_size=32).digest()


class Choices:
    """Decisions in order. ``recorded`` is what ``replay`` takes to decide the same again."""

    def __init__(self, key: ChoiceKey | None = None, replay: Sequence[int] | None = None) -> None:
        if (key is None) is (replay is None):
            raise TypeError("choices: expected a key or a record, actual: both or none")
        self._key = key.octets if key is not None else b""
        self._replay = None if replay is None else tuple(replay)
        self._block = 0
        self._octets = b""
        self.recorded: list[int] = []

    def below(self, limit: int) -> int:
        """A number from 0 up to, not including, ``limit``; ValueError for a limit below 1."""
        if limit < 1:
            raise ValueError(f"limit of a choice: expected 1 or more, actual {limit}")
        if self._replay is not None:
            at = len(self.recorded)
            number = min(self._replay[at], limit - 1) if at < len(self._replay) else 0
        else:
            # Eight octets beyond what the limit needs keep the bias of the remainder out of sight.
            number = int.from_bytes(self._draw(limit.bit_length() // 8 + 9), "big") % limit
        self.recorded.append(number)
        return number

    def pick(self, options: Sequence[T]) -> T:
        """One of the options; the first is the simplest."""
        return options[self.below(len(options))]

    def weighted(self, weights: Sequence[int]) -> int:
        """The place of one of the weights, likelier the larger it is; ValueError if all are zero."""
        at, place = self.below(sum(weights)), 0
        while at >= weights[place]:
            at -= weights[place]
            place += 1
        return place

    def octets(self, count: int) -> bytes:
        """This many octets, as one decision."""
        return self.below(256**count).to_bytes(count, "big") if count else b""

    def _draw(self, count: int) -> bytes:
        while len(self._octets) < count:
            block = self._block.to_bytes(8, "big")
            self._octets += blake2b(block, key=self._key, digest_size=_BLOCK_OCTETS).digest()
            self._block += 1
        drawn, self._octets = self._octets[:count], self._octets[count:]
        return drawn


def shrunk(recorded: Sequence[int], keeps: Callable[[tuple[int, ...]], bool]) -> tuple[int, ...]:
    """A record that is shorter or smaller and still keeps what was found; the record itself if none does.

    ``keeps`` is called for each candidate, and must return the same each time.
    """
    best = tuple(recorded)
    while True:
        better = next((candidate for candidate in _simpler(best) if keeps(candidate)), None)
        if better is None:
            return best
        best = better


def _simpler(record: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Shorter records first, large cuts first; then smaller numbers. Each is simpler, so shrinking ends."""
    step = len(record)
    while step:
        for start in range(0, len(record), step):
            yield record[:start] + record[start + step :]
        step //= 2
    for place, number in enumerate(record):
        for smaller in dict.fromkeys((0, number // 2, number - 1)):
            if 0 <= smaller < number:
                yield (*record[:place], smaller, *record[place + 1 :])
