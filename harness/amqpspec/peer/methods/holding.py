"""Holds contents back while the target wants none, and judges no silence of a target that blocks publishers.

Knows: channel.flow, and RabbitMQ's connection.blocked. Must not know: verdicts, messages, which case is running.

Cases that send frames or octets themselves are not held back, nor is any peer that is not ``polite``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amqpspec.peer.context import Context
from amqpspec.peer.events import Arrival, Ended, Garbled, Quiet
from amqpspec.peer.line import Line
from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.connection import Connection

BLOCKED, UNBLOCKED, FLOW = "connection.blocked", "connection.unblocked", "channel.flow"
FLOW_CONTROL = frozenset({BLOCKED, UNBLOCKED, FLOW})


class Holding(Connection):
    """A connection that obeys flow control.

    ``paused`` are channels on which the target wants no contents; ``is_blocked``: it blocks publishers.
    """

    def __init__(self, context: Context, lines: list[Line] | None = None) -> None:
        super().__init__(context, lines)
        self.paused: set[int] = set()
        self.is_blocked = self._has_published = False

    @property
    def can_be_blocked(self) -> bool:
        """Whether the dialect has the extension."""
        return BLOCKED in self.dialect.methods

    # --- what arrives

    def is_urgent(self, arrival: Arrival) -> bool:
        """A peer that sends contents answers flow as soon as it can (0-9-1 channel/flow/bidirectional)."""
        return isinstance(arrival, MethodArrived) and arrival.name in FLOW_CONTROL

    def noted(self, arrival: Arrival) -> Arrival:
        """Record flow and blocking as well."""
        if isinstance(arrival, MethodArrived) and arrival.name == FLOW:
            (self.paused.discard if arrival["active"] else self.paused.add)(arrival.channel)
        elif isinstance(arrival, MethodArrived) and arrival.name in (BLOCKED, UNBLOCKED):
            self.is_blocked = arrival.name == BLOCKED
        return super().noted(arrival)

    def method_frame(self, name: str, channel: int = 1, **args: Any) -> bytes:
        """A method frame as octets; a channel that is opened is active (0-9-1 channel/flow/initial-state)."""
        if name == "channel.open":
            self.paused.discard(channel)
        return super().method_frame(name, channel, **args)

    # --- what is held back

    def await_flow(self, channel: int) -> None:
        """Wait while the target wants no contents on a channel; raises Withheld if that outlasts the patience."""
        self._has_published = True
        wanted = "contents that the target accepts"
        self.await_leave(
            lambda: self._why_held(channel), wanted, lambda arrival: self._ends(arrival, channel)
        )

    def _why_held(self, channel: int) -> str:
        if channel in self.paused:
            return f"contents turned off ({FLOW}) for {self.patience_s:.1f} s"
        return f"publishers blocked ({BLOCKED}) for {self.patience_s:.1f} s" if self.is_blocked else ""

    def _ends(self, arrival: Arrival, channel: int) -> bool:
        return (
            isinstance(arrival, Ended | Garbled)
            or self.closes(arrival)
            or (
                isinstance(arrival, MethodArrived)
                and (arrival.name, arrival.channel) == ("channel.close", channel)
            )
        )

    # --- silence

    def wait(self, wanted: Callable[[Arrival], bool], within_s: float) -> Arrival:
        """The first arrival that is wanted or ends the wait; raises Withheld for the silence of a target that blocks
        publishers.
        """
        return self.sure(super().wait(wanted, within_s))

    def expect_end(self, within_s: float | None = None) -> Arrival:
        """Read to the end of the stream; raises Withheld as ``wait``, unless the target has announced the end."""
        ended = super().expect_end(within_s)
        return ended if self.closed_by is not None else self.sure(ended)

    def sure(self, arrival: Arrival) -> Arrival:
        """The arrival; raises Withheld if it is silence while the target blocks publishers on a line of the case.

        RabbitMQ then reads nothing more from connections that have published, and messages from them are not passed on.
        """
        if isinstance(arrival, Quiet) and self.can_be_blocked:
            for line in self.lines:
                if isinstance(line, Holding) and line is not self and line._may_tell:
                    line.glance()
                if isinstance(line, Holding) and line.is_blocked and not line.is_hung_up:
                    raise self.withheld(
                        "an answer, or a proof that there is none", f"publishers blocked ({BLOCKED})"
                    )
        return arrival

    @property
    def _may_tell(self) -> bool:
        return self._has_published and not self.is_hung_up and self.ended is None
