"""AMQP 1.0.

Knows: where each part is. Must not know: the contents of a part; none is imported before it is requested.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import amqpspec.spec
from amqpspec.spec.dialects import Entry

if TYPE_CHECKING:
    from collections.abc import Callable

    from amqpspec.fuzz.driver import FuzzDriver
    from amqpspec.reference.faults import AgentFaults, Faults
    from amqpspec.reference.server import Connect
    from amqpspec.run.clients.scenario import Agent
    from amqpspec.run.driver import Driver
    from amqpspec.spec.model import Dialect
    from amqpspec.wire.conversation import Reading
    from amqpspec.wire.layers import Layers

_FOLDER = Path(amqpspec.spec.__path__[0]) / "amqp_1_0"
_BEYOND = ("transport", "messaging", "transactions", "security", "extensions")


def _tables() -> Dialect:
    from amqpspec.spec.amqp_1_0 import DIALECT

    return DIALECT


def _driver() -> Driver:
    from amqpspec.run.amqp_1_0 import driver

    return driver


def _reference() -> Connect:
    from amqpspec.reference.amqp_1_0.inbox import Inbox

    return Inbox


def _faults() -> Faults:
    from amqpspec.reference.amqp_1_0.faults import DIALECT_FAULTS

    return DIALECT_FAULTS


def _layers() -> Callable[[str], Layers]:
    from amqpspec.wire.amqp_1_0.scapy_layers import layers_for

    return layers_for


def _fuzzing() -> type[FuzzDriver]:
    from amqpspec.fuzz.amqp_1_0.driver import Amqp10Driver

    return Amqp10Driver


def _suite() -> ModuleType:
    from amqpspec.suites import amqp_1_0

    return amqp_1_0


def _client_suite() -> ModuleType:
    from amqpspec.suites import clients_1_0

    return clients_1_0


def _reading() -> Reading:
    from amqpspec.wire.amqp_1_0.conversations import TypedReading

    return TypedReading()


def _agent_faults() -> AgentFaults:
    from amqpspec.run.amqp_1_0.agent import AGENT_FAULTS

    return AGENT_FAULTS


def _agent() -> Agent:
    from amqpspec.run.amqp_1_0.agent import run_scenario

    return run_scenario


AMQP_1_0 = Entry(
    id="amqp-1-0",
    tables=_tables,
    ledger=_FOLDER / "requirements.yaml",
    beyond=tuple(_FOLDER / f"requirements_{part}.yaml" for part in _BEYOND),
    driver=_driver,
    reference=_reference,
    faults=_faults,
    layers=_layers,
    suite=_suite,
    fuzzing=_fuzzing,
)
CLIENTS_1_0 = replace(
    AMQP_1_0,
    id="amqp-1-0-clients",
    clients_of="amqp-1-0",
    finished=False,
    ledger=_FOLDER / "clients.yaml",
    beyond=(),
    suite=_client_suite,
    reading=_reading,
    agent=_agent,
    faults=_agent_faults,
    fuzzing=None,
)
