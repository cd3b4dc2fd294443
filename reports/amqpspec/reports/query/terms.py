"""What a question is made of.

Knows: terms and how they combine. Must not know: rows, marts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias


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
