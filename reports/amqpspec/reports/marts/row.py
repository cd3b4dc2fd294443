"""The base of mart rows: frozen dataclasses whose fields are the columns; DDL, names and documentation derive from
them.

Knows: which Spark type corresponds to which Python type. Must not know: Spark itself, any mart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from types import NoneType
from typing import ClassVar, get_args, get_type_hints

SPARK: Mapping[type, str] = {
    str: "STRING", int: "BIGINT", bool: "BOOLEAN", float: "DOUBLE", date: "DATE", datetime: "TIMESTAMP",
}  # fmt: skip

_ARROW: Mapping[str, tuple[str, ...]] = {
    "STRING": ("string", "large_string", "null"), "BIGINT": ("int", "uint", "null"), "TINYINT": ("int", "uint", "null"),
    "BOOLEAN": ("bool", "null"), "DOUBLE": ("double", "float", "null"), "DATE": ("date32", "null"),
    "TIMESTAMP": ("timestamp", "null"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Kind:
    """A Spark type other than the default of the field's type."""

    spark: str


TINY = Kind("TINYINT")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a mart; ``spark`` is its type in Spark."""

    name: str
    spark: str
    meaning: str
    optional: bool = False

    def holds(self, arrow: str) -> bool:
        """Whether an Arrow type, by its name, can hold the column."""
        return arrow.startswith(_ARROW[self.spark])


class MartRow:
    """The base of all rows: ``NAME`` of the mart, ``GRAIN`` by which it is unique, and columns ``SHOWN`` on a
    terminal.

    The rows of every mart belong to a target in a dialect. A field is ``Annotated[type, "what the column means"]``,
    followed by a ``Kind`` if the type is not sufficient.
    """

    __slots__ = ()
    NAME: ClassVar[str]
    GRAIN: ClassVar[tuple[str, ...]]
    SHOWN: ClassVar[tuple[str, ...]]
    target: str
    dialect: str

    @classmethod
    def columns(cls) -> tuple[Column, ...]:
        """The columns in their order."""
        hints = get_type_hints(cls, include_extras=True)
        return tuple(_column(name, *get_args(hints[name])) for name in cls.__annotations__)

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names of the columns in their order."""
        return tuple(column.name for column in cls.columns())

    @classmethod
    def ddl(cls) -> str:
        """The schema as Spark writes it."""
        return ", ".join(f"{column.name} {column.spark}" for column in cls.columns())


def _column(name: str, kind: type, meaning: str, other: Kind | None = None) -> Column:
    """``kind`` may be a union with None: all columns except the grain are nullable, which Spark does not require to
    be declared.
    """
    kinds = get_args(kind) or (kind,)
    (plain,) = [each for each in kinds if each is not NoneType]
    return Column(name, other.spark if other else SPARK[plain], meaning, NoneType in kinds)
