"""The 9.1 wire draft with its 8-octet frame header, and AMQP 0-8, in which brokers in use answer its protocol header.

Knows: where each part is. Must not know: the contents of a part; none is imported before it is requested.
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
    from amqpspec.reference.faults import AgentFaults, Faults
    from amqpspec.run.clients.scenario import Agent
    from amqpspec.spec.model import Dialect
    from amqpspec.wire.conversation import Reading


def _tables() -> Dialect:
    from amqpspec.spec.amqp_wire_9_1 import DIALECT

    return DIALECT


def _deployed() -> Dialect:
    from amqpspec.spec.amqp_0_8 import DIALECT

    return DIALECT


def _faults() -> Faults:
    from amqpspec.reference.methods.amqp_wire_9_1 import DIALECT_FAULTS

    return DIALECT_FAULTS


def _fuzzing() -> type[FuzzDriver]:
    from amqpspec.fuzz.methods.amqp_wire_9_1 import AmqpWire91Driver

    return AmqpWire91Driver


def _suite() -> ModuleType:
    from amqpspec.suites import amqp_wire_9_1

    return amqp_wire_9_1


def _client_suite() -> ModuleType:
    from amqpspec.suites import clients_wire_9_1

    return clients_wire_9_1


def _reading() -> Reading:
    from amqpspec.wire.methods.conversations import MethodReading

    return MethodReading("amqp-wire-9-1")


def _agent_faults() -> AgentFaults:
    from amqpspec.run.methods.agent_wire_9_1 import AGENT_FAULTS

    return AGENT_FAULTS


def _agent() -> Agent:
    from amqpspec.run.methods.agent_wire_9_1 import run_scenario

    return run_scenario


AMQP_WIRE_9_1 = Entry(
    id="amqp-wire-9-1",
    tables=_tables,
    ledger=Path(amqpspec.spec.__path__[0]) / "amqp_wire_9_1" / "requirements.yaml",
    deployed_as="amqp-0-8",
    parts=("cycle-header",),
    driver=methods.driver,
    reference=methods.reference,
    faults=_faults,
    layers=methods.layers,
    suite=_suite,
    fuzzing=_fuzzing,
)
AMQP_0_8 = replace(
    AMQP_WIRE_9_1,
    id="amqp-0-8",
    tables=_deployed,
    ledger=None,
    judged_as="amqp-wire-9-1",
    deployed_as="",
    parts=(),
    suite=None,
)
CLIENTS_WIRE_9_1 = replace(
    AMQP_WIRE_9_1,
    id="amqp-wire-9-1-clients",
    clients_of="amqp-wire-9-1",
    finished=False,
    ledger=Path(amqpspec.spec.__path__[0]) / "amqp_wire_9_1" / "clients.yaml",
    deployed_as="",
    parts=(),
    suite=_client_suite,
    reading=_reading,
    agent=_agent,
    faults=_agent_faults,
    fuzzing=None,
)
