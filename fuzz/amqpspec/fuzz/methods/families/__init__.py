"""What each family bends in the 0-9 family of dialects.

Knows: which module bends for which family. Must not know: how.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from amqpspec.fuzz.families.base import Location
from amqpspec.fuzz.methods.families import (
    algorithms,
    interning,
    limits,
    login,
    messages,
    nesting,
    ranges,
    resources,
    tables,
    windows,
)
from amqpspec.fuzz.states.model import State

LOCATIONS: Mapping[str, Callable[[str, State], Iterator[Location]]] = {
    "C03": nesting.locations,
    "C05": limits.locations,
    "C06": interning.locations,
    "C07": ranges.locations,
    "C08": windows.locations,
    "C10": login.locations,
    "C11": tables.locations,
    "C12": messages.locations,
    "C13": resources.locations,
    "C14": algorithms.locations,
}
