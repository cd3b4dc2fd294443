"""Marts of conformance runs: verdicts, coverage of requirements, regressions, flakiness; each of a few literal rows."""

from __future__ import annotations

from datetime import date

from pyspark.sql import SparkSession
from pyspark.sql import functions as fn

from amqpspec.record.observation import key
from amqpspec.reports.pipeline.tables import flakiness, regressions, requirement_coverage, verdicts
from amqpspec.reports.pipeline.tables.mart import version_order
from tests.pipeline.tables import DIALECT, Row, case, judged, made, run

DAY, LATER, LAST = date(2026, 11, 1), date(2026, 11, 2), date(2026, 11, 3)


def requirement(name: str, excluded: str = "") -> Row:
    return {
        "requirement_key": key(name), "dialect": DIALECT, "requirement": name, "level": "MUST",
        "section": "channel#open", "excluded": excluded,
    }  # fmt: skip


def link(case_name: str, name: str) -> Row:
    return {"case_key": key(DIALECT, case_name), "requirement_key": key(name), "dialect": DIALECT}


def test_the_latest_run_of_each_version_counts(spark: SparkSession) -> None:
    rows = made(
        spark,
        verdicts.MART,
        case_days=[
            judged("old", "a.x", DAY, "fail", unexpected=1),
            judged("new", "a.x", LATER, "pass", "nonstrict"),
            judged("other", "a.x", DAY, "excluded"),
            judged("future", "a.x", date(2026, 12, 1), "error"),
        ],
        runs=[run("old"), run("new"), run("other", version="3.9"), run("future"), run("fuzz", kind="fuzz")],
        cases=[case("a.x")],
    )
    old_version, new_version = rows
    assert (new_version["verdict"], new_version["runs"], new_version["run"]) == ("nonstrict", 2, "new")
    assert (new_version["attempts"], new_version["green"], new_version["baseline"]) == (2, 1, "")
    assert (new_version["newest"], new_version["evidence"]) == (True, "out/new/evidence/a.x.jsonl")
    assert (old_version["target_version"], old_version["newest"]) == ("3.9", False)
    assert (old_version["verdict"], old_version["evidence"]) == ("excluded", None)


def test_a_run_over_midnight_is_one_run(spark: SparkSession) -> None:
    rows = made(
        spark,
        verdicts.MART,
        case_days=[
            judged("run", "a.x", DAY, "fail", known=1, hour=23),
            judged("run", "a.x", LATER, "pass", hour=0),
        ],
        runs=[run("run")],
        cases=[case("a.x")],
    )
    assert [(row["verdict"], row["attempts"], row["runs"], row["baseline"]) for row in rows] == [
        ("fail", 2, 1, "known")
    ]


def test_a_requirement_is_as_bad_as_its_worst_case(spark: SparkSession) -> None:
    rows = made(
        spark,
        requirement_coverage.MART,
        case_days=[judged("run", "a.x", DAY, "pass"), judged("run", "a.y", DAY, "fail", known=1)],
        runs=[run("run")],
        cases=[case("a.x"), case("a.y"), case("a.z")],
        requirements=[
            requirement("both"),
            requirement("left", "client side"),
            requirement("none"),
            requirement("z"),
        ],
        case_requirements=[link("a.x", "both"), link("a.y", "both"), link("a.z", "z")],
    )
    told = {row["requirement"]: row for row in rows}
    both = told["both"]
    assert (both["status"], both["verdict"], both["case"], both["baseline"]) == (
        "judged",
        "fail",
        "a.y",
        "known",
    )
    assert (both["cases"], both["judged"], both["green"]) == (2, 2, 1)
    assert both["evidence"] == "out/run/evidence/a.y.jsonl"
    assert [told[name]["status"] for name in ("left", "none", "z")] == ["excluded", "open", "not-run"]
    assert told["z"]["cases"] == 1
    assert told["none"]["verdict"] is None


def test_a_regression_says_whose_version_changed(spark: SparkSession) -> None:
    rows = made(
        spark,
        regressions.MART,
        case_days=[
            judged("a", "a.x", DAY, "pass"),
            judged("b", "a.x", LATER, "fail", unexpected=1),
            judged("c", "a.x", LAST, "nonstrict", "fail"),
            judged("d", "a.x", LAST, "pass", hour=5),
        ],
        runs=[run("a", version="3.9"), run("b", version="3.10"), run("c", version="3.9", suite="0.2"),
              run("d", version="4.0", suite="0.3")],
        cases=[case("a.x")],
    )  # fmt: skip
    told = {row["change"]: row for row in rows}
    assert set(told) == {"target-version", "suite-version", "both"}
    assert (told["target-version"]["from_target_version"], told["target-version"]["to_target_version"]) == (
        "3.9", "3.10",
    )  # fmt: skip
    assert (told["target-version"]["direction"], told["target-version"]["flaky"]) == ("regressed", False)
    assert (told["suite-version"]["from_run"], told["suite-version"]["to_run"]) == ("a", "c")
    assert (told["suite-version"]["to_verdict"], told["suite-version"]["flaky"]) == ("fail", True)
    assert (told["both"]["from_run"], told["both"]["to_run"], told["both"]["direction"]) == (
        "c",
        "d",
        "fixed",
    )


def test_versions_stand_in_the_order_of_releases(spark: SparkSession) -> None:
    versions = ["", "3.9", "3.10", "4.0-beta.1", "4.0-rc.1", "4.0", "4.0.1"]
    table = spark.createDataFrame([(version,) for version in reversed(versions)], "version STRING")
    ordered = table.orderBy(fn.expr(version_order("version"))).collect()
    assert [row["version"] for row in ordered] == versions


def test_flips_are_counted_between_runs_of_the_same_versions(spark: SparkSession) -> None:
    rows = made(
        spark,
        flakiness.MART,
        case_days=[
            judged("a", "a.flips", DAY, "pass"),
            judged("b", "a.flips", LATER, "fail"),
            judged("c", "a.flips", LAST, "fail"),
            judged("a", "a.mixed", DAY, "pass", "fail"),
            judged("a", "a.calm", DAY, "pass"),
            judged("d", "a.calm", LATER, "fail"),
        ],
        runs=[run("a"), run("b"), run("c"), run("d", suite="0.2")],
        cases=[case("a.flips"), case("a.mixed"), case("a.calm")],
    )
    flips, mixed = rows
    assert (flips["runs"], flips["flips"], flips["flip_rate"], flips["mixed_runs"]) == (3, 1, 0.5, 0)
    assert (flips["best_verdict"], flips["worst_verdict"]) == ("pass", "fail")
    assert flips["last_flip_at"].day == LATER.day
    assert (mixed["case"], mixed["runs"], mixed["flip_rate"], mixed["mixed_runs"]) == ("a.mixed", 1, None, 1)
