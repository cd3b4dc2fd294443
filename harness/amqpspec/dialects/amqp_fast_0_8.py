"""AMQP/Fast 0.8d6.

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


def _tables() -> Dialect:
    from amqpspec.spec.amqp_fast_0_8 import DIALECT

    return DIALECT


def _driver() -> Driver:
    from amqpspec.run.amqp_fast_0_8 import driver

    return driver


def _reference() -> Connect:
    from amqpspec.reference.amqp_fast_0_8.inbox import Inbox

    return Inbox


def _faults() -> Faults:
    from amqpspec.reference.amqp_fast_0_8.faults import DIALECT_FAULTS

    return DIALECT_FAULTS


def _layers() -> Callable[[str], Layers]:
    from amqpspec.wire.amqp_fast_0_8.scapy_layers import layers_for

    return layers_for


def _fuzzing() -> type[FuzzDriver]:
    from amqpspec.fuzz.amqp_fast_0_8.driver import AmqpFastDriver

    return AmqpFastDriver


def _suite() -> ModuleType:
    from amqpspec.suites import amqp_fast_0_8

    return amqp_fast_0_8


def _client_suite() -> ModuleType:
    from amqpspec.suites import clients_fast_0_8

    return clients_fast_0_8


def _reading() -> Reading:
    from amqpspec.wire.amqp_fast_0_8.conversations import CommandReading

    return CommandReading()


def _agent_faults() -> AgentFaults:
    from amqpspec.run.amqp_fast_0_8.agent import AGENT_FAULTS

    return AGENT_FAULTS


def _agent() -> Agent:
    from amqpspec.run.amqp_fast_0_8.agent import run_scenario

    return run_scenario


AMQP_FAST_0_8 = Entry(
    id="amqp-fast-0-8",
    tables=_tables,
    ledger=Path(amqpspec.spec.__path__[0]) / "amqp_fast_0_8" / "requirements.yaml",
    driver=_driver,
    reference=_reference,
    faults=_faults,
    layers=_layers,
    dissected=False,
    suite=_suite,
    fuzzing=_fuzzing,
)
CLIENTS_FAST_0_8 = replace(
    AMQP_FAST_0_8,
    id="amqp-fast-0-8-clients",
    clients_of="amqp-fast-0-8",
    finished=False,
    ledger=Path(amqpspec.spec.__path__[0]) / "amqp_fast_0_8" / "clients.yaml",
    suite=_client_suite,
    reading=_reading,
    agent=_agent,
    faults=_agent_faults,
    fuzzing=None,
)
