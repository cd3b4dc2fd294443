"""How long a campaign has run, those parts included that came before it was resumed; and when it has to stop.

Knows: seconds, the alarm of the process. Must not know: what they were spent on, except that some were set aside.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from amqpspec.fuzz.executor.clock import now_s

_SLACK_S, _SLACK_SHARE = 10.0, 0.1
"""A campaign may take so much longer than its budget, or such a share of it, whichever is more; reports included."""
_FOR_BLAME, _FOR_ANYTHING = 0.2, 0.3
"""How much of that may go by before nothing more is tried again, and before whatever is in progress is cut off."""
_AGAIN_S, _LOST_S = 0.5, 5.0
"""How soon the alarm rings again: while it has to wait, and where Python drops what it raises, as in a weak reference's
callback.
"""


class TimeUp(KeyboardInterrupt):
    """The budget is spent, and something that cannot be waited for is still in progress."""


class BudgetClock:
    """Runs from the time when it is made. ``aside_s`` is the time of blame, of restarts and of crashes and hangs."""

    def __init__(
        self, budget_s: float, before_s: float, aside_s: float = 0.0, reserved_s: float = 0.0
    ) -> None:
        self.aside_s, self._reserved_s = aside_s, reserved_s
        self._budget_s, self._before_s, self._begun_s = budget_s, before_s, now_s()
        self._slack_s = max(_SLACK_S, _SLACK_SHARE * budget_s)
        self.holds = 0

    @property
    def seconds_s(self) -> float:
        """How long the whole campaign has run, in seconds."""
        return self._before_s + now_s() - self._begun_s

    @property
    def is_spent(self) -> bool:
        """Whether the budget of this part is spent, except for what is reserved for its end."""
        return now_s() - self._begun_s >= self._budget_s - self._reserved_s

    @property
    def is_late(self) -> bool:
        """Whether nothing more may be retried; what is reserved for the end is not used for that."""
        late_s = self._budget_s - self._reserved_s + _FOR_BLAME * self._slack_s
        return now_s() - self._begun_s >= late_s

    @contextmanager
    def alarmed(self) -> Iterator[None]:
        """Raise TimeUp in whatever is in progress when the time is over; works in the main thread only."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        left_s = self._budget_s + _FOR_ANYTHING * self._slack_s - (now_s() - self._begun_s)
        before = signal.signal(signal.SIGALRM, self._ring)
        signal.setitimer(signal.ITIMER_REAL, max(_AGAIN_S, left_s))
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    @contextmanager
    def aside(self, counts: Callable[[], bool] = lambda: True) -> Iterator[None]:
        """Set the time of this block aside, if ``counts`` is true at its end."""
        begun_s = now_s()
        try:
            yield
        finally:
            if counts():
                self.aside_s += now_s() - begun_s

    @contextmanager
    def unbroken(self) -> Iterator[None]:
        """The alarm waits for this block: a target must not be left half restarted."""
        self.holds += 1
        try:
            yield
        finally:
            self.holds -= 1

    def _ring(self, number: int, frame: FrameType | None) -> None:
        if self.holds:
            signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
            return
        signal.setitimer(signal.ITIMER_REAL, _LOST_S)
        raise TimeUp
