"""``amqpspec query`` over small marts."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from amqpspec.cli.main import cli

VERDICTS = [
    ("a", "1", "one", "pass", "", True), ("a", "1", "two", "fail", "known", True), ("a", "0", "one", "fail", "", False),
    ("b", "9", "one", "fail", "unexpected", True), ("b", "9", "two", "fail", "known", True),
    ("b", "9", "three", "blocked", "", True), ("a", "1", "three", "pass", "", True),
]  # fmt: skip


@pytest.fixture
def marts(tmp_path: Path) -> Path:
    """Three marts as a build leaves them."""
    names = ("target", "target_version", "case", "verdict", "baseline", "newest")
    rows = [{**dict(zip(names, row, strict=True)), "dialect": "d", "level": "MUST"} for row in VERDICTS]
    _write(tmp_path, "verdicts", rows)
    flaky: dict[str, object] = {
        "target": "a",
        "target_version": "1",
        "dialect": "d",
        "case": "one",
        "flips": 2,
    }
    _write(tmp_path, "flakiness", [flaky, {**flaky, "case": "two", "flips": 0}])
    worse: dict[str, object] = {"target": "b", "dialect": "d", "case": "two", "direction": "regressed"}
    _write(tmp_path, "regressions", [worse, {**worse, "case": "one", "direction": "fixed"}])
    marts: dict[str, object] = {name: {} for name in ("verdicts", "flakiness", "regressions")}
    (tmp_path / "manifest.json").write_text(json.dumps({"marts": marts}))
    return tmp_path


def _write(folder: Path, name: str, rows: list[dict[str, object]]) -> None:
    (folder / name).mkdir()
    pq.write_table(pa.Table.from_pylist(rows), folder / name / "part-0000.parquet")


def ask(marts: Path, *terms: str) -> Result:
    return CliRunner().invoke(cli, ["query", *terms, "--marts", str(marts)])


def found(marts: Path, *terms: str) -> set[tuple[str, str, str]]:
    rows = json.loads(ask(marts, "--format", "json", *terms).stdout)
    return {(row["target"], row["target_version"], row["case"]) for row in rows}


def test_flags(marts: Path) -> None:
    assert found(marts, "is:different") == {("a", "1", "one"), ("b", "9", "one")}
    assert found(marts, "is:flaky") == {("a", "1", "one")}
    assert found(marts, "is:regressed") == {("b", "9", "two")}
    assert found(marts, "is:known") == {("a", "1", "two"), ("b", "9", "two")}
    assert found(marts, "is:deviation", "-is:known") == {("b", "9", "one")}
    assert len(found(marts, "is:green")) == 2


def test_older_versions_are_asked_for(marts: Path) -> None:
    assert found(marts, "case:one", "target:a") == {("a", "1", "one")}
    assert found(marts, "case:one", "target:a", "--all-versions") == {("a", "1", "one"), ("a", "0", "one")}


def test_formats_agree(marts: Path) -> None:
    table = ask(marts, "status:fail")
    assert table.exit_code == 0
    assert table.stdout.splitlines()[0].split() == [
        "target", "target_version", "dialect", "case", "level", "verdict", "baseline",
    ]  # fmt: skip
    rows = list(csv.DictReader(io.StringIO(ask(marts, "status:fail", "--format", "csv").stdout)))
    assert {(row["target"], row["target_version"], row["case"]) for row in rows} == found(
        marts, "status:fail"
    )
    assert len(table.stdout.splitlines()) == len(rows) + 1


def test_other_marts(marts: Path) -> None:
    result = ask(marts, "--mart", "flakiness", "flips:>1")
    assert (result.exit_code, result.stdout.count("\n")) == (0, 2)


def test_no_answer_has_its_own_exit_code(marts: Path) -> None:
    result = ask(marts, "target:none")
    assert (result.exit_code, result.stdout) == (1, "")


def test_errors_point_at_the_place(marts: Path) -> None:
    result = ask(marts, "target:a", "stauts:fail")
    assert result.exit_code == 2
    assert result.stderr.splitlines()[1].startswith(" " * 9 + "^ unknown key 'stauts', did you mean status?")


@pytest.mark.parametrize("mart", ["", "other"])
def test_no_marts_are_one_line(tmp_path: Path, marts: Path, mart: str) -> None:
    result = ask(marts if mart else tmp_path / "nowhere", "x", "--mart", mart or "verdicts")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)


def test_a_torn_mart_is_named(marts: Path) -> None:
    (marts / "verdicts" / "part-0000.parquet").write_bytes(b"PAR1 torn")
    result = ask(marts, "x")
    assert (result.exit_code, "part-0000.parquet" in result.stderr) == (2, True)
