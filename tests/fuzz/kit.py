"""Reference brokers as targets of the fuzzer, their canaries, and small campaigns against them.

Knows: how a broker becomes a subject. Must not know: what any test is about.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from amqpspec.fuzz.campaign.order import CampaignOrder
from amqpspec.fuzz.executor.address import Address
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.oracles.canary import Canaries
from amqpspec.fuzz.states.model import Values
from amqpspec.reference.server import ReferenceBroker

SECOND = Values(user="second", password="second", vhost="second")
ROW = "wire/content/body-exceeds-size"
"""A rule that brokers with the fault ``WRONG`` violate, and the cell that shows it."""
WRONG = f"wrong-code:{ROW}"
CELL = "C05/body.too-long/body"
CELLS = (CELL, "C05/*/limits")


def address_of(broker: ReferenceBroker) -> Address:
    """Where a broker listens."""
    return Address(broker.host, broker.port)


def subject_of(broker: ReferenceBroker, name: str = "r", **more: Any) -> Subject:
    """A broker as a target."""
    return Subject(name, broker.dialect, address_of(broker), **more)


@contextmanager
def target(dialect: str = "amqp-0-9-1", *faults: str, **more: Any) -> Iterator[Subject]:
    """A broker that nothing but the fuzzer has to know."""
    with ReferenceBroker(dialect, faults=faults) as broker:
        yield subject_of(broker, **more)


@contextmanager
def canaries_of(subject: Subject) -> Iterator[Canaries]:
    """Canaries that are placed, and dropped in the end."""
    canaries = Canaries(subject)
    canaries.place()
    yield canaries
    canaries.drop()


def order_of(subject: Subject, out: Path, budget_s: float = 600.0, **more: Any) -> CampaignOrder:
    """A campaign of two small families without mutation, which makes no input smaller."""
    return CampaignOrder(
        subject, out, budget_s, **{"patterns": CELLS, "mutate": False, "smaller": False, **more}
    )
