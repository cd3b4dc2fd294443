"""Someone else's client of several dialects, qpid's for JMS, against our reference brokers.

Where the client breaks a rule, the broker tolerates that by name: start-ok of 0-9-1 holds the whole list of
locales, that of 0-10 none.
"""

from __future__ import annotations

import pytest

from amqpspec.reference.server import ReferenceBroker
from tests.reference.jms import SAID, converse

LOCALE = "not-refused:connection/start-ok/locale"
pytestmark = pytest.mark.timeout(300)


@pytest.mark.parametrize(
    ("dialect", "version", "vhost"), [("amqp-0-10", "0-10", "/"), ("amqp-0-9-1", "0-9-1", "")]
)
def test_it_sends_acknowledges_and_commits(dialect: str, version: str, vhost: str) -> None:
    with ReferenceBroker(dialect, faults=(LOCALE,)) as broker:
        said, complaints = converse(version, broker.host, broker.port, vhost)
    assert said == SAID, complaints


def test_in_0_10_a_clean_broker_refuses_a_client_without_a_locale() -> None:
    with ReferenceBroker("amqp-0-10") as broker:
        said, complaints = converse("0-10", broker.host, broker.port, "/")
    assert (said, "connect() aborted" in complaints) == ([], True), complaints


def test_in_0_8_it_gets_as_far_as_to_a_field_that_0_8_does_not_have() -> None:
    """Login, channel, queue and binding pass; basic.consume comes with a table of arguments."""
    with ReferenceBroker("amqp-0-8", faults=("not-refused:security/negotiation-errors",)) as broker:
        said, complaints = converse("0-8", broker.host, broker.port)
    assert said == []
    assert "Error registering consumer" in complaints
    assert "basic.consume at octet" in complaints and "expected the end of the arguments" in complaints
