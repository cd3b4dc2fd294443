"""The syntax tree of a query.

Knows: terms and how they combine. Must not know: rows, marts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Text:
    """Any column of a row contains this text."""

    value: str
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Term:
    """A column has one of these values, or satisfies the operator with the only one.

    ``at`` is the position in the query.
    """

    key: str
    values: tuple[str, ...]
    operator: str = ""
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Not:
    """The negation of a term."""

    part: Query


@dataclass(frozen=True, slots=True)
class All:
    """All of these match; an empty list matches every row."""

    parts: tuple[Query, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """At least one of these matches."""

    parts: tuple[Query, ...]


Query: TypeAlias = Text | Term | Not | All | Some
