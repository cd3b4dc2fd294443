"""The subject of a case: a client that is driven or watched, or the server that a watched client speaks to.

Knows: which side requirements bind. Must not know: single cases, any dialect.
"""

from __future__ import annotations

from collections.abc import Mapping

from amqpspec.run.case import Case
from amqpspec.spec.model import Side


def role_of(case: Case) -> Side:
    """The subject of a case."""
    return Side.SERVER if case.requirements[0].binds == "server" else Side.CLIENT


def about(suite: Mapping[str, Case], *roles: Side) -> Mapping[str, Case]:
    """The cases of a suite that are about these."""
    return {id: case for id, case in suite.items() if role_of(case) in roles}
