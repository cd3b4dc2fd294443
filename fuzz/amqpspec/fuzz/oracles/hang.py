"""What the threads of a target show of a hang: a loop that has no end, or locks that all wait for.

Knows: processor states, how long a hang is waited for. Must not know: inputs, the other oracles.

A target with several threads continues to answer most connections while one thread is in a loop: a sentinel meets it by
chance only. A deadlock needs no processor, and shows only when a sentinel is not answered.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import eq

from amqpspec.fuzz.executor.clock import now_s
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.oracles.blocked import blocked_in
from amqpspec.fuzz.oracles.log import LogWatch
from amqpspec.fuzz.oracles.process import gauge, held_back_s, is_working
from amqpspec.fuzz.oracles.suspicion import ENDLESS, Oracle, Suspicion
from amqpspec.fuzz.oracles.threads import Stack, endless_stack

TOP, SILENT = "a thread never comes to rest", "no answer to a sentinel"
_SOON_S, _LOOK_S = 1.0, 0.02
_AT_REST_LOOKS, _PATIENCE, _HELD_BACK_S = 5, 8, 60.0
"""A collection of garbage stops all threads for a moment: this many consecutive checks must see them idle."""


class ThreadWatch:
    """Checks one target; ``wait`` waits.

    A loop that the target itself has named before need not be waited for again.
    """

    def __init__(self, subject: Subject, wait: Callable[[float], None]) -> None:
        self._subject, self._wait = subject, wait
        self._known: list[Stack] = []

    def works_on(self, burnt: str, hang_s: float) -> Suspicion | None:
        """A suspicion if a process that used more CPU time than allowed works on until it has used ``hang_s`` more."""
        soon_s = min(_SOON_S, hang_s)
        if not self._lasts(soon_s):
            return None
        stack = self._stack()
        if self._met(stack) is None and not self._lasts(hang_s - soon_s):
            return None
        return self._suspicion(f"{burnt}, and works on without rest", stack)

    def explains(self, silence: str) -> Suspicion | None:
        """A suspicion if, while a sentinel gets no answer, the process works on, or its threads show a deadlock."""
        if self._subject.pid() is None:
            return None
        if self._lasts(_SOON_S):
            return self._suspicion(silence, self._stack())
        return self.blocked(SILENT, silence)

    def _lasts(self, cpu_s: float) -> bool:
        """Whether the process works without rest until it has used this much CPU time.

        A busy machine grants it slowly: how long its threads waited for a processor does not count, up to a limit.
        """
        pid, resting = self._subject.pid(), 0
        begun_s, held_s = now_s(), held_back_s(pid)
        most_s = gauge(pid).cpu_s + cpu_s
        while gauge(pid).cpu_s < most_s:
            waited_s = now_s() - begun_s
            not_held_s = waited_s - min(held_back_s(pid) - held_s, _HELD_BACK_S)
            if resting >= _AT_REST_LOOKS or not_held_s > _PATIENCE * cpu_s:
                return False
            self._wait(_LOOK_S)
            resting = 0 if is_working(pid) else resting + 1
        return True

    def blocked(self, top: str, silence: str) -> Suspicion | None:
        """A suspicion if its threads can be asked, and wait for locks. A Go program ends."""
        if self._subject.restart is None:
            return None
        cause, places = blocked_in(self._subject.pid(), self._news(), self._wait)
        return Suspicion(Oracle.HANG, top, f"{silence}\n{cause}\n{places}", cause=cause) if cause else None

    def _stack(self) -> Stack:
        """The functions that the thread does not leave. Only a target that can be restarted is checked."""
        if self._subject.restart is None:
            return ()
        return endless_stack(self._subject.pid(), self._news(), self._wait)

    def _news(self) -> Callable[[], str]:
        """What the log says from now on."""
        log = LogWatch(self._subject.log)
        log.skip()
        return partial(log.news, self._wait)

    def _met(self, stack: Stack) -> Stack | None:
        """The same loop as it was first seen: how deep in it the thread is seen is chance."""
        return next((known for known in self._known if all(map(eq, known, stack))), None) if stack else None

    def _suspicion(self, detail: str, stack: Stack) -> Suspicion:
        if not stack:
            return Suspicion(Oracle.HANG, TOP, detail)
        if (known := self._met(stack)) is None:
            self._known.append(known := stack)
        cause = f"{ENDLESS}{known[-1]}"
        return Suspicion(Oracle.HANG, TOP, f"{detail}\n{cause}", cause=cause)
