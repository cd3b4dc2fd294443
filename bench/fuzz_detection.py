"""How soon a campaign meets defects at random rare spots: in today's order, beside the one cell by cell.

Each defect is drawn as ``fuzz --selftest --blame`` draws them: at a condition on a frame (its name, a field's value,
octets in it) that few inputs of a drawn batch hit, and nothing on the way into a state. One campaign in each order
seeks it on the same reference broker, until its oracle has a finding that blames an input which hits it. A campaign
that does not find it counts with all its inputs and its whole time.

With ``--offline`` nothing is sent: the inputs of the cells before the first one that hits each defect are counted,
without random inputs and without what a campaign learns from a target. That is the same on every machine.

Knows: defects, campaigns. Must not know: how orders are made.

``python -m bench fuzz_detection [--defects N] [--dialect D] [--seed S] [--budget S] [--kinds KIND …] [--offline]``
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from amqpspec.fuzz.campaign.campaign import Campaign
from amqpspec.fuzz.campaign.order import CampaignOrder
from amqpspec.fuzz.campaign.pace import MOST
from amqpspec.fuzz.campaign.schedule import (
    Leg,
    Position,
    Schedule,
    cell_by_cell,
    chosen_cells,
    legs,
    states_before_login,
)
from amqpspec.fuzz.selftest.blame import draw
from amqpspec.fuzz.selftest.defects import KINDS, Defect
from amqpspec.fuzz.selftest.part import frames_in
from amqpspec.fuzz.selftest.process import SeededBroker
from amqpspec.fuzz.triage.findings import Finding
from bench.row import Row

DIALECT = "amqp-0-9-1"

Place = tuple[str, int]
"""An input by its cell's key and its number."""


@dataclass(frozen=True, slots=True)
class Met:
    """What a campaign took to find a defect, or to end without it."""

    found: bool
    inputs: int
    seconds_s: float

    @property
    def words(self) -> str:
        """A few words."""
        return f"{'' if self.found else 'not '}found, {self.inputs} inputs, {self.seconds_s:.1f} s"


def rows(words: Sequence[str] = ()) -> Iterator[Row]:
    """Medians of inputs and of seconds in both orders; each defect is a line on standard error."""
    options = _options(words)
    drawn = defects(options.dialect, options.kinds, options.defects, options.seed)
    if options.offline:
        yield offline(options.dialect, drawn)
        return
    chosen_cells(options.dialect, ())  # made once, before the clock starts
    pairs: list[tuple[Met, Met]] = []
    for turn, defect in enumerate(drawn):
        ours, theirs = both(defect, options.budget, by_cell_first=turn % 2 == 1)
        pairs.append((ours, theirs))
        print(
            f"{defect.kind} at {defect.condition.words[:90]}: {ours.words}; {theirs.words}", file=sys.stderr
        )
    yield from medians(f"fuzz detection: {options.dialect}, {len(pairs)} defects", pairs)


def both(defect: Defect, budget_s: float, *, by_cell_first: bool) -> tuple[Met, Met]:
    """Today's order and the one cell by cell, one after the other: a machine that becomes slower affects both."""
    met = {by_cell: seek(defect, budget_s, by_cell=by_cell) for by_cell in (by_cell_first, not by_cell_first)}
    return met[False], met[True]


def medians(name: str, pairs: Sequence[tuple[Met, Met]]) -> Iterator[Row]:
    """One row for inputs, one for seconds; their names say how many defects were not found."""
    missed = [sum(not pair[side].found for pair in pairs) for side in (0, 1)]
    name = f"{name} (not found: {missed[0]}, cell by cell {missed[1]})"
    for unit in ("inputs", "seconds"):
        sides = ([_figure(pair[side], unit) for pair in pairs] for side in (0, 1))
        mine, other = map(statistics.median, sides)
        yield Row(f"{name}: median of {unit}", round(mine, 1), round(other, 1), round(mine / other, 3), unit)


def _figure(met: Met, unit: str) -> float:
    return met.inputs if unit == "inputs" else met.seconds_s


def _options(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m bench fuzz_detection")
    parser.add_argument("--defects", type=int, default=11)
    parser.add_argument("--dialect", default=DIALECT)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--budget", type=float, default=120.0, help="seconds of one campaign at most")
    parser.add_argument("--kinds", nargs="*", choices=tuple(KINDS), default=("crash", "throw"))
    parser.add_argument("--offline", action="store_true", help="count inputs, send nothing")
    return parser.parse_args(words)


def defects(dialect: str, kinds: Sequence[str], count: int, seed: int) -> list[Defect]:
    """This many defects, the kinds alternately; the same for the same seed."""
    random = Random(seed)
    drawn = (draw(dialect, kinds[number % len(kinds)], random).defect for number in range(count))
    return [defect for defect in drawn if defect is not None]


def seek(defect: Defect, budget_s: float, *, by_cell: bool) -> Met:
    """One campaign, up to the finding that is due to the defect."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with SeededBroker(defect, folder) as broker:
            order = CampaignOrder(
                broker.subject(), folder / "campaign", budget_s, smaller=False, cell_by_cell=by_cell,
                stop_when=lambda finding: _is_due(defect, finding),
            )  # fmt: skip
            campaign = Campaign(order).run()
    found = next((f for f in campaign.progress.findings if _is_due(defect, f)), None)
    seconds_s = budget_s if found is None else found.found_after_s
    return Met(found is not None, campaign.progress.tally.inputs, seconds_s)


def _is_due(defect: Defect, finding: Finding) -> bool:
    return finding.suspicion.oracle is defect.oracle and (
        finding.item is not None and defect.is_in(finding.item.octets)
    )


# --- without a target


def offline(dialect: str, drawn: Sequence[Defect]) -> Row:
    """The median of the inputs before the first that hits a defect, in both orders."""
    cells = chosen_cells(dialect, ())
    ways = legs(cells, states_before_login(dialect)), cell_by_cell(cells)
    turns = [{place: turn for turn, place in enumerate(_places(dialect, way))} for way in ways]
    hits = _hits(dialect, drawn)
    mine, other = (
        statistics.median(min((turn[place] for place in hits[defect]), default=len(turn)) for defect in drawn)
        for turn in turns
    )
    name = f"fuzz detection offline: {dialect}, {len(drawn)} defects: median of inputs before the first hit"
    return Row(name, mine, other, round(mine / other, 3), "inputs")


def _places(dialect: str, way: Sequence[Leg]) -> Iterator[Place]:
    """Inputs by cell and number, in the order in which they come."""
    plan = Schedule(dialect, way, Position(), lambda: MOST, lambda cell: False, {}, mutate=False)
    while not plan.is_behind_cells and (batch := plan.next()) is not None:
        yield from ((span.cell.key, number) for span in batch.spans for number in span.numbers)
        plan.position = batch.after


def _hits(dialect: str, drawn: Sequence[Defect]) -> dict[Defect, list[Place]]:
    """The inputs of the cells that hit each defect."""
    found: dict[Defect, list[Place]] = {defect: [] for defect in drawn}
    for cell in chosen_cells(dialect, ()):
        for number in range(cell.inputs):
            frames = list(frames_in(dialect, cell.input(number).octets))
            for defect, places in found.items():
                if any(map(defect.condition.is_at, frames)):
                    places.append((cell.key, number))
    return found
