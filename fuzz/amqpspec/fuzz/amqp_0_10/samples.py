"""Sample values of AMQP 0-10's fields, for the parts of a production that are not mutated.

Knows: words that any server can take. Must not know: where they are on the wire.
"""

from __future__ import annotations

from collections.abc import Mapping

from amqpspec.spec.assemblies import AssemblyDialect, Content, PackedField

QUEUE, EXCHANGE, DESTINATION, CHANNEL = "amqpspec.fuzz.q", "amq.direct", "amqpspec.fuzz.d", 1
LOGIN = b"\0guest\0guest"

_BY_FIELD: Mapping[str, object] = {
    "connection.start-ok mechanism": "PLAIN",
    "connection.start-ok response": LOGIN,
    "connection.start-ok locale": "en_US",
    "connection.tune-ok channel-max": 64,
    "connection.tune-ok max-frame-size": 4096,
    "connection.open virtual-host": "",
    "connection.close reply-code": 200,
    "session.command-point command-id": 0,
    "exchange.declare exchange": "amqpspec.fuzz.x",
    "exchange.declare type": "direct",
    "exchange.delete exchange": "amqpspec.fuzz.x",
    "exchange.query name": EXCHANGE,
    "message.transfer destination": EXCHANGE,
    "message.transfer accept-mode": 1,
    "message.subscribe accept-mode": 1,
    "message.flow value": 10,
    "file.open content-size": 8,
    "execution.exception error-code": 541,
    "message.delivery-properties routing-key": "amqpspec.fuzz.none",
    "message.delivery-properties exchange": EXCHANGE,
    "message.message-properties content-type": "text/plain",
    "message.message-properties content-encoding": "identity",
    "message.message-properties content-length": 8,
    "message.message-properties user-id": b"guest",
    "execution.result value": "message.acquired",
}
_BY_NAME: Mapping[str, object] = {
    "queue": QUEUE, "exchange": EXCHANGE, "destination": DESTINATION, "binding-key": "k", "routing-key": "k",
    "priority": 4, "delivery-mode": 1, "consumer-tag": "amqpspec.fuzz.c", "name": b"amqpspec-fuzz-new",
    "expiration": 4_000_000_000, "timestamp": 1_700_000_000, "ttl": 60_000, "reply-code": 200, "identifier": "one",
    "prefetch-count": 10,
}  # fmt: skip
_LEFT_OUT = frozenset(
    {
        "alternate-exchange", "passive", "durable", "if-unused", "if-empty", "resume-id", "resume-ttl", "immediate",
        "exclusive", "timeout", "redelivered", "user-id", "message-id", "discard-unroutable", "heartbeat",
    }
)  # fmt: skip
"""Fields that change the meaning of what carries them, or that would make a sample be refused."""
_ZERO = {Content.UTF8: "s", Content.LATIN: b"s", Content.UTF16: "s", Content.OPAQUE: b"octets"}


def sample(dialect: AssemblyDialect, owner: str, field: PackedField) -> object:
    """The sample of a field; of a map, names to the names of types."""
    by_field = _BY_FIELD.get(f"{owner} {field.name}")
    if by_field is not None:
        return by_field
    kind = dialect.types_by_name.get(dialect.base(field.type))
    if kind is None:
        return {}
    if kind.content is Content.MAP:
        return {"k": "str16"}
    texts = kind.content in _ZERO
    named = _BY_NAME.get(field.name)
    if named is not None and isinstance(named, str | bytes) is texts:
        return named
    choices = dialect.choices(field.type)
    return _ZERO.get(kind.content, int(choices[0].value) if choices else 0)


def is_given(field: PackedField, *, full: bool) -> bool:
    """Whether a field has a value in a sample: those that have to, or all that fit."""
    return field.required or (full and field.name not in _LEFT_OUT and field.type != "bit")
