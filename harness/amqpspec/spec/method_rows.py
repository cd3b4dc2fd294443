"""How the tables of the 0-9 family are written, and what its published dialects have in common.

Knows: that a call has an answer, and which domains, arguments and properties dialects share.
Must not know: what only one of them has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from amqpspec.spec.methods import AmqpClass, Field, Method
from amqpspec.spec.model import Side

DOMAINS: Mapping[str, str] = MappingProxyType(
    {
        "class-id": "short",
        "consumer-tag": "shortstr",
        "delivery-tag": "longlong",
        "exchange-name": "shortstr",
        "method-id": "short",
        "no-ack": "bit",
        "no-local": "bit",
        "path": "shortstr",
        "peer-properties": "table",
        "queue-name": "shortstr",
        "redelivered": "bit",
        "reply-code": "short",
        "reply-text": "shortstr",
        "bit": "bit",
        "octet": "octet",
        "short": "short",
        "long": "long",
        "longlong": "longlong",
        "shortstr": "shortstr",
        "longstr": "longstr",
        "timestamp": "timestamp",
        "table": "table",
    }
)
"""The primitive of each domain that the dialects share."""

_DOMAIN_OF: Mapping[str, str] = MappingProxyType(
    {
        "active": "bit",
        "arguments": "table",
        "auto-delete": "bit",
        "class-id": "class-id",
        "consumer-tag": "consumer-tag",
        "delivery-tag": "delivery-tag",
        "durable": "bit",
        "exchange": "exchange-name",
        "exclusive": "bit",
        "global": "bit",
        "if-empty": "bit",
        "if-unused": "bit",
        "immediate": "bit",
        "internal": "bit",
        "mandatory": "bit",
        "method-id": "method-id",
        "multiple": "bit",
        "no-ack": "no-ack",
        "no-local": "no-local",
        "passive": "bit",
        "prefetch-count": "short",
        "prefetch-size": "long",
        "queue": "queue-name",
        "redelivered": "redelivered",
        "reply-code": "reply-code",
        "reply-text": "reply-text",
        "requeue": "bit",
        "routing-key": "shortstr",
    }
)
"""The domain of each argument that means the same wherever its name occurs."""


def field(name: str, domain: str) -> Field:
    """An argument or property whose domain gives its type; raises KeyError for an unknown domain."""
    return Field(name, DOMAINS[domain], domain)


def _arguments(fields: tuple[Field | str, ...]) -> tuple[Field, ...]:
    return tuple(field(f, _DOMAIN_OF[f]) if isinstance(f, str) else f for f in fields)


@dataclass(frozen=True)
class Rows:
    """Makes the rows of one class: its name stands before each name, its index before each index.

    An argument that is common to the family is given by its name.
    """

    name: str
    index: int
    extension: bool = False

    def method(
        self,
        name: str,
        index: int,
        sent_by: Side,
        *fields: Field | str,
        replies: tuple[str, ...] = (),
        content: bool = False,
        synchronous: bool = False,
    ) -> Method:
        """Any method; ``replies`` are methods of the same class."""
        return Method(
            f"{self.name}.{name}",
            self.index,
            index,
            sent_by,
            _arguments(fields),
            tuple(f"{self.name}.{reply}" for reply in replies),
            content,
            synchronous,
            self.extension,
        )

    def call(
        self, name: str, index: int, sent_by: Side, *fields: Field | str, ok: tuple[Field | str, ...] = ()
    ) -> tuple[Method, Method]:
        """A method and its answer: ``-ok`` with the fields ``ok``, from the other side, has the index after it."""
        answered_by = {Side.CLIENT: Side.SERVER, Side.SERVER: Side.CLIENT, Side.BOTH: Side.BOTH}[sent_by]
        return (
            self.method(name, index, sent_by, *fields, replies=(f"{name}-ok",), synchronous=True),
            self.method(f"{name}-ok", index + 1, answered_by, *ok, synchronous=True),
        )

    def table(self, *methods: Method, properties: tuple[Field, ...] = ()) -> AmqpClass:
        """The class, with its methods in the order of the specification and its properties in flag order."""
        return AmqpClass(self.name, self.index, methods, properties)


START = (
    field("version-major", "octet"),
    field("version-minor", "octet"),
    field("server-properties", "peer-properties"),
    field("mechanisms", "longstr"),
    field("locales", "longstr"),
)
START_OK = (
    field("client-properties", "peer-properties"),
    field("mechanism", "shortstr"),
    field("response", "longstr"),
    field("locale", "shortstr"),
)
LIMITS = (field("channel-max", "short"), field("frame-max", "long"), field("heartbeat", "short"))
CLOSE = ("reply-code", "reply-text", "class-id", "method-id")
QUEUE_DECLARE = ("queue", "passive", "durable", "exclusive", "auto-delete")
PREFETCH = ("prefetch-size", "prefetch-count")
CONSUME = ("queue", "consumer-tag", "no-local", "no-ack", "exclusive")
PUBLISH = ("exchange", "routing-key", "mandatory", "immediate")
RETURN = ("reply-code", "reply-text", "exchange", "routing-key")
MESSAGE = ("delivery-tag", "redelivered", "exchange", "routing-key")
DELIVERY = ("consumer-tag", *MESSAGE)

CONTENT = (
    field("content-type", "shortstr"),
    field("content-encoding", "shortstr"),
    field("headers", "table"),
)
"""The properties with which those of basic, file and stream contents begin."""

BASIC_CONTENT = (
    *CONTENT,
    field("delivery-mode", "octet"),
    field("priority", "octet"),
    field("correlation-id", "shortstr"),
    field("reply-to", "shortstr"),
    field("expiration", "shortstr"),
    field("message-id", "shortstr"),
    field("timestamp", "timestamp"),
    field("type", "shortstr"),
    field("user-id", "shortstr"),
    field("app-id", "shortstr"),
)
"""The properties of a basic content but for the last one."""

_TX = Rows("tx", 90)
TX = _TX.table(
    *_TX.call("select", 10, Side.CLIENT),
    *_TX.call("commit", 20, Side.CLIENT),
    *_TX.call("rollback", 30, Side.CLIENT),
)
"""The tx class (90): select, commit, rollback of a channel's own transaction. None has arguments."""
