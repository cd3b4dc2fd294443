"""Sequences of AMQP 1.0: steps over connections and links, and the model that says what they may lead to.

Knows: which verbs there are. Must not know: how any of them works.
"""

from __future__ import annotations

from amqpspec.fuzz.amqp_1_0.sequences.desk import TypedDesk
from amqpspec.fuzz.amqp_1_0.sequences.loads import LOADS
from amqpspec.fuzz.amqp_1_0.sequences.verbs import TABLE
from amqpspec.fuzz.sequences.world import programs_of

PROGRAMS = programs_of(TABLE, TypedDesk, LOADS)
"""Verbs in this order, the simplest first; those that end connections are rarer than others."""
