"""What holds for the rows of every ledger: unambiguous answers, choices that are explained, texts of one line."""

from __future__ import annotations

from pathlib import Path

import pytest

import amqpspec.spec.model
from amqpspec.spec.dialects import certified_dialects, load_dialect
from amqpspec.spec.model import Requirement
from amqpspec.spec.requirements import read_ledger
from tests.spec.ledgers import refusals

SPEC = Path(amqpspec.spec.model.__file__).parent


@pytest.fixture(scope="module", params=certified_dialects())
def rows(request: pytest.FixtureRequest) -> list[Requirement]:
    """The rows of the specification, without those that a dialect has beyond it."""
    path = SPEC / request.param.replace("-", "_") / "requirements.yaml"
    return list(read_ledger(path, load_dialect(request.param)).values())


def test_no_answer_is_both_accepted_and_tolerated(rows: list[Requirement]) -> None:
    assert [row.id for row in rows if len(set(refusals(row))) != len(refusals(row))] == []


def test_choices_between_answers_are_explained(rows: list[Requirement]) -> None:
    unexplained = [row.id for row in rows if (len(row.accepts) > 1 or row.tolerates) and not row.reading]
    assert unexplained == []


def test_every_row_binds_somebody_and_says_something(rows: list[Requirement]) -> None:
    assert {row.binds for row in rows} == {"client", "server", "peer"}
    texts = [text for row in rows for text in (row.paraphrase, row.reading, row.excluded)]
    assert [text for text in texts if "\n" in text or "  " in text or text != text.strip()] == []
    assert [row.id for row in rows if len(row.paraphrase) > 125 or row.paraphrase.endswith(".")] == []
