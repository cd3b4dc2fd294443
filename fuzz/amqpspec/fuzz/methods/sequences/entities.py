"""Verbs about connections, channels and queues.

Knows: desks and books. Must not know: messages' verbs, races.
"""

from __future__ import annotations

from collections.abc import Iterable

from amqpspec.fuzz.methods.sequences.auditor import LOCKED, NOT_FOUND
from amqpspec.fuzz.methods.sequences.books import CONFIRM, PLAIN, TX, Channel, Queue
from amqpspec.fuzz.methods.sequences.desk import EXCHANGE
from amqpspec.fuzz.methods.sequences.desk import MethodsDesk as Desk
from amqpspec.fuzz.methods.sequences.places import channels, places, usable
from amqpspec.fuzz.sequences.step import Violation
from amqpspec.fuzz.sequences.world import Args, Table, Verb

LINKS, CHANNELS = 3, 2
QUEUES = ("q0", "q1", "q2")
BOUND_KEY = "key"
_FAR = 1000
"""So far from the last delivery tag there is none, even while messages are in flight."""

# --- connections and channels


def _free_links(desk: Desk) -> Iterable[Args]:
    return [(n,) for n in range(1, LINKS + 1) if n not in desk.books.links][:1]


def _connect(desk: Desk, link: int) -> None:
    desk.talk.connect(link)
    desk.books.links.add(link)
    _open(desk, link, 1)


def _links(desk: Desk) -> Iterable[Args]:
    return [(link,) for link in sorted(desk.books.links)]


def ended(desk: Desk, link: int) -> None:
    """A connection has ended: what it held is given back, and its queues vanish."""
    exclusive = [queue.name for queue in desk.books.queues.values() if queue.owner == link]
    desk.books.end_link(link)
    desk.vanished(exclusive)
    desk.settle()
    desk.check(desk.books.queues.values())


def _leave(desk: Desk, link: int) -> None:
    desk.talk.leave(link)
    ended(desk, link)


def _reset(desk: Desk, link: int) -> None:
    desk.talk.reset(link)
    ended(desk, link)


def _half_close(desk: Desk, link: int) -> None:
    desk.talk.half_close(link)
    ended(desk, link)


def _free_channels(desk: Desk) -> Iterable[Args]:
    for link in sorted(desk.books.links):
        for number in range(1, CHANNELS + 1):
            if (link, number) not in desk.books.channels:
                yield link, number
                break


def _open(desk: Desk, link: int, number: int) -> None:
    desk.talk.ask(link, "channel.open", number)
    desk.books.channels[link, number] = Channel(link, number)
    # Only this connection sees its exclusive queues: what went back to them while it had no channel is checked now.
    desk.check(queue for queue in desk.books.queues.values() if queue.owner == link)


def _channels(desk: Desk) -> Iterable[Args]:
    return [(c.link, c.number) for c in channels(desk)]


def _close(desk: Desk, link: int, number: int) -> None:
    channel = desk.channel(link, number)
    channel.ending = True
    desk.ask(channel, "channel.close", reply_code=200, reply_text="done")
    channel_ended(desk, channel)


def channel_ended(desk: Desk, channel: Channel) -> None:
    """A channel has ended: what it held is given back."""
    desk.books.end_channel(channel)
    desk.settle()
    desk.check(desk.books.queues.values())


def _plain(desk: Desk) -> Iterable[Args]:
    """A channel that has done nothing can still choose a mode."""
    return [(c.link, c.number) for c in channels(desk, PLAIN) if not c.unacked and not c.consumers]


def _confirm(desk: Desk, link: int, number: int) -> None:
    channel = desk.channel(link, number)
    desk.ask(channel, "confirm.select")
    channel.mode = CONFIRM


def _tx(desk: Desk, link: int, number: int) -> None:
    channel = desk.channel(link, number)
    desk.ask(channel, "tx.select")
    channel.mode = TX


# --- queues


def _declarable(desk: Desk) -> Iterable[Args]:
    name = next((name for name in QUEUES if name not in desk.books.queues), None)
    return [(c.link, c.number, name, own) for own in (0, 1) for c in channels(desk) if name]


def _declare(desk: Desk, link: int, number: int, name: str, own: int) -> None:
    channel = desk.channel(link, number)
    desk.made.add(name)
    found = desk.ask(channel, "queue.declare", queue=desk.real(name), exclusive=bool(own))
    if found["message_count"]:
        raise Violation(
            "new queue not empty", f"no messages in {name}, which is new", str(found["message_count"])
        )
    desk.books.queues[name] = Queue(name, link if own else None)


def _deletable(desk: Desk) -> Iterable[Args]:
    return [(c.link, c.number, q.name) for c, q in places(desk) if not desk.books.has_unsure(q)]


def _delete(desk: Desk, link: int, number: int, name: str) -> None:
    queue = desk.queue(name)
    found = desk.ask(desk.channel(link, number), "queue.delete", queue=desk.real(name))
    _count(desk, queue, found["message_count"], "deleted")
    desk.books.remove(queue, "deleted with its queue")


def _purge(desk: Desk, link: int, number: int, name: str) -> None:
    queue = desk.queue(name)
    found = desk.ask(desk.channel(link, number), "queue.purge", queue=desk.real(name))
    _count(desk, queue, found["message_count"], "purged")
    desk.books.empty(queue, "purged")


def _count(desk: Desk, queue: Queue, found: int, how: str) -> None:
    if found != len(queue.ready):
        raise Violation(
            f"wrong count of {how} messages", f"{len(queue.ready)} messages {how} of {queue.name}", str(found)
        )


def _bindable(desk: Desk) -> Iterable[Args]:
    return [(c.link, c.number, q.name) for c, q in places(desk) if not q.bound]


def _bind(desk: Desk, link: int, number: int, name: str) -> None:
    desk.ask(
        desk.channel(link, number),
        "queue.bind",
        queue=desk.real(name),
        exchange=EXCHANGE,
        routing_key=desk.real(BOUND_KEY),
    )
    desk.queue(name).bound = True


# --- what must be refused


def _refused(desk: Desk, channel: Channel, name: str, code: int, why: str, **args: object) -> None:
    """Send what has to close the channel with this code."""
    channel.ending = True
    desk.talk.send(channel.link, name, channel.number, **args)
    replies = desk.talk.replies(name)
    arrival = desk.talk.expect(channel.link, channel.number, *replies, "channel.close")
    if arrival.name != "channel.close":
        raise Violation(f"not refused: {why}", f"channel.close {code}", arrival.name)
    if arrival["reply_code"] != code:
        raise Violation(f"refused with another code: {why}", f"channel.close {code}", arrival.kind)
    channel_ended(desk, channel)


def _foreign(desk: Desk) -> Iterable[Args]:
    return [
        (c.link, c.number, q.name)
        for c in channels(desk)
        for q in desk.books.queues.values()
        if q not in usable(desk, c.link)
    ]


def _use_foreign(desk: Desk, link: int, number: int, name: str) -> None:
    channel = desk.channel(link, number)
    _refused(
        desk,
        channel,
        "queue.purge",
        LOCKED,
        "an exclusive queue of another connection",
        queue=desk.real(name),
    )


def _use_missing(desk: Desk, link: int, number: int) -> None:
    channel = desk.channel(link, number)
    _refused(desk, channel, "basic.consume", NOT_FOUND, "a queue that there is not", queue=desk.real("none"))


def _settling(desk: Desk) -> Iterable[Args]:
    return [(c.link, c.number) for c in channels(desk, PLAIN, CONFIRM)]


def _unknown_tag(desk: Desk, link: int, number: int) -> None:
    channel = desk.channel(link, number)
    channel.ending = True
    desk.talk.send(link, "basic.ack", number, delivery_tag=channel.last_tag + _FAR)
    # basic.ack has no reply: what follows it must not be answered.
    _refused(desk, channel, "channel.flow", 406, "a delivery tag that there is not", active=True)


VERBS: Table[Desk] = {
    "connect": Verb(_free_links, _connect),
    "open": Verb(_free_channels, _open, 2),
    "declare": Verb(_declarable, _declare, 2),
    "confirm": Verb(_plain, _confirm),
    "tx": Verb(_plain, _tx, 3),
    "bind": Verb(_bindable, _bind),
    "purge": Verb(_deletable, _purge, 2),
    "delete": Verb(_deletable, _delete),
    "close": Verb(_channels, _close),
    "leave": Verb(_links, _leave),
    "reset": Verb(_links, _reset),
    "half-close": Verb(_links, _half_close),
    "use-foreign": Verb(_foreign, _use_foreign),
    "use-missing": Verb(_channels, _use_missing),
    "unknown-tag": Verb(_settling, _unknown_tag),
}
