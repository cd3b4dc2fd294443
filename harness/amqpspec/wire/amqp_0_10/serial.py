"""Serial numbers (RFC 1982) and sets of them, as used for command ids: they wrap, and ranges stay ranges.

Knows: arithmetic modulo 2^32. Must not know: octets, sessions, commands.
A set never expands its ranges, so that a range of two thousand million ids takes as little memory as one id.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

MODULUS = 1 << 32
HALF = MODULUS >> 1
Ranges = tuple[tuple[int, int], ...]


def add(number: int, by: int) -> int:
    """A serial number this many further on; more than half of the numbers cannot be added (RFC 1982, 3.1)."""
    if not 0 <= by < HALF:
        raise ValueError(f"{by} added to a serial number, expected 0 to {HALF - 1}")
    return (number + by) % MODULUS


def distance(start: int, stop: int) -> int:
    """How far it is from one number to another: negative if it comes before; -2^31 where neither comes first."""
    return (stop - start + HALF) % MODULUS - HALF


def precedes(number: int, other: int) -> bool:
    """Whether a number comes before another; of two that are 2^31 apart, neither does (RFC 1982, 3.2)."""
    return 0 < (other - number) % MODULUS < HALF


def disorder(ranges: Iterable[tuple[int, int]]) -> str | None:
    """What is wrong with ranges as they stand, each inclusive: in ascending order, none touches the one before it."""
    before: tuple[int, int] | None = None
    for lower, upper in ranges:
        if lower != upper and not precedes(lower, upper):
            return f"{lower}-{upper} ends before it begins"
        if before is not None and not (precedes(before[0], lower) and distance(before[1], lower) > 1):
            return f"{lower}-{upper} behind {before[0]}-{before[1]}"
        before = lower, upper
    return None


@dataclass(frozen=True, slots=True)
class SerialSet:
    """Serial numbers as ranges in ascending order that neither overlap nor touch; all of them within 2^31.

    Make one with ``of``, which takes ranges in any order, whether they overlap or not.
    """

    ranges: Ranges = ()

    @classmethod
    def of(cls, ranges: Iterable[tuple[int, int]]) -> SerialSet:
        """The numbers of inclusive ranges; raises ValueError for what has no order."""
        given = tuple(ranges)
        return cls(_wrapped(_merged(_lines(given, given[0][0])), given[0][0])) if given else cls()

    @classmethod
    def single(cls, number: int) -> SerialSet:
        """One number."""
        return cls(((number, number),))

    def __contains__(self, number: int) -> bool:
        return any(distance(lower, number) >= 0 >= distance(upper, number) for lower, upper in self.ranges)

    def __len__(self) -> int:
        return sum((upper - lower) % MODULUS + 1 for lower, upper in self.ranges)

    def __iter__(self) -> Iterator[int]:
        for lower, upper in self.ranges:
            yield from (at % MODULUS for at in range(lower, lower + (upper - lower) % MODULUS + 1))

    def __or__(self, other: SerialSet) -> SerialSet:
        return SerialSet.of(self.ranges + other.ranges)

    def __sub__(self, other: SerialSet) -> SerialSet:
        if not self.ranges or not other.ranges:
            return self
        origin = self.ranges[0][0]
        left = _lines(self.ranges, origin)
        for lower, upper in _lines(other.ranges, origin):
            left = [part for line in left for part in _without(line, lower, upper)]
        return SerialSet(_wrapped(left, origin))

    def __and__(self, other: SerialSet) -> SerialSet:
        return self - (self - other)

    def __str__(self) -> str:
        return in_words(self.ranges)


def latest(known: SerialSet, ranges: Iterable[tuple[int, int]]) -> SerialSet:
    """Both together; only the last one if no set can hold both (RFC 1982)."""
    ranges = tuple(ranges)
    try:
        return SerialSet.of(known.ranges + ranges)
    except ValueError:
        pass
    try:
        return SerialSet.of(ranges)
    except ValueError:
        return known


def in_words(ranges: Iterable[tuple[int, int]]) -> str:
    """Ranges as people write them: ``0-2, 5-6, 15``."""
    return ", ".join(str(lower) if lower == upper else f"{lower}-{upper}" for lower, upper in ranges)


# --- on a line: numbers without wrapping, as seen from an origin


def _lines(ranges: Iterable[tuple[int, int]], origin: int) -> list[tuple[int, int]]:
    lines = []
    for lower, upper in ranges:
        if lower != upper and not precedes(lower, upper):
            raise ValueError(f"range {lower}-{upper}, expected an end not before its beginning")
        start = distance(origin, lower)
        lines.append((start, start + distance(lower, upper)))
    return sorted(lines)


def _merged(lines: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for lower, upper in lines:
        if merged and lower <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(merged[-1][1], upper)
        else:
            merged.append((lower, upper))
    if merged and merged[-1][1] - merged[0][0] >= HALF:
        raise ValueError(f"numbers {merged[-1][1] - merged[0][0]} apart, expected less than {HALF}")
    return merged


def _without(line: tuple[int, int], lower: int, upper: int) -> Iterator[tuple[int, int]]:
    start, stop = line
    if upper < start or lower > stop:
        yield line
        return
    if start < lower:
        yield start, lower - 1
    if upper < stop:
        yield upper + 1, stop


def _wrapped(lines: Iterable[tuple[int, int]], origin: int) -> Ranges:
    return tuple(((lower + origin) % MODULUS, (upper + origin) % MODULUS) for lower, upper in lines)
