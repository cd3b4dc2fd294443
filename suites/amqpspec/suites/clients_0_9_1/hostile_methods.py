"""Servers that send methods in the wrong place, or with arguments that cannot be decoded."""

from __future__ import annotations

from amqpspec.suites.clients_0_9_1._hostile import OCTETS, hostile
from amqpspec.suites.clients_0_9_1._methods import arguments, starts, unasked

hostile(
    globals(),
    unasked(OCTETS),
    arguments(OCTETS),
    starts(OCTETS, (0, 10), b"AMQP\x00\x00\x0a\x00"),
)
