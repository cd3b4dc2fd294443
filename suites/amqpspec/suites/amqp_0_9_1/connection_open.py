"""Connections: virtual hosts, the end, new secrets (amqp-0-9-1 class connection, from open on)."""

from __future__ import annotations

from amqpspec.peer.context import Unmet
from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.methods.oracles import rejects_violation
from amqpspec.run.oracles import does_not_apply, ends_connection, equals, holds, judge_arrival
from amqpspec.run.verdict import Verdict
from amqpspec.spec.dialects import load_ledger
from amqpspec.suites.amqp_0_9_1 import DIALECT
from amqpspec.suites.amqp_0_9_1._cases import on_channel, on_shared_queue
from amqpspec.suites.amqp_0_9_1._closing import closing_of, is_unknown, names_method, until_end
from amqpspec.suites.amqp_0_9_1._queues import arrive, routed

# --- open and open-ok


@case(
    "connection.open.virtual-host.queue-elsewhere",
    covers=[
        "connection/open/virtual-host/separation-access",
        "connection/open/virtual-host/separation-entities",
    ],
    hooks=("second-vhost",),
)
def queue_of_another_host(peer: Peer) -> Verdict:
    """A queue of one virtual host does not exist in another."""
    # Here and below a shared queue: nothing but the virtual host stands between it and the other connection.
    queue = peer.open_channel().queue(exclusive=False)
    other = _in_second_vhost(peer)
    other.send("queue.declare", queue=queue, passive=True)
    return rejects_violation(other)


@case(
    "connection.open.virtual-host.exchange-elsewhere",
    covers=[
        "connection/open/virtual-host/separation-access",
        "connection/open/virtual-host/separation-entities",
    ],
    hooks=("second-vhost",),
)
def exchange_of_another_host(peer: Peer) -> Verdict:
    """A client cannot publish to an exchange of another virtual host."""
    exchange = peer.open_channel().exchange()
    other = _in_second_vhost(peer)
    other.publish("key", b"astray", exchange=exchange)
    return rejects_violation(other)


@on_shared_queue(
    "connection.open.virtual-host.messages-elsewhere",
    covers=["connection/open/virtual-host/separation-access"],
    hooks=("second-vhost",),
)
def messages_of_another_host(peer: Peer, queue: str) -> Verdict:
    """A client cannot get messages from a queue of another virtual host."""
    peer.publish(queue, b"kept apart")
    peer.barrier(queue=queue)
    other = _in_second_vhost(peer)
    other.send("basic.get", queue=queue, no_ack=True)
    return rejects_violation(other)


@on_shared_queue(
    "connection.open.virtual-host.same-name",
    covers=["connection/open/virtual-host/separation-entities"],
    hooks=("second-vhost",),
)
def same_name_in_two_hosts(peer: Peer, queue: str) -> Verdict:
    """Queues of the same name in two virtual hosts hold separate messages."""
    other = _in_second_vhost(peer)
    peer.claim("each of two queues of the same name contains only its own message")
    other.queue(queue=queue, exclusive=False)
    for owner, body in ((peer, b"first"), (other, b"second")):
        owner.publish(queue, body)
        arrive(owner, queue, 1)
    bodies = [[message.body for message in owner.drain(queue)] for owner in (peer, other)]
    return equals(peer, bodies, [[b"first"], [b"second"]], "messages")


@case(
    "connection.open.virtual-host.bindings-apart",
    covers=["connection/open/virtual-host/separation-entities"],
    hooks=("second-vhost",),
)
def bindings_of_another_host(peer: Peer) -> Verdict:
    """A binding in one virtual host routes no message that is published in another."""
    queue, key = peer.open_channel().queue(exclusive=False), peer.name("key")
    peer.call("queue.bind", queue=queue, exchange="amq.direct", routing_key=key)
    other = _in_second_vhost(peer)
    peer.claim("the queue contains only the message of its own virtual host")
    other.publish(key, b"astray", exchange="amq.direct")
    # The stray message is routed before the other one is sent: it cannot come late.
    other.barrier()
    peer.publish(key, b"at home", exchange="amq.direct")
    return equals(peer, routed(peer, queue), [b"at home"], "messages")


@case(
    "connection.open.virtual-host.security",
    covers=["connection/open/virtual-host/security"],
    hooks=("forbidden-vhost",),
)
def forbidden_host(peer: Peer) -> Verdict:
    """A user without permission for a virtual host cannot open it."""
    peer.handshake()
    peer.send("connection.open", channel=0, virtual_host=peer.context.vhost("forbidden"))
    return rejects_violation(peer, 0, barrier=False)


@case("connection.open-ok.channels", covers=["connection/open-ok"])
def channels_after_open_ok(peer: Peer) -> Verdict:
    """The server answers open with open-ok; then channels can be opened and used."""
    peer.handshake()
    peer.claim("open-ok, then an open channel that answers")
    peer.call("connection.open", channel=0, virtual_host=peer.login.vhost)
    peer.call("channel.open")
    peer.barrier()
    return holds(peer, True, "channel.open-ok, and answers on the channel")


# --- close and close-ok


@on_channel("connection.close.failing-method", covers=["connection/close/failing-method"])
def close_names_the_method(peer: Peer) -> Verdict:
    """A connection.close caused by a method contains its class and method ids."""
    peer.send("channel.open")
    return names_method(peer, closing_of(peer, "connection.close"), "channel.open")


@case("connection.close.failing-declare", covers=["connection/close/failing-method"])
def close_names_the_declaration(peer: Peer) -> Verdict:
    """A connection.close caused by another method contains the ids of that method."""
    provocations = (_unknown_type, _other_type, _consumer_tag_in_use)
    unmet = None
    for provoke in provocations:
        other = peer.another().open_channel()
        try:
            name = provoke(other)
            return names_method(peer, closing_of(other, "connection.close"), name)
        except Unmet as this:
            # Some servers take what is a hard error by the text for a soft one, or for none: the next error is tried.
            unmet = this
    assert unmet is not None
    raise unmet


@case("connection.close.stability.discards", covers=["connection/close/stability-discard"])
def methods_behind_a_close_are_discarded(peer: Peer) -> Verdict:
    """After the server has sent connection.close, it neither answers nor executes a method."""
    queue = _closed_by_server(peer).will_clean("queue", peer.name("q"))
    peer.claim("no answer to a method after the server's close, and no effect")
    peer.send("queue.declare", queue=queue)
    peer.send("connection.close-ok", channel=0)
    answers = [a.name for a in until_end(peer) if isinstance(a, MethodArrived)]
    # Asked on another connection: this one is over. The queue would be a shared one, and so still there.
    gone = is_unknown(peer, queue)
    observed = f"answers: {', '.join(answers) or 'none'}; the queue {'was not' if gone else 'was'} declared"
    return holds(peer, gone and not answers, observed)


@case("connection.close.stability.crossing", covers=["connection/close/stability-crossing"])
def crossing_closes(peer: Peer) -> Verdict:
    """The server answers a connection.close of the client that crosses its own with close-ok."""
    _closed_by_server(peer)
    peer.claim("connection.close-ok for the close that crossed the server's")
    peer.send("connection.close", channel=0, reply_code=200, reply_text="crossing")
    peer.expect("connection.close-ok", channel=0)
    return holds(peer, True, "connection.close, then connection.close-ok")


@on_channel("connection.close-ok.answer", covers=["connection/close-ok"])
def close_is_answered(peer: Peer) -> Verdict:
    """The server answers connection.close with close-ok, and the socket ends once the client closes it."""
    peer.claim("connection.close-ok, then the socket closes")
    peer.call("connection.close", channel=0, reply_code=200, reply_text="done")
    # A server may wait for the client to end its half of the stream first.
    peer.transport.half_close()
    return ends_connection(peer, peer.expect_end())


@case("connection.close-ok.after-exception", covers=["connection/close-ok"])
def socket_ends_after_exception(peer: Peer) -> Verdict:
    """The server closes the socket after the client has answered its close with close-ok."""
    _closed_by_server(peer)
    peer.claim("the socket closes")
    peer.send("connection.close-ok", channel=0)
    return ends_connection(peer, peer.expect_end())


# --- update-secret


@on_channel(
    "connection.update-secret.confirmed",
    covers=["connection/update-secret"],
    needs=("update-secret",),
)
def new_secret_is_confirmed(peer: Peer) -> Verdict:
    """The server confirms a new secret, and the connection continues to work."""
    peer.claim("connection.update-secret-ok, and the connection continues to work")
    peer.send("connection.update-secret", channel=0, new_secret=peer.login.password, reason="renewal")
    answer = peer.arrival("connection.update-secret-ok", channel=0)
    # No capability announces the method. A server without it answers as it does to any method that it does not know.
    if answer.refusal in load_ledger(DIALECT)["wire/method/unknown-method"].accepts:
        return does_not_apply(peer, answer.describe(peer.dialect))
    if not isinstance(answer, MethodArrived) or answer.refusal is not None:
        return judge_arrival(peer, answer)
    peer.barrier()
    return holds(peer, True, "connection.update-secret-ok, then answers on the channel")


# --- steps of this module


def _unknown_type(peer: Peer) -> str:
    """503 by exchange/declare/type/support; returns the method to blame."""
    peer.send("exchange.declare", exchange=peer.name("x"), type="x-amqpspec-no-such-type")
    return "exchange.declare"


def _other_type(peer: Peer) -> str:
    """530 by exchange/declare/type/typed; returns the method to blame."""
    peer.send("exchange.declare", exchange=peer.exchange("direct"), type="fanout")
    return "exchange.declare"


def _consumer_tag_in_use(peer: Peer) -> str:
    """530 by basic/consume/consumer-tag/duplicate; returns the method to blame."""
    queue = peer.queue()
    peer.send("basic.consume", queue=queue, consumer_tag=peer.consume(queue))
    return "basic.consume"


def _in_second_vhost(peer: Peer) -> Peer:
    """Another connection with an open channel, in the second virtual host."""
    return peer.another(vhost=peer.context.vhost("second")).open_channel()


def _closed_by_server(peer: Peer) -> Peer:
    """A connection that the server has closed by an exception and that waits for close-ok; raises Unmet."""
    peer.open_channel()
    # Otherwise the peer would answer close at once, and nothing could be sent between close and close-ok.
    peer.polite = False
    peer.send("channel.open")
    peer.expect("connection.close", channel=0)
    return peer
