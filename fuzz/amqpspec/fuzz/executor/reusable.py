"""Reusable connections: one that stays open after an input, so that the next one can be sent on it.

Knows: what an input left behind, the way back into its state. Must not know: sockets, time.
"""

from __future__ import annotations

from dataclasses import dataclass

from amqpspec.fuzz.executor.follow_up import FollowUp
from amqpspec.fuzz.executor.heard import Decode, Heard
from amqpspec.fuzz.executor.result import Obedience
from amqpspec.fuzz.executor.silence import Silence
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.states.follow_up import used_channels
from amqpspec.fuzz.states.model import Step, Traces, Values
from amqpspec.fuzz.states.way_back import can_go_back, way_back
from amqpspec.spec.model import Scope


@dataclass(frozen=True, slots=True)
class Medium:
    """What belongs to a connection, whatever is sent on it: its decoder, its silence, its limits."""

    decode: Decode
    silence: Silence
    settled: Values


@dataclass(frozen=True, slots=True)
class ReusableConnection:
    """A connection with the way back into its state; ``channels`` are those that were used on it."""

    dialect: str
    state: str
    medium: Medium
    steps: tuple[Step, ...]
    channels: frozenset[int]

    def fits(self, item: FuzzInput) -> bool:
        """Whether an input can be sent on it next."""
        return (item.dialect, item.state) == (self.dialect, self.state)


def reusable(
    item: FuzzInput, left: Traces, follow_up: FollowUp, refused: Heard | None, medium: Medium
) -> ReusableConnection | None:
    """The connection after an input; None if the target does not continue, or if there is no way back."""
    dialect, state = item.dialect, item.state
    if follow_up.obedience is not Obedience.GOES_ON or not can_go_back(dialect, state, left):
        return None
    if refused is not None and (refused.refusal is None or refused.refusal.scope is not Scope.CHANNEL):
        return None
    steps = way_back(dialect, state, refused.channel if refused is not None else None, follow_up.open)
    used = used_channels(dialect, state, left) | {follow_up.fresh or 0}
    return ReusableConnection(dialect, state, medium, steps, used)
