"""One input again, by its id or by its octets, and what every oracle says of it.

Knows: how an input is named, one check of a target. Must not know: campaigns, findings, files.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from amqpspec.fuzz.executor.result import InputResult
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.executor.tempo import Tempo
from amqpspec.fuzz.grammar import grammar_hash
from amqpspec.fuzz.inputs.catalogue import resolve
from amqpspec.fuzz.inputs.corpus import entries_in
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import RANDOM, IdError, InputId
from amqpspec.fuzz.oracles.monitor import Monitor
from amqpspec.fuzz.oracles.suspicion import Oracle, Suspicion
from amqpspec.fuzz.states.ways import states

_ROLE = "given"
_SETTLE_S = 0.5
_OF_A_FRESH_PROCESS = frozenset({Oracle.MEMORY, Oracle.CPU})
"""What grew once may have room from then on: only a process that has just begun tells."""


@dataclass(frozen=True, slots=True)
class Look:
    """The result of an input, and who complains."""

    result: InputResult
    complaints: tuple[Suspicion, ...]


def given(dialect: str, state: str, text: str) -> FuzzInput:
    """The input that is written in hex, steps separated by commas; raises IdError."""
    if state not in states(dialect):
        raise IdError(f"--state: expected one of {', '.join(states(dialect))}, actual {state!r}")
    try:
        steps = tuple(bytes.fromhex(step) for step in text.split(","))
    except ValueError as error:
        raise IdError(f"octets: expected hex digits, steps separated by commas, actual: {error}") from error
    if not any(steps):
        raise IdError("octets: expected at least one, actual: none")
    return FuzzInput(InputId(grammar_hash(dialect), RANDOM, _ROLE, state, 0, 0), dialect, state, steps, "")


def named(dialect: str, text: str, campaign: Path | None = None) -> FuzzInput:
    """The input that an id names, of the dialect that the target speaks; raises IdError.

    ``campaign`` is the folder with the corpus that the id may name.
    """
    id = InputId.parse(text)
    item = resolve(id, entries_in(campaign, id.role) if campaign is not None else None)
    if item.dialect != dialect:
        raise IdError(f"input id: expected one of {dialect}, which the target speaks, actual {item.dialect}")
    return item


def look(subject: Subject, item: FuzzInput, oracles: Collection[Oracle]) -> Look:
    """Send an input once and ask these oracles; raises Unanswered if the target is not there."""
    if set(oracles) <= _OF_A_FRESH_PROCESS:
        subject.renew()
    tempo = Tempo.of(subject.round_trip_s(), subject.patience, subject.hang_s).patient
    monitor = Monitor(subject, without=frozenset(Oracle) - frozenset(oracles))
    executor = subject.executor(tempo)
    try:
        monitor.before()
        (result,) = executor.run([item])
        check = monitor.after([result], settle_s=_SETTLE_S)
    finally:
        executor.close()
        monitor.close()
    return Look(result, tuple(s for s in check.suspicions if s.oracle in oracles))
