"""Flows in octets that were made before the number of the target's first transfer was known.

Knows: how a flow begins. Must not know: sessions, what else the octets are.
"""

from __future__ import annotations

import re

# descriptor, list8 or list32 with size and count, a uint of four octets: the next-incoming-id (amqp-1.0 §2.7.4)
_FLOW = re.compile(rb"(\x00\x53\x13(?:\xc0..|\xd0.{8})\x70)\0\0\0\0", re.DOTALL)
_SERIAL = (1 << 32) - 1


def with_next_incoming_id(octets: bytes, number: int) -> bytes:
    """The octets with this next-incoming-id in each flow whose own is 0; none is added, no size changes.

    A flow that counts from 0 where the target begins with another number breaks a rule (amqp-1.0 §2.5.6), whatever
    else it was made for.
    """
    if not number:
        return octets
    count = (number & _SERIAL).to_bytes(4, "big")
    return _FLOW.sub(lambda flow: flow[1] + count, octets)
