"""What was seen is said, whatever keeps a campaign from its end; what judged nothing does not pass."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from amqpspec.cli.main import cli
from amqpspec.fuzz.campaign.campaign import Campaign
from amqpspec.fuzz.campaign.clock import BudgetClock, TimeUp
from amqpspec.fuzz.campaign.journal import findings_in
from amqpspec.fuzz.executor.address import Address
from amqpspec.fuzz.executor.clock import pause
from amqpspec.fuzz.executor.pool import SingleWorker
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.oracles.log import LogWatch, Mark, last_complaint
from amqpspec.fuzz.oracles.monitor import Check, Monitor
from amqpspec.fuzz.oracles.suspicion import Oracle, Suspicion
from amqpspec.fuzz.triage.findings import read_finding
from amqpspec.fuzz.triage.triage import OutOfTime, Triage
from amqpspec.record.journal import read_journal
from amqpspec.reference.server import ReferenceBroker
from tests.fuzz.kit import CELL, order_of, subject_of

MINE = ["--cells", CELL, "--families-only", "--no-baseline", "--workers", "1"]


def campaign_of(broker: ReferenceBroker, out: Path, **more: Any) -> Campaign:
    return Campaign(order_of(subject_of(broker, "wrong"), out, patterns=(CELL,), **more))


def fuzz(broker: ReferenceBroker, *words: str) -> Result:
    return CliRunner().invoke(cli, ["fuzz", broker.url, *MINE, *words])


def cut_off(*args: object) -> None:
    raise KeyboardInterrupt


def too_late(*args: object) -> None:
    raise OutOfTime


# --- findings of which no one could be blamed


def test_a_campaign_that_is_stopped_during_blame_says_what_it_saw(
    wrong: ReferenceBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "c"
    with monkeypatch.context() as patched:
        patched.setattr(Triage, "blame", cut_off)
        ran = fuzz(wrong, "--out", str(out), "--json")
    (found,) = json.loads(ran.stdout)["findings"]
    assert ran.exit_code == 1 and found["status"] == "unblamed" and found["oracle"] == "conformance"
    assert found["input"] is None and found["batch"] and all(CELL in id for id in found["batch"])
    kinds = [line["kind"] for line in read_journal(out)]
    assert kinds.index("suspicion") < kinds.index("finding") < kinds.index("end")
    sarif = json.loads((out / "findings.sarif").read_text(encoding="utf-8"))
    assert [result["level"] for result in sarif["runs"][0]["results"]] == ["error"]
    again = fuzz(wrong, "--resume", str(out), "--json")
    (blamed,) = json.loads(again.stdout)["findings"]
    assert again.exit_code == 1 and blamed["signature"] == found["signature"]
    assert blamed["status"] == "stable" and CELL in blamed["input"]


def test_a_budget_that_ends_during_blame_leaves_a_finding(
    wrong: ReferenceBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Triage, "blame", too_late)
    campaign = campaign_of(wrong, tmp_path).run()
    (found,) = campaign.summary()["findings"]
    assert found["status"] == "unblamed" and not campaign.target_lost
    (name,) = findings_in(tmp_path).values()
    assert read_finding(tmp_path / "findings" / name)["steps"] == []


def test_a_late_answer_that_no_time_was_left_for_is_counted_and_tried_again(
    clean: ReferenceBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Check((Suspicion(Oracle.LATE, "late answer", "0.6 s"),))
    order = order_of(subject_of(clean), tmp_path, patterns=(CELL,))
    with monkeypatch.context() as patched:
        patched.setattr(Monitor, "after", lambda *_, **__: slow)
        patched.setattr(Triage, "blame", too_late)
        campaign = Campaign(order).run()
    summary = campaign.summary()
    assert (summary["findings"], summary["unconfirmed"], campaign.ended) == ([], 1, "budget spent")
    again = Campaign(replace(order, resume=True)).run()
    assert again.ended == "all done" and not again.summary()["findings"]


def test_a_target_that_dies_while_a_campaign_is_stopped_is_a_finding(
    clean: ReferenceBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dying(self: SingleWorker, inputs: object) -> None:
        clean.stop()
        raise KeyboardInterrupt

    monkeypatch.setattr(SingleWorker, "run", dying)
    campaign = campaign_of(clean, tmp_path).run()
    (found,) = campaign.summary()["findings"]
    assert campaign.ended == "stopped" and (found["oracle"], found["status"]) == ("crash", "unblamed")
    assert len(found["batch"]) > 1


def test_a_target_that_lives_when_a_campaign_is_stopped_is_no_finding(
    clean: ReferenceBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SingleWorker, "run", cut_off)
    campaign = campaign_of(clean, tmp_path).run()
    assert campaign.ended == "stopped" and not campaign.summary()["findings"]


# --- nothing judged


def test_a_campaign_without_inputs_does_not_pass(clean: ReferenceBroker, tmp_path: Path) -> None:
    where = ["--cells", "C05/none", *MINE[2:], "--out", str(tmp_path / "c")]
    ran = CliRunner().invoke(cli, ["fuzz", clean.url, *where])
    assert ran.exit_code == 4 and "nothing was judged" in ran.stderr and ran.stderr.count("nothing") == 1


def test_cells_that_nobody_reached_do_not_pass(
    clean: ReferenceBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("amqpspec.fuzz.campaign.campaign.Campaign._cover", lambda self, batch: None)
    out = str(tmp_path / "c")
    ran = fuzz(clean, "--out", out, "--min-cells", "0")
    assert ran.exit_code == 0, ran.stderr
    assert fuzz(clean, "--resume", out).exit_code == 4


def test_a_floor_of_cells(clean: ReferenceBroker, tmp_path: Path) -> None:
    for least, code in (("1", 0), ("2", 4)):
        where = ["--out", str(tmp_path / least), "--min-cells", least]
        ran = fuzz(clean, *where)
        assert ran.exit_code == code and ("expected 2 covered cells" in ran.stderr) is bool(code)


# --- time


def test_the_clock_cuts_off_what_cannot_be_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amqpspec.fuzz.campaign.clock._SLACK_S", 0.0)
    begun_s = time.monotonic()
    clock = BudgetClock(0.0, 0.0)
    with pytest.raises(TimeUp), clock.alarmed():
        pause(60.0)
    assert time.monotonic() - begun_s < 30 and clock.is_late


def test_an_alarm_that_is_lost_rings_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python drops what is raised in the callback of a weak reference."""
    monkeypatch.setattr("amqpspec.fuzz.campaign.clock._FOR_ANYTHING", 0.0)
    monkeypatch.setattr("amqpspec.fuzz.campaign.clock._AGAIN_S", 0.05)
    monkeypatch.setattr("amqpspec.fuzz.campaign.clock._LOST_S", 0.5)
    rung = 0
    with BudgetClock(0.0, 0.0).alarmed():
        while rung < 2:
            try:
                threading.Event().wait(300.0)
            except TimeUp:
                rung += 1
    assert rung == 2


def test_the_clock_waits_for_a_restart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amqpspec.fuzz.campaign.clock._SLACK_S", 0.0)
    clock, restarted = BudgetClock(0.0, 0.0), []
    with pytest.raises(TimeUp), clock.alarmed():
        with clock.unbroken():
            pause(0.8)
            restarted.append(1)
        pause(60.0)
    assert restarted


def test_blame_ends_when_its_time_is_over() -> None:
    from amqpspec.fuzz.executor.tempo import Tempo
    from amqpspec.fuzz.oracles.monitor import Monitor
    from amqpspec.fuzz.oracles.suspicion import Oracle, Suspicion

    subject = Subject("r", "amqp-0-9-1", Address("127.0.0.1", 1))
    triage = Triage(subject, Monitor(subject), Tempo())
    triage.is_late = lambda: True
    with pytest.raises(OutOfTime):
        triage.blame([], Suspicion(Oracle.CRASH, "gone", "gone"))


# --- kills


def test_a_campaign_that_was_killed_before_it_said_where_it_stands_is_resumed(
    clean: ReferenceBroker, tmp_path: Path
) -> None:
    out = tmp_path / "c"
    out.mkdir()
    order = order_of(subject_of(clean), out, patterns=(CELL,), resume=True)
    for left in (b"", b'{"kind": "camp'):
        (out / "journal.jsonl").write_bytes(left)
        (out / "progress.json").unlink(missing_ok=True)
        assert Campaign(order).run().ended == "all done" and not findings_in(out)
    assert Campaign(replace(order, resume=True)).run().ended == "all done"


# --- the log


GO = """runtime: out of memory: cannot allocate 4294967296-octet block (3 in use)
fatal error: out of memory

runtime stack:
runtime.throw({0x8f, 0x16})
\t/go/src/runtime/panic.go:1047 +0x5d

goroutine 34 [running]:
main.serve(0xc000)
\t/srv/main.go:12 +0x1d

goroutine 1 [IO wait]:
internal/poll.runtime_pollWait(0x7f, 0x72)
rax    0x0
exit status 2
"""


def test_the_title_of_a_death_of_go_is_its_cause() -> None:
    said = last_complaint(GO)
    assert said is not None and said.top == "go: fatal error: out of memory"


def test_a_log_that_is_being_written_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("", encoding="utf-8")
    watch = LogWatch(path)
    watch.skip()

    def write() -> None:
        with path.open("a", encoding="utf-8", buffering=1) as file:
            for number in range(8):
                file.write(f"line {number}\n")
                time.sleep(0.03)
            file.write("panic: late\n")

    writer = threading.Thread(target=write)
    with path.open("a", encoding="utf-8") as file:
        file.write("first\n")
    writer.start()
    said = watch.news()
    writer.join()
    assert "panic: late" in said


def test_a_log_that_is_never_at_rest_has_caught_up_once_it_names_a_later_connection(tmp_path: Path) -> None:
    path, waits = tmp_path / "log", list[float]()
    path.write_text("accepting 127.0.0.1:4711 -> 127.0.0.1:5672\n", encoding="utf-8")
    watch = LogWatch(path)
    mark = Mark(4711, watch.size)  # an earlier connection had the same port

    def write(seconds_s: float) -> None:
        waits.append(seconds_s)
        said = {2: "panic: late\n", 3: "accepting 127.0.0.1:47110 ->\n", 5: "accepting 127.0.0.1:4711 ->\n"}
        with path.open("a", encoding="utf-8") as file:
            file.write(said.get(len(waits), f"line {len(waits)}\n"))

    assert watch.news(write, mark).splitlines()[2] == "panic: late" and len(waits) == 5
    assert watch.news(write, mark) == "" and len(waits) == 5
