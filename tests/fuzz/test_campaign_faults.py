"""Campaigns under misfortune: the target goes, its restart fails, the disk is full, processes are killed."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from amqpspec.cli.main import cli
from amqpspec.fuzz.campaign import schedule, target
from amqpspec.fuzz.campaign.campaign import Campaign
from amqpspec.fuzz.campaign.clock import BudgetClock, TimeUp
from amqpspec.fuzz.campaign.energy import Energy
from amqpspec.fuzz.campaign.journal import CampaignJournal, batches, findings_in, inputs_of, read_progress
from amqpspec.fuzz.campaign.order import CampaignOrder
from amqpspec.fuzz.campaign.pace import Pace
from amqpspec.fuzz.campaign.progress import Progress
from amqpspec.fuzz.campaign.schedule import Batch, Position, Schedule, cell_by_cell, chosen_cells
from amqpspec.fuzz.executor import subject
from amqpspec.fuzz.executor.client import Unanswered
from amqpspec.fuzz.executor.pool import ExecutorPool
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.inputs.catalogue import Cell
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import InputId
from amqpspec.fuzz.inputs.mutation import Origin, random_id
from amqpspec.fuzz.oracles.canary import Canaries
from amqpspec.fuzz.oracles.suspicion import Oracle
from amqpspec.fuzz.states.model import Values
from amqpspec.fuzz.triage import triage
from amqpspec.fuzz.triage.findings import read_finding
from amqpspec.record.arrow_journal import observation_files, read_observations
from amqpspec.record.journal import JournalError, read_journal
from amqpspec.record.observation import VERDICT_CODES
from amqpspec.record.rows import Outcome as Verdict
from amqpspec.reference.server import ReferenceBroker
from tests.fuzz.kit import CELLS, ROW, order_of, subject_of

ROOT = Path(__file__).parents[2]


@cache
def wanted() -> frozenset[str]:
    """The ids of all inputs of CELLS."""
    return frozenset(str(item.id) for cell in chosen_cells("amqp-0-9-1", CELLS) for item in cell)


def rows(folder: Path) -> list[dict[str, Any]]:
    return [
        row
        for path in observation_files(folder)
        for batch in read_observations(path)
        for row in batch.to_pylist()
    ]


def check_journal(folder: Path) -> None:
    """Every finished batch has a row for each input, except those that it says are left, or that wait for silence."""
    seen = {row["input"] for row in rows(folder)}
    begun: set[str] = set()
    for line in read_journal(folder):
        if line["kind"] == "batch":
            begun = set(inputs_of(line))
        elif line["kind"] == "done":
            assert begun - {*line["left"], *line["waiting"]} <= seen
            assert len(begun) - len(line["left"]) == line["inputs"]
    named = {id for line in read_journal(folder) if line["kind"] == "batch" for id in inputs_of(line)}
    assert seen <= named
    for place in (folder / "findings").glob("*"):
        if (place / "finding.json").exists():
            assert read_finding(place)["input"] is None or (place / "input.bin").exists()


def test_every_input_has_a_row_that_says_what_became_of_it(wrong: ReferenceBroker, tmp_path: Path) -> None:
    campaign = Campaign(order_of(subject_of(wrong), tmp_path)).run()
    found = rows(tmp_path)
    assert {row["input"] for row in found} == wanted() and len(found) == campaign.progress.tally.inputs
    check_journal(tmp_path)
    (signature,) = findings_in(tmp_path)
    failed = [row for row in found if row["verdict"] == VERDICT_CODES[Verdict.FAIL]]
    assert {row["family"] for row in failed} == {"C05"} and {row["crash"] for row in failed} == {signature}
    assert all(row["case"].startswith("C05/body.too-long/body") for row in failed)
    assert {row["evidence"] for row in failed} == {f"findings/conformance-{signature}"}
    passed = next(row for row in found if row["state"] == "limits")
    assert passed["verdict"] == VERDICT_CODES[Verdict.PASS] and passed["crash"] is None
    (manifest,) = [line for line in read_journal(tmp_path) if line["kind"] == "campaign"]
    assert {row["run"] for row in found} == {manifest["run"]} and manifest["started"].endswith("Z")
    assert passed["product"] == manifest["product"] != "" and passed["grammar"] == manifest["plan"]["grammar"]
    assert passed["sent_prefix"] == bytes.fromhex(passed["sent_prefix"].hex()) and passed["sent_octets"] > 16


def test_what_the_baseline_knows_is_a_known_failure_of_a_row(wrong: ReferenceBroker, tmp_path: Path) -> None:
    subject = subject_of(wrong, known=frozenset({ROW}))
    Campaign(order_of(subject, tmp_path, patterns=CELLS[:1])).run()
    assert {row["baseline"] for row in rows(tmp_path) if row["verdict"] == VERDICT_CODES[Verdict.FAIL]} == {
        "known"
    }
    assert not findings_in(tmp_path)


# --- the target


def test_a_target_that_is_gone_for_good_is_gone_on_with_when_it_is_back(
    wrong: ReferenceBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(progress: Progress) -> None:
        wrong.stop()

    with monkeypatch.context() as patched:
        patched.setattr(Subject, "awake", lambda self, within_s: False)
        order = order_of(subject_of(wrong), tmp_path, batch=4, notify=stop)
        lost = Campaign(order).run()
    assert lost.target_lost and lost.progress.tally.inputs == 4 and "no longer answers" in lost.ended
    check_journal(tmp_path)
    assert [line["why"] for line in read_journal(tmp_path) if line["kind"] == "end"] == [lost.ended]
    kept = set(findings_in(tmp_path))
    with ReferenceBroker("amqp-0-9-1", port=wrong.port) as again:
        assert again.port == wrong.port
        resumed = Campaign(replace(order, resume=True, notify=lambda progress: None, budget_s=600.0)).run()
    assert resumed.ended == "all done" and resumed.checkpoint.run == lost.checkpoint.run
    assert {row["input"] for row in rows(tmp_path)} == wanted()
    assert {found["signature"] for found in resumed.summary()["findings"]} >= kept != set()


def test_a_target_that_goes_between_batches_is_a_complaint_of_the_last_one(
    wrong: ReferenceBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped: list[int] = []

    def stop(progress: Progress) -> None:
        if not stopped:
            stopped.append(progress.tally.inputs)
            wrong.stop()

    def restart() -> None:
        wrong.stop()
        wrong.start()

    # A canary that is to be placed notices first, or else the batch that is not taken any more.
    place = Canaries.place
    for noticed_by_canaries in (True, False):
        stopped.clear()
        out = tmp_path / str(noticed_by_canaries)

        def placed(self: Canaries, first: bool = noticed_by_canaries) -> None:
            if first:
                self.drop()
            place(self)

        monkeypatch.setattr(Canaries, "place", placed)
        monkeypatch.setattr(Subject, "awake", lambda self, within_s: within_s > 30 or not stopped)
        subject = subject_of(wrong, restart=restart)
        order = order_of(subject, out, batch=4, notify=stop)
        campaign = Campaign(order).run()
        (crash,) = [f for f in campaign.progress.findings if f.suspicion.oracle is Oracle.CRASH]
        assert stopped == [4] and len(crash.batch) == 4 and set(crash.batch) == set(next(_begun(out)))
        assert campaign.ended == "all done" and {row["input"] for row in rows(out)} == wanted()


def test_a_target_that_greets_once_more_on_its_way_out_is_restarted(
    wrong: ReferenceBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    restarts: list[int] = []
    refusals: list[int] = []
    place = Canaries.place

    def placed(self: Canaries) -> None:
        if refusals:
            refusals.pop()
            raise Unanswered("the stream took no more octets")
        place(self)

    def leave(progress: Progress) -> None:
        if progress.tally.inputs == 4:
            refusals.extend([1, 1])

    monkeypatch.setattr(Canaries, "place", placed)
    subject = subject_of(wrong, restart=lambda: restarts.append(1))
    order = order_of(subject, tmp_path, batch=4, notify=leave)
    campaign = Campaign(order).run()
    assert campaign.ended == "all done" and not campaign.target_lost and restarts and not refusals
    assert {row["input"] for row in rows(tmp_path)} == wanted()


def _begun(folder: Path) -> Iterator[list[str]]:
    return (list(inputs_of(line)) for line in batches(folder))


def test_the_verb_says_that_a_target_was_lost(
    wrong: ReferenceBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    after = Campaign._cover

    def stopping(self: Campaign, batch: Batch) -> None:
        after(self, batch)
        wrong.stop()

    monkeypatch.setattr(Campaign, "_cover", stopping)
    monkeypatch.setattr(Subject, "awake", lambda self, within_s: False)
    out = str(tmp_path / "c")
    where = ["--cells", "C05/*/limits", "--cells", "C10/*/start", "--families-only", "--no-baseline"]
    args = ["fuzz", wrong.url, *where, "--workers", "2"]
    ran = CliRunner().invoke(cli, [*args, "--out", out, "--json"])
    summary = json.loads((tmp_path / "c" / "summary.json").read_text(encoding="utf-8"))
    # It answered until then, and something was sent: who took it away is not known, that it is gone is.
    assert ran.exit_code == summary["exit_code"] == 1 and summary["workers"] == 2
    assert [(found["oracle"], found["status"]) for found in summary["findings"]] == [("crash", "unblamed")]
    assert "no longer answers" in summary["ended"] and summary["inputs"] == len(rows(tmp_path / "c")) > 0
    check_journal(tmp_path / "c")
    again = CliRunner().invoke(cli, [*args, "--resume", out])
    assert again.exit_code == 3 and again.stderr.count("\n") == 1, again.stderr


@pytest.mark.parametrize("budget_ends", [False, True])
@pytest.mark.parametrize("returns_s", [0.0, 60.0])
def test_a_target_that_does_not_return_from_a_restart_is_a_finding(
    wrong: ReferenceBroker,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    budget_ends: bool,
    returns_s: float,
) -> None:
    def awake(self: Subject, within_s: float) -> bool:
        if budget_ends and log.stat().st_size:  # it was restarted
            raise TimeUp
        return False

    def restart() -> None:
        log.write_text("=CRASH the stored data cannot be read\n", encoding="utf-8")

    log = tmp_path / "log"
    log.touch()
    monkeypatch.setattr(Subject, "awake", awake)
    monkeypatch.setattr(target, "_RETURNS_S", returns_s)
    subject = subject_of(wrong, restart=restart, log=log)
    order = order_of(subject, tmp_path / "c", batch=4, notify=lambda progress: wrong.stop())
    campaign = Campaign(order).run()
    tops = [finding.suspicion.top for finding in campaign.progress.findings]
    away = "the target does not return from a restart; beam: =CRASH the stored data cannot be read"
    assert tops.count(away) == (returns_s == 0.0) and campaign.target_lost is not budget_ends


@pytest.mark.parametrize("returns", [True, False])
def test_a_long_campaign_ends_with_a_restart(
    wrong: ReferenceBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, returns: bool
) -> None:
    restarts: list[int] = []
    monkeypatch.setattr(target, "_RETURNS_S", 0.0)
    monkeypatch.setattr(triage, "_RECOVERS_S", 0.1)
    monkeypatch.setattr(subject, "_AWAKE_S", 0.1)

    def restart() -> None:
        restarts.append(campaign.progress.tally.inputs)
        if not returns:
            wrong.stop()

    known = frozenset({ROW})
    order = order_of(subject_of(wrong, restart=restart, known=known), tmp_path / "c")
    assert order.restart_s == 0 and replace(order, budget_s=599).with_restart().restart_s == 0
    assert replace(order.with_restart(), budget_s=3600).with_restart().restart_s == 60
    assert replace(order, subject=subject_of(wrong)).with_restart().restart_s == 0
    campaign = Campaign(order.with_restart())
    campaign.run()
    assert restarts == [len(wanted())]
    tops = [finding.suspicion.top for finding in campaign.progress.findings]
    assert tops == ([] if returns else ["the target does not return from a restart"])
    assert campaign.target_lost is not returns


def test_a_target_whose_restart_is_cut_off_is_not_called_gone(
    wrong: ReferenceBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def awake(self: Subject, within_s: float) -> bool:
        raise TimeUp

    monkeypatch.setattr(Subject, "awake", awake)
    known = subject_of(wrong, restart=wrong.stop, known=frozenset({ROW}))
    order = order_of(known, tmp_path / "c").with_restart()
    campaign = Campaign(order).run()
    assert order.restart_s > 0 and campaign.ended == "budget spent"
    assert campaign.progress.tally.inputs == len(wanted()) and campaign.progress.findings == []


def test_a_restart_that_fails_is_one_clear_line(
    wrong: ReferenceBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Subject, "awake", lambda self, within_s: False)
    monkeypatch.setattr(target, "_AGAIN_S", (0.0, 0.0))

    def restart() -> None:
        raise RuntimeError("the service manager\nis not there")

    order = order_of(
        subject_of(wrong, restart=restart), tmp_path, batch=4, notify=lambda progress: wrong.stop()
    )
    lost = Campaign(order).run()
    why = "the service manager is not there"
    assert lost.target_lost and lost.ended.endswith(f"(its restart failed: {why})") and "\n" not in lost.ended
    assert [line["why"] for line in read_journal(tmp_path) if line["kind"] == "restart failed"][:1] == [why]
    # What it took last is suspected, not what it did not take any more.
    (finding,) = [finding for finding in lost.progress.findings if finding.suspicion.oracle is Oracle.CRASH]
    assert set(finding.batch) <= {row["input"] for row in rows(tmp_path)} and finding.batch


def test_a_restart_that_fails_is_tried_again(
    wrong: ReferenceBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Something else may listen on the target's port for a moment."""
    monkeypatch.setattr(target, "_AGAIN_S", (0.0, 0.0))
    stopped, restarts = list[int](), list[int]()

    def stop(progress: Progress) -> None:
        if not stopped:
            stopped.append(1)
            wrong.stop()

    def restart() -> None:
        restarts.append(1)
        if len(restarts) < 3:
            raise OSError("address already in use")
        wrong.stop()
        wrong.start()

    monkeypatch.setattr(Subject, "awake", lambda self, within_s: within_s > 30)
    subject = subject_of(wrong, restart=restart)
    campaign = Campaign(order_of(subject, tmp_path, batch=4, notify=stop)).run()
    assert campaign.ended == "all done" and {row["input"] for row in rows(tmp_path)} == wanted()
    failed = [line["why"] for line in read_journal(tmp_path) if line["kind"] == "restart failed"]
    assert failed == ["address already in use"] * 2


def test_a_state_that_is_not_reached_makes_no_covered_cell(
    wrong: ReferenceBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Subject, "filling", lambda self, number, tag: Values(vhost="no-such-host"))
    order = order_of(subject_of(wrong), tmp_path, patterns=("C05/*/limits",))
    campaign = Campaign(order).run()
    assert campaign.progress.tally.reached == 0
    assert {row["verdict"] for row in rows(tmp_path)} == {VERDICT_CODES[Verdict.BLOCKED]}
    assert campaign.summary()["covered"] == 0 and campaign.summary()["not_reachable"] > 0


# --- the disk


def test_a_journal_that_cannot_be_written_is_one_line(wrong: ReferenceBroker, tmp_path: Path) -> None:
    full = os.open("/dev/full", os.O_WRONLY)

    def fill(progress: Progress) -> None:
        if progress.findings:
            os.dup2(full, campaign._journal._fd)

    order = order_of(subject_of(wrong), tmp_path, batch=4, notify=fill)
    campaign = Campaign(order)
    with pytest.raises(JournalError, match=r"cannot write .*journal.jsonl: No space left"):
        campaign.run()
    os.close(full)
    check_journal(tmp_path)
    assert len(findings_in(tmp_path)) == 1
    resumed = Campaign(replace(order, resume=True, notify=lambda progress: None)).run()
    assert resumed.ended == "all done" and {row["input"] for row in rows(tmp_path)} == wanted()
    assert [found["requirement"] for found in resumed.summary()["findings"]] == [ROW]


def test_a_finding_without_room_is_told_by_the_error(
    wrong: ReferenceBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("amqpspec.fuzz.campaign.finding_store.write_finding", full)
    order = order_of(subject_of(wrong), tmp_path)
    with pytest.raises(JournalError) as told:
        Campaign(order).run()
    text = str(told.value)
    assert ROW in text and "C05/body.too-long/body" in text and "No space left" in text and "\n" not in text
    assert rows(tmp_path), "what was sent has its rows nevertheless"


def test_a_disk_that_fills_up_ends_the_verb_with_one_line(wrong: ReferenceBroker, tmp_path: Path) -> None:
    """A quota on files: the journal reaches it first. Python itself would leave half a .pyc behind, hence -B."""
    out = tmp_path / "c"
    command = [
        sys.executable, "-B", "-m", "amqpspec.cli.main", "fuzz", wrong.url, "--out", str(out), "--cells", "C05/none",
        "--budget", "10m", "--workers", "1", "--no-baseline",
    ]  # fmt: skip
    ran = subprocess.run(
        command, check=False, cwd=ROOT, capture_output=True, text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000)),
    )  # fmt: skip
    assert ran.returncode == 4, ran.stderr
    assert ran.stderr.startswith("amqpspec: cannot write ") and ran.stderr.count("\n") == 1
    check_journal(out)
    assert rows(out) and read_progress(out)["plan"]["dialect"] == "amqp-0-9-1"


# --- kills


KILLED = """
import os, signal, sys
from pathlib import Path
from amqpspec.fuzz.campaign.campaign import Campaign
from amqpspec.fuzz.campaign.order import CampaignOrder
from amqpspec.fuzz.executor.client import Unanswered
from amqpspec.fuzz.executor.address import Address
from amqpspec.fuzz.executor.subject import Subject
host, port, out, workers, at, torn, resume = sys.argv[1:]
left = int(at)
write = os.write

def counted(fd, octets):
    # Every line and every batch of rows is one write; the process is killed in the middle of one, or behind it.
    global left
    left -= 1
    if left:
        return write(fd, octets)
    write(fd, octets[: len(octets) // 2] if torn == "torn" else octets)
    os.kill(os.getpid(), signal.SIGKILL)

os.write = counted
subject = Subject("r", "amqp-0-9-1", Address(host, int(port)))
order = CampaignOrder(
    subject, Path(out), patterns=CELLS, mutate=False, batch=4, smaller=False, workers=int(workers),
    resume=resume == "resume",
)
campaign = Campaign(order)
campaign.pace.most = 4
campaign.run()
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_a_campaign_killed_again_and_again_comes_to_the_same_end(
    wrong: ReferenceBroker, tmp_path: Path, workers: int
) -> None:
    whole = Campaign(order_of(subject_of(wrong), tmp_path / "whole")).run()
    out, draw = tmp_path / "killed", random.Random(f"kills {workers}")
    script = KILLED.replace("CELLS", repr(CELLS))
    for number in range(5):
        at, torn = draw.randrange(2, 11), draw.choice(("torn", "whole"))
        where = [wrong.host, str(wrong.port), str(out), str(workers), str(at), torn]
        resume = "resume" if (out / "progress.json").exists() else "begin"
        ran = subprocess.run([sys.executable, "-c", script, *where, resume], check=False, cwd=ROOT)
        assert ran.returncode == -signal.SIGKILL, (number, at, torn)
        check_journal(out)
    order = order_of(subject_of(wrong), out, batch=8, workers=workers, resume=True)
    ended = Campaign(order).run()
    check_journal(out)
    assert ended.ended == "all done" and {row["input"] for row in rows(out)} == wanted()
    assert ended.progress.tally.cells == whole.progress.tally.cells
    signatures = {found["signature"] for found in whole.summary()["findings"]}
    assert {found["signature"] for found in ended.summary()["findings"]} == signatures != set()
    assert len(observation_files(out)) >= 2


def test_a_finding_that_was_written_right_before_a_kill_is_not_forgotten(
    wrong: ReferenceBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BudgetClock, "is_late", property(lambda self: False))
    order = order_of(subject_of(wrong), tmp_path, 0.0, batch=64)
    Campaign(order).run()
    (signature,) = findings_in(tmp_path)
    progress = read_progress(tmp_path)
    journal = CampaignJournal(tmp_path)
    journal.write_checkpoint(progress | {"signatures": {}, "position": Position(cell=1).to_json()})
    journal.close()
    (tmp_path / "findings" / "log-torn").mkdir()
    (tmp_path / "findings" / "log-torn" / ".finding.json").write_text("{", encoding="utf-8")
    resumed = Campaign(replace(order, resume=True)).run()
    assert [found["signature"] for found in resumed.summary()["findings"]] == [signature]


def test_a_worker_that_is_killed_is_said_and_its_inputs_are_not_lost(
    wrong: ReferenceBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ExecutorPool.run
    killed: list[int] = []

    def dying(self: ExecutorPool, inputs: list[FuzzInput]) -> Iterator[Any]:
        for result in run(self, inputs):
            yield result
            if not killed:
                killed.append(self.pids[1 - self.worker])
                os.kill(killed[0], signal.SIGKILL)

    monkeypatch.setattr(ExecutorPool, "run", dying)
    order = order_of(subject_of(wrong), tmp_path, workers=2)
    summary = Campaign(order).run().summary()
    (line,) = [line for line in read_journal(tmp_path) if line["kind"] == "worker"]
    assert line["ended"] == "signal 9" and line["again"] and set(line["unfinished"]) <= wanted()
    assert summary["workers_lost"] == 1 and summary["undecided"] == 0 and summary["workers"] == 2
    assert {row["input"] for row in rows(tmp_path)} == wanted()
    assert {row["worker"] for row in rows(tmp_path)} == {0, 1}
    assert [found["requirement"] for found in summary["findings"]] == [ROW]


def test_inputs_that_no_worker_lives_through_are_named(
    wrong: ReferenceBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    give, poison = ExecutorPool._give, chosen_cells("amqp-0-9-1", CELLS[:1])[0].id(9)

    def deadly(self: ExecutorPool, number: int, share: dict[int, FuzzInput], losses: dict[int, int]) -> None:
        # A worker that is stopped meanwhile cannot answer before it is killed.
        os.kill(self.pids[number], signal.SIGSTOP)
        give(self, number, share, losses)
        poisoned = poison in {item.id for item in share.values()}
        os.kill(self.pids[number], signal.SIGKILL if poisoned else signal.SIGCONT)

    monkeypatch.setattr(ExecutorPool, "_give", deadly)
    monkeypatch.setattr("amqpspec.fuzz.executor.pool._REPLACED_A_BATCH", 1)
    order = order_of(subject_of(wrong), tmp_path, patterns=CELLS[:1], workers=2)
    summary = Campaign(order).run().summary()
    left = [id for line in read_journal(tmp_path) if line["kind"] == "done" for id in line["left"]]
    assert left == [str(poison)] and summary["undecided"] == 1 and summary["workers_lost"] > 3
    assert {row["input"] for row in rows(tmp_path)} == {id for id in wanted() if "/body/" in id} - set(left)
    assert summary["stopped"] == 1 and "could not be sent" in str(summary["cells_not_covered"])


# --- far positions


def counted(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How many random ids were made since it was asked last."""
    made: list[int] = []

    def counting(dialect: str, seed: int, counter: int, weights: Any) -> Any:
        made.append(counter)
        return random_id(dialect, seed, counter, weights)

    monkeypatch.setattr(schedule, "random_id", counting)

    def since() -> int:
        count = len(made)
        made.clear()
        return count

    return since


def planned(
    position: Position, shard: tuple[int, int] = (1, 1), size: int = 16, patterns: tuple[str, ...] = ()
) -> Schedule:
    weights: dict[Origin, int] = Energy("amqp-0-9-1").weights
    cells = chosen_cells("amqp-0-9-1", patterns)
    whole = cell_by_cell(cells)
    return Schedule("amqp-0-9-1", whole, position, lambda: size, lambda cell: False, weights, shard=shard)


@pytest.mark.parametrize("shard", [(1, 1), (3, 7)])
def test_a_far_counter_costs_no_more_than_a_near_one(
    monkeypatch: pytest.MonkeyPatch, shard: tuple[int, int]
) -> None:
    made = counted(monkeypatch)
    end = len(chosen_cells("amqp-0-9-1", ()))
    for counter in (0, 10**9, 10**15):
        batch = planned(Position(cell=end, counter=counter), shard).next()
        assert batch is not None and made() == 16 and batch.after.counter == counter + 16
        places = {item.id.counter for item in batch.items}
        assert places <= {n * shard[1] + shard[0] - 1 for n in range(counter, counter + 16)}


def test_a_place_deep_in_a_cell_is_taken_up_without_what_is_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cells = chosen_cells("amqp-0-9-1", ())
    at, large = max(enumerate(cells), key=lambda pair: pair[1].inputs)
    asked: list[int] = []
    input_of = Cell.input

    def asking(self: Cell, number: int) -> FuzzInput:
        asked.append(number)
        return input_of(self, number)

    monkeypatch.setattr(Cell, "input", asking)
    batch = planned(Position(cell=at, number=large.inputs - 20), (2, 5), size=3).next()
    assert batch is not None and asked == [item.id.counter for item in batch.items] and len(asked) == 3
    assert all(n >= large.inputs - 20 and n % 5 == 1 for n in asked)


def test_resuming_far_away_makes_as_many_calls_as_nearby(wrong: ReferenceBroker, tmp_path: Path) -> None:
    order = CampaignOrder(subject_of(wrong), tmp_path, 0.0, patterns=("C05/none",), batch=4)
    Campaign(order).run()
    progress = read_progress(tmp_path)
    calls = {}
    for counter in (10, 10**9):
        progress["position"]["counter"] = counter
        journal = CampaignJournal(tmp_path)
        journal.write_checkpoint(progress)
        journal.close()
        calls[counter] = _calls(lambda: Campaign(replace(order, resume=True)))
    assert abs(calls[10] - calls[10**9]) < 50


def _calls(act: Callable[[], Campaign]) -> int:
    count = 0

    def tick(frame: object, event: str, arg: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(tick)
    try:
        campaign = act()
    finally:
        sys.setprofile(None)
    campaign._journal.close()
    return count


# --- batches


@pytest.mark.parametrize("mixes", [True, False])
def test_batches_join_cells_and_come_apart_again(mixes: bool) -> None:
    plan = planned(Position(), size=300, patterns=("C0[1257]/*", "C14/*"))
    plan.mixes = lambda: mixes
    named: list[str] = []
    mixed = 0
    while not plan.is_behind_cells:
        batch = plan.next()
        assert batch is not None and 0 < len(batch.items) <= 300
        places = {(item.id.family, item.state) for item in batch.items}
        assert batch.is_mixed is (len(places) > 1) and (batch.is_mixed or places == {batch.place})
        mixed += batch.is_mixed
        assert list(inputs_of(json.loads(json.dumps(batch.names)))) == [str(item.id) for item in batch.items]
        parts = list(batch.parts(batch.items))
        assert [item for part in parts for item in part.items] == list(batch.items)
        assert all(len(part.cells) == 1 for part in parts)
        named += [str(item.id) for item in batch.items]
        plan.position = batch.after
    assert named == [str(item.id) for leg in plan.legs for item in leg.cell] and bool(mixed) is mixes


def test_shards_part_every_cell() -> None:
    found: list[str] = []
    for index in (1, 2, 3):
        plan = planned(Position(), (index, 3), size=50)
        while plan.position.cell < 40:
            batch = plan.next()
            assert batch is not None
            found += [str(item.id) for item in batch.items if item.id in _first(40)]
            plan.position = batch.after
    assert len(found) == len(set(found)) and set(found) == {str(id) for id in _first(40)}


@cache
def _first(cells: int) -> frozenset[InputId]:
    return frozenset(item.id for cell in chosen_cells("amqp-0-9-1", ())[:cells] for item in cell)


def test_a_batch_grows_while_nobody_complains() -> None:
    pace = Pace(128, lambda inputs: 0.0)
    sizes = []
    for _ in range(6):
        sizes.append(pace.size)
        pace.clean(pace.size, 0.1)
    assert sizes == [128, 256, 512, 1024, 2048, 2048]
    pace.complained()
    assert pace.size == 128


def test_a_batch_hides_no_burning_input_and_takes_no_age() -> None:
    dear = Pace(128, lambda inputs: inputs * 0.002)
    slow = Pace(128, lambda inputs: 0.0)
    small = Pace(128, lambda inputs: 0.0)
    for _ in range(6):
        dear.clean(2048, 0.1)
        slow.clean(128, 4.0)
        small.clean(5, 1.0)
    assert dear.size == 1500 and slow.size == 320 and small.size == 128
