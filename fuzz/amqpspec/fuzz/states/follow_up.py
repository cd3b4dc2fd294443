"""How a conversation may legally continue after an input: the effect of its octets, and what may be sent next.

Knows: the steps of ways, a handshake's rules. Must not know: frames, sockets, time, what a target answered.

An input leaves a target without an excuse only where its last octet ends a frame, nothing in it is wrong by the tables,
nothing in it carries content (after which a broker may stop reading), and nothing in it moves the connection itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise

from amqpspec.fuzz.states.model import Exchange, Step, Traces
from amqpspec.fuzz.states.part import states_part
from amqpspec.fuzz.states.ways import states

_MOST_FRAMES, _MOST_OCTETS = 16, 4096
"""Of longer inputs nothing is claimed: work may take its time."""
_FAR = 64


def traces(dialect_id: str, octets: bytes) -> Traces:
    """What the octets of an input leave behind."""
    found = states_part(dialect_id).traces(octets)
    small = len(found.names) <= _MOST_FRAMES and not is_long(octets)
    return found if small else replace(found, sound=False)


def is_long(octets: bytes) -> bool:
    """Whether an input is so long that its target has an excuse, whatever is in it."""
    return len(octets) > _MOST_OCTETS


# --- the handshake


@cache
def _ladder(dialect_id: str) -> tuple[tuple[str, Step], ...]:
    """What the handshake's steps are begun by: an answer and what may be said after it, up to the last."""
    last = last_rung(dialect_id)
    ways = (state.steps for state in states(dialect_id).values())
    steps = next((steps for steps in ways if last and steps and last in steps[-1].wait_for), ())
    return tuple((before.wait_for[-1], after) for before, after in pairwise(steps) if before.wait_for)


def last_rung(dialect_id: str) -> str:
    """The answer after which a connection is open; empty if nothing may be asked after an input."""
    return states_part(dialect_id).handshake.opened_by


def rung(dialect_id: str, names: tuple[str, ...]) -> int:
    """How many answers of the handshake are among the names: those up to the furthest one."""
    ladder = [name for name, _ in _ladder(dialect_id)] + [last_rung(dialect_id)]
    return max((at + 1 for at, name in enumerate(ladder) if name in names), default=0)


def is_open(dialect_id: str, reached: int) -> bool:
    """Whether this many answers open a connection."""
    return reached > len(_ladder(dialect_id))


def handshake(dialect_id: str, reached: int) -> tuple[Step, ...]:
    """The rest of the handshake after this many answers, of which there is one at least."""
    return tuple(step for _, step in _ladder(dialect_id)[reached - 1 :])


def opening_only(dialect_id: str) -> Step:
    """The last step of the handshake if the earlier part of the same step has been sent already."""
    step = _ladder(dialect_id)[-1][1]
    return Step(step.says[-1:], step.wait_for)


# --- what may be said next


def fresh_channel(used: frozenset[int], limit: int) -> int | None:
    """A channel that nothing has used, the lowest one after the first; None if there is none."""
    return next((n for n in range(1, min(limit, _FAR) + 1) if n not in used), None)


def used_channels(dialect_id: str, state: str, found: Traces) -> frozenset[int]:
    """Channels that may have been used: by the way, and by the input."""
    first = states_part(dialect_id).first_channel
    return states(dialect_id)[state].channels | found.channels | {0, first}


@cache
def exchange_on(dialect_id: str, channel: int) -> Exchange:
    """A legal exchange on a separate channel."""
    return states_part(dialect_id).exchange_on(channel)


@cache
def farewell(dialect_id: str, channel: int) -> Step:
    """What is due to a target that has closed a channel, or ended a session."""
    return states_part(dialect_id).farewell(channel)


def rest(dialect_id: str, state: str, found: Traces, answers: tuple[str, ...]) -> tuple[Step, ...] | None:
    """What of the handshake is left to say; None if nothing may legally be said, or no one can tell."""
    rules = states_part(dialect_id).handshake
    if not rules.opened_by or state in rules.mute or not rules.ends.isdisjoint(found.names):
        return None
    before, reached = _before(dialect_id, state), rung(dialect_id, answers)
    if is_open(dialect_id, max(before, reached)):
        return ()
    if reached > before:
        return handshake(dialect_id, reached)
    said = rules.said_by.get((state, *found.names)) if len(found.names) == 1 else None
    if said is not None and (not said or answers[-1:] == (said,)):
        return (opening_only(dialect_id),)
    if not before or not (found.whole and rules.life.issuperset(found.names)):
        return None
    return (opening_only(dialect_id),) if state in rules.all_but_last else handshake(dialect_id, before)


def has_no_excuse(dialect_id: str, state: str, found: Traces, answers: tuple[str, ...]) -> bool:
    """Whether a target that took the input has to continue, beyond doubt."""
    rules = states_part(dialect_id).handshake
    if not found.whole or not found.sound or state in rules.filled | rules.mute:
        return False
    before = _before(dialect_id, state)
    if is_open(dialect_id, before):
        return not found.moves
    return len(found.names) == 1 and rung(dialect_id, answers) > before


def opens(dialect_id: str, state: str) -> bool:
    """Whether the way into a state opens the connection."""
    return is_open(dialect_id, _before(dialect_id, state))


def _before(dialect_id: str, state: str) -> int:
    """How far the handshake has come without the input."""
    answered = state in states_part(dialect_id).handshake.answered
    return max(rung(dialect_id, _on_the_way(dialect_id, state)), int(answered))


@cache
def _on_the_way(dialect_id: str, state: str) -> tuple[str, ...]:
    return tuple(_names(states(dialect_id)[state].steps))


def _names(steps: tuple[Step, ...]) -> Iterator[str]:
    for step in steps:
        yield from step.wait_for
