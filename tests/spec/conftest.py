"""What the environment may name to compare the tables and ledgers with: the one place that skips for want of it."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def official_xml() -> Path:
    """The directory with the official XML."""
    folder = os.environ.get("AMQPSPEC_XML")
    if not folder:
        pytest.skip("AMQPSPEC_XML does not name a directory with the official XML")
    return Path(folder)


@pytest.fixture(scope="session")
def listed_rows() -> list[dict[str, str]]:
    """The rows of the list of requirements, of all dialects."""
    path = os.environ.get("AMQPSPEC_REQUIREMENTS")
    if not path:
        pytest.skip("AMQPSPEC_REQUIREMENTS does not name a file")
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
