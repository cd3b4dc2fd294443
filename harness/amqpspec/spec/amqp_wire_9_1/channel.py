"""The channel class (20): open, flow, alert, close.

Knows: its methods and their arguments, in the order of the definition. ``open`` names the out-of-band
transport, empty for none; ``open-ok`` carries nothing.
Must not know: what runs over a channel.
"""

from __future__ import annotations

from amqpspec.spec.amqp_wire_9_1.types import field
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
            fields=(field("out-of-band", "shortstr"),),
            replies=("channel.open-ok",),
            synchronous=True,
        ),
        Method("channel.open-ok", 20, 11, Side.SERVER, synchronous=True),
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
            "channel.alert",
            20,
            30,
            Side.SERVER,
            fields=(
                field("reply-code", "reply-code"),
                field("reply-text", "reply-text"),
                field("details", "table"),
            ),
        ),
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
