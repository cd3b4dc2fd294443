"""The client under test, as a case sees it: what it said in a scenario, and what it did about a hostile server.

Knows: scenarios, reference brokers behind taps, transcripts. Must not know: single cases, any dialect.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, cast

from amqpspec.net.clock import monotonic_ns, monotonic_s
from amqpspec.record.evidence import evidence_path
from amqpspec.record.transcript import Transcript
from amqpspec.reference.core import PRODUCT
from amqpspec.reference.server import ReferenceBroker
from amqpspec.reference.tap import Manners, tapped
from amqpspec.run.clients.agent import FATAL, Application, Limits, OneEach, Ran, Runner, Sockets, Task
from amqpspec.run.driver import driver_of
from amqpspec.spec.dialects import entry_of, part_of, widest
from amqpspec.spec.model import Requirement, Side
from amqpspec.wire.conversation import Address, Conversation, Reading, Talk
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


Run = Callable[[Task, Limits, Sockets], Ran]


class CannotDo(Exception):
    """The client says that it cannot do a scenario (exit code 89)."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Encounter:
    """One process of the client: its connections as frames, and the result of the application.

    Each is equal to itself only, and can be a weak key.
    """

    conversations: Sequence[Conversation]
    ran: Ran
    evidence: str


class Meets(Protocol):
    """Where a case meets the client: in scenarios that are run for it, or in what was seen of it anyway."""

    @property
    def is_prompted(self) -> bool:
        """Whether the client does what a scenario tells, step by step."""
        ...

    def clean(self, scenario: str) -> Encounter:
        """The client in a scenario, on a server that keeps the specification; raises CannotDo."""
        ...

    def meet(self, name: str, scenario: str, hostility: Hostility | None = None) -> Encounter:
        """The client in a scenario, on a hostile server; raises CannotDo."""
        ...


@dataclass(slots=True)
class Arena:
    """What all cases of one run share: the command, the dialect, the folder; scenarios on a clean server run once."""

    command: Sequence[str]
    dialect: str
    folder: Path
    limits: Limits = field(default_factory=Limits)
    stop: threading.Event = field(default_factory=threading.Event)
    runner: Runner | None = None
    """How the command carries out tasks; None: a process for each."""
    product: str = ""
    """What the server calls itself; empty: what it is."""
    is_lenient: bool = False
    forgiven: Counter[str] = field(default_factory=Counter)
    """How many connections had each deviation that a lenient server tolerated."""
    _clean: dict[str, Encounter] = field(default_factory=dict)
    _locks: dict[str, threading.Lock] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def is_prompted(self) -> bool:
        """Always: the scenario says what is done."""
        return True

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
        """One task of the client; its evidence goes under a name. Raises CannotDo, OSError, AgentError.

        A failure of a process that ran other scenarios before is tried again in a separate process.
        """
        runner = self.runner or OneEach(self.command)
        encounter = self.encounter(name, scenario, hostility, runner.run)
        if encounter.ran.is_shared and encounter.ran.application in FATAL:
            encounter = self.encounter(name, scenario, hostility, runner.run_alone)
        if encounter.ran.application is Application.CANNOT:
            raise CannotDo(f"the client cannot do {scenario!r} (exit code 89)")
        return encounter

    def encounter(self, name: str, scenario: str, hostility: Hostility | None, run: Run) -> Encounter:
        """One task by a way of running it, once; its evidence goes under a name. Raises OSError, AgentError."""
        evidence = evidence_path(name)
        with Recording(self.folder / evidence, self.dialect) as recording:
            through = tapped(recording, Manners(self.reading, hostility))
            served = widest(entry_of(self.dialect).clients_of)
            # The server's patience is longer than the client's time: what ends is the client's doing.
            with ReferenceBroker(
                served,
                through=through,
                login_s=3 * self.limits.scenario_s,
                product=self.product or PRODUCT,
                forgave=recording.forgave if self.is_lenient else None,
                refused=recording.refused,
            ) as broker:
                ran = run(Task(broker.url, scenario, CONTEXT), self.limits, recording)
            recording.ran(ran)
        with self._lock:
            self.forgiven.update(name for talk in recording.talks for name in talk.forgiven)
        return Encounter([self.reading.conversation(talk) for talk in recording.talks], ran, evidence)


class Recording:
    """The connections of one process, in a transcript and in memory."""

    def __init__(self, path: Path, dialect: str) -> None:
        driver = driver_of(dialect)
        self.path, self.evidence = path, evidence_path(path.stem)
        self._transcript = Transcript(path, lambda way: driver.direction(dialect, _SWAPPED[way]))
        self._transcript.write("case", monotonic_ns(), id=path.stem, dialect=dialect, role="client")
        self.talks: list[Talk] = []
        self.connected_s: float | None = None
        self._open: dict[int, Talk] = {}

    @property
    def is_open(self) -> bool:
        """Whether a client still holds a connection open."""
        return bool(self._open)

    def began(self, talk: Talk) -> None:
        """A client has connected."""
        if self.connected_s is None:
            self.connected_s = monotonic_s()
        self.talks.append(talk)
        self._open[talk.number] = talk
        ends = {"local": talk.local, "remote": talk.remote}
        self._transcript.write("open", monotonic_ns(), conn=talk.number, **ends, tls=False)

    def octets(self, talk: Talk, sender: Side, at_ns: int, octets: bytes) -> None:
        """Octets have passed; the client is the target, so that what it says comes in."""
        self._transcript.octets(at_ns, talk.number, "in" if sender is Side.CLIENT else "out", octets)

    def ended(self, talk: Talk) -> None:
        """The client's side has ended."""
        self._open.pop(talk.number, None)
        self._transcript.write("end", monotonic_ns(), conn=talk.number, how=talk.ended)

    def forgave(self, remote: Address, deviation: str) -> None:
        """A lenient server tolerated something."""
        for talk in self._open_of(remote):
            if deviation not in talk.forgiven:
                talk.forgiven.append(deviation)
                self._note(talk, f"forgiven: {deviation}")

    def refused(self, remote: Address, reason: str) -> None:
        """The server refused a client without telling it why."""
        for talk in self._open_of(remote):
            talk.refused = reason
            self._note(talk, f"refused without a reason on the wire: {reason}")

    def _open_of(self, remote: Address) -> list[Talk]:
        return [talk for talk in tuple(self._open.values()) if talk.remote == remote]

    def _note(self, talk: Talk, text: str) -> None:
        self._transcript.write("note", monotonic_ns(), conn=talk.number, text=text)

    def lost(self, talk: Talk) -> None:
        """Nothing more passes."""
        self._open.pop(talk.number, None)

    def ran(self, ran: Ran) -> None:
        """The process is gone."""
        data = {"application": str(ran.application), "exit_code": ran.exit_code, "events": list(ran.events)}
        self._transcript.write("agent", monotonic_ns(), **data, said=ran.said)

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the transcript."""
        self._transcript.close()


@dataclass(frozen=True, slots=True)
class Client:
    """What one case works with."""

    arena: Meets
    case_id: str
    requirements: tuple[Requirement, ...]
    met: list[Encounter] = field(default_factory=list)

    def in_turn(self, *scenarios: str) -> Iterator[Encounter]:
        """The client in scenarios on a clean server, each run on demand.

        Scenarios that the client cannot do are left out; raises CannotDo at the end if it can do none.
        """
        cannot: CannotDo | None = None
        found: list[Encounter] = []
        for scenario in scenarios:
            try:
                met = self.arena.clean(scenario)
            except CannotDo as why:
                cannot = why
                continue
            if not any(met is known for known in found):
                found.append(met)
                self.met.append(met)
                yield met
        if not found and cannot is not None:
            raise cannot

    def against(self, hostility: Hostility, scenario: str) -> Encounter:
        """The client in a scenario on a hostile server; raises CannotDo."""
        encounter = self.arena.meet(self.case_id, scenario, hostility)
        self.met.append(encounter)
        return encounter
