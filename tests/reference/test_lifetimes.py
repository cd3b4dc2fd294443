from __future__ import annotations

from typing import Any

from amqpspec.reference.model import Binding, Exchange, Queue, Routed, VirtualHost
from amqpspec.reference.model.vhost import DEAD_LETTER_QUEUE, EXCHANGE_GRACE_S
from tests.reference.kit import Channel, Clock, consume, message, send, waiting

# --- exchanges


def test_a_message_reaches_a_queue_once(vhost: VirtualHost, queue: Queue) -> None:
    topic = vhost.exchanges["amq.topic"]
    for key in ("a.*", "a.b", "#"):
        vhost.bind(topic, Binding(queue, key, {}))
    send(vhost, message(1, key="a.b"), exchange="amq.topic")
    assert queue.ready_count == 1


def test_exchanges_may_be_bound_in_circles(vhost: VirtualHost, queue: Queue) -> None:
    first, second = (vhost.declare_exchange(name, "fanout") for name in ("x1", "x2"))
    for source, destination in ((first, second), (second, first), (first, first)):
        vhost.bind(source, Binding(destination, "", {}))
    vhost.bind(second, Binding(queue, "", {}))
    assert send(vhost, message(1), exchange="x1") == [Routed.QUEUED]
    assert queue.ready_count == 1


def test_alternate_exchange_takes_what_is_left(vhost: VirtualHost, queue: Queue) -> None:
    vhost.declare_exchange("x", "direct", arguments={"alternate-exchange": b"amq.fanout"})
    vhost.bind(vhost.exchanges["amq.fanout"], Binding(queue, "", {}))
    assert send(vhost, message(1, key="nowhere"), exchange="x") == [Routed.QUEUED]


def test_the_same_binding_twice_is_one(vhost: VirtualHost, queue: Queue) -> None:
    exchange = vhost.exchanges["amq.direct"]
    for _ in range(2):
        vhost.bind(exchange, Binding(queue, "k", {"a": 1}))
    assert vhost.unbind(exchange, Binding(queue, "k", {"a": 1}))
    assert not vhost.unbind(exchange, Binding(queue, "k", {"a": 1}))
    assert send(vhost, message(1, key="k"), exchange="amq.direct") == [Routed.UNROUTABLE]


def test_an_unused_auto_delete_exchange_goes_after_a_while() -> None:
    clock = Clock()
    vhost = VirtualHost("/", clock=clock)
    queue = vhost.declare_queue("q")
    exchange = vhost.declare_exchange("x", "fanout", auto_delete=True)
    timed = [vhost.timed]
    vhost.bind(exchange, Binding(queue, "", {}))
    vhost.unbind(exchange, Binding(queue, "", {}))
    timed.append(vhost.timed)
    assert timed == [False, True]
    vhost.tick()
    assert "x" in vhost.exchanges
    vhost.bind(exchange, Binding(queue, "", {}))
    vhost.delete_queue(queue)
    clock.now_s += EXCHANGE_GRACE_S
    vhost.tick()
    assert "x" not in vhost.exchanges


def test_deleting_an_exchange_undoes_its_bindings(vhost: VirtualHost, queue: Queue) -> None:
    def declared() -> Exchange:
        return vhost.declare_exchange("x", "fanout")

    vhost.bind(declared(), Binding(queue, "", {}))
    vhost.bind(vhost.exchanges["amq.fanout"], Binding(declared(), "", {}))
    vhost.delete_exchange(declared())
    assert not declared().bindings and not vhost.exchanges["amq.fanout"].bindings


# --- immediate


def test_immediate_needs_a_consumer_with_room(vhost: VirtualHost, queue: Queue) -> None:
    default = vhost.exchanges[""]
    assert vhost.publish(default, message(1), immediate=True) is Routed.NO_CONSUMERS
    channel = Channel()
    channel.deliveries.window.max_count = 1
    consume(vhost, queue, channel)
    assert vhost.publish(default, message(2), immediate=True) is Routed.QUEUED
    assert vhost.publish(default, message(3), immediate=True) is Routed.NO_CONSUMERS
    assert channel.bodies() == [b"2"] and queue.ready_count == 0


# --- lifetimes


def test_an_auto_delete_queue_goes_with_its_last_consumer(vhost: VirtualHost) -> None:
    queue = vhost.declare_queue("a", auto_delete=True)
    vhost.collect(queue)
    assert "a" in vhost.queues
    consumers = [consume(vhost, queue, Channel()) for _ in range(2)]
    vhost.remove_consumer(consumers[0])
    assert "a" in vhost.queues
    vhost.remove_consumer(consumers[1])
    assert "a" not in vhost.queues


def test_a_deleted_queue_tells_its_consumers(vhost: VirtualHost, queue: Queue) -> None:
    channel = Channel()
    consumer = consume(vhost, queue, channel)
    send(vhost, message(1))
    channel.flowing = False
    send(vhost, message(2))
    assert vhost.delete_queue(queue) == 1
    assert channel.lost == [consumer.tag]
    channel.put_back()
    assert vhost.declare_queue("q").ready_count == 0


def test_exclusive_queues_go_with_their_owner(vhost: VirtualHost) -> None:
    owner = object()
    assert vhost.declare_queue("mine", owner=owner).exclusive
    vhost.release_owner(object())
    assert "mine" in vhost.queues
    vhost.release_owner(owner)
    assert "mine" not in vhost.queues


def test_purge_leaves_what_awaits_an_acknowledgement(vhost: VirtualHost, queue: Queue) -> None:
    send(vhost, *(message(n) for n in range(3)))
    entry = queue.first_for(1)
    assert entry is not None
    queue.take(entry, keep=True)
    assert queue.purge() == 2
    queue.requeue([entry])
    assert waiting(queue) == [b"0"]


def test_a_restart_leaves_what_is_durable(vhost: VirtualHost) -> None:
    durable, transient = vhost.declare_queue("d", durable=True), vhost.declare_queue("t")
    for name, lasting in (("dx", True), ("tx", False)):
        exchange = vhost.declare_exchange(name, "fanout", durable=lasting)
        vhost.bind(exchange, Binding(durable, "", {}))
        vhost.bind(exchange, Binding(transient, "", {}))
    send(vhost, message("kept", persistent=True), message("lost"), exchange="dx")
    vhost.restart()
    assert set(vhost.queues) == {"d", DEAD_LETTER_QUEUE}
    assert "tx" not in vhost.exchanges and "amq.topic" in vhost.exchanges
    assert waiting(durable) == [b"kept"]
    assert send(vhost, message(key="d")) == [Routed.QUEUED]
    assert [b.destination for b in vhost.exchanges["dx"].bindings.values()] == [durable]


# --- dead letters and limits


def _dead_lettered(vhost: VirtualHost, **arguments: Any) -> tuple[Queue, Queue]:
    dead = vhost.declare_queue("dead")
    arguments = {key.replace("_", "-"): value for key, value in arguments.items()}
    queue = vhost.declare_queue(
        "w", arguments={"x-dead-letter-exchange": b"", "x-dead-letter-routing-key": b"dead", **arguments}
    )
    return queue, dead


def test_discarded_and_pending_messages_are_dead_lettered(vhost: VirtualHost) -> None:
    queue, dead = _dead_lettered(vhost)
    send(vhost, message(1, key="w"), message(2, key="w"))
    entry = queue.first_for(1)
    assert entry is not None
    queue.take(entry, keep=True)
    queue.discard(entry)
    assert waiting(dead) == [b"1"]
    vhost.delete_queue(queue)
    assert waiting(dead) == [b"1", b"2"]


def test_max_length_drops_the_oldest_transient_message(vhost: VirtualHost) -> None:
    queue, dead = _dead_lettered(vhost, x_max_length=2)
    send(vhost, message(1, key="w", persistent=True), *(message(n, key="w") for n in (2, 3)))
    assert waiting(queue) == [b"1", b"3"] and waiting(dead) == [b"2"]
    send(vhost, message(4, key="w", persistent=True), message(5, key="w", persistent=True))
    assert waiting(queue) == [b"1", b"4", b"5"]


def test_messages_and_queues_grow_old() -> None:
    clock = Clock()
    vhost = VirtualHost("/", clock=clock)
    queue, dead = _dead_lettered(vhost, x_message_ttl=1000, x_expires=5000)
    send(vhost, message(1, key="w"))
    clock.now_s = 0.9
    vhost.tick()
    assert queue.ready_count == 1
    clock.now_s = 1.1
    vhost.tick()
    assert queue.ready_count == 0 and dead.ready_count == 1
    clock.now_s = 5.1
    vhost.tick()
    assert "w" not in vhost.queues


def test_a_circle_of_dead_letters_ends(vhost: VirtualHost) -> None:
    queue = vhost.declare_queue("w", arguments={"x-dead-letter-exchange": "", "x-max-length": 0})
    send(vhost, message(1, key="w"))
    assert queue.ready_count == 0


def test_generated_names_differ(vhost: VirtualHost) -> None:
    assert len({vhost.new_queue_name() for _ in range(10)}) == 10
