from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.reference.server import ReferenceBroker


@pytest.fixture
def reference() -> Iterator[ReferenceBroker]:
    with ReferenceBroker("rabbitmq-0-9-1") as broker:
        yield broker
