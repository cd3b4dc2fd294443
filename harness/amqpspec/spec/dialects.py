"""The registry of dialects: each is one entry, which says where everything that belongs to it is found.

Knows: the shape of an entry, and how entries are found. Must not know: any dialect.

Codecs, peers, reference brokers, suites and the fuzzer stand above this layer. An entry names them by functions that
import them on demand, so that an entry costs nothing until it is used. The entries of this build are
``amqpspec.dialects.ENTRIES``, near the top of the house, where the import rule sees every name that an entry leads to.
That package is loaded from here by name, once; no other module is found that way. ``register`` adds an entry from
elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from amqpspec.spec.model import Dialect
from amqpspec.spec.requirements import Ledger, read_ledgers

_ENTRIES = "amqpspec.dialects"
Part = Callable[[], object] | None
"""Loads one part of a dialect; None if the dialect has none. The layer that uses it states its type."""


class UnknownDialectError(KeyError):
    """There is no such dialect, or it has no such part: no suite, say, because it is an overlay."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One dialect, or one overlay.

    ``judged_as`` is the dialect whose ledger judges it: an overlay's base, or itself. ``spoken_as`` is the overlay in
    which it is spoken: everything that may be met on the wire. ``deployed_as`` is the dialect in which brokers in use
    answer its protocol header, and ``parts`` are what that one lacks, as cases name it in ``needs``.
    """

    id: str
    tables: Callable[[], Dialect]
    ledger: Path | None = None
    beyond: tuple[Path, ...] = ()
    """Ledgers of what is not in the inventory: none of their rows has a ``source``, and they count apart."""
    judged_as: str = ""
    spoken_as: str = ""
    deployed_as: str = ""
    parts: tuple[str, ...] = ()
    dissected: bool = True
    """Whether Wireshark reads it on AMQP's port; it would take one that it cannot read for another dialect."""
    clients_of: str = ""
    """The dialect whose clients its ledger binds and its suite judges; empty if they are about brokers."""
    finished: bool = True
    """Whether its suite covers its ledger: until then it can be run by name, and is certified by no one."""
    driver: Part = None
    """``amqpspec.run.driver.Driver``: peer, probe, evidence."""
    reference: Part = None
    """What makes the reference broker's end of a connection: called with ``amqpspec.reference.core.Core``."""
    faults: Part = None
    """``amqpspec.reference.faults.Faults``: the deviations that the reference broker shows on request."""
    suite: Part = None
    """The package of its cases."""
    fuzzing: Part = None
    """A class of ``amqpspec.fuzz.driver.FuzzDriver``, made with a dialect's id: grammar, states, judge."""
    reading: Part = None
    """``amqpspec.wire.conversation.Reading``: a conversation's octets as frames of both sides, for judging clients."""
    agent: Part = None
    """Runs a scenario of ``amqpspec client`` as the reference agent."""
    layers: Part = None
    """Makes scapy layers (``amqpspec.wire.layers.Layers``) of the dialect whose id it is given."""

    def part(self, name: str) -> object:
        """Load one part by the name of its field; raises UnknownDialectError."""
        load: Part = getattr(self, name)
        if load is None:
            raise UnknownDialectError(
                f"{self.id}: expected a dialect with a part {name!r}, actual: it has none"
            )
        return load()


_known: dict[str, Entry] = {}


def register(*entries: Entry) -> None:
    """Make dialects known; an entry of the same id takes the old one's place."""
    _known.update((entry.id, entry) for entry in entries)
    for cached in (load_dialect, load_ledger):
        cached.cache_clear()


@cache
def _built_in() -> None:
    register(*(entry for entry in import_module(_ENTRIES).ENTRIES if entry.id not in _known))


def entries() -> Mapping[str, Entry]:
    """Every dialect and overlay that is known, by id."""
    _built_in()
    return _known


def entry_of(dialect_id: str) -> Entry:
    """The entry of a dialect; raises UnknownDialectError."""
    if dialect_id not in entries():
        raise UnknownDialectError(f"expected one of {', '.join(entries())}, actual {dialect_id!r}")
    return entries()[dialect_id]


def part_of(dialect_id: str, name: str) -> object:
    """One part of a dialect, loaded; raises UnknownDialectError."""
    return entry_of(dialect_id).part(name)


def parts_of(dialect_id: str) -> tuple[str, ...]:
    """Parts of a dialect that the one in which it is deployed does not have, as cases name them in ``needs``."""
    return entry_of(dialect_id).parts


def deployed_as(dialect_id: str) -> str | None:
    """The dialect in which brokers in use answer another one's protocol header, if that is so."""
    return entry_of(dialect_id).deployed_as or None


def judged_as(dialect_id: str) -> str:
    """The dialect whose requirements judge another one: itself, or the base of an overlay."""
    return entry_of(dialect_id).judged_as or dialect_id


def widest(dialect_id: str) -> str:
    """The overlay in which a dialect is spoken: everything it may meet on the wire."""
    return entry_of(dialect_id).spoken_as or dialect_id


def dialect_ids() -> tuple[str, ...]:
    """Every dialect and overlay that can be named."""
    return tuple(entries())


def runnable_dialects() -> tuple[str, ...]:
    """The dialects that have a ledger for brokers, hence a suite, finished or not."""
    return tuple(
        entry.id for entry in entries().values() if entry.ledger is not None and not entry.clients_of
    )


def client_dialects() -> tuple[str, ...]:
    """The dialects whose clients can be judged."""
    return tuple(entry.id for entry in entries().values() if entry.clients_of)


def client_dialect(dialect_id: str) -> str:
    """The dialect under which clients of a dialect are judged; raises UnknownDialectError if there is none."""
    found = dialect_id if dialect_id in client_dialects() else f"{dialect_id}-clients"
    return entry_of(found).id


def certified_dialects() -> tuple[str, ...]:
    """The dialects whose suites cover their ledgers."""
    return tuple(id for id in runnable_dialects() if entries()[id].finished)


@cache
def load_dialect(dialect_id: str) -> Dialect:
    """The tables of a dialect; raises UnknownDialectError."""
    return entry_of(dialect_id).tables()


@cache
def load_ledger(dialect_id: str) -> Ledger:
    """The requirement rows of a dialect, in the order of its specification; raises KeyError, LedgerError.

    Codes are resolved against the widest overlay, so that a row may name an extension's reply code.
    """
    entry = entry_of(dialect_id)
    if entry.ledger is None:
        raise UnknownDialectError(f"{dialect_id}: expected a dialect with a ledger, actual: an overlay")
    return read_ledgers(entry.ledger, entry.beyond, load_dialect(widest(dialect_id)))


def ledgers() -> Mapping[str, Ledger]:
    """Every ledger by dialect."""
    return {dialect_id: load_ledger(dialect_id) for dialect_id in certified_dialects()}


def features() -> tuple[str, ...]:
    """Every optional part of a dialect that a target may lack, as the ledgers name them."""
    named = {row.feature for ledger in ledgers().values() for row in ledger.values()}
    return tuple(sorted(named - {""}))
