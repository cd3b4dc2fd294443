"""The reaction of a target to the last octets: a refusal at some scope, or the answer to a later round trip.

Knows: refusals, barriers. Must not know: requirement rows, verdicts.
"""

from __future__ import annotations

from collections.abc import Sequence

from amqpspec.peer.amqp_1_0.arrivals import refusal_of
from amqpspec.peer.amqp_1_0.booking import covers
from amqpspec.peer.amqp_1_0.books import Delivery, FrameArrived, Link, Outgoing
from amqpspec.peer.amqp_1_0.linking import Linking
from amqpspec.peer.context import OutOfReach
from amqpspec.peer.events import Arrival, Ended, Garbled, Passed, Quiet, Reaction

_NOISE = ("flow", "transfer", "empty")


class _Watch:
    """The goal of a wait, and the arrivals so far."""

    def __init__(self, channel: int, link: Link | None, delivery: Outgoing | Delivery | int | None) -> None:
        self.channel, self.link = channel, link
        self.id = delivery if isinstance(delivery, int) or delivery is None else delivery.id
        self.scratch: Link | None = None
        self.scratch_channel: int | None = None
        self.seen: list[Arrival] = []

    def matters(self, arrival: FrameArrived) -> bool:
        """Whether a frame belongs to the reaction."""
        if arrival.name == "disposition":
            return self.rejects(arrival)
        if arrival.name in _NOISE or self.is_answer(arrival):
            return False
        if arrival.link is not None and arrival.link is self.scratch:
            return False
        if self.link is not None and arrival.name in ("attach", "detach") and arrival.link is not self.link:
            return False
        return arrival.channel in (None, self.channel)

    def rejects(self, arrival: FrameArrived) -> bool:
        """Whether it is a disposition that rejects what was sent."""
        if arrival.state != "rejected" or arrival["role"] is not True or arrival.channel != self.channel:
            return False
        return self.id is None or covers(arrival, self.id)

    def ends(self, arrival: FrameArrived) -> bool:
        """Whether it decides: a close, the session's end, the link's detach with an error."""
        if arrival.name == "close":
            return True
        if not self.matters(arrival):
            return False
        return arrival.name == "end" or (arrival.name == "detach" and arrival.condition is not None)

    def is_answer(self, arrival: FrameArrived) -> bool:
        """Whether it answers the barrier."""
        if self.scratch is not None and arrival.name == "attach" and arrival.link is self.scratch:
            return True
        return self.scratch_channel is not None and arrival.channel == self.scratch_channel


class Watching(Linking):
    """A connection that watches reactions."""

    def reaction(
        self,
        channel: int = 0,
        *,
        link: Link | None = None,
        delivery: Outgoing | Delivery | int | None = None,
        barrier: bool = True,
        within_s: float | None = None,
    ) -> Reaction:
        """Watch the target's reaction to the last octets until it refuses or accepts them.

        It accepted them if it answers a later barrier: an attach in the same session if that exists, otherwise a
        begin on another channel. Without ``barrier``, or if none can be sent, it accepted them if nothing arrived
        within the patience for endings. If ``link`` or ``delivery`` is given, its refusal also counts.
        """
        patience = self.context.patience
        watch = _Watch(channel if link is None else link.session.channel, link, delivery)
        if self._seen_before(watch):
            return self._reacted(watch)
        if not barrier or not self._can_ask():
            self._watch(watch, within_s or patience.ending_s)
            return self._reacted(watch)
        # Most refusals arrive immediately; if the target is about to end the session, a barrier would be a violation
        # itself.
        if self._watch(watch, patience.quiet_s):
            return self._reacted(watch)
        watch.seen.pop()
        if not self._ask(watch):
            self._watch(watch, within_s or patience.ending_s)
            return self._reacted(watch)
        self._watch(watch, within_s or patience.reply_s)
        return self._reacted(watch)

    def _can_ask(self) -> bool:
        return self.opened is not None and not self.books.close_sent and not self.is_over()

    def _ask(self, watch: _Watch) -> bool:
        """Send a barrier; False if the target accepts none."""
        session = self.books.sessions.get(watch.channel)
        try:
            if session is not None and session.is_mapped:
                watch.scratch = self.send_scratch(watch.channel)
                return True
        except OutOfReach:
            pass
        try:
            watch.scratch_channel = self.free_channel()
        except OutOfReach:
            return False
        self.send("begin", watch.scratch_channel)
        return True

    def _seen_before(self, watch: _Watch) -> bool:
        """Whether a refusal has arrived already, during an earlier wait."""
        found = self.take(
            lambda a: watch.matters(a) and a.name in ("close", "end", "detach") and bool(a.condition)
        )
        watch.seen += found
        if not found and self.closed_by is not None:
            watch.seen.append(self.closed_by)
        return bool(watch.seen)

    def _watch(self, watch: _Watch, within_s: float) -> bool:
        """Read until an arrival decides; False, and Quiet at the end, if none did."""
        until_s = self.now() + within_s
        while True:
            arrival = self.read(until_s)
            if isinstance(arrival, Quiet):
                break
            if not isinstance(arrival, FrameArrived):
                watch.seen.append(arrival)
                if isinstance(arrival, Ended | Garbled):
                    return True
            elif self._frame_decides(watch, arrival):
                return True
            if self.now() >= until_s:
                break
        watch.seen.append(Quiet(within_s))
        return False

    def _frame_decides(self, watch: _Watch, arrival: FrameArrived) -> bool:
        if watch.is_answer(arrival):
            watch.seen.append(Passed("attach" if watch.scratch is not None else "begin"))
            return True
        if watch.ends(arrival):
            watch.seen.append(arrival)
            return True
        if watch.matters(arrival):
            watch.seen.append(arrival)
            # Other arrivals that concern the case become part of the reaction, and are kept for a later wait.
            if arrival.name not in ("end", "detach"):
                self.keep(arrival)
        elif arrival.link is None or arrival.link is not watch.scratch:
            self.keep(arrival)
        return False

    def _reacted(self, watch: _Watch) -> Reaction:
        last = watch.seen[-1]
        if isinstance(last, Passed):
            self._leave_barrier(watch)
        elif isinstance(last, FrameArrived) and last.name == "close" and self.ended is None:
            self._read_on(watch)
        return self.reaction_of(watch.seen)

    def reaction_of(self, arrivals: Sequence[Arrival]) -> Reaction:
        """The refusal in the arrivals."""
        return Reaction(tuple(arrivals), *refusal_of(arrivals))

    def _read_on(self, watch: _Watch) -> None:
        # Close is the last frame of a peer (§2.4.3): only the end of the stream remains.
        ended = self.expect_end(self.context.patience.quiet_s)
        if not isinstance(ended, Quiet):
            watch.seen.append(ended)

    def _leave_barrier(self, watch: _Watch) -> None:
        if watch.scratch is not None:
            self.leave_scratch(watch.scratch)
        elif watch.scratch_channel is not None:
            self.send("end", watch.scratch_channel)
            self.arrival("end", channel=watch.scratch_channel)
