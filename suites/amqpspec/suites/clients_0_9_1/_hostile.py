"""Hostile servers of AMQP 0-9-1: which octets they send, and by which rows answers to them are judged.

Knows: the dialect in which clients are served. Must not know: what a server does.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from amqpspec.run.clients.provoking import Provocation, declare
from amqpspec.suites.clients_0_9_1 import DIALECT
from amqpspec.suites.clients_0_9_1._judging import LEAVING, refusal_by
from amqpspec.suites.clients_0_9_1._octets import Octets

OCTETS = Octets("rabbitmq-0-9-1")


def hostile(where: dict[str, Any], *groups: Iterable[Provocation]) -> None:
    """Declare cases in a module."""
    for provocation in (one for group in groups for one in group):
        reading = partial(refusal_by, leaving=provocation.row in LEAVING)
        declare(where, DIALECT, OCTETS.dialect_id, provocation, reading)
