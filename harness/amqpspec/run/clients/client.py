"""The client under test, as a case sees it: what it said in a scenario, and what it did about a hostile server.

Knows: scenarios, reference brokers behind taps, transcripts. Must not know: single cases, any dialect.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from amqpspec.net.clock import monotonic_ns, monotonic_s
from amqpspec.record.evidence import evidence_path
from amqpspec.record.transcript import Transcript
from amqpspec.reference.server import ReferenceBroker
from amqpspec.reference.tap import tapped
from amqpspec.run.clients.agent import Application, Limits, Ran, run_agent
from amqpspec.run.driver import driver_of
from amqpspec.spec.dialects import entry_of, part_of, widest
from amqpspec.spec.model import Requirement, Side
from amqpspec.wire.conversation import Conversation, Reading, Talk
from amqpspec.wire.hostility import Hostility

_SWAPPED = {"in": "out", "out": "in"}
CONTEXT: Mapping[str, Any] = {
    "queue": "amqpspec.agent",
    "messages": 2,
    "octets": 11,
    "large_octets": 300_000,
    "heartbeat_s": 1,
    "idle_s": 3,
}


class CannotDo(Exception):
    """The client says that it cannot do a scenario (exit code 89)."""


@dataclass(frozen=True, slots=True)
class Encounter:
    """One process of the client: its connections as frames, and what the application came to."""

    conversations: Sequence[Conversation]
    ran: Ran
    evidence: str


@dataclass(slots=True)
class Arena:
    """What all cases of one run share: the command, the dialect, the folder; scenarios on a clean server run once."""

    command: Sequence[str]
    dialect: str
    folder: Path
    limits: Limits = field(default_factory=Limits)
    stop: threading.Event = field(default_factory=threading.Event)
    _clean: dict[str, Encounter] = field(default_factory=dict)
    _locks: dict[str, threading.Lock] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def reading(self) -> Reading:
        """How the dialect is read."""
        return cast(Reading, part_of(self.dialect, "reading"))

    def clean(self, scenario: str) -> Encounter:
        """The client in a scenario, on a server that keeps the specification; raises CannotDo."""
        with self._lock:
            lock = self._locks.setdefault(scenario, threading.Lock())
        with lock:
            if scenario not in self._clean:
                self._clean[scenario] = self.meet(f"scenario-{scenario}", scenario)
            return self._clean[scenario]

    def meet(self, name: str, scenario: str, hostility: Hostility | None = None) -> Encounter:
        """Run one process of the client; its evidence goes under a name. Raises CannotDo, OSError."""
        evidence = evidence_path(name)
        with _Recording(self.folder / evidence, self.dialect) as recording:
            server = _Server(self, recording, hostility)
            ran = server.serve(scenario)
        encounter = Encounter([self.reading.conversation(talk) for talk in recording.talks], ran, evidence)
        if ran.application is Application.CANNOT:
            raise CannotDo(f"the client cannot do {scenario!r} (exit code 89)")
        return encounter


class _Recording:
    """The connections of one process, in a transcript and in memory."""

    def __init__(self, path: Path, dialect: str) -> None:
        driver = driver_of(dialect)
        self._transcript = Transcript(path, lambda way: driver.direction(dialect, _SWAPPED[way]))
        self.talks: list[Talk] = []
        self.connected_s: float | None = None

    def began(self, talk: Talk) -> None:
        """A client has connected."""
        if self.connected_s is None:
            self.connected_s = monotonic_s()
        self.talks.append(talk)
        self._transcript.write("open", monotonic_ns(), conn=talk.number, tls=False)

    def octets(self, talk: Talk, sender: Side, at_ns: int, octets: bytes) -> None:
        """Octets have passed; the client is the target, so that what it says comes in."""
        self._transcript.octets(at_ns, talk.number, "in" if sender is Side.CLIENT else "out", octets)

    def ended(self, talk: Talk) -> None:
        """The client's side has ended."""
        self._transcript.write("end", monotonic_ns(), conn=talk.number, how=talk.ended)

    def ran(self, ran: Ran) -> None:
        """The process is gone."""
        data = {"application": str(ran.application), "exit_code": ran.exit_code, "events": list(ran.events)}
        self._transcript.write("agent", monotonic_ns(), **data, said=ran.said)

    def __enter__(self) -> _Recording:
        return self

    def __exit__(self, *_: object) -> None:
        self._transcript.close()


class _Server:
    """A reference broker of its own for one process, tapped."""

    def __init__(self, arena: Arena, recording: _Recording, hostility: Hostility | None) -> None:
        self._arena, self._recording, self._hostility = arena, recording, hostility

    def serve(self, scenario: str) -> Ran:
        """Serve one process of the client until it ends, or its time does."""
        dialect = entry_of(self._arena.dialect).clients_of
        arena, recording = self._arena, self._recording
        through = tapped(recording, arena.reading, self._hostility)
        with ReferenceBroker(widest(dialect), through=through) as broker:
            environment = {
                "AMQPSPEC_URL": broker.url,
                "AMQPSPEC_SCENARIO": scenario,
                "AMQPSPEC_CONTEXT": json.dumps(CONTEXT),
            }
            ran = run_agent(arena.command, environment, arena.limits, lambda: recording.connected_s)
            recording.ran(ran)
            return ran


@dataclass(frozen=True, slots=True)
class Client:
    """What one case works with."""

    arena: Arena
    case_id: str
    requirements: tuple[Requirement, ...]
    met: list[Encounter] = field(default_factory=list)

    def in_scenarios(self, *scenarios: str) -> list[Encounter]:
        """The client in scenarios on a clean server; those that it cannot do are left out; raises CannotDo for none."""
        found, cannot = [], ""
        for scenario in scenarios:
            try:
                found.append(self.arena.clean(scenario))
            except CannotDo as why:
                cannot = str(why)
        if not found:
            raise CannotDo(cannot)
        self.met.extend(found)
        return found

    def against(self, hostility: Hostility, scenario: str) -> Encounter:
        """The client in a scenario on a hostile server; raises CannotDo."""
        encounter = self.arena.meet(self.case_id, scenario, hostility)
        self.met.append(encounter)
        return encounter
