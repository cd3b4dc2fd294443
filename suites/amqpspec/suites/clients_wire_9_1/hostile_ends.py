"""Servers that end, fall silent, or never end."""

from __future__ import annotations

from amqpspec.suites.clients_0_9_1._ends import ends, floods, silences
from amqpspec.suites.clients_wire_9_1._family import OCTETS, hostile

hostile(globals(), ends(OCTETS), silences(), floods(OCTETS))
