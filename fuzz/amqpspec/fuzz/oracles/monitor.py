"""All oracles around a batch: what is measured before, what is checked afterwards, and the order of complaints.

Knows: the oracles, the target's gauges. Must not know: how batches are made, what happens to a suspicion.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from amqpspec.fuzz.executor.client import Unanswered
from amqpspec.fuzz.executor.clock import now_s, pause
from amqpspec.fuzz.executor.result import End, InputResult
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import InputId
from amqpspec.fuzz.oracles.answers import astray, conformance, obedience
from amqpspec.fuzz.oracles.canary import Canaries
from amqpspec.fuzz.oracles.hang import SILENT, TOP, ThreadWatch
from amqpspec.fuzz.oracles.lateness import Moments, Wait, late
from amqpspec.fuzz.oracles.log import LogWatch, Mark, complaints, last_complaint
from amqpspec.fuzz.oracles.process import Allowance, Gauge, gauge, held_back_s, is_working
from amqpspec.fuzz.oracles.suspicion import CANARY_LOST, Oracle, Suspicion

_LOOK_S, _REST_S = 0.02, 16.0
_HELD_BACK_S = 60.0
_LOOKS, _BETWEEN_LOOKS_S = 4, 0.15
_DYING_LOOKS, _BETWEEN_DYING_S = 12, 0.25
"""A process may take some time to die, of a dump that it writes or for want of a processor."""
"""A target that is ending may reset a connection first; then it is checked again."""
_COST_AS_USUAL = frozenset({Oracle.LOG, Oracle.OBEDIENCE, Oracle.CONFORMANCE})
"""Complaints that say nothing about time and memory: a target with such a defect may show it in every batch."""
_KEPT = 64
_LATE_S, _LATE_FACTOR = 0.5, 12
_CPU_S, _LEAST_CPU_S = 0.01, 0.001
"""Of one input as long as no batch was clean: the most and the least that is granted, whatever a greeting costs."""
_MEMORY_OCTETS = 256 << 20
"""The most that a batch is ever allowed, however much others held for unknown reasons."""
_GREETINGS, _FOR_AN_INPUT = 24, 2
"""How many greetings are measured at first; an input may take as much as this many of them."""


@dataclass(frozen=True, slots=True)
class Check:
    """What the oracles said of a batch; ``log`` is what the target wrote meanwhile.

    ``grown_octets`` is what its process holds beyond its previous maximum.
    """

    suspicions: tuple[Suspicion, ...]
    log: str = ""
    rss_octets: int = 0
    cpu_s: float = 0.0
    grown_octets: int = 0


@dataclass(slots=True)
class Usual:
    """What harmless inputs cost, learned from the batches so far; before the first one, from greetings."""

    first_cpu_s: float = _CPU_S
    cpu_per_input_s: deque[float] = field(default_factory=lambda: deque(maxlen=_KEPT))
    latency_s: deque[float] = field(default_factory=lambda: deque(maxlen=_KEPT))

    def learn(self, results: Sequence[InputResult], cpu_s: float, waiting: int = 0) -> None:
        """Learn from a batch that took what is usual; ``waiting`` of its inputs have no result yet."""
        if results:
            self.cpu_per_input_s.append(cpu_s / (len(results) + waiting))
            known = [o.timing.latency_s for o in results if o.timing.latency_s is not None]
            self.latency_s.append(median(known) if known else 0.0)

    def learn_greetings(self, cpu_s: float) -> None:
        """Learn from the cost of greetings."""
        self.first_cpu_s = min(_CPU_S, max(_LEAST_CPU_S, _FOR_AN_INPUT * cpu_s / _GREETINGS))

    def bear(self, cpu_s: float, inputs: int) -> None:
        """Learn from a batch whose cost no input is to blame for: otherwise, every later batch would be suspected."""
        if inputs:
            self.cpu_per_input_s.append(min(_CPU_S, cpu_s / inputs))

    def cpu_s(self, inputs: int) -> float:
        """What this many inputs may take: twice the usual."""
        return 2 * inputs * (median(self.cpu_per_input_s) if self.cpu_per_input_s else self.first_cpu_s)

    @property
    def late_s(self) -> float:
        """The time after which an answer is late."""
        return max(_LATE_S, _LATE_FACTOR * (median(self.latency_s) if self.latency_s else 0.0))


class Monitor:
    """Looks at one target.

    ``before`` and ``after`` come in pairs. Oracles in ``without`` do not run and cost nothing. ``wait`` waits until
    the target is idle; a campaign continues to listen meanwhile.
    """

    def __init__(
        self, subject: Subject, allowance: Allowance | None = None, without: frozenset[Oracle] = frozenset()
    ) -> None:
        self.subject, self.allowance, self.without = subject, allowance or Allowance(), without
        self.usual, self.moments, self.wait = Usual(), Moments(), pause
        self.hang_s = subject.hang_s * subject.patience
        self._canaries = Canaries(subject)
        if not self._asks(Oracle.CANARY, Oracle.LEAK):
            self._canaries.off = "not asked"
        self._log = LogWatch(subject.log)
        self._log.skip()
        self._mark: Mark | None = None
        self._threads = ThreadWatch(subject, lambda seconds_s: self.wait(seconds_s))
        self._before = Gauge(None)
        self._took_s = 0.0
        self._rest_s = _REST_S
        self._greeted = self._rested = False
        self._borne: tuple[float, int] = (0.0, 0)
        self._most = Gauge(None)
        self._grown_octets = 0

    @property
    def note(self) -> str:
        """What the oracles do without because the target did not support it at first."""
        return self._canaries.note

    def before(self) -> None:
        """Measure, and place canaries. Raises Unanswered if the target does not answer even now."""
        self._canaries.place()
        if not self._greeted and self._asks(Oracle.CPU):
            self._greeted = True
            self._weigh_greetings()
        if not self._rested:
            self._rest()
        # What canaries and greetings made the target say is not of the batch.
        self._log.skip()
        self._before, self._rested = gauge(self.subject.pid()), False
        if self._before.pid != self._most.pid or self._before.rss_octets > self._most.rss_octets:
            self._most = self._before

    def unconfirmed(self, oracle: Oracle) -> None:
        """What an oracle reported last could not be reproduced."""
        if oracle is Oracle.CPU:
            self.usual.bear(*self._borne)
        elif oracle is Oracle.MEMORY:
            most = min(_MEMORY_OCTETS, max(self.allowance.memory_octets, self._grown_octets))
            self.allowance = replace(self.allowance, memory_octets=most)

    def after(
        self, results: Sequence[InputResult], waiting: Sequence[FuzzInput] = (), *, settle_s: float = 0.0,
        dying: bool = False,
    ) -> Check:  # fmt: skip
        """Ask every oracle. A crash or a hang explains the rest, which is then not asked.

        ``waiting`` inputs were sent and have no result yet. A target that may be ``dying`` is watched for longer.
        """
        if settle_s:
            pause(settle_s)
        self.moments.learn(results)
        self._mark = None
        sent = sum(o.sent_octets for o in results) + sum(len(item.octets) for item in waiting)
        inputs = len(results) + len(waiting)
        after = self._at_rest(sent, inputs)
        # An endless loop is looked for first: a sentinel meets it by chance, and then waits long.
        fatal = self._works_on(after, sent, inputs)
        if fatal is None and self._asks(Oracle.CRASH, Oracle.HANG):
            fatal = self._dies(results) if dying else self._fatal(results)
        # While canaries are checked, the log has time to catch up.
        found, lost = ([], None) if fatal else self._canary()
        if lost is not None:
            fatal = self._fatal(results) or self._blocked(lost)
        news = self._log.news(self.wait, self._mark)
        if fatal:
            self._canaries.drop()
            return Check((self._explained(fatal, news),), news)
        found += self._of_process(after, sent, inputs)
        found += complaints(news) if self._asks(Oracle.LOG) else ()
        found += self._of_answers(results)
        spent_s = after.cpu_s - self._before.cpu_s
        if _COST_AS_USUAL.issuperset(s.oracle for s in found):
            self.usual.learn(results, spent_s, len(waiting))
        elif any(s.oracle is Oracle.CPU for s in found):
            self._borne = spent_s, inputs
        grown_octets = after.rss_octets - self._most.rss_octets
        if any(s.oracle is Oracle.MEMORY for s in found):
            self._grown_octets = grown_octets
        return Check(self._sorted(found), news, after.rss_octets, spent_s, grown_octets)

    def belated(self, results: Sequence[InputResult]) -> Check:
        """What the answers say about inputs of an earlier batch; everything else was asked after that batch."""
        self.moments.learn(results)
        return Check(self._sorted(self._of_answers(results)))

    def glance(self, within_s: float) -> tuple[Suspicion, ...]:
        """Whether the target lives, and what its log says since ``before``; takes roughly ``within_s``."""
        pid, reason = self._before.pid, ""
        until_s, oracle, top = now_s() + within_s, Oracle.CRASH, "the target is gone"
        while not reason:
            if pid is not None and not gauge(pid).alive:
                reason = f"process {pid} is gone"
                break
            try:
                self.subject.greet(max(0.1, until_s - now_s()), whole_s=within_s)
                break
            except Unanswered as unanswered:
                silent = unanswered.silent
                if silent:
                    oracle, top = Oracle.HANG, SILENT
                reason = str(unanswered) if silent or now_s() + _BETWEEN_LOOKS_S > until_s else ""
            pause(_BETWEEN_LOOKS_S)
        news = self._log.news(pause)
        fatal = [self._explained(Suspicion(oracle, top, reason), news)] if reason else []
        return (*fatal, *([] if fatal else complaints(news)))

    def absence(self, within_s: float) -> tuple[Suspicion, ...]:
        """The complaint about a target that does not answer after a restart, with its log; none if it answers."""
        try:
            self.subject.greet(within_s, whole_s=within_s)
        except Unanswered as reason:
            gone = Suspicion(Oracle.CRASH, "the target does not return from a restart", str(reason))
            return (self._explained(gone, self._log.news(pause)),)
        return ()

    def hung(self, silence: str) -> Suspicion:
        """The complaint about a target that accepts connections and does not answer, with what its threads do."""
        return self._threads.explains(silence) or Suspicion(Oracle.HANG, SILENT, silence)

    def close(self) -> None:
        """Close the connections of the canaries."""
        self._canaries.drop()

    def forget(self) -> None:
        """Forget what was placed: the target was restarted."""
        self._canaries.drop()

    # --- single oracles

    def _works_on(self, after: Gauge, sent: int, inputs: int) -> Suspicion | None:
        """A hang that only the connections of the busy thread notice."""
        if not self._asks(Oracle.HANG) or not self._weighs or self._rested:
            return None
        burnt = self.allowance.cpu(self._before, after, sent, self.usual.cpu_s(inputs))
        return self._threads.works_on(burnt, self.hang_s) if burnt else None

    def _asks(self, *oracles: Oracle) -> bool:
        """Whether any of these oracles runs."""
        return not self.without.issuperset(oracles)

    @property
    def _weighs(self) -> bool:
        return self._asks(Oracle.MEMORY, Oracle.CPU)

    def _rest(self) -> None:
        """Wait until the target is idle, for a limited time."""
        begun_s = now_s()
        while self._weighs and is_working(self.subject.pid()) and now_s() - begun_s < self._rest_s:
            self.wait(_LOOK_S)

    def _weigh_greetings(self) -> None:
        """Measure the cost of harmless conversations. Raises Unanswered."""
        self._rest()
        before = gauge(self.subject.pid())
        if before.pid is None:
            return
        for _ in range(_GREETINGS):
            self.subject.greet(self.hang_s)
        self._rest()
        after = gauge(self.subject.pid())
        if after.pid == before.pid and after.alive:
            self.usual.learn_greetings(after.cpu_s - before.cpu_s)

    def _fatal(self, results: Sequence[InputResult]) -> Suspicion | None:
        """A crash or a hang, or None. After a broken stream, it looks again: the process may just be dying."""
        reason: Unanswered | None = None
        for _ in range(_LOOKS):
            if self._before.pid is not None and not gauge(self._before.pid).alive:
                return self._crash(f"process {self._before.pid} is gone", results)
            log_octets = self._log.size
            try:
                greeting = self.subject.greet(self.hang_s)
            except Unanswered as unanswered:
                reason = unanswered
            else:
                self._took_s, self._mark = greeting.took_s, Mark(greeting.port, log_octets)
                return None
            if reason.silent:
                return self._hang(str(reason), results)
            pause(_BETWEEN_LOOKS_S)
        return self._crash(str(reason), results)

    def _hang(self, silence: str, results: Sequence[InputResult]) -> Suspicion:
        return replace(self.hung(silence), inputs=_unfinished(results))

    def _dies(self, results: Sequence[InputResult]) -> Suspicion | None:
        """A crash or a hang, now or soon."""
        for _ in range(_DYING_LOOKS):
            if (fatal := self._fatal(results)) is not None:
                return fatal
            pause(_BETWEEN_DYING_S)
        return self._fatal(results)

    def _crash(self, detail: str, results: Sequence[InputResult]) -> Suspicion:
        return Suspicion(Oracle.CRASH, "the target is gone", detail, _unfinished(results))

    def _explained(self, fatal: Suspicion, news: str) -> Suspicion:
        """A crash with the last complaint in the log, if there is one; what threads do explains itself."""
        if fatal.top == TOP or fatal.cause:
            return fatal
        said = last_complaint(news)
        if said is None:
            return fatal
        detail = f"{fatal.detail}\n{said.detail}"
        return replace(fatal, top=f"{fatal.top}; {said.top}", detail=detail, cause=said.cause)

    def _at_rest(self, sent: int, inputs: int) -> Gauge:
        """The gauge when the target is idle or has used too much: work may continue after the last answer.

        For a target that is never idle, the wait gets shorter each time. Time in which the target waits for a
        processor does not count: on a busy machine, its work may start late.
        """
        begun_s, held_s = now_s(), held_back_s(self.subject.pid())
        while True:
            if not self._weighs:
                return gauge(self.subject.pid())
            self.wait(_LOOK_S)
            this = gauge(self.subject.pid())
            spent = self.allowance.cpu(self._before, this, sent, self.usual.cpu_s(inputs))
            self._rested = not is_working(this.pid)
            if spent or self._rested:
                return this
            waited_s = now_s() - begun_s
            if waited_s > _HELD_BACK_S or waited_s - (held_back_s(this.pid) - held_s) > self._rest_s:
                self._rest_s = max(_LOOK_S, self._rest_s / 2)
                return this

    def _canary(self) -> tuple[list[Suspicion], Unanswered | None]:
        """What the canaries complain about, and why one of them was lost."""
        begun_s = now_s()
        try:
            found = self._canaries.check()
        except Unanswered as reason:
            return [Suspicion(Oracle.CANARY, CANARY_LOST, str(reason))], reason
        # The wait was for credit, a window or flow, which no target has to give in time.
        if self._canaries.held_back:
            return found, None
        took_s = max(self._took_s, now_s() - begun_s)
        if took_s > self.usual.late_s + _LATE_S and not self.moments.explain(Wait(took_s, now_s())):
            detail = f"a sentinel or canary took {took_s:.2f} s, expected {self.usual.late_s:.2f} s at most"
            found.append(Suspicion(Oracle.LATE, "late answer", detail))
        return found, None

    def _blocked(self, lost: Unanswered) -> Suspicion | None:
        """A hang that a sentinel does not meet: only requests that need a certain lock wait."""
        return self._threads.blocked("no answer to a canary", str(lost)) if lost.silent else None

    def _of_answers(self, results: Sequence[InputResult]) -> list[Suspicion]:
        said = conformance(results) if self._asks(Oracle.CONFORMANCE) else ()
        return [*astray(results), *obedience(results), *late(results, self.usual.late_s, self.moments), *said]

    def _sorted(self, found: Sequence[Suspicion]) -> tuple[Suspicion, ...]:
        """The suspicions of the oracles that run, the worst first."""
        order = list(Oracle)
        asked = (s for s in found if s.oracle not in self.without)
        return tuple(sorted(asked, key=lambda s: order.index(s.oracle)))

    def _of_process(self, after: Gauge, sent: int, inputs: int) -> list[Suspicion]:
        # Beyond the most that it ever held: what a collection left free just before is no growth when it is used again.
        memory = self.allowance.memory(self._most, after, sent)
        cpu = self.allowance.cpu(self._before, after, sent, self.usual.cpu_s(inputs))
        return [
            Suspicion(oracle, top, text)
            for oracle, top, text in (
                (Oracle.MEMORY, "memory grows", memory), (Oracle.CPU, "processor burns", cpu),
            )
            if text
        ]  # fmt: skip


def _unfinished(results: Sequence[InputResult]) -> tuple[InputId, ...]:
    """Inputs that were in progress when it happened."""
    broken = (End.RST, End.FIN)
    return tuple(
        o.item.id
        for o in results
        if not o.reached or (o.end in broken and o.refused is None) or not o.arrivals
    )
