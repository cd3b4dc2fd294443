"""Qpid's JMS client against Broker-J in each dialect of its port: what our brokers are measured by works there."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from amqpspec.target.known import KnownBroker
from tests.reference.jms import SAID, converse
from tests.target.test_known_real import in_service

pytestmark = [pytest.mark.broker, pytest.mark.timeout(300)]


@pytest.fixture(scope="module", params=["qpid-broker-j"])
def broker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnownBroker]:
    yield from in_service(request.param, tmp_path_factory.mktemp(request.param))


def test_it_sends_acknowledges_and_commits_in_four_dialects(broker: KnownBroker) -> None:
    url = urlsplit(broker.start().url)
    for version in ("0-10", "0-9-1", "0-9", "0-8"):
        said, complaints = converse(version, str(url.hostname), url.port or 0)
        assert said == SAID, f"{version}: {complaints}"
