"""How long a target tolerates silence on one connection: when a sign of life is due, and which end silence explains.

Knows: what was announced and when something was sent; times are handed in. Must not know: sockets, what was expected.

AMQP 1.0: the target announces an idle-time-out in its open; whatever it means by that, a frame within half of it keeps
the connection. In the 0-9 family a client settles the interval in tune-ok: ways settle none, an input may settle one.
"""

from __future__ import annotations

from math import inf

SHARE = 0.4
"""The share of the announced time between two empty frames or heartbeats."""
_LEAST_S = 0.05
_NEARLY = 0.9
"""The target counts from the last whole frame that it took, a round trip before our last octets."""


class Silence:
    """The silence on one connection. ``due_s`` is when a sign of life has to be sent."""

    __slots__ = ("_bears_s", "_said_s", "due_s")

    def __init__(self, now_s: float) -> None:
        self._bears_s, self._said_s, self.due_s = 0.0, now_s, inf

    def announced(self, bears_s: float, now_s: float) -> None:
        """The target has announced how long it tolerates silence; 0 means without limit."""
        if bears_s > 0:
            self._bears_s = bears_s
            self.due_s = now_s + self._interval_s

    def broken(self, now_s: float) -> None:
        """Whole frames were sent."""
        self._said_s = now_s
        if self.due_s is not inf:
            self.due_s = now_s + self._interval_s

    @property
    def _interval_s(self) -> float:
        return max(_LEAST_S, SHARE * self._bears_s)

    def cannot_be_broken(self) -> None:
        """From now on, no sign of life may be sent."""
        self.due_s = inf

    def ends_it(self, now_s: float) -> bool:
        """Whether the silence has lasted so long that the end of the connection does not concern what was sent."""
        return self._bears_s > 0 and now_s - self._said_s >= _NEARLY * self._bears_s
