"""Servers that send methods in the wrong place, or with arguments that cannot be decoded."""

from __future__ import annotations

from amqpspec.suites.clients_0_9_1._methods import arguments, starts, unasked
from amqpspec.suites.clients_wire_9_1._family import OCTETS, hostile

hostile(
    globals(),
    unasked(OCTETS),
    arguments(OCTETS),
    starts(OCTETS, (9, 2), b"AMQP\x01\x01\x08\x00"),
)
