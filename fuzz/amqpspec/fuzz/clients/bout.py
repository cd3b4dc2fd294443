"""One input against one agent: the server's frames are bent at a place, then the server ends the connection.

Knows: agents, places, what may be complained of. Must not know: which input comes next, which input to blame. After
the input the server continues correctly for a moment, then it ends: no client has a reason to wait any longer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from amqpspec.fuzz.clients.part import fitted, server_places
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.oracles.log import complaints
from amqpspec.fuzz.oracles.suspicion import Oracle, Suspicion
from amqpspec.run.clients.agent import AgentError, Application, Ran, Runner
from amqpspec.run.clients.client import Arena, Encounter, Run
from amqpspec.wire.hostility import Act, Deed, Hostility

SETTLE_S = 0.2
_FATAL = ("go:", "native:", "sanitizer:")
_OUT_OF_MEMORY = ("OutOfMemoryError", "MemoryError", "out of memory", "bad_alloc")
_BY_APPLICATION = {
    Application.CRASH: Oracle.CRASH,
    Application.HANG: Oracle.HANG,
    Application.MEMORY: Oracle.MEMORY,
}


@dataclass(frozen=True, slots=True)
class Met:
    """The result of an input: a suspicion, if any; whether the client reached the place at all."""

    item: FuzzInput
    encounter: Encounter
    reached: bool
    suspicion: Suspicion | None

    @property
    def is_shared(self) -> bool:
        """Whether the agent's process had met other inputs before."""
        return self.encounter.ran.is_shared


@dataclass(frozen=True, slots=True)
class Ring:
    """Where agents meet inputs; ``cpu_s`` is how much processor time one task may take."""

    arena: Arena
    runner: Runner
    cpu_s: float

    def meet(self, item: FuzzInput, name: str, *, alone: bool = False) -> Met:
        """One input; raises AgentError."""
        place = server_places(item.dialect)[item.state]
        hostility = Hostility(place.after, _deed(item, in_place=place.in_place), ends_after_s=SETTLE_S)
        run = self.runner.run_alone if alone else self.runner.run
        met = self._encounter(name, place.scenario, hostility, run)
        reached = any(c.talk.hostile_ns is not None for c in met.conversations)
        return Met(item, met, reached, self._suspicion(met.ran, item) if reached else None)

    def scenario(self, scenario: str) -> Ran:
        """A scenario on a correct server."""
        return self._encounter("harmless", scenario, None, self.runner.run_alone).ran

    def _encounter(self, name: str, scenario: str, hostility: Hostility | None, run: Run) -> Encounter:
        try:
            return self.arena.encounter(name, scenario, hostility, run)
        except OSError as error:
            raise AgentError(f"{error.filename or 'the agent'}: {error.strerror or error}") from error

    def harmless(self, item: FuzzInput) -> Suspicion | None:
        """What there is to complain of at the same place without the input."""
        return self._suspicion(self.scenario(server_places(item.dialect)[item.state].scenario), item)

    def _suspicion(self, ran: Ran, item: FuzzInput) -> Suspicion | None:
        oracle, top = self._complaint(ran)
        if oracle is None:
            return None
        return Suspicion(oracle, top, f"{ran.describe()}\n{ran.said[-500:]}".strip(), (item.id,))

    def _complaint(self, ran: Ran) -> tuple[Oracle | None, str]:
        fatal = next((c.top for c in complaints(ran.said) if c.top.startswith(_FATAL)), "")
        told = " ".join((ran.said, *(str(event.get("text", "")) for event in ran.events)))
        if ran.application in _BY_APPLICATION:
            signal = f"signal {-ran.exit_code}" if ran.exit_code is not None and ran.exit_code < 0 else ""
            return _BY_APPLICATION[ran.application], fatal or signal or str(ran.application)
        if fatal and ran.exit_code:
            return Oracle.CRASH, fatal
        if any(words in told for words in _OUT_OF_MEMORY):
            return Oracle.MEMORY, "the runtime was out of memory"
        if ran.cpu_s > self.cpu_s:
            return Oracle.CPU, "processor time"
        return None, ""


def _deed(item: FuzzInput, *, in_place: bool) -> Deed:
    def deed(frame: bytes) -> Iterator[bytes | Act]:
        if not in_place:
            yield frame
        yield from (fitted(item.dialect, frame, step) for step in item.steps)

    return deed
