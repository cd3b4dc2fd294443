"""Extensions that are no part of the XML, judged where a target announces them: alternate exchanges, CC and BCC."""

from __future__ import annotations

from collections.abc import Mapping

from amqpspec.peer.methods.peer import Peer
from amqpspec.run.oracles import equals
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._absence import returned
from amqpspec.suites.amqp_0_9_1._cases import on_channel
from amqpspec.suites.amqp_0_9_1._messages import plain
from amqpspec.suites.amqp_0_9_1._queues import routed
from amqpspec.suites.amqp_0_9_1._routes import listening, reached

_ALTERNATE, _SELECTED = "extension/alternate-exchange", "extension/sender-selected"

# --- alternate exchanges


@on_channel("extensions.alternate-exchange.unroutable", covers=[_ALTERNATE], needs=["alternate-exchange"])
def unroutable_goes_to_the_alternate(peer: Peer) -> Verdict:
    """Only a message that no binding matches is routed to the alternate exchange, with its own key."""
    alternate = peer.exchange("direct")
    exchange = peer.exchange("direct", arguments={"alternate-exchange": alternate})
    queues = [
        listening(peer, exchange, "red"),
        listening(peer, alternate, "blue"),
        listening(peer, alternate, "red"),
    ]
    peer.claim("the unroutable message at the alternate exchange, the routable one not")
    received = [reached(peer, queues, key, exchange=exchange) for key in ("red", "blue", "green")]
    return equals(peer, received, [[1, 0, 0], [0, 1, 0], [0, 0, 0]], "copies by key and queue")


@on_channel("extensions.alternate-exchange.chain", covers=[_ALTERNATE], needs=["alternate-exchange"])
def alternate_of_the_alternate(peer: Peer) -> Verdict:
    """A message that the alternate exchange cannot route is routed to that exchange's own alternate exchange."""
    last = peer.exchange("fanout")
    middle = peer.exchange("direct", arguments={"alternate-exchange": last})
    first = peer.exchange("direct", arguments={"alternate-exchange": middle})
    queues = [listening(peer, middle, "red"), listening(peer, last)]
    peer.claim("each message at the first exchange of the chain that can route it")
    received = [reached(peer, queues, key, exchange=first) for key in ("red", "blue")]
    return equals(peer, received, [[1, 0], [0, 1]], "copies by key and queue")


@on_channel("extensions.alternate-exchange.mandatory", covers=[_ALTERNATE], needs=["alternate-exchange"])
def alternate_routes_mandatory(peer: Peer) -> Verdict:
    """A mandatory message is returned only if the alternate exchange cannot route it either."""
    alternate, queue = peer.exchange("direct"), peer.queue()
    exchange = peer.exchange("direct", arguments={"alternate-exchange": alternate})
    peer.call("queue.bind", queue=queue, exchange=alternate, routing_key="red")
    peer.claim("only the unroutable message is returned")
    for key in ("red", "blue"):
        peer.publish(key, key.encode(), exchange=exchange, mandatory=True)
    back = returned(peer)
    return equals(peer, (routed(peer, queue), back), ([b"red"], [b"blue"]), "messages there and returned")


# --- CC and BCC


@on_channel("extensions.sender-selected.cc", covers=[_SELECTED], needs=["sender-selected"])
def cc_routes_as_well(peer: Peer) -> Verdict:
    """A message is routed by the keys in CC as well as by its routing key, and the header is delivered."""
    exchange = peer.exchange("direct")
    queues = {key: peer.queue() for key in ("red", "blue", "green", "black")}
    for key, queue in queues.items():
        peer.call("queue.bind", queue=queue, exchange=exchange, routing_key=key)
    peer.claim("the message for its key and for both keys in CC")
    headers = {"CC": ["blue", "green"], "other": "stays"}
    return _received(peer, exchange, queues, headers, {"red": headers, "blue": headers, "green": headers})


@on_channel("extensions.sender-selected.bcc", covers=[_SELECTED], needs=["sender-selected"])
def bcc_routes_unseen(peer: Peer) -> Verdict:
    """A message is routed by the keys in BCC as well as by routing key and CC, and the header is removed."""
    exchange = peer.exchange("direct")
    queues = {key: peer.queue() for key in ("red", "blue", "green", "black")}
    for key, queue in queues.items():
        peer.call("queue.bind", queue=queue, exchange=exchange, routing_key=key)
    peer.claim("the message for its key, CC and BCC, without the header BCC")
    seen = {"CC": ["blue"], "other": "stays"}
    headers = {**seen, "BCC": ["green"]}
    return _received(peer, exchange, queues, headers, {"red": seen, "blue": seen, "green": seen})


@on_channel("extensions.sender-selected.once", covers=[_SELECTED], needs=["sender-selected"])
def several_keys_bring_one_copy(peer: Peer) -> Verdict:
    """A queue that several of the keys match receives the message once."""
    exchange = peer.exchange("direct")
    queues = [listening(peer, exchange, "red"), listening(peer, exchange, "blue")]
    peer.call("queue.bind", queue=queues[0], exchange=exchange, routing_key="green")
    peer.claim("one copy for each queue")
    headers = {"CC": ["red", "green"], "BCC": ["green", "blue"]}
    received = reached(peer, queues, "red", exchange=exchange, properties={"headers": headers})
    return equals(peer, received, [1, 1], "copies by queue")


# --- steps


def _received(
    peer: Peer,
    exchange: str,
    queues: dict[str, str],
    headers: Mapping[str, object],
    expected: Mapping[str, Mapping[str, object]],
) -> Verdict:
    """Publish one message with the key red and these headers; judge the headers with which it arrives in each queue."""
    peer.publish("red", b"to several", exchange=exchange, properties={"headers": dict(headers)})
    peer.wait(lambda arrival: False, peer.context.patience.quiet_s)  # basic.publish has no reply
    got: dict[str, object] = {}
    for key, queue in queues.items():
        peer.barrier(queue=queue)
        for number, message in enumerate(peer.drain(queue)):
            got[key if number == 0 else f"{key} again"] = _text(plain(message).get("headers"))
    return equals(peer, got, expected, "headers by queue")


def _text(value: object) -> object:
    """Long strings as text, all the way down."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, dict):
        return {name: _text(item) for name, item in value.items()}
    return [_text(item) for item in value] if isinstance(value, list) else value
