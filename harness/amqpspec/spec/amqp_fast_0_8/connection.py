"""The commands on the connection (10 to 19): login, tuning, opening, heartbeat, closing.

Knows: codes, fields in order, who sends what, what answers it. Must not know: what happens to a connection.

Fields bear the names of the grammar, where the prose has others (protocol-version, mechanism-list).
"""

from __future__ import annotations

from amqpspec.spec.commands import CONFIRM_TAG, Command, CommandField
from amqpspec.spec.model import Side

CONFIRM = CommandField(CONFIRM_TAG, "short")
OPTIONS = CommandField("options", "table")
REPLY = (
    CommandField("reply-code", "short", at_least=100, at_most=599),
    CommandField("reply-text", "shortstr"),
)
"""How every reply and every close ends."""

COMMANDS = (
    Command(
        "connection.challenge",
        10,
        Side.SERVER,
        (
            CommandField("version", "octet", at_least=1),
            CommandField("mechanisms", "shortstr"),
            CommandField("challenges", "table"),
        ),
        answers=("connection.response",),
    ),
    Command(
        "connection.response",
        11,
        Side.CLIENT,
        (CommandField("mechanism", "shortstr"), CommandField("responses", "table")),
        answers=("connection.challenge", "connection.tune"),
    ),
    Command(
        "connection.tune",
        12,
        Side.BOTH,
        (OPTIONS, CommandField("dictionary", "table")),
        answers=("connection.tune", "connection.open"),
        answered_by=Side.CLIENT,
    ),
    Command(
        "connection.open",
        13,
        Side.CLIENT,
        (
            CONFIRM,
            CommandField("virtual-path", "shortstr"),
            CommandField("client-name", "shortstr"),
            OPTIONS,
        ),
    ),
    Command(
        "connection.ping", 14, Side.BOTH, (CommandField("respond", "bit"),), answers=("connection.ping",)
    ),
    Command("connection.reply", 18, Side.SERVER, (CONFIRM, *REPLY)),
    Command("connection.close", 19, Side.BOTH, REPLY, answers=("connection.close",)),
)
