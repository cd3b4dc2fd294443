"""One direction of a TCP connection: its segments put in order.

Knows: sequence numbers. Must not know: packets, files, what octets mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

SEQ_SPAN = 1 << 32
MAX_AHEAD = 1024
"""How many segments are kept that came before their turn."""


@dataclass(slots=True)
class InOrder:
    """Segments as octets in order, sent again or not; of octets that differ, the first count.

    ``next_seq`` None: the first segment begins the stream. ``is_cut``: more came before its turn than is kept, or what
    was lost is known to be lost.
    """

    next_seq: int | None = None
    is_cut: bool = False
    _ahead: dict[int, bytes] = field(default_factory=dict)

    @property
    def has_gap(self) -> bool:
        """Whether octets are missing."""
        return self.is_cut or bool(self._ahead)

    def take(self, seq: int, octets: bytes) -> Iterator[bytes]:
        """The octets that are in order now."""
        if self.next_seq is None:
            self.next_seq = seq
        if len(octets) > len(self._ahead.get(seq, b"")):
            self._ahead[seq] = octets
        while (at := next(filter(self._is_due, self._ahead), None)) is not None:
            fresh = self._ahead.pop(at)[(self.next_seq - at) % SEQ_SPAN :]
            self.next_seq = (self.next_seq + len(fresh)) % SEQ_SPAN
            if fresh:
                yield fresh
        if len(self._ahead) > MAX_AHEAD:
            self._ahead.popitem()
            self.is_cut = True

    def _is_due(self, seq: int) -> bool:
        """Whether a segment begins at, or before, the next octet (RFC 9293 §3.4: numbers are compared modulo 2^32)."""
        assert self.next_seq is not None
        return (self.next_seq - seq) % SEQ_SPAN < SEQ_SPAN // 2
