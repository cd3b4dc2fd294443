"""How long is waited for what, measured by the target's own round trip.

Knows: seconds. Must not know: what is waited for means.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Tempo:
    """How long is waited, in seconds; made from the round trip that was measured.

    No verdict hangs on ``quiet_s``: what comes later is not heard, and what is owed is waited for longer.
    ``quiet_s``: where nothing is owed and nothing came; ``settle_s``: behind an answer; ``refusal_s``: where a refusal
    is owed; ``way_s``: for each answer on the way; ``partial_s``: behind octets that end in the midst of a frame.
    """

    quiet_s: float = 1.0
    settle_s: float = 0.03
    refusal_s: float = 5.0
    way_s: float = 8.0
    partial_s: float = 0.3

    @classmethod
    def of(cls, round_trip_s: float, patience: float = 1.0, hang_s: float = 10.0) -> Tempo:
        """The tempo of a target whose handshake takes so long, many connections at a time."""
        # Longer than an answer takes to be called late, or late ones would be taken for silence.
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
        """The tempo where single answers do not count: a refusal that is owed is not waited for any longer."""
        return replace(self, refusal_s=min(self.refusal_s, self.quiet_s))

    @property
    def patient(self) -> Tempo:
        """The tempo of a second look: nothing is missed for haste."""
        return replace(
            self,
            quiet_s=max(self.quiet_s, 2.0),
            settle_s=max(self.settle_s, 0.2),
            refusal_s=13.0,
            partial_s=2.0,
        )
