"""A run in shards: the parts are all of it, and merged they are one run."""

from __future__ import annotations

from pathlib import Path

import pytest

from amqpspec.record.journal import read_cases
from amqpspec.run.case import load_suite
from amqpspec.run.select import SelectionError
from amqpspec.run.shard import Shard
from tests.cli.verbs import amqpspec, document, error

DIALECT = "amqp-0-9-1"
CASES = list(load_suite(DIALECT).values())
MODULE = "channel"


@pytest.mark.parametrize("of", [1, 2, 7])
@pytest.mark.parametrize("durations_ms", [{}, {case.id: 1 + i * i for i, case in enumerate(CASES)}])
def test_all_parts_together_are_all_cases_once(of: int, durations_ms: dict[str, float]) -> None:
    parts = [Shard(number, of).part(CASES, durations_ms) for number in range(1, of + 1)]
    assert sorted(case.id for part in parts for case in part) == sorted(case.id for case in CASES)
    order = {case.id: place for place, case in enumerate(CASES)}
    assert all(part == sorted(part, key=lambda case: order[case.id]) for part in parts)
    loads = [sum(durations_ms.get(case.id, 1) for case in part) for part in parts]
    longest = max(durations_ms.values(), default=1)
    assert max(loads) - min(loads) <= longest


def test_long_cases_do_not_meet_in_one_part() -> None:
    slow = {CASES[0].id: 1000.0, CASES[2].id: 1000.0, CASES[4].id: 1000.0} | {CASES[1].id: 1.0}
    for number in (1, 2, 3):
        part = {case.id for case in Shard(number, 3).part(CASES[:5], slow)}
        assert sum(slow.get(id, 0) == 1000 for id in part) == 1


@pytest.mark.parametrize("text", ["", "0/2", "3/2", "1/0", "1", "1/2/3", "-1/2", "1/99999", "a/b"])
def test_what_is_no_shard(text: str) -> None:
    with pytest.raises(SelectionError, match="expected a shard like 2/4"):
        Shard.parse(text)


def test_an_empty_part_is_an_error() -> None:
    with pytest.raises(SelectionError, match=r"3/3.* 2 in all"):
        Shard(3, 3).part(CASES[:2], {})


def shard(folder: Path, part: str, *more: str | Path) -> Path:
    out = folder / part.replace("/", "-of-")
    made = amqpspec("run", "reference", MODULE, "--shard", part, "--out", out, "-q", *more)
    assert made.exit_code in (0, 1), made.output
    return out


def test_shards_become_one_run(tmp_path: Path) -> None:
    fault = ("--fault", "not-refused:channel/open/state")
    whole, out = tmp_path / "whole", tmp_path / "merged"
    amqpspec("run", "reference", MODULE, *fault, "--out", whole, "-q", code=1)
    parts = [shard(tmp_path, f"{n}/2", *fault, "--durations", whole) for n in (1, 2)]
    amqpspec("merge", *parts, "--out", out, code=1)
    merged, expected = (
        {case["id"]: case["verdict"] for case in document(folder)["cases"]} for folder in (out, whole)
    )
    assert merged == expected and len(merged) > 5
    assert all((out / row.evidence).is_file() for row in read_cases(out) if row.evidence)
    assert (out / "matrix.html").is_file() and (out / "junit.xml").is_file()


def test_what_cannot_be_merged_is_one_line(tmp_path: Path) -> None:
    first, out = shard(tmp_path, "1/2"), tmp_path / "out"
    assert "expected in one of the runs" in error("merge", first, first, "--out", out, code=2)
    assert "nothing" in error("merge", first, tmp_path / "nothing", "--out", out, code=2)
    assert "expected a new or empty folder" in error("merge", first, "--out", first, code=2)
    wire = tmp_path / "wire"
    amqpspec("run", "reference:amqp-wire-9-1", "channels", "--out", wire, "-q", code=0)
    assert "expected a run of" in error("merge", first, wire, "--out", out, code=2)
    assert not out.exists()


def test_durations_go_with_a_shard(tmp_path: Path) -> None:
    assert "--shard" in error("run", "reference", "--durations", tmp_path, code=2)
