"""Who handles a control or a command of AMQP 0-10: the combinations that occur.

Knows: roles and how strictly they bind. Must not know: any control or command.
"""

from __future__ import annotations

from amqpspec.spec.assemblies import Handler, Role
from amqpspec.spec.model import Level

SERVER = (Handler(Role.SERVER),)
MAYBE_SERVER = (Handler(Role.SERVER, Level.MAY),)
CLIENT = (Handler(Role.CLIENT),)
MAYBE_CLIENT = (Handler(Role.CLIENT, Level.MAY),)
PEERS = SERVER + CLIENT
MAYBE_PEERS = MAYBE_SERVER + MAYBE_CLIENT
SERVER_AND_MAYBE_CLIENT = SERVER + MAYBE_CLIENT
SENDER = (Handler(Role.SENDER),)
RECEIVER = (Handler(Role.RECEIVER),)
ENDS = SENDER + RECEIVER
"""Both ends of a flow of commands."""
