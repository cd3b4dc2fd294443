"""The order of a cell's inputs: a few that are spread over the whole cell, then rounds that each halve the distances.

Neighbours in a cell are alike (the same field with the next value), so that inputs that lie far apart show more.

Knows: numbers. Must not know: what an input is.
"""

from __future__ import annotations

from collections.abc import Iterator


def first_round(inputs: int, few: int) -> range:
    """At most ``few`` numbers below ``inputs``, at equal distances; the distance is a power of two."""
    step = 1
    while -(-inputs // step) > few:
        step *= 2
    return range(0, inputs, step)


def later_rounds(inputs: int, few: int) -> Iterator[range]:
    """The numbers that ``first_round`` leaves out, each once: the middles of the gaps, round by round."""
    step = first_round(inputs, few).step
    while step > 1:
        yield range(step // 2, inputs, step)
        step //= 2


def later_numbers(inputs: int, few: int, offset: int) -> range:
    """The rest of the round that contains the later number at ``offset``; empty after the last one."""
    for numbers in later_rounds(inputs, few):
        if offset < len(numbers):
            return numbers[offset:]
        offset -= len(numbers)
    return range(0)
