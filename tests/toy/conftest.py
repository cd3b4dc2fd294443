"""Echo is known while its tests run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.toy.entry import registered


@pytest.fixture(scope="package", autouse=True)
def echo() -> Iterator[str]:
    """The id of the dialect that is added by its entry alone."""
    with registered() as entry:
        yield entry.id
