"""Random mutation after the families: productions and corpus entries under stacked mutators, each drawn from its id.

Knows: which choices an id determines. Must not know: what made one production more worth than another.

Weights decide which production and state the next id names, not what that id means: an id made under any weights gives
the same octets under all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from amqpspec.fuzz.grammar import grammar, grammar_hash
from amqpspec.fuzz.inputs.corpus import entries_of, tree_of
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import RANDOM, IdError, InputId
from amqpspec.fuzz.states.ways import states
from amqpspec.fuzz.trees.choices import ChoiceKey, Choices
from amqpspec.fuzz.trees.mutators import stacked
from amqpspec.fuzz.trees.tree import Node, octets_of

_MAX_MUTATORS = 4
_MAX_FRAMES = 3
MAX_STEP_OCTETS = 1 << 20
"""Where a step ends, however often its parts were repeated."""

_PRODUCTION = "@"

Origin = tuple[str, str]
"""A role (a production, a corpus entry, or two of them) and a state."""


def role_of(production: str) -> str:
    """A production's name as the role of an id."""
    return production.replace("/", _PRODUCTION)


@cache
def origins(dialect_id: str) -> tuple[Origin, ...]:
    """Every production in every state in which it may come next: what has weight before anything is known."""
    known = states(dialect_id).values()
    return tuple((role_of(name), state.name) for state in known for name in state.next)


def random_id(
    dialect_id: str, seed: int, counter: int, weights: Mapping[Origin, int] | None = None
) -> InputId:
    """The id of one random input; with weights, of an origin drawn by them (all at least 0, not all 0)."""
    hash8 = grammar_hash(dialect_id)
    choices = Choices(ChoiceKey(hash8, RANDOM, "origin", seed, counter))
    if weights is None:
        role, state = choices.pick(origins(dialect_id))
    else:
        drawn = list(weights)
        role, state = drawn[choices.weighted([weights[origin] for origin in drawn])]
    return InputId(hash8, RANDOM, role, state, seed, counter)


def random_input(dialect_id: str, id: InputId, corpus: Mapping[str, bytes] | None = None) -> FuzzInput:
    """The input that a random id names; raises IdError. ``corpus`` holds entries by their role.

    Of an entry with another one, all parts and frames that are put in are of the other one.
    """
    if id.state not in states(dialect_id):
        raise IdError(f"input id: expected a state of {dialect_id}, actual {id.state}")
    root, donors = _root(dialect_id, id.role, corpus or {})
    choices = Choices(ChoiceKey(id.grammar, RANDOM, f"{id.role}/{id.state}", id.seed, id.counter))
    steps, words = mutated(root, choices, donors)
    return FuzzInput(id, dialect_id, id.state, steps, words)


def mutated(root: Node, choices: Choices, donors: Sequence[Node]) -> tuple[tuple[bytes, ...], str]:
    """A tree under one mutator or more, with some others before and after it sometimes; octets by step, and words."""
    count = 1 + choices.weighted([1 << left for left in range(_MAX_MUTATORS, 0, -1)])
    tree, names = stacked(root, choices, donors, count)
    frames = [octets_of(tree)]
    for _ in range(choices.weighted([1 << 2 * left for left in range(_MAX_FRAMES, 0, -1)])):
        other = octets_of(choices.pick(donors)) if donors else b""
        frames.insert(choices.below(len(frames) + 1), other)
    return tuple(
        octets[:MAX_STEP_OCTETS] for octets in frames if octets
    ), f"{root.name}: {', '.join(names) or 'nothing'}"


def _root(dialect_id: str, role: str, corpus: Mapping[str, bytes]) -> tuple[Node, Sequence[Node]]:
    """The tree that is changed, and those that give parts."""
    entries = entries_of(role)
    if missing := [name for name in entries if name not in corpus]:
        raise IdError(f"input id: expected an entry of the given corpus, actual {missing[0]}")
    if entries:
        root, *others = (tree_of(dialect_id, corpus[name]) for name in entries)
        return root, others or _donors(dialect_id)
    production = grammar(dialect_id).get(role.replace(_PRODUCTION, "/"))
    if production is None:
        raise IdError(f"input id: expected a production of {dialect_id}, actual {role}")
    return production.tree, _donors(dialect_id)


@cache
def _donors(dialect_id: str) -> tuple[Node, ...]:
    return tuple(p.tree for p in grammar(dialect_id).values())
