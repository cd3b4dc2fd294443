from __future__ import annotations

import gc
import os
import socket
from collections.abc import Generator, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from amqpspec.reference.server import ReferenceBroker
from tests.environment import neutralise
from tests.reports.browser import Browser, find_browser
from tests.sharing import SHARED, place, scheduler, shares

neutralise(os.environ)
# How long an example takes is the machine's affair, the more so with other tests beside it.
settings.register_profile("tests", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("few", settings.get_profile("tests"), max_examples=15)
settings.load_profile("tests")

LIMIT_S = 600
"""No test waits longer than that, whatever it waits for; ``timeout`` says where one needs another bound."""


def pytest_configure(config: pytest.Config) -> None:
    """Real brokers live for minutes here: Java's second compiler would take a fifth of all processor time."""
    if config.option.markexpr == "broker":
        os.environ["JDK_JAVA_OPTIONS"] = "-XX:TieredStopAtLevel=1"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Each test gets its bound; one that uses what others share stands in a file that is known for it.

    One of several workers knows the long tests first.
    """
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: place(item.nodeid))
    for item in items:
        if item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(LIMIT_S))
        strangers = {*SHARED} & {*getattr(item, "fixturenames", ())} - {shares(item.nodeid)}
        if strangers:
            raise pytest.UsageError(f"{item.nodeid}: expected in tests/sharing.py for {strangers}")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays: to look for garbage among it would take a fourth of the collection."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Thousands of tests live until the end: the garbage collector need not look at them again and again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Which worker runs what: see ``tests.sharing``."""
    return scheduler(config, log)


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
