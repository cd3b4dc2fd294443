"""Where random mutation looks next: origins that gave a new response state weigh more.

Knows: weights. Must not know: what the responses were.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b

from amqpspec.fuzz.executor.outcome import Outcome
from amqpspec.fuzz.inputs.identity import RANDOM
from amqpspec.fuzz.inputs.mutation import Origin, origins

_FIRST, _MORE, _MOST = 4, 8, 64


class Energy:
    """Weights of all origins, those of a corpus (``more``) among them, and the response states seen so far."""

    def __init__(
        self, dialect: str, kept: Mapping[str, object] | None = None, more: Iterable[Origin] = ()
    ) -> None:
        self.weights: dict[Origin, int] = dict.fromkeys((*origins(dialect), *more), _FIRST)
        self.seen: set[str] = set()
        if kept is not None:
            self._restore(kept)

    def learn(self, outcomes: Iterable[Outcome]) -> int:
        """Take outcomes in; gives how many response states were new."""
        new = 0
        for outcome in outcomes:
            name = blake2b(outcome.response_state.encode(), digest_size=6).hexdigest()
            if name in self.seen:
                continue
            self.seen.add(name)
            new += 1
            origin = (outcome.item.id.role, outcome.item.state)
            if outcome.item.id.family == RANDOM and self.weights.get(origin):
                self.weights[origin] = min(_MOST, self.weights[origin] + _MORE)
        return new

    def mute(self, origin: Origin) -> None:
        """No more of an origin that only spoils the target; the last one stays."""
        if origin in self.weights and sum(map(bool, self.weights.values())) > 1:
            self.weights[origin] = 0

    def to_json(self) -> dict[str, object]:
        """What ``kept`` takes."""
        changed = {"/".join(o): w for o, w in self.weights.items() if w != _FIRST}
        return {"weights": changed, "seen": sorted(self.seen)}

    def _restore(self, kept: Mapping[str, object]) -> None:
        weights, seen = kept.get("weights"), kept.get("seen")
        if isinstance(weights, dict):
            for name, weight in weights.items():
                role, _, state = name.rpartition("/")
                if (role, state) in self.weights:
                    self.weights[role, state] = int(weight)
        if isinstance(seen, list):
            self.seen.update(map(str, seen))
