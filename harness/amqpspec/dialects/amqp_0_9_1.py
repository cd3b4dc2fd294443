"""AMQP 0-9-1, and the overlay of what RabbitMQ adds to it.

Knows: where each part stands. Must not know: what a part holds; none is imported before it is asked for.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import amqpspec.spec
from amqpspec.dialects import methods
from amqpspec.spec.dialects import Entry

if TYPE_CHECKING:
    from amqpspec.fuzz.driver import FuzzDriver
    from amqpspec.reference.faults import Faults
    from amqpspec.spec.model import Dialect


def _tables() -> Dialect:
    from amqpspec.spec.amqp_0_9_1 import DIALECT

    return DIALECT


def _rabbitmq() -> Dialect:
    from amqpspec.spec.rabbitmq_0_9_1 import DIALECT

    return DIALECT


def _faults() -> Faults:
    from amqpspec.reference.methods.amqp_0_9_1 import DIALECT_FAULTS

    return DIALECT_FAULTS


def _fuzzing() -> type[FuzzDriver]:
    from amqpspec.fuzz.methods.amqp_0_9_1 import Amqp091Driver

    return Amqp091Driver


def _suite() -> ModuleType:
    from amqpspec.suites import amqp_0_9_1

    return amqp_0_9_1


AMQP_0_9_1 = Entry(
    id="amqp-0-9-1",
    tables=_tables,
    ledger=Path(amqpspec.spec.__path__[0]) / "amqp_0_9_1" / "requirements.yaml",
    spoken_as="rabbitmq-0-9-1",
    driver=methods.driver,
    reference=methods.reference,
    faults=_faults,
    layers=methods.layers,
    suite=_suite,
    fuzzing=_fuzzing,
)
RABBITMQ_0_9_1 = replace(
    AMQP_0_9_1, id="rabbitmq-0-9-1", tables=_rabbitmq, ledger=None, judged_as="amqp-0-9-1", suite=None
)
