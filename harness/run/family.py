"""What the runner asks of a family of dialects; each family is a module that has these functions.

Knows: which module serves which family. Must not know: what is spoken in any of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Protocol, cast

from harness.peer.context import Context, Login
from harness.peer.line import Line
from harness.spec.dialects import load_dialect
from harness.wire.direction import Direction

_MODULES = {"methods": "harness.run.methods", "types": "harness.run.types"}
Entity = tuple[str, str]


class ProbeFailed(Exception):
    """The target was not reached, speaks another protocol, or refused the login: one line."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What a target announced, its round trip in seconds, and the optional parts that it lacks, with the reason.

    ``note`` says what is worth knowing before the first verdict; empty where all is as ordered.
    """

    product: str
    version: str
    announced: Mapping[str, Any] = field(default_factory=dict)
    round_trip_s: float = 0.0
    lacks: Mapping[str, str] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True, slots=True)
class Recognised:
    """The id of the dialect in which a target is spoken to; ``why`` it is another one than was ordered."""

    dialect: str
    why: str = ""


class Family(Protocol):
    """How dialects of one family are driven, probed, shown and cleaned up after."""

    def peer(self, context: Context) -> Line:
        """What a case drives."""
        ...

    def direction(self, dialect_id: str, direction: str) -> Direction:
        """A decoder of one direction (``out`` or ``in``) for evidence."""
        ...

    def recognise(self, context: Context) -> Recognised:
        """What the target speaks when it is greeted in the context's dialect; raises ProbeFailed."""
        ...

    def probe(self, context: Context) -> Identity:
        """Log in, pass a message, measure round trips, close; raises ProbeFailed."""
        ...

    def delete(self, context: Context, entities: Sequence[Entity]) -> None:
        """Delete what a case made: (kind, name) in the virtual host of the context's login. Raises Unmet."""
        ...

    def with_login(self, dialect_id: str, octets: bytes, login: Login) -> bytes:
        """Recorded octets with a starred SASL response replaced by the login's."""
        ...


def family_of(dialect_id: str) -> Family:
    """The family of a dialect; raises KeyError for an unknown id."""
    return cast(Family, import_module(_MODULES[load_dialect(dialect_id).family]))


def readable(value: Any) -> Any:
    """An announced value as JSON data."""
    if isinstance(value, Mapping):
        return {str(key): readable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [readable(item) for item in value]
    return value if isinstance(value, bool | int | float) or value is None else text(value)


def text(value: Any) -> str:
    """An announced value as text."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value or "")
