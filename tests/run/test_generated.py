"""What a seed decides stays so in another process."""

from __future__ import annotations

import importlib
from pathlib import Path

import hypothesis
import pytest
from hypothesis import Phase

from amqpspec.run.generated import CHOICES, seeded_settings

HISTORIES = 300


def drawn(seed: int) -> list[tuple[int, int]]:
    """The pairs of numbers that a seed draws."""
    pairs: list[tuple[int, int]] = []

    @hypothesis.seed(seed)
    @seeded_settings(HISTORIES, 1, (Phase.generate,))
    @hypothesis.given(CHOICES, CHOICES)
    def draw(first: int, second: int) -> None:
        pairs.append((first, second))

    draw()
    return pairs


def test_a_seed_draws_the_same_numbers_whatever_modules_are_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hypothesis prefers numbers that it finds in the source text of modules."""
    before = drawn(1)
    (tmp_path / "of_a_user.py").write_text(f"NUMBERS = {list(range(1_000, 1_200))}\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("of_a_user")
    assert drawn(1) == before != drawn(2)


def test_numbers_begin_at_0_and_reach_far_beyond_the_options_of_a_step() -> None:
    numbers = [number for pair in drawn(1) for number in pair]
    assert min(numbers) == 0 and 9_000 < max(numbers) < 10_000
    assert len(set(numbers)) > 200
