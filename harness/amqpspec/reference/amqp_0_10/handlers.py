"""The registry of command handlers.

Knows: names of commands. Must not know: the effects of handlers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from amqpspec.reference.amqp_0_10.orders import Order
from amqpspec.reference.amqp_0_10.session import Session
from amqpspec.wire.amqp_0_10.values import Packed

Handler: TypeAlias = Callable[[Session, Order], Packed | None]
COMMANDS: dict[str, Handler] = {}


def executes(name: str) -> Callable[[Handler], Handler]:
    """Register the handler of a command; what it returns is the command's result."""

    def register(handler: Handler) -> Handler:
        COMMANDS[name] = handler
        return handler

    return register
