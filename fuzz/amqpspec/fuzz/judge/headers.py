"""Protocol headers in use.

Knows: the tables of all dialects. Must not know: what is answered to any header.
"""

from __future__ import annotations

from functools import cache

from amqpspec.spec.amqp_1_0 import HEADERS
from amqpspec.spec.dialects import dialect_ids, load_dialect


@cache
def known_headers() -> frozenset[bytes]:
    """What some version of the protocol begins with, TLS and SASL layers of it included."""
    dialects = [load_dialect(name) for name in dialect_ids()]
    known = {header for d in dialects for header in (d.protocol_header, *d.accepted_headers)}
    return frozenset(known | set(HEADERS.values()) | {b"AMQP\x01\x01\x00\x0a", b"AMQP\x02\x01\x00\x0a"})
