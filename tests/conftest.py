from __future__ import annotations

import os
import socket
from collections.abc import Iterator

import pytest

from amqpspec.reference.server import ReferenceBroker
from tests.environment import neutralise
from tests.reports.browser import Browser, find_browser

neutralise(os.environ)


@pytest.fixture
def reference() -> Iterator[ReferenceBroker]:
    with ReferenceBroker("rabbitmq-0-9-1") as broker:
        yield broker


@pytest.fixture
def ipv6() -> None:
    """A loopback of IPv6; where this machine has none, the test is skipped."""
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError as error:
        pytest.skip(f"this machine has no IPv6 loopback: {error}")


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all tests that need it."""
    program = find_browser()
    if program is None:
        pytest.skip("no Chromium on this machine")
    chromium = Browser(program, tmp_path_factory.mktemp("chromium") / "profile")
    yield chromium
    chromium.close()
