"""How soon a campaign meets every family, state and cell: breadth first, beside cell by cell.

Knows: the fuzzer's schedule. Must not know: sockets, targets, time. Nothing is sent; random inputs are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from amqpspec.fuzz.campaign.schedule import Leg, cell_by_cell, chosen_cells, legs, states_before_login
from amqpspec.fuzz.parts import fuzzed_dialects
from bench.row import Row

UNIT = "inputs"


def rows() -> Iterator[Row]:
    """Of each dialect: the inputs before the last family, state and cell; breadth first, beside cell by cell."""
    for dialect in fuzzed_dialects():
        cells = chosen_cells(dialect, ())
        ours = met(legs(cells, states_before_login(dialect)))
        theirs = met(cell_by_cell(cells))
        for what, mine, other in zip(("family", "state", "cell"), ours, theirs, strict=True):
            ratio = round(mine / other, 4) if other else 1.0
            yield Row(f"fuzz breadth: {dialect}: inputs before the last {what}", mine, other, ratio, UNIT)


def met(way: Iterable[Leg]) -> tuple[int, int, int]:
    """How many inputs come before the last family, the last state and the last cell is met."""
    families: dict[str, int] = {}
    states: dict[str, int] = {}
    sent = last = 0
    for leg in way:
        families.setdefault(leg.cell.family, sent)
        states.setdefault(leg.cell.state, sent)
        last = sent
        sent += len(leg.numbers)
    return max(families.values()), max(states.values()), last
