"""Drivers of dialects, and the dialects that have one: each room asks its own part of a driver.

Knows: that a dialect's entry leads to its driver. Must not know: any dialect, what a room asks.

A room states what it asks as a protocol that extends ``Part``; ``amqpspec.fuzz.driver`` puts all of them together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, cast

from amqpspec.spec.dialects import Entry, deployed_as, entry_of, runnable_dialects

_made: dict[str, tuple[Entry, object]] = {}


class Part(Protocol):
    """The interface of a driver: it is created once for each dialect."""

    dialect_id: str

    def __init__(self, dialect_id: str) -> None:
        self.dialect_id = dialect_id


def loaded_driver(dialect_id: str) -> object:
    """The driver of a dialect; raises UnknownDialectError if it has none."""
    entry = entry_of(dialect_id)
    # Asked several times for each input: an entry takes long to hash, and another one may have taken its place.
    made_for, driver = _made.get(dialect_id, (None, None))
    if made_for is not entry:
        driver = cast(Callable[[str], object], entry.part("fuzzing"))(entry.id)
        _made[dialect_id] = entry, driver
    return driver


def fuzzed_dialects() -> tuple[str, ...]:
    """The dialects with a ledger and a driver, finished or not."""
    return tuple(d for d in runnable_dialects() if entry_of(d).fuzzing is not None)


def deployed_dialects() -> tuple[str, ...]:
    """Dialects in which brokers in use answer one of those; they have cells and ids of their own."""
    return tuple(found for d in fuzzed_dialects() if (found := deployed_as(d)))


def spoken_dialects() -> tuple[str, ...]:
    """Every dialect with a driver: the dialects with a ledger, then those in which brokers in use answer one."""
    return (*fuzzed_dialects(), *deployed_dialects())
