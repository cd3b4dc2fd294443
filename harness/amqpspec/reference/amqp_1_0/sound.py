"""Checks the fields of a performative against the tables.

Knows: which rule each kind of wrong field violates. Must not know: the meaning of the fields.
"""

from __future__ import annotations

from collections.abc import Mapping

from amqpspec.reference.amqp_1_0.wire import Refuse
from amqpspec.wire.amqp_1_0.performatives import Composed, Problem
from amqpspec.wire.errors import Kind

_MANDATORY: Mapping[str, str] = {
    "open": "performatives/open/mandatory",
    "begin": "performatives/begin/mandatory",
    "attach": "performatives/attach/mandatory",
    "flow": "performatives/flow/mandatory",
    "transfer": "performatives/transfer/handle",
    "disposition": "performatives/disposition/mandatory",
    "detach": "performatives/detach/mandatory",
}


def check(frame: Composed, refuse: Refuse) -> None:
    """Refuse the first field that is missing or wrong; continue to the next if that is tolerated."""
    for problem in frame.problems:
        refuse(_rule(frame, problem), str(problem))


def _rule(frame: Composed, problem: Problem) -> str:
    direct = problem.where.removeprefix(f"{frame.name} ") in {field.name for field in frame.row.fields}
    if direct and problem.kind is Kind.MANDATORY and frame.name in _MANDATORY:
        return _MANDATORY[frame.name]
    if problem.kind is Kind.SYMBOL_KEY:
        return "definitions/fields/symbol-keys"
    if problem.kind in (Kind.TEXT, Kind.COUNT):
        return "definitions/condition/decode-error"
    return "definitions/condition/invalid-field"
