"""Marts of campaigns, and of what differs between brokers; each of a few literal rows."""

from __future__ import annotations

from datetime import UTC, date, datetime

from pyspark.sql import SparkSession

from amqpspec.record.observation import key
from amqpspec.reports.pipeline.tables import differential, exploration, findings
from tests.pipeline.tables import AS_OF, DIALECT, Row, case, judged, made, run, table, us

DAY, LATER = date(2026, 11, 20), date(2026, 11, 29)
ANSWERS, CLOSES = key("answers"), key("close 505")
SIGNATURES: list[Row] = [
    {"signature": ANSWERS, "reaction": "answers"},
    {"signature": CLOSES, "reaction": "close 505"},
]


def crashed(campaign: str, crash: str, day: date, inputs: int = 1) -> Row:
    return {
        "dt": day, "run_key": key(campaign), "crash_key": key(crash), "inputs": inputs, "first_us": us(day),
        "last_us": us(day, 3), "smallest_octets": 90,
    }  # fmt: skip


def finding(campaign: str, crash: str, day: date, octets: int) -> Row:
    return {
        "crash_key": key(crash), "run_key": key(campaign), "crash": crash, "oracle": "hang", "input": f"i{octets}",
        "input_octets": octets, "dialect": DIALECT, "seen_at": datetime(day.year, day.month, day.day, 4, tzinfo=UTC),
    }  # fmt: skip


def edge(campaign: str, day: date, number: int, families: int) -> Row:
    return {
        "dt": day, "run_key": key(campaign), "edge": number, "inputs": 5, "worst": 2, "families": families,
        "first_us": us(day), "last_us": us(day),
    }  # fmt: skip


def named_edge(number: int, state: str, signature: int = ANSWERS) -> Row:
    return {"edge": number, "dialect": DIALECT, "state": state, "production": "", "signature": signature}


def reacted(run: str, name: int, low: int, high: int | None = None, known: int = 0, day: date = LATER) -> Row:
    return {
        "dt": day, "run_key": key(run), "input_key": name, "signature_low": low,
        "signature_high": low if high is None else high, "known": known,
    }  # fmt: skip


def ended(*names: str, day: date = LATER) -> list[Row]:
    """When campaigns ended, as ``case_days`` says it of their cells."""
    return [judged(name, "cell", day, "pass") for name in names]


def test_a_cluster_tells_since_when_how_often_and_by_which_input(spark: SparkSession) -> None:
    rows = made(
        spark,
        findings.MART,
        crash_days=[crashed("old", "boom", DAY, 4), crashed("new", "boom", LATER, 2)],
        case_days=[*ended("old", day=DAY), *ended("new")],
        runs=[run("old", "fuzz", version="4.0"), run("new", "fuzz", version="4.1")],
        crashes=[
            finding("old", "boom", DAY, 31),
            finding("new", "boom", LATER, 17),
            finding("old", "batch", DAY, 50),
            finding("old", "later", date(2026, 12, 2), 50),
        ],
    )
    batch, boom = rows
    assert (boom["campaigns"], boom["days"], boom["inputs"], boom["open"]) == (2, 2, 6, True)
    assert (boom["recent"], boom["earlier"]) == (2, 4)
    assert (boom["smallest_octets"], boom["smallest_input"], boom["run"]) == (17, "i17", "new")
    assert (boom["first_version"], boom["last_version"]) == ("4.0", "4.1")
    assert (boom["first_seen"].day, boom["last_seen"].day) == (DAY.day, LATER.day)
    assert (batch["crash"], batch["inputs"], batch["open"], batch["first_version"]) == (
        "batch",
        0,
        False,
        "4.0",
    )


def test_inputs_with_the_same_reactions_of_the_same_targets_are_one_vector(spark: SparkSession) -> None:
    rows = made(
        spark,
        differential.MART,
        reaction_days=[
            *(reacted("r", number, ANSWERS) for number in (1, 2, 3, 4, 5)),
            *(reacted("q", number, CLOSES) for number in (1, 2)),
            reacted("q", 3, ANSWERS),
            reacted("q", 4, CLOSES, known=1),
            reacted("q", 5, min(ANSWERS, CLOSES), max(ANSWERS, CLOSES)),
        ],
        case_days=ended("r", "q"),
        runs=[run("r", "fuzz"), run("q", "fuzz", target="qpid")],
        signatures=SIGNATURES,
    )
    assert [(row["target"], row["reaction"], row["inputs"], row["sample_key"]) for row in rows] == [
        ("qpid", "close 505", 2, 1),
        ("rabbitmq", "answers", 2, 1),
    ]
    assert len({row["vector"] for row in rows}) == 1


def test_the_newest_version_speaks_for_a_target_on_whatever_day(spark: SparkSession) -> None:
    days = [
        reacted("older", key(DIALECT, "a.x"), CLOSES, day=DAY),
        reacted("newer", key(DIALECT, "a.x"), ANSWERS),
        reacted("q", key(DIALECT, "a.x"), ANSWERS, day=DAY),
        reacted("newer", key(DIALECT, "a.y"), ANSWERS),
        reacted("q", key(DIALECT, "a.y"), CLOSES, day=DAY),
        reacted("past", key(DIALECT, "a.x"), CLOSES, day=date(2026, 9, 1)),
    ]
    rows = made(
        spark,
        differential.MART,
        reaction_days=days,
        case_days=[*ended("older", "q", day=DAY), *ended("newer"), *ended("past", day=date(2026, 9, 1))],
        runs=[
            run("older", version="3.9"),
            run("newer"),
            run("q", target="qpid"),
            run("past", target="artemis"),
        ],
        cases=[case("a.x"), case("a.y")],
        signatures=SIGNATURES,
    )
    assert [(row["sample"], row["target"], row["reaction"], row["run"]) for row in rows] == [
        ("a.y", "qpid", "close 505", "q"),
        ("a.y", "rabbitmq", "answers", "newer"),
    ]
    assert {row["kind"] for row in rows} == {"case"}


def test_the_sample_of_a_vector_gets_its_id_from_the_facts(spark: SparkSession) -> None:
    inputs = {
        "runs": table(spark, "runs", [run("f", "fuzz"), run("c")]),
        "signatures": table(spark, "signatures", SIGNATURES),
        "cases": table(spark, "cases", [case("a.x")]),
    }
    members = spark.createDataFrame(
        [(7, key("f"), ANSWERS, 1, 2, 2), (key(DIALECT, "a.x"), key("c"), CLOSES, 2, 1, 2)],
        "sample_key BIGINT, run_key BIGINT, signature BIGINT, vector BIGINT, inputs BIGINT, targets BIGINT",
    )
    facts = spark.createDataFrame(
        [(7, "g:1/C01/0"), (7, "g:1/C01/0"), (9, "no")], "input_key BIGINT, input STRING"
    )
    rows = differential.MART.filled(inputs, members, facts).collect()
    assert {(row["kind"], row["reaction"], row["sample"]) for row in rows} == {
        ("fuzz", "answers", "g:1/C01/0"),
        ("case", "close 505", "a.x"),
    }


def test_coverage_grows_by_what_is_met_for_the_first_time(spark: SparkSession) -> None:
    rows = made(
        spark,
        exploration.MART,
        edge_days=[
            edge("one", DAY, 1, 0b10),
            edge("two", LATER, 1, 0b10),
            edge("two", LATER, 2, 0b101),
            edge("far", date(2026, 12, 1), 3, 0b1000),
        ],
        edges=[named_edge(1, "open"), named_edge(2, "tune", CLOSES), named_edge(3, "closed")],
        case_days=[*ended("one", day=DAY), *ended("two")],
        runs=[run("one", "fuzz"), run("two", "fuzz"), run("far", "fuzz"), run("case")],
    )
    told = {(row["dimension"], row["dt"]): (row["met"], row["new"], row["covered"]) for row in rows}
    assert told["state", DAY] == (1, 1, 1)
    assert told["state", LATER] == (2, 1, 2)
    assert told["family", LATER] == (3, 2, 3)
    assert told["reaction", LATER] == (2, 1, 2)
    assert told["cell", LATER] == (1, 0, 1)
    assert not [row for row in rows if row["dimension"] == "production"], (
        "a name that is empty is nothing met"
    )
    assert all(row["dt"] <= AS_OF for row in rows)
