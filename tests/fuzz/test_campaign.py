"""Campaigns against the reference broker: order, journal, resume, shards, baselines, exit codes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from amqpspec.cli.main import cli
from amqpspec.fuzz.campaign.campaign import Campaign
from amqpspec.fuzz.campaign.energy import Energy
from amqpspec.fuzz.campaign.journal import CampaignJournal, batches, inputs_of, read_progress
from amqpspec.fuzz.campaign.order import CampaignOrder
from amqpspec.fuzz.campaign.progress import Progress
from amqpspec.fuzz.campaign.schedule import chosen_cells
from amqpspec.fuzz.executor.address import Address
from amqpspec.fuzz.executor.result import End, InputResult, Timing
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.grammar import grammar_hash
from amqpspec.fuzz.inputs.catalogue import resolve
from amqpspec.fuzz.inputs.identity import InputId
from amqpspec.fuzz.inputs.mutation import origins
from amqpspec.fuzz.oracles.suspicion import Oracle
from amqpspec.fuzz.triage.findings import FindingError, item_of, read_finding, signature_of
from amqpspec.fuzz.triage.triage import Triage
from amqpspec.record.journal import JournalError, read_journal
from amqpspec.reference.server import ReferenceBroker
from tests.fuzz.kit import CELL, ROW, WRONG, order_of, subject_of

SMALL = ("C05/*/limits",)


@pytest.fixture
def subject() -> Iterator[Subject]:
    with ReferenceBroker("amqp-0-9-1") as broker:
        yield subject_of(broker, restart=broker.restart)


@pytest.fixture
def wrong_subject(wrong: ReferenceBroker) -> Subject:
    return subject_of(wrong, restart=wrong.restart)


def begun(folder: Path) -> list[str]:
    """Every id whose batch was begun, families' written out."""
    return [id for line in batches(folder) for id in inputs_of(line)]


def test_a_clean_broker_has_no_findings_and_every_cell_is_covered(subject: Subject, tmp_path: Path) -> None:
    summary = Campaign(order_of(subject, tmp_path, patterns=SMALL)).run().summary()
    cells = chosen_cells("amqp-0-9-1", SMALL)
    assert summary["findings"] == [] and summary["ended"] == "all done"
    assert summary["cells_planned"] == summary["covered"] == len(cells) > 0
    assert summary["inputs"] == summary["reached"] == sum(cell.inputs for cell in cells)
    assert sorted(begun(tmp_path)) == sorted(str(item.id) for cell in cells for item in cell)
    kinds = [line["kind"] for line in read_journal(tmp_path)]
    assert kinds[0] == "campaign" and kinds[-1] == "end" and kinds.count("batch") == kinds.count("done")


def test_random_inputs_follow_the_families_until_the_budget_ends(subject: Subject, tmp_path: Path) -> None:
    campaign = Campaign(CampaignOrder(subject, tmp_path, 0.0, seed=7, patterns=("C05/none",), batch=16)).run()
    assert (
        campaign.ended == "budget spent"
        and campaign.progress.tally.random == campaign.progress.tally.inputs > 0
    )
    ids = [InputId.parse(text) for text in begun(tmp_path)]
    assert {id.family for id in ids} == {"random"} and {id.seed for id in ids} == {7}
    assert all(resolve(id).octets for id in ids)


def test_shards_part_the_inputs(subject: Subject, tmp_path: Path) -> None:
    for shard in (1, 2):
        order = order_of(subject, tmp_path / str(shard), patterns=SMALL, shard=(shard, 2))
        Campaign(order).run()
    total = sum(cell.inputs for cell in chosen_cells("amqp-0-9-1", SMALL))
    counted = [read_progress(tmp_path / s)["tally"]["inputs"] for s in ("1", "2")]
    assert sum(counted) == total and all(0 < count < total for count in counted)


def test_a_resumed_campaign_goes_on_where_it_stands(subject: Subject, tmp_path: Path) -> None:
    order = order_of(subject, tmp_path, 0.0, patterns=SMALL, batch=8)
    Campaign(order).run()
    first = begun(tmp_path)
    Campaign(replace(order, budget_s=60.0, resume=True)).run()
    assert begun(tmp_path)[: len(first)] == first
    assert set(begun(tmp_path)) == {str(i.id) for cell in chosen_cells("amqp-0-9-1", SMALL) for i in cell}


def test_trials_add_up_over_a_kill_and_over_parts(
    wrong_subject: Subject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is written down at the beginning of each batch counts the trials so far: a kill leaves no more than that."""
    stood: list[int] = []

    def stand(progress: Progress) -> None:
        stood.append(read_progress(tmp_path)["tally"]["trials"])

    order = order_of(wrong_subject, tmp_path, patterns=(CELL, *SMALL), batch=4, notify=stand)
    first = Campaign(order).run().progress.tally.trials
    progress = read_progress(tmp_path)
    assert 0 < stood[-1] <= first == progress["tally"]["trials"]
    CampaignJournal(tmp_path).write_checkpoint(
        {**progress, "position": {"cell": 0, "number": 0, "counter": 0}}
    )
    stood.clear()
    tried: list[object] = []
    trial = Triage._try

    def counted(self: Triage, *args: Any, **options: Any) -> Any:
        tried.append(args)
        return trial(self, *args, **options)

    monkeypatch.setattr(Triage, "_try", counted)
    again = Campaign(replace(order, resume=True)).run()
    assert stood[0] == first and again.progress.tally.trials == first + len(tried)


def test_a_far_position_is_taken_up_at_once(subject: Subject, tmp_path: Path) -> None:
    order = CampaignOrder(subject, tmp_path, 0.0, patterns=("C05/none",), batch=4)
    Campaign(order).run()
    progress = read_progress(tmp_path)
    progress["position"]["counter"] = 10**9
    CampaignJournal(tmp_path).write_checkpoint(progress)
    Campaign(replace(order, resume=True)).run()
    assert InputId.parse(begun(tmp_path)[-1]).counter in range(10**9, 10**9 + 4)


def test_another_plan_is_not_resumed(subject: Subject, tmp_path: Path) -> None:
    order = order_of(subject, tmp_path, 0.0, patterns=SMALL)
    Campaign(order).run()
    with pytest.raises(JournalError, match="expected a campaign of"):
        Campaign(replace(order, seed=9, resume=True))
    with pytest.raises(JournalError, match="expected the folder of a campaign"):
        read_progress(tmp_path / "none")


def test_a_torn_line_does_not_spoil_the_next(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").write_text('{"kind": "batch"}\n{"kind": "ba', encoding="utf-8")
    journal = CampaignJournal(tmp_path)
    journal.line("batch", first="x")
    journal.close()
    assert [line.get("first") for line in batches(tmp_path)] == [None, "x"]


def test_a_killed_campaign_loses_no_input(subject: Subject, tmp_path: Path) -> None:
    """Killed right before a batch is sent: it is in the journal, and is sent when the campaign continues."""
    script = (
        "import os, signal, sys; from pathlib import Path; from amqpspec.fuzz.campaign.campaign import *\n"
        "from amqpspec.fuzz.executor.subject import Subject\n"
        "from amqpspec.fuzz.executor.address import Address\n"
        "from amqpspec.fuzz.executor.loop import Executor\n"
        "seen = []\n"
        "run = Executor.run\n"
        "def kill(self, items):\n"
        "    seen.append(1)\n"
        "    if len(seen) == 3: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return run(self, items)\n"
        "Executor.run = kill\n"
        "host, port, out = sys.argv[1:]\n"
        "subject = Subject('r', 'amqp-0-9-1', Address(host, int(port)))\n"
        f"Campaign(CampaignOrder(subject, Path(out), patterns={SMALL!r}, mutate=False, batch=8)).run()\n"
    )
    where = (subject.address.host, str(subject.address.port), str(tmp_path))
    done = subprocess.run([sys.executable, "-c", script, *where], check=False, cwd=Path(__file__).parents[2])
    assert done.returncode == -signal.SIGKILL
    killed = begun(tmp_path)
    kinds = [line["kind"] for line in read_journal(tmp_path)]
    assert kinds.count("batch") == 3 and kinds.count("done") == 2
    Campaign(order_of(subject, tmp_path, patterns=SMALL, batch=8, resume=True)).run()
    again = begun(tmp_path)[len(killed) :]
    last = next(line for line in reversed(list(batches(tmp_path))[:3]))
    assert again[0] == next(inputs_of(last))
    assert set(killed) | set(again) == {str(i.id) for c in chosen_cells("amqp-0-9-1", SMALL) for i in c}


def test_a_deviation_is_a_finding_with_all_that_belongs_to_it(wrong_subject: Subject, tmp_path: Path) -> None:
    order = order_of(wrong_subject, tmp_path, patterns=(CELL,), smaller=True, stop_when=lambda finding: True)
    (found,) = Campaign(order).run().summary()["findings"]
    place = tmp_path / "findings" / f"conformance-{found['signature']}"
    assert found["requirement"] == ROW and found["status"] == "stable"
    assert read_finding(place)["replay"] == f"amqpspec fuzz replay {place}"
    assert (place / "input.bin").read_bytes() == item_of(found).octets
    assert item_of(found).expectation.requirement == ROW
    kinds = [json.loads(line)["kind"] for line in (place / "transcript.jsonl").read_text().splitlines()]
    assert kinds[0] == "open" and kinds[-1] == "end" and "octets" in kinds
    assert (place / "transcript.pcapng").stat().st_size > 100


def test_what_the_baseline_knows_is_counted_only(wrong_subject: Subject, tmp_path: Path) -> None:
    known = replace(wrong_subject, known=frozenset({ROW}))
    order = order_of(known, tmp_path, patterns=(CELL,))
    summary = Campaign(order).run().summary()
    assert summary["findings"] == [] and summary["suppressed"][ROW] > 0


def test_a_folder_that_is_no_finding_is_told(tmp_path: Path) -> None:
    with pytest.raises(FindingError, match="expected the folder of a finding"):
        read_finding(tmp_path)
    with pytest.raises(FindingError, match="a batch as a whole"):
        item_of({"input": None})


def test_a_signature_is_of_family_oracle_cause_and_state() -> None:
    base = ("boom", "C04", "channel")
    assert signature_of(Oracle.LOG, *base) == signature_of(Oracle.LOG, *base)
    others = [
        signature_of(Oracle.CRASH, *base), signature_of(Oracle.LOG, "bang", "C04", "channel"),
        signature_of(Oracle.LOG, "boom", "C05", "channel"), signature_of(Oracle.LOG, "boom", "C04", "ready"),
    ]  # fmt: skip
    assert len({signature_of(Oracle.LOG, *base), *others}) == 5


def test_energy_goes_to_origins_of_new_responses_and_is_kept() -> None:
    energy = Energy("amqp-0-9-1")
    role, state = origins("amqp-0-9-1")[5]
    item = resolve(InputId(grammar_hash("amqp-0-9-1"), "random", role, state, 1, 1))
    result = InputResult(item, True, ("basic.qos-ok",), None, End.OPEN, Timing(0.001, 0.1), 1, 1)
    before = energy.weights[role, state]
    assert energy.learn([result]) == [result] and energy.learn([result]) == []
    assert energy.weights[role, state] > before
    again = Energy("amqp-0-9-1", energy.to_json())
    assert again.weights == energy.weights and again.seen == energy.seen
    again.mute((role, state))
    assert again.weights[role, state] == 0


# --- the verb


def run(*args: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(cli, ["fuzz", *args])
    return result.exit_code, result.stdout, result.stderr


def test_the_verb_prints_and_writes_a_summary(tmp_path: Path) -> None:
    out = tmp_path / "c"
    code, text, _ = run("reference", "--out", str(out), "--cells", SMALL[0], "--families-only", "--json")
    summary = json.loads(text)
    assert code == summary["exit_code"] == 0 and summary["open"] == 0 and summary["covered"] > 0
    assert json.loads((out / "summary.json").read_text()) == summary
    assert "# Campaign against reference" in (out / "summary.md").read_text()
    code, _, told = run("reference", "--out", str(out), "--cells", SMALL[0])
    assert code == 2 and "--resume" in told


def test_a_baseline_for_other_versions_is_named_before_anything_is_sent(tmp_path: Path) -> None:
    known, out = tmp_path / "known.yaml", tmp_path / "c"
    known.write_text("versions: '>=9'\nentries: []\n", encoding="utf-8")
    words = ("reference", "--out", str(out), "--cells", SMALL[0], "--families-only", "--baseline", str(known))
    _, text, told = run(*words)
    note = f"note: baseline {known} is for versions >=9, not for "
    assert told.startswith(note) and note in text
    out.rename(tmp_path / "first")
    _, text, told = run(*words, "--quiet")
    assert "note: " not in text + told


def test_a_deviating_broker_is_found_and_the_finding_replayed(tmp_path: Path) -> None:
    with ReferenceBroker("amqp-0-9-1", faults=[WRONG]) as broker:
        out = str(tmp_path / "c")
        code, text, _ = run(broker.url, "--out", out, "--cells", CELL, "--families-only")
        assert code == 1 and ROW in text
        place = min((tmp_path / "c" / "findings").iterdir())
        code, text, _ = run("replay", str(place))
        assert code == 1 and "stable" in text
    with ReferenceBroker("amqp-0-9-1") as clean:
        code, text, _ = run("replay", str(place), clean.url)
        assert code == 0 and "lost" in text


@pytest.mark.parametrize(
    ("args", "code", "text"),
    [
        (("amqp://192.0.2.7/",), 2, "expected a loopback address"),
        (("amqp://127.0.0.1:1/",), 3, "cannot connect"),
        (("reference", "-t", "x"), 2, "actual: both (--target x); an option"),
        (("campaign",), 2, "actual: none"),
        (("reference", "--budget", "long"), 2, "--budget: expected a duration"),
        (("reference", "--shard", "3/2"), 2, "expected I/N"),
        (("reference", "--resume", ".", "--out", "x"), 2, "expected --resume or --out"),
        (("replay", "nowhere"), 2, "expected the folder of a finding"),
    ],
)
def test_wrong_orders_are_one_line(
    args: tuple[str, ...], code: int, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    actual, _, told = run(*args)
    assert actual == code and text in told and told.count("\n") == 1
    assert not list(tmp_path.glob("*/findings"))


@pytest.mark.usefixtures("gone")
def test_a_target_that_goes_for_good_ends_the_campaign_and_is_a_finding(tmp_path: Path) -> None:
    with ReferenceBroker("amqp-0-9-1") as broker:
        subject = Subject("going", "amqp-0-9-1", Address(broker.host, broker.port))

        def stop(progress: Progress) -> None:
            broker.stop()

        order = order_of(subject, tmp_path, patterns=SMALL, batch=4, notify=stop)
        campaign = Campaign(order).run()
    assert campaign.target_lost and "going no longer answers" in campaign.ended
    assert read_progress(tmp_path)["tally"]["inputs"] == campaign.progress.tally.inputs == 4
    (found,) = campaign.progress.findings
    assert found.status == "unblamed" and found.suspicion.oracle is Oracle.CRASH and len(found.batch) == 4
