"""Work side by side in processes: its order, its errors, and that no process is left over."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from amqpspec.fuzz.oracles.process import gauge
from amqpspec.fuzz.selftest.beside import side_by_side
from tests.waiting import until

LONG_S = 600.0
Work = Callable[[], int]


def meets(folder: Path, number: int, others: int) -> int:
    """Ends only when so many are in progress at once."""
    (folder / str(number)).touch()
    until(lambda: len(list(folder.iterdir())) >= others, "the others are in progress")
    return number


def counted(folder: Path, number: int) -> int:
    """How many are in progress, this one included."""
    mine = folder / str(number)
    mine.touch()
    found = len(list(folder.iterdir()))
    mine.unlink()
    return found


def stays(folder: Path) -> int:
    """Says which process it is, and never ends."""
    partial_file = folder / "partial"
    partial_file.write_text(str(os.getpid()))
    partial_file.rename(folder / "pid")
    time.sleep(LONG_S)
    return 0


def fails(folder: Path) -> int:
    """Raises once the one that stays is in progress."""
    until((folder / "pid").exists, "the other is in progress")
    raise LookupError("nothing there")


def gone(folder: Path) -> None:
    pid = int((folder / "pid").read_text())
    until(lambda: not gauge(pid).alive, "the process is gone")


def test_work_is_done_at_once_and_given_in_order(tmp_path: Path) -> None:
    work: list[Work] = [partial(meets, tmp_path, number, 3) for number in (0, 1, 2)]
    assert list(side_by_side(work, 3, LONG_S)) == [0, 1, 2]


def test_not_more_than_so_many_are_under_way(tmp_path: Path) -> None:
    work: list[Work] = [partial(counted, tmp_path, number) for number in range(6)]
    assert max(side_by_side(work, 2, LONG_S)) <= 2
    assert set(side_by_side(work, 1, LONG_S)) == {1}


def test_what_one_raises_is_raised_and_the_others_end(tmp_path: Path) -> None:
    with pytest.raises(LookupError, match="nothing there"):
        list(side_by_side([partial(fails, tmp_path), partial(stays, tmp_path)], 2, LONG_S))
    gone(tmp_path)


def test_an_end_before_the_last_result_leaves_no_process(tmp_path: Path) -> None:
    results = side_by_side([partial(meets, tmp_path, 1, 2), partial(stays, tmp_path)], 2, LONG_S)
    assert next(results) == 1
    results.close()
    gone(tmp_path)


def test_one_that_dies_is_an_error() -> None:
    with pytest.raises(OSError, match="its process ended with 3"):
        list(side_by_side([lambda: os._exit(3)], 1, LONG_S))


def test_one_that_takes_too_long_is_an_error_and_ends(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="in time"):
        list(side_by_side([partial(stays, tmp_path), partial(stays, tmp_path)], 2, 0.0))
