"""AMQP 0-10.

Knows: where each part stands. Must not know: what a part holds; none is imported before it is asked for.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import amqpspec.spec
from amqpspec.spec.dialects import Entry

if TYPE_CHECKING:
    from collections.abc import Callable

    from amqpspec.fuzz.driver import FuzzDriver
    from amqpspec.reference.faults import Faults
    from amqpspec.reference.server import Connect
    from amqpspec.run.driver import Driver
    from amqpspec.spec.model import Dialect
    from amqpspec.wire.layers import Layers


def _tables() -> Dialect:
    from amqpspec.spec.amqp_0_10 import DIALECT

    return DIALECT


def _driver() -> Driver:
    from amqpspec.run.amqp_0_10 import driver

    return driver


def _reference() -> Connect:
    from amqpspec.reference.amqp_0_10.inbox import connect

    return connect


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


AMQP_0_10 = Entry(
    id="amqp-0-10",
    tables=_tables,
    ledger=Path(amqpspec.spec.__path__[0]) / "amqp_0_10" / "requirements.yaml",
    finished=False,
    driver=_driver,
    reference=_reference,
    faults=_faults,
    layers=_layers,
    suite=_suite,
    fuzzing=_fuzzing,
)
