"""Where cases that need a restart meet: the target is restarted once, when all of them are ready for it.

Knows: threads that arrive and leave. Must not know: cases, targets.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

_LOOK_S = 0.2


class Rendezvous:
    """``arrive`` blocks until every member has arrived or left, then one of them acts, then all continue."""

    def __init__(self, members: int, act: Callable[[], None], stop: threading.Event) -> None:
        self._members, self._act, self._stop = members, act, stop
        self._waiting = 0
        self._round = 0
        self._acting = False
        self._error: Exception | None = None
        self._changed = threading.Condition()

    def leave(self) -> None:
        """A member has ended and will not arrive any more."""
        with self._changed:
            self._members -= 1
            self._changed.notify_all()

    def arrive(self) -> None:
        """Wait for the others and for the act; raises what the act raised."""
        with self._changed:
            here = self._round
            self._waiting += 1
            while self._round == here and not self._stop.is_set():
                if self._waiting >= self._members and not self._acting:
                    self._perform()
                else:
                    self._changed.wait(_LOOK_S)
            if self._error is not None:
                raise self._error

    def _perform(self) -> None:
        self._acting = True
        self._changed.release()
        try:
            self._act()
        except Exception as error:
            self._error = error
        finally:
            self._changed.acquire()
            self._acting = False
            self._waiting = 0
            self._round += 1
            self._changed.notify_all()
