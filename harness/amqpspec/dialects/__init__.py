"""The dialects of this build: one entry each, in separate modules.

Knows: which entries exist, in the order of reports. Must not know: their contents.
"""

from __future__ import annotations

from amqpspec.dialects.amqp_0_9_1 import AMQP_0_9_1, CLIENTS_0_9_1, RABBITMQ_0_9_1
from amqpspec.dialects.amqp_0_10 import AMQP_0_10, CLIENTS_0_10
from amqpspec.dialects.amqp_1_0 import AMQP_1_0, CLIENTS_1_0
from amqpspec.dialects.amqp_fast_0_8 import AMQP_FAST_0_8, CLIENTS_FAST_0_8
from amqpspec.dialects.amqp_wire_9_1 import AMQP_0_8, AMQP_WIRE_9_1, CLIENTS_WIRE_9_1

__all__ = ["ENTRIES"]

ENTRIES = (
    AMQP_0_9_1,
    RABBITMQ_0_9_1,
    AMQP_WIRE_9_1,
    AMQP_0_8,
    AMQP_1_0,
    AMQP_FAST_0_8,
    AMQP_0_10,
    CLIENTS_0_9_1,
    CLIENTS_WIRE_9_1,
    CLIENTS_1_0,
    CLIENTS_0_10,
    CLIENTS_FAST_0_8,
)
