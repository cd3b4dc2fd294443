"""The legal way into each state of a dialect, and its octets.

Knows: which driver has the states. Must not know: sockets, time, how a target answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from amqpspec.fuzz.grammar import Grammar, grammar
from amqpspec.fuzz.states.model import State, Step, Values
from amqpspec.fuzz.states.part import states_part
from amqpspec.spec.model import Side

_KEPT_STEPS = 4096
_rendered: dict[tuple[object, ...], tuple[Step, bytes]] = {}
"""By the step's identity, which is its own as long as the step is kept with the octets: hashing it takes longer."""


def way(dialect_id: str, name: str, mechanism: str = "PLAIN") -> tuple[Step, ...]:
    """The steps into a state for a login by a mechanism."""
    return states_part(dialect_id).way_for(states(dialect_id)[name].steps, mechanism)


def octets_of_step(dialect_id: str, step: Step, values: Values) -> bytes:
    """The octets of a step with filled slots; cached while the slots have the same values."""
    key = (dialect_id, id(step), *[values.of(slot) for slot in step.slots])
    cached = _rendered.get(key)
    if cached is None or cached[0] is not step:
        if len(_rendered) >= _KEPT_STEPS:
            _rendered.clear()
        render = states_part(dialect_id).octets_of
        cached = _rendered[key] = (step, b"".join(render(say, values) for say in step.says))
    return cached[1]


@cache
def states(dialect_id: str) -> Mapping[str, State]:
    """The states of a dialect by name, in the order of a conversation."""
    known = grammar(dialect_id)
    return {state.name: _only_known(state, known) for state in states_part(dialect_id).states()}


def _only_known(state: State, known: Grammar) -> State:
    """A state whose next productions are those that the dialect has; a way may name more than one dialect has."""
    return replace(state, next=tuple(name for name in state.next if name in known))


def from_client(dialect_id: str, name: str) -> bool:
    """Whether a production may come from a client."""
    return grammar(dialect_id)[name].sent_by is not Side.SERVER
