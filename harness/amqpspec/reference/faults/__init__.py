"""Faults: the ways in which a reference broker can be told to deviate, each tied to the requirements it breaks.

Knows: names, what they break, one sentence each. Must not know: how a fault is acted out.

Two kinds. A refusal goes through ``refuse("rule/id", text)`` at the spot; with the rule listed in
``refusals.REFUSALS``, ``not-refused:RULE``, ``wrong-code:RULE`` and ``wrong-scope:RULE`` exist by themselves (where
the ledger leaves room for them to be wrong). Everything else is a behaviour; to add one takes two affairs::

    # 1. in the module of the class, e.g. faults/queue.py: name, what it breaks, what it does
    Fault("purge-drops-unacked", ("queue/purge/unacknowledged",), "purge drops messages that await an acknowledgement"),

    # 2. at the spot, beside the line that is right
    if self.faulty("purge-drops-unacked"):
        ...

Dialects of one family share their handlers, hence the spots: a fault of 0-9-1 that another ledger can tell, too, stands
in the module of that dialect again, with the rows that it breaks there (``wire_9_1``), and what the handlers refuse by
a row of 0-9-1 is refused by the row of the own ledger (``rules_wire_9_1``).

A test holds the two together: every declared name is consulted somewhere, every consulted name is declared, and
every requirement named here exists.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from types import MappingProxyType

from amqpspec.reference.faults import (
    basic,
    channel,
    confirm,
    connection,
    exchange,
    framing,
    queue,
    tx,
    wire_9_1,
)
from amqpspec.reference.faults.amqp_1_0 import connections, links, sessions, transfers, version
from amqpspec.reference.faults.amqp_1_0 import framing as framing_1_0
from amqpspec.reference.faults.fault import Fault
from amqpspec.reference.faults.refusals import refusal_faults
from amqpspec.spec.dialects import judged_as

__all__ = ["Fault", "UnknownFaultError", "all_faults", "behaviours", "check_faults"]

_BEHAVIOURS = {
    "amqp-0-9-1": (framing, connection, channel, exchange, queue, basic, tx, confirm),
    "amqp-wire-9-1": (wire_9_1,),
    "amqp-1-0": (version, framing_1_0, connections, sessions, links, transfers),
}


class UnknownFaultError(ValueError):
    """A fault was asked for that does not exist."""


@cache
def behaviours(dialect_id: str = "amqp-0-9-1") -> Mapping[str, Fault]:
    """The faults that are acted out at one spot each, by name."""
    modules = _BEHAVIOURS[judged_as(dialect_id)]
    return MappingProxyType({fault.name: fault for module in modules for fault in module.FAULTS})


@cache
def all_faults(dialect_id: str = "amqp-0-9-1") -> Mapping[str, Fault]:
    """Every fault of a dialect's broker, by name."""
    refusals = {fault.name: fault for fault in refusal_faults(judged_as(dialect_id))}
    return MappingProxyType({**behaviours(dialect_id), **refusals})


def check_faults(names: Collection[str], dialect_id: str = "amqp-0-9-1") -> frozenset[str]:
    """The names as a set; raises UnknownFaultError for one that is not a fault."""
    if names and (unknown := sorted(set(names) - set(all_faults(dialect_id)))):
        raise UnknownFaultError(f"{dialect_id}: expected the name of a fault, actual {unknown[0]!r}")
    return frozenset(names)
