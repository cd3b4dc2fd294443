"""Faults: named deviations that a reference broker shows on request, each tied to the requirements that it violates.

Knows: the declaration of a dialect, and how a fault is found by name. Must not know: any dialect, or any fault.

Two kinds. A refusal goes through ``refuse("rule/id", text)`` at the spot; its three faults exist by themselves
(``refusals``). Everything else is a behaviour, declared by the module that acts it out (``fault``). A test holds
declaration and spot together: every declared name is consulted in its module, every consulted name is declared, and
every requirement named exists. The registry of dialects knows which ``Faults`` are a dialect's.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import cast

from amqpspec.reference.fault import Fault
from amqpspec.reference.refusals import RefusalRules
from amqpspec.spec.dialects import part_of

__all__ = ["Fault", "Faults", "UnknownFaultError", "all_faults", "check_faults", "faults_of"]


class UnknownFaultError(ValueError):
    """The requested fault does not exist."""


@dataclass(frozen=True)
class AgentFaults:
    """The mistakes of one dialect's reference agent."""

    acted_out: tuple[Fault, ...]

    @cached_property
    def by_name(self) -> Mapping[str, Fault]:
        """Every mistake by name."""
        return MappingProxyType({fault.name: fault for fault in self.acted_out})


@dataclass(frozen=True)
class Faults:
    """The faults of one dialect's broker: behaviours, and those of its refusals."""

    acted_out: tuple[Fault, ...]
    refusals: RefusalRules

    @cached_property
    def behaviours(self) -> Mapping[str, Fault]:
        """The faults of behaviours, by name."""
        return MappingProxyType({fault.name: fault for fault in self.acted_out})

    @cached_property
    def by_name(self) -> Mapping[str, Fault]:
        """Every fault by name."""
        refusals = {fault.name: fault for fault in self.refusals.faults()}
        return MappingProxyType({**self.behaviours, **refusals})


def faults_of(dialect_id: str) -> Faults:
    """The declaration of a dialect; raises UnknownDialectError."""
    return cast(Faults, part_of(dialect_id, "faults"))


def all_faults(dialect_id: str) -> Mapping[str, Fault]:
    """Every fault of a dialect's reference broker or agent, by name."""
    return cast(AgentFaults | Faults, part_of(dialect_id, "faults")).by_name


def check_faults(names: Collection[str], dialect_id: str) -> frozenset[str]:
    """The names as a set; raises UnknownFaultError for one that is not a fault."""
    if names and (unknown := sorted(set(names) - set(all_faults(dialect_id)))):
        raise UnknownFaultError(f"{dialect_id}: expected the name of a fault, actual {unknown[0]!r}")
    return frozenset(names)
