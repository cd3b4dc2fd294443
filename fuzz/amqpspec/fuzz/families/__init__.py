"""The families C1 to C14: what is bent, one after the other, finite and always the same.

Knows: which families there are. Must not know: how any input is sent.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from amqpspec.fuzz.families.base import Family

_IDS = tuple(f"C{number:02}" for number in range(1, 15))


@cache
def families() -> tuple[Family, ...]:
    """Every family in order."""
    found = []
    for id in _IDS:
        family = import_module(f"amqpspec.fuzz.families.{id.lower()}").FAMILY
        assert isinstance(family, Family) and family.id == id
        found.append(family)
    return tuple(found)
