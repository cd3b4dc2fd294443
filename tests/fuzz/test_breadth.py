"""What a campaign sends first, and how it goes around inputs that end a target which nobody can restart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from amqpspec.fuzz.campaign.campaign import Campaign
from amqpspec.fuzz.campaign.caution import Caution
from amqpspec.fuzz.campaign.journal import batches, inputs_of, read_progress
from amqpspec.fuzz.campaign.order import CampaignOrder
from amqpspec.fuzz.campaign.progress import Progress
from amqpspec.fuzz.campaign.schedule import FEW, chosen_cells, legs, states_before_login
from amqpspec.fuzz.executor.address import Address
from amqpspec.fuzz.executor.pool import SingleWorker
from amqpspec.fuzz.executor.result import InputResult
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import InputId
from amqpspec.fuzz.parts import fuzzed_dialects
from amqpspec.reference.server import ReferenceBroker


@pytest.mark.parametrize("dialect", sorted(fuzzed_dialects()))
def test_a_few_inputs_of_every_cell_come_first_and_all_come_once(dialect: str) -> None:
    cells = chosen_cells(dialect, ())
    early = states_before_login(dialect)
    way = legs(cells, early)
    first, rest = way[: len(cells)], way[len(cells) :]
    assert {leg.cell.key for leg in first} == {cell.key for cell in cells}
    assert all((leg.first, leg.stop) == (0, min(FEW, leg.cell.inputs)) for leg in first)
    assert {leg.cell.key: (leg.first, leg.stop) for leg in rest} == {
        cell.key: (FEW, cell.inputs) for cell in cells if cell.inputs > FEW
    }
    is_early = [leg.cell.state in early for leg in first]
    assert is_early == sorted(is_early, reverse=True) and 0 < sum(is_early) < len(first)


def test_families_take_turns_before_any_has_its_second_state() -> None:
    cells, early = chosen_cells("amqp-0-9-1", ()), states_before_login("amqp-0-9-1")
    places: list[tuple[str, str]] = []
    for leg in legs(cells, early)[: len(cells)]:
        place = leg.cell.family, leg.cell.state
        if leg.cell.state not in early and place not in places:
            places.append(place)
    families = [family for family, _ in places]
    assert len(set(families[: len(set(families))])) == len(set(families))


def test_shards_take_a_few_each() -> None:
    cells = chosen_cells("amqp-0-9-1", ("C04/*",))
    assert {leg.stop for leg in legs(cells, (), 3) if leg.first == 0 and leg.cell.inputs > 24} == {24}


def _until_one_follows_a_random_batch() -> Callable[[Progress], None]:
    """Ends a campaign behind the batch that follows its first random one."""
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
        order = CampaignOrder(subject, tmp_path, patterns=(cell.key,), mutate=False, batch=8, smaller=False)
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
