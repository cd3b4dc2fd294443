"""What productions of AMQP/Fast need and give in a sequence.

Knows: a little of what commands do to channels, handles and messages. Must not know: who draws sequences.
"""

from __future__ import annotations

from collections.abc import Mapping

from amqpspec.fuzz.states.model import Turn, turn

_TURNS: Mapping[str, Turn] = {
    "greeting": turn(to="login"),
    "command/connection.response": turn(to="tuning"),
    "command/connection.tune": turn(),
    "command/connection.open": turn(to="open"),
    "command/connection.ping": turn(),
    "command/connection.ping/quiet": turn(),
    "frame/escaped": turn(),
    "command/channel.open": turn(lacks="channel", gives="channel", to="channel"),
    "command/channel.open/transacted": turn(lacks="second", gives="second"),
    "command/channel.open/restartable": turn(lacks="second", gives="second"),
    "command/channel.close": turn(takes="channel handle delivery", to="channel-closed"),
    "command/channel.ack": turn(needs="delivery", takes="delivery"),
    "command/channel.commit": turn(needs="tx"),
    "command/channel.rollback": turn(needs="tx"),
    "command/handle.open": turn(needs="channel", lacks="new", gives="new"),
    "command/handle.close": turn(needs="handle", takes="handle delivery", to="handle-closed"),
    "command/handle.consume": turn(needs="handle"),
    "command/handle.consume/queue": turn(needs="handle"),
    "command/handle.flow": turn(needs="handle"),
    "command/handle.flow/pause": turn(needs="handle"),
    "command/handle.unget": turn(needs="delivery", takes="delivery"),
    "command/handle.query": turn(needs="handle"),
    "command/handle.send": turn(needs="handle"),
    "command/handle.send/any": turn(needs="handle"),
    "message/fragments": turn(needs="handle"),
}
FACTS: Mapping[str, str] = {
    "channel": "channel", "transacted": "channel tx", "handle": "channel handle", "handle-closed": "channel",
    "consuming": "channel handle delivery",
}  # fmt: skip
"""What holds at the end of a state's own way."""


def turn_of(production: str) -> Turn | None:
    """The turn of a production; None for one that takes part in no sequence."""
    return turn(needs="handle") if production.startswith("table/") else _TURNS.get(production)
