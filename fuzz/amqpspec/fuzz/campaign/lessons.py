"""What a campaign learns from what it sent: which cells and origins are worth more, which inputs are kept.

New is a response state (reaction with its reply code, and how long it took) that was not seen before, a line of the
log of a new kind, covered code, and memory beyond the most that the target ever held. What is seen of a whole batch
counts in equal parts for its cells, and a few of its inputs represent it.

Knows: results, checks. Must not know: which inputs come next, who is to blame, files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from amqpspec.fuzz.campaign.energy import Energy
from amqpspec.fuzz.campaign.expectation import Expectation
from amqpspec.fuzz.campaign.kept import KeptInputs
from amqpspec.fuzz.executor.result import InputResult
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import RANDOM
from amqpspec.fuzz.oracles.monitor import Check
from amqpspec.fuzz.oracles.suspicion import SPOILS

_OF_A_BATCH = 4
"""The number of its inputs that represent a batch."""
_GROWTH_OCTETS = 8 << 20
"""Growth of so much memory counts as one new thing."""


@dataclass(slots=True)
class Lessons:
    """Where lessons go. ``news`` is called once per batch: how much new code it covered.

    ``is_cautious``: what kills the target is sought in its original order, so that cells get no weights.
    """

    energy: Energy
    expectation: Expectation
    kept: KeptInputs
    news: Callable[[], int] = lambda: 0
    is_cautious: Callable[[], bool] = lambda: False

    def take(self, results: Sequence[InputResult], check: Check | None) -> None:
        """Learn from a batch; inputs that ended the target are not kept. Raises JournalError.

        Without a ``check``, the results are late, and nothing else is known about the target.
        """
        new = self.energy.learn(results)
        spoilt = check is not None and any(s.oracle in SPOILS for s in check.suspicions)
        covered = 0 if spoilt or check is None else self.news()
        check = check or Check(())
        lines = self.energy.learn_log(check.log)
        if not self.is_cautious():
            self._weigh(results, new, lines + covered + max(0, check.grown_octets) / _GROWTH_OCTETS)
        if not spoilt:
            standing = _spread([r.item for r in results if r.reached]) if lines or covered else []
            self._keep([r.item for r in new if r.reached], standing)

    def _keep(self, new: Sequence[FuzzInput], standing: Sequence[FuzzInput]) -> None:
        for item in standing:
            self.energy.reward(item)
        for origin in self.kept.keep([*new, *standing]):
            self.energy.add(origin)

    def _weigh(self, results: Sequence[InputResult], new: Sequence[InputResult], of_all: float) -> None:
        """What the cells showed; random inputs belong to none."""
        keys = {key for result in results if (key := _cell(result))}
        for result in results:
            if key := _cell(result):
                self.expectation.learn(key, 0.0, 1, result.timing.way_s + (result.timing.latency_s or 0.0))
        for result in new:
            if key := _cell(result):
                self.expectation.learn(key, 1.0)
        for key in keys if of_all else ():
            self.expectation.learn(key, of_all / len(keys))


def _cell(result: InputResult) -> str:
    """The key of an input's cell; empty for a random input."""
    id = result.item.id
    return "" if id.family == RANDOM else f"{result.item.dialect}/{id.family}/{id.role}/{id.state}"


def _spread(items: Sequence[FuzzInput]) -> list[FuzzInput]:
    """A few elements at equal distances."""
    return list(items[:: max(1, -(-len(items) // _OF_A_BATCH))])
