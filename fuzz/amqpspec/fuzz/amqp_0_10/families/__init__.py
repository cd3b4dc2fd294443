"""What each family bends in AMQP 0-10.

Knows: which function bends for which family. Must not know: how.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from amqpspec.fuzz.amqp_0_10.families import entities, frames, login, messages, sessions, values
from amqpspec.fuzz.families.base import Location
from amqpspec.fuzz.states.model import State

LOCATIONS: Mapping[str, Callable[[str, State], Iterator[Location]]] = {
    "C01": values.zero_width,
    "C03": values.nesting,
    "C04": frames.headers,
    "C05": frames.limits,
    "C06": values.interning,
    "C07": sessions.ranges,
    "C08": sessions.windows,
    "C09": frames.assemblies,
    "C10": login.login,
    "C11": values.tables,
    "C12": messages.messages,
    "C13": entities.resources,
    "C14": entities.algorithms,
}
