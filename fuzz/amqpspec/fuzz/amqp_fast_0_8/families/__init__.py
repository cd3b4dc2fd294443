"""What each family bends in AMQP/Fast.

Knows: which function bends for which family. Must not know: how.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from amqpspec.fuzz.amqp_fast_0_8.families import login, messages, places, sizes, texts
from amqpspec.fuzz.families.base import Location
from amqpspec.fuzz.states.model import State

LOCATIONS: Mapping[str, Callable[[str, State], Iterator[Location]]] = {
    "C04": sizes.escapes,
    "C05": sizes.limits,
    "C06": texts.interning,
    "C07": places.ranges,
    "C08": places.windows,
    "C09": places.order,
    "C10": login.login,
    "C11": texts.tables,
    "C12": messages.messages,
    "C13": places.resources,
    "C14": texts.selectors,
}
