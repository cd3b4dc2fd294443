"""A fault, and the table form in which modules declare faults.

Knows: its three parts, the syntax of the table. Must not know: any fault.

A module declares the faults that it implements at its end::

    FAULTS = fault_table(\"\"\"
    purge-drops-unacked: purge drops messages that await an acknowledgement [queue/purge/unacknowledged]
    \"\"\")

and asks next to the correct line: ``if self.faulty("purge-drops-unacked")``. A name, what the broker then does, and
between brackets the requirements that this breaks. Indented lines continue with the line before them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

_ROW = re.compile(r"(?P<says>[^\[\]]+?)(?: \[(?P<breaks>[^\[\]]+)\])?")


@dataclass(frozen=True, slots=True)
class Fault:
    """One deviation: its name, the requirements that it violates, and a sentence about its effect."""

    name: str
    breaks: tuple[str, ...]
    says: str


def fault_table(text: str) -> tuple[Fault, ...]:
    """The faults of a table ``name: what it does [requirement requirement]``; raises ValueError for another form."""
    return tuple(_fault(name, rest) for name, rest in _entries(text))


def _fault(name: str, rest: str) -> Fault:
    found = _ROW.fullmatch(rest)
    if found is None:
        raise ValueError(f"{name}: expected 'what it does [requirement requirement]', actual {rest!r}")
    return Fault(name, tuple((found["breaks"] or "").split()), found["says"])


def word_table(text: str) -> Mapping[str, tuple[str, ...]]:
    """The words after each key of a table ``key: word word``; raises ValueError for another form."""
    return MappingProxyType({key: tuple(rest.split()) for key, rest in _entries(text)})


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """Key and value of every entry; raises ValueError for a line without key, or a key that comes twice."""
    known: set[str] = set()
    for entry in re.sub(r"\n\s+", " ", text).split("\n"):
        key, colon, value = entry.partition(": ")
        if not entry:
            continue
        if not colon or key in known or " " in key:
            raise ValueError(f"expected 'key: value' with a key of its own, actual {entry!r}")
        known.add(key)
        yield key, value.strip()
