"""Servers that break the rules of frames and contents: each deed at several points of a conversation."""

from __future__ import annotations

from amqpspec.suites.clients_0_9_1._frames import contents, frames
from amqpspec.suites.clients_0_9_1._hostile import OCTETS, hostile

hostile(globals(), frames(OCTETS), contents(OCTETS))
