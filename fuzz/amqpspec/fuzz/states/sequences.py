"""Which productions may follow which: legal sequences after a state, by what each needs, gives and takes away.

Knows: states, turns. Must not know: who draws them, what a production is.

The states say what may follow in each of them; a turn says where a production leads, and what has to be there. A
production without a turn ends nothing and begins nothing here: it is left out, as are those whose sample names what no
broker needs to have (a host, a coordinator, classes that hardly any broker has).
"""

from __future__ import annotations

from amqpspec.fuzz.states.model import Facts, State, Turn
from amqpspec.fuzz.states.part import states_part
from amqpspec.fuzz.states.ways import states


def turn_of(dialect_id: str, production: str) -> Turn | None:
    """The turn of a production; None for one that is left out."""
    return states_part(dialect_id).turn_of(production)


def beginnings(dialect_id: str) -> tuple[State, ...]:
    """The states after which a sequence may begin."""
    mute = states_part(dialect_id).handshake.mute
    return tuple(
        s
        for s in states(dialect_id).values()
        if s.name not in mute and choices(dialect_id, s.name, facts_in(dialect_id, s))
    )


def facts_in(dialect_id: str, state: State) -> Facts:
    """What holds when a state has been reached by its own way."""
    return frozenset(states_part(dialect_id).facts_in(state.name).split())


def choices(dialect_id: str, state: str, facts: Facts) -> list[str]:
    """The productions that may come next in a state where facts hold."""
    found = []
    for name in states(dialect_id)[state].next:
        turn = turn_of(dialect_id, name)
        if turn is not None and turn.fits(facts):
            found.append(name)
    return found
