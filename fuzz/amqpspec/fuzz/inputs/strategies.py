"""Hypothesis strategies from the tables: legal productions, legal ways of a conversation, and bent inputs.

Knows: grammars and states. Must not know: which test draws from them. Strategies of legal values are next to each
driver's grammar.
"""

from __future__ import annotations

from hypothesis import strategies as st

from amqpspec.fuzz.grammar import Production, grammar
from amqpspec.fuzz.inputs.catalogue import cells
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.mutation import random_id, random_input
from amqpspec.fuzz.states.model import State, Step, Values
from amqpspec.fuzz.states.sequences import beginnings, choices, facts_in, turn_of
from amqpspec.fuzz.states.ways import octets_of_step, states
from amqpspec.fuzz.trees.choices import Choices
from amqpspec.fuzz.trees.tree import Node, Place, edited, octets_of, walk

Nodes = st.SearchStrategy[Node]


def exact_octets(width_octets: int) -> st.SearchStrategy[bytes]:
    """Exactly this many octets."""
    return st.binary(min_size=width_octets, max_size=width_octets)


def utf8_octets(max_octets: int) -> st.SearchStrategy[bytes]:
    """Texts; four octets are the most that one character takes."""
    return st.text(max_size=max_octets // 4).map(str.encode)


def productions(dialect_id: str) -> st.SearchStrategy[Production]:
    """Every production of a dialect."""
    return st.sampled_from(list(grammar(dialect_id).values()))


def places(tree: Node) -> st.SearchStrategy[Place]:
    """Every part of a tree."""
    return st.sampled_from(list(walk(tree)))


@st.composite
def legal_sequences(
    draw: st.DrawFn, dialect_id: str, values: Values | None = None
) -> tuple[State, tuple[bytes, ...]]:
    """A way into a state, step by step, and one production that may legally follow."""
    state = draw(st.sampled_from([s for s in states(dialect_id).values() if s.next]))
    steps: tuple[Step, ...] = state.steps
    following = grammar(dialect_id)[draw(st.sampled_from(state.next))]
    sent = tuple(octets_of_step(dialect_id, step, values or Values()) for step in steps)
    return state, (*sent, octets_of(following.tree))


@st.composite
def legal_conversations(
    draw: st.DrawFn, dialect_id: str, most: int = 6
) -> tuple[State, tuple[str, ...], tuple[bytes, ...]]:
    """A state, and productions that may legally follow it one after another: their names and octets."""
    state = draw(st.sampled_from(beginnings(dialect_id)))
    here, facts, names = state.name, facts_in(dialect_id, state), list[str]()
    for _ in range(draw(st.integers(1, most))):
        fitting = choices(dialect_id, here, facts)
        if not fitting:
            break
        names.append(draw(st.sampled_from(fitting)))
        turn = turn_of(dialect_id, names[-1])
        assert turn is not None
        here, facts = turn.to or here, turn.after(facts)
    return state, tuple(names), tuple(octets_of(grammar(dialect_id)[name].tree) for name in names)


@st.composite
def resized(draw: st.DrawFn, dialect_id: str) -> tuple[Node, Place, Node]:
    """A production, one of its parts, and the same production with any octets in that part's place."""
    production = draw(productions(dialect_id))
    place = draw(places(production.tree))
    return production.tree, place, edited(production.tree, place.way, draw(st.binary(max_size=40)))


@st.composite
def family_inputs(draw: st.DrawFn, dialect_id: str) -> FuzzInput:
    """Any input of any cell."""
    cell = draw(st.sampled_from(cells(dialect_id)))
    return cell.input(draw(st.integers(0, cell.inputs - 1)))


@st.composite
def random_inputs(draw: st.DrawFn, dialect_id: str) -> FuzzInput:
    """Random inputs by seed and counter."""
    id = random_id(dialect_id, draw(st.integers(0, 2**32)), draw(st.integers(0, 2**63)))
    return random_input(dialect_id, id)


def replays(max_size: int = 40) -> st.SearchStrategy[Choices]:
    """Choices that hypothesis decides, and shrinks."""
    return st.lists(st.integers(0, 2**32), max_size=max_size).map(lambda record: Choices(replay=record))
