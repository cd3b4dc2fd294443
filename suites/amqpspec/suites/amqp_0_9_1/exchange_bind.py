"""Exchanges bound to exchanges: ways of a message, circles, the default exchange, undoing it.

(amqp-0-9-1 class exchange, methods bind and unbind, which RabbitMQ added.)
"""

from __future__ import annotations

from typing import Any

from amqpspec.peer.events import Reaction
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.methods.oracles import rejects_violation
from amqpspec.run.oracles import equals, judge_reaction
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._cases import on_channel
from amqpspec.suites.amqp_0_9_1._routes import listening, reached

_NEEDS = ("exchange-bind",)

# --- bind


@on_channel("exchange.bind.twice", covers=["exchange/bind/duplicates"], needs=_NEEDS)
def bound_twice(peer: Peer) -> Verdict:
    """A duplicate binding between two exchanges is confirmed, and routes a message once."""
    source, queue, binding = _bound(peer, "red")
    peer.claim("bind-ok again, and one copy of the message")
    peer.call("exchange.bind", **binding)
    return equals(peer, reached(peer, [queue], "red", exchange=source), [1], "copies")


@on_channel("exchange.bind.twice-undone-once", covers=["exchange/bind/duplicates"], needs=_NEEDS)
def bound_twice_and_undone_once(peer: Peer) -> Verdict:
    """A duplicate binding is one binding: one unbind removes it."""
    source, queue, binding = _bound(peer, "red")
    peer.claim("no message after a single unbind")
    peer.call("exchange.bind", **binding)
    peer.call("exchange.unbind", **binding)
    return equals(peer, reached(peer, [queue], "red", exchange=source), [0], "copies")


@on_channel("exchange.bind.other-keys", covers=["exchange/bind/duplicates"], needs=_NEEDS)
def bindings_that_differ(peer: Peer) -> Verdict:
    """Bindings between the same exchanges with different keys are separate bindings."""
    source, queue, binding = _bound(peer, "red")
    peer.claim("the other bindings stay when one is undone")
    # Not tried with other arguments: their meaning depends on the exchange type (field arguments of exchange.bind).
    for key in ("blue", "green"):
        peer.call("exchange.bind", **{**binding, "routing_key": key})
    peer.call("exchange.unbind", **binding)
    received = [reached(peer, [queue], key, exchange=source) for key in ("blue", "red", "green")]
    return equals(peer, received, [[1], [0], [1]], "copies by key")


@on_channel("exchange.bind.itself", covers=["exchange/bind/cyclical"], needs=_NEEDS)
def bound_to_itself(peer: Peer) -> Verdict:
    """An exchange can be bound to itself, and routes a message once."""
    exchange = peer.exchange("fanout")
    queue = listening(peer, exchange)
    peer.claim("bind-ok, and one copy of the message")
    peer.call("exchange.bind", destination=exchange, source=exchange)
    return equals(peer, reached(peer, [queue], exchange=exchange), [1], "copies")


@on_channel("exchange.bind.circle", covers=["exchange/bind/cyclical"], needs=_NEEDS)
def bound_in_a_circle(peer: Peer) -> Verdict:
    """Three exchanges can be bound in a circle, and a message is routed through it once."""
    exchanges = [peer.exchange("fanout") for _ in range(3)]
    queues = [listening(peer, exchange) for exchange in exchanges]
    peer.claim("bind-ok, and one copy of the message at each exchange")
    for source, destination in zip(exchanges, exchanges[1:] + exchanges[:1], strict=True):
        peer.call("exchange.bind", destination=destination, source=source)
    # Started at each of the three: a loop guard at one exchange alone would not show otherwise.
    received = [reached(peer, queues, exchange=exchange) for exchange in exchanges]
    return equals(peer, received, [[1, 1, 1]] * 3, "copies by start and queue")


@on_channel("exchange.bind.several-bindings", covers=["exchange/bind/unique"], needs=_NEEDS)
def several_bindings_that_match(peer: Peer) -> Verdict:
    """A message that matches several bindings between two exchanges is routed once."""
    source, destination = peer.exchange("topic"), peer.exchange("fanout")
    queue = listening(peer, destination)
    for key in ("red.dark", "red.*", "#"):
        peer.call("exchange.bind", destination=destination, source=source, routing_key=key)
    peer.claim("one copy of the message")
    return equals(peer, reached(peer, [queue], "red.dark", exchange=source), [1], "copies")


@on_channel("exchange.bind.several-ways", covers=["exchange/bind/unique"], needs=_NEEDS)
def several_ways_to_an_exchange(peer: Peer) -> Verdict:
    """A message with two paths to a third exchange reaches it once."""
    source, left, right, destination = (peer.exchange("fanout") for _ in range(4))
    for one, two in ((source, left), (source, right), (left, destination), (right, destination)):
        peer.call("exchange.bind", destination=two, source=one)
    queues = [listening(peer, destination), listening(peer, right)]
    peer.claim("one copy of the message at every exchange")
    return equals(
        peer, reached(peer, queues, exchange=source), [1, 1], "copies at the far exchange and between"
    )


@on_channel("exchange.bind.several-ways-to-a-queue", covers=["exchange/bind/unique"], needs=_NEEDS)
def several_ways_to_a_queue(peer: Peer) -> Verdict:
    """A queue bound to several exchanges on the path of a message receives it once."""
    source, destination = peer.exchange("fanout"), peer.exchange("fanout")
    queue = listening(peer, source)
    peer.call("queue.bind", queue=queue, exchange=destination)
    peer.call("exchange.bind", destination=destination, source=source)
    peer.claim("one copy of the message")
    return equals(peer, reached(peer, [queue], exchange=source), [1], "copies")


@on_channel(
    "exchange.bind.missing-destination", covers=["exchange/bind/destination/exchange-existence"], needs=_NEEDS
)
def binding_a_missing_destination(peer: Peer) -> Verdict:
    """Binding a missing exchange to an existing one is refused."""
    peer.send("exchange.bind", destination=peer.name(), source=peer.exchange("direct"), routing_key="red")
    return rejects_violation(peer)


@on_channel(
    "exchange.bind.blank-destination", covers=["exchange/bind/destination/default-exchange"], needs=_NEEDS
)
def blank_destination(peer: Peer) -> Verdict:
    """With an empty destination, messages are routed to the default exchange."""
    source, queue = peer.exchange("fanout"), listening(peer)
    peer.claim("bind-ok, and messages reach the queue that their key names")
    # The base keeps everything but queue.bind and publish away from the default exchange: 403 is
    # tolerated (amqp-0-9-1 exchange/bind/destination/default-exchange).
    if (reaction := _asked(peer, "bind", destination="", source=source)).refusal is not None:
        return judge_reaction(peer, reaction)
    return equals(peer, reached(peer, [queue], queue, exchange=source), [1], "copies")


@on_channel("exchange.bind.missing-source", covers=["exchange/bind/source/exchange-existence"], needs=_NEEDS)
def binding_to_a_missing_source(peer: Peer) -> Verdict:
    """Binding an existing exchange to a missing one is refused."""
    peer.send("exchange.bind", destination=peer.exchange("direct"), source=peer.name(), routing_key="red")
    return rejects_violation(peer)


@on_channel("exchange.bind.blank-source", covers=["exchange/bind/source/default-exchange"], needs=_NEEDS)
def blank_source(peer: Peer) -> Verdict:
    """With an empty source, messages of the default exchange are routed to the destination."""
    destination, key = peer.exchange("fanout"), peer.name("key")
    queue = listening(peer, destination)
    peer.claim("bind-ok, and messages that are published to the default exchange reach the queue")
    reaction = _asked(peer, "bind", destination=destination, source="", routing_key=key)
    if reaction.refusal is not None:
        return judge_reaction(peer, reaction)
    return equals(peer, [reached(peer, [queue], k) for k in (key, f"{key}x")], [[1], [0]], "copies by key")


@on_channel("exchange.bind.no-wait", covers=["exchange/no-wait"], needs=_NEEDS)
def bind_and_unbind_without_reply(peer: Peer) -> Verdict:
    """A bind and an unbind with no-wait take effect and are not answered."""
    source, destination = peer.exchange("fanout"), peer.exchange("fanout")
    queue = listening(peer, destination)
    peer.claim("a binding, then none, and no replies")
    received = []
    for verb in ("bind", "unbind"):
        peer.send(f"exchange.{verb}", destination=destination, source=source, no_wait=True)
        received += reached(peer, [queue], exchange=source)
    replies = len(peer.pending("exchange.bind-ok", "exchange.unbind-ok"))
    return equals(
        peer, (received, replies), ([1, 0], 0), "copies while bound and afterwards, number of replies:"
    )


@on_channel("exchange.delete.bindings-to-it", covers=["exchange/delete"], needs=_NEEDS)
def bindings_to_a_deleted_destination(peer: Peer) -> Verdict:
    """A new exchange with the name of a deleted one is bound to no exchange."""
    source, destination = peer.exchange("fanout"), peer.exchange("fanout")
    peer.call("exchange.bind", destination=destination, source=source)
    peer.claim("no message over a binding of the deleted exchange")
    peer.call("exchange.delete", exchange=destination)
    peer.exchange("fanout", exchange=destination)
    queue = listening(peer, destination)
    return equals(peer, reached(peer, [queue], exchange=source), [0], "copies")


@on_channel(
    "exchange.delete.if-unused-bound-exchange", covers=["exchange/delete/if-unused/in-use"], needs=_NEEDS
)
def exchange_with_a_bound_exchange_is_not_deleted(peer: Peer) -> Verdict:
    """With if-unused, deleting an exchange that another exchange is bound to is refused."""
    source, _, _ = _bound(peer, "red")
    peer.send("exchange.delete", exchange=source, if_unused=True)
    return rejects_violation(peer)


# --- unbind


@on_channel("exchange.unbind.failure", covers=["exchange/unbind/failure"], needs=_NEEDS)
def unbind_that_fails(peer: Peer) -> Verdict:
    """An unbind that fails raises an exception, with or without no-wait."""
    # Neither exchange exists. Undoing a binding that is not there need not be a failure, so
    # that would prove nothing.
    peer.send("exchange.unbind", destination=peer.name(), source=peer.name(), routing_key="red", no_wait=True)
    return rejects_violation(peer)


@on_channel(
    "exchange.unbind.missing-destination", covers=["exchange/unbind/destination/must-exist"], needs=_NEEDS
)
def unbinding_a_missing_destination(peer: Peer) -> Verdict:
    """Unbinding a missing exchange from an existing one is refused."""
    peer.send("exchange.unbind", destination=peer.name(), source=peer.exchange("direct"), routing_key="red")
    return rejects_violation(peer)


@on_channel(
    "exchange.unbind.blank-destination", covers=["exchange/unbind/destination/default-exchange"], needs=_NEEDS
)
def unbinding_a_blank_destination(peer: Peer) -> Verdict:
    """With an empty destination, unbind removes the binding of the default exchange."""
    source, queue = peer.exchange("fanout"), listening(peer)
    binding = {"destination": "", "source": source}
    return _undone(peer, binding, queue, publish_to=source, routing_key=queue)


@on_channel("exchange.unbind.missing-source", covers=["exchange/unbind/source/must-exist"], needs=_NEEDS)
def unbinding_from_a_missing_source(peer: Peer) -> Verdict:
    """Unbinding an existing exchange from a missing one is refused."""
    peer.send("exchange.unbind", destination=peer.exchange("direct"), source=peer.name(), routing_key="red")
    return rejects_violation(peer)


@on_channel("exchange.unbind.blank-source", covers=["exchange/unbind/source/default-exchange"], needs=_NEEDS)
def unbinding_from_a_blank_source(peer: Peer) -> Verdict:
    """With an empty source, unbind removes the binding to the default exchange."""
    key, destination = peer.name("key"), peer.exchange("fanout")
    queue = listening(peer, destination)
    binding = {"destination": destination, "source": "", "routing_key": key}
    return _undone(peer, binding, queue, publish_to="", routing_key=key)


# --- steps


def _bound(peer: Peer, key: str) -> tuple[str, str, dict[str, Any]]:
    """A direct exchange, a queue on a fanout exchange that is bound to it with a key, and that binding."""
    source, destination = peer.exchange("direct"), peer.exchange("fanout")
    binding: dict[str, Any] = {"destination": destination, "source": source, "routing_key": key}
    peer.call("exchange.bind", **binding)
    return source, listening(peer, destination), binding


def _asked(peer: Peer, verb: str, **binding: Any) -> Reaction:
    """Bind or unbind exchanges on a separate channel and observe the result."""
    # A refusal with 403 or 404 closes the channel: not the one on which the queue listens.
    peer.open_channel(2)
    peer.send(f"exchange.{verb}", channel=2, **binding)
    reaction = peer.reaction(2)
    if reaction.refusal is None:
        peer.call("channel.close", channel=2, reply_code=200, reply_text="done")
    return reaction


def _undone(peer: Peer, binding: dict[str, Any], queue: str, *, publish_to: str, routing_key: str) -> Verdict:
    """Bind, if the target allows it, and unbind: unbind is accepted, and no message passes afterwards."""
    # A refusal of bind is judged by the row of bind; unbind is sent anyway.
    _asked(peer, "bind", **binding)
    peer.claim("unbind-ok, and messages are no longer routed")
    if (reaction := _asked(peer, "unbind", **binding)).refusal is not None:
        return judge_reaction(peer, reaction)
    return equals(peer, reached(peer, [queue], routing_key, exchange=publish_to), [0], "copies")
