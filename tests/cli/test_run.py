"""``amqpspec run``: exit codes, what is left behind, resuming, being stopped, and one clear line for each mistake."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import yaml

from amqpspec.cli.place import only_run_in
from amqpspec.net.ports import free_port
from amqpspec.record.journal import read_cases, read_journal
from amqpspec.reference.server import ReferenceBroker
from amqpspec.run.case import load_suite
from amqpspec.spec.dialects import load_ledger
from tests.cli.verbs import SMALL, amqpspec, command, document, error, outside, process
from tests.run.hostile import header_only, hostile
from tests.waiting import PATIENCE_S

REPORTS = {"results.json", "matrix.html", "junit.xml", "summary.md", "badge.svg", "deviations.sarif",
    "journal.jsonl", "evidence", "SHA256SUMS",
}  # fmt: skip
UNFINISHED = REPORTS - {"SHA256SUMS"}
FAULT = "not-refused:channel/open/state"
KEYS = {"planned", "run", "verdicts", "not_applicable", "blocked", "excluded", "exit_code", "cases"}
CASE_KEYS = {"id", "dialect", "requirements", "level", "verdict", "expected", "observed", "evidence"}


def left_behind(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def baseline(folder: Path, case: str, verdict: str = "fail", expires: str = "2999-01-01") -> Path:
    path = folder / "baseline.yaml"
    entry = {"case": case, "verdict": verdict, "reason": "known", "link": "https://example.org"}
    entry["observed"] = "'*'"
    lines = "".join(f"    {key}: {value}\n" for key, value in entry.items()) + f"    expires: {expires}\n"
    path.write_text(f"entries:\n  -\n{lines}", encoding="utf-8")
    return path


# --- what a run leaves behind


def test_a_conforming_target(tmp_path: Path) -> None:
    junit = tmp_path / "ci" / "junit.xml"
    result = amqpspec("run", "reference", *SMALL, "-o", tmp_path / "run", "--junit", junit, code=0)
    assert re.search(
        r"partial: 1 of \d{3} requirements judged, no deviation — 3 pass; planned 3 = run 3 \+ not applicable 0"
        r" \+ blocked 0 \+ excluded 0",
        result.output,
    )
    assert left_behind(tmp_path / "run") == REPORTS
    assert junit.read_bytes() == (tmp_path / "run" / "junit.xml").read_bytes()
    assert ET.parse(junit).getroot().tag == "testsuites"


def test_ctrf_is_written_where_it_is_asked_for(tmp_path: Path) -> None:
    ctrf = tmp_path / "deep" / "ctrf.json"
    amqpspec("run", "reference", *SMALL, "-o", tmp_path / "run", "--ctrf", ctrf, "-q", code=0)
    assert json.loads(ctrf.read_text("utf-8"))["results"]["summary"]["passed"] == len(SMALL)


def test_the_json_that_scripts_rely_on(tmp_path: Path) -> None:
    result = amqpspec("run", "reference", *SMALL, "-o", tmp_path / "run", "--json", code=0)
    data = json.loads(result.stdout)
    assert set(data) >= KEYS
    assert (data["planned"], data["run"], data["verdicts"], data["exit_code"]) == (3, 3, {"pass": 3}, 0)
    assert all(set(case) >= CASE_KEYS for case in data["cases"])
    assert all((tmp_path / "run" / case["evidence"]).exists() for case in data["cases"])


def test_results_hold_cases_in_the_order_of_the_suite_and_the_whole_ledger(tmp_path: Path) -> None:
    amqpspec("run", "reference", *reversed(SMALL), "-o", tmp_path, code=0)
    data = document(tmp_path)
    order = list(load_suite("amqp-0-9-1"))
    assert [case["id"] for case in data["cases"]] == sorted(SMALL, key=order.index)
    ledger = load_ledger("amqp-0-9-1")
    assert list(data["requirements"]) == list(ledger)
    excluded = {name for name, row in data["requirements"].items() if row["excluded"]}
    assert excluded >= {row.id for row in ledger.values() if row.excluded}


def test_a_deviation(tmp_path: Path) -> None:
    result = amqpspec("run", "reference", *SMALL, "--fault", FAULT, "-o", tmp_path, code=1)
    line = next(line for line in result.output.splitlines() if "channel.open.twice" in line)
    assert (
        line.startswith("fail") and "[channel/open/state]" in line and "expected connection exception" in line
    )
    data = document(tmp_path)
    assert (data["exit_code"], data["verdicts"]) == (1, {"pass": 2, "fail": 1})
    assert FAULT in data["meta"]["note"]


def test_a_baseline_is_met(tmp_path: Path) -> None:
    known = baseline(tmp_path, "channel.open.twice")
    run = ("run", "reference", *SMALL, "--fault", FAULT, "-o", tmp_path / "run", "--baseline", known)
    assert "(1 known)" in amqpspec(*run, code=0).output
    amqpspec(*run, "--no-baseline", "--force", code=1)


@pytest.mark.parametrize(("facts", "why"), [
    ({"case": "channel.open.twice"}, "was not seen any more"),
    ({"case": "no.such.case"}, "no such case in the suite"),
    ({"case": "channel.open.twice", "expires": "2020-01-01"}, "expired on 2020-01-01"),
])  # fmt: skip
def test_a_stale_baseline(facts: dict[str, str], why: str, tmp_path: Path) -> None:
    known = baseline(tmp_path, **facts)
    result = amqpspec("run", "reference", *SMALL, "-o", tmp_path / "run", "--baseline", known, code=5)
    assert why in result.output
    assert left_behind(tmp_path / "run") == REPORTS


def test_a_baseline_says_nothing_of_cases_that_nobody_asked_for(tmp_path: Path) -> None:
    known = baseline(tmp_path, SMALL[1])
    amqpspec("run", "reference", SMALL[0], "-o", tmp_path / "run", "--baseline", known, code=0)


def test_a_baseline_for_other_versions_is_said_to_be_left_aside(tmp_path: Path) -> None:
    known = baseline(tmp_path, SMALL[0])
    known.write_text("versions: '>=9'\n" + known.read_text(encoding="utf-8"), encoding="utf-8")
    result = amqpspec("run", "reference", SMALL[0], "-o", tmp_path / "run", "--baseline", known, code=0)
    assert "is for versions >=9, not for '" in result.output


def test_cases_may_be_left_out(tmp_path: Path) -> None:
    amqpspec(
        "run", "reference", *SMALL, "--exclude", "framing.frame.*", "--shared-target", "-o", tmp_path, code=0
    )
    data = document(tmp_path)
    assert (data["run"], data["excluded"]) == (1, 2)


def test_everything_left_out_is_no_success(tmp_path: Path) -> None:
    amqpspec(
        "run", "reference", "channel.open.twice", "--exclude", "channel.open.twice", "-o", tmp_path, code=4
    )


OWN_CASES = '''
from amqpspec.run.case import case
from amqpspec.run.oracles import holds


@case("own.two-users", covers=["channel/open/state"], dialect="amqp-0-9-1")
def two_users(peer):
    """Two users are served side by side."""
    peer.open_connection()
    peer.another("second").open_connection()
    return holds(peer, True, "both are served")


@case("own.one-user", covers=["channel/open/state"], dialect="amqp-0-9-1")
def one_user(peer):
    """One user is served."""
    peer.open_connection()
    return holds(peer, True, "served")
'''


def test_a_target_is_not_blamed_for_our_configuration(tmp_path: Path) -> None:
    """A bare URL names one user: a case that asks for a second one reveals nothing about the target."""
    own = tmp_path / "own_cases.py"
    own.write_text(OWN_CASES)
    with ReferenceBroker() as broker:
        both = amqpspec("run", broker.url, own, "-o", tmp_path / "both", code=0)
        one = amqpspec("run", broker.url, own, "--exclude", "own.one-user", "-o", tmp_path / "one", code=4)
    assert "judged, no deviation — 1 pass; planned 2 = run 1 + not applicable 0 + blocked 1" in both.output
    assert "blocked by configuration own.two-users: " in both.output and "role 'second'" in both.output
    assert (
        "nothing judged — none; planned 2 = run 0 + not applicable 0 + blocked 1 + excluded 1" in one.output
    )
    (row,) = (case for case in document(tmp_path / "both")["cases"] if case["id"] == "own.two-users")
    assert (row["verdict"], row["blocked_by"]) == ("blocked", "hook")
    entries = yaml.safe_load(amqpspec("baseline", tmp_path / "both", code=0).output)["entries"]
    assert entries == []


def test_quiet_prints_on_standard_error_only(tmp_path: Path) -> None:
    result = amqpspec("run", "reference", SMALL[0], "-q", "-o", tmp_path, code=0)
    assert result.stdout == "" and "requirements judged, no deviation" in result.stderr


def test_captures_beside_the_transcripts(tmp_path: Path) -> None:
    amqpspec("run", "reference", SMALL[0], "--pcap", "-o", tmp_path, code=0)
    assert (tmp_path / "evidence" / f"{SMALL[0]}.pcapng").stat().st_size > 100


def test_without_a_folder_the_run_is_the_latest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    amqpspec("run", SMALL[0], code=0)
    assert left_behind(tmp_path / "out" / "latest") == REPORTS
    amqpspec("run", "--target", "reference", SMALL[0], "-o", "out/second", code=0)
    assert (tmp_path / "out" / "latest").resolve().name == "second"


# --- the same folder again, resuming


def test_a_finished_run_gives_way_with_all_its_evidence(tmp_path: Path) -> None:
    amqpspec("run", "reference", *SMALL, "-o", tmp_path, code=0)
    amqpspec("run", "reference", SMALL[0], "-o", tmp_path, "--force", code=0)
    assert document(tmp_path)["planned"] == 1
    assert {path.stem for path in (tmp_path / "evidence").iterdir()} >= {SMALL[0], "probe"}
    assert not (tmp_path / "evidence" / f"{SMALL[1]}.jsonl").exists()


def cut_off(folder: Path, cases: int) -> None:
    """Make a run look as if it had been killed after this many cases."""
    lines = (folder / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "journal.jsonl").write_bytes(b"".join(lines[: 1 + cases]) + b'{"kind": "case", "id": "to')
    (folder / "SHA256SUMS").unlink()


def test_an_unfinished_run_is_not_thrown_away_but_resumed(tmp_path: Path) -> None:
    amqpspec("run", "reference", *SMALL, "-o", tmp_path, code=0)
    cut_off(tmp_path, 1)
    (done,) = [row.id for row in read_cases(tmp_path)]
    assert "contains an unfinished run: continue it with --resume" in error(
        "run", "reference", *SMALL, "-o", tmp_path, code=2
    )
    amqpspec("run", "reference", *SMALL, "--resume", tmp_path, code=0)
    assert document(tmp_path)["planned"] == 3
    ran = [line["id"] for line in read_journal(tmp_path) if line["kind"] == "case"]
    assert sorted(ran) == sorted(SMALL) and ran[0] == done


def test_a_resumed_run_makes_all_its_attempts(tmp_path: Path) -> None:
    amqpspec("run", "reference", SMALL[0], "--repeat", "3", "-o", tmp_path, code=0)
    cut_off(tmp_path, 2)
    amqpspec("run", "reference", SMALL[0], "--repeat", "3", "--resume", tmp_path, code=0)
    assert {row.attempt for row in read_cases(tmp_path)} == {1, 2, 3}


def test_two_runs_do_not_share_a_folder(tmp_path: Path) -> None:
    with only_run_in(tmp_path / "run"):
        said = error("run", "reference", SMALL[0], "-o", tmp_path / "run", code=2)
    assert "another run is active there" in said
    amqpspec("run", "reference", SMALL[0], "-o", tmp_path / "run", code=0)


def test_runs_into_folders_of_one_name_leave_each_other_alone(tmp_path: Path) -> None:
    """The case leaves messages behind in a queue that 1.0 cannot delete."""
    case = "flow.delivery-count.sender"
    with ReferenceBroker("amqp-1-0") as broker:
        for night in ("monday", "tuesday"):
            amqpspec("run", broker.url, case, "-o", tmp_path / night / "nightly", code=0)
    used = [_queues(tmp_path / night / "nightly", case) for night in ("monday", "tuesday")]
    assert used[0] and used[1] and not used[0] & used[1]


def _queues(folder: Path, case: str) -> set[str]:
    text = (folder / "evidence" / f"{case}.jsonl").read_text(encoding="utf-8")
    return set(re.findall(r"'address': '([^']+)'", text))


def test_only_a_run_against_the_same_target_is_resumed(tmp_path: Path) -> None:
    amqpspec("run", "reference", SMALL[0], "-o", tmp_path, code=0)
    said = error("run", "amqp://127.0.0.1:1", SMALL[0], "--resume", tmp_path, code=2)
    assert "is a run against reference (amqp-0-9-1): expected the same target" in said
    (tmp_path / "empty").mkdir()
    assert "cannot read" in error("run", "reference", "--resume", tmp_path / "empty", code=2)


def test_a_run_that_never_began_is_resumed_from_the_start(tmp_path: Path) -> None:
    port = free_port()
    url = f"amqp://127.0.0.1:{port}"
    amqpspec("run", url, *SMALL[:2], "-o", tmp_path, code=3)
    assert document(tmp_path)["blocked"] == 2
    with ReferenceBroker("rabbitmq-0-9-1", port=port):
        amqpspec("run", url, *SMALL[:2], "--resume", tmp_path, code=0)
    assert document(tmp_path)["verdicts"] == {"pass": 2}


# --- being stopped


def wait_for_rows(folder: Path, running: subprocess.Popen[str], count: int) -> None:
    while running.poll() is None:
        try:
            if sum(1 for _ in read_cases(folder)) >= count:
                return
        except OSError:
            continue
    raise AssertionError(f"the run ended too early: {running.communicate()}")


def test_after_a_kill_a_run_goes_on_and_the_counts_add_up(tmp_path: Path) -> None:
    patterns = ("queue", "exchange", "tx")
    run = tmp_path / "run"
    with process(command("run", "reference", "-n", "2", "-o", run, *patterns)) as running:
        wait_for_rows(run, running, 5)
        running.send_signal(signal.SIGKILL)
        assert running.wait(PATIENCE_S) == -signal.SIGKILL
    told = [row.id for row in read_cases(run)]
    done = outside(command("run", "reference", "--resume", run, "--json", *patterns))
    data = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert data["planned"] == data["run"] == sum(data["verdicts"].values())
    ids = [row.id for row in read_cases(run)]
    assert ids[: len(told)] == told and len(ids) == len(set(ids)) == data["planned"]
    assert left_behind(run) == REPORTS


def test_sigterm_leaves_a_partial_report_that_adds_up(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with process(command("run", "reference", "-n", "16", "-o", run)) as running:
        wait_for_rows(run, running, 5)
        running.terminate()
        out, err = running.communicate(timeout=PATIENCE_S)
        assert running.returncode == 4, err
    assert "incomplete run" in out and "Traceback" not in err
    assert left_behind(run) == UNFINISHED
    data = document(run)
    assert data["meta"]["partial"] and data["planned"] == len(load_suite("amqp-0-9-1"))
    unrun = [case for case in data["cases"] if case["reason"] == "the run was stopped before this case"]
    assert unrun and {case["verdict"] for case in unrun} == {"blocked"}
    assert not {case["id"] for case in unrun} & {row.id for row in read_cases(run)}


def test_sigterm_before_the_first_case(tmp_path: Path) -> None:
    from tests.run.hostile import drip

    run = tmp_path / "run"
    with (
        hostile(drip) as port,
        process(command("run", f"amqp://127.0.0.1:{port}", *SMALL, "-o", run)) as running,
    ):
        while not (run / "evidence" / "probe.jsonl").exists():
            assert running.poll() is None
        running.terminate()
        _, err = running.communicate(timeout=PATIENCE_S)
        assert running.returncode == 4, err
        assert "Traceback" not in err
    assert document(run)["blocked"] == len(SMALL)


# --- a full disk


def limit() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))


def test_a_full_disk_is_one_clear_line_and_what_was_recorded_stays(tmp_path: Path) -> None:
    run = tmp_path / "run"
    patterns = ("channel", "exchange", "queue")
    asked = command("run", "reference", "-n", "4", "-o", run, *patterns)
    asked.insert(1, "-B")  # Python itself would leave half a .pyc behind
    done = outside(asked, preexec_fn=limit)
    assert done.returncode == 4
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"amqpspec: cannot write {run}")
    told = {row.id for row in read_cases(run)}
    assert told
    resumed = outside(command("run", "reference", "--resume", run, "--json", *patterns))
    assert resumed.returncode == 0, resumed.stderr
    data = json.loads(resumed.stdout)
    assert data["planned"] == data["run"] > len(told)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    said = error("run", "reference", SMALL[0], "-o", tmp_path / "file" / "run", code=4)
    assert said.startswith(f"cannot write {tmp_path / 'file'}") or "Not a directory" in said


# --- mistakes, one line each


def test_nobody_there(tmp_path: Path) -> None:
    result = amqpspec("run", f"amqp://127.0.0.1:{free_port()}", *SMALL, "-q", "-o", tmp_path, code=3)
    assert result.stderr.splitlines()[-1].endswith("Connection refused")
    data = document(tmp_path)
    assert (data["exit_code"], data["blocked"], data["meta"]["partial"]) == (3, 3, True)
    assert left_behind(tmp_path) == UNFINISHED


def test_a_wrong_password_is_not_shown(tmp_path: Path) -> None:
    with ReferenceBroker() as broker:
        url = broker.url.replace("guest:guest", "guest:wr0ng-password")
        result = amqpspec("run", url, *SMALL, "-o", tmp_path, code=3)
    assert "could not log in as 'guest'" in result.stderr
    assert "wr0ng" not in result.output
    assert all(
        "wr0ng" not in path.read_text(encoding="utf-8") for path in tmp_path.rglob("*") if path.is_file()
    )


def test_a_target_of_another_dialect(tmp_path: Path) -> None:
    with hostile(header_only) as port:
        result = amqpspec(
            "run", f"amqp://127.0.0.1:{port}", *SMALL, "-d", "amqp-0-9-1", "-o", tmp_path, code=3
        )
    assert "could not start the handshake of rabbitmq-0-9-1" in result.stderr


def test_a_target_by_url_is_spoken_to_in_the_dialect_that_it_offers(tmp_path: Path) -> None:
    with ReferenceBroker("amqp-1-0") as broker:
        result = amqpspec("run", broker.url, "version.header-first", "-o", tmp_path, code=0)
    assert "amqp-1-0: partial: 2 of " in result.output


def test_a_known_broker_that_does_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = amqpspec("run", "--target", "rabbitmq", "--no-baseline", SMALL[0], "-o", "run", code=3)
    assert "amqpspec brokers start rabbitmq" in result.stderr
    assert left_behind(tmp_path / "run") >= {"results.json", "junit.xml"}


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--target", "nobody"), "no target 'nobody', expected one of ["),
        (("reference:amqp-7",), "expected a dialect of ['amqp-0-10', 'amqp-0-9-1'"),
        (("http://host",), "expected scheme amqp, amqps, amqp+ws or amqp+wss"),
        (("amqp://u:s3cret@h?x=1",), "amqp://…@h?x=1"),
        (("reference", "no.such.case"), "'no.such.case' names no case"),
        (("reference", "@none"), "cannot read none: No such file"),
        (("reference", "--exclude", "no.such.case"), "'no.such.case' names no case"),
        (("reference", "--fault", "no-such-fault"), "no-such-fault"),
        (("reference", "--baseline", "none.yaml"), "none.yaml: cannot be read: No such file"),
        (("--targets", "none.yaml"), "none.yaml: cannot be read: No such file"),
        (("amqp://h", "--fault", "wrong"), "faults belong to reference brokers"),
        (("amqp://u:s3cret@h", "--target", "reference"), "expected a URL or --target, actual both"),
        (("reference", "amqp://u:s3cret@h"), "expected one target, before the cases"),
        (("--target", ""), "no target ''"),
        (("localhost", "channel.open.twice"), "'localhost' names no case"),
        (("reference", "--resume", ".", "--out", "x"), "expected --resume or --out, actual both"),
        (("amqps://h?cacertfile=none.pem",), "cacertfile none.pem: cannot be used: No such file"),
    ],
)
def test_mistakes_are_one_line(
    args: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    line = error("run", *args, code=2)
    assert said in line and "s3cret" not in line


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"targets:\n  x:\n    ulr: y\n", "targets.yaml, line 3, key 'ulr': unknown key"),
        (
            b"targets:\n  x:\n    broker: reference\n    dialect: amqp-7\n",
            "line 4, key 'dialect': expected a dialect",
        ),
        (b"\xff\xfe\x00", "not YAML"),
    ],
)
def test_bad_targets(text: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "targets.yaml").write_bytes(text)
    assert said in error("run", "--target", "x", "--targets", tmp_path / "targets.yaml", code=2)


@pytest.mark.parametrize(
    "text",
    [
        "entries: [{case: 1, verdict: [x], reason: 5, link: l, expires: 2027-01-01}]",
        "entries: [{case: c, verdict: fail, reason: r, link: l, expires: 2027-13-01}]",
        "entries: [{case: c, verdict: fail, reason: r, link: l, expires: 2027-01-01 10:00:00}]",
        "entries: []\nversion: 1",
        "- 1",
    ],
)
def test_bad_baselines(text: str, tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text(text, encoding="utf-8")
    assert "b.yaml" in error("run", "reference", "--baseline", tmp_path / "b.yaml", code=2)


def test_usage_errors_are_those_of_the_command_line() -> None:
    done = outside(command("run", "--connections", "0"))
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert os.linesep not in done.stderr.strip().splitlines()[-1]
