"""The way back into a state on a connection that goes on behind an input: what was opened is closed, then opened anew.

Knows: the steps of ways, what inputs leave behind. Must not know: sockets, what a target answered.

Only where what is open is known beyond doubt is there a way back. A link would come back with what was unsettled on
it, so that in AMQP 1.0 only states without links are led back into.
"""

from __future__ import annotations

from functools import cache

from amqpspec.fuzz.states.follow_up import MUTE, Traces, is_methods, last_rung, opens
from amqpspec.fuzz.states.ways import Say, Step, states

_OPENS_OR_ENDS = frozenset({"begin", "end", "attach", "detach"})
_NO_WAY_BACK = MUTE | {"content", "body"}
"""States in which nothing more may be said, or a content is half said."""
_BYE = (("reply_code", 200), ("reply_text", "done"))


def can_go_back(dialect: str, state: str, found: Traces) -> bool:
    """Whether an input whose target went on leaves the state's own channels as the only ones that are open."""
    if state in _NO_WAY_BACK or not opens(dialect, state) or _behind_opening(dialect, state) is None:
        return False
    strange = {name for name in found.names if name in _OPENS_OR_ENDS or name.startswith("channel.")}
    return found.whole and not found.moves and not strange and found.channels <= _own(dialect, state) | {0}


@cache
def way_back(dialect: str, state: str, closed: int | None, fresh: int | None) -> tuple[Step, ...]:
    """Steps into the state again: ``closed`` is the channel that the target has closed, ``fresh`` one besides."""
    open_ones = _own(dialect, state) - {closed}
    if fresh is not None:
        open_ones |= {fresh}
    bye = Step(
        tuple(_closing(dialect, channel) for channel in sorted(open_ones)),
        (_CLOSED[is_methods(dialect)],) * len(open_ones),
    )
    behind = _behind_opening(dialect, state) or ()
    return (bye, *behind) if open_ones else behind


_CLOSED = {True: "channel.close-ok", False: "end"}


def _closing(dialect: str, channel: int) -> Say:
    if is_methods(dialect):
        return Say("CLOSE", "channel.close", channel, _BYE)
    return Say("END", "end", channel)


def _own(dialect: str, state: str) -> frozenset[int]:
    """The channels that the way into a state leaves open."""
    return states(dialect)[state].channels


@cache
def _behind_opening(dialect: str, state: str) -> tuple[Step, ...] | None:
    """The steps of a way behind the opening of its connection; None where they cannot be gone twice."""
    steps, last = states(dialect)[state].steps, last_rung(dialect)
    at = next((number for number, step in enumerate(steps) if last in step.wait_for), None)
    if at is None or steps[at].wait_for[-1] != last:
        return None
    behind = steps[at + 1 :]
    return None if any(say.name == "attach" for step in behind for say in step.says) else behind
