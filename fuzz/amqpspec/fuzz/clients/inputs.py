"""Inputs for clients: the families over a server's productions, then random mutation, each with an id of its own.

Knows: places, families, mutators. Must not know: agents, how an input is sent.
Families that bend what only clients say are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import count

from amqpspec.fuzz.clients.part import client_families, server_places
from amqpspec.fuzz.families import FAMILIES
from amqpspec.fuzz.families.base import Bend
from amqpspec.fuzz.grammar import dialect_of, grammar, grammar_hash
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import RANDOM, IdError, InputId
from amqpspec.fuzz.inputs.mutation import MAX_STEP_OCTETS, mutated, role_of
from amqpspec.fuzz.trees.choices import ChoiceKey, Choices
from amqpspec.fuzz.trees.tree import Node
from amqpspec.spec.model import Side


@dataclass(frozen=True, slots=True)
class Bending:
    """One family bending one role at one place: a finite list of inputs, always the same."""

    family: str
    role: str
    place: str
    bends: Callable[[], Iterable[Bend]]

    @property
    def key(self) -> str:
        """``C04/frame.size/server-start``."""
        return f"{self.family}/{self.role}/{self.place}"


@cache
def bendings(dialect_id: str) -> tuple[Bending, ...]:
    """Every family at every place of a dialect."""
    return tuple(
        Bending(family.id, found.role, place.name, found.bends)
        for family in FAMILIES
        if family.id in client_families(dialect_id)
        for place in server_places(dialect_id).values()
        for found in family.locations(dialect_id, place.state)
    )


def family_inputs(dialect_id: str, chosen: Callable[[str], bool]) -> Iterator[FuzzInput]:
    """The inputs of all chosen bendings in turn: the first of each, then the second, as long as there are any."""
    hash8 = grammar_hash(dialect_id)
    left = [(one, iter(enumerate(one.bends()))) for one in bendings(dialect_id) if chosen(one.key)]
    while left:
        for one, bends in tuple(left):
            found = next(bends, None)
            if found is None:
                left.remove((one, bends))
                continue
            number, bend = found
            id = InputId(hash8, one.family, one.role, one.place, 0, number)
            yield FuzzInput(id, dialect_id, one.place, _limited(bend.steps), bend.words)


def random_inputs(dialect_id: str, seed: int, chosen: Callable[[str], bool]) -> Iterator[FuzzInput]:
    """Random mutation without end, at the places of the chosen bendings."""
    places = tuple(dict.fromkeys(one.place for one in bendings(dialect_id) if chosen(one.key)))
    for number in count() if places else ():
        yield _random(dialect_id, seed, number, places[number % len(places)])


def _random(dialect_id: str, seed: int, number: int, place: str) -> FuzzInput:
    hash8 = grammar_hash(dialect_id)
    choices = Choices(ChoiceKey(hash8, RANDOM, f"client/{place}", seed, number))
    production = choices.pick(server_places(dialect_id)[place].next)
    steps, words = mutated(grammar(dialect_id)[production].tree, choices, _donors(dialect_id))
    id = InputId(hash8, RANDOM, role_of(production), place, seed, number)
    return FuzzInput(id, dialect_id, place, _limited(steps), words)


@cache
def _donors(dialect_id: str) -> tuple[Node, ...]:
    return tuple(p.tree for p in grammar(dialect_id).values() if p.sent_by is not Side.CLIENT)


def _limited(steps: tuple[bytes, ...]) -> tuple[bytes, ...]:
    return tuple(step[:MAX_STEP_OCTETS] for step in steps)


def resolved(id: InputId) -> FuzzInput:
    """The input that an id names; raises IdError."""
    dialect_id = dialect_of(id.grammar)
    if dialect_id is None or id.state not in server_places(dialect_id):
        raise IdError(f"input id: expected one for clients, of the tables of this version, actual {id}")
    if id.family == RANDOM:
        return _random(dialect_id, id.seed, id.counter, id.state)
    for one in bendings(dialect_id):
        if one.key == f"{id.family}/{id.role}/{id.state}":
            for number, bend in enumerate(one.bends()):
                if number == id.counter:
                    return FuzzInput(id, dialect_id, id.state, _limited(bend.steps), bend.words)
    raise IdError(f"input id: expected an input for clients, actual {id}")
