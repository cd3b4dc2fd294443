"""What productions of the 0-9 family need and give in a sequence.

Knows: a little of what methods do to queues, consumers and deliveries. Must not know: who draws sequences.
"""

from __future__ import annotations

from collections.abc import Mapping

from amqpspec.fuzz.states.model import Turn, turn

TURNS: Mapping[str, Turn] = {
    "protocol-header": turn(to="start"),
    "method/connection.start-ok": turn(to="tune"),
    "method/connection.tune-ok": turn(to="open"),
    "method/connection.open": turn(to="ready"),
    "frame/heartbeat": turn(),
    "method/channel.open": turn(lacks="channel", gives="channel", to="channel"),
    "method/channel.flow": turn(),
    "method/access.request": turn(),
    "method/exchange.declare": turn(gives="exchange"),
    "method/exchange.delete": turn(needs="exchange", takes="exchange"),
    "method/exchange.bind": turn(),
    "method/exchange.unbind": turn(),
    "method/queue.declare": turn(gives="queue"),
    "method/queue.bind": turn(needs="queue"),
    "method/queue.unbind": turn(needs="queue"),
    "method/queue.purge": turn(needs="queue"),
    "method/queue.delete": turn(needs="queue", takes="queue consumer"),
    "method/basic.qos": turn(),
    "method/basic.consume": turn(needs="queue", lacks="consumer", gives="consumer"),
    "method/basic.cancel": turn(needs="consumer", takes="consumer"),
    "method/basic.get": turn(needs="queue"),
    "content/basic.publish": turn(),
    "method/basic.ack": turn(needs="delivery", takes="delivery"),
    "method/basic.nack": turn(needs="delivery", takes="delivery"),
    "method/basic.reject": turn(needs="delivery", takes="delivery"),
    "method/basic.recover": turn(takes="delivery"),
    "method/basic.recover-async": turn(takes="delivery"),
    "method/tx.select": turn(lacks="confirms", gives="tx"),
    "method/tx.commit": turn(needs="tx"),
    "method/tx.rollback": turn(needs="tx", takes="delivery"),
    "method/confirm.select": turn(lacks="tx", gives="confirms"),
    "header/basic": turn(to="body"),
    "header/basic/bare": turn(to="body"),
    "body": turn(to="channel"),
}
"""By production; one that is not among them takes part in no sequence."""
FACTS: Mapping[str, str] = {
    "channel": "channel", "consuming": "channel consumer delivery", "content": "channel", "body": "channel",
    "limits": "channel",
}  # fmt: skip
"""What holds at the end of a state's own way."""
