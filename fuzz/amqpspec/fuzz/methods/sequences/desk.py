"""Where a program meets the target: the books, the connections, and the waiting for all that is due.

Knows: books, connections, counts of queues. Must not know: verbs, which step comes next.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from amqpspec.fuzz.methods.sequences.auditor import AUDITOR, Auditor
from amqpspec.fuzz.methods.sequences.books import Books, Channel, Copy, Queue
from amqpspec.fuzz.methods.sequences.talk import Talk
from amqpspec.fuzz.sequences.desk import Due, await_due
from amqpspec.fuzz.sequences.step import Arg, Violation
from amqpspec.peer.context import Context
from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.wire.transport import StreamEnded

_PAUSE_S = 0.02
EXCHANGE = "amq.direct"


@dataclass(frozen=True, slots=True)
class Place:
    """A channel of a program, as steps name it."""

    link: int
    channel: int


class MethodsDesk:
    """One program's dealings with one target."""

    def __init__(self, context: Context) -> None:
        self.context, self.books = context, Books()
        self.talk = Talk(context, self._hear)
        self.auditor = Auditor(self.talk)
        self._prefix = context.name("seq")
        self.made: set[str] = set()
        self.tags = 0

    # --- names

    def real(self, name: Arg) -> str:
        """A queue, or a routing key, as the target knows it."""
        return f"{self._prefix}.{name}"

    def channel(self, link: Arg, number: Arg) -> Channel:
        """An open channel."""
        return self.books.channels[int(link), int(number)]

    def queue(self, name: Arg) -> Queue:
        """A queue that there is."""
        return self.books.queues[str(name)]

    def ask(self, channel: Channel, name: str, **args: object) -> MethodArrived:
        """Send a method on a channel, and take its reply; raises Violation."""
        return self.talk.ask(channel.link, name, channel.number, **args)

    # --- messages

    def publish(self, channel: Channel, queues: list[Queue], key: str, exchange: str = "") -> Copy | None:
        """Publish one message."""
        copy = self.books.publish(channel, queues)
        body = b"m%d" % self.books.messages
        self.talk.publish(channel.link, channel.number, exchange, self.real(key), body)
        return copy

    def arrived(self, channel: Channel, queues: Iterable[Queue]) -> None:
        """Wait until what was published on a channel is in its queues, and look whether it is."""
        if channel.unconfirmed:
            self._confirmed(channel)
            self.check(queues, at_once=True)
            return
        # Done on this channel; a count, which need not wait its turn in a queue, may show it a little later.
        self.ask(channel, "basic.qos", prefetch_count=0)
        self.check(queues)

    def _confirmed(self, channel: Channel) -> None:
        until_s = self.talk.now_s(channel.link) + self.talk.patience_s
        while channel.unconfirmed:
            if self.talk.now_s(channel.link) > until_s:
                missing = ", ".join(map(str, sorted(channel.unconfirmed)))
                raise Violation(
                    "not confirmed", f"a confirmation of {missing}", f"none in {self.talk.patience_s:.1f} s"
                )
            self.talk.glance([channel.link], until_s)

    def settle(self) -> None:
        """Wait for the deliveries that are due; raises Violation."""
        await_due(self.talk, self._due)

    def _due(self) -> list[Due]:
        return [
            Due(channel.link, f"delivery of m{copy.number} from {copy.queue.name}")
            for copy, channel in self.books.owed()
        ]

    def look(self) -> None:
        """Nothing more: verbs check the queues that they change."""

    # --- counts

    def check(self, queues: Iterable[Queue], *, at_once: bool = False) -> None:
        """Look whether queues hold what they have to, now or after a while; raises Violation."""
        for queue in list(queues):
            if queue.alive and not any(self.books.consumers_of(queue)) and self._asker(queue) is not None:
                self._count(queue, at_once=at_once)

    def _asker(self, queue: Queue) -> Channel | None:
        """A channel of the program that may ask for an exclusive queue; the auditor asks for any other."""
        if queue.owner is None:
            return Channel(AUDITOR, 1)
        return next((c for c in self.books.channels.values() if c.link == queue.owner), None)

    def _count(self, queue: Queue, *, at_once: bool) -> None:
        found = self._messages(queue)
        asker = self._asker(queue)
        assert asker is not None
        until_s = self.talk.now_s(asker.link) + (0.0 if at_once else self.talk.patience_s)
        while not self._fits(queue, found) and self.talk.now_s(asker.link) < until_s:
            self.talk.glance([asker.link], self.talk.now_s(asker.link) + _PAUSE_S)
            found = self._messages(queue)
        self._compare(queue, found)

    def _messages(self, queue: Queue) -> int:
        asker = self._asker(queue)
        if queue.owner is not None and asker is not None:
            declared = self.ask(asker, "queue.declare", queue=self.real(queue.name), passive=True)
            return int(declared["message_count"])
        found = self.auditor.count(self.real(queue.name))
        if found is None:
            raise Violation("queue gone", f"a queue {queue.name}", "404 not found")
        return found

    def _fits(self, queue: Queue, found: int) -> bool:
        return len(queue.certain) <= found <= len(queue.ready)

    def _compare(self, queue: Queue, found: int) -> None:
        if any(self.books.consumers_of(queue)) or self._fits(queue, found):
            return
        least, most = len(queue.certain), len(queue.ready)
        what = "too many messages" if found > most else "too few messages"
        expected = f"{least} messages" if least == most else f"{least} to {most} messages"
        raise Violation(f"{what} in a queue", f"{expected} in {queue.name}", f"{found}")

    def vanished(self, names: Iterable[str]) -> None:
        """Wait until exclusive queues of a connection that ended are gone; raises Violation."""
        for name in names:
            until_s: float | None = None
            while self.auditor.exists(self.real(name)):
                now_s = self.talk.now_s(AUDITOR)
                until_s = until_s or now_s + self.talk.patience_s
                if now_s > until_s:
                    raise Violation(
                        "exclusive queue outlives its connection", f"no queue {name}", "it is still there"
                    )
                self.talk.glance([AUDITOR], now_s + _PAUSE_S)

    # --- what arrives unasked

    def _hear(self, link: int, arrival: MethodArrived) -> None:
        channel = self.books.channels.get((link, arrival.channel))
        if channel is not None and arrival.name == "basic.deliver":
            self._deliver(channel, arrival)
        elif channel is not None and arrival.name == "basic.ack":
            self._confirm(channel, int(arrival["delivery_tag"]), multiple=bool(arrival["multiple"]))
        else:
            where = f"{arrival.name} on channel {link}/{arrival.channel}"
            raise Violation(f"unexpected {arrival.name}", "nothing that was not asked for", where)

    def _deliver(self, channel: Channel, arrival: MethodArrived) -> None:
        consumer = channel.consumers.get(str(arrival["consumer_tag"]))
        if consumer is None:
            shown = f"a delivery to {str(arrival['consumer_tag'])[:32]!r} on channel {channel.link}/{channel.number}"
            raise Violation("delivery to no consumer", "deliveries to consumers only", shown)
        tag, again = int(arrival["delivery_tag"]), bool(arrival["redelivered"])
        self.books.delivered(channel, consumer, tag, arrival.body, redelivered=again)

    def _confirm(self, channel: Channel, tag: int, *, multiple: bool) -> None:
        confirmed = {n for n in channel.unconfirmed if n <= tag} if multiple else {tag} & channel.unconfirmed
        if not confirmed:
            raise Violation(
                "confirmed without need", "confirmations of what was published", f"basic.ack {tag}"
            )
        channel.unconfirmed -= confirmed

    # --- the end

    def finish(self) -> None:
        """End all connections, and compare what queues hold with the books; raises Violation."""
        for link in sorted(self.books.links):
            self.talk.leave(link)
            exclusive = [queue.name for queue in self.books.queues.values() if queue.owner == link]
            self.books.end_link(link)
            self.vanished(exclusive)
        for queue in list(self.books.queues.values()):
            self.check([queue])
            self._drain(queue)
            self.books.remove(queue, "deleted")

    def _drain(self, queue: Queue) -> None:
        """Fetch all: what has to be there is, and nothing else."""
        while True:
            got = self.auditor.ask("basic.get", queue=self.real(queue.name), no_ack=True)
            assert isinstance(got, MethodArrived)
            if got.name == "basic.get-empty":
                break
            copy = self.books.taken(queue, got.body, redelivered=bool(got["redelivered"]))
            queue.gone[copy.number] = "fetched at the end"
        if queue.certain:
            raise Violation("lost", f"m{queue.certain[0].number} in {queue.name}", "an empty queue")

    def give_up(self) -> None:
        """Leave, and delete the queues as far as the target allows it."""
        self.talk.hang_up()
        aside = Talk(self.context, lambda link, arrival: None)
        auditor = Auditor(aside)
        try:
            for name in sorted(self.made):
                auditor.ask("queue.delete", queue=self.real(name), refusals=(404, 405, 406))
        except (Violation, StreamEnded):
            pass  # what it does not delete, its connections' end or its operator does
        finally:
            aside.hang_up()
