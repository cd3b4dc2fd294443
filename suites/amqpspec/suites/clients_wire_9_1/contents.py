"""Contents, acknowledgements and transactions as a client sends them."""

from __future__ import annotations

from amqpspec.suites.clients_0_9_1 import contents
from amqpspec.suites.clients_wire_9_1._family import borrow

borrow(globals(), contents)
