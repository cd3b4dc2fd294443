from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from amqpspec.reference.model import Queue, VirtualHost
from amqpspec.reference.server import ReferenceBroker
from tests.reference.octets import DIALECT, PAUSE_S, Connect, Octets
from tests.reference.talk import Talk, ready

Broken = Callable[..., ReferenceBroker]


@pytest.fixture
def broker() -> Iterator[ReferenceBroker]:
    with ReferenceBroker() as running:
        yield running


@pytest.fixture
def broken() -> Iterator[Broken]:
    """A broker with the faults that it is called with."""
    with ExitStack() as stack:
        yield lambda *faults: stack.enter_context(ReferenceBroker(faults=faults))


@pytest.fixture
def talk(broker: ReferenceBroker) -> Iterator[Talk]:
    with ready(broker.url) as connected:
        yield connected


@pytest.fixture
def other(broker: ReferenceBroker) -> Iterator[Talk]:
    with ready(broker.url) as connected:
        yield connected


@pytest.fixture
def vhost() -> VirtualHost:
    return VirtualHost("/")


@pytest.fixture
def queue(vhost: VirtualHost) -> Queue:
    return vhost.declare_queue("q")


@pytest.fixture
def connect() -> Iterator[Connect]:
    """A client of a broker with the faults that it is called with."""
    with ExitStack() as stack:

        def connected(*faults: str, dialect: str = DIALECT) -> Octets:
            broker = stack.enter_context(ReferenceBroker(dialect, faults, handshake_pause_s=PAUSE_S))
            client = Octets(broker)
            stack.callback(client.socket.close)
            return client

        yield connected


@pytest.fixture
def octets(connect: Connect) -> Octets:
    return connect().opens()
