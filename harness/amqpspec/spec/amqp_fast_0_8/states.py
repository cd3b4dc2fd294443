"""The states of connection, channel and handle, of a message in transit, and of a restartable transfer.

Knows: which command leads from which state to which. Must not know: what an implementation does there.

A machine begins in the state of its first row. Between two messages of one direction, a channel is ``between``; after a
fragment that is not the last it is ``within``, and takes no other message of that direction. CONNECTION PING and
CONNECTION CLOSE are legal from the greeting on. A side that sent CLOSE is ``closing`` until it receives CLOSE.
"""

from __future__ import annotations

from amqpspec.spec.commands import Step
from amqpspec.spec.model import Side

INITIATION = "initiation"
"""The two octets of the greeting, which are no command."""

STEPS = (
    Step("connection", "new", Side.CLIENT, INITIATION, "greeted"),
    Step("connection", "greeted", Side.SERVER, "connection.challenge", "challenged"),
    Step("connection", "challenged", Side.CLIENT, "connection.response", "responded"),
    Step("connection", "responded", Side.SERVER, "connection.challenge", "challenged"),
    Step("connection", "responded", Side.SERVER, "connection.tune", "tuning"),
    Step("connection", "tuning", Side.CLIENT, "connection.tune", "tuning"),
    Step("connection", "tuning", Side.CLIENT, "connection.open", "open"),
    Step("connection", "open", Side.SERVER, "connection.reply", "open"),
    Step("connection", "open", Side.BOTH, "connection.ping", "open"),
    Step("connection", "open", Side.BOTH, "connection.close", "closing"),
    Step("connection", "closing", Side.BOTH, "connection.close", "closed"),
    Step("channel", "closed", Side.CLIENT, "channel.open", "open"),
    Step("channel", "open", Side.CLIENT, "channel.ack", "open"),
    Step("channel", "open", Side.CLIENT, "channel.commit", "open", when="transacted"),
    Step("channel", "open", Side.CLIENT, "channel.rollback", "open", when="transacted"),
    Step("channel", "open", Side.SERVER, "channel.reply", "open"),
    Step("channel", "open", Side.BOTH, "channel.close", "closing"),
    Step("channel", "closing", Side.BOTH, "channel.close", "closed"),
    Step("handle", "closed", Side.CLIENT, "handle.open", "open"),
    Step("handle", "open", Side.CLIENT, "handle.send", "open", when="producer"),
    Step("handle", "open", Side.CLIENT, "handle.consume", "consuming", when="consumer"),
    Step("handle", "open", Side.CLIENT, "handle.flow", "open"),
    Step("handle", "open", Side.CLIENT, "handle.query", "open", when="browser"),
    Step("handle", "open", Side.SERVER, "handle.index", "open"),
    Step("handle", "open", Side.CLIENT, "handle.browse", "open", when="browser"),
    Step("handle", "open", Side.SERVER, "handle.notify", "open", when="not delivered"),
    Step("handle", "open", Side.SERVER, "handle.reply", "open"),
    Step("handle", "open", Side.BOTH, "handle.close", "closing"),
    Step("handle", "consuming", Side.SERVER, "handle.created", "consuming"),
    Step("handle", "consuming", Side.SERVER, "handle.notify", "consuming"),
    Step("handle", "consuming", Side.SERVER, "handle.reply", "consuming"),
    Step("handle", "consuming", Side.CLIENT, "handle.flow", "consuming"),
    Step("handle", "consuming", Side.CLIENT, "handle.unget", "consuming"),
    Step("handle", "consuming", Side.CLIENT, "handle.send", "consuming", when="producer"),
    Step("handle", "consuming", Side.CLIENT, "handle.query", "consuming", when="browser"),
    Step("handle", "consuming", Side.SERVER, "handle.index", "consuming"),
    Step("handle", "consuming", Side.CLIENT, "handle.browse", "consuming", when="browser"),
    Step("handle", "consuming", Side.BOTH, "handle.close", "closing"),
    Step("handle", "closing", Side.BOTH, "handle.close", "closed"),
    Step("upward message", "between", Side.CLIENT, "handle.send", "between", when="not partial"),
    Step("upward message", "between", Side.CLIENT, "handle.send", "within", when="partial"),
    Step("upward message", "within", Side.CLIENT, "handle.send", "within", when="partial"),
    Step("upward message", "within", Side.CLIENT, "handle.send", "between", when="not partial"),
    Step("downward message", "between", Side.SERVER, "handle.notify", "between", when="not partial"),
    Step("downward message", "between", Side.SERVER, "handle.notify", "within", when="partial"),
    Step("downward message", "within", Side.SERVER, "handle.notify", "within", when="partial"),
    Step("downward message", "within", Side.SERVER, "handle.notify", "between", when="not partial"),
    Step("upward transfer", "idle", Side.CLIENT, "handle.prepare", "prepared", when="restartable"),
    Step("upward transfer", "prepared", Side.SERVER, "handle.ready", "ready"),
    Step("upward transfer", "ready", Side.CLIENT, "handle.send", "ready", when="partial"),
    Step("upward transfer", "ready", Side.CLIENT, "handle.send", "idle", when="not partial"),
    Step("downward transfer", "idle", Side.SERVER, "handle.prepare", "prepared", when="restartable"),
    Step("downward transfer", "prepared", Side.CLIENT, "handle.ready", "ready"),
    Step("downward transfer", "ready", Side.SERVER, "handle.notify", "ready", when="partial"),
    Step("downward transfer", "ready", Side.SERVER, "handle.notify", "idle", when="not partial"),
)
