"""Questions against rows: as a plain reading of each part would answer."""

from __future__ import annotations

from datetime import UTC, datetime
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amqpspec.reports.query.evaluate import Row, compile_query
from amqpspec.reports.query.parse import QueryError, parse
from amqpspec.reports.query.terms import All, Not, Query, Some, Term, Text

COLUMNS = ("target", "case", "verdict", "suite", "runs", "rate", "at", "newest")
AT = datetime(2026, 11, 21, 2, tzinfo=UTC)


def row(**values: object) -> Row:
    base = {
        "target": "rabbitmq", "case": "channel.open.twice", "verdict": "fail", "suite": "channel", "runs": 3,
        "rate": None, "at": AT, "newest": True,
    }  # fmt: skip
    return {**base, **values}


def answers(typed: str, of: Row | None = None) -> bool:
    flags = {"known": lambda row: row["verdict"] == "fail"}
    return compile_query(parse(typed), COLUMNS, flags, typed)(of or row())


@pytest.mark.parametrize(
    "typed",
    [
        "", "status:fail", "verdict:FAIL", "target:rabbit*", "section:channel", "id:channel.open.?wice", "twice",
        "OPEN", "runs:>2", "runs:>=3", "runs:<10", "runs:=3", "at:>2026-11-20", "at:2026-11-21T02:00:00Z", "is:known",
        "status:pass,fail", "-status:pass", "status:pass or target:rabbitmq", "newest:true", 'rate:""',
    ],
)  # fmt: skip
def test_it_answers(typed: str) -> None:
    assert answers(typed)


@pytest.mark.parametrize(
    "typed",
    [
        "status:pass", "target:rabbit", "target:[r]abbitmq*", "runs:>3", "runs:<3", "runs:>x", "rate:>0", "-is:known",
        "nothing", "status:fail target:other", "at:>2026-11-22", "not twice", "section:exchange or status:pass",
    ],
)  # fmt: skip
def test_it_does_not_answer(typed: str) -> None:
    assert not answers(typed)


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("stauts:fail", "did you mean status"),
        ("is:konwn", "did you mean is:known"),
        ("zzz:1", "expected one of"),
        ("runs:>1,2", "expected one value"),
    ],
)
def test_an_unknown_key_is_named(typed: str, why: str) -> None:
    with pytest.raises(QueryError, match=why):
        answers(typed)


_VALUES = st.sampled_from(["fail", "pass", "channel", "a*", "?", "rabbitmq", ""])
_TERMS = st.builds(
    Term, st.sampled_from(["target", "verdict", "suite"]), st.tuples(_VALUES)
) | _VALUES.filter(bool).map(Text)
_QUERIES = st.recursive(
    _TERMS,
    lambda inner: (
        inner.map(Not)
        | st.lists(inner, max_size=3).map(lambda p: All(tuple(p)))
        | st.lists(inner, max_size=3).map(lambda p: Some(tuple(p)))
    ),
    max_leaves=6,
)
_ROWS = st.fixed_dictionaries(dict.fromkeys(("target", "verdict", "suite"), _VALUES))


def plain(query: Query, of: Row) -> bool:
    match query:
        case Text(value):
            return any(value in cell for cell in of.values())
        case Not(part):
            return not plain(part, of)
        case All(parts):
            return [plain(part, of) for part in parts].count(False) == 0
        case Some(parts):
            return [plain(part, of) for part in parts].count(True) > 0
        case Term(key, values):
            return fnmatchcase(of[key], values[0])


@given(_QUERIES, _ROWS)
def test_any_question_is_answered_as_a_plain_reading_would(query: Query, of: Row) -> None:
    assert compile_query(query, ("target", "verdict", "suite"), {})(of) is plain(query, of)
