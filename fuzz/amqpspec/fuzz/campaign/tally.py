"""The counts of a campaign: inputs, cells, suppressed and repeated complaints, findings.

Knows: counts. Must not know: how they came about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

COVERED, UNREACHABLE, STOPPED, OPEN = "covered", "not reachable", "stopped", "open"
PUT_OFF = "put off until everything else was sent"
"""Why a cell is open of which something waits until everything else was sent."""

_MOST_REACTIONS = 1000


def cells_in_words(covered: int, planned: int, stopped: int, not_reachable: int) -> str:
    """How many of the planned cells are covered, and why others never will be."""
    left = {"stopped": stopped, "not reachable": not_reachable}
    why = ", ".join(f"{count} {word}" for word, count in left.items() if count)
    return f"{covered} of {planned}" + (f" ({why})" if why else "")


@dataclass(slots=True)
class Tally:
    """``cells`` holds the state of each cell that was begun; all others are open. ``aside_s`` are the seconds of
    blame, of restarts, and of the confirmation of crashes and hangs.
    """

    inputs: int = 0
    reached: int = 0
    random: int = 0
    seconds_s: float = 0.0
    random_s: float = 0.0
    aside_s: float = 0.0
    trials: int = 0
    unconfirmed: int = 0
    repeats: int = 0
    workers_lost: int = 0
    undecided: int = 0
    suppressed: Counter[str] = field(default_factory=Counter)
    reactions: Counter[str] = field(default_factory=Counter)
    cells: dict[str, tuple[str, str]] = field(default_factory=dict)

    def react(self, reactions: Iterable[str]) -> None:
        """Count reactions; beyond a number of kinds, which a hostile target could invent, as others."""
        for reaction in reactions:
            known = reaction in self.reactions or len(self.reactions) < _MOST_REACTIONS
            self.reactions[reaction if known else "other reactions"] += 1

    def stop(self, cell: str, why: str) -> None:
        """Stop sending inputs of a cell."""
        self.cells[cell] = (STOPPED, why)

    def is_stopped(self, cell: str) -> bool:
        """Whether inputs of a cell are no longer sent."""
        return self.cells.get(cell, ("",))[0] == STOPPED

    def put_off(self, cell: str) -> None:
        """Something of a cell waits until everything else was sent."""
        if not self.is_stopped(cell):
            self.cells[cell] = (OPEN, PUT_OFF)

    def resume(self, cell: str) -> None:
        """What waited of a cell was sent."""
        if self.cells.get(cell, ("",))[0] == OPEN:
            del self.cells[cell]

    def miss(self, cell: str, why: str) -> None:
        """The state of a cell was not reached."""
        self.cells[cell] = (UNREACHABLE, why)

    def reach(self, cell: str) -> None:
        """The state of a cell can be reached after all."""
        if self.cells.get(cell, ("",))[0] == UNREACHABLE:
            del self.cells[cell]

    def to_json(self) -> dict[str, Any]:
        """For ``progress.json``."""
        return {
            "inputs": self.inputs, "reached": self.reached, "random": self.random, "seconds_s": self.seconds_s,
            "random_s": self.random_s, "aside_s": self.aside_s,
            "trials": self.trials, "unconfirmed": self.unconfirmed, "repeats": self.repeats,
            "workers_lost": self.workers_lost, "undecided": self.undecided,
            "suppressed": dict(self.suppressed), "reactions": dict(self.reactions),
            "cells": {key: list(state) for key, state in self.cells.items()},
        }  # fmt: skip

    def figures(self, cells_planned: int) -> dict[str, Any]:
        """The figures of a summary; the counts of cells add up to those planned."""
        by_state = Counter(state for state, _ in self.cells.values())
        return {
            "inputs": self.inputs, "random": self.random, "reached": self.reached,
            "seconds": round(self.seconds_s, 1),
            "rate_per_s": round(self.inputs / self.seconds_s, 1) if self.seconds_s else 0.0,
            "blame_seconds": round(self.aside_s, 1),
            "cells_planned": cells_planned, "covered": by_state[COVERED], "not_reachable": by_state[UNREACHABLE],
            "stopped": by_state[STOPPED], "put_off": by_state[OPEN],
            "open": cells_planned - sum(by_state.values()) + by_state[OPEN],
            "cells_not_covered": {k: f"{s}: {w}" for k, (s, w) in self.cells.items() if s != COVERED},
            "suppressed": dict(self.suppressed), "repeats": self.repeats, "unconfirmed": self.unconfirmed,
            "trials": self.trials, "workers_lost": self.workers_lost, "undecided": self.undecided,
        }  # fmt: skip

    def states(self, planned: Iterable[tuple[str, int | None]], ended: str) -> dict[str, list[Any]]:
        """Every planned cell: its state, the reason, and its number of inputs if it was counted."""
        rest = (OPEN, f"not finished: {ended or 'the campaign was not completed'}")
        return {key: [*self.cells.get(key, rest), inputs] for key, inputs in planned}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Tally:
        """What ``to_json`` wrote."""
        plain = (
            "inputs", "reached", "random", "seconds_s", "random_s", "aside_s", "trials", "unconfirmed",
            "repeats", "workers_lost", "undecided",
        )  # fmt: skip
        return cls(
            **{name: data.get(name, 0) for name in plain},
            suppressed=Counter(data["suppressed"]),
            reactions=Counter(data["reactions"]),
            cells={key: (state[0], state[1]) for key, state in data["cells"].items()},
        )
