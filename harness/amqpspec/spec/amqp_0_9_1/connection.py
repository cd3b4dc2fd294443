"""The connection class (10): the header's successor, login, limits, virtual host and the end.

Knows: its methods and their arguments, in the order of the specification.
Must not know: which method may follow which; that is a requirement, and the peer's business.
"""

from __future__ import annotations

from amqpspec.spec.amqp_0_9_1.types import field, reserved
from amqpspec.spec.methods import AmqpClass, Method
from amqpspec.spec.model import Side

CLASS = AmqpClass(
    name="connection",
    index=10,
    methods=(
        Method(
            "connection.start",
            10,
            10,
            Side.SERVER,
            fields=(
                field("version-major", "octet"),
                field("version-minor", "octet"),
                field("server-properties", "peer-properties"),
                field("mechanisms", "longstr"),
                field("locales", "longstr"),
            ),
            replies=("connection.start-ok",),
            synchronous=True,
        ),
        Method(
            "connection.start-ok",
            10,
            11,
            Side.CLIENT,
            fields=(
                field("client-properties", "peer-properties"),
                field("mechanism", "shortstr"),
                field("response", "longstr"),
                field("locale", "shortstr"),
            ),
            synchronous=True,
        ),
        Method(
            "connection.secure",
            10,
            20,
            Side.SERVER,
            fields=(field("challenge", "longstr"),),
            replies=("connection.secure-ok",),
            synchronous=True,
        ),
        Method(
            "connection.secure-ok",
            10,
            21,
            Side.CLIENT,
            fields=(field("response", "longstr"),),
            synchronous=True,
        ),
        Method(
            "connection.tune",
            10,
            30,
            Side.SERVER,
            fields=(
                field("channel-max", "short"),
                field("frame-max", "long"),
                field("heartbeat", "short"),
            ),
            replies=("connection.tune-ok",),
            synchronous=True,
        ),
        Method(
            "connection.tune-ok",
            10,
            31,
            Side.CLIENT,
            fields=(
                field("channel-max", "short"),
                field("frame-max", "long"),
                field("heartbeat", "short"),
            ),
            synchronous=True,
        ),
        Method(
            "connection.open",
            10,
            40,
            Side.CLIENT,
            fields=(
                field("virtual-host", "path"),
                reserved("reserved-1", "shortstr"),
                reserved("reserved-2", "bit"),
            ),
            replies=("connection.open-ok",),
            synchronous=True,
        ),
        Method(
            "connection.open-ok",
            10,
            41,
            Side.SERVER,
            fields=(reserved("reserved-1", "shortstr"),),
            synchronous=True,
        ),
        Method(
            "connection.close",
            10,
            50,
            Side.BOTH,
            fields=(
                field("reply-code", "reply-code"),
                field("reply-text", "reply-text"),
                field("class-id", "class-id"),
                field("method-id", "method-id"),
            ),
            replies=("connection.close-ok",),
            synchronous=True,
        ),
        Method("connection.close-ok", 10, 51, Side.BOTH, synchronous=True),
    ),
)
