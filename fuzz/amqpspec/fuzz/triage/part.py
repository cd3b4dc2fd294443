"""What triage asks a driver: how a finding is written as a case of the suites.

Knows: the questions. Must not know: any dialect's answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, cast

from amqpspec.fuzz.parts import Part, loaded_driver


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseWords:
    """Lines of Python of which a case is made.

    ``peer`` and ``oracles`` are the modules with Peer and ``rejects_violation``; ``row`` is the requirement
    "survives". ``enter`` goes into each state; in those of ``barriers`` a round trip after the octets proves that
    nothing more comes. ``store`` puts a message aside and ``fetch`` judges what has happened to it; ``listen``
    subscribes as another user and ``heard`` judges what arrived there; ``follow_up`` is what is legally asked on a
    separate channel. ``no_barrier`` is what a peer takes for none, and ``channel`` is where it watches, if that has
    to be said. ``octets`` is what is sent of each step in hexadecimal digits.
    """

    peer: str
    oracles: str
    row: str
    enter: Mapping[str, str]
    barriers: frozenset[str]
    store: str
    fetch: str
    listen: str
    heard: str
    follow_up: str
    octets: str = "bytes.fromhex(octets)"
    no_barrier: str = "False"
    channel: str = ""


class TriagePart(Part, Protocol):
    """How findings of a dialect are written down; without ``case_words`` no finding becomes a case."""

    @property
    def case_words(self) -> CaseWords | None:
        """The lines of which a case is made."""
        return None


def triage_part(dialect_id: str) -> TriagePart:
    """What a dialect's driver says about findings."""
    return cast(TriagePart, loaded_driver(dialect_id))
