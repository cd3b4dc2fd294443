"""What an oracle says: which one, of what, by which inputs if it knows.

Knows: words. Must not know: how it was seen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from amqpspec.fuzz.inputs.identity import InputId


class Oracle(StrEnum):
    """The oracles, the worst first: an earlier one may explain a later one."""

    CRASH = "crash"
    HANG = "hang"
    LEAK = "leak"
    CANARY = "canary"
    MEMORY = "memory"
    CPU = "cpu"
    LOG = "log"
    OBEDIENCE = "obedience"
    LATE = "late"
    CONFORMANCE = "conformance"


SPOILS = frozenset({Oracle.CRASH, Oracle.HANG})
"""After these, a target has to be started again before anything else can be said of it."""

CANARY_LOST = "canary connection lost"
"""The top of a complaint of canaries after which the target may serve no one any more."""

ENDLESS, BLOCKED = "endless in ", "blocked in "
BY_THREADS = ENDLESS, BLOCKED
"""How the cause of a hang begins that is known by where its threads are; any other is what a log says at that time."""

_CHANGING = re.compile(r"0x[0-9a-fA-F]+|<[0-9.]+>|#Ref<[^>]*>|[0-9]+")


@dataclass(frozen=True, slots=True)
class Suspicion:
    """``top`` is the same for the same cause; ``detail`` is for people; ``inputs`` are the suspects.

    ``cause`` is what broke and where, as far as the log shows it: one cause may have several tops.
    """

    oracle: Oracle
    top: str
    detail: str
    inputs: tuple[InputId, ...] = ()
    cause: str = ""

    @property
    def name(self) -> str:
        """What is known of the cause before anything is retried."""
        return self.cause or self.top


def steady(text: str) -> str:
    """A line without what changes from one time to the next."""
    return " ".join(_CHANGING.sub("N", text).split())[:160]
