"""The classes of AMQP 0-9-1 as of 2008: their methods and arguments, in the order of the specification.

Knows: indexes, senders, arguments, answers, and properties in flag order.
Must not know: which method may follow which, what a channel, a queue or a transaction does, and any overlay.
"""

from __future__ import annotations

from amqpspec.spec.amqp_0_9_1.types import MESSAGE_COUNT, NO_WAIT, TICKET, reserved
from amqpspec.spec.method_rows import (
    BASIC_CONTENT,
    CLOSE,
    CONSUME,
    DELIVERY,
    LIMITS,
    MESSAGE,
    PREFETCH,
    PUBLISH,
    QUEUE_DECLARE,
    RETURN,
    START,
    START_OK,
    TX,
    Rows,
    field,
)
from amqpspec.spec.model import Side

_CONNECTION = Rows("connection", 10)
CONNECTION = _CONNECTION.table(
    *_CONNECTION.call("start", 10, Side.SERVER, *START, ok=START_OK),
    *_CONNECTION.call(
        "secure", 20, Side.SERVER, field("challenge", "longstr"), ok=(field("response", "longstr"),)
    ),
    *_CONNECTION.call("tune", 30, Side.SERVER, *LIMITS, ok=LIMITS),
    *_CONNECTION.call(
        "open",
        40,
        Side.CLIENT,
        field("virtual-host", "path"),
        reserved("reserved-1", "shortstr"),
        reserved("reserved-2", "bit"),
        ok=(reserved("reserved-1", "shortstr"),),
    ),
    *_CONNECTION.call("close", 50, Side.BOTH, *CLOSE),
)
"""The connection class (10): the header's successor, login, limits, virtual host and the end."""

_CHANNEL = Rows("channel", 20)
CHANNEL = _CHANNEL.table(
    *_CHANNEL.call(
        "open", 10, Side.CLIENT, reserved("reserved-1", "shortstr"), ok=(reserved("reserved-1", "longstr"),)
    ),
    _CHANNEL.method("flow", 20, Side.BOTH, "active", replies=("flow-ok",), synchronous=True),
    _CHANNEL.method("flow-ok", 21, Side.BOTH, "active"),
    *_CHANNEL.call("close", 40, Side.BOTH, *CLOSE),
)
"""The channel class (20): opening, pausing and closing one of the threads of control."""

_EXCHANGE = Rows("exchange", 40)
EXCHANGE = _EXCHANGE.table(
    *_EXCHANGE.call(
        "declare",
        10,
        Side.CLIENT,
        TICKET,
        "exchange",
        field("type", "shortstr"),
        "passive",
        "durable",
        reserved("reserved-2", "bit"),
        reserved("reserved-3", "bit"),
        NO_WAIT,
        "arguments",
    ),
    *_EXCHANGE.call("delete", 20, Side.CLIENT, TICKET, "exchange", "if-unused", NO_WAIT),
)
"""The exchange class (40): declare and delete; two bits of declare are reserved.

Binding between exchanges, auto-delete and internal belong to the overlay.
"""

_QUEUE = Rows("queue", 50)
QUEUE = _QUEUE.table(
    *_QUEUE.call(
        "declare",
        10,
        Side.CLIENT,
        TICKET,
        *QUEUE_DECLARE,
        NO_WAIT,
        "arguments",
        ok=("queue", MESSAGE_COUNT, field("consumer-count", "long")),
    ),
    *_QUEUE.call("bind", 20, Side.CLIENT, TICKET, "queue", "exchange", "routing-key", NO_WAIT, "arguments"),
    *_QUEUE.call("unbind", 50, Side.CLIENT, TICKET, "queue", "exchange", "routing-key", "arguments"),
    *_QUEUE.call("purge", 30, Side.CLIENT, TICKET, "queue", NO_WAIT, ok=(MESSAGE_COUNT,)),
    *_QUEUE.call(
        "delete", 40, Side.CLIENT, TICKET, "queue", "if-unused", "if-empty", NO_WAIT, ok=(MESSAGE_COUNT,)
    ),
)
"""The queue class (50): declare, bind, unbind, purge, delete."""

_BASIC = Rows("basic", 60)
BASIC = _BASIC.table(
    *_BASIC.call("qos", 10, Side.CLIENT, *PREFETCH, "global"),
    *_BASIC.call("consume", 20, Side.CLIENT, TICKET, *CONSUME, NO_WAIT, "arguments", ok=("consumer-tag",)),
    *_BASIC.call("cancel", 30, Side.CLIENT, "consumer-tag", NO_WAIT, ok=("consumer-tag",)),
    _BASIC.method("publish", 40, Side.CLIENT, TICKET, *PUBLISH, content=True),
    _BASIC.method("return", 50, Side.SERVER, *RETURN, content=True),
    _BASIC.method("deliver", 60, Side.SERVER, *DELIVERY, content=True),
    _BASIC.method(
        "get", 70, Side.CLIENT, TICKET, "queue", "no-ack", replies=("get-ok", "get-empty"), synchronous=True
    ),
    _BASIC.method("get-ok", 71, Side.SERVER, *MESSAGE, MESSAGE_COUNT, content=True, synchronous=True),
    _BASIC.method("get-empty", 72, Side.SERVER, reserved("reserved-1", "shortstr"), synchronous=True),
    _BASIC.method("ack", 80, Side.CLIENT, "delivery-tag", "multiple"),
    _BASIC.method("reject", 90, Side.CLIENT, "delivery-tag", "requeue"),
    _BASIC.method("recover-async", 100, Side.CLIENT, "requeue"),
    *_BASIC.call("recover", 110, Side.CLIENT, "requeue"),
    properties=(*BASIC_CONTENT, field("reserved", "shortstr")),
)
"""The basic class (60): consumers, publishing, delivery, acknowledgement, and the properties of a content.

The XML names no reply of ``recover``; the text of ``recover-ok`` does, and so does this table. Negative
acknowledgements, and what else the server may send, belong to the overlay.
"""

CLASSES = (CONNECTION, CHANNEL, EXCHANGE, QUEUE, BASIC, TX)
