"""How long is waited for what, measured by the target's own round trip.

Knows: seconds. Must not know: what is waited for means.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Tempo:
    """Waiting times in seconds, derived from the measured round trip.

    No verdict depends on ``quiet_s``: later answers are missed, and answers that are due are awaited longer.

    ``quiet_s``: if nothing is due and nothing arrived; ``settle_s``: after an answer; ``refusal_s``: if a refusal is
    due; ``way_s``: for each answer on the way; ``partial_s``: after octets that end inside a frame.
    """

    quiet_s: float = 1.0
    settle_s: float = 0.03
    refusal_s: float = 5.0
    way_s: float = 8.0
    partial_s: float = 0.3

    @classmethod
    def of(cls, round_trip_s: float, patience: float = 1.0, hang_s: float = 10.0) -> Tempo:
        """The tempo of a target whose handshake takes this long with many connections at once."""
        # Longer than an answer takes to be called late, or late ones would count as silence.
        quiet_s = min(3.0, max(1.0, 12 * round_trip_s)) * patience
        settle_s, partial_s = max(0.03, round_trip_s), max(0.3, 8 * round_trip_s)
        return cls(
            quiet_s,
            settle_s * patience,
            5.0 * patience,
            0.8 * hang_s * patience,
            min(quiet_s, partial_s * patience),
        )

    @property
    def hasty(self) -> Tempo:
        """The tempo if single answers do not count: a refusal that is due gets no extra time."""
        return replace(self, refusal_s=min(self.refusal_s, self.quiet_s))

    @property
    def probing(self) -> Tempo:
        """The tempo on the way into a state that no input has reached of late: others wait for it."""
        return replace(self, way_s=min(self.way_s, 4 * self.partial_s))

    @property
    def patient(self) -> Tempo:
        """The tempo of a second look: it misses nothing by haste."""
        return replace(
            self,
            quiet_s=max(self.quiet_s, 2.0),
            settle_s=max(self.settle_s, 0.2),
            refusal_s=13.0,
            partial_s=2.0,
        )
