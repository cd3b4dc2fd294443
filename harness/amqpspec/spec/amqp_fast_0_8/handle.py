"""The commands on handles (30 to 49): sending, consuming, browsing, restartable messages, closing.

Knows: codes, fields in order, who sends what, what answers it, what follows it. Must not know: what happens to a
handle or a message.

Readings. ``out-of-band`` of SEND and NOTIFY is a short string in the grammar and a bit in the tables, which also say
what it does when it is set: a bit is meant. The grammar leaves ``selector`` open: CONSUME has a table of fields, QUERY
a long string in a syntax of its own; the octets around both are the same. The history of changes has a flag
``immediate`` in SEND, which neither grammar nor table has; it would be one more bit of the same octet.
The summary for servers answers BROWSE and READY by HANDLE SEND, which a client never expects: NOTIFY is meant.
"""

from __future__ import annotations

from amqpspec.spec.amqp_fast_0_8.channel import CHANNEL, MESSAGE_NBR
from amqpspec.spec.amqp_fast_0_8.connection import CONFIRM, OPTIONS, REPLY
from amqpspec.spec.commands import Command, CommandField, Payload
from amqpspec.spec.model import Side

HANDLE = CommandField("handle-id", "short", at_least=1)
DEST_NAME = CommandField("dest-name", "shortstr")
MIME_TYPE = CommandField("mime-type", "shortstr")
ENCODING = CommandField("encoding", "shortstr")
FRAGMENT_SIZE = CommandField("fragment-size", "long")

FRAGMENT = (
    FRAGMENT_SIZE,
    CommandField("partial", "bit"),
    CommandField("out-of-band", "bit"),
    CommandField("recovery", "bit"),
)
"""The fragment header, the same in SEND and NOTIFY: what follows the frame, and how it belongs to a message."""

MESSAGE_HEAD = (
    CommandField("body-size", "long"),
    CommandField("persistent", "bit"),
    CommandField("priority", "octet", at_most=9),
    CommandField("expiration", "long"),
    MIME_TYPE,
    ENCODING,
    CommandField("identifier", "shortstr"),
    CommandField("headers", "table"),
)
"""The head of a message, at the beginning of its first fragment."""

COMMANDS = (
    Command(
        "handle.open",
        30,
        Side.CLIENT,
        (
            CHANNEL,
            HANDLE,
            CONFIRM,
            CommandField("producer", "bit"),
            CommandField("consumer", "bit"),
            CommandField("browser", "bit"),
            MIME_TYPE,
            ENCODING,
            OPTIONS,
        ),
    ),
    Command(
        "handle.send",
        31,
        Side.CLIENT,
        (
            HANDLE,
            CONFIRM,
            CommandField("service-type", "short", at_least=1, at_most=3),
            *FRAGMENT,
            DEST_NAME,
        ),
        payload=Payload.FRAGMENT,
    ),
    Command(
        "handle.consume",
        32,
        Side.CLIENT,
        (
            HANDLE,
            CONFIRM,
            CommandField("service-type", "short", at_least=1, at_most=2),
            CommandField("prefetch", "short", at_least=1),
            CommandField("no-local", "bit"),
            CommandField("no-ack", "bit"),
            CommandField("dynamic", "bit"),
            CommandField("exclusive", "bit"),
            DEST_NAME,
            CommandField("selector", "table"),
        ),
        answers=("handle.created", "handle.notify", "handle.prepare"),
    ),
    Command("handle.flow", 34, Side.CLIENT, (HANDLE, CONFIRM, CommandField("flow-pause", "bit"))),
    Command("handle.unget", 35, Side.CLIENT, (HANDLE, CONFIRM, MESSAGE_NBR)),
    Command(
        "handle.query",
        36,
        Side.CLIENT,
        (HANDLE, MESSAGE_NBR, DEST_NAME, CommandField("selector", "longstr"), MIME_TYPE),
        answers=("handle.index",),
    ),
    Command("handle.browse", 37, Side.CLIENT, (HANDLE, CONFIRM, MESSAGE_NBR), answers=("handle.notify",)),
    Command("handle.created", 40, Side.SERVER, (HANDLE, DEST_NAME)),
    Command(
        "handle.notify",
        41,
        Side.SERVER,
        (
            HANDLE,
            MESSAGE_NBR,
            *FRAGMENT,
            CommandField("delivered", "bit"),
            CommandField("redelivered", "bit"),
            DEST_NAME,
        ),
        answers=("channel.ack", "handle.unget"),
        payload=Payload.FRAGMENT,
    ),
    Command("handle.index", 42, Side.SERVER, (HANDLE, MESSAGE_NBR, CommandField("message-list", "longstr"))),
    Command(
        "handle.prepare",
        43,
        Side.BOTH,
        (HANDLE, FRAGMENT_SIZE, CommandField("content-hash", "shortstr")),
        answers=("handle.ready",),
        payload=Payload.HEAD,
    ),
    Command(
        "handle.ready",
        44,
        Side.BOTH,
        (HANDLE, CommandField("message-size", "long")),
        answers=("handle.send", "handle.notify"),
    ),
    Command("handle.reply", 48, Side.SERVER, (HANDLE, CONFIRM, *REPLY)),
    Command("handle.close", 49, Side.BOTH, (HANDLE, *REPLY), answers=("handle.close",)),
)
