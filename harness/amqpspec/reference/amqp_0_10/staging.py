"""Staging: files that clients send before they publish them, and files to be delivered.

Knows: the progress of staging in both directions. Must not know: routing, acknowledgements.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from amqpspec.reference.amqp_0_10.session import Session
from amqpspec.reference.core import Core
from amqpspec.reference.fault import fault_table
from amqpspec.reference.model import Consumer, Entry

MOST_STAGED = 64
"""How many files one broker keeps; it drops the oldest first (staged-size#staging allows to drop any)."""


@dataclass(slots=True, eq=False)
class Staged:
    """A file that a client is sending; ``waiting`` are publishes that arrived before its end."""

    size_octets: int
    header: bytes = b""
    properties: Mapping[str, Any] = field(default_factory=dict)
    body: bytes = b""
    come: bool = False
    waiting: list[Callable[[], None]] = field(default_factory=list)

    @property
    def whole(self) -> bool:
        """Whether it is complete."""
        return self.come and len(self.body) >= self.size_octets


_AREAS: WeakKeyDictionary[Core, dict[tuple[str, str], Staged]] = WeakKeyDictionary()


def area_of(session: Session) -> dict[tuple[str, str], Staged]:
    """The staged files of a broker, by user and identifier; they outlive sessions."""
    return _AREAS.setdefault(session.core, {})


def begin(session: Session, identifier: str, size_octets: int) -> Staged:
    """A file is announced; a partially staged one continues."""
    area, key = area_of(session), (session.user.name, identifier)
    known = area.pop(key, None)
    if known is None or known.size_octets != size_octets or session.faulty("staged-parts-forgotten"):
        known = Staged(size_octets)
    area[key] = known
    while len(area) > MOST_STAGED:
        del area[next(iter(area))]
    return known


@dataclass(slots=True, eq=False)
class Outgoing:
    """A file that was announced to a client and is not sent yet."""

    tag: int
    consumer: Consumer
    entry: Entry
    redelivered: bool
    identifier: str
    automatic: bool = False
    dropped: bool = False


@dataclass(slots=True, eq=False)
class Stages:
    """The files that a session has announced and not sent, in order and by direction, because open-ok and stage name
    no file.
    """

    incoming: deque[Staged] = field(default_factory=deque)
    outgoing: deque[Outgoing] = field(default_factory=deque)


FAULTS = fault_table("""
staged-parts-forgotten: a partly staged file starts again [file/open-ok/staged-size/staging/hold]
""")
