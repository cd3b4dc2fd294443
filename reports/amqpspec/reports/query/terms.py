"""What a question is made of, and how it is written.

Knows: terms and how they combine. Must not know: rows, marts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/*?+#@%~$[]{}'`^;\\-=<>")
WORDS = frozenset({"and", "or", "not"})
OPERATORS = (">=", "<=", ">", "<", "=")


@dataclass(frozen=True, slots=True)
class Text:
    """Any of the names of a row holds this."""

    value: str
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Term:
    """A column has one of these values; with an operator, stands so to the only one. ``at`` is where it was written."""

    key: str
    values: tuple[str, ...]
    operator: str = ""
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Not:
    """What does not hold."""

    part: Query


@dataclass(frozen=True, slots=True)
class All:
    """All of these hold; of none, everything does."""

    parts: tuple[Query, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """At least one of these holds."""

    parts: tuple[Query, ...]


Query: TypeAlias = Text | Term | Not | All | Some


def written(query: Query) -> str:
    """A question as it is typed; parsed again, the same question."""
    match query:
        case Text(value):
            return _value(value, alone=True)
        case Term(key, values, operator):
            return f"{key}:{operator}{','.join(map(_value, values))}"
        case Not(part):
            return f"not {_inner(part)}"
        case All(parts):
            return " ".join(map(_inner, parts))
        case Some(parts):
            return " or ".join(map(_inner, parts))


def _inner(query: Query) -> str:
    return f"({written(query)})" if isinstance(query, All | Some) else written(query)


def _value(value: str, *, alone: bool = False) -> str:
    """A value bare where nothing in it could be read otherwise, else in quotes."""
    bare = bool(value) and set(value) <= _PLAIN and not value.startswith(OPERATORS)
    if alone:
        bare = bare and value.lower() not in WORDS and value[0] != "-"
    if bare and "\\" not in value:
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
