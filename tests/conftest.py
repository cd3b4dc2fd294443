from __future__ import annotations

import os
import socket
from collections.abc import Iterator

import pytest
from hypothesis import settings

from amqpspec.reference.server import ReferenceBroker
from tests.environment import neutralise
from tests.reports.browser import Browser, find_browser

neutralise(os.environ)
# How long an example takes is the machine's affair, the more so with other tests beside it.
settings.register_profile("tests", deadline=None)
settings.load_profile("tests")

LIMIT_S = 600
"""No test waits longer than that, whatever it waits for; ``timeout`` says where one needs another bound."""
_ONE_WORKER = {"spark": "spark", "browser": "browser", "amqplib": "npm", "rhea": "npm", "wheel": "wheel"}
"""Fixtures that are made once and cost much, and the group of their tests: pytest-xdist keeps a group together."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Each test gets its bound, and its place beside those that share what is dear."""
    for item in items:
        if item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(LIMIT_S))
        group = _group(item)
        if group and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(group))


def _group(item: pytest.Item) -> str | None:
    used = getattr(item, "fixturenames", ())
    return next((group for fixture, group in _ONE_WORKER.items() if fixture in used), None)


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
