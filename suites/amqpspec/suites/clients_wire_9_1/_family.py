"""What this suite takes from that of 0-9-1: cases of conduct and hostile servers, judged by the draft's own rows.

Knows: cases, provocations, which row rules here. Must not know: what a case judges.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import partial
from types import ModuleType
from typing import Any

from amqpspec.run.case import cases_of
from amqpspec.run.case import declare as declare_case
from amqpspec.run.clients.judging import answers_violation
from amqpspec.run.clients.provoking import Oracle, Provocation, declare
from amqpspec.run.methods.agent_wire_9_1 import row_of
from amqpspec.suites.clients_0_9_1._judging import LEAVING, refusal_by
from amqpspec.suites.clients_0_9_1._octets import Octets
from amqpspec.suites.clients_wire_9_1 import DIALECT

OCTETS = Octets("amqp-wire-9-1")


def borrow(where: dict[str, Any], module: ModuleType, without: Collection[str] = ()) -> None:
    """Declare the cases of a module of the 0-9-1 suite in a module of this one, except those with these ids."""
    for known in cases_of(module):
        if known.id not in without:
            rows = [row_of(row) for row in known.covers]
            declare_case(where, known.body, known.id, rows, slow=known.slow)


def hostile(
    where: dict[str, Any], *groups: Iterable[Provocation], oracle: Oracle = answers_violation
) -> None:
    """Declare cases of hostile servers in a module; their rows may be those of 0-9-1."""
    for provocation in (one for group in groups for one in group):
        reading = partial(refusal_by, leaving=provocation.row in LEAVING)
        ruled = replace(provocation, row=row_of(provocation.row))
        declare(where, DIALECT, OCTETS.dialect_id, ruled, reading, oracle)
