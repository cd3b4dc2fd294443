"""AMQP 1.0 as OASIS published it in 2012.

Knows: which tables make up the dialect, and the layout of its frames.
Must not know: how anything is encoded, and the ledger of requirements next to these tables.
"""

from __future__ import annotations

from types import MappingProxyType

from amqpspec.spec.amqp_1_0.messaging import ADDRESSING, DELIVERY_STATES, SECTIONS
from amqpspec.spec.amqp_1_0.primitives import PRIMITIVES
from amqpspec.spec.amqp_1_0.security import SASL
from amqpspec.spec.amqp_1_0.transactions import COORDINATION
from amqpspec.spec.amqp_1_0.transport import DEFINITIONS, PERFORMATIVES
from amqpspec.spec.typed import TypedDialect, TypedLayout

HEADERS = MappingProxyType(
    {
        "amqp": b"AMQP\x00\x01\x00\x00",
        "tls": b"AMQP\x02\x01\x00\x00",
        "sasl": b"AMQP\x03\x01\x00\x00",
    }
)
"""Protocol headers by what they begin: protocol id, major, minor and revision follow the name."""

LAYOUT = TypedLayout(
    header=(("size", 4), ("doff", 1), ("type", 1), ("channel", 2)),
    header_octets=8,
    doff_word_octets=4,
    min_doff=2,
    types=MappingProxyType({"amqp": 0, "sasl": 1}),
    min_max_frame_size=512,
    headers=HEADERS,
)

DIALECT = TypedDialect(
    id="amqp-1-0",
    title="AMQP 1.0",
    protocol_header=HEADERS["amqp"],
    layout=LAYOUT,
    primitives=PRIMITIVES,
    types=PERFORMATIVES + DEFINITIONS + SECTIONS + DELIVERY_STATES + ADDRESSING + COORDINATION + SASL,
    accepted_headers=(HEADERS["amqp"], HEADERS["sasl"]),
)
