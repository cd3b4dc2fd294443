"""The handlers of commands; what a handler returns is the command's result.

Knows: names of commands. Must not know: the effects of handlers.
"""

from __future__ import annotations

from collections.abc import Callable

from amqpspec.reference.amqp_0_10.orders import Order
from amqpspec.reference.amqp_0_10.session import Session
from amqpspec.reference.handlers import Handlers
from amqpspec.wire.amqp_0_10.values import Packed

COMMANDS = Handlers[Callable[[Session, Order], Packed | None]]()
executes = COMMANDS.register
