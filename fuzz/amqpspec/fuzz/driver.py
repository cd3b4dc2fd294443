"""Everything that the fuzzer asks of a dialect, in one protocol: each room states its part.

Knows: the parts. Must not know: any dialect.

A driver extends ``FuzzDriver`` and is made with a dialect's id; ``fuzzing`` in the dialect's entry gives its class. It
has to say ``productions``, ``states``, ``octets_of``, ``decoder`` and ``sentinel_state``; all other questions have an
answer already, which is that of a dialect with nothing to say.
"""

from __future__ import annotations

from typing import Protocol, cast

from amqpspec.fuzz.clients.part import ClientsPart
from amqpspec.fuzz.executor.part import ExecutorPart
from amqpspec.fuzz.families.part import FamiliesPart
from amqpspec.fuzz.grammar import GrammarPart
from amqpspec.fuzz.inputs.part import InputsPart
from amqpspec.fuzz.interop.part import InteropPart
from amqpspec.fuzz.judge.judge import JudgePart
from amqpspec.fuzz.oracles.part import OraclesPart
from amqpspec.fuzz.parts import loaded_driver
from amqpspec.fuzz.selftest.part import SelftestPart
from amqpspec.fuzz.sequences.part import SequencesPart
from amqpspec.fuzz.states.part import StatesPart
from amqpspec.fuzz.triage.part import TriagePart


class FuzzDriver(
    GrammarPart,
    StatesPart,
    JudgePart,
    FamiliesPart,
    InputsPart,
    ExecutorPart,
    OraclesPart,
    TriagePart,
    InteropPart,
    SelftestPart,
    ClientsPart,
    SequencesPart,
    Protocol,
):
    """A dialect, as the fuzzer knows it."""


def fuzz_driver(dialect_id: str) -> FuzzDriver:
    """The driver of a dialect; raises UnknownDialectError if it has none."""
    return cast(FuzzDriver, loaded_driver(dialect_id))
