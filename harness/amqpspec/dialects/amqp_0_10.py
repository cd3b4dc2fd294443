"""AMQP 0-10.

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

_FOLDER = Path(amqpspec.spec.__path__[0]) / "amqp_0_10"


def _tables() -> Dialect:
    from amqpspec.spec.amqp_0_10 import DIALECT

    return DIALECT


def _driver() -> Driver:
    from amqpspec.run.amqp_0_10 import driver

    return driver


def _reference() -> Connect:
    from amqpspec.reference.amqp_0_10.inbox import Inbox

    return Inbox


def _faults() -> Faults:
    from amqpspec.reference.amqp_0_10.faults import DIALECT_FAULTS

    return DIALECT_FAULTS


def _layers() -> Callable[[str], Layers]:
    from amqpspec.wire.amqp_0_10.scapy_layers import layers_for

    return layers_for


def _fuzzing() -> type[FuzzDriver]:
    from amqpspec.fuzz.amqp_0_10.driver import Amqp010Driver

    return Amqp010Driver


def _suite() -> ModuleType:
    from amqpspec.suites import amqp_0_10

    return amqp_0_10


def _client_suite() -> ModuleType:
    from amqpspec.suites import clients_0_10

    return clients_0_10


def _reading() -> Reading:
    from amqpspec.wire.amqp_0_10.conversations import AssemblyReading

    return AssemblyReading()


def _agent_faults() -> AgentFaults:
    from amqpspec.run.amqp_0_10.agent import AGENT_FAULTS

    return AGENT_FAULTS


def _agent() -> Agent:
    from amqpspec.run.amqp_0_10.agent import run_scenario

    return run_scenario


AMQP_0_10 = Entry(
    id="amqp-0-10",
    tables=_tables,
    ledger=_FOLDER / "requirements.yaml",
    driver=_driver,
    reference=_reference,
    faults=_faults,
    layers=_layers,
    suite=_suite,
    fuzzing=_fuzzing,
)
CLIENTS_0_10 = replace(
    AMQP_0_10,
    id="amqp-0-10-clients",
    clients_of="amqp-0-10",
    finished=False,
    ledger=_FOLDER / "clients.yaml",
    suite=_client_suite,
    reading=_reading,
    agent=_agent,
    faults=_agent_faults,
    fuzzing=None,
)
