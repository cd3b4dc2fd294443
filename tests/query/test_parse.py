"""The syntax of questions: what is typed is what is meant, and nothing that is typed breaks the parser."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from amqpspec.reports.query.parse import QueryError, parse
from amqpspec.reports.query.terms import All, Not, Query, Some, Term, Text


def term(key: str, *values: str, operator: str = "") -> Term:
    return Term(key, values, operator)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("", All(())),
        ("   ", All(())),
        ("channel.open", Text("channel.open")),
        ('"two words"', Text("two words")),
        ("status:fail", term("status", "fail")),
        ("STATUS:Fail", term("status", "Fail")),
        ("status:fail,blocked", term("status", "fail", "blocked")),
        ('top:"a, b"', term("top", "a, b")),
        ("observed:amqp:internal-error", term("observed", "amqp:internal-error")),
        ("flips:>=3", term("flips", "3", operator=">=")),
        ("a b", All((Text("a"), Text("b")))),
        ("a and b", All((Text("a"), Text("b")))),
        ("a or b c", Some((Text("a"), All((Text("b"), Text("c")))))),
        ("(a or b) c", All((Some((Text("a"), Text("b"))), Text("c")))),
        ("-is:known", Not(term("is", "known"))),
        ("not is:known", Not(term("is", "known"))),
        ("not (a b)", Not(All((Text("a"), Text("b"))))),
        ("--a", Not(Not(Text("a")))),
        ("android", Text("android")),
    ],
)
def test_what_is_typed_is_what_is_meant(typed: str, meant: Query) -> None:
    assert parse(typed) == meant


@pytest.mark.parametrize(
    ("typed", "at", "why"),
    [
        ("(a", 2, "closing parenthesis"),
        ("a)", 1, "opening parenthesis"),
        ("a or", 4, "expected a term"),
        ("or a", 0, "expected a term"),
        ("and", 0, "before 'and'"),
        ("a status:", 8, "expected a term"),
        ('a "b', 2, "expected a term"),
        ("not", 3, "expected a term"),
        ("()", 1, "expected a term"),
        ("-" * 60 + "a", 50, "levels"),
    ],
)
def test_what_is_wrong_is_pointed_at(typed: str, at: int, why: str) -> None:
    with pytest.raises(QueryError, match=why) as raised:
        parse(typed)
    assert raised.value.at == at
    assert raised.value.pointed.splitlines()[1].index("^") == at


@given(st.text(max_size=60) | st.text(alphabet='ab:-(),"\\ ><=ornt', max_size=40))
@example("a:\\")
def test_nothing_typed_breaks_the_parser(typed: str) -> None:
    try:
        parse(typed)
    except QueryError as error:
        assert 0 <= error.at <= len(typed)


_TEXTS = st.text(max_size=8).filter(bool)
_LEAVES = _TEXTS.map(Text) | st.builds(
    Term,
    st.from_regex("[a-z][a-z_]{0,6}", fullmatch=True),
    st.lists(st.text(max_size=8), min_size=1, max_size=3).map(tuple),
    st.sampled_from(["", ">", "<", ">=", "<=", "="]),
)
_QUERIES = st.recursive(
    _LEAVES,
    lambda inner: (
        inner.map(Not)
        | st.lists(inner, min_size=2, max_size=3).map(lambda parts: All(tuple(parts)))
        | st.lists(inner, min_size=2, max_size=3).map(lambda parts: Some(tuple(parts)))
    ),
    max_leaves=8,
)


def written(query: Query) -> str:
    """A question as someone may type it: values bare if nothing in them could be read otherwise."""
    match query:
        case Text(value):
            return _quoted(value)
        case Term(key, values, operator):
            return f"{key}:{operator}{','.join(map(_quoted, values))}"
        case Not(part):
            return f"not ({written(part)})"
        case All(parts):
            return " ".join(f"({written(part)})" for part in parts)
        case Some(parts):
            return " or ".join(f"({written(part)})" for part in parts)


def _quoted(value: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9._*?/]+", value) and value.lower() not in ("and", "or", "not"):
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@given(_QUERIES)
def test_what_is_written_is_read_again(query: Query) -> None:
    assert parse(written(query)) == query
