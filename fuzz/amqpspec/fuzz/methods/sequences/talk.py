"""Connections of a program: what is sent on them, and what arrives, which is either waited for or handed on.

Knows: peers, refusals, ends. Must not know: what messages mean.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amqpspec.fuzz.sequences.desk import sure
from amqpspec.fuzz.sequences.part import end_by_reset
from amqpspec.fuzz.sequences.step import Violation
from amqpspec.peer.context import BudgetSpent, Context, Withheld
from amqpspec.peer.events import Arrival, Ended, Garbled, Quiet
from amqpspec.peer.methods.arrivals import HeartbeatArrived, MethodArrived
from amqpspec.peer.methods.holding import FLOW_CONTROL
from amqpspec.peer.methods.peer import Peer
from amqpspec.wire.methods.codec import codec_for

_SLICE_S = 0.02
Hear = Callable[[int, MethodArrived], None]


class Talk:
    """The connections by number; ``hear`` gets everything that is not waited for."""

    def __init__(self, context: Context, hear: Hear) -> None:
        self._context, self._hear = context, hear
        self._peers: dict[int, Peer] = {}

    def __contains__(self, link: int) -> bool:
        return link in self._peers

    def now_s(self, link: int) -> float:
        """The clock."""
        return self._peers[link].now()

    @property
    def patience_s(self) -> float:
        """How long an owed answer may take."""
        return self._context.patience.reply_s

    def connect(self, link: int) -> None:
        """Open a connection; raises Violation."""
        peer = self._peers[link] = Peer(self._context)
        sure("connection not opened", peer.open_connection)

    def send(self, link: int, name: str, channel: int, **args: Any) -> None:
        """Send a method."""
        self._peers[link].send(name, channel, **args)

    def publish(self, link: int, channel: int, exchange: str, key: str, body: bytes) -> None:
        """Send a message; raises BudgetSpent if the target holds it back."""
        try:
            self._peers[link].publish(key, body, exchange=exchange, channel=channel)
        except Withheld as held:
            raise BudgetSpent(str(held)) from held

    # --- waiting

    def ask(self, link: int, name: str, channel: int, **args: Any) -> MethodArrived:
        """Send a method and take its reply; raises Violation."""
        self.send(link, name, channel, **args)
        return self.answer(link, name, channel)

    def answer(self, link: int, name: str, channel: int) -> MethodArrived:
        """The reply to a method that was sent; raises Violation."""
        return self.expect(link, channel, *self.replies(name))

    def replies(self, name: str) -> tuple[str, ...]:
        """The methods that answer a method."""
        return tuple(codec_for(self._context.dialect).dialect.methods[name].replies)

    def expect(self, link: int, channel: int, *names: str) -> MethodArrived:
        """The next of these methods on a channel; raises Violation where another thing ends the wait."""
        peer = self._peers[link]
        until_s = peer.now() + self.patience_s
        wanted = " or ".join(names)
        while True:
            arrival = peer.read(until_s)
            if isinstance(arrival, MethodArrived) and arrival.channel == channel and arrival.name in names:
                return arrival
            if isinstance(arrival, Quiet):
                raise Violation(f"no {wanted}", wanted, f"nothing in {self.patience_s:.1f} s")
            self._take(link, arrival, wanted)

    def glance(self, links: list[int], until_s: float) -> None:
        """Listen to several connections for a moment, ``until_s`` at the latest."""
        for link in links:
            peer = self._peers[link]
            arrival = peer.read(min(until_s, peer.now() + _SLICE_S))
            while not isinstance(arrival, Quiet):
                self._take(link, arrival, "messages")
                arrival = peer.read(0.0)

    def _take(self, link: int, arrival: Arrival, wanted: str) -> None:
        """What arrived besides the expected answer; raises Violation for an end, or what cannot be read."""
        if isinstance(arrival, HeartbeatArrived):
            return
        shown = arrival.describe(self._peers[link].dialect)
        if isinstance(arrival, Ended | Garbled):
            kind = "connection ended" if isinstance(arrival, Ended) else "octets that cannot be read"
            raise Violation(f"{kind} instead of {wanted}", wanted, f"{shown} on connection {link}")
        if not isinstance(arrival, MethodArrived):
            raise Violation(f"{arrival.kind} instead of {wanted}", wanted, f"{shown} on connection {link}")
        if arrival.name in FLOW_CONTROL:
            self._judge_nothing_held_back(link)
            return
        if arrival.refusal is not None:
            raise Violation(f"{arrival.kind} instead of {wanted}", wanted, f"{shown} on connection {link}")
        self._hear(link, arrival)

    def _judge_nothing_held_back(self, link: int) -> None:
        """Raises BudgetSpent where the target blocks publishers: what it does not answer or deliver proves nothing."""
        if self._peers[link].is_blocked:
            raise BudgetSpent("the target blocks publishers: the program is not judged")

    # --- ends

    def leave(self, link: int) -> None:
        """Close a connection in good order; raises Violation."""
        self.send(link, "connection.close", 0, reply_code=200, reply_text="done")
        self.expect(link, 0, "connection.close-ok")
        self._peers.pop(link).hang_up()

    def reset(self, link: int) -> None:
        """End a connection without a close."""
        end_by_reset(self._peers.pop(link).transport)

    def half_close(self, link: int) -> None:
        """End the sending side, read to the end of the other one, and hang up."""
        peer = self._peers.pop(link)
        peer.transport.half_close()
        until_s = peer.now() + self.patience_s
        while not isinstance(peer.read(until_s), Ended | Garbled | Quiet):
            pass
        peer.hang_up()

    def hang_up(self) -> None:
        """End all connections."""
        for peer in self._peers.values():
            peer.hang_up()
        self._peers = {}
