"""Names of queues and exchanges as a client declares them."""

from __future__ import annotations

from amqpspec.suites.clients_0_9_1 import naming
from amqpspec.suites.clients_wire_9_1._family import borrow

borrow(globals(), naming)
