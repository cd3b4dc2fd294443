"""The corpus that a campaign makes for itself: inputs that showed something new, kept as origins of random mutation.

An entry is a file named after its octets, so that the id of a random input made from it always means the same.
``progress.json`` lists the entries in order: what a kill left behind beyond that list is found again or never used.

Knows: entries, bounds. Must not know: what was new about an input, weights.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from amqpspec.fuzz.inputs.corpus import corpus_role, read_entry, spliced_role, write_entry
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import IdError
from amqpspec.fuzz.inputs.mutation import Origin
from amqpspec.record.journal import JournalError

MOST_ENTRIES, MOST_OF_A_STATE, MOST_OCTETS = 512, 64, 1 << 12
"""The maximum number of entries in all, and of one state; a larger input is not kept."""


class KeptInputs:
    """Entries and the origins that they make: each alone, and each with the previous one of its state."""

    def __init__(
        self, folder: Path, recorded: Mapping[str, bytes], saved: Iterable[Iterable[str]] = ()
    ) -> None:
        """``recorded`` are entries from elsewhere, by their role; raises JournalError if a saved one is missing."""
        self.folder, self.octets = folder, dict(recorded)
        self.entries: list[Origin] = []
        self._last: dict[str, str] = {}
        self._of_state: Counter[str] = Counter()
        self.origins: list[Origin] = []
        try:
            for role, state in saved:
                self.octets[role] = read_entry(folder, role)
                self._add(role, state)
        except (IdError, TypeError, ValueError) as error:
            raise JournalError(str(error)) from error

    def keep(self, items: Iterable[FuzzInput]) -> Iterator[Origin]:
        """Keep inputs as long as there is room; returns the new origins. Raises JournalError."""
        for item in items:
            octets = item.octets
            if not 0 < len(octets) <= MOST_OCTETS or not self._has_room(item.state):
                continue
            role = corpus_role(octets)
            if (role, item.state) in self.entries:
                continue
            try:
                write_entry(self.folder, role, octets)
            except OSError as error:
                raise JournalError(f"cannot write {self.folder}: {error.strerror}") from error
            self.octets[role] = octets
            yield from self._add(role, item.state)

    def _has_room(self, state: str) -> bool:
        return len(self.entries) < MOST_ENTRIES and self._of_state[state] < MOST_OF_A_STATE

    def _add(self, role: str, state: str) -> list[Origin]:
        before, self._last[state] = self._last.get(state), role
        self._of_state[state] += 1
        self.entries.append((role, state))
        made = [(role, state), *([(spliced_role(role, before), state)] if before else [])]
        self.origins += made
        return made

    def to_json(self) -> list[list[str]]:
        """The state, for ``saved``."""
        return [list(entry) for entry in self.entries]
