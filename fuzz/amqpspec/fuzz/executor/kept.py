"""A connection that goes on behind an input, so that the next one can be said on it.

Knows: what an input left behind, the way back into its state. Must not know: sockets, time.
"""

from __future__ import annotations

from dataclasses import dataclass

from amqpspec.fuzz.executor.hearing import Hear, Heard
from amqpspec.fuzz.executor.onward import Onward
from amqpspec.fuzz.executor.outcome import Obedience
from amqpspec.fuzz.executor.silence import Silence
from amqpspec.fuzz.inputs.catalogue import FuzzInput
from amqpspec.fuzz.states.follow_up import Traces, used_channels
from amqpspec.fuzz.states.way_back import can_go_back, way_back
from amqpspec.fuzz.states.ways import Step, Values
from amqpspec.spec.model import Scope


@dataclass(frozen=True, slots=True)
class Ear:
    """What belongs to a connection, whatever is said on it: how it is read, its silence, its limits."""

    hear: Hear
    silence: Silence
    settled: Values


@dataclass(frozen=True, slots=True)
class Kept:
    """A connection with the way back into its state; ``channels`` were used on it."""

    dialect: str
    state: str
    ear: Ear
    steps: tuple[Step, ...]
    channels: frozenset[int]

    def fits(self, item: FuzzInput) -> bool:
        """Whether an input can be said next on it."""
        return (item.dialect, item.state) == (self.dialect, self.state)


def kept(item: FuzzInput, left: Traces, onward: Onward, refused: Heard | None, ear: Ear) -> Kept | None:
    """The connection behind an input; None where the target does not go on, or there is no way back."""
    dialect, state = item.dialect, item.state
    if onward.obedience is not Obedience.GOES_ON or not can_go_back(dialect, state, left):
        return None
    if refused is not None and (refused.refusal is None or refused.refusal.scope is not Scope.CHANNEL):
        return None
    steps = way_back(dialect, state, refused.channel if refused is not None else None, onward.open)
    used = used_channels(dialect, state, left) | {onward.fresh or 0}
    return Kept(dialect, state, ear, steps, used)
