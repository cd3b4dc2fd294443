"""The oracle for endless loops: a thread of the target works on long behind its last answer, whoever is still served.

Knows: processor states, how long a hang is waited for. Must not know: inputs, what else is asked.

A target that serves connections by several threads goes on answering most of them while one is caught: a sentinel meets
that one by chance only.
"""

from __future__ import annotations

from collections.abc import Callable

from amqpspec.fuzz.executor.loop import now_s
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.oracles.log import LogWatch
from amqpspec.fuzz.oracles.process import gauge, is_working
from amqpspec.fuzz.oracles.suspicion import ENDLESS, Oracle, Suspicion
from amqpspec.fuzz.oracles.threads import endless_function

TOP = "a thread never comes to rest"
_SOON_S, _LOOK_S = 1.0, 0.02
_AT_REST_LOOKS, _PATIENCE = 5, 8
"""A collection of garbage stops all threads for a moment: so many looks in a row have to see them at rest."""


class EndlessWatch:
    """Looks at one target; ``wait`` lets time pass.

    Where it is told by a target which function does not end, the same function need not be waited for again.
    """

    def __init__(self, subject: Subject, wait: Callable[[float], None]) -> None:
        self._subject, self._wait = subject, wait
        self._known: set[str] = set()

    def works_on(self, burnt: str, hang_s: float) -> Suspicion | None:
        """A complaint where the process, which burnt more than it may, works all the time for as long as a hang."""
        soon_s = min(_SOON_S, hang_s)
        if not self._lasts(soon_s):
            return None
        function = self._function()
        if function not in self._known and not self._lasts(hang_s - soon_s):
            return None
        self._known |= {function} - {""}
        return _suspicion(f"{burnt}, and works on without rest", function)

    def explains(self, silence: str) -> Suspicion | None:
        """A complaint where the process works on while a sentinel has no answer."""
        return _suspicion(silence, self._function()) if self._lasts(_SOON_S) else None

    def _lasts(self, cpu_s: float) -> bool:
        """Whether the process works until it has used so much processor time, which a busy machine gives it slowly."""
        pid, until_s, resting = self._subject.pid(), now_s() + _PATIENCE * cpu_s, 0
        most_s = gauge(pid).cpu_s + cpu_s
        while gauge(pid).cpu_s < most_s:
            if resting >= _AT_REST_LOOKS or now_s() > until_s:
                return False
            self._wait(_LOOK_S)
            resting = 0 if is_working(pid) else resting + 1
        return True

    def _function(self) -> str:
        """The function that does not end. Only a target that can be restarted is asked for it."""
        if self._subject.restart is None:
            return ""
        log = LogWatch(self._subject.log)
        log.skip()
        return endless_function(self._subject.pid(), lambda: log.news(self._wait), self._wait)


def _suspicion(detail: str, function: str) -> Suspicion:
    if not function:
        return Suspicion(Oracle.HANG, TOP, detail)
    return Suspicion(Oracle.HANG, TOP, f"{detail}\n{ENDLESS}{function}", cause=f"{ENDLESS}{function}")
