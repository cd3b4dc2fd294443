"""Channels and closes: the order of methods on a channel, and the answers to closes."""

from __future__ import annotations

from amqpspec.suites.clients_0_9_1 import channels
from amqpspec.suites.clients_wire_9_1._family import borrow

borrow(globals(), channels)
