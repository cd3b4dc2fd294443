"""Sequences of AMQP 0-10: steps over connections and sessions, and the model that says what they may lead to.

Knows: which verbs there are. Must not know: how any of them works.
"""

from __future__ import annotations

from amqpspec.fuzz.amqp_0_10.sequences import messages, races, sessions
from amqpspec.fuzz.amqp_0_10.sequences.desk import AssemblyDesk
from amqpspec.fuzz.amqp_0_10.sequences.loads import LOADS
from amqpspec.fuzz.sequences.world import programs_of

PROGRAMS = programs_of({**sessions.VERBS, **messages.VERBS, **races.VERBS}, AssemblyDesk, LOADS)
"""Verbs in this order, the simplest first; those that end connections are rarer than others."""
