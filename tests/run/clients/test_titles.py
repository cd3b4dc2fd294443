"""Titles of cases about hostile servers are as strong as the requirement that judges them."""

from __future__ import annotations

import pytest

from amqpspec.run.case import Case, load_suite
from amqpspec.spec.dialects import client_dialects
from amqpspec.spec.model import Level
from amqpspec.suites.demands import demand

HOSTILE = [
    pytest.param(case, id=f"{dialect} {case.id}")
    for dialect in client_dialects()
    for case in load_suite(dialect).values()
    if ".hostile." in case.id
]


@pytest.mark.parametrize("case", HOSTILE)
def test_a_title_says_may_exactly_where_the_row_does(case: Case) -> None:
    """A row survives/… allows any reaction, but demands that the client survives."""
    (row,) = case.requirements
    is_free = row.level is Level.MAY and not row.id.startswith("survives/")
    assert (" may " in case.title) == is_free


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("violated/transport/frame/reserved-bits", "may reject"),
        ("violated/encoding/struct/required-field", "should reject"),
        ("violated/map/distinct-keys", "rejects"),
        ("violated/segment-type/values", "rejects"),
        ("survives/flood", "survives"),
    ],
)
def test_a_demand_is_as_strong_as_its_row(row: str, words: str) -> None:
    assert demand("amqp-0-10-clients", row, "reject") == words
