"""What each family bends in AMQP 1.0.

Knows: which function bends for which family. Must not know: how.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from amqpspec.fuzz.amqp_1_0.families import flow, login, messages, values
from amqpspec.fuzz.families.base import Location
from amqpspec.fuzz.states.model import State

LOCATIONS: Mapping[str, Callable[[str, State], Iterator[Location]]] = {
    "C01": values.zero_width,
    "C03": values.nesting,
    "C05": values.limits,
    "C06": values.interning,
    "C07": flow.ranges,
    "C08": flow.windows,
    "C10": login.login,
    "C11": values.constructors,
    "C12": messages.messages,
    "C13": flow.resources,
    "C14": messages.selectors,
}
