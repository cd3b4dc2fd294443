"""Limits the time for blaming one cause, because the same line of a log occurs in many cells.

A hang without a name may have any cause. On a target that hangs in nearly every batch, whatever is sent, the search
for an input costs minutes each time: after the first ones, only some are searched for, and fewer each time.

Knows: counts and seconds by what is complained about. Must not know: how blame is found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from amqpspec.fuzz.oracles.suspicion import BY_THREADS, SPOILS, Oracle, Suspicion

BLAMES, BLAME_S = 5, 300.0
_MOST_SKIPPED = 64
_TELLING = frozenset({Oracle.LOG, Oracle.CONFORMANCE})
"""Oracles whose name of a cause tells it; those of others are the same for all causes, and say nothing of this one."""
_COSTLY = SPOILS | {Oracle.CANARY}
"""Oracles whose complaints wait for nothing else, and cost restarts."""

Key = tuple[str, str]


class BlameLimit:
    """Each cause is blamed a few times in a campaign; later occurrences are counted by family and state."""

    def __init__(
        self, saved: Mapping[str, Any] | None = None, blames: int = BLAMES, blame_s: float = BLAME_S
    ) -> None:
        self._blames, self._blame_s = blames, blame_s
        self._count: Counter[Key] = Counter()
        self._seconds_s: dict[Key, float] = {}
        self._again: Counter[tuple[str, ...]] = Counter()
        self._skipped: Counter[Key] = Counter()
        if saved is not None:
            self._count.update(_from_rows(saved["count"]))
            self._seconds_s.update(_from_rows(saved["seconds"]))
            self._again.update(_from_rows(saved["again"]))
            self._skipped.update(_from_rows(saved.get("skipped", ())))

    def allows(self, seen: Suspicion) -> bool:
        """Whether this may be blamed again."""
        key = _key(seen)
        if not _is_telling(seen):
            return self._skipped[key] >= self._gap(seen)
        return self._count[key] < self._blames and self._seconds_s.get(key, 0.0) < self._blame_s

    def _gap(self, seen: Suspicion) -> int:
        """How many times a complaint without a name has to be counted before it is blamed again."""
        times = self._count[_key(seen)] - self._blames
        return 0 if times < 0 or seen.oracle not in _COSTLY else min(2 << times, _MOST_SKIPPED)

    def is_new(self, seen: Suspicion) -> bool:
        """Whether no one was blamed for this cause yet, as far as it is named."""
        return not _is_telling(seen) or not self._count[_key(seen)]

    def spent(self, seen: Suspicion, seconds_s: float) -> None:
        """It was blamed, and that took this long."""
        self._count[_key(seen)] += 1
        self._skipped[_key(seen)] = 0
        self._seconds_s[_key(seen)] = self._seconds_s.get(_key(seen), 0.0) + seconds_s

    def settled(self, seen: Suspicion) -> None:
        """One input causes it each time: what a log explains is not blamed again."""
        if seen.oracle is Oracle.LOG or (seen.oracle in SPOILS and seen.cause):
            self._count[_key(seen)] = max(self._count[_key(seen)], self._blames)

    def again(self, seen: Suspicion, place: Iterable[str]) -> None:
        """It occurred again and was not blamed."""
        self._again[(*_key(seen), *place)] += 1
        self._skipped[_key(seen)] += 1

    @property
    def repeats(self) -> dict[str, dict[str, int]]:
        """By cause: in which families and states it occurred again without blame, and how many times."""
        found: dict[str, dict[str, int]] = {}
        for (oracle, top, *place), count in self._again.items():
            found.setdefault(f"{oracle}: {top}", {})["/".join(filter(None, place))] = count
        return found

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        counts: dict[str, Mapping[Any, Any]] = {
            "count": self._count, "seconds": self._seconds_s, "again": self._again, "skipped": self._skipped,
        }  # fmt: skip
        return {name: [[list(key), value] for key, value in found.items()] for name, found in counts.items()}


def _key(seen: Suspicion) -> Key:
    return str(seen.oracle), seen.name


def _is_telling(seen: Suspicion) -> bool:
    """Whether its name is that of a cause: with a crash, what the log says; with a hang, its function."""
    said = seen.oracle is Oracle.CRASH and "; " in seen.top
    return said or seen.oracle in _TELLING or seen.cause.startswith(BY_THREADS)


def _from_rows(rows: Iterable[tuple[list[str], Any]]) -> dict[Any, Any]:
    return {tuple(key): value for key, value in rows}
