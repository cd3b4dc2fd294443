"""Sequences of the 0-9 family: steps over connections and channels, and the model that says what they may lead to.

Knows: which verbs there are. Must not know: how any of them works.
"""

from __future__ import annotations

from amqpspec.fuzz.methods.sequences import entities, messages, races
from amqpspec.fuzz.methods.sequences.desk import MethodsDesk
from amqpspec.fuzz.methods.sequences.loads import LOADS
from amqpspec.fuzz.sequences.world import programs_of

PROGRAMS = programs_of({**entities.VERBS, **messages.VERBS, **races.VERBS}, MethodsDesk, LOADS)
"""Verbs in this order, the simplest first; those that end connections are rarer than others."""
