"""Steps that cases about exchanges and queues share.

Knows: the peer's verbs. Must not know: verdicts, targets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.peer.context import Unmet

_PAUSE_S = 0.02
Route = tuple[str, Mapping[str, Any]]
"""A key, and the headers of a message or the arguments of a binding."""


def after_restart(peer: Peer) -> Peer:
    """Another connection with a session, once the target has been restarted."""
    peer.context.restart()
    after: Peer = peer.another()
    after.open_session()
    return after


def exchange_of(peer: Peer, name: str, channel: int = 0) -> Mapping[str, Any]:
    """What exchange.query tells."""
    return peer.query("exchange.query", channel, name=name)


def has_exchange(peer: Peer, name: str, channel: int = 0) -> bool:
    """Whether there is such an exchange."""
    return not exchange_of(peer, name, channel).get("not_found")


def has_queue(peer: Peer, name: str, channel: int = 0) -> bool:
    """Whether there is such a queue."""
    return bool(peer.query("queue.query", channel, queue=name).get("queue") == name)


def soon(peer: Peer, holds: Callable[[], bool]) -> bool:
    """Whether a condition becomes true within the patience for an answer; what arrives meanwhile is kept."""
    until_s = peer.now() + peer.patience_s
    while not holds():
        if peer.now() > until_s:
            return False
        peer.wait(lambda arrival: False, _PAUSE_S)  # so that the target is not asked all the time
    return True


def vanishes(peer: Peer, kind: str, name: str, channel: int = 0) -> bool:
    """Whether an exchange or a queue goes within the patience for an answer: no text says how soon it has to."""
    there = has_exchange if kind == "exchange" else has_queue
    return soon(peer, lambda: not there(peer, name, channel))


def counts_soon(peer: Peer, queue: str, count: int, channel: int = 0) -> bool:
    """Whether a queue finally holds this many messages: no text says how soon what is given back is there again."""
    return soon(
        peer, lambda: peer.call("queue.query", channel, queue=queue).fields.get("message_count") == count
    )


def bind(
    peer: Peer, exchange: str, queue: str, key: str = "", arguments: Mapping[str, Any] | None = None
) -> None:
    """Bind a queue; raises Unmet."""
    given: Mapping[str, Any] = {"arguments": arguments} if arguments else {}
    peer.call("exchange.bind", queue=queue, exchange=exchange, binding_key=key, **given)


def bound_to(peer: Peer, exchange: str, keys: Sequence[str]) -> list[str]:
    """A new queue for each key, bound by it."""
    queues = [peer.queue() for _ in keys]
    for queue, key in zip(queues, keys, strict=True):
        bind(peer, exchange, queue, key)
    return queues


def send(peer: Peer, exchange: str | None, key: str, body: bytes, channel: int = 0, **headers: Any) -> None:
    """Transfer a message that needs no acceptance, and see it done; raises Unmet."""
    message = {"application_headers": headers} if headers else None
    peer.publish(key, body, channel, exchange=exchange, message=message)
    peer.barrier(channel)


def bodies(peer: Peer, queue: str, channel: int = 0) -> list[bytes]:
    """The bodies of everything in a queue, taken out of it."""
    return [transfer.body for transfer in peer.drain(queue, channel)]


def routed(peer: Peer, type: str, bindings: Sequence[Route], messages: Sequence[Route]) -> list[list[int]]:
    """For each binding of a new exchange, each with a separate queue: the numbers of the messages that came.

    Last comes the queue of another exchange of that type, with the first binding repeated: nothing is sent there.
    """
    exchange, other = peer.exchange(type), peer.exchange(type)
    sources = [exchange] * len(bindings) + [other]
    queues = [peer.queue() for _ in sources]
    for source, queue, (key, arguments) in zip(sources, queues, (*bindings, bindings[0]), strict=True):
        bind(peer, source, queue, key, arguments)
    for number, (key, headers) in enumerate(messages):
        send(peer, exchange, key, b"%d" % number, **headers)
    numbers = {b"%d" % number: number for number in range(len(messages))}
    return [[numbers.get(body or b"", -1) for body in bodies(peer, queue)] for queue in queues]


def standard(peer: Peer, type: str) -> str:
    """The name of a standard exchange; that of type headers has one of two names."""
    names = ("amq.match", "amq.headers") if type == "headers" else (f"amq.{type}",)
    return next((name for name in names if has_exchange(peer, name)), names[0])


def declared(peer: Peer, name: str, type: str = "direct", channel: int = 0, **args: Any) -> bool:
    """Whether a declare goes through; a refusal ends the session."""
    try:
        peer.call("exchange.declare", channel, exchange=name, type=type, **args)
    except Unmet:
        return False
    return True
