"""Grammars: every production of a dialect as a tree, made from the dialect's tables.

Knows: which grammar a dialect has, and when it has changed. Must not know: states, families, mutators.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b

from amqpspec.fuzz.trees.tree import Node
from amqpspec.spec.canonical import canonical
from amqpspec.spec.dialects import load_dialect, widest
from amqpspec.spec.methods import MethodDialect
from amqpspec.spec.model import Dialect, Side
from amqpspec.spec.typed import TypedDialect

DIALECTS = ("amqp-0-9-1", "amqp-wire-9-1", "amqp-1-0")
"""The dialects that are fuzzed."""

DEPLOYED = ("amqp-0-8",)
"""Dialects in which brokers in use answer one of those; they have cells and ids of their own."""

REVISION = {"amqp-1-0": 2}
"""Of a dialect, 1 where none is named: to be raised by one when the same id would give other octets for another reason
than a change of the tables."""


@dataclass(frozen=True, slots=True)
class Production:
    """A whole thing that can be sent: ``tree`` is one frame or more, legal as it stands.

    ``sent_by`` is who may send it; ``name`` is its kind and what it is called (``method/queue.declare``).
    """

    name: str
    tree: Node
    sent_by: Side = Side.CLIENT


Grammar = Mapping[str, Production]


@cache
def grammar(dialect_id: str) -> Grammar:
    """Every production of a dialect by name; raises KeyError for an unknown dialect."""
    dialect = tables(dialect_id)
    if isinstance(dialect, MethodDialect):
        from amqpspec.fuzz.methods.grammar import productions

        return productions(dialect)
    assert isinstance(dialect, TypedDialect)
    from amqpspec.fuzz.amqp_1_0.grammar import productions as typed_productions

    return typed_productions(dialect)


def tables(dialect_id: str) -> Dialect:
    """The tables in which a dialect is spoken: those of its widest overlay."""
    return load_dialect(widest(dialect_id))


@cache
def grammar_hash(dialect_id: str) -> str:
    """Eight hex digits that change with any row of the dialect's tables; the same in every process."""
    declared = f"{dialect_id}\0{REVISION.get(dialect_id, 1)}\0{canonical(tables(dialect_id))}"
    return blake2b(declared.encode(), digest_size=4).hexdigest()


def dialect_of(hash8: str) -> str | None:
    """The dialect whose grammar has a hash, if there is one."""
    return next((d for d in (*DIALECTS, *DEPLOYED) if grammar_hash(d) == hash8), None)
