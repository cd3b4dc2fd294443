"""An additional connection that inspects the queues of a program: how many messages, whether they exist at all.

Knows: passive declares. Must not know: the program, what a count means.
"""

from __future__ import annotations

from amqpspec.fuzz.methods.sequences.talk import Talk
from amqpspec.fuzz.sequences.step import Violation
from amqpspec.peer.methods.arrivals import MethodArrived

AUDITOR = 0
"""The number of its connection."""
_CHANNEL = 1
NOT_FOUND, LOCKED = 404, 405


class Auditor:
    """Asks on a separate channel, which a refusal ends and which is opened again."""

    def __init__(self, talk: Talk) -> None:
        self._talk, self._open = talk, False

    def ask(self, name: str, *, refusals: tuple[int, ...] = (), **args: object) -> MethodArrived | int:
        """The reply, or the code by which the channel was closed, if it is one of these. Raises Violation."""
        if not self._open:
            if AUDITOR not in self._talk:
                self._talk.connect(AUDITOR)
            self._talk.ask(AUDITOR, "channel.open", _CHANNEL)
            self._open = True
        self._talk.send(AUDITOR, name, _CHANNEL, **args)
        replies = self._talk.replies(name)
        arrival = self._talk.expect(AUDITOR, _CHANNEL, *replies, "channel.close")
        if arrival.name != "channel.close":
            return arrival
        self._open = False
        code = int(arrival["reply_code"])
        if code not in refusals:
            wanted = " or ".join(replies)
            raise Violation(
                f"{arrival.kind} instead of {wanted}", wanted, f"{arrival.kind} at another connection"
            )
        return code

    def count(self, queue: str) -> int | None:
        """How many messages are ready in a queue; None if there is no such queue. Raises Violation."""
        found = self.ask("queue.declare", queue=queue, passive=True, refusals=(NOT_FOUND,))
        return None if isinstance(found, int) else int(found["message_count"])

    def exists(self, queue: str) -> bool:
        """Whether a queue exists, also if it is exclusive to another connection. Raises Violation."""
        found = self.ask("queue.declare", queue=queue, passive=True, refusals=(NOT_FOUND, LOCKED))
        return found != NOT_FOUND
