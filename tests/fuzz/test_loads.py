"""Loads of ``fuzz --sequences``: a clean broker keeps nothing, and one that leaks each time is found."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any
from unittest.mock import MagicMock
from urllib.parse import urlsplit

import pytest

from amqpspec.cli.fuzz_sequences import with_programs
from amqpspec.fuzz.executor.address import Address
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.oracles.process import Gauge
from amqpspec.fuzz.sequences import loads
from amqpspec.fuzz.sequences.contention import Asking, Contended, contended
from amqpspec.fuzz.sequences.loads import Reading, judge, judge_held
from amqpspec.fuzz.sequences.machine import run_program
from amqpspec.fuzz.sequences.shapes import Client
from amqpspec.fuzz.sequences.stage import Stage
from amqpspec.fuzz.sequences.step import LOAD, Step, Violation
from amqpspec.peer.context import Unmet

CLEAN = ""
KEEPS_CONSUMERS = """
from amqpspec.reference.model.vhost import VirtualHost
sound = VirtualHost.remove_consumer
def remove_consumer(self, consumer):
    kept.append(bytearray(50_000))
    return sound(self, consumer)
VirtualHost.remove_consumer = remove_consumer
"""
KEEPS_TRANSACTIONS = """
from amqpspec.reference.methods import channel
sound = channel.Transaction.take
def take(self):
    taken = list(sound(self))
    kept.append((taken, bytearray(1 << 22)))
    return taken
channel.Transaction.take = take
"""
KEEPS_LINKS = """
from amqpspec.reference.amqp_1_0.session import Session
sound = Session.detach
def detach(self, endpoint, *, closed):
    kept.append(bytearray(50_000))
    return sound(self, endpoint, closed=closed)
Session.detach = detach
"""
KEEPS_HANDLES = """
from amqpspec.reference.amqp_fast_0_8.handles import Handle
sound = Handle.stop
def stop(self):
    kept.append(bytearray(50_000))
    return sound(self)
Handle.stop = stop
"""
NEEDS_MUCH = """
from mmap import mmap
from amqpspec.reference.model.queues import Queue
from amqpspec.reference.model.vhost import VirtualHost
sound, end = Queue.enqueue, VirtualHost.delete_queue
def enqueue(self, message):
    kept.append(mmap(-1, 1 << 21))
    kept[-1].write(bytes(1 << 21))
    return sound(self, message)
def delete_queue(self, queue):
    kept.clear()
    return end(self, queue)
Queue.enqueue, VirtualHost.delete_queue = enqueue, delete_queue
"""
FOR_ONE_ONLY = """
from amqpspec.reference.model.vhost import VirtualHost
bind, consume = VirtualHost.bind, VirtualHost.add_consumer
def bound(self, source, binding):
    if source.auto_delete and source.bindings:
        raise LookupError("what others bind cannot be read")
    return bind(self, source, binding)
def consumed(self, consumer):
    if consumer.queue.auto_delete and consumer.queue.consumers:
        raise LookupError("what others consume cannot be read")
    return consume(self, consumer)
VirtualHost.bind, VirtualHost.add_consumer = bound, consumed
"""
FOR_FEW_ONLY = """
from amqpspec.reference.amqp_1_0 import addresses
sound, users = addresses.node_of, {}
def node_of(session, fields, terminus):
    known = users.setdefault(fields.get("address"), set())
    known.add(session.connection)
    if len(known) > 3:
        raise LookupError("what three others have used cannot be read")
    return sound(session, fields, terminus)
addresses.node_of = node_of
"""
BROKER = """
import sys
kept = []
{defect}
from amqpspec.reference.server import ReferenceBroker
with ReferenceBroker("{dialect}") as broker:
    print(broker.url, flush=True)
    sys.stdin.read()
"""
REPETITIONS = 10
FEW = 200


@pytest.fixture(autouse=True)
def small_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loads take a tenth of what those of a campaign take; the defects keep much of each thing instead."""
    monkeypatch.setattr(loads, "COUNT", FEW)


@contextmanager
def broker(dialect: str, defect: str = CLEAN) -> Iterator[Stage]:
    """A broker in a process of its own, which keeps what its defect says."""
    script = BROKER.format(defect=defect, dialect=dialect)
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", script], stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        try:
            port = urlsplit(process.stdout.readline().strip()).port or 0
            yield Stage.of(Subject("child", dialect, Address("127.0.0.1", port), pid=lambda: process.pid))
        finally:
            process.stdin.close()
            process.wait()


def kind_of(stage: Stage, name: str) -> str:
    """The violation of a load, or nothing."""
    (step,) = (step for step in stage.loads if step.args[0] == name)
    found = run_program(stage.begin, (step,))
    return found.violation.kind if found is not None else ""


@pytest.mark.parametrize("dialect", with_programs())
def test_a_clean_broker_keeps_nothing(dialect: str) -> None:
    with broker(dialect) as stage:
        assert {kind_of(stage, str(step.args[0])) for step in stage.loads} == {""}


def test_a_clean_broker_is_clean_in_every_run() -> None:
    with broker("amqp-0-9-1") as stage:
        kinds = [
            kind_of(stage, name)
            for _ in range(REPETITIONS)
            for name in ("consumers cancelled", "transactions rolled back")
        ]
    assert set(kinds) == {""}


GROWS, REFUSED = "memory grows", "not served"


@pytest.mark.parametrize(
    ("dialect", "defect", "load", "what", "other"),
    [
        ("amqp-0-9-1", KEEPS_CONSUMERS, "consumers cancelled", GROWS, "queues deleted"),
        ("amqp-0-9-1", KEEPS_TRANSACTIONS, "transactions rolled back", GROWS, "queues deleted"),
        ("amqp-0-10", KEEPS_CONSUMERS, "subscriptions cancelled", GROWS, "queues deleted"),
        ("amqp-1-0", KEEPS_LINKS, "links detached", GROWS, "sessions ended"),
        ("amqp-fast-0-8", KEEPS_HANDLES, "handles closed", GROWS, "slow reader"),
        ("amqp-0-9-1", FOR_ONE_ONLY, "one exchange for several", REFUSED, "queues deleted"),
        ("amqp-0-9-1", FOR_ONE_ONLY, "one queue for several", REFUSED, "queues deleted"),
        ("amqp-0-10", FOR_ONE_ONLY, "one exchange for several", REFUSED, "queues deleted"),
        ("amqp-0-10", FOR_ONE_ONLY, "one queue for several", REFUSED, "queues deleted"),
        ("amqp-1-0", FOR_FEW_ONLY, "one node for several", REFUSED, "sessions ended"),
    ],
)
def test_a_broker_that_keeps_or_cannot_share_something_is_found(
    dialect: str, defect: str, load: str, what: str, other: str
) -> None:
    with broker(dialect, defect) as stage:
        assert kind_of(stage, load) == f"{load}: {what}"
        assert kind_of(stage, other) == ""


@pytest.mark.parametrize("gone", [set(), {"create"}, {"end"}])
def test_a_name_that_several_have_left_has_to_be_usable(gone: set[str]) -> None:
    peer = MagicMock()
    asking: Asking[Any, str, str] = Asking(lambda _, turn: turn, lambda _, turn: turn not in gone)
    what: Contended[Any, str] = Contended(
        lambda _: "x", lambda *_: ("use", "leave"), lambda *_: ("create", "end")
    )
    load = contended(Client(lambda _: peer, MagicMock(), MagicMock(), MagicMock()), asking, what)
    with nullcontext() if not gone else pytest.raises(Unmet, match="x to be usable again"):
        load(MagicMock(), 1, MagicMock())


def test_a_broker_that_needs_far_more_than_it_holds_is_found_although_it_keeps_nothing() -> None:
    with broker("amqp-0-9-1", NEEDS_MUCH) as stage:
        assert kind_of(stage, "slow reader") == "slow reader: too much memory while held"


def gauges(*mib: float, cpu_s: tuple[float, ...] = ()) -> list[Gauge]:
    spent = cpu_s or tuple(float(n) for n in range(len(mib)))
    return [
        Gauge(1, rss_octets=int(octets * 2**20), cpu_s=seconds)
        for octets, seconds in zip(mib, spent, strict=True)
    ]


@pytest.mark.parametrize(
    "seen",
    [
        gauges(0, 20, 30, 35, 37, 38, 38, 38, 38),  # a pool that fills up
        gauges(0, 8, 16, 24, 32, 1, 8, 16, 24),  # a heap between collections
        gauges(0, 0.01, 0.02, 0.03, 0.04, 2, 4, 6, 8),  # a heap that has begun to grow
        gauges(0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8),  # little
        [*gauges(0, 8, 16, 24, 32, 40, 48, 56), Gauge(2, rss_octets=64 << 20)],  # a restart
        [Gauge(None) for _ in range(9)],
    ],
)
def test_what_does_not_grow_to_the_end_is_no_violation(seen: list[Gauge]) -> None:
    judge("load", seen)


def test_what_grows_to_the_end_is_a_violation() -> None:
    with pytest.raises(Violation, match="32 MiB, then 32 MiB"):
        judge("load", gauges(0, 8, 16, 24, 32, 40, 48, 56, 64))
    slower = gauges(*(0,) * 9, cpu_s=(0, 0.1, 0.2, 0.3, 0.4, 1.0, 2.0, 3.0, 4.0))
    with pytest.raises(Violation, match="processor time"):
        judge("load", slower)


def readings(*mib: tuple[float, float], octets: int = 1) -> list[Reading]:
    """What was held and what remained, in MiB."""
    return [
        Reading(held, after, octets)
        for held, after in zip(gauges(*(h for h, _ in mib)), gauges(*(a for _, a in mib)), strict=True)
    ]


@pytest.mark.parametrize(
    "seen",
    [
        readings(*[(30, 0)] * 9),  # little, although out of proportion
        readings(*[(500, 0)] * 9, octets=32 << 20),  # much, for much
        readings(*[(500, 0)] * 9, octets=0),  # no messages
        readings(*[(500, 0)] * 8, (500, 500)),  # a heap that is not collected each time
        readings(*((8 * n % 32, 0) for n in range(9))),
    ],
)
def test_what_holding_takes_in_proportion_is_no_violation(seen: list[Reading]) -> None:
    judge_held("load", seen)


def test_what_holding_takes_beyond_proportion_or_more_each_time_is_a_violation() -> None:
    with pytest.raises(Violation, match="allowed 32 MiB"):
        judge_held("load", readings(*[(500, 0)] * 9))
    with pytest.raises(Violation, match="32 MiB, then 32 MiB"):
        judge_held("load", readings(*((8 * n, 0) for n in range(9)), octets=32 << 20))


def test_a_load_is_a_step_that_can_be_run_again() -> None:
    with broker("amqp-0-9-1") as stage:
        step = stage.loads[0]
        assert step.verb == LOAD and Step.from_json(step.to_json()) == step
        world = stage.begin()
        assert step in world.options(LOAD)
        world.give_up()
