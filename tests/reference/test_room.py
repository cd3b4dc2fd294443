"""How much queues may hold: what is one octet too much is refused, and there is room again once messages are gone."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from amqpspec.reference.core import Core
from amqpspec.reference.deviations import Deviations
from amqpspec.reference.model import Message, Queue, VirtualHost
from amqpspec.reference.model.room import MOST_OCTETS, OutOfRoom, Room
from amqpspec.reference.server import ReferenceBroker

CONTEXT = {
    "queue": "q", "messages": 2, "octets": 600, "large_octets": 1000, "heartbeat_s": 1, "idle_s": 1,
}  # fmt: skip


def message(octets: int) -> Message:
    return Message("", "q", b"", b"x" * octets)


def test_the_last_octet_fits_and_one_more_does_not(vhost: VirtualHost, queue: Queue) -> None:
    room, held = Room(vhost.queues.values, 100), message(60)
    for octets in (60, 40):
        room.take(octets)
    queue.enqueue(held)
    room.take(40)
    with pytest.raises(OutOfRoom, match="the queues hold 60 octets, 100 at most"):
        room.take(41)


def test_a_message_in_two_queues_is_there_once_and_one_that_is_gone_is_not(
    vhost: VirtualHost, queue: Queue
) -> None:
    room, held = Room(vhost.queues.values, 100), message(60)
    for one in (queue, vhost.declare_queue("other")):
        one.enqueue(held)
        room.take(10)
    room.take(40)
    for one in vhost.queues.values():
        one.purge()
    room.take(100)


def test_all_virtual_hosts_share_the_room_of_a_broker() -> None:
    core = Core("amqp-0-9-1", Deviations(()), "127.0.0.1")
    assert core.room.most_octets == MOST_OCTETS
    core.room.most_octets = 100
    for vhost in core.vhosts.values():
        core.room.take(30)
        vhost.declare_queue("q").enqueue(message(30))
    left = 100 - 30 * len(core.vhosts)
    with pytest.raises(OutOfRoom):
        core.room.take(left + 1)
    core.room.take(left)


@pytest.mark.parametrize(
    ("dialect", "scenario", "says"),
    [
        ("amqp-0-9-1", "publish", "506"),
        ("amqp-wire-9-1", "publish", "506"),
        ("amqp-0-10", "publish", "320"),
        ("amqp-1-0", "send", "amqp:resource-limit-exceeded"),
        ("amqp-fast-0-8", "send", "506"),
    ],
)
def test_a_client_that_publishes_too_much_is_refused(dialect: str, scenario: str, says: str) -> None:
    with ReferenceBroker(dialect) as broker:
        assert broker._core is not None
        broker._core.room.most_octets = 1000
        done = agent(broker.url, dialect, scenario)
    assert done.returncode not in (0, 2), done.stderr
    assert says in done.stdout, (done.stdout, done.stderr)


def agent(url: str, dialect: str, scenario: str, **context: int) -> subprocess.CompletedProcess[str]:
    """The reference agent, run to its end."""
    told = {
        "AMQPSPEC_URL": url,
        "AMQPSPEC_SCENARIO": scenario,
        "AMQPSPEC_CONTEXT": json.dumps(CONTEXT | context),
    }
    command = [sys.executable, "-m", "amqpspec", "agent", "--dialect", dialect]
    env = {**os.environ, **told}
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize(("most_mib", "passes"), [(1, False), (4, True)])
def test_a_broker_of_1_0_takes_messages_as_large_as_it_says(most_mib: int, passes: bool) -> None:
    with ReferenceBroker("amqp-1-0", max_message_octets=most_mib << 20) as broker:
        done = agent(broker.url, "amqp-1-0", "large", large_octets=3 << 20)
    assert (done.returncode == 0) is passes, (done.stdout, done.stderr)
