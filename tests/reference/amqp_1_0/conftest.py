from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from amqpspec.reference.server import ReferenceBroker
from tests.reference.amqp_1_0.talk import Talk, ready

Broken = Callable[..., ReferenceBroker]


@pytest.fixture
def broker() -> Iterator[ReferenceBroker]:
    with ReferenceBroker("amqp-1-0") as running:
        yield running


@pytest.fixture
def broken() -> Iterator[Broken]:
    """A broker with the faults that it is called with."""
    with ExitStack() as stack:
        yield lambda *faults: stack.enter_context(ReferenceBroker("amqp-1-0", faults=faults))


@pytest.fixture
def talk(broker: ReferenceBroker) -> Iterator[Talk]:
    with ready(broker.url) as connected:
        yield connected


@pytest.fixture
def other(broker: ReferenceBroker) -> Iterator[Talk]:
    with ready(broker.url, container_id="other") as connected:
        yield connected
