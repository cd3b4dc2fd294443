"""Synthetic observations: the same seed gives the same rows in batches of any size, of realistic cardinalities."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from amqpspec.record.observation import key
from amqpspec.reports.pipeline.lake import open_lake
from amqpspec.reports.pipeline.schema import GRAIN, check_columns, fitted
from bench.synthetic.lake import write_lake
from bench.synthetic.observations import LINES, Nights, RunOf

NIGHTS = Nights(rows_a_day=40_000)
DAY = date(2026, 11, 1)


def table(run: RunOf, nights: Nights = NIGHTS, batch_rows: int = 1 << 18) -> pa.Table:
    return pa.Table.from_batches(nights.batches(run, batch_rows))


def campaigns(nights: Nights = NIGHTS, day: date = DAY) -> list[RunOf]:
    return [run for run in nights.runs(day) if run.kind == "fuzz"]


def test_a_night_has_as_many_rows_as_asked_for() -> None:
    for rows in (1, 9, 801, 40_000):
        nights = replace(NIGHTS, rows_a_day=rows)
        assert sum(run.rows for run in nights.runs(DAY)) in (rows, len(LINES)), rows


@pytest.mark.parametrize("kind", ["case", "fuzz"])
def test_the_same_seed_gives_the_same_rows_in_batches_of_any_size(kind: str) -> None:
    run = next(run for run in NIGHTS.runs(DAY) if run.kind == kind)
    whole = table(run)
    assert whole.equals(table(run, batch_rows=97).combine_chunks())
    check_columns("synthetic", whole.schema)
    if kind == "fuzz":
        other = table(run, replace(NIGHTS, seed=2))
        assert not whole.column("input_key").equals(other.column("input_key"))


def test_keys_belong_to_their_names() -> None:
    for row in [table(run).slice(1, 2).to_pylist() for run in NIGHTS.runs(DAY)]:
        for one in row:
            assert one["run_key"] == key(one["run"])
            assert one["case_key"] == key(one["dialect"], one["case"])
            assert one["signature"] == key(one["reaction"])
            assert one["crash_key"] == (key(one["crash"]) if one.get("crash") else 0)


def test_targets_of_a_dialect_get_the_same_inputs_and_react_alike_mostly() -> None:
    first, second = (table(run) for run in campaigns()[:2])
    assert first.column("input_key").equals(second.column("input_key"))
    same = pc.mean(pc.equal(first.column("signature"), second.column("signature"))).as_py()
    assert 0.9 < same < 0.99
    assert len(set(first.column("input").to_pylist())) == len(set(first.column("input_key").to_pylist()))


def test_families_are_the_same_every_night_and_random_inputs_are_not() -> None:
    nights = replace(NIGHTS, days=2)
    (first, second) = (
        set(table(campaigns(nights, day)[0]).column("input").to_pylist()) for day in nights.dates()
    )
    shared = len(first & second) / len(first)
    assert 0.2 < shared < 0.3


def test_reactions_are_skewed_and_findings_few() -> None:
    rows = table(campaigns(replace(NIGHTS, rows_a_day=400_000))[0])
    counted = sorted(pc.value_counts(rows.column("signature")).field("counts").to_pylist(), reverse=True)
    assert len(counted) > 50 and sum(counted[:5]) > 0.15 * rows.num_rows
    blamed = pc.sum(pc.not_equal(rows.column("crash_key"), 0)).as_py()
    assert 0 < blamed < 0.002 * rows.num_rows
    assert 0.03 < rows.column("latency_us").null_count / rows.num_rows < 0.07


def test_a_synthetic_lake_is_a_lake(tmp_path: Path) -> None:
    nights = Nights(rows_a_day=2000, days=2)
    assert write_lake(tmp_path, nights) == 4000
    lake = open_lake(tmp_path)
    assert list(lake.days()) == ["2026-11-01", "2026-11-02"]
    assert sum(part.entry.rows for part in lake.parts(kind="fuzz")) > 3000
    for name, grain in GRAIN.items():
        path = lake.dimension_file(name)
        assert path is not None
        rows = pq.read_table(path, partitioning=None).select(list(grain)).to_pylist()
        assert rows and len({tuple(row.values()) for row in rows}) == len(rows), name
    facts = lake.parts(kind="case")[0]
    read = pq.read_table(facts.path, partitioning=None).combine_chunks().to_batches()[0]
    assert fitted(read).num_rows == facts.entry.rows
