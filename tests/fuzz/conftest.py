from __future__ import annotations

from collections.abc import Iterator

import pytest

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
