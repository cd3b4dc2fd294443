"""Hooks of targets.yaml: start before, stop after, and one line if they fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from amqpspec.target.config import Target
from amqpspec.target.live import TargetError, live
from amqpspec.target.url import parse_url


def target(**hooks: str) -> Target:
    return Target("hooked", url=parse_url("amqp://127.0.0.1:1"), hooks=hooks)


def test_start_runs_before_and_stop_after(tmp_path: Path) -> None:
    said = tmp_path / "said"
    with live(target(start=f"echo start >> {said}", stop=f"echo stop >> {said}")) as running:
        assert said.read_text() == "start\n"
        assert running.restart is None
    assert said.read_text() == "start\nstop\n"


def test_restart_is_what_the_hook_does(tmp_path: Path) -> None:
    said = tmp_path / "said"
    with live(target(restart=f"echo restart >> {said}")) as running:
        assert running.restart is not None
        running.restart()
    assert said.read_text() == "restart\n"


def test_a_failing_hook_is_one_line() -> None:
    with pytest.raises(TargetError, match=r"hook start: exit code 3, expected 0: .*: broken"):
        live(target(start="echo broken >&2; exit 3")).__enter__()
