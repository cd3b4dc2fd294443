"""AMQP 0-9-1 as published in 2008, without extensions.

Knows: which tables make up the dialect.
Must not know: any overlay, and the ledger of requirements next to these tables.
"""

from __future__ import annotations

from amqpspec.spec.amqp_0_9_1.classes import CLASSES
from amqpspec.spec.amqp_0_9_1.types import CONSTANTS, LAYOUT, PROTOCOL_HEADER, TABLE_TAGS
from amqpspec.spec.methods import MethodDialect

DIALECT = MethodDialect(
    id="amqp-0-9-1",
    title="AMQP 0-9-1",
    protocol_header=PROTOCOL_HEADER,
    layout=LAYOUT,
    classes=CLASSES,
    constants=CONSTANTS,
    table_tags=TABLE_TAGS,
    accepted_headers=(PROTOCOL_HEADER,),
)
