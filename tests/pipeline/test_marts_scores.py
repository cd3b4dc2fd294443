"""Mart of scores: each run by suite and level, of a few literal rows."""

from __future__ import annotations

from datetime import date

from pyspark.sql import SparkSession

from amqpspec.reports.pipeline.tables import scores
from tests.pipeline.tables import case, judged, made, run

DAY, LATER = date(2026, 11, 1), date(2026, 11, 2)


def test_each_run_is_scored_by_suite_and_level(spark: SparkSession) -> None:
    rows = made(
        spark,
        scores.MART,
        case_days=[
            judged("one", "a.x", DAY, "pass"),
            judged("one", "a.y", DAY, "pass", "fail", known=1),
            judged("one", "a.z", DAY, "blocked"),
            judged("one", "a.n", DAY, "not-applicable"),
            judged("one", "a.e", DAY, "excluded"),
            judged("one", "b.x", DAY, "fail", unexpected=1),
            judged("one", "a.may", DAY, "observed"),
            judged("two", "a.x", LATER, "nonstrict"),
            judged("future", "a.x", date(2026, 12, 1), "pass"),
            judged("fuzz", "a.x", DAY, "pass"),
        ],
        runs=[run("one"), run("two"), run("future"), run("fuzz", kind="fuzz")],
        cases=[*(case(f"a.{name}") for name in "xyzne"), case("b.x"), case("a.may", "MAY")],
    )
    told = {(row["run"], row["suite"], row["level"]): row for row in rows}
    assert set(told) == {
        ("one", "a", "MUST"),
        ("one", "a", "MAY"),
        ("one", "b", "MUST"),
        ("two", "a", "MUST"),
    }
    must = told["one", "a", "MUST"]
    assert (must["cases"], must["counted"], must["green"], must["failed"]) == (5, 3, 1, 1)
    assert (must["known"], must["unexpected"], must["at"].day) == (1, 0, 1)
    assert (told["one", "b", "MUST"]["unexpected"], told["one", "a", "MAY"]["green"]) == (1, 1)
    assert (told["two", "a", "MUST"]["green"], told["two", "a", "MUST"]["counted"]) == (0, 1)


def test_a_case_that_no_dimension_knows_counts_without_suite_and_level(spark: SparkSession) -> None:
    (row,) = made(spark, scores.MART, case_days=[judged("one", "a.x", DAY, "pass")], runs=[run("one")])
    assert (row["suite"], row["level"], row["green"], row["product"]) == ("", "", 1, "Rabbitmq")
