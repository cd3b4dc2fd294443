"""Where random mutation looks next: origins that gave a new response state weigh more.

Knows: weights. Must not know: what the responses were.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b

from amqpspec.fuzz.executor.result import InputResult
from amqpspec.fuzz.inputs.identity import RANDOM
from amqpspec.fuzz.inputs.mutation import Origin, origins

_FIRST, _MORE, _MOST = 4, 8, 64


class Energy:
    """Weights of all origins, those of a corpus (``more``) among them, and the response states seen so far."""

    def __init__(
        self, dialect: str, saved: Mapping[str, object] | None = None, more: Iterable[Origin] = ()
    ) -> None:
        self.weights: dict[Origin, int] = dict.fromkeys((*origins(dialect), *more), _FIRST)
        self.seen: set[str] = set()
        if saved is not None:
            self._restore(saved)

    def learn(self, results: Iterable[InputResult]) -> int:
        """Take results in; gives how many response states were new."""
        new = 0
        for result in results:
            name = blake2b(result.response_state.encode(), digest_size=6).hexdigest()
            if name in self.seen:
                continue
            self.seen.add(name)
            new += 1
            origin = (result.item.id.role, result.item.state)
            if result.item.id.family == RANDOM and self.weights.get(origin):
                self.weights[origin] = min(_MOST, self.weights[origin] + _MORE)
        return new

    def mute(self, origin: Origin) -> None:
        """No more of an origin that only spoils the target; the last one stays."""
        if origin in self.weights and sum(map(bool, self.weights.values())) > 1:
            self.weights[origin] = 0

    def to_json(self) -> dict[str, object]:
        """What ``saved`` takes."""
        changed = {"/".join(o): w for o, w in self.weights.items() if w != _FIRST}
        return {"weights": changed, "seen": sorted(self.seen)}

    def _restore(self, saved: Mapping[str, object]) -> None:
        weights, seen = saved.get("weights"), saved.get("seen")
        if isinstance(weights, dict):
            for name, weight in weights.items():
                role, _, state = name.rpartition("/")
                if (role, state) in self.weights:
                    self.weights[role, state] = int(weight)
        if isinstance(seen, list):
            self.seen.update(map(str, seen))
