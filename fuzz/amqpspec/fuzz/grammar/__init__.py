"""Grammars: every production of a dialect as a tree, made from the dialect's tables.

Knows: which grammar a dialect has, and when it has changed. Must not know: states, families, mutators.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from typing import Protocol, cast

from amqpspec.fuzz.parts import Part, deployed_dialects, fuzzed_dialects, loaded_driver
from amqpspec.fuzz.trees.tree import Node, Role, group, leaf, number
from amqpspec.spec.canonical import canonical
from amqpspec.spec.dialects import load_dialect, widest
from amqpspec.spec.model import Dialect, Side


@dataclass(frozen=True, slots=True)
class Production:
    """A whole thing that can be sent: ``tree`` is one frame or more, legal as it stands.

    ``sent_by`` is who may send it; ``name`` is its kind and what it is called (``method/queue.declare``).
    """

    name: str
    tree: Node
    sent_by: Side = Side.CLIENT


Grammar = Mapping[str, Production]


class GrammarPart(Part, Protocol):
    """The grammar of a dialect.

    ``revision`` has to be raised by one when the same id would give other octets for another reason than a change of
    the tables.
    """

    revision: int = 1

    def productions(self) -> Iterable[Production]:
        """Everything that can be sent, by either side, made from the tables."""
        ...


def _part(dialect_id: str) -> GrammarPart:
    return cast(GrammarPart, loaded_driver(dialect_id))


@cache
def grammar(dialect_id: str) -> Grammar:
    """Every production of a dialect by name; raises KeyError for an unknown dialect."""
    return {production.name: production for production in _part(dialect_id).productions()}


def tables(dialect_id: str) -> Dialect:
    """The tables in which a dialect is spoken: those of its widest overlay."""
    return load_dialect(widest(dialect_id))


def protocol_header(octets: bytes) -> Node:
    """The eight octets that begin a connection."""
    parts = [number(f"octet-{at}", Role.VERSION, 1, octet) for at, octet in enumerate(octets[4:])]
    return group("protocol-header", leaf("name", Role.TEXT, octets[:4], "magic"), *parts)


@cache
def grammar_hash(dialect_id: str) -> str:
    """Eight hex digits that change with any row of the dialect's tables; the same in every process."""
    declared = f"{dialect_id}\0{_part(dialect_id).revision}\0{canonical(tables(dialect_id))}"
    return blake2b(declared.encode(), digest_size=4).hexdigest()


def dialect_of(hash8: str) -> str | None:
    """The dialect whose grammar has a hash, if there is one."""
    known = (*fuzzed_dialects(), *deployed_dialects())
    return next((d for d in known if grammar_hash(d) == hash8), None)
