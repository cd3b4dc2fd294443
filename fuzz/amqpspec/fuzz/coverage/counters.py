"""Counters in a file that the target keeps mapped: an octet that is not zero belongs to code that has run.

So are the maps of AFL, and counters of 64 bits, of which each octet counts for itself here.

Knows: files. Must not know: which code an octet belongs to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from amqpspec.fuzz.coverage.coverage import CoverageError

MOST_OCTETS = 4 << 20
_PART_OCTETS = 4096
_ONES = bytes([ord("0"), *[ord("1")] * 255])


@dataclass(frozen=True, slots=True)
class FileCounters:
    """A file of counters, of which at most 4 MiB are read."""

    path: Path

    def snapshot(self) -> Mapping[str, int]:
        """Which octets are not zero. Raises CoverageError."""
        try:
            if not self.path.is_file():
                raise CoverageError(f"{self.path}: expected a file of counters, actual: none")
            with self.path.open("rb") as file:
                octets = file.read(MOST_OCTETS)
        except OSError as error:
            raise CoverageError(
                f"{self.path}: expected a file of counters, actual: {error.strerror}"
            ) from error
        parts = range(0, len(octets), _PART_OCTETS)
        return {f"{at}": bits for at in parts if (bits := _bits(octets[at : at + _PART_OCTETS]))}


def _bits(octets: bytes) -> int:
    """One bit for each octet that is not zero, the first octet lowest."""
    return int(octets[::-1].translate(_ONES).decode("ascii"), 2)
