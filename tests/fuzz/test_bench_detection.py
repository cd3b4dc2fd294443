"""The benchmark of detection: the same defects for the same seed, both orders, medians."""

from __future__ import annotations

from amqpspec.fuzz.selftest.defects import KINDS
from bench.fuzz_detection import Met, defects, medians, offline


def test_the_same_seed_draws_the_same_defects() -> None:
    first, again = (defects("amqp-0-9-1", ("crash", "throw"), 4, 3) for _ in range(2))
    assert first == again and [d.kind for d in first] == ["crash", "throw"] * 2
    assert first != defects("amqp-0-9-1", ("crash", "throw"), 4, 4) and set(KINDS) >= {"crash", "throw"}


def test_medians_of_both_orders() -> None:
    pairs = [(Met(True, 10, 1.0), Met(True, 100, 4.0)), (Met(True, 30, 3.0), Met(False, 90, 6.0))]
    inputs, seconds = medians("x", [*pairs, (Met(True, 20, 2.0), Met(True, 80, 5.0))])
    assert (inputs.ours, inputs.theirs, inputs.ratio) == (20, 90, 0.222)
    assert (seconds.ours, seconds.theirs, seconds.ratio) == (2.0, 5.0, 0.4)


def test_inputs_are_counted_without_a_target() -> None:
    row = offline("amqp-0-9-1", defects("amqp-0-9-1", ("crash",), 3, 1))
    assert (
        row.ours > 0
        and row.theirs > 0
        and row == offline("amqp-0-9-1", defects("amqp-0-9-1", ("crash",), 3, 1))
    )
