"""Baselines that are written: what was observed and nothing else, with what people said of it before."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from amqpspec.record.rows import BlockedBy, CaseRow, Facts, Outcome
from amqpspec.run.baseline import entry_of, read_baseline
from amqpspec.run.baselining import Fresh, observed_of, read_items, update, written
from amqpspec.run.likeness import is_like
from amqpspec.spec.model import Refusal, Scope
from tests.run.test_baseline import TODAY, row

FRESH = Fresh("to be verified", "to be added", date(2027, 5, 1))
SUITE = {"a", "b", "c", "d"}


def refused(name: str, scope: Scope, code: int | None, observed: str = "seen") -> CaseRow:
    refusal = Refusal(scope, code)
    return replace(row(name, Outcome.FAIL, observed), facts=Facts(refusal, ("connection.close",)))


def test_an_entry_holds_scope_and_code_and_nothing_else() -> None:
    (item,) = update([], [refused("a", Scope.CONNECTION, 501)], SUITE, FRESH, prune=False).entries
    assert item == {
        "case": "a", "verdict": "fail", "refusal": "connection 501", "reason": "to be verified",
        "link": "to be added", "expires": date(2027, 5, 1),
    }  # fmt: skip
    entry = entry_of("x", item)
    assert entry.matches(refused("a", Scope.CONNECTION, 501, "other words"), TODAY)
    assert not entry.matches(refused("a", Scope.CONNECTION, 504), TODAY)
    assert not entry.matches(refused("a", Scope.CHANNEL, 501), TODAY)
    silent = replace(row("a", Outcome.FAIL), facts=Facts(None, ("nothing",)))
    assert not entry.matches(silent, TODAY), "a wrong code that became no refusal at all"


def test_what_is_no_refusal_is_held_by_its_text() -> None:
    silent = replace(row("a", Outcome.FAIL, "nothing within 5.0 s"), facts=Facts(None, ("nothing",)))
    assert observed_of(silent) == {"refusal": "none", "observed": "nothing within * s"}
    entry = entry_of("x", update([], [silent], SUITE, FRESH, prune=False).entries[0])
    assert entry.matches(replace(silent, observed="nothing within 4.9 s"), TODAY)
    assert not entry.matches(refused("a", Scope.CHANNEL, 404, "nothing within 5.0 s"), TODAY)


@pytest.mark.parametrize(
    ("observed", "held"),
    [
        ("deliveries [b'1']", "deliveries [b'1']"),
        ("queue 'run7-0af3c1.queue.declare.q.0' is locked", "queue '*' is locked"),
        ("named amq.gen-J4sZ_x-y", "named *"),
        ("from <0.123.0> at 127.0.0.1:5672", "from * at *"),
        ("3 unacknowledged messages", "3 unacknowledged messages"),
    ],
)
def test_what_differs_from_run_to_run_is_a_star(observed: str, held: str) -> None:
    assert observed_of(row("a", Outcome.FAIL, observed)) == {"observed": held}
    assert is_like(observed, held)


OLD: list[dict[str, Any]] = [
    {"case": "a", "verdict": "fail", "refusal": "channel 404", "reason": "A", "link": "1", "expires": TODAY},
    {"case": "b", "verdict": "fail", "reason": "B", "link": "2", "expires": TODAY},
    {"case": "c", "verdict": "fail", "observed": "x", "reason": "C", "link": "3", "expires": TODAY},
    {"case": "gone", "verdict": "fail", "observed": "x", "reason": "D", "link": "4", "expires": TODAY},
    {"case": "d", "verdict": "fail", "observed": "x", "reason": "E", "link": "5", "expires": TODAY},
]
ROWS = [
    refused("a", Scope.CHANNEL, 404),
    refused("b", Scope.CHANNEL, 405),
    row("c", Outcome.PASS),
    row("e", Outcome.NONSTRICT, "new"),
    replace(row("d", Outcome.BLOCKED), blocked_by=BlockedBy.STOPPED),
]


def test_an_update_keeps_what_people_said() -> None:
    done = update(OLD, ROWS, SUITE | {"e"}, FRESH, prune=False)
    assert (done.kept, done.changed, done.added, done.stale) == (2, 1, 1, 2)
    by_case = {item["case"]: item for item in done.entries}
    assert by_case["a"] == OLD[0] and by_case["d"] == OLD[4]
    assert by_case["b"] == {**OLD[1], "refusal": "channel 405"}
    assert by_case["e"]["reason"] == "to be verified"
    assert len(done.entries) == 6


def test_pruning_drops_what_is_gone_and_no_case_that_was_not_asked_for() -> None:
    done = update(OLD, ROWS, SUITE | {"e"}, FRESH, prune=True)
    assert {item["case"] for item in done.entries} == {"a", "b", "d", "e"}
    flaky = [{**OLD[2], "flaky": True}]
    assert update(flaky, ROWS, SUITE, FRESH, prune=True).entries[0] == flaky[0]
    assert [item["case"] for item in update(OLD, [], SUITE, FRESH, prune=True).entries] == [
        "a",
        "b",
        "c",
        "d",
    ]


def test_files_keep_their_first_comment_and_have_no_aliases(tmp_path: Path) -> None:
    path = tmp_path / "b.yaml"
    path.write_text("# what this is\n# and why\ntarget: t\nentries: []\n")
    comment, document = read_items(path)
    done = update(
        document["entries"], [refused(n, Scope.CHANNEL, 404) for n in "abc"], SUITE, FRESH, prune=False
    )
    path.write_text(written(comment, {**document, "entries": done.entries}))
    assert path.read_text().startswith("# what this is\n# and why\ntarget: t\n")
    assert "&id" not in path.read_text() and "*id" not in path.read_text()
    assert len(read_baseline(path).entries) == 3


def test_every_baseline_that_comes_along_holds_something() -> None:
    folder = Path(__file__).parents[2] / "suites/amqpspec/suites/baselines"
    files = sorted(folder.glob("*.yaml"))
    assert len(files) >= 9
    for file in files:
        assert all(entry.refusal or entry.observed for entry in read_baseline(file).entries)
        assert "to be verified" not in yaml.safe_dump(yaml.safe_load(file.read_text()))


# --- patterns


@given(st.lists(st.text("ab", max_size=3), min_size=1, max_size=5), st.text("abc", max_size=12))
def test_a_pattern_is_like_the_regular_expression_that_it_stands_for(pieces: list[str], text: str) -> None:
    import re

    pattern = "*".join(pieces)
    expected = re.fullmatch(".*".join(map(re.escape, pieces)), text) is not None
    assert is_like(text, pattern) is expected


def test_a_hostile_pattern_takes_no_time() -> None:
    started = time.monotonic()
    assert not is_like("a" * 1_000_000, "*a" * 2_000 + "*b*")
    assert time.monotonic() - started < 2
