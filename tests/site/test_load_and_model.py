"""What pages say of marts, before it is drawn: scores, versions, runs, what targets dispute."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from amqpspec.record.rows import Outcome
from amqpspec.reports.load import ReportError
from amqpspec.reports.marts.rows import LatestVerdict
from amqpspec.reports.site import load as loading
from amqpspec.reports.site import model, plots
from amqpspec.reports.site.load import load
from amqpspec.reports.site.model import version_order
from amqpspec.reports.summary import Score
from tests.site import marts


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return marts.write(tmp_path / "marts", marts.literal())


def sheet(folder: Path, target: str, dialect: str = marts.DIALECT) -> model.Sheet:
    found = {(one.target, one.dialect): one for one in model.sheets(load(folder))}
    return found[target, dialect]


def test_a_missing_mart_and_a_missing_column_are_named(folder: Path) -> None:
    table = pq.read_table(folder / "scores/part-0000.parquet").drop_columns(["counted"])
    pq.write_table(table, folder / "scores/part-0000.parquet")
    with pytest.raises(
        ReportError, match=r"scores/part-0000\.parquet: expected the column 'counted', actual: none"
    ):
        load(folder)
    (folder / "scores").rename(folder / "other")
    with pytest.raises(ReportError, match="expected the mart scores, actual: none"):
        load(folder)
    with pytest.raises(ReportError, match="expected the folder of `amqpspec pipeline build`"):
        load(folder / "verdicts")


def test_damaged_parquet_is_one_line(folder: Path) -> None:
    path = folder / "verdicts/part-0000.parquet"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ReportError, match=r"verdicts/part-0000\.parquet: expected whole Parquet"):
        load(folder)


def test_marts_without_a_row_load(tmp_path: Path) -> None:
    empty = marts.write(tmp_path / "marts", {name: [] for name in marts.literal()})
    assert model.sheets(load(empty)) == []


def test_the_score_leaves_out_what_does_not_apply_and_counts_what_is_blocked(folder: Path) -> None:
    harbor, quay = sheet(folder, "harbor"), sheet(folder, "quay")
    assert harbor.newest and harbor.newest.name == "3.10" and harbor.newest.share == Score(1, 3)
    assert harbor.newest.counts[Outcome.NOT_APPLICABLE] == 1
    assert [(version.name, str(version.share)) for version in harbor.versions] == [
        ("3.10", "1/3"),
        ("3.9", "2/2"),
    ]
    assert quay.newest and quay.newest.share == Score(2, 3)
    assert model.section_share(harbor, "channel") == Score(1, 2)
    assert model.section_share(harbor, "queue", "SHOULD") == Score(0, 1)
    assert model.level_share(harbor, "MUST") == Score(1, 2)


def test_deviations_stand_worst_first_and_known_ones_last(folder: Path) -> None:
    harbor = sheet(folder, "harbor")
    assert [row.case for row in harbor.deviations] == ["queue.declare", "channel.close"]
    assert (harbor.unexpected, harbor.known) == (1, 1)
    assert [row.case for row in sheet(folder, "quay").deviations] == ["channel.open"]


def test_runs_come_in_the_order_of_time_with_parts_marked(folder: Path) -> None:
    runs = sheet(folder, "harbor").runs
    assert [(run.run, str(run.share), run.version, run.part) for run in runs] == [
        ("night-1", "8/10", "3.9", False), ("night-2", "9/10", "3.10", False), ("night-3", "10/10", "3.10", False),
        ("only-one", "1/1", "3.10", True), ("none-counts", "0/0", "3.10", False),
    ]  # fmt: skip


def test_a_run_in_which_nothing_counted_has_no_place_in_a_trend(folder: Path) -> None:
    harbor = sheet(folder, "harbor")
    assert [run.run for run in harbor.scored_runs] == ["night-1", "night-2", "night-3", "only-one"]
    assert [point.y for point in plots.trend(harbor, "t").series[0].points] == [80, 90, 100, 100]


def test_what_is_left_open_is_undecided_unless_a_baseline_knows(tmp_path: Path) -> None:
    tables = marts.literal()
    tables["verdicts"] += [
        marts.verdict("harbor", "x.open", "inconclusive"), marts.verdict("harbor", "x.ours", "error"),
        marts.verdict("harbor", "x.known", "inconclusive", baseline="known"),
        marts.verdict("harbor", "x.nonstrict", "nonstrict", baseline="known"),
    ]  # fmt: skip
    harbor = sheet(marts.write(tmp_path / "marts", tables), "harbor")
    assert (harbor.unexpected, harbor.undecided, harbor.known) == (1, 2, 2)


def test_a_target_that_was_only_fuzzed_has_a_sheet(tmp_path: Path) -> None:
    tables = marts.literal()
    tables["exploration"].append(marts.explored("drift", 1, 1, 1))
    drift = sheet(marts.write(tmp_path / "marts", tables), "drift")
    assert drift.newest is None and drift.fuzzed and not drift.verdicts


def test_flaky_cases_of_older_versions_are_listed_but_not_counted(tmp_path: Path) -> None:
    tables = marts.literal()
    tables["flakiness"].append(tables["flakiness"][0] | {"target_version": "3.9"})
    harbor = sheet(marts.write(tmp_path / "marts", tables), "harbor")
    assert (len(harbor.flaky), harbor.flaky_now) == (2, 1)


def test_only_what_ran_is_disputed(folder: Path) -> None:
    sheets = [one for one in model.sheets(load(folder)) if one.dialect == marts.DIALECT]
    found = model.disputed(sheets)
    assert [row.case for row in found] == ["channel.close", "queue.declare"]
    assert [row and row.outcome for row in found[0].verdicts] == [Outcome.FAIL, Outcome.PASS]


def test_the_most_frequent_differences_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "VECTORS_MAX", 2)
    tables = marts.literal()
    tables["differential"] = [
        row
        for number, inputs in enumerate((4, 90, 1, 30))
        for row in (
            marts.reacted(f"v{number}", "a", "x", inputs),
            marts.reacted(f"v{number}", "b", "y", inputs),
        )
    ]
    loaded = load(marts.write(tmp_path / "marts", tables))
    found = model.vectors(loaded.differences)[marts.DIALECT, "fuzz"]
    assert [(row.inputs, [who.reaction for who in row.reactions]) for row in found] == [
        (90, ["x", "y"]), (30, ["x", "y"]),
    ]  # fmt: skip
    assert loaded.vectors == {(marts.DIALECT, "fuzz"): 4}


def test_a_percentage_says_all_only_of_all() -> None:
    assert [Score(*pair).short for pair in ((999, 1000), (1000, 1000), (1, 1000), (0, 3), (0, 0))] == [
        "99 %", "100 %", "1 %", "0 %", "–",
    ]  # fmt: skip
    assert [Score(*pair).heat for pair in ((3, 3), (19, 20), (8, 10), (1, 2), (0, 1), (0, 0))] == [
        4,
        3,
        2,
        1,
        0,
        None,
    ]


def test_versions_stand_in_the_order_of_releases() -> None:
    versions = ["4.0.1", "4.0", "4.0-rc.1", "4.0-beta.1", "3.10", "3.9", ""]
    assert sorted(versions, key=version_order, reverse=True) == versions
    assert sorted(versions, key=version_order) == versions[::-1]


def test_a_verdict_without_a_name_is_an_error_of_ours() -> None:
    row: dict[str, Any] = dict.fromkeys(LatestVerdict.names()) | marts.verdict("a", "b", "splendid")
    assert LatestVerdict(**row).outcome is Outcome.ERROR
