"""The overlay amqp-0-8: as what brokers in use speak the 9.1 wire draft when they are greeted in it.

Knows: only the difference: a frame header without the cycle octet, the protocol header, the table tags in use,
and the methods and reply codes that servers brought back from later versions (marked as extension).
Must not know: what stays the same, and how any broker behaves.

The published 0-8 definition announces version 8.0, its wire chapter 9.1; servers take either header and answer
both in frames of seven octets of header. ``basic.recover`` is the method 100 here as there, with nothing in
reply; the method 110, which servers call ``recover`` as 0-9-1 does, is ``recover-sync`` here, and the answer 101
that 0-9 gave to ``recover`` is ``recover-ok``.
"""

from __future__ import annotations

from dataclasses import replace

from amqpspec.spec.amqp_wire_9_1 import DIALECT as BASE
from amqpspec.spec.amqp_wire_9_1.types import FRAME_TYPES, TICKET
from amqpspec.spec.method_rows import Rows
from amqpspec.spec.methods import Constant, FrameLayout
from amqpspec.spec.model import Scope, Side
from amqpspec.spec.rabbitmq_0_9_1 import DIALECT as RABBITMQ

_PROTOCOL_HEADER = b"AMQP\x01\x01\x08\x00"

_LAYOUT = FrameLayout(
    header=(("type", 1), ("channel", 2), ("size", 4)),
    end=0xCE,
    types=FRAME_TYPES,
    min_size_octets=4096,
)

_QUEUE = Rows("queue", 50, extension=True)
_BASIC = Rows("basic", 60, extension=True)
_METHODS = (
    *_QUEUE.call("unbind", 50, Side.CLIENT, TICKET, "queue", "exchange", "routing-key", "arguments"),
    _BASIC.method("recover-ok", 101, Side.SERVER),
    *_BASIC.call("recover-sync", 110, Side.CLIENT, "requeue"),
)

_CONSTANTS = (
    Constant("no-route", 312, Scope.CHANNEL, extension=True),
    Constant("no-consumers", 313, Scope.CHANNEL, extension=True),
    Constant("precondition-failed", 406, Scope.CHANNEL, extension=True),
    Constant("unexpected-frame", 505, Scope.CONNECTION, extension=True),
)

DIALECT = replace(
    BASE.extend(
        id="amqp-0-8",
        title="AMQP 0-8",
        methods=_METHODS,
        constants=_CONSTANTS,
        table_tags=RABBITMQ.table_tags,
        accepted_headers=(_PROTOCOL_HEADER, BASE.protocol_header),
    ),
    protocol_header=_PROTOCOL_HEADER,
    layout=_LAYOUT,
    signs_in_field_names=RABBITMQ.signs_in_field_names,
)
