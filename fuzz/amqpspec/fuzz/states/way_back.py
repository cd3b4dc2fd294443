"""The way back into a state on a connection that stays open after an input: open entities are closed, then reopened.

Knows: the steps of ways, what inputs leave behind. Must not know: sockets, what a target answered.

Only where what is open is known beyond doubt is there a way back.
"""

from __future__ import annotations

from functools import cache

from amqpspec.fuzz.states.follow_up import last_rung, opens
from amqpspec.fuzz.states.model import Step, Traces
from amqpspec.fuzz.states.part import states_part
from amqpspec.fuzz.states.ways import states


def can_go_back(dialect: str, state: str, found: Traces) -> bool:
    """Whether an input whose target continued leaves the state's own channels as the only ones that are open."""
    part = states_part(dialect)
    if state in part.handshake.mute | part.handshake.half_said:
        return False
    if not opens(dialect, state) or _behind_opening(dialect, state) is None:
        return False
    strange = any(map(part.opens_or_ends, found.names))
    return found.whole and not found.moves and not strange and found.channels <= _own(dialect, state) | {0}


@cache
def way_back(dialect: str, state: str, closed: int | None, fresh: int | None) -> tuple[Step, ...]:
    """Steps into the state again: ``closed`` is the channel that the target has closed, ``fresh`` another one."""
    open_ones = _own(dialect, state) - {closed}
    if fresh is not None:
        open_ones |= {fresh}
    closing = [states_part(dialect).closing(channel) for channel in sorted(open_ones)]
    bye = Step(
        tuple(say for step in closing for say in step.says),
        tuple(name for step in closing for name in step.wait_for),
    )
    behind = _behind_opening(dialect, state) or ()
    return (bye, *behind) if open_ones else behind


def _own(dialect: str, state: str) -> frozenset[int]:
    """The channels that the way into a state leaves open."""
    return states(dialect)[state].channels


@cache
def _behind_opening(dialect: str, state: str) -> tuple[Step, ...] | None:
    """The steps of a way after the opening of its connection; None if they cannot be gone twice."""
    steps, last = states(dialect)[state].steps, last_rung(dialect)
    at = next((number for number, step in enumerate(steps) if last in step.wait_for), None)
    if at is None or steps[at].wait_for[-1] != last:
        return None
    behind = steps[at + 1 :]
    return behind if states_part(dialect).can_be_repeated(behind) else None
