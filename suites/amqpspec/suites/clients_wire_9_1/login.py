"""From the protocol header to connection.open: what a client selects from the server's offers."""

from __future__ import annotations

from amqpspec.suites.clients_0_9_1 import login
from amqpspec.suites.clients_wire_9_1._family import borrow

borrow(globals(), login)
