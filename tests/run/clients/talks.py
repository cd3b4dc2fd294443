"""Conversations that are built by hand, and the verdict of a case about one.

Knows: how a case meets a client. Must not know: any dialect.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from amqpspec.record.rows import Outcome
from amqpspec.run.case import load_suite
from amqpspec.run.clients.agent import Application, Ran
from amqpspec.run.clients.client import Client, Encounter
from amqpspec.run.clients.execute import judged
from amqpspec.run.clients.watching import Seen
from amqpspec.spec.dialects import part_of
from amqpspec.spec.model import Side
from amqpspec.wire.conversation import Reading, Talk
from amqpspec.wire.hostility import Hostility

C, S = Side.CLIENT, Side.SERVER
STEP_NS = 1_000
SECOND_NS = 1_000_000_000
Part = tuple[Side, bytes] | tuple[Side, bytes, int]
"""Octets of a side, a step after those before, or at a time in nanoseconds."""


@dataclass(frozen=True)
class Prompted:
    """An encounter in place of every scenario."""

    encounter: Encounter
    is_prompted: bool = True

    def clean(self, scenario: str) -> Encounter:
        """The encounter."""
        return self.encounter

    def meet(self, name: str, scenario: str, hostility: Hostility | None = None) -> Encounter:
        """The encounter."""
        return self.encounter


def talk_of(parts: Iterable[Part], ended: str = "FIN", ended_ns: int | None = None) -> Talk:
    """A connection on which this is said, and which then ends a step later, or at a time; not at all if ``ended`` is
    empty.
    """
    talk = Talk(1, ended=ended)
    at_ns = 0
    for part in parts:
        at_ns = part[2] if len(part) == 3 else at_ns + STEP_NS
        talk.add(part[0], at_ns, part[1])
    talk.ended_ns = (ended_ns or at_ns + STEP_NS) if ended else None
    return talk


def hostile_after(clean: Iterable[Part], then: Iterable[Part], ended: str = "FIN") -> Talk:
    """A connection on which the server begins to misbehave after the first parts."""
    before = list(clean)
    talk = talk_of([*before, *then], ended)
    talk.hostile_ns = talk_of(before).chunks[-1].at_ns + 1
    return talk


def verdict(
    dialect: str,
    case: str,
    *talks: Talk,
    application: Application = Application.SILENT,
    stopped_ns: int | None = None,
) -> Outcome:
    """The verdict of a case about these connections; an application that is unseen was watched only."""
    reading, known = cast(Reading, part_of(dialect, "reading")), load_suite(dialect)[case]
    ran = Ran(application, 0, (), "", stopped_ns=stopped_ns)
    met = Encounter([reading.conversation(talk) for talk in talks], ran, "evidence")
    provoked = case if talks[0].hostile_ns is not None else ""
    arena = Seen(met, provoked) if application is Application.UNSEEN else Prompted(met)
    return judged(known, Client(arena, known.id, known.requirements)).outcome
