"""The AMQP 9.1 wire draft: frames with a cycle octet, and the classes that it was published with.

Knows: which tables make up the dialect.
Must not know: any overlay, and the ledger of requirements next to these tables.
"""

from __future__ import annotations

from amqpspec.spec.amqp_wire_9_1.classes import CLASSES
from amqpspec.spec.amqp_wire_9_1.types import CONSTANTS, LAYOUT, PROTOCOL_HEADER, TABLE_TAGS
from amqpspec.spec.methods import MethodDialect

_PAUSE_S = 1.0
"""The draft's security section says several seconds; no test could bear that."""

DIALECT = MethodDialect(
    id="amqp-wire-9-1",
    title="AMQP 9.1 wire draft",
    protocol_header=PROTOCOL_HEADER,
    layout=LAYOUT,
    classes=CLASSES,
    constants=CONSTANTS,
    table_tags=TABLE_TAGS,
    accepted_headers=(PROTOCOL_HEADER,),
    structured_contents=True,
    signs_in_field_names="-",
    handshake_pause_s=_PAUSE_S,
)
