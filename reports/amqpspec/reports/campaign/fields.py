"""Rows from JSON that may contain a target's data: no value is trusted to have the expected type.

Knows: which reader each type of field has. Must not know: any row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, get_type_hints

T = TypeVar("T")


def text(value: object) -> str:
    """A value as text; empty if there is none."""
    return "" if value is None else str(value)


def number(value: object) -> float:
    """A value as a number; 0 if it is not a number."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else 0


def count(value: object) -> int:
    """A value as a whole number; 0 if it is not one."""
    return int(number(value))


def texts(value: object) -> tuple[str, ...]:
    """A list as texts; empty if the value is not a list."""
    return tuple(map(str, value)) if isinstance(value, list) else ()


def counts(value: object) -> dict[str, int]:
    """A table of counts, the most frequent first; other values are omitted."""
    rows = value.items() if isinstance(value, dict) else ()
    found = {str(name): n for name, n in rows if isinstance(n, int)}
    return dict(sorted(found.items(), key=lambda row: (-row[1], row[0])))


def tables(value: object) -> dict[str, dict[str, str]]:
    """Tables by name, with their cells as text."""
    found = value.items() if isinstance(value, dict) else ()
    return {
        str(name): {str(key): str(cell) for key, cell in rows.items()}
        for name, rows in found
        if isinstance(rows, dict)
    }


_READERS: Mapping[Any, Callable[[object], object]] = {
    str: text, int: count, float: number, tuple[str, ...]: texts, dict[str, int]: counts,
    dict[str, dict[str, str]]: tables,
}  # fmt: skip


def read(row: type[T], data: Mapping[str, Any]) -> T:
    """A dataclass from JSON data: each field is read by its name and type; unknown keys are ignored."""
    return row(**{name: _READERS[kind](data.get(name)) for name, kind in get_type_hints(row).items()})
