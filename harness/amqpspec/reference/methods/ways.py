"""In what dialects of the family differ beyond their tables.

Knows: the differences, one row each. Must not know: how any of them is carried out.
"""

from __future__ import annotations

from dataclasses import dataclass

from amqpspec.spec.methods import MethodDialect

HOSTILE_PAUSE_S = 1.0
"""How long a handshake that went wrong is kept waiting: the drafts say several seconds; tests could not bear it."""

_CLASS_AND_INSTANCE = 1


@dataclass(frozen=True, slots=True)
class Ways:
    """``served_as`` names the overlay whose methods and tags are understood, too; empty for the dialect's own alone.

    ``structured``: contents may hold contents. ``signs_in_names`` may stand in names of table fields beside what the
    rule allows: ``x-match`` has a hyphen, the capabilities that later clients announce have periods.
    ``pause_s``: what a hostile handshake waits before its socket ends.
    """

    served_as: str = ""
    structured: bool = False
    signs_in_names: str = "-."
    pause_s: float = 0.0


_WAYS = {
    "amqp-0-9-1": Ways(served_as="rabbitmq-0-9-1"),
    "rabbitmq-0-9-1": Ways(served_as="rabbitmq-0-9-1"),
    "amqp-wire-9-1": Ways(structured=True, signs_in_names="-", pause_s=HOSTILE_PAUSE_S),
    "amqp-0-8": Ways(structured=True, pause_s=HOSTILE_PAUSE_S),
}


def ways_of(dialect_id: str) -> Ways:
    """The ways of a dialect; raises KeyError for one that is not served."""
    return _WAYS[dialect_id]


def version_of(dialect: MethodDialect) -> tuple[int, int]:
    """Major and minor version, as ``start`` says them: early headers begin with a class and an instance."""
    header = dialect.protocol_header
    major, minor = (6, 7) if header[4] == _CLASS_AND_INSTANCE else (5, 6)
    return header[major], header[minor]
