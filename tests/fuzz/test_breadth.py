"""What a campaign sends first, and how it goes around inputs that end a target which no one can restart."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from amqpspec.fuzz.campaign.campaign import Campaign
from amqpspec.fuzz.campaign.caution import Caution
from amqpspec.fuzz.campaign.expectation import Expectation
from amqpspec.fuzz.campaign.journal import batches, inputs_of, read_progress
from amqpspec.fuzz.campaign.order import CampaignOrder
from amqpspec.fuzz.campaign.progress import Progress
from amqpspec.fuzz.campaign.rounds import later_rounds
from amqpspec.fuzz.campaign.schedule import (
    CHUNK,
    FEW,
    Position,
    Schedule,
    chosen_cells,
    legs,
    states_before_login,
)
from amqpspec.fuzz.executor.address import Address
from amqpspec.fuzz.executor.pool import SingleWorker
from amqpspec.fuzz.executor.result import InputResult
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import InputId
from amqpspec.fuzz.parts import fuzzed_dialects
from amqpspec.reference.server import ReferenceBroker
from tests.fuzz.kit import order_of


@pytest.mark.parametrize("dialect", sorted(fuzzed_dialects()))
def test_a_few_inputs_of_every_cell_come_first_and_all_come_once(dialect: str) -> None:
    cells = chosen_cells(dialect, ())
    early = states_before_login(dialect)
    first = legs(cells, early)
    assert {leg.cell.key for leg in first} == {cell.key for cell in cells}
    for leg in first:
        sent = list(leg.numbers)
        assert 0 < len(sent) <= FEW and leg.cell.inputs - sent[-1] <= leg.numbers.step
        later = [n for numbers in later_rounds(leg.cell.inputs, FEW) for n in numbers]
        assert sorted(sent + later) == list(range(leg.cell.inputs)) and len(later) == leg.later
    is_early = [leg.cell.state in early for leg in first]
    assert is_early == sorted(is_early, reverse=True) and 0 < sum(is_early) < len(first)


def test_families_take_turns_before_any_has_its_second_state() -> None:
    cells, early = chosen_cells("amqp-0-9-1", ()), states_before_login("amqp-0-9-1")
    places: list[tuple[str, str]] = []
    for leg in legs(cells, early):
        place = leg.cell.family, leg.cell.state
        if leg.cell.state not in early and place not in places:
            places.append(place)
    families = [family for family, _ in places]
    assert len(set(families[: len(set(families))])) == len(set(families))


SOME = ("C04/*/channel", "C04/*/ready", "C09/*/tune")


def drained(plan: Schedule, most: int = 100_000) -> list[list[str]]:
    """Every batch of cells from the position on, or so many."""
    batches: list[list[str]] = []
    while len(batches) < most and not plan.is_behind_cells and (batch := plan.next()) is not None:
        plan.position = Position(**json.loads(json.dumps(batch.after.to_json())))
        batches.append([str(item.id) for item in batch.items])
    return batches


def planned(shard: tuple[int, int] = (1, 1), size: int = 100, **given: Any) -> Schedule:
    cells = chosen_cells("amqp-0-9-1", SOME)
    return Schedule(
        "amqp-0-9-1", legs(cells, (), shard[1]), Position(), lambda: size, lambda cell: False, {}, shard=shard,
        mutate=False, **given,
    )  # fmt: skip


@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize("mixes", [True, False])
def test_every_input_comes_once_in_each_way(shards: int, mixes: bool) -> None:
    found: list[str] = []
    for index in range(shards):
        plan = planned((index + 1, shards), mixes=lambda: mixes)
        found += [id for batch in drained(plan) for id in batch]
    assert sorted(found) == sorted(str(i.id) for c in chosen_cells("amqp-0-9-1", SOME) for i in c)


def test_a_smaller_batch_is_the_beginning_of_a_larger_one() -> None:
    small, large = ([id for batch in drained(planned(size=size)) for id in batch] for size in (37, 512))
    assert small == large


def test_a_cell_that_showed_much_comes_first_and_the_others_are_not_forgotten() -> None:
    plan, taught = planned(size=1), Expectation()
    rich = max(plan.legs, key=lambda leg: leg.later).cell
    taught.learn(rich.key, 5000.0, 8, 0.1)
    plan.expectation = taught
    plan.position = Position(cell=len(plan.legs))
    runs = [
        (key, sum(1 for _ in ids))
        for key, ids in groupby(drained(plan, 500), lambda batch: _cell_of(batch[0]))
    ]
    assert runs[0] == runs[2] == (rich.key, 3 * CHUNK) and runs[1][0] != rich.key and runs[1][1] <= CHUNK


def _cell_of(id: str) -> str:
    found = InputId.parse(id)
    return f"amqp-0-9-1/{found.family}/{found.role}/{found.state}"


def test_an_expectation_falls_with_what_was_sent_and_with_time_and_is_kept() -> None:
    known = Expectation()
    assert known.of("a", 8) > known.of("a", 80)
    known.learn("a", 2.0, 8, 0.4)
    known.learn("b", 2.0, 8, 40.0)
    known.learn("c", 0.0, 8, 0.4)
    assert known.of("a", 8) > known.of("c", 8) > known.of("b", 8)
    again = Expectation.from_json(json.loads(json.dumps(known.to_json())))
    assert again == known


def _until_one_follows_a_random_batch() -> Callable[[Progress], None]:
    """Ends a campaign after the batch that follows its first random one."""
    random_came = False

    def notify(progress: Progress) -> None:
        nonlocal random_came
        if random_came:
            raise KeyboardInterrupt
        random_came = progress.tally.random > 0

    return notify


def test_random_mutation_has_its_share_while_there_are_cells(tmp_path: Path) -> None:
    with ReferenceBroker("amqp-0-9-1") as broker:
        subject = Subject("clean", "amqp-0-9-1", Address(broker.host, broker.port))
        order = CampaignOrder(
            subject, tmp_path, 300.0, batch=32, patterns=("C09/*", "C04/*"), smaller=False,
            notify=_until_one_follows_a_random_batch(),
        )  # fmt: skip
        campaign = Campaign(order).run()
    tally = campaign.progress.tally
    kinds = ["".join({InputId.parse(id).family[0] for id in inputs_of(line)}) for line in batches(tmp_path)]
    assert kinds[0] == "C" and "r" in kinds[1:4], kinds
    assert 0 < tally.random < tally.inputs and 0 < tally.random_s < tally.seconds_s
    saved = read_progress(tmp_path)
    assert saved["position"]["counter"] > 0 and saved["tally"]["random_s"] == tally.random_s


# --- around what kills


@pytest.mark.parametrize("killers", [{5}, {0}, {63}, {3, 40}, set(range(10, 13))])
def test_halving_finds_each_killer_and_sends_all_others(killers: set[int]) -> None:
    caution, at, sent, losses = Caution(), 0, set[int](), 0
    while at < 64:
        batch = [n for n in range(at, min(64, at + caution.limited(64))) if str(n) not in caution.avoided]
        if killers & set(batch):
            losses += 1
            caution = Caution.from_json(caution.to_json())
            caution.killed(map(str, batch))
            continue
        sent |= set(batch)
        at += caution.limited(64)
        caution.survived(len(batch))
    assert sent == set(range(64)) - killers and caution.avoided == {str(n) for n in killers}
    assert losses <= 8 * len(killers)


def test_a_resumed_campaign_goes_around_what_ends_the_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Subject, "awake", lambda self, within_s: False)
    (cell,) = chosen_cells("amqp-0-9-1", ("C05/body.too-long/body",))
    with ReferenceBroker("amqp-0-9-1") as broker:
        killer, run = str(cell.id(5)), SingleWorker.run

        def deadly(self: SingleWorker, inputs: Iterable[FuzzInput]) -> Iterator[InputResult]:
            items = list(inputs)
            results = list(run(self, items))
            if killer in {str(item.id) for item in items}:
                broker.stop()
            return iter(results)

        monkeypatch.setattr(SingleWorker, "run", deadly)
        subject = Subject("frail", "amqp-0-9-1", Address(broker.host, broker.port))
        order = order_of(subject, tmp_path, patterns=(cell.key,), batch=8)
        starts, campaign = 1, Campaign(order).run()
        while campaign.target_lost and starts < 12:
            broker.start()
            starts, campaign = starts + 1, Campaign(replace(order, resume=True)).run()
    assert campaign.ended == "all done" and 3 <= starts <= 6
    (found,) = campaign.summary()["findings"]
    assert (found["oracle"], found["input"]) == ("crash", killer)
    sent = {id for line in batches(tmp_path) for id in inputs_of(line)}
    assert sent >= {str(item.id) for item in cell} and read_progress(tmp_path)["caution"]["avoided"] == [
        killer
    ]
