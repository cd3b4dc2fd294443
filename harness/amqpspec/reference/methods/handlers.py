"""The handlers of methods: of those that arrive on a channel or on channel 0, and of whole contents.

Knows: names of methods. Must not know: the effects of handlers.
"""

from __future__ import annotations

from collections.abc import Callable

from amqpspec.reference.handlers import Handlers
from amqpspec.reference.methods.channel import Channel
from amqpspec.reference.methods.connection import Connection
from amqpspec.reference.methods.contents import Received
from amqpspec.wire.methods.codec import Call

CHANNEL_HANDLERS = Handlers[Callable[[Channel, Call], None]]()
CONNECTION_HANDLERS = Handlers[Callable[[Connection, Call], None]]()
CONTENT_HANDLERS = Handlers[Callable[[Channel, Received], None]]()

handles = CHANNEL_HANDLERS.register
handles_on_connection = CONNECTION_HANDLERS.register
handles_content = CONTENT_HANDLERS.register
