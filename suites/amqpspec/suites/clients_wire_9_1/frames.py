"""Frames and methods as octets: sizes, ends, channels, arguments."""

from __future__ import annotations

from amqpspec.suites.clients_0_9_1 import frames
from amqpspec.suites.clients_wire_9_1._family import borrow

borrow(globals(), frames)
