"""Parsing a query: adjacent terms must all match; ``or``, ``not`` or ``-``, parentheses, quotes.

Knows: the syntax. Must not know: which keys there are.

    query  = some;  some = all { "or" all };  all = { one };  one = ("not" | "-") one | "(" some ")" | term | text
    term   = key ":" [">=" | "<=" | ">" | "<" | "="] value { "," value }
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from amqpspec.reports.query.terms import All, Not, Query, Some, Term, Text

_QUOTED = r'"(?:[^"\\]|\\.)*"'
_VALUE = rf'(?:{_QUOTED}|[^\s(),":]+(?::[^\s(),":]+)*)'
_TOKEN = re.compile(
    rf"""\s*(?:
        (?P<open>\() | (?P<close>\)) |
        (?P<minus>-)(?=[^\s)]) |
        (?P<key>[A-Za-z][A-Za-z0-9_-]*):(?P<operator>>=|<=|>|<|=)?(?P<values>{_VALUE}(?:,{_VALUE})*) |
        (?P<quoted>{_QUOTED}) |
        (?P<word>[^\s(),":]+)
    )""",
    re.VERBOSE,
)
_DEEPEST = 50


class QueryError(ValueError):
    """The query is not valid; the message is one line, ``at`` is the column in ``query``."""

    def __init__(self, why: str, query: str, at: int) -> None:
        super().__init__(f"{why}, at column {at + 1} of the query: {query[:at]}»{query[at:]}")
        self.why, self.query, self.at = why, query, at

    @property
    def pointed(self) -> str:
        """The query with a caret below the position."""
        return f"{self.query}\n{' ' * self.at}^ {self.why}"


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    at: int
    text: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


def parse(text: str) -> Query:
    """Parse a query; an empty text matches every row. Raises QueryError."""
    return _Parser(text).whole()


class _Parser:
    """Recursive descent over the tokens of one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(_tokens(text))
        self._next = 0
        self._depth = 0

    def whole(self) -> Query:
        if not self._tokens:
            return All(())
        query = self._some()
        if (token := self._peek()) is not None:
            raise QueryError("expected an opening parenthesis before this one", self._text, token.at)
        return query

    def _some(self) -> Query:
        parts = [self._all()]
        while self._is_word("or"):
            self._next += 1
            parts.append(self._all())
        return parts[0] if len(parts) == 1 else Some(tuple(parts))

    def _all(self) -> Query:
        parts: list[Query] = []
        while (token := self._peek()) is not None and token.kind != "close" and not self._is_word("or"):
            if self._is_word("and") and parts:
                self._next += 1
            parts.append(self._one())
        if not parts:
            raise QueryError("expected a term", self._text, self._at)
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def _one(self) -> Query:
        token = self._peek()
        if token is None or token.kind == "close":
            raise QueryError("expected a term", self._text, self._at)
        self._next += 1
        if token.kind == "minus" or _is(token, "not"):
            return self._deeper(lambda: Not(self._one()), token)
        if token.kind == "open":
            return self._deeper(self._group, token)
        if token.kind == "term":
            return Term(token.text.lower(), token.values, token.operator, token.at)
        if _is(token, "and") or _is(token, "or"):
            raise QueryError(f"expected a term before {token.text!r}", self._text, token.at)
        return Text(token.text, token.at)

    def _group(self) -> Query:
        query = self._some()
        token = self._peek()
        if token is None:
            raise QueryError("expected a closing parenthesis", self._text, self._at)
        self._next += 1
        return query

    def _deeper(self, way: Callable[[], Query], token: _Token) -> Query:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise QueryError(f"expected {_DEEPEST} levels at most", self._text, token.at)
        query = way()
        self._depth -= 1
        return query

    def _peek(self) -> _Token | None:
        return self._tokens[self._next] if self._next < len(self._tokens) else None

    def _is_word(self, word: str) -> bool:
        token = self._peek()
        return token is not None and _is(token, word)

    @property
    def _at(self) -> int:
        token = self._peek()
        return len(self._text) if token is None else token.at


def _is(token: _Token, word: str) -> bool:
    return token.kind == "word" and token.text.lower() == word


def _tokens(text: str) -> list[_Token]:
    tokens, at, end = [], 0, len(text.rstrip())
    while at < end:
        found = _TOKEN.match(text, at)
        if found is None:
            start = at + len(text[at:]) - len(text[at:].lstrip())
            raise QueryError("expected a term, a word or a parenthesis", text, start)
        tokens.append(_token(found))
        at = found.end()
    return tokens


def _token(found: re.Match[str]) -> _Token:
    kind = found.lastgroup if found["key"] is None else "key"
    assert kind is not None
    at = found.start(kind)
    if kind == "key":
        values = tuple(_unquoted(value) for value in re.findall(_VALUE, found["values"]))
        return _Token("term", at, found["key"], found["operator"] or "", values)
    if kind == "quoted":
        return _Token("quoted", at, _unquoted(found[kind]))
    return _Token(kind, at, found[kind])


def _unquoted(value: str) -> str:
    return re.sub(r"\\(.)", r"\1", value[1:-1]) if value.startswith('"') else value
