"""The build: from a lake to a folder of marts, as a whole or not at all, the same each time."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

from amqpspec.reports.marts.schema import SCHEMA_FILE
from amqpspec.reports.pipeline import build as building
from amqpspec.reports.pipeline.build import build
from amqpspec.reports.pipeline.export import export
from amqpspec.reports.pipeline.grain import GrainError
from amqpspec.reports.pipeline.lake import open_lake
from amqpspec.reports.pipeline.rollups.store import Store, open_store
from amqpspec.reports.pipeline.schema import LakeError
from amqpspec.reports.pipeline.tables import (
    exploration,
    findings,
    verdicts,
)
from amqpspec.reports.pipeline.tables.mart import HISTORIES, Mart
from amqpspec.reports.pipeline.tables.registry import MARTS, SHARED, Shared
from amqpspec.reports.pipeline.tasks import Tasks


def test_every_mart_is_there_in_three_forms(marts: Path) -> None:
    manifest = json.loads((marts / "manifest.json").read_text())
    assert manifest["as_of"] == "2026-11-04" and manifest["lake"]["facts"] == 48_000
    assert set(manifest["marts"]) == {mart.name for mart in MARTS}
    for mart in MARTS:
        told, folder = manifest["marts"][mart.name], marts / mart.name
        table = pq.read_table(folder / "part-0000.parquet", partitioning=None)
        objects = json.loads((folder / f"{mart.name}.json").read_text())
        with (folder / f"{mart.name}.csv").open(newline="") as file:
            lines = list(csv.reader(file))
        assert table.num_rows == len(objects) == len(lines) - 1 == told["rows"] > 0, mart.name
        assert table.schema.names == lines[0] == told["columns"] == list(objects[0])
        grains = table.select(list(mart.grain)).to_pylist()
        assert len({tuple(row.values()) for row in grains}) == len(grains)
        assert {path.name for path in folder.iterdir()} == {
            "part-0000.parquet", f"{mart.name}.csv", f"{mart.name}.json",
        }  # fmt: skip
    assert {path.name for path in marts.iterdir()} == {"manifest.json", *manifest["marts"]}


def test_rows_keep_to_the_schema(marts: Path) -> None:
    schema = json.loads(SCHEMA_FILE.read_text("utf-8"))
    for mart in MARTS:
        one = {"$ref": f"#/$defs/{mart.name}", "$defs": schema["$defs"]}
        rows = json.loads((marts / mart.name / f"{mart.name}.json").read_text("utf-8"))
        validator = jsonschema.Draft202012Validator(one)
        assert rows and not [error.message for row in rows for error in validator.iter_errors(row)]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda row: row.pop("level"),
        lambda row: row.update(case=None),
        lambda row: row.update(attempts="4"),
        lambda row: row.update(verdict_code=200),
        lambda row: row.update(newest=1),
        lambda row: row.update(at="2026-11-04 02:00:00"),
        lambda row: row.update(weather="fine"),
    ],
)
def test_a_spoilt_row_does_not(marts: Path, spoil: Callable[[dict[str, Any]], object]) -> None:
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA_FILE.read_text("utf-8")))
    (row, *_) = json.loads((marts / "verdicts/verdicts.json").read_text("utf-8"))
    validator.validate({"verdicts": [row]})
    spoil(row)
    assert not validator.is_valid({"verdicts": [row]})


def test_what_was_planted_is_found(marts: Path) -> None:
    def rows(name: str) -> list[dict[str, str]]:
        found: list[dict[str, str]] = json.loads((marts / name / f"{name}.json").read_text())
        return found

    assert {row["target"] for row in rows("verdicts")} == {
        "rabbitmq", "garagemq", "qpid-broker-j", "reference", "artemis", "qpid-proton",
    }  # fmt: skip
    assert {row["change"] for row in rows("regressions")} <= {"target-version", "suite-version", "both"}
    vectors = rows("differential")
    assert all(row["sample"] for row in vectors), "each vector has a sample with a name"
    assert {row["kind"] for row in vectors} == {"case", "fuzz"}
    by_vector: dict[str, set[str]] = {}
    for row in vectors:
        by_vector.setdefault(row["dialect"] + row["kind"] + row["vector"], set()).add(row["reaction"])
    assert all(len(reactions - {"varies"}) > 1 for reactions in by_vector.values())
    last = [row for row in rows("exploration") if row["dimension"] == "cell" and row["dt"] == "2026-11-04"]
    assert len(last) == 8 and all(int(row["covered"]) >= int(row["met"]) > 250 for row in last)


def test_a_second_build_reads_no_facts_again_and_says_the_same(
    spark: SparkSession, lake: Path, marts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "MARTS", (verdicts.MART,))
    made = build(spark, open_lake(lake), tmp_path / "marts")
    assert all(not rollup.rewritten for rollup in made.rollups.values())
    for name in ("verdicts.json", "verdicts.csv"):
        assert (tmp_path / "marts/verdicts" / name).read_bytes() == (marts / "verdicts" / name).read_bytes()


@pytest.mark.parametrize("mart", MARTS, ids=lambda mart: mart.name)
def test_neither_one_task_nor_what_is_made_once_for_several_marts_changes_one(
    spark: SparkSession, lake: Path, marts: Path, mart: Mart
) -> None:
    with open_store(open_lake(lake)) as store:
        alone = mart.make(_tables(spark, store, mart), date(2026, 11, 4))
        without = "sample" if mart.fill else ""  # which the second step puts in
        names = [name for name, kind in alone.dtypes if kind != "timestamp" and name != without]
        rows = [tuple(row) for row in alone.select(*names).collect()]
    made = pq.read_table(marts / mart.name / "part-0000.parquet", partitioning=None).select(names)
    assert Counter(tuple(row.values()) for row in made.to_pylist()) == Counter(rows)


def _tables(spark: SparkSession, store: Store, mart: Mart) -> dict[str, DataFrame]:
    return building.Reader(Tasks(spark, spark), store, Path()).read(mart.reads)


def test_the_first_mart_that_fails_is_the_one_that_is_told(
    spark: SparkSession, lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(reader: object, mart: Mart, as_of: date, folder: Path) -> None:
        raise GrainError(f"{mart.name}: broken")

    monkeypatch.setattr(building, "MARTS", (verdicts.MART, exploration.MART))
    monkeypatch.setattr(building, "write_mart", write)
    with pytest.raises(GrainError, match="verdicts: broken"):
        build(spark, lake, tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_a_table_that_marts_wait_for_fails_for_all_of_them(
    spark: SparkSession, lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def table(inputs: object, as_of: date) -> DataFrame:
        raise GrainError("histories: broken")

    broken = {HISTORIES: Shared((), table)}
    monkeypatch.setattr(building, "SHARED", {**SHARED, **broken})
    with pytest.raises(GrainError, match="histories: broken"):
        build(spark, lake, tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_as_of_an_earlier_day_is_as_if_the_later_ones_had_not_been(
    spark: SparkSession, lake: Path, marts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "MARTS", (exploration.MART, findings.MART))
    build(spark, lake, tmp_path / "then", date(2026, 11, 1))
    days = json.loads((tmp_path / "then/exploration/exploration.json").read_text())
    assert {row["dt"] for row in days} == {"2026-11-01"}
    seen = json.loads((tmp_path / "then/findings/findings.json").read_text())
    assert seen and max(row["last_seen"] for row in seen) < "2026-11-02"


def test_a_build_that_fails_leaves_the_old_marts(
    spark: SparkSession, lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "marts"
    out.mkdir()
    (out / "manifest.json").write_text("{}")

    def fails(*arguments: object) -> int:
        raise GrainError("verdicts: broken")

    monkeypatch.setattr(building, "export", fails)
    with pytest.raises(GrainError, match="broken"):
        build(spark, lake, out)
    assert [path.name for path in tmp_path.iterdir()] == ["marts"]
    assert (out / "manifest.json").read_text() == "{}"


def test_a_folder_that_holds_something_else_is_not_replaced(
    spark: SparkSession, lake: Path, tmp_path: Path
) -> None:
    (tmp_path / "thesis.txt").write_text("three years")
    with pytest.raises(LakeError, match=r"expected marts or an empty folder, actual: files without"):
        build(spark, lake, tmp_path)
    with pytest.raises(LakeError, match=r"expected a folder for marts, actual: a file"):
        build(spark, lake, tmp_path / "thesis.txt")
    assert (tmp_path / "thesis.txt").read_text() == "three years"


def test_a_kill_between_the_two_renames_is_mended(tmp_path: Path) -> None:
    (tmp_path / ".marts.old").mkdir()
    (tmp_path / ".marts.old/manifest.json").write_text("{}")
    building.PLACE.check(tmp_path / "marts")
    assert (tmp_path / "marts/manifest.json").is_file() and not (tmp_path / ".marts.old").exists()


def test_an_export_refuses_two_rows_of_one_key(tmp_path: Path) -> None:
    def folder(name: str, keys: list[str | None]) -> Path:
        (tmp_path / name).mkdir()
        pq.write_table(pa.table({"name": keys, "n": [1] * len(keys)}), tmp_path / name / "a.parquet")
        return tmp_path / name

    with pytest.raises(GrainError, match=r"twice: expected one row for each name, .*name='b'"):
        export(folder("twice", ["a", "b", "b"]), "twice", ("name",))
    with pytest.raises(GrainError, match=r"name=None"):
        export(folder("null", ["a", None]), "null", ("name",))
    assert export(folder("whole", ["a", "b"]), "whole", ("name",)) == 2
    assert json.loads((tmp_path / "whole/whole.json").read_text()) == [
        {"name": "a", "n": 1},
        {"name": "b", "n": 1},
    ]
