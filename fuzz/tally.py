"""What a campaign has counted: inputs, cells, what was suppressed or repeated, findings.

Knows: counts. Must not know: how they came about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

COVERED, UNREACHABLE, STOPPED = "covered", "not reachable", "stopped"


@dataclass(slots=True)
class Tally:
    """``cells`` says of each cell that was begun how it stands; all others are open."""

    inputs: int = 0
    reached: int = 0
    random: int = 0
    seconds_s: float = 0.0
    trials: int = 0
    unconfirmed: int = 0
    repeats: int = 0
    suppressed: Counter[str] = field(default_factory=Counter)
    reactions: Counter[str] = field(default_factory=Counter)
    cells: dict[str, tuple[str, str]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """For ``progress.json``."""
        return {
            "inputs": self.inputs, "reached": self.reached, "random": self.random, "seconds_s": self.seconds_s,
            "trials": self.trials, "unconfirmed": self.unconfirmed, "repeats": self.repeats,
            "suppressed": dict(self.suppressed), "reactions": dict(self.reactions),
            "cells": {key: list(state) for key, state in self.cells.items()},
        }  # fmt: skip

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Tally:
        """What ``to_json`` gave."""
        plain = ("inputs", "reached", "random", "seconds_s", "trials", "unconfirmed", "repeats")
        return cls(
            **{name: data[name] for name in plain},
            suppressed=Counter(data["suppressed"]),
            reactions=Counter(data["reactions"]),
            cells={key: (state[0], state[1]) for key, state in data["cells"].items()},
        )
