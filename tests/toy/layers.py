"""Echo as scapy layers.

Knows: its layout. Must not know: anything else.
"""

from __future__ import annotations

from functools import cache

from amqpspec.wire.layers import Layers, raw
from tests.toy.tables import DIALECT


@cache
def layers_for(dialect_id: str) -> Layers:
    """The layers, made once."""
    return Layers("Echo", DIALECT.layout, DIALECT.protocol_header, lambda octets, frame: raw()(octets))
