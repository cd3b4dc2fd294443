"""The product that a target announces.

Knows: in which state a target announces it. Must not know: the field of the announcement, the use of a name.
"""

from __future__ import annotations

from contextlib import suppress

from amqpspec.fuzz.executor.client import Client, Unanswered
from amqpspec.fuzz.executor.part import executor_part
from amqpspec.fuzz.executor.subject import Subject

_TIMEOUT_S = 10.0


def announced(subject: Subject) -> tuple[str, str]:
    """Product and version that the target announces; empty if it announces none."""
    part = executor_part(subject.dialect)
    if not part.announced_in:
        return "", ""
    with (
        suppress(Unanswered),
        Client(subject.address, subject.dialect, subject.values, _TIMEOUT_S) as client,
    ):
        said = client.enter(part.announced_in)
        if said is not None:
            return said.product, said.version
    return "", ""
