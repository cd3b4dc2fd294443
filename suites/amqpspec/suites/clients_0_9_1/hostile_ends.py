"""Servers that end, stop sending, or never stop."""

from __future__ import annotations

from amqpspec.suites.clients_0_9_1._ends import ends, floods, silences
from amqpspec.suites.clients_0_9_1._hostile import OCTETS, hostile

hostile(globals(), ends(OCTETS), silences(), floods(OCTETS))
