"""Steps that cases about messages share: sending, and reading deliveries and returns.

Knows: how a client sees messages. Must not know: verdicts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from amqpspec.peer.context import OutOfReach
from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.suites.amqp_0_9_1._absence import settled, unmarked
from amqpspec.suites.amqp_0_9_1._queues import arrive

_PAUSE_S = 0.05


def send(
    peer: Peer,
    queue: str,
    bodies: Iterable[bytes],
    channel: int = 1,
    *,
    transacted: bool = False,
    **properties: Any,
) -> Sequence[bytes]:
    """Publish bodies straight to a queue, all with the same properties, and see that they are there. Raises Unmet.

    In a transaction they are not there yet, and only the server has them.
    """
    sent = tuple(bodies)
    for body in sent:
        peer.publish(queue, body, channel=channel, properties=properties)
    arrive(peer, queue, 0 if transacted else len(sent), channel)
    return sent


def gathered(peer: Peer, queue: str, count: int, channel: int = 1) -> list[MethodArrived]:
    """Empty a queue by a consumer: this many messages are waited for, and a mark tells whether there are more.

    Fewer are returned if no more arrive. Where messages return, one of them has to be among those that are waited
    for: the mark comes after what is in the queue, not after what is still being returned to it. Raises Unmet.
    """
    peer.consume(queue, channel, no_ack=True)
    first = awaited(peer, count, channel)
    (more,) = settled(queue, (peer, channel))
    return first + more


def awaited(peer: Peer, count: int, channel: int | None = 1) -> list[MethodArrived]:
    """The next deliveries on a channel (None: any) except marks, at most this many; fewer if no more arrive."""
    got: list[MethodArrived] = []
    while len(got) < count:
        arrival = peer.arrival("basic.deliver", channel=channel)
        if not isinstance(arrival, MethodArrived) or arrival.name != "basic.deliver":
            break
        got += unmarked([arrival])
    return got


def sent_ahead(peer: Peer, count: int, channel: int | None = 1) -> list[MethodArrived]:
    """This many deliveries, none of which is acknowledged; raises OutOfReach if the server sends fewer ahead, and Unmet
    if it sends none.
    """
    got = [peer.delivery(channel), *awaited(peer, count - 1, channel)]
    # A server may send less ahead than it is allowed to (amqp-0-9-1 basic/qos/prefetch-count/less).
    if len(got) < count:
        raise OutOfReach(f"{len(got)} messages are sent ahead without a window, the case needs {count}")
    return got


def bodies(messages: Iterable[MethodArrived]) -> list[bytes]:
    """The bodies of messages."""
    return [message.body for message in messages]


def plain(message: MethodArrived) -> dict[str, Any]:
    """The properties of a message, with the table of headers as a plain mapping."""
    properties = dict(message.properties)
    if "headers" in properties:
        properties["headers"] = properties["headers"].plain()
    return properties


def altered(got: Mapping[str, Any], sent: Mapping[str, Any]) -> list[str]:
    """The names of what did not return as it was sent; what a server added is tolerated, in tables as well."""
    # PDF §3.1.1 forbids a server to remove or alter properties, not to add some.
    return [name for name, value in sent.items() if name not in got or not _kept(got[name], value)]


def _kept(got: Any, sent: Any) -> bool:
    if isinstance(got, Mapping) and isinstance(sent, Mapping):
        return not altered(got, sent)
    return bool(got == sent)


def taken(peer: Peer, queue: str, count: int, channel: int = 1) -> list[MethodArrived]:
    """Fetch this many messages with basic.get and leave them unacknowledged. Raises Unmet if there are fewer."""
    got: list[MethodArrived] = []
    for _ in range(count):
        peer.send("basic.get", channel=channel, queue=queue)
        got.append(peer.expect("basic.get-ok", channel=channel))
    return got


def fetched(peer: Peer, queue: str, bodies: Iterable[bytes]) -> list[MethodArrived]:
    """Publish bodies straight to a queue, fetch them all, and leave them unacknowledged. Raises Unmet."""
    return taken(peer, queue, len(send(peer, queue, bodies)))


def found(peer: Peer, queue: str, channel: int = 1) -> MethodArrived | None:
    """Fetch a message that may not have reached a queue yet and leave it unacknowledged;

    None if it does not arrive in time.
    """
    started_s = peer.now()
    while (message := peer.get(queue, channel, no_ack=False)) is None:
        if peer.now() > started_s + peer.patience_s:
            peer.rest_on_time()
            return None
        peer.wait(lambda arrival: False, _PAUSE_S)
    peer.took(peer.now() - started_s)
    return message


def left_unacknowledged(peer: Peer, queue: str, channel: int = 1) -> bytes:
    """Fetch one more message from a queue that is empty and leave it unacknowledged; returns its body.

    When it returns, everything has returned that was to do so with it. Raises Unmet.
    """
    (body,) = send(peer, queue, (b"unacknowledged",), channel)
    taken(peer, queue, 1, channel)
    return body


def reopened(peer: Peer, channel: int = 1) -> Peer:
    """Close a channel, which gives back whatever is unacknowledged on it, and open it again. Raises Unmet."""
    # PDF §4.5 gives back what a closed channel holds, and close-ok tells when. What recover does is
    # judged by cases of its own.
    peer.call("channel.close", channel=channel, reply_code=200, reply_text="done")
    return peer.open_channel(channel)
