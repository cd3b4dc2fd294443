"""Proof of silence, and the reaction of a target to the last octets.

Knows: barriers, refusals. Must not know: requirement rows, verdicts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from amqpspec.peer.amqp_fast_0_8.arrivals import CommandArrived, is_reply, refusal_of
from amqpspec.peer.amqp_fast_0_8.opening import Opening
from amqpspec.peer.events import Arrival, Ended, Garbled, HeaderArrived, Passed, Quiet, Reaction

Barrier = Literal["channel", "ping"] | None
_SCRATCH = 0xE001
"""Handles from this number on are used only for barriers."""


class Watching(Opening):
    """A connection that watches reactions."""

    _scratch = _SCRATCH

    # --- proof of silence

    def barrier(self, channel: int = 1) -> None:
        """Prove that the target has processed everything sent so far on the channel, with round trips that it must
        answer.

        A handle is opened and closed there twice: data that another thread of the target sends arrives before the
        second answer. Raises Unmet.
        """
        for _ in range(2):
            handle = self._next_scratch()
            self.call("handle.open", handle_id=handle, channel_id=channel)
            self.send("handle.close", handle_id=handle)
            self.expect("handle.close", handle=handle, channel=0)

    def ping(self) -> None:
        """A round trip on the connection; raises Unmet."""
        self.send("connection.ping", respond=True)
        self.pinged()

    def pinged(self) -> CommandArrived:
        """The next PING that requests no answer; PINGs that request one may arrive at any time. Raises Unmet."""
        while (ping := self.expect("connection.ping"))["respond"]:
            pass
        return ping

    def _next_scratch(self) -> int:
        self._scratch += 1
        return self._scratch

    # --- reactions

    def reaction(
        self,
        channel: int = 1,
        handle: int = 1,
        *,
        barrier: Barrier = "channel",
        within_s: float | None = None,
    ) -> Reaction:
        """Watch the target's reaction to the last octets until it refuses or accepts them.

        A refusal is a CLOSE of that handle, channel or the connection, a REPLY with an error code, or the end. The
        target accepted them if it answers a later barrier, on the channel or a PING; without a barrier, if nothing
        arrived within the patience for endings.
        """
        patience = self.context.patience
        if barrier is None:
            return self._reacted(self._watch(channel, handle, within_s or patience.ending_s))
        # Most refusals arrive immediately. They are awaited without the barrier, which would be another violation on
        # a channel that the target is about to close.
        seen = self._watch(channel, handle, patience.quiet_s)
        if not isinstance(seen[-1], Quiet):
            return self._reacted(seen)
        tag = self._ask(barrier, channel)
        return self._reacted(self._watch(channel, handle, within_s or patience.reply_s, tag))

    def _ask(self, barrier: Barrier, channel: int) -> int:
        """Send a barrier; returns the tag of its answer, 0 for a PING."""
        if barrier == "ping":
            self.send("connection.ping", respond=True)
            return 0
        tag = self.fresh_tag()
        self.send("handle.open", handle_id=self._next_scratch(), channel_id=channel, confirm_tag=tag)
        return tag

    def _watch(self, channel: int, handle: int, within_s: float, tag: int | None = None) -> list[Arrival]:
        until_s = self.now() + within_s
        while True:
            arrival = self.read(until_s)
            if isinstance(arrival, Quiet):
                return [Quiet(within_s)]
            if isinstance(arrival, Ended | Garbled | HeaderArrived):
                return [arrival]
            if tag is not None and _answers(arrival, tag):
                return [Passed("PING" if tag == 0 else "HANDLE OPEN")]
            if isinstance(arrival, CommandArrived) and self._says_no(arrival, channel, handle):
                return [arrival]
            self.keep(arrival)
            if self.now() >= until_s:
                return [Quiet(within_s)]

    def _says_no(self, arrival: CommandArrived, channel: int, handle: int) -> bool:
        """Whether it is a relevant refusal: not one of another channel or handle."""
        if arrival.name == "connection.close":
            return True
        if arrival.refusal is None:
            return False
        return arrival.get("channel_id") == channel or arrival.get("handle_id") in (handle, self._scratch)

    def _reacted(self, seen: list[Arrival]) -> Reaction:
        last = seen[-1]
        # After both CLOSEs only the end of the socket is left; it is part of the reaction.
        if isinstance(last, CommandArrived) and last.name == "connection.close" and self.polite:
            seen = [last, self.expect_end(self.context.patience.quiet_s)]
        return self.reaction_of(seen)

    def reaction_of(self, arrivals: Sequence[Arrival]) -> Reaction:
        """The refusal in the arrivals."""
        return Reaction(tuple(arrivals), *refusal_of(arrivals))


def _answers(arrival: Arrival, tag: int) -> bool:
    if tag == 0:
        return (
            isinstance(arrival, CommandArrived)
            and arrival.kind == "connection.ping"
            and not arrival["respond"]
        )
    return is_reply(arrival, tag) and arrival.refusal is None
