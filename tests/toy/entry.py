"""All that the tree knows of Echo, and how a test tells it for a while."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from amqpspec.spec import dialects
from amqpspec.spec.dialects import Entry, register

if TYPE_CHECKING:
    from amqpspec.fuzz.driver import FuzzDriver
    from amqpspec.reference.faults import Faults
    from amqpspec.reference.server import Connect
    from amqpspec.run.driver import Driver
    from amqpspec.spec.model import Dialect
    from amqpspec.wire.layers import Layers


def _tables() -> Dialect:
    from tests.toy.tables import DIALECT

    return DIALECT


def _driver() -> Driver:
    from tests.toy import driver

    return driver


def _reference() -> Connect:
    from tests.toy.broker import Connection

    return Connection


def _faults() -> Faults:
    from tests.toy.broker import FAULTS

    return FAULTS


def _suite() -> ModuleType:
    from tests.toy import suite

    return suite


def _fuzzing() -> type[FuzzDriver]:
    from tests.toy.fuzzing import EchoDriver

    return EchoDriver


def _layers() -> Callable[[str], Layers]:
    from tests.toy.layers import layers_for

    return layers_for


ENTRY = Entry(
    id="echo-1",
    tables=_tables,
    ledger=Path(__file__).with_name("requirements.yaml"),
    driver=_driver,
    reference=_reference,
    faults=_faults,
    suite=_suite,
    layers=_layers,
    fuzzing=_fuzzing,
)


@contextmanager
def registered(entry: Entry = ENTRY) -> Iterator[Entry]:
    """The entry is known within the block."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dialects, "_known", dict(dialects.entries()))
        register(entry)
        yield entry
    register()
