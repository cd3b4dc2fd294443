"""The broker's open: its identity and limits.

Knows: the fields of open and faults in them. Must not know: phases, sockets.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amqpspec.reference.amqp_1_0 import limits
from amqpspec.reference.amqp_1_0.idle import OWN_IDLE_MS
from amqpspec.reference.core import own_version
from amqpspec.reference.fault import fault_table
from amqpspec.wire.amqp_1_0.values import Symbol, Value

CONTAINER = "amqpspec-reference"
CAPABILITIES = (Symbol("ANONYMOUS-RELAY"), Symbol("sole-connection-for-container"))
_LONG_TEXT = "x" * 600
_TOO_SMALL_OCTETS = 256


def open_fields(faulty: Callable[[str], bool]) -> dict[str, Any]:
    """The fields of the broker's open."""
    small = faulty("max-frame-size-below-minimum-announced")
    return {
        "container_id": None if faulty("open-without-container-id") else CONTAINER,
        "max_frame_size": _TOO_SMALL_OCTETS if small else limits.MAX_FRAME_OCTETS,
        "channel_max": limits.CHANNEL_MAX,
        "idle_time_out": None if faulty("silent-clients-dropped") else OWN_IDLE_MS,
        "offered_capabilities": CAPABILITIES,
        "properties": _properties(faulty),
    }


def _properties(faulty: Callable[[str], bool]) -> Any:
    properties = {Symbol("product"): "amqpspec reference broker", Symbol("version"): own_version()}
    if faulty("open-too-long"):
        properties[Symbol("remark")] = _LONG_TEXT
    if faulty("properties-with-string-keys"):
        return Value("map", {str(key): value for key, value in properties.items()})
    return properties


FAULTS = fault_table("""
open-too-long: the broker's open has more than 512 octets
    [connections/opening/limits-before connections/pipelined/within-limits]
open-without-container-id: the broker's open lacks the container-id [performatives/open/mandatory]
max-frame-size-below-minimum-announced: the broker announces a max-frame-size of 256
    [definitions/min-max-frame-size/lower-bound definitions/min-max-frame-size/agreed
    performatives/open/max-frame-size/minimum]
properties-with-string-keys: the keys of the broker's properties are strings [definitions/fields/symbol-keys]
""")
