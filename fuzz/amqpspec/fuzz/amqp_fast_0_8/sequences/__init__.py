"""Sequences of AMQP/Fast: steps over channels and handles, and the model that says what they may lead to.

Knows: which verbs there are. Must not know: how any of them works.
"""

from __future__ import annotations

from amqpspec.fuzz.amqp_fast_0_8.sequences import entities, messages
from amqpspec.fuzz.amqp_fast_0_8.sequences.desk import CommandDesk
from amqpspec.fuzz.amqp_fast_0_8.sequences.loads import LOADS
from amqpspec.fuzz.sequences.world import programs_of

PROGRAMS = programs_of({**entities.VERBS, **messages.VERBS}, CommandDesk, LOADS)
"""Verbs in this order, the simplest first; those that end connections are rarer than others."""
