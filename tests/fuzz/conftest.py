from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from amqpspec.fuzz.campaign.complaints import Complaints
from amqpspec.fuzz.campaign.energy import Energy
from amqpspec.fuzz.campaign.finding_store import FindingStore
from amqpspec.fuzz.campaign.journal import CampaignJournal
from amqpspec.fuzz.campaign.order import CampaignOrder
from amqpspec.fuzz.campaign.pace import Pace
from amqpspec.fuzz.campaign.tally import Tally
from amqpspec.fuzz.executor.address import Address
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.reference.server import ReferenceBroker
from tests.fuzz.kit import WRONG


@pytest.fixture
def clean() -> Iterator[ReferenceBroker]:
    with ReferenceBroker("amqp-0-9-1") as broker:
        yield broker


@pytest.fixture
def wrong() -> Iterator[ReferenceBroker]:
    """A broker that refuses with another code than one row demands."""
    with ReferenceBroker("amqp-0-9-1", faults=[WRONG]) as broker:
        yield broker


@pytest.fixture
def gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A target that does not answer is not waited for."""
    monkeypatch.setattr(Subject, "awake", lambda self, within_s: False)


@pytest.fixture
def awake(monkeypatch: pytest.MonkeyPatch) -> None:
    """A target answers, whatever is the matter with it."""
    monkeypatch.setattr(Subject, "awake", lambda self, within_s: True)


@pytest.fixture
def complaints(tmp_path: Path) -> Complaints:
    subject = Subject("r", "amqp-0-9-1", Address("127.0.0.1", 1))
    order = CampaignOrder(subject, tmp_path, smaller=False, blame_share=1.0)
    pace = Pace(128, lambda inputs: 0.0)
    journal = CampaignJournal(tmp_path)
    store = FindingStore(tmp_path, subject, journal, lambda: 0.0)
    return Complaints(order, store, Tally(), Energy("amqp-0-9-1"), pace, journal)
