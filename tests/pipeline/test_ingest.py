"""Journals go into the lake once, wholly, whatever their order."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import permutations
from pathlib import Path

import click
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from amqpspec.cli.pipeline import pipeline
from amqpspec.record.journal import Journal
from amqpspec.record.observation import VERDICT_CODES, key
from amqpspec.record.rows import BlockedBy, CaseRow, Facts, Outcome
from amqpspec.reports.pipeline.compact import compact
from amqpspec.reports.pipeline.ingest import ingest
from amqpspec.reports.pipeline.lake import open_lake
from amqpspec.reports.pipeline.manifest import commit, read_snapshot
from amqpspec.reports.pipeline.parquet import GROUP_ROWS, FactWriter
from amqpspec.reports.pipeline.schema import OBSERVATION, fitted
from tests.pipeline.journals import CampaignFolder, case, finish_run, finished, input_row, write_run
from tests.pipeline.lakes import content, facts

TODAY = date(2026, 11, 21)
FAIL = VERDICT_CODES[Outcome.FAIL]


def test_a_run_is_one_row_an_attempt(tmp_path: Path) -> None:
    cases = [case("channel.open.twice"), case("basic.qos", Outcome.FAIL), case("basic.qos", attempt=2)]
    done = ingest([finished(tmp_path / "nightly", cases)], tmp_path / "lake", TODAY)

    rows = facts(tmp_path / "lake")
    assert (done.journals, done.rows, done.refused) == (1, 3, [])
    assert [(row["case"], row["attempt"], row["verdict"]) for row in rows] == [
        ("basic.qos", 1, FAIL), ("basic.qos", 2, 2), ("channel.open.twice", 1, 2),
    ]  # fmt: skip
    assert {row["dt"] for row in rows} == {"2026-11-20"}
    assert {row["at_us"] for row in rows} == {datetime(2026, 11, 20, 2, tzinfo=UTC)}
    assert rows[0]["latency_us"] == 1500 and rows[0]["end_state"] == "fin" and rows[0]["state"] == "basic"
    assert rows[0]["signature"] == key("fail: refusal at channel, code 504; channel.close 504")
    refused = {name: rows[0][name] for name in ("blocked_by", "refusal_scope", "refusal_code", "arrivals")}
    assert refused == {
        "blocked_by": None, "refusal_scope": "channel", "refusal_code": "504", "arrivals": "channel.close 504",
    }  # fmt: skip
    assert rows[0]["run"].startswith("nightly.")


def test_an_observation_is_dated_when_its_case_ended(tmp_path: Path) -> None:
    """A run over midnight is of two days; a case that never ran is of the day on which the run began."""
    cases = [
        case("channel.a", ended_at="2026-11-20T23:59:59.999999Z"),
        case("channel.b", ended_at="2026-11-21T00:00:00.000001Z"),
        case("channel.c", Outcome.BLOCKED, blocked_by=BlockedBy.HOOK, facts=Facts()),
    ]
    ingest([finished(tmp_path / "nightly", cases)], tmp_path / "lake", TODAY)

    rows = {row["case"]: row for row in facts(tmp_path / "lake")}
    assert [rows[f"channel.{name}"]["dt"] for name in "abc"] == ["2026-11-20", "2026-11-21", "2026-11-20"]
    assert rows["channel.b"]["at_us"] == datetime(2026, 11, 21, 0, 0, 0, 1, tzinfo=UTC)
    assert rows["channel.c"]["at_us"] == datetime(2026, 11, 20, 2, tzinfo=UTC)
    assert rows["channel.c"]["blocked_by"] == "hook"


def test_a_time_that_is_none_is_refused_with_its_case(tmp_path: Path) -> None:
    done = ingest(
        [finished(tmp_path / "run", [case("channel.a", ended_at="late")])], tmp_path / "lake", TODAY
    )
    assert len(done.refused) == 1 and "journal.jsonl: case channel.a: ended_at: " in done.refused[0]


def test_a_baseline_counts_for_the_attempts_that_ended_as_judged(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", [case("basic.qos", Outcome.FAIL), case("basic.qos", attempt=2)])
    finish_run(
        folder,
        [
            case(
                "basic.qos", Outcome.FAIL, baseline="known", reason="its own way (link)", attempts_differ=True
            )
        ],
    )
    ingest([folder], tmp_path / "lake", TODAY)

    assert [row["baseline"] for row in facts(tmp_path / "lake")] == ["known", None]


def test_a_case_that_never_ran_is_in_as_the_results_have_it(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", [case("basic.qos")])
    finish_run(
        folder,
        [
            case("basic.qos"),
            case(
                "channel.open.twice", Outcome.BLOCKED, reason="stopped before", blocked_by=BlockedBy.STOPPED
            ),
        ],
    )
    ingest([folder], tmp_path / "lake", TODAY)

    rows = {row["case"]: row for row in facts(tmp_path / "lake")}
    assert rows["channel.open.twice"]["verdict"] == VERDICT_CODES[Outcome.BLOCKED]
    assert "stopped before" in rows["channel.open.twice"]["detail"]
    assert rows["channel.open.twice"]["signature"] is None, "nothing was judged, so nothing may differ"
    assert rows["basic.qos"]["signature"] is not None


def test_dimensions_of_a_run(tmp_path: Path) -> None:
    ingest([finished(tmp_path / "run", [case("channel.open.twice")])], tmp_path / "lake", TODAY)

    _, dims, _ = content(tmp_path / "lake")
    [run], [target], [one] = dims["runs"], dims["targets"], dims["cases"]
    assert (run["kind"], run["partial"], run["target_key"]) == ("case", False, target["target_key"])
    assert run["ended_at"] == datetime(2026, 11, 20, 2, 5, tzinfo=UTC)
    assert (target["product"], target["target_version"]) == ("RabbitMQ", "3.10.8")
    assert (one["case_key"], one["title"]) == (
        key("amqp-0-9-1", "channel.open.twice"),
        "the case channel.open.twice",
    )
    assert [row["requirement"] for row in dims["case_requirements"]] == ["channel/open/state"]
    assert {row["requirement"] for row in dims["requirements"]} == {"channel/open/state", "basic/qos/size"}
    assert [row["reaction"] for row in dims["signatures"]] == [
        "pass: refusal at channel, code 504; channel.close 504"
    ]


def test_a_run_without_results_brings_the_ledger_of_this_build(tmp_path: Path) -> None:
    ingest([write_run(tmp_path / "run", [case("channel.open.twice")])], tmp_path / "lake", TODAY)

    _, dims, _ = content(tmp_path / "lake")
    assert dims["runs"][0]["partial"]
    assert "channel/open/state" in {row["requirement"] for row in dims["requirements"]}


def test_a_campaign_by_day_with_its_findings(tmp_path: Path) -> None:
    campaign = CampaignFolder(tmp_path / "campaign")
    campaign.batch(90)
    campaign.batch(10, verdict=8, crash="ab12cd34ef56")
    campaign.finding()
    done = ingest([campaign.end()], tmp_path / "lake", TODAY)

    rows = facts(tmp_path / "lake")
    assert done.rows == len(rows) == 100
    assert Counter(row["dt"] for row in rows) == {"2026-11-20": 60, "2026-11-21": 40}
    assert all(row["at_us"].date().isoformat() == row["dt"] for row in rows)
    assert sum(row["crash_key"] == key("ab12cd34ef56") for row in rows) == 10
    _, dims, _ = content(tmp_path / "lake")
    [crash], [run] = dims["crashes"], dims["runs"]
    assert (crash["crash_key"], crash["run_key"]) == (key("ab12cd34ef56"), key("fuzz-0123456789ab"))
    assert (crash["input_octets"], crash["found_after_ms"], crash["folder"]) == (
        4,
        1250,
        "findings/crash-ab12cd34ef56",
    )
    assert (run["shard"], run["seed"], run["partial"], run["grammar"]) == ("1/2", 7, False, "29310249")
    assert len(dims["signatures"]) == 3
    edges = {row["edge"]: row for row in dims["edges"]}
    assert len(edges) == 3
    for row in rows:
        edge = edges[row["edge"]]
        assert (edge["state"], edge["production"]) == ("channel", "C04/frame.size")
        assert (edge["dialect"], edge["signature"]) == ("amqp-0-9-1", row["signature"])


def test_a_lake_from_before_there_were_edges_gets_them(tmp_path: Path) -> None:
    def lake_of(*folders: Path) -> Path:
        root = tmp_path / f"lake{len(folders)}"
        ingest(folders, root, TODAY)
        return root

    first, second = (CampaignFolder(tmp_path / name, name) for name in ("one", "two"))
    first.batch(30)
    second.batch(30, state="open", production=None)
    whole, older = lake_of(first.end(), second.end()), lake_of(first.folder)
    snapshot = read_snapshot(older)
    dims = {name: entry for name, entry in snapshot.dims.items() if name != "edges"}
    commit(older, snapshot, replace(snapshot, dims=dims))

    assert ingest([second.folder], older, TODAY).journals == 1
    assert content(older)[1] == content(whole)[1]
    assert {row["state"] for row in content(older)[1]["edges"]} == {"channel", "open"}


def test_what_a_run_says_is_no_edge(tmp_path: Path) -> None:
    ingest([finished(tmp_path / "run", [case("basic.qos")])], tmp_path / "lake", TODAY)

    assert content(tmp_path / "lake")[1]["edges"] == []


def test_facts_hold_no_texts_of_reactions_and_no_needless_dictionary(tmp_path: Path) -> None:
    campaign = CampaignFolder(tmp_path / "campaign")
    campaign.batch(50)
    ingest([campaign.end()], tmp_path / "lake", TODAY)

    part = open_lake(tmp_path / "lake").parts()[0]
    assert part.path.parent.name == "kind=fuzz" and part.path.parent.parent.name == "dt=2026-11-20"
    with pq.ParquetFile(part.path) as file:
        group = file.metadata.row_group(0)
        columns = {group.column(n).path_in_schema: group.column(n) for n in range(group.num_columns)}
    assert {"kind", "reaction", "crash"}.isdisjoint(columns)
    assert {column.compression for column in columns.values()} == {"ZSTD"}
    plain = {name for name, column in columns.items() if "RLE_DICTIONARY" not in column.encodings}
    assert {"input", "input_key", "sent_prefix", "edge", "signature", "latency_us"} <= plain
    assert {"run", "target", "case", "state", "family"}.isdisjoint(plain)


def test_row_groups_are_large(tmp_path: Path) -> None:
    one = pa.RecordBatch.from_pylist([input_row("fuzz-1", 1, datetime(2026, 11, 20, tzinfo=UTC))] * 20_000)
    writer = FactWriter(tmp_path)
    for _ in range(30):
        writer.add(fitted(one, OBSERVATION))
    [(name, entry)] = writer.finish("piece").items()

    with pq.ParquetFile(tmp_path / name) as file:
        groups = [file.metadata.row_group(n).num_rows for n in range(file.metadata.num_row_groups)]
    assert entry.rows == sum(groups) == 600_000
    assert all(rows >= GROUP_ROWS for rows in groups[:-1]) and len(groups) == 3


def test_the_same_journals_twice_change_nothing(tmp_path: Path) -> None:
    campaign = CampaignFolder(tmp_path / "campaign")
    campaign.batch(5)
    folders = [campaign.end(), finished(tmp_path / "run", [case("basic.qos")])]
    ingest(folders, tmp_path / "lake", TODAY)
    before, number = content(tmp_path / "lake"), open_lake(tmp_path / "lake").snapshot.number
    shutil.copytree(tmp_path / "run", tmp_path / "elsewhere" / "run")

    done = ingest([*folders, *folders, tmp_path / "elsewhere" / "run"], tmp_path / "lake", TODAY)

    assert (done.journals, done.unchanged, done.rows) == (0, 5, 0)
    assert content(tmp_path / "lake") == before
    assert open_lake(tmp_path / "lake").snapshot.number == number


def test_two_runs_in_folders_of_one_name_are_two(tmp_path: Path) -> None:
    first = finished(tmp_path / "a" / "report", [case("basic.qos")])
    second = finished(tmp_path / "b" / "report", [case("basic.qos")], started="2026-11-21T02:00:00Z")
    ingest([first, second], tmp_path / "lake", TODAY)

    assert len({row["run_key"] for row in facts(tmp_path / "lake")}) == 2


def test_a_campaign_that_has_grown_adds_what_is_new(tmp_path: Path) -> None:
    campaign = CampaignFolder(tmp_path / "campaign")
    campaign.batch(4)
    first = ingest([tmp_path / "campaign"], tmp_path / "lake", TODAY)
    files = set(open_lake(tmp_path / "lake").snapshot.files)
    campaign.batch(3, reaction="a new one")
    campaign.finding()
    second = ingest([campaign.end()], tmp_path / "lake", TODAY)

    assert (first.rows, second.rows) == (4, 3)
    assert files < set(open_lake(tmp_path / "lake").snapshot.files)
    assert [row["input"].rpartition("/")[2] for row in facts(tmp_path / "lake")] == list("0123456")
    _, dims, _ = content(tmp_path / "lake")
    assert len(dims["runs"]) == len(dims["crashes"]) == 1 and not dims["runs"][0]["partial"]


def test_a_run_that_has_gone_on_is_taken_anew_without_what_it_withdrew(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", [case("basic.qos", Outcome.FAIL), case("channel.open.twice")])
    other = finished(tmp_path / "other", [case("basic.qos")], started="2026-11-20T03:00:00Z")
    ingest([folder, other], tmp_path / "lake", TODAY)
    compact(tmp_path / "lake")  # now both runs share a file
    with Journal(folder) as journal:
        journal.void(["basic.qos"], "the target was not there")
        journal.case(case("basic.qos"))
    done = ingest([folder], tmp_path / "lake", TODAY)

    rows = facts(tmp_path / "lake")
    assert done.rows == 2
    assert sorted((row["run"].partition(".")[0], row["case"], row["verdict"]) for row in rows) == [
        ("other", "basic.qos", 2), ("run", "basic.qos", 2), ("run", "channel.open.twice", 2),
    ]  # fmt: skip


def test_an_older_copy_is_left_alone_and_said(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", [case("basic.qos")])
    shutil.copytree(folder, tmp_path / "old" / "run")
    with Journal(folder) as journal:
        journal.case(case("channel.open.twice"))
    finish_run(folder, [case("basic.qos"), case("channel.open.twice")])
    ingest([folder], tmp_path / "lake", TODAY)
    before = content(tmp_path / "lake")
    done = ingest([tmp_path / "old" / "run"], tmp_path / "lake", TODAY)

    assert "an older copy" in done.remarks[0]
    assert content(tmp_path / "lake") == before


def test_results_that_do_not_follow_from_their_journal_are_refused(tmp_path: Path) -> None:
    def refused(name: str, *results: CaseRow) -> str:
        folder = write_run(tmp_path / name, [case("basic.qos", Outcome.FAIL), case("channel.open.twice")])
        done = ingest([finish_run(folder, results)], tmp_path / "lake", TODAY)
        assert done.journals == 0
        return done.refused[0]

    second = case("channel.open.twice")
    assert "verdict pass, the journal says fail" in refused("better", case("basic.qos"), second)
    assert "the results have none" in refused("shorter", second)
    more = (case("basic.qos", Outcome.FAIL), second, case("basic.ack.none"))
    assert "the journal has no such case" in refused("longer", *more)
    assert "level MAY" in refused("weaker", case("basic.qos", Outcome.FAIL, level="MAY"), second)


def test_a_journal_that_is_not_the_one_that_is_in_is_refused(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", [case("basic.qos")])
    ingest([folder], tmp_path / "lake", TODAY)
    before = content(tmp_path / "lake")
    text = (folder / "journal.jsonl").read_text()
    (folder / "journal.jsonl").write_text(text.replace('"pass"', '"fail"') + "\n")
    done = ingest([folder], tmp_path / "lake", TODAY)

    assert "its first" in done.refused[0] and str(folder / "journal.jsonl") in done.refused[0]
    assert content(tmp_path / "lake") == before


def test_the_order_of_journals_does_not_matter(tmp_path: Path) -> None:
    campaign = CampaignFolder(tmp_path / "campaign")
    campaign.batch(3)
    folders = [
        campaign.end(),
        finished(tmp_path / "one", [case("basic.qos", title="once")]),
        finished(
            tmp_path / "two", [case("basic.qos", title="later", level="MAY")], started="2026-11-21T02:00:00Z"
        ),
    ]
    lakes = []
    for number, order in enumerate(permutations(folders)):
        ingest(order, tmp_path / f"lake{number}", TODAY)
        lakes.append(content(tmp_path / f"lake{number}"))
    assert all(lake == lakes[0] for lake in lakes)
    assert [row["title"] for row in lakes[0][1]["cases"]] == ["later"]


def test_what_a_case_covers_is_what_the_newest_run_says(tmp_path: Path) -> None:
    old = finished(
        tmp_path / "old", [case("basic.qos", requirements=("basic/qos/size", "channel/open/state"))]
    )
    new = finished(tmp_path / "new", [case("basic.qos")], started="2026-11-21T02:00:00Z")
    ingest([new, old], tmp_path / "lake", TODAY)

    _, dims, _ = content(tmp_path / "lake")
    assert [row["requirement"] for row in dims["case_requirements"]] == ["basic/qos/size"]


def test_compacting_changes_files_and_nothing_else(tmp_path: Path) -> None:
    folders = [
        finished(tmp_path / f"run{n}", [case("basic.qos")], started=f"2026-11-20T02:{n:02}:00Z")
        for n in range(5)
    ]
    for folder in folders:
        ingest([folder], tmp_path / "lake", TODAY)
    before, days = content(tmp_path / "lake"), open_lake(tmp_path / "lake").days()
    fewer = compact(tmp_path / "lake")

    assert fewer == 4
    assert len(open_lake(tmp_path / "lake").parts()) == 1
    assert content(tmp_path / "lake") == before
    assert open_lake(tmp_path / "lake").days() == days
    assert compact(tmp_path / "lake") == 0


def test_many_files_are_compacted_by_themselves(tmp_path: Path) -> None:
    folders = [
        finished(tmp_path / f"run{n}", [case("basic.qos")], started=f"2026-11-20T02:{n:02}:00Z")
        for n in range(33)
    ]
    done = ingest(folders, tmp_path / "lake", TODAY)

    assert done.journals == len(facts(tmp_path / "lake")) == 33
    assert len(open_lake(tmp_path / "lake").parts()) == 1


def test_a_day_has_a_new_fingerprint_when_its_facts_have_changed(tmp_path: Path) -> None:
    campaign = CampaignFolder(tmp_path / "campaign", at=datetime(2026, 11, 20, 12, tzinfo=UTC))
    campaign.batch(2)
    ingest([tmp_path / "campaign"], tmp_path / "lake", TODAY)
    before = open_lake(tmp_path / "lake").days()
    campaign.at += timedelta(days=1)
    campaign.batch(2)
    ingest([campaign.end()], tmp_path / "lake", TODAY)

    after = open_lake(tmp_path / "lake").days()
    assert set(after) == {"2026-11-20", "2026-11-21"}
    assert after["2026-11-20"] == before["2026-11-20"]
    assert open_lake(tmp_path / "lake").days("case") == {}


@pytest.mark.parametrize("cut", [2, 7, 40])
def test_a_torn_end_of_either_journal_is_left_out(tmp_path: Path, cut: int) -> None:
    folder = write_run(tmp_path / "run", [case("basic.qos"), case("channel.open.twice")])
    _cut(folder / "journal.jsonl", cut)
    campaign = CampaignFolder(tmp_path / "campaign")
    campaign.batch(3)
    campaign.batch(3)
    _cut(next((campaign.folder / "observations").iterdir()), cut)
    done = ingest([folder, campaign.folder], tmp_path / "lake", TODAY)

    assert done.refused == []
    assert Counter(row["kind"] for row in facts(tmp_path / "lake")) == {"case": 1, "fuzz": 3}


def test_what_was_torn_goes_in_when_it_is_whole(tmp_path: Path) -> None:
    campaign = CampaignFolder(tmp_path / "campaign")
    campaign.batch(3)
    campaign.batch(3)
    path = next((campaign.folder / "observations").iterdir())
    whole = path.read_bytes()
    _cut(path, 30)
    first = ingest([campaign.folder], tmp_path / "lake", TODAY)
    path.write_bytes(whole)
    second = ingest([campaign.end()], tmp_path / "lake", TODAY)

    assert (first.rows, second.rows) == (3, 3)
    assert len({row["input"] for row in facts(tmp_path / "lake")}) == 6


def _cut(path: Path, octets: int) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - octets)


# --- the verb


def test_the_verb_says_what_went_in(tmp_path: Path) -> None:
    folder, root = (
        finished(tmp_path / "run", [case("basic.qos"), case("channel.open.twice")]),
        tmp_path / "lake",
    )
    assert _verb("ingest", folder, "--lake", root) == (
        0,
        f"{root}: 2 observations of 1 journals; 0 unchanged\n",
        "",
    )
    code, said, _ = _verb("ingest", folder, "--lake", root, "--json")
    assert code == 0 and json.loads(said) == {
        "journals": 0, "unchanged": 1, "rows": 0, "files": 0, "remarks": [], "refused": [],
    }  # fmt: skip
    assert _verb("compact", "--lake", root) == (0, f"{root}: 0 files fewer\n", "")
    assert json.loads(_verb("status", "--lake", root, "--json")[1])["rows"] == 2


def test_what_is_refused_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    folder = finished(tmp_path / "run", [case("basic.qos")])
    code, said, complaint = _verb("ingest", tmp_path / "none", folder, "--lake", tmp_path / "lake")
    assert (code, said) == (2, f"{tmp_path / 'lake'}: 1 observations of 1 journals; 0 unchanged\n")
    assert (
        complaint
        == f"amqpspec: refused: cannot read {tmp_path / 'none' / 'journal.jsonl'}: No such file or directory\n"
    )
    [part] = open_lake(tmp_path / "lake").parts()
    part.path.write_bytes(b"")
    code, _, complaint = _verb("status", "--lake", tmp_path / "lake")
    assert code == 2 and complaint.startswith(f"amqpspec: {part.path}: expected ")
    assert _verb("status", "--lake", tmp_path / "elsewhere")[0] == 2


def test_the_package_is_the_same_each_time_and_can_be_imported(tmp_path: Path) -> None:
    code, said, _ = _verb("package", "--out", tmp_path / "one.zip")
    assert code == 0 and f"--py-files {tmp_path / 'one.zip'}" in said
    _verb("package", "--out", tmp_path / "two.zip")
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    program = "import amqpspec.reports.pipeline.job as job; print(job.__file__)"
    ran = subprocess.run(
        [sys.executable, "-S", "-P", "-c", program], env={**os.environ, "PYTHONPATH": str(tmp_path / "one.zip")},
        capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert ran.returncode == 0 and "one.zip" in ran.stdout, ran.stderr


def _verb(*arguments: object) -> tuple[int, str, str]:
    """Exit code, standard output and error of a verb below ``pipeline``."""
    ran = CliRunner().invoke(pipeline, [str(argument) for argument in arguments], standalone_mode=False)
    assert ran.exception is None or isinstance(ran.exception, click.exceptions.Exit), ran.exception
    code = (
        ran.exception.exit_code if isinstance(ran.exception, click.exceptions.Exit) else ran.return_value or 0
    )
    return code, ran.stdout, ran.stderr
