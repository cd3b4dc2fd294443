"""Inputs that showed something new become origins of random mutation: kept, bounded, the same forever."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from amqpspec.cli.main import cli
from amqpspec.fuzz.campaign.campaign import Campaign
from amqpspec.fuzz.campaign.energy import Energy
from amqpspec.fuzz.campaign.expectation import Expectation
from amqpspec.fuzz.campaign.journal import batches, inputs_of, read_progress
from amqpspec.fuzz.campaign.kept import MOST_OCTETS, MOST_OF_A_STATE, KeptInputs
from amqpspec.fuzz.campaign.lessons import Lessons
from amqpspec.fuzz.campaign.order import CampaignOrder
from amqpspec.fuzz.executor.address import Address
from amqpspec.fuzz.executor.result import End, InputResult, Timing
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.grammar import grammar_hash
from amqpspec.fuzz.inputs.catalogue import by_key, resolve
from amqpspec.fuzz.inputs.corpus import corpus_role, entries_in, entries_of, spliced_role
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import IdError, InputId
from amqpspec.fuzz.inputs.mutation import random_id, random_input
from amqpspec.fuzz.oracles.monitor import Check
from amqpspec.fuzz.oracles.suspicion import Oracle, Suspicion
from amqpspec.record.journal import JournalError
from amqpspec.reference.server import ReferenceBroker

DIALECT = "amqp-0-9-1"
CELL = by_key(DIALECT)["amqp-0-9-1/C09/order.client/channel"]


def result(item: FuzzInput, arrival: str = "basic.qos-ok") -> InputResult:
    return InputResult(item, True, (arrival,), None, End.OPEN, Timing(0.001, 0.1), 1, 1)


def lessons(folder: Path) -> Lessons:
    return Lessons(Energy(DIALECT), Expectation(), KeptInputs(folder, {}))


def test_what_was_new_is_kept_once_and_can_be_drawn(tmp_path: Path) -> None:
    learnt = lessons(tmp_path)
    first, second, third = (CELL.input(n) for n in (0, 1, 2))
    learnt.take([result(first), result(third, "basic.get-ok")], Check(()))
    learnt.take([result(second)], Check(()))
    roles = corpus_role(first.octets), corpus_role(third.octets)
    assert learnt.kept.entries == [(role, "channel") for role in roles]
    assert learnt.kept.origins == [
        (roles[0], "channel"), (roles[1], "channel"), (spliced_role(roles[1], roles[0]), "channel"),
    ]  # fmt: skip
    for origin in learnt.kept.origins:
        assert learnt.energy.weights[origin] > 0
        id = random_id(DIALECT, 1, 7, {origin: 1})
        assert InputId.parse(str(id)) == id
        made = random_input(DIALECT, id, learnt.kept.octets)
        assert made.steps == resolve(id, entries_in(tmp_path, id.role)).steps
    assert learnt.expectation.of(CELL.key, 8) > Expectation().of(CELL.key, 8)


def test_a_new_line_of_the_log_keeps_a_few_inputs_of_the_batch(tmp_path: Path) -> None:
    learnt = lessons(tmp_path)
    items = [CELL.input(n) for n in range(20)]
    learnt.energy.learn([result(item) for item in items])
    learnt.take(
        [result(item) for item in items], Check((), log="10:01 closing channel 17\n10:01 closing channel 3\n")
    )
    assert len(learnt.kept.entries) == 4 and learnt.expectation.shown[CELL.key].news == 1.0
    learnt.take([result(item) for item in items], Check((), log="10:02 closing channel 4\n"))
    assert learnt.expectation.shown[CELL.key].news == 1.0


def test_what_spoils_the_target_is_not_kept(tmp_path: Path) -> None:
    learnt = lessons(tmp_path)
    crash = Suspicion(Oracle.CRASH, "the target is gone", "")
    learnt.take([result(CELL.input(0))], Check((crash,), log="died"))
    assert not learnt.kept.entries and not (tmp_path / "corpus").exists()


def test_a_cautious_campaign_weighs_no_cells(tmp_path: Path) -> None:
    learnt = replace(lessons(tmp_path), is_cautious=lambda: True)
    learnt.take([result(CELL.input(0))], Check((), log="new"))
    assert learnt.expectation == Expectation() and learnt.kept.entries


def test_a_corpus_is_bounded_and_read_again(tmp_path: Path) -> None:
    kept = KeptInputs(tmp_path, {})
    whole = [replace(CELL.input(0), steps=(bytes([n, 1]),)) for n in range(MOST_OF_A_STATE + 5)]
    large = replace(CELL.input(0), state="ready", steps=(bytes(MOST_OCTETS + 1),))
    made = list(kept.keep([*whole, large, replace(large, steps=())]))
    assert len(kept.entries) == MOST_OF_A_STATE and made == kept.origins
    again = KeptInputs(tmp_path, {}, kept.to_json())
    assert (again.entries, again.origins, again.octets) == (kept.entries, kept.origins, kept.octets)
    (tmp_path / "corpus" / f"{kept.entries[0][0]}.bin").write_bytes(b"others")
    with pytest.raises(JournalError, match="expected the octets of"):
        KeptInputs(tmp_path, {}, kept.to_json())


def test_parts_are_of_the_other_entry() -> None:
    mine, other = CELL.input(0).octets, b"\xfe" * 40
    role = spliced_role(corpus_role(mine), corpus_role(other))
    assert entries_of(role) == (corpus_role(mine), corpus_role(other)) and not entries_of("method@basic.qos")
    corpus = {corpus_role(mine): mine, corpus_role(other): other}
    ids = [InputId(grammar_hash(DIALECT), "random", role, "channel", 1, n) for n in range(200)]
    assert any(other in random_input(DIALECT, id, corpus).octets for id in ids)
    with pytest.raises(IdError, match="entry of the given corpus"):
        random_input(DIALECT, ids[0], {corpus_role(mine): mine})


def test_a_campaign_changes_what_showed_something_and_goes_on_with_it(tmp_path: Path) -> None:
    with ReferenceBroker(DIALECT) as broker:
        subject = Subject("clean", DIALECT, Address(broker.host, broker.port), restart=broker.restart)
        order = CampaignOrder(subject, tmp_path, 6.0, patterns=("C09/order.twice/*",), smaller=False)
        Campaign(order).run()
        saved = read_progress(tmp_path)
        resumed = Campaign(replace(order, resume=True))
        assert resumed.checkpoint.kept.to_json() == saved["kept"] != []
        assert resumed.checkpoint.energy.to_json() == saved["energy"]
        assert resumed.checkpoint.expectation.to_json() == saved["expectation"]
        resumed._journal.close()
        ids = [id for line in batches(tmp_path) for id in inputs_of(line) if "/corpus-" in id]
        assert ids
        url = f"amqp://guest:guest@{broker.host}:{broker.port}/"
        done = CliRunner().invoke(cli, ["fuzz", "replay", ids[0], url, "--corpus", str(tmp_path)])
        assert done.exit_code == 0 and "octets:" in done.output, done.output
        done = CliRunner().invoke(cli, ["fuzz", "replay", ids[0], url])
        assert done.exit_code == 2 and done.output.count("\n") == 1
