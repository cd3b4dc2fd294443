"""How much that is new a cell is expected to show in a second, learnt from what it showed so far.

The estimate is the mean of a Poisson rate under a gamma prior: a cell that showed ``news`` new things in ``inputs``
inputs is expected to show ``(news + 1) / (inputs + 8)`` with the next one. So a cell of which little was sent is worth
a try, and one that gives nothing falls behind. That is divided by the time that its inputs take.

What is new is counted by ``amqpspec.fuzz.campaign.lessons``. The same lessons give the same estimates: a resumed
campaign reads them from its checkpoint.

Knows: figures of cells by their keys. Must not know: inputs, what was new.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_NEWS, _INPUTS = 1.0, 8
"""The assumption about a cell without inputs so far: this many new results in this many inputs."""
_USUAL_S = 0.05
"""How long an input is believed to take, before anything is known."""


@dataclass(slots=True)
class Shown:
    """What a cell has shown: new things, inputs, and their time."""

    news: float = 0.0
    inputs: int = 0
    seconds_s: float = 0.0


@dataclass(slots=True)
class Expectation:
    """What all cells have shown, by key."""

    shown: dict[str, Shown] = field(default_factory=dict)

    def learn(self, cell: str, news: float, inputs: int = 0, seconds_s: float = 0.0) -> None:
        """Learn what inputs of a cell showed."""
        known = self.shown.setdefault(cell, Shown())
        known.news += news
        known.inputs += inputs
        known.seconds_s += seconds_s

    def of(self, cell: str, sent: int) -> float:
        """Expected new things per second if ``sent`` inputs of the cell were sent, or are about to be."""
        known = self.shown.get(cell, Shown())
        an_input = (known.news + _NEWS) / (sent + _INPUTS)
        return an_input * (known.inputs + _INPUTS) / (known.seconds_s + _INPUTS * _USUAL_S)

    def to_json(self) -> dict[str, list[float]]:
        """For ``progress.json``."""
        return {cell: [one.news, one.inputs, one.seconds_s] for cell, one in self.shown.items()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Expectation:
        """What ``to_json`` gave."""
        return cls({cell: Shown(float(n), int(i), float(s)) for cell, (n, i, s) in data.items()})
