"""How large the next batch is: it grows while no oracle complains, and shrinks when one does.

Knows: sizes. Must not know: what a batch holds, who complained.

What is measured around a batch costs the same for a large one. But a large one hides more: its processor time may be so
much that what one input burns does not show; and it has to be tried again in halves. Its time is what a kill can cost.
"""

from __future__ import annotations

from collections.abc import Callable

MOST = 2048
_HIDDEN_CPU_S = 3.0
"""More than so much processor time granted to harmless inputs would hide an input that burns about as much: of what is
granted, half is usual, and one second more is tolerated.
"""
_LONGEST_S = 10.0


class Pace:
    """The size of the next batch. ``usual_cpu_s`` says how much CPU time a number of harmless inputs is allowed."""

    def __init__(self, least: int, usual_cpu_s: Callable[[int], float], most: int = MOST) -> None:
        self.least, self.most = least, max(least, most)
        self._usual_cpu_s = usual_cpu_s
        self._size = least
        self._fits = self.most

    @property
    def size(self) -> int:
        """How many inputs are sent together next."""
        size = min(self._size, self._fits)
        granted_s = self._usual_cpu_s(size)
        if granted_s > _HIDDEN_CPU_S:
            size = int(size * _HIDDEN_CPU_S / granted_s)
        return max(self.least, size)

    def clean(self, inputs: int, took_s: float) -> None:
        """A batch without complaints; only one of full size shows that a larger one would do."""
        if inputs >= self.least:
            self._fits = int(inputs * _LONGEST_S / took_s) if took_s > 0 else self.most
        if inputs >= self._size // 2:
            self._size = min(self.most, 2 * self._size)

    def complained(self) -> None:
        """An oracle complained about the last batch as a whole."""
        self._size = self.least
