"""The transcript of a case: all octets in both directions with times, decoded frames, masked secrets.

Knows: the line format of docs/results-format.md. Must not know: the meaning of verdicts, sockets. Bounded: after
``MAX_OCTETS`` of one direction, sent octets are recorded only by their hash, and received ones are only counted; the
line ``over`` marks the position, and the last line has the number of octets that are not shown.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from amqpspec.wire.direction import Direction, Directions

MAX_OCTETS = 2 << 20
_LEAST_OCTETS, _LEAST_PLAIN = 8, 16
_DIGITS = frozenset({"hex", "sha256"})
"""Octets as hex digits: they may contain a password of digits by chance, so octets are masked before they are written
as hex.
"""


class TranscriptError(OSError):
    """A transcript cannot be written; the message names file and cause."""


class Transcript:
    """Writes one case's JSONL file; safe from several threads."""

    def __init__(self, path: Path, directions: Directions, secrets: Iterable[str] = ()) -> None:
        self._path = path
        with self._one_line_errors():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("w", encoding="utf-8")
        self._directions = directions
        self._secrets = distinctive(secrets)
        self._lock = threading.Lock()
        self._decoders: dict[tuple[int, str], Direction] = {}
        self._octets: Counter[str] = Counter()
        self._cut_octets = 0
        self._is_over = False
        self._t0_ns: int | None = None
        self._clock: list[int] = []

    def write(self, kind: str, t_ns: int | None = None, **data: Any) -> None:
        """Write one line; times are relative to the first one."""
        with self._lock:
            self._line(kind, t_ns, data)

    def octets(self, t_ns: int, conn: int, direction: str, octets: bytes) -> None:
        """Record octets sent (``out``) or received (``in``) on a connection."""
        with self._lock:
            self._octets[direction] += len(octets)
            is_over = self._octets[direction] > MAX_OCTETS
            if is_over and direction == "in":
                self._over(t_ns, octets)
                return
            shown, frames = self._decoder(conn, direction).take(octets)
            for secret in self._secrets:
                shown = shown.replace(secret.encode(), b"*" * len(secret.encode()))
            if is_over:
                self._cut_octets += len(octets)
                self._line(
                    "sent", t_ns, {"conn": conn, "octets": len(shown), "sha256": sha256(shown).hexdigest()}
                )
                return
            data = {"conn": conn, "dir": direction, "hex": shown.hex(), "frames": frames}
            self._line("octets", t_ns, data)

    def _decoder(self, conn: int, direction: str) -> Direction:
        if (conn, direction) not in self._decoders:
            self._decoders[conn, direction] = self._directions(direction)
        return self._decoders[conn, direction]

    def _over(self, t_ns: int, octets: bytes) -> None:
        if not self._is_over:
            self._is_over = True
            self._line("over", t_ns, {})
        self._cut_octets += len(octets)

    def clock(self, t_ns: int) -> None:
        """Record a time that a case read; it is part of the next line."""
        with self._lock:
            self._clock.append(t_ns)

    def close(self) -> None:
        """Close the file, with a line about omitted octets."""
        with self._lock:
            if self._cut_octets:
                self._line("cut", None, {"octets": self._cut_octets})
                self._cut_octets = 0
            with self._one_line_errors():
                self._file.close()

    def _line(self, kind: str, t_ns: int | None, data: dict[str, Any]) -> None:
        if t_ns is not None:
            self._t0_ns = t_ns if self._t0_ns is None else self._t0_ns
            now = {"now": [moment - self._t0_ns for moment in self._clock]} if self._clock else {}
            self._clock = []
            data = {"t_ns": t_ns - self._t0_ns, **now, **data}
        if not self._file.closed:
            with self._one_line_errors():
                self._file.write(json.dumps({"kind": kind, **self._starred(data)}, default=str) + "\n")

    def _starred(self, value: Any) -> Any:
        """The data with masked secrets in all texts of a target and in notes."""
        if not self._secrets:
            return value
        if isinstance(value, Mapping):
            return {key: item if key in _DIGITS else self._starred(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._starred(item) for item in value]
        return starred(value, self._secrets) if isinstance(value, str) else value

    @contextmanager
    def _one_line_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise TranscriptError(f"cannot write {self._path}: {error.strerror}") from error


def distinctive(secrets: Iterable[str]) -> tuple[str, ...]:
    """Secrets that do not occur by chance: at least eight octets, or sixteen if all are letters or all are digits.

    Shorter ones are masked only in their fields (``amqpspec.wire.direction``), because a password like ``pass`` would
    otherwise mask much of the evidence.
    """
    return tuple(
        secret
        for secret in secrets
        if len(secret.encode()) >= (_LEAST_PLAIN if secret.isalpha() or secret.isdecimal() else _LEAST_OCTETS)
    )


def starred(text: str, secrets: Iterable[str]) -> str:
    """A text with masked secrets, if they are distinctive."""
    for secret in distinctive(secrets):
        text = text.replace(secret, "*" * len(secret))
    return text
