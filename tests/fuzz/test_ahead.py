"""Random inputs made ahead while the target works: the same inputs, in the same order, within bounds."""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from amqpspec.fuzz.campaign import schedule
from amqpspec.fuzz.campaign.campaign import Campaign
from amqpspec.fuzz.campaign.energy import Energy
from amqpspec.fuzz.campaign.order import CampaignOrder
from amqpspec.fuzz.campaign.schedule import Position, Schedule
from amqpspec.fuzz.executor.spare_time import SpareTime
from amqpspec.fuzz.inputs.mutation import Origin
from amqpspec.reference.server import ReferenceBroker
from tests.fuzz.kit import subject_of
from tests.fuzz.test_campaign_faults import planned


def at_random(size: int = 16, shard: tuple[int, int] = (1, 1)) -> Schedule:
    """A schedule with nothing left of the cells."""
    whole = planned(Position(), shard, size)
    return replace(whole, position=Position(cell=len(whole.legs), counter=40))


@pytest.mark.parametrize("shard", [(1, 1), (2, 3)])
@pytest.mark.parametrize("ahead", [1, 7, 16, 100])
def test_what_is_made_ahead_is_what_would_be_made(shard: tuple[int, int], ahead: int) -> None:
    plan, plain = at_random(shard=shard), at_random(shard=shard)
    for _ in range(3):
        assert sum(plan.prepare() for _ in range(ahead)) == min(ahead, 16)
        batch, expected = plan.next(), plain.next()
        assert batch is not None and expected is not None and batch == expected
        plan.position = plain.position = batch.after


def test_a_smaller_batch_leaves_the_rest_for_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = at_random()
    while plan.prepare():
        pass
    monkeypatch.setattr(schedule, "random_id", None)  # no further one may be made
    plan.size = lambda: 8
    for first in (40, 48):
        batch = plan.next()
        assert batch is not None and [item.id.counter for item in batch.items] == [*range(first, first + 8)]
        plan.position = batch.after


def test_an_origin_muted_since_is_drawn_no_more() -> None:
    plan = at_random()
    weights: dict[Origin, int] = Energy("amqp-0-9-1").weights
    plan.weights = weights
    while plan.prepare():
        pass
    muted = {(item.id.role, item.state) for item in plan._ahead.values()}
    weights |= dict.fromkeys(muted, 0)
    batch = plan.next()
    assert batch is not None and len(batch.items) == 16
    assert muted.isdisjoint((item.id.role, item.state) for item in batch.items)


def test_what_is_made_ahead_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "_AHEAD_OCTETS", 200)
    plan = at_random(1 << 20)
    while plan.prepare():
        pass
    *before, last = (len(item.octets) for item in plan._ahead.values())
    assert sum(before) < 200 <= sum(before) + last
    made = len(plan._ahead)
    plan.size = lambda: made
    assert plan.next() is not None
    assert plan.prepare()  # there is room again


def test_without_random_inputs_none_is_made() -> None:
    assert not replace(at_random(), mutate=False).prepare()


def test_a_campaign_makes_random_inputs_while_it_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead: list[bool] = []
    prepare = Schedule.prepare

    def preparing(self: Schedule) -> bool:
        ahead.append(prepare(self))
        return ahead[-1]

    monkeypatch.setattr(Schedule, "prepare", preparing)
    with ReferenceBroker("amqp-0-9-1") as broker:
        Campaign(CampaignOrder(subject_of(broker), tmp_path, 3.0, patterns=("C09/*",), batch=16)).run()
    assert sum(ahead) >= 16


# --- spare time


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def test_work_ends_when_a_socket_has_something(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    spare, done = SpareTime(), list[int]()

    def work() -> bool:
        done.append(len(done))
        if len(done) == 3:
            theirs.send(b"x")
        return True

    spare.work = work
    with selectors.DefaultSelector() as selector:
        selector.register(ours, selectors.EVENT_READ)
        ((key, events),) = spare.select(selector, 600.0)
        assert key.fileobj is ours and events == selectors.EVENT_READ and done == [0, 1, 2]
        assert spare.select(selector, 600.0) and len(done) == 3  # what has arrived comes first


def test_without_work_time_passes_all_the_same() -> None:
    spare, begun_s = SpareTime(), time.monotonic()
    with selectors.DefaultSelector() as selector:
        assert spare.select(selector, 0.02) == []
        spare.sleep(0.02)
        assert spare.select(selector, -1.0) == []
    assert time.monotonic() - begun_s >= 0.04


def test_work_without_end_ends_with_the_time() -> None:
    spare, begun_s = SpareTime(), time.monotonic()
    spare.work = lambda: True
    with selectors.DefaultSelector() as selector:
        assert spare.select(selector, 0.02) == []
    spare.sleep(0.02)
    assert time.monotonic() - begun_s >= 0.04
