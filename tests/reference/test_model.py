from __future__ import annotations

import pytest

from amqpspec.reference.deviations import NONE
from amqpspec.reference.model import Deliveries, Entry, Queue, VirtualHost, Window, canonical
from amqpspec.reference.model.queues import MAX_REDELIVERIES
from amqpspec.reference.model.vhost import DEAD_LETTER_QUEUE
from tests.reference.kit import Channel, consume, message, send, waiting

# --- values


def test_values_are_compared_by_meaning() -> None:
    assert canonical({"a": 1, "b": b"x"}) == canonical({"b": "x", "a": 1})
    assert canonical([1, 2]) != canonical([2, 1])
    assert canonical(True) != canonical(1)
    assert canonical(None) != canonical(False)
    assert canonical(1) == canonical(1.0)


# --- order


def test_first_in_first_out_within_ten_levels(vhost: VirtualHost, queue: Queue) -> None:
    order = [3, 9, 0, 3, 4, 5, 12, 9]
    send(vhost, *(message(f"{n}:{p}", priority=p) for n, p in enumerate(order)))
    assert waiting(queue) == [b"1:9", b"6:12", b"7:9", b"5:5", b"4:4", b"0:3", b"3:3", b"2:0"]


def test_persistence_does_not_touch_the_order(vhost: VirtualHost, queue: Queue) -> None:
    send(vhost, *(message(n, persistent=n % 2 == 0) for n in range(5)))
    assert waiting(queue) == [b"0", b"1", b"2", b"3", b"4"]


def test_requeued_messages_return_to_their_places(vhost: VirtualHost, queue: Queue) -> None:
    send(vhost, *(message(n) for n in range(4)))
    taken = list(queue.ready())[:3]
    for entry in taken:
        queue.take(entry, keep=True)
    queue.requeue([taken[2], taken[0]])
    assert waiting(queue) == [b"0", b"2", b"3"]
    queue.requeue([taken[1]])
    assert waiting(queue) == [b"0", b"1", b"2", b"3"]
    assert [entry.redelivered for entry in queue.ready()] == [True, True, True, False]


def test_round_robin(vhost: VirtualHost, queue: Queue) -> None:
    first, second = Channel(), Channel()
    consume(vhost, queue, first)
    consume(vhost, queue, second)
    send(vhost, *(message(n) for n in range(4)))
    assert first.bodies() == [b"0", b"2"]
    assert second.bodies() == [b"1", b"3"]


def test_a_paused_channel_takes_nothing(vhost: VirtualHost, queue: Queue) -> None:
    channel = Channel()
    channel.flowing = False
    consume(vhost, queue, channel)
    send(vhost, message(1))
    assert channel.seen == [] and queue.active_consumer_count == 0
    channel.flowing = True
    queue.dispatch()
    assert channel.bodies() == [b"1"] and queue.active_consumer_count == 1


def test_no_local_leaves_own_messages_and_takes_those_behind(vhost: VirtualHost, queue: Queue) -> None:
    channel = Channel()
    consume(vhost, queue, channel, no_local=True)
    send(vhost, message("own", publisher=channel.owner), message("other", publisher=object()))
    assert channel.bodies() == [b"other"]
    assert waiting(queue) == [b"own"]


def test_a_refused_message_goes_to_somebody_else(vhost: VirtualHost, queue: Queue) -> None:
    first, second = Channel(), Channel()
    consume(vhost, queue, first)
    send(vhost, message(1))
    entry = next(iter(first.deliveries.outstanding.values())).entry
    entry.refused_by.add(first.key)
    first.put_back()
    assert first.bodies() == [b"1"] and queue.ready_count == 1
    assert queue.first_for(first.key) is None and queue.first_for(second.key) is entry
    consume(vhost, queue, second)
    assert second.seen == [(b"1", True)]


def test_poison_goes_to_the_dead_letter_queue(vhost: VirtualHost, queue: Queue) -> None:
    channel = Channel()
    consume(vhost, queue, channel)
    send(vhost, message("poison"))
    for _ in range(MAX_REDELIVERIES + 1):
        channel.put_back()
    assert len(channel.seen) == MAX_REDELIVERIES + 1
    assert waiting(vhost.queues[DEAD_LETTER_QUEUE]) == [b"poison"]


# --- windows


@pytest.mark.parametrize(
    ("count_limit", "size_limit", "sent"),
    [(0, 0, 5), (2, 0, 2), (0, 25, 2), (0, 5, 1), (3, 25, 2), (1, 100, 1)],
)
def test_windows(vhost: VirtualHost, queue: Queue, count_limit: int, size_limit: int, sent: int) -> None:
    channel = Channel()
    channel.deliveries.window.max_count, channel.deliveries.window.max_octets = count_limit, size_limit
    consume(vhost, queue, channel)
    send(vhost, *(message("0123456789") for _ in range(5)))
    assert len(channel.seen) == sent


def test_the_shared_window_limits_too(vhost: VirtualHost, queue: Queue) -> None:
    channel = Channel()
    channel.shared.max_count = 1
    consume(vhost, queue, channel)
    send(vhost, message(1), message(2))
    assert len(channel.seen) == 1
    (delivery,) = channel.deliveries.outstanding.values()
    channel.deliveries.release(delivery)
    channel.deliveries.release(delivery)
    queue.settle(delivery.entry)
    queue.dispatch()
    assert channel.bodies() == [b"1", b"2"]


def _held(tags: int) -> Deliveries:
    deliveries = Deliveries(NONE, Window(NONE))
    queue = Queue("q", NONE, lambda queue, message: None)
    for _ in range(tags):
        deliveries.hold(Entry(message(), 0), queue, None)
    return deliveries


@pytest.mark.parametrize(
    ("tag", "multiple", "expected"),
    [(2, False, [2]), (2, True, [1, 2]), (0, True, [1, 2, 3]), (0, False, None), (4, True, None)],
)
def test_what_a_tag_means(tag: int, multiple: bool, expected: list[int] | None) -> None:
    selected = _held(3).select(tag, multiple)
    assert (None if selected is None else [d.tag for d in selected]) == expected


def test_rollback_gives_back_what_was_held_back() -> None:
    deliveries = _held(3)
    deliveries.hold_back(deliveries.outstanding[2])
    assert deliveries.select(2, False) is None
    deliveries.give_back()
    assert list(deliveries.outstanding) == [1, 2, 3]
