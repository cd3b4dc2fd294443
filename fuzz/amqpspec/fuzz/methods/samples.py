"""Sample values of fields, for the parts of a production that are not mutated.

Knows: words that any server can take. Must not know: where they are on the wire.
"""

from __future__ import annotations

from amqpspec.spec.methods import Field, Method

QUEUE, EXCHANGE, CONSUMER = "amqpspec.fuzz.q", "amq.direct", "amqpspec.fuzz.c"
LOGIN = b"\0guest\0guest"
"""The response of an input; the login of a state comes from the target, and never is in an input."""

SMALL_FRAME_MAX_OCTETS, SMALL_CHANNEL_MAX = 8192, 8
"""What the state ``limits`` settles: small frames, and few channels. The specification allows frames of 4,096 octets
(``amqp-0-9-1 frame-min-size``), but RabbitMQ 4 refuses less than 8,192.
"""

_BY_FIELD: dict[str, object] = {
    "connection.start-ok mechanism": "PLAIN",
    "connection.start-ok response": LOGIN,
    "connection.start-ok locale": "en_US",
    "connection.tune-ok channel-max": 64,
    "connection.tune-ok frame-max": SMALL_FRAME_MAX_OCTETS,
    "connection.open virtual-host": "/",
    "exchange.declare exchange": "amqpspec.fuzz.x",
    "exchange.declare type": "direct",
    "exchange.bind destination": "amq.fanout",
    "exchange.bind source": "amq.direct",
    "exchange.unbind destination": "amq.fanout",
    "exchange.unbind source": "amq.direct",
    "exchange.delete exchange": "amqpspec.fuzz.x",
    "basic.publish exchange": "",
    "basic.publish routing-key": QUEUE,
    "basic.qos prefetch-count": 10,
    "access.request realm": "/data",
}
_BY_NAME: dict[str, object] = {
    "queue": QUEUE, "exchange": EXCHANGE, "consumer-tag": CONSUMER, "routing-key": "k", "delivery-tag": 1,
    "reply-code": 200, "delivery-mode": 1, "priority": 4, "expiration": "60000", "content-type": "text/plain",
    "content-encoding": "identity", "timestamp": 1_700_000_000, "user-id": "guest", "mechanisms": b"PLAIN",
    "locales": b"en_US", "virtual-host": "/", "out-of-band": "", "capabilities": "", "known-hosts": "",
}  # fmt: skip
_BY_TYPE: dict[str, object] = {
    "shortstr": "s", "longstr": b"long", "bit": False, "octet": 0, "short": 0, "long": 0, "longlong": 0, "timestamp": 0,
}  # fmt: skip


def method_value(method: Method | None, field: Field) -> object:
    """The sample of an argument, or of a property where ``method`` is None; of a table, names to tags."""
    if field.type == "table":
        return {"k": "long-string"}
    if field.reserved:
        return "" if field.type == "shortstr" else _BY_TYPE[field.type]
    by_field = _BY_FIELD.get(f"{method.name} {field.name}") if method else None
    if by_field is not None:
        return by_field
    named = _BY_NAME.get(field.name)
    fits = isinstance(named, int) != (field.type in ("shortstr", "longstr"))
    return named if named is not None and fits else _BY_TYPE[field.type]


def tag_value(primitive: str, width_octets: int) -> object:
    """The sample of a table value that holds no others."""
    if primitive == "shortstr":
        return "short"
    if primitive in ("longstr", "bytes"):
        return b"long"
    if primitive in ("float", "double"):
        return (b"\x3f\x80" if primitive == "float" else b"\x3f\xf0").ljust(width_octets, b"\0")
    return 1
