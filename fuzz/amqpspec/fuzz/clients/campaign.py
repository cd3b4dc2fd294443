"""A campaign against a client: inputs until the budget ends, several agents at once, each complaint blamed.

Knows: the order of inputs, what is counted, what is written down when. Must not know: how an input is sent.
Every input is in the journal before it is sent.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import IO, Any

from amqpspec.fuzz.clients.blame import blame
from amqpspec.fuzz.clients.bout import Met, Ring
from amqpspec.fuzz.clients.findings import write_finding
from amqpspec.fuzz.clients.inputs import family_inputs, random_inputs
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.oracles.suspicion import SPOILS, Oracle
from amqpspec.fuzz.triage.findings import signature_of
from amqpspec.fuzz.triage.triage import Status
from amqpspec.net.clock import monotonic_s
from amqpspec.run.clients.agent import OneEach, Runner
from amqpspec.run.clients.batch import BatchAgents
from amqpspec.run.clients.client import Arena

_PER_PROCESS = 64
_IN_VAIN = 3
_SKIPS = 100_000
"""This many inputs in a row of which nothing new is expected: then there are no others."""
_BLAMES = 5
"""How often the same complaint is blamed in a campaign; where else it comes is counted."""


@dataclass(frozen=True, slots=True)
class ClientOrder:
    """The options of a campaign; ``inputs`` None: as many as the budget allows."""

    arena: Arena
    dialect: str
    command: str
    budget_s: float
    cpu_s: float
    seed: int = 1
    at_once: int = 2
    inputs: int | None = None
    families_only: bool = False
    keeps_agents: bool = False
    chosen: Callable[[str], bool] = lambda key: True


@dataclass(slots=True)
class Tally:
    """What was counted so far."""

    sent: int = 0
    reached: Counter[str] = field(default_factory=Counter)
    in_vain: Counter[str] = field(default_factory=Counter)
    families: Counter[str] = field(default_factory=Counter)
    suspicions: Counter[str] = field(default_factory=Counter)
    unconfirmed: Counter[str] = field(default_factory=Counter)
    signatures: Counter[str] = field(default_factory=Counter)
    blamed: Counter[str] = field(default_factory=Counter)
    unblamed: int = 0
    stopped: set[str] = field(default_factory=set)
    findings: list[Path] = field(default_factory=list)

    def is_skipped(self, item: FuzzInput) -> bool:
        """Whether nothing new is expected of an input: its place is out of reach, or its cell is stopped."""
        out_of_reach = not self.reached[item.state] and self.in_vain[item.state] >= _IN_VAIN
        return out_of_reach or _cell(item) in self.stopped

    def to_json(self) -> dict[str, Any]:
        """The counts as JSON data."""
        return {
            "inputs": self.sent, "reached": dict(self.reached), "families": dict(self.families),
            "not_reached": sorted(p for p in self.in_vain if not self.reached[p]),
            "suspicions": dict(self.suspicions), "unconfirmed": dict(self.unconfirmed), "unblamed": self.unblamed,
            "stopped": sorted(self.stopped), "findings": [path.name for path in self.findings],
        }  # fmt: skip


def _cell(item: FuzzInput) -> str:
    return f"{item.id.family}/{item.id.role}/{item.state}"


class ClientCampaign:
    """One campaign; ``tell`` is called with each finding, and with the count of inputs."""

    def __init__(self, order: ClientOrder, tell: Callable[[Path | int], None] = lambda news: None) -> None:
        self.order, self.tally = order, Tally()
        self._tell = tell
        self._inputs = self._ordered()
        self._lock = threading.Lock()
        self._begun_s = monotonic_s()
        self._journal: IO[str]

    def run(self) -> dict[str, Any]:
        """Run to the end of the budget; the summary. Raises OSError, AgentError."""
        with ExitStack() as stack:
            path = self.order.arena.folder / "journal.jsonl"
            self._journal = stack.enter_context(path.open("a", encoding="utf-8", buffering=1))
            workers = stack.enter_context(ThreadPoolExecutor(self.order.at_once, "fuzz-client"))
            for future in [workers.submit(self._work, number) for number in range(self.order.at_once)]:
                try:
                    future.result()
                except BaseException:
                    self.order.arena.stop.set()
                    raise
        return self._summary()

    def _ordered(self) -> Iterator[FuzzInput]:
        order = self.order
        families = family_inputs(order.dialect, order.chosen)
        more = () if order.families_only else random_inputs(order.dialect, order.seed, order.chosen)
        return chain(families, more)

    def _next(self) -> FuzzInput | None:
        """The next input, written down; None if time or inputs are used up."""
        with self._lock:
            for _ in range(_SKIPS):
                item = None if self._is_over else next(self._inputs, None)
                if item is None:
                    return None
                if not self.tally.is_skipped(item):
                    self.tally.sent += 1
                    self._journal.write(json.dumps({"kind": "input", "id": str(item.id)}) + "\n")
                    return item
        return None

    @property
    def _is_over(self) -> bool:
        order = self.order
        enough = order.inputs is not None and self.tally.sent >= order.inputs
        return enough or order.arena.stop.is_set() or self.spent_s >= order.budget_s

    @property
    def spent_s(self) -> float:
        """How long it has run."""
        return monotonic_s() - self._begun_s

    # --- one worker

    def _work(self, number: int) -> None:
        history: list[FuzzInput] = []
        name = f"worker-{number}"
        with ExitStack() as stack:
            agents = (
                stack.enter_context(BatchAgents(self.order.arena.command))
                if self.order.keeps_agents
                else None
            )
            runner: Runner = agents or OneEach(self.order.arena.command)
            ring = Ring(self.order.arena, runner, self.order.cpu_s)
            while (item := self._next()) is not None:
                met = ring.meet(item, name)
                history = [*history, item] if met.is_shared else [item]
                if self._counted(met):
                    self._blame(ring, met, history, name)
                if agents is not None and len(history) >= _PER_PROCESS:
                    agents.end_idle()

    def _counted(self, met: Met) -> bool:
        """Count the result of an input; returns whether its suspicion should be blamed."""
        tally, item = self.tally, met.item
        with self._lock:
            (tally.reached if met.reached else tally.in_vain)[item.state] += 1
            tally.families[item.id.family] += 1
            self._tell(tally.sent)
            if met.suspicion is None:
                return False
            tally.suspicions[str(met.suspicion.oracle)] += 1
            signature = _signature(met)
            tally.signatures[signature] += 1
            if tally.signatures[signature] > 1 and met.suspicion.oracle in SPOILS:
                tally.stopped.add(_cell(item))
            if tally.signatures[signature] > 1:
                return False
            what = f"{met.suspicion.oracle}: {met.suspicion.top}"
            tally.blamed[what] += 1
            tally.unblamed += tally.blamed[what] > _BLAMES
            return tally.blamed[what] <= _BLAMES

    def _blame(self, ring: Ring, met: Met, history: Sequence[FuzzInput], name: str) -> None:
        blamed = blame(ring, met, history, name)
        oracle = blamed.suspicion.oracle
        if blamed.status is Status.LOST and oracle is not Oracle.CRASH:
            with self._lock:
                self.tally.unconfirmed[str(oracle)] += 1
                self.tally.signatures[_signature(met)] = 0  # The next one may be one that stays.
            return
        signature = _signature(met)
        place = write_finding(self.order.arena.folder, signature, blamed, self.order.command, self.spent_s)
        with self._lock:
            self.tally.findings.append(place)
            self._journal.write(json.dumps({"kind": "finding", "name": place.name}) + "\n")
            self._tell(place)

    def _summary(self) -> dict[str, Any]:
        spent_s = self.spent_s
        rate = round(self.tally.sent / spent_s, 2) if spent_s else 0.0
        told = {"client": self.order.command, "dialect": self.order.dialect, "seed": self.order.seed}
        summary = {**told, "seconds": round(spent_s, 2), "inputs_per_s": rate, **self.tally.to_json()}
        text = json.dumps(summary, indent=1, ensure_ascii=False) + "\n"
        (self.order.arena.folder / "summary.json").write_text(text, encoding="utf-8")
        return summary


def _signature(met: Met) -> str:
    assert met.suspicion is not None
    return signature_of(met.suspicion.oracle, met.suspicion.top, met.item.id.family, met.item.state)
