"""Covered code: a channel that says what has run so far, and a watch over it that says how much is new.

Knows: the form of an answer. Must not know: agents, files, sockets, what new code is good for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

FAILURES = 3
"""After this many failures in a row, a source is no longer asked."""
_MOST_PARTS = 1 << 15


class CoverageError(ValueError):
    """A channel does not answer as it should; one line that says what was expected."""


class Coverage(Protocol):
    """A channel. Parts of the code are named by a text; the bits of a part's number say which probes in it have run."""

    def snapshot(self) -> Mapping[str, int]:
        """What has run since the target began. Raises CoverageError."""
        ...


class CoverageWatch:
    """What a channel has shown in the whole campaign; a target that was restarted begins with nothing again."""

    def __init__(self, channel: Coverage) -> None:
        self._channel = channel
        self._known: dict[str, int] = {}
        self._failures = 0
        self.note = ""

    @property
    def probes(self) -> int:
        """How many probes have run."""
        return sum(bits.bit_count() for bits in self._known.values())

    def news(self) -> int:
        """How many probes have run that had not before; none if the channel does not answer, which is noted."""
        if self._failures >= FAILURES:
            return 0
        try:
            seen = self._channel.snapshot()
        except CoverageError as error:
            self._failures += 1
            if self._failures == FAILURES:
                self.note = f"coverage is no longer asked for: {error}"
            return 0
        self._failures = 0
        return self._take(seen)

    def begin(self) -> None:
        """What ran before the first input is not new. Raises CoverageError."""
        self._take(self._channel.snapshot())

    def _take(self, seen: Mapping[str, int]) -> int:
        before = self.probes
        for part, bits in seen.items():
            if part in self._known or len(self._known) < _MOST_PARTS:
                self._known[part] = self._known.get(part, 0) | bits
        return self.probes - before
