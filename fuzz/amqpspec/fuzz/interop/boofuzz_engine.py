"""boofuzz' session in this process, watched by our oracles: what they complain about is blamed and kept as a finding.

Knows: boofuzz' session and monitors, our monitor and triage. Must not know: how requests are made, sockets.

boofuzz decides what is sent and in which order; one case at a time. After some cases all oracles are asked, and blame
is found as in a campaign: the suspected octets are sent again by our own executor.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from types import ModuleType
from typing import Any

from amqpspec.fuzz.campaign.finding_store import FindingStore
from amqpspec.fuzz.campaign.journal import CampaignJournal
from amqpspec.fuzz.executor.boofuzz_stream import Stream
from amqpspec.fuzz.executor.client import Unanswered
from amqpspec.fuzz.executor.clock import now_s
from amqpspec.fuzz.executor.result import End, InputResult, Timing
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.executor.tempo import Tempo
from amqpspec.fuzz.grammar import grammar_hash
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import RANDOM, InputId
from amqpspec.fuzz.interop.boofuzz_script import ScriptTarget, script
from amqpspec.fuzz.interop.graph import Edge, session_graph
from amqpspec.fuzz.oracles.monitor import Check, Monitor
from amqpspec.fuzz.oracles.suspicion import SPOILS, Oracle, Suspicion
from amqpspec.fuzz.states.model import Slot
from amqpspec.fuzz.triage.findings import Finding, read_finding, signature_of
from amqpspec.fuzz.triage.triage import NOISY, Blame, Status, TargetLost, Triage

BATCH = 16
_QUIET_S, _LONGEST_QUIET_S, _ROUND_TRIPS = 0.05, 0.2, 10
_NEVER = 1 << 40
_ROLE = "boofuzz-"


class BoofuzzMissing(Exception):
    """boofuzz is not installed; one line says which extra has it."""


class _Ended(Exception):
    """The budget is spent, or the target is lost."""


@dataclass(frozen=True, slots=True)
class BoofuzzOrder:
    """What is wanted. ``index_start`` and ``index_end`` are boofuzz' numbers of cases."""

    subject: Subject
    out: Path
    budget_s: float = 600.0
    index_start: int = 1
    index_end: int | None = None
    smaller: bool = True
    notify: Callable[[BoofuzzRun], None] = lambda run: None


@dataclass(slots=True)
class _Tally:
    inputs: int = 0
    reached: int = 0
    repeats: int = 0
    unconfirmed: int = 0
    suppressed: Counter[str] = field(default_factory=Counter)
    states: set[str] = field(default_factory=set)


class BoofuzzRun:
    """One run of the session against one target. ``run`` once."""

    def __init__(self, order: BoofuzzOrder) -> None:
        self.order, self.subject = order, order.subject
        self.module = load_session(self.subject)
        self.tally = _Tally()
        self.ended, self.target_lost = "", False
        self._known: set[tuple[str, str, str]] = set()
        self._batch: list[InputResult] = []
        self._failed: Exception | None = None
        self._begun_s = now_s()
        graph = session_graph(self.subject.dialect)
        self._edges = {(edge.after, edge.request): edge for edge in graph.edges}

    def run(self) -> BoofuzzRun:
        """Run until the budget ends or boofuzz has no more cases. Raises Unanswered if the target is not there."""
        round_trip_s = self.subject.round_trip_s()
        self.tempo = Tempo.of(round_trip_s, self.subject.patience, self.subject.hang_s)
        quiet_s = min(_LONGEST_QUIET_S, max(_QUIET_S, _ROUND_TRIPS * round_trip_s))
        self.quiet_s = quiet_s * self.subject.patience
        self._monitor = Monitor(self.subject)
        self._triage = Triage(self.subject, self._monitor, self.tempo)
        self._journal = CampaignJournal(self.order.out)
        self._store = FindingStore(self.order.out, self.subject, self._journal, lambda: self.seconds_s)
        self._journal.line("campaign", engine="boofuzz", plan=self.plan)
        try:
            self._fuzz()
            self.ended = "all done"
        except _Ended as ended:
            self.ended = str(ended)
        except TargetLost as lost:
            self.ended, self.target_lost = str(lost), True
        except KeyboardInterrupt:
            self.ended = "stopped"
        finally:
            self._journal.line(
                "end", why=self.ended, inputs=self.tally.inputs, findings=len(self._store.found)
            )
            self._journal.close()
            self._monitor.close()
        return self

    def _fuzz(self) -> None:
        stream = Stream(self.subject.address, self.subject.dialect, self.tempo.way_s)
        with closing(stream):
            from boofuzz import Target

            watcher = _watcher(self, stream)
            session, self._case = self.module.session_of(
                self.module.DEFINITION,
                Target(connection=stream, monitors=[watcher]),
                _slots(self.subject),
                index_start=self.order.index_start,
                index_end=self.order.index_end,
                db_filename=str(self.order.out / "boofuzz.db"),
                fuzz_db_keep_only_n_pass_cases=BATCH,
                fuzz_loggers=[],
                crash_threshold_request=_NEVER,
                crash_threshold_element=_NEVER,
                restart_sleep_time=0,
            )
            session.fuzz()
        self._ask()

    # --- one case

    def sending(self, index: int, name: str) -> None:
        """boofuzz is about to begin a case; written down before it is sent. What fails is raised once it was sent."""
        try:
            if not self._batch:
                self._measure()
            self._journal.line("case", index=index, case=name)
        except Exception as error:
            self._failed = error

    def sent(self, index: int, name: str, stream: Stream) -> None:
        """A case was sent: hear what the target says; after some, ask the oracles. Raises to end it all."""
        if self._failed is not None:
            raise self._failed
        item = self._item(index, name, stream)
        owed = item.expectation.must_refuse
        missing = self._case.missing
        wait_s = self.tempo.refusal_s if owed else self.quiet_s
        said, latency_s = ([], None) if missing else stream.reaction(wait_s, self.tempo.settle_s, owed)
        refused = next((one.refusal for one in said if one.refusal is not None), None)
        result = InputResult(
            item,
            not missing,
            tuple(one.name for one in said),
            refused,
            stream.end,
            Timing(latency_s, 0.0),
            sum(map(len, stream.sent)),
            stream.received_octets,
            f"no {missing}" if missing else "",
        )
        self._batch.append(result)
        self.tally.inputs += 1
        self.tally.reached += result.reached
        self.tally.states.add(result.response_state)
        if len(self._batch) >= BATCH or self.seconds_s >= self.order.budget_s or stream.end is End.REFUSED:
            self._ask()
        if self.seconds_s >= self.order.budget_s:
            raise _Ended("budget spent")

    def refused(self) -> None:
        """No one took the connection: ask the oracles about what was sent, and bring the target back."""
        self._ask()
        self._triage.revive()

    def _item(self, index: int, name: str, stream: Stream) -> FuzzInput:
        """The case as one of our inputs: what was sent after its state."""
        edge = self._edge(name)
        steps = tuple(stream.sent[-1 - len(edge.since) :])
        role = _ROLE + blake2b(b"".join(steps), digest_size=8).hexdigest()
        dialect = self.subject.dialect
        id = InputId(grammar_hash(dialect), RANDOM, role, edge.state, 0, index)
        return FuzzInput(id, dialect, edge.state, steps, name)

    def _edge(self, name: str) -> Edge:
        """The last edge on the path that a case's name begins with."""
        path = ["", *name.partition(":")[0].split("->")]
        return self._edges[path[-2], path[-1]]

    # --- oracles

    def _ask(self) -> None:
        results, self._batch = self._batch, []
        if not results:
            return
        check = self._monitor.after(results)
        items = [result.item for result in results]
        for seen in self._worth(check):
            self._suspect(items, seen)
        if any(s.oracle in SPOILS for s in check.suspicions):
            self._triage.revive()
        self.order.notify(self)

    def _measure(self) -> None:
        """What is measured before cases; a target that does not answer even then is brought back."""
        try:
            self._monitor.before()
        except Unanswered:
            self._triage.revive()
            self._monitor.before()

    def _worth(self, check: Check) -> Iterable[Suspicion]:
        """The worst complaint about the whole, lines of the log, each kind of deviation that is not known, once."""
        whole = [s for s in check.suspicions if s.oracle is not Oracle.CONFORMANCE]
        tops: dict[str, Suspicion] = {}
        for seen in check.suspicions:
            requirement = seen.top.partition(":")[0]
            if seen.oracle is not Oracle.CONFORMANCE:
                continue
            if requirement in self.subject.known:
                self.tally.suppressed[requirement] += 1
            else:
                tops.setdefault(seen.top, seen)
        return [*whole[:1], *(s for s in whole[1:] if s.oracle is Oracle.LOG), *tops.values()]

    def _suspect(self, items: list[FuzzInput], seen: Suspicion) -> None:
        states = {item.state for item in items if item.id in seen.inputs} or {items[-1].state}
        key = (str(seen.oracle), seen.top, min(states))
        if key in self._known:
            self.tally.repeats += 1
            return
        self._known.add(key)
        blame = self._triage.blame(items, seen)
        if self.order.smaller:
            blame = self._triage.smaller(blame)
        if (blame.status is Status.LOST or blame.item is None) and seen.oracle in NOISY:
            self.tally.unconfirmed += 1
            self._journal.line("unconfirmed", oracle=seen.oracle, top=seen.top, detail=seen.detail)
            return
        self._found(items, blame)

    def _found(self, items: list[FuzzInput], blame: Blame) -> None:
        item, seen = blame.item, blame.suspicion
        state = item.state if item is not None else ""
        signature = signature_of(seen.oracle, seen.top, RANDOM, state)
        if signature in self._store.signatures:
            self.tally.repeats += 1
            return
        suspects = () if item is not None else tuple(str(i.id) for i in items)
        self._store.write(self._store.made(signature, blame, (RANDOM, state), suspects), blame)

    # --- the result

    @property
    def findings(self) -> list[Finding]:
        """What was found."""
        return self._store.found

    @property
    def seconds_s(self) -> float:
        """How long it has been running."""
        return now_s() - self._begun_s

    @property
    def plan(self) -> dict[str, Any]:
        """What was wanted, in a campaign's words."""
        dialect = self.subject.dialect
        return {
            "dialect": dialect, "grammar": grammar_hash(dialect), "seed": 0, "shard": [1, 1], "cells": [],
            "target": self.subject.name,
        }  # fmt: skip

    def summary(self) -> dict[str, Any]:
        """The run in figures, in a campaign's words: it has no cells."""
        tally, seconds_s = self.tally, self.seconds_s
        folders = [self.order.out / "findings" / name for name in self._store.signatures.values()]
        return {
            **self.plan, "engine": "boofuzz", "ended": self.ended, "inputs": tally.inputs, "random": tally.inputs,
            "reached": tally.reached, "seconds": round(seconds_s, 1),
            "rate_per_s": round(tally.inputs / seconds_s, 1) if seconds_s else 0.0,
            "cells_planned": 0, "covered": 0, "not_reachable": 0, "stopped": 0, "open": 0, "cells_not_covered": {},
            "response_states": len(tally.states), "suppressed": dict(tally.suppressed), "repeats": tally.repeats,
            "unconfirmed": tally.unconfirmed, "trials": self._triage.trials,
            "findings": [dict(read_finding(folder)) for folder in folders],
        }  # fmt: skip


# --- boofuzz


def load_session(subject: Subject) -> ModuleType:
    """The exported script as a module, not run. Raises BoofuzzMissing."""
    host, port = subject.address.host, subject.address.port
    text = script(subject.dialect, ScriptTarget(host, port, subject.values.vhost, subject.values.queue))
    module = ModuleType("amqpspec_boofuzz_session")
    sys.modules[module.__name__] = module
    try:
        exec(compile(text, module.__name__, "exec"), module.__dict__)
    except ImportError as error:
        raise BoofuzzMissing(
            f"boofuzz: expected it installed (pip install 'amqpspec[boofuzz]'), actual: {error}"
        ) from error
    return module


def _slots(subject: Subject) -> dict[str, Any]:
    """The values of slots; limits come from the target, unique names are made for each case."""
    values = subject.values
    own = (Slot.RESPONSE, Slot.VHOST, Slot.QUEUE, Slot.MECHANISM, Slot.USER, Slot.PASSWORD)
    slots = {slot.name.lower(): values.of(slot) for slot in own}
    slots["hostname"] = subject.address.host
    return {name: value.decode() if isinstance(value, bytes) else value for name, value in slots.items()}


def _watcher(run: BoofuzzRun, stream: Stream) -> Any:
    """boofuzz' view of our oracles: a monitor that always says that all is well, and keeps its findings itself."""
    from boofuzz import BaseMonitor

    class Watcher(BaseMonitor):  # type: ignore[misc]  # boofuzz has no types
        """Tells the run what boofuzz does."""

        def pre_send(self, target: Any = None, fuzz_data_logger: Any = None, session: Any = None) -> None:
            """A case begins."""
            run.sending(session.total_mutant_index, session.current_test_case_name)

        def post_send(self, target: Any = None, fuzz_data_logger: Any = None, session: Any = None) -> bool:
            """A case was sent."""
            run.sent(session.total_mutant_index, session.current_test_case_name, stream)
            return True

        def restart_target(
            self, target: Any = None, fuzz_data_logger: Any = None, session: Any = None
        ) -> bool:
            """No one listens: bring the target back, or end."""
            run.refused()
            return True

    return Watcher()
