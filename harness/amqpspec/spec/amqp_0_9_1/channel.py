"""The channel class (20): opening, pausing and closing one of the threads of control.

Knows: its methods and their arguments, in the order of the specification.
Must not know: channel numbers or states.
"""

from __future__ import annotations

from amqpspec.spec.amqp_0_9_1.types import field, reserved
from amqpspec.spec.methods import AmqpClass, Method
from amqpspec.spec.model import Side

CLASS = AmqpClass(
    name="channel",
    index=20,
    methods=(
        Method(
            "channel.open",
            20,
            10,
            Side.CLIENT,
            fields=(reserved("reserved-1", "shortstr"),),
            replies=("channel.open-ok",),
            synchronous=True,
        ),
        Method(
            "channel.open-ok",
            20,
            11,
            Side.SERVER,
            fields=(reserved("reserved-1", "longstr"),),
            synchronous=True,
        ),
        Method(
            "channel.flow",
            20,
            20,
            Side.BOTH,
            fields=(field("active", "bit"),),
            replies=("channel.flow-ok",),
            synchronous=True,
        ),
        Method("channel.flow-ok", 20, 21, Side.BOTH, fields=(field("active", "bit"),)),
        Method(
            "channel.close",
            20,
            40,
            Side.BOTH,
            fields=(
                field("reply-code", "reply-code"),
                field("reply-text", "reply-text"),
                field("class-id", "class-id"),
                field("method-id", "method-id"),
            ),
            replies=("channel.close-ok",),
            synchronous=True,
        ),
        Method("channel.close-ok", 20, 41, Side.BOTH, synchronous=True),
    ),
)
