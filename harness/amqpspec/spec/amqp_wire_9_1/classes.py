"""The classes of the AMQP 9.1 wire draft: their methods and arguments, in the order of the definition.

Knows: indexes, senders, arguments, answers, and properties in flag order.
Must not know: which method may follow which, how messages travel, and what a deployed server added later.
"""

from __future__ import annotations

from amqpspec.spec.amqp_wire_9_1.types import KNOWN_HOSTS, TICKET
from amqpspec.spec.method_rows import (
    BASIC_CONTENT,
    CLOSE,
    CONSUME,
    CONTENT,
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

_NOWAIT = field("nowait", "bit")
_MESSAGE_COUNT = field("message-count", "long")
_IDENTIFIER = field("identifier", "shortstr")
_CLUSTER_ID = field("cluster-id", "shortstr")

_CONNECTION = Rows("connection", 10)
CONNECTION = _CONNECTION.table(
    *_CONNECTION.call("start", 10, Side.SERVER, *START, ok=START_OK),
    *_CONNECTION.call(
        "secure", 20, Side.SERVER, field("challenge", "longstr"), ok=(field("response", "longstr"),)
    ),
    *_CONNECTION.call("tune", 30, Side.SERVER, *LIMITS, ok=LIMITS),
    _CONNECTION.method(
        "open",
        40,
        Side.CLIENT,
        field("virtual-host", "path"),
        field("capabilities", "shortstr"),
        field("insist", "bit"),
        replies=("open-ok", "redirect"),
        synchronous=True,
    ),
    _CONNECTION.method("open-ok", 41, Side.SERVER, KNOWN_HOSTS, synchronous=True),
    _CONNECTION.method("redirect", 50, Side.SERVER, field("host", "shortstr"), KNOWN_HOSTS, synchronous=True),
    *_CONNECTION.call("close", 60, Side.BOTH, *CLOSE),
)
"""The connection class (10): start, login, limits, virtual host or redirect, and the end.

``close`` has the index 60 here. The XML gives ``close``'s method-id the domain of a class-id; what is meant is plain.
"""

_CHANNEL = Rows("channel", 20)
CHANNEL = _CHANNEL.table(
    *_CHANNEL.call("open", 10, Side.CLIENT, field("out-of-band", "shortstr")),
    _CHANNEL.method("flow", 20, Side.BOTH, "active", replies=("flow-ok",), synchronous=True),
    _CHANNEL.method("flow-ok", 21, Side.BOTH, "active"),
    _CHANNEL.method("alert", 30, Side.SERVER, "reply-code", "reply-text", field("details", "table")),
    *_CHANNEL.call("close", 40, Side.BOTH, *CLOSE),
)
"""The channel class (20): open, flow, alert, close.

``open`` names the out-of-band transport, empty for none; ``open-ok`` carries nothing.
"""

_ACCESS = Rows("access", 30)
ACCESS = _ACCESS.table(
    *_ACCESS.call(
        "request",
        10,
        Side.CLIENT,
        field("realm", "path"),
        "exclusive",
        "passive",
        "active",
        field("write", "bit"),
        field("read", "bit"),
        ok=(TICKET,),
    ),
)
"""The access class (30): tickets for a realm, which most methods below have to show."""

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
        "auto-delete",
        "internal",
        _NOWAIT,
        "arguments",
    ),
    *_EXCHANGE.call("delete", 20, Side.CLIENT, TICKET, "exchange", "if-unused", _NOWAIT),
)
"""The exchange class (40): declare and delete. Bindings belong to queues."""

_QUEUE = Rows("queue", 50)
QUEUE = _QUEUE.table(
    *_QUEUE.call(
        "declare",
        10,
        Side.CLIENT,
        TICKET,
        *QUEUE_DECLARE,
        _NOWAIT,
        "arguments",
        ok=("queue", _MESSAGE_COUNT, field("consumer-count", "long")),
    ),
    *_QUEUE.call("bind", 20, Side.CLIENT, TICKET, "queue", "exchange", "routing-key", _NOWAIT, "arguments"),
    *_QUEUE.call("purge", 30, Side.CLIENT, TICKET, "queue", _NOWAIT, ok=(_MESSAGE_COUNT,)),
    *_QUEUE.call(
        "delete", 40, Side.CLIENT, TICKET, "queue", "if-unused", "if-empty", _NOWAIT, ok=(_MESSAGE_COUNT,)
    ),
)
"""The queue class (50): declare, bind, purge, delete. There is no unbind."""

_BASIC = Rows("basic", 60)
BASIC = _BASIC.table(
    *_BASIC.call("qos", 10, Side.CLIENT, *PREFETCH, "global"),
    *_BASIC.call("consume", 20, Side.CLIENT, TICKET, *CONSUME, _NOWAIT, ok=("consumer-tag",)),
    *_BASIC.call("cancel", 30, Side.CLIENT, "consumer-tag", _NOWAIT, ok=("consumer-tag",)),
    _BASIC.method("publish", 40, Side.CLIENT, TICKET, *PUBLISH, content=True),
    _BASIC.method("return", 50, Side.SERVER, *RETURN, content=True),
    _BASIC.method("deliver", 60, Side.SERVER, *DELIVERY, content=True),
    _BASIC.method(
        "get", 70, Side.CLIENT, TICKET, "queue", "no-ack", replies=("get-ok", "get-empty"), synchronous=True
    ),
    _BASIC.method("get-ok", 71, Side.SERVER, *MESSAGE, _MESSAGE_COUNT, content=True, synchronous=True),
    _BASIC.method("get-empty", 72, Side.SERVER, _CLUSTER_ID, synchronous=True),
    _BASIC.method("ack", 80, Side.CLIENT, "delivery-tag", "multiple"),
    _BASIC.method("reject", 90, Side.CLIENT, "delivery-tag", "requeue"),
    _BASIC.method("recover", 100, Side.CLIENT, "requeue"),
    properties=(*BASIC_CONTENT, _CLUSTER_ID),
)
"""The basic class (60): consumers, publishing, delivery, acknowledgement, and the properties of a content.

``consume`` takes no arguments table, and nothing answers ``recover``.
"""

_FILE = Rows("file", 70)
FILE = _FILE.table(
    *_FILE.call("qos", 10, Side.CLIENT, *PREFETCH, "global"),
    *_FILE.call("consume", 20, Side.CLIENT, TICKET, *CONSUME, _NOWAIT, ok=("consumer-tag",)),
    *_FILE.call("cancel", 30, Side.CLIENT, "consumer-tag", _NOWAIT, ok=("consumer-tag",)),
    _FILE.method(
        "open",
        40,
        Side.BOTH,
        _IDENTIFIER,
        field("content-size", "longlong"),
        replies=("open-ok",),
        synchronous=True,
    ),
    _FILE.method(
        "open-ok", 41, Side.BOTH, field("staged-size", "longlong"), replies=("stage",), synchronous=True
    ),
    _FILE.method("stage", 50, Side.BOTH, content=True),
    _FILE.method("publish", 60, Side.CLIENT, TICKET, *PUBLISH, _IDENTIFIER),
    _FILE.method("return", 70, Side.SERVER, *RETURN, content=True),
    _FILE.method("deliver", 80, Side.SERVER, *DELIVERY, _IDENTIFIER),
    _FILE.method("ack", 90, Side.CLIENT, "delivery-tag", "multiple"),
    _FILE.method("reject", 100, Side.CLIENT, "delivery-tag", "requeue"),
    properties=(
        *CONTENT,
        field("priority", "octet"),
        field("reply-to", "shortstr"),
        field("message-id", "shortstr"),
        field("filename", "shortstr"),
        field("timestamp", "timestamp"),
        _CLUSTER_ID,
    ),
)
"""The file class (70): contents staged on the peer before they are published or delivered.

``stage`` carries the content; ``publish`` and ``deliver`` refer to it by its identifier.
"""

_STREAM = Rows("stream", 80)
STREAM = _STREAM.table(
    *_STREAM.call("qos", 10, Side.CLIENT, *PREFETCH, field("consume-rate", "long"), "global"),
    *_STREAM.call(
        "consume",
        20,
        Side.CLIENT,
        TICKET,
        "queue",
        "consumer-tag",
        "no-local",
        "exclusive",
        _NOWAIT,
        ok=("consumer-tag",),
    ),
    *_STREAM.call("cancel", 30, Side.CLIENT, "consumer-tag", _NOWAIT, ok=("consumer-tag",)),
    _STREAM.method("publish", 40, Side.CLIENT, TICKET, *PUBLISH, content=True),
    _STREAM.method("return", 50, Side.SERVER, *RETURN, content=True),
    _STREAM.method(
        "deliver", 60, Side.SERVER, "consumer-tag", "delivery-tag", "exchange", "queue", content=True
    ),
    properties=(*CONTENT, field("priority", "octet"), field("timestamp", "timestamp")),
)
"""The stream class (80): contents that flow without acknowledgement, at an agreed rate."""

_DTX = Rows("dtx", 100)
DTX = _DTX.table(
    *_DTX.call("select", 10, Side.CLIENT),
    *_DTX.call("start", 20, Side.CLIENT, field("dtx-identifier", "shortstr")),
)
"""The dtx class (100): a channel takes part in a distributed transaction."""

_TUNNEL = Rows("tunnel", 110)
TUNNEL = _TUNNEL.table(
    _TUNNEL.method("request", 10, Side.BOTH, field("meta-data", "table"), content=True),
    properties=(
        field("headers", "table"),
        field("proxy-name", "shortstr"),
        field("data-name", "shortstr"),
        field("durable", "octet"),
        field("broadcast", "octet"),
    ),
)
"""The tunnel class (110): foreign protocol frames as the content of one method.

In the grammar both sides may send ``request``; the XML obliges only the server to take it.
"""

_TEST = Rows("test", 120)
_OPERATION = field("operation", "octet")
TEST = _TEST.table(
    *_TEST.call(
        "integer",
        10,
        Side.BOTH,
        field("integer-1", "octet"),
        field("integer-2", "short"),
        field("integer-3", "long"),
        field("integer-4", "longlong"),
        _OPERATION,
        ok=(field("result", "longlong"),),
    ),
    *_TEST.call(
        "string",
        20,
        Side.BOTH,
        field("string-1", "shortstr"),
        field("string-2", "longstr"),
        _OPERATION,
        ok=(field("result", "longstr"),),
    ),
    *_TEST.call(
        "table",
        30,
        Side.BOTH,
        field("table", "table"),
        field("integer-op", "octet"),
        field("string-op", "octet"),
        ok=(field("integer-result", "longlong"), field("string-result", "longstr")),
    ),
    _TEST.method("content", 40, Side.BOTH, replies=("content-ok",), content=True, synchronous=True),
    _TEST.method(
        "content-ok", 41, Side.BOTH, field("content-checksum", "long"), content=True, synchronous=True
    ),
)
"""The test class (120): each kind of field out and back, to try an implementation's codec. Both sides may ask."""

CLASSES = (
    CONNECTION,
    CHANNEL,
    ACCESS,
    EXCHANGE,
    QUEUE,
    BASIC,
    FILE,
    STREAM,
    TX,
    DTX,
    TUNNEL,
    TEST,
)
