"""What productions of AMQP 0-10 need and give in a sequence.

Knows: a little of what commands do to sessions, queues and messages. Must not know: who draws sequences.
"""

from __future__ import annotations

from collections.abc import Mapping

from amqpspec.fuzz.states.model import Turn, turn

# A declare with arguments has no turn: those of the samples are known to no one, and have to be refused.
_TURNS: Mapping[str, Turn] = {
    "protocol-header": turn(to="start"),
    "control/connection.start-ok": turn(to="tune"),
    "control/connection.start-ok/bare": turn(to="tune"),
    "control/connection.tune-ok": turn(to="open"),
    "control/connection.tune-ok/bare": turn(to="open"),
    "control/connection.heartbeat": turn(),
    "control/session.attach": turn(lacks="session", gives="session", to="attached"),
    "control/session.command-point": turn(needs="session", to="session"),
    "control/session.request-timeout": turn(needs="session"),
    "control/session.flush": turn(needs="session"),
    "command/execution.sync": turn(needs="session"),
    "command/exchange.declare/bare": turn(needs="session", gives="exchange"),
    "command/exchange.delete": turn(needs="exchange", takes="exchange"),
    "command/exchange.query": turn(needs="session"),
    "command/exchange.bound": turn(needs="session"),
    "command/queue.declare/bare": turn(needs="session", gives="queue"),
    "command/queue.query": turn(needs="session"),
    "command/queue.purge": turn(needs="queue"),
    "command/queue.delete": turn(needs="queue", takes="queue"),
    "command/tx.select": turn(needs="session", lacks="tx consumer", gives="tx"),
    "command/tx.commit": turn(needs="tx"),
    "command/tx.rollback": turn(needs="tx"),
    "header/message": turn(lacks="header", gives="header"),
    "body": turn(takes="header", to="session"),
    "body/rest": turn(to="session"),
}
_SENDS = ("message/", "type/", "struct/message.delivery")
FACTS: Mapping[str, str] = {
    "attached": "session", "session": "session", "limits": "session", "content": "session", "body": "session",
    "consuming": "session consumer",
}  # fmt: skip
"""What holds at the end of a state's own way."""


def turn_of(production: str) -> Turn | None:
    """The turn of a production; None for one that takes part in no sequence."""
    return turn(needs="session") if production.startswith(_SENDS) else _TURNS.get(production)
