"""Where random mutation looks next: origins that gave something new weigh more.

Knows: weights, what was seen before. Must not know: what the responses were, where octets are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from itertools import islice

from amqpspec.fuzz.executor.result import InputResult
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import RANDOM
from amqpspec.fuzz.inputs.mutation import Origin, origins

_FIRST, _MORE, _MOST = 4, 8, 64
_VARIABLE = re.compile(r"0x[0-9a-f]+|\b[0-9a-f]{6,}\b|\d+|'[^']*'|\"[^\"]*\"", re.IGNORECASE)
"""What differs between two lines of a log that say the same."""
_LINE_CHARS, _MOST_LINES, _MOST_KINDS = 300, 2000, 4096
"""A target that makes up lines is followed up to a limit."""


class Energy:
    """The weights of all origins, with those of a corpus (``more``), and the responses and log lines seen so far."""

    def __init__(
        self, dialect: str, saved: Mapping[str, object] | None = None, more: Iterable[Origin] = ()
    ) -> None:
        self.weights: dict[Origin, int] = dict.fromkeys((*origins(dialect), *more), _FIRST)
        self.seen: set[str] = set()
        self.lines: set[str] = set()
        if saved is not None:
            self._restore(saved)

    def learn(self, results: Iterable[InputResult]) -> list[InputResult]:
        """Learn from results; returns those whose response state is new."""
        new = [result for result in results if _is_new(result.response_state, self.seen)]
        for result in new:
            self.reward(result.item)
        return new

    def learn_log(self, log: str) -> int:
        """Learn from the log; returns how many of its lines are new."""
        lines = {_VARIABLE.sub("#", line[:_LINE_CHARS]) for line in islice(log.splitlines(), _MOST_LINES)}
        return sum(len(self.lines) < _MOST_KINDS and _is_new(line, self.lines) for line in sorted(lines))

    def reward(self, item: FuzzInput) -> None:
        """Raise the weight of the origin of a random input."""
        origin = (item.id.role, item.state)
        if item.id.family == RANDOM and self.weights.get(origin):
            self.weights[origin] = min(_MOST, self.weights[origin] + _MORE)

    def add(self, origin: Origin) -> None:
        """Add an origin, with the weight of one that showed something new."""
        self.weights.setdefault(origin, _FIRST + _MORE)

    def mute(self, origin: Origin) -> None:
        """Drop an origin that only ends the target; the last origin stays."""
        if origin in self.weights and sum(map(bool, self.weights.values())) > 1:
            self.weights[origin] = 0

    def thin(self, origin: Origin) -> None:
        """Halve the weight of an origin that may have ended the target as it was known to; the third time drops it."""
        if self.weights.get(origin, 0) > 1:
            self.weights[origin] //= 2
        else:
            self.mute(origin)

    def to_json(self) -> dict[str, object]:
        """The state, for ``saved``."""
        changed = {"/".join(o): w for o, w in self.weights.items() if w != _FIRST}
        return {"weights": changed, "seen": sorted(self.seen), "lines": sorted(self.lines)}

    def _restore(self, saved: Mapping[str, object]) -> None:
        weights, seen, lines = saved.get("weights"), saved.get("seen"), saved.get("lines")
        if isinstance(weights, dict):
            for name, weight in weights.items():
                role, _, state = name.rpartition("/")
                if (role, state) in self.weights:
                    self.weights[role, state] = int(weight)
        for known, given in ((self.seen, seen), (self.lines, lines)):
            if isinstance(given, list):
                known.update(map(str, given))


def _is_new(text: str, seen: set[str]) -> bool:
    """Whether it was not seen before; it counts as seen from now on."""
    name = blake2b(text.encode(errors="replace"), digest_size=6).hexdigest()
    if name in seen:
        return False
    seen.add(name)
    return True
