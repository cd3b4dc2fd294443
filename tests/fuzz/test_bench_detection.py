"""The benchmark of detection: the same defects for the same seed, both orders, medians."""

from __future__ import annotations

import pytest

from amqpspec.fuzz.selftest.defects import KINDS, Defect
from amqpspec.fuzz.selftest.defects import defects as planted
from bench.fuzz_detection import Met, both, defects, medians, offline


def test_the_same_seed_draws_the_same_defects() -> None:
    first, again = (defects("amqp-0-9-1", ("crash", "throw"), 4, 3) for _ in range(2))
    assert first == again and [d.kind for d in first] == ["crash", "throw"] * 2
    assert first != defects("amqp-0-9-1", ("crash", "throw"), 4, 4) and set(KINDS) >= {"crash", "throw"}


def test_medians_of_both_orders() -> None:
    pairs = [(Met(True, 10, 1.0), Met(True, 100, 4.0)), (Met(True, 30, 3.0), Met(False, 90, 6.0))]
    inputs, seconds = medians("x", [*pairs, (Met(True, 20, 2.0), Met(True, 80, 5.0))])
    assert (inputs.ours, inputs.theirs, inputs.ratio) == (20, 90, 0.222)
    assert (seconds.ours, seconds.theirs, seconds.ratio) == (2.0, 5.0, 0.4)
    assert seconds.name == "x (not found: 0, cell by cell 1): median of seconds"


@pytest.mark.parametrize("by_cell_first", [False, True])
def test_both_orders_take_turns(by_cell_first: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []

    def seek(defect: Defect, budget_s: float, *, by_cell: bool) -> Met:
        asked.append(by_cell)
        return Met(True, 100 if by_cell else 1, budget_s)

    monkeypatch.setattr("bench.fuzz_detection.seek", seek)
    ours, theirs = both(next(iter(planted())), 5.0, by_cell_first=by_cell_first)
    assert (ours.inputs, theirs.inputs) == (1, 100) and asked == [by_cell_first, not by_cell_first]


def test_inputs_are_counted_without_a_target() -> None:
    row = offline("amqp-0-9-1", defects("amqp-0-9-1", ("crash",), 3, 1))
    assert (
        row.ours > 0
        and row.theirs > 0
        and row == offline("amqp-0-9-1", defects("amqp-0-9-1", ("crash",), 3, 1))
    )
