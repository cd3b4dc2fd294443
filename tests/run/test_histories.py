"""Long histories of AMQP 1.0: walks repeat, faults end them, their ends are shrunk and reported; limits shape them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import BudgetSpent, Patience
from amqpspec.record.rows import CaseRow, Outcome
from amqpspec.run.case import Case, load_suite
from amqpspec.run.execute import World, execute
from amqpspec.run.verdict import Verdict
from amqpspec.suites import walking
from amqpspec.suites.amqp_1_0 import _histories_search as search
from amqpspec.suites.amqp_1_0._histories_model import Model
from amqpspec.suites.amqp_1_0._histories_steps import OPENING, Kind, Menu, Powers, Step, Style
from amqpspec.suites.amqp_1_0._histories_walk import Walk
from amqpspec.suites.histories import Mismatch
from amqpspec.target.config import Target
from amqpspec.target.live import live

MIX = "send send credit credit settle attach close suspend reattach look begin end"
UNSETTLED = "send send send credit credit attach"
"""Whatever hypothesis chooses of these, several deliveries are soon unsettled at once."""
SHORT = Kind(verbs=MIX, seed=1)


@pytest.fixture(autouse=True)
def few_and_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walking, "_STAGES", ((10, 25),))


def walk(folder: Path, *faults: str, kind: Kind = SHORT) -> CaseRow:
    def body(peer: Peer) -> Verdict:
        """Walks."""
        return search.walked(peer, kind)

    case = Case("histories.test", "Walks", ("links/flow/credit-formula",), body, "amqp-1-0", "histories")
    with live(Target("reference", "amqp-1-0", broker="reference"), faults=faults) as target:
        return execute(case, World(target, folder, "t", Patience(reply_s=1.5, quiet_s=0.05, ending_s=1.0)))


def notes(folder: Path, start: str) -> list[str]:
    lines = (folder / "evidence" / "histories.test.jsonl").read_text().splitlines()
    told = [line["text"] for line in map(json.loads, lines) if line["kind"] == "note"]
    return [text for text in told if text.startswith(start)]


# --- walks


def test_the_same_seed_walks_the_same_steps(tmp_path: Path) -> None:
    first, second = walk(tmp_path / "1"), walk(tmp_path / "2")
    assert first.verdict is second.verdict is Outcome.PASS, first.observed
    assert first.observed == second.observed
    steps = notes(tmp_path / "1", "step ")
    assert steps == notes(tmp_path / "2", "step ") and len(steps) > 40


def test_another_seed_walks_other_steps(tmp_path: Path) -> None:
    walk(tmp_path / "1")
    walk(tmp_path / "2", kind=Kind(verbs=MIX, seed=2))
    assert notes(tmp_path / "1", "step ") != notes(tmp_path / "2", "step ")


@pytest.mark.parametrize(
    ("fault", "verbs", "style", "told"),
    [
        ("credit-one-too-many", MIX, Style(), "the credit, actual one more"),
        ("delivery-tags-repeat", UNSETTLED, Style(), "a delivery-tag that no unsettled delivery has"),
        ("closing-detach-answered-without-closed", MIX, Style(closing=True), "a closing detach"),
    ],
)
def test_a_mismatch_is_told_in_few_steps(
    tmp_path: Path, fault: str, verbs: str, style: Style, told: str
) -> None:
    row = walk(tmp_path, fault, kind=Kind(verbs=verbs, seed=1, style=style))
    assert row.verdict is Outcome.FAIL
    assert told in row.observed and "seed 1" in row.observed
    assert " 10. " not in row.observed
    assert notes(tmp_path, "the smallest walk that was found; walks of seed 1")
    assert notes(tmp_path, "mismatch: ")


def test_a_mismatch_that_does_not_come_again_is_inconclusive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walking.Search, "again", lambda self, steps, why: None)
    row = walk(tmp_path, "credit-one-too-many")
    assert row.verdict is Outcome.INCONCLUSIVE
    assert "once, and not again: after 1. begin channel 0" in row.observed


@pytest.mark.parametrize(
    ("error", "verdict"),
    [(RuntimeError("ours"), Outcome.ERROR), (BudgetSpent(), Outcome.INCONCLUSIVE)],
)
def test_what_is_no_mismatch_ends_the_search_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, verdict: Outcome
) -> None:
    taken = []

    def fail(self: Walk, step: Step) -> None:
        taken.append(step)
        raise error

    monkeypatch.setattr(Walk, "take", fail)
    assert walk(tmp_path).verdict is verdict
    assert len(taken) == 1


def test_all_cases_are_in_the_suite() -> None:
    names = {id for id in load_suite("amqp-1-0") if id.startswith("histories.")}
    parts = ("sessions", "links", "credit", "transfers", "settlement", "reattach")
    assert names == {f"histories.{part}" for part in parts}


# --- what can come next


def menu(style: Style | None = None, **powers: Any) -> Menu:
    return Menu(Model(), Powers(**{"channel_max": 10, "handle_max": 10, **powers}), style or Style())


def subjects(steps: list[Step]) -> set[int]:
    return {step.subject for step in steps}


@pytest.mark.parametrize(("channel_max", "channels"), [(0, {0}), (1, {0, 1}), (10, {0, 1, 3})])
def test_channel_max_bounds_the_sessions(channel_max: int, channels: set[int]) -> None:
    assert subjects(menu(channel_max=channel_max).options("begin")) == channels


def test_windows_are_small_where_they_are_the_matter() -> None:
    assert {step.values[1] for step in menu().options("begin")} == {"open"}
    assert {step.values[1] for step in menu(Style(windows=True)).options("begin")} == {1, 2, 5}


def test_nothing_but_begin_before_there_is_a_session() -> None:
    offered = {verb for verb in (*MIX.split(), "start", "finish", "abort") if menu().options(verb)}
    assert offered == {"begin"}


def test_steps_whose_ground_was_left_out_do_not_fit() -> None:
    assert menu().fits(OPENING[0])
    assert not menu().fits(OPENING[1])
    assert not menu().fits(Step("credit", 1, (3,)))


def test_a_step_is_told_in_words() -> None:
    assert str(OPENING[1]) == "attach link 0 on channel 0 as sender of node A, handle 0, unsettled"
    assert str(Step("send", 2, (4, "mixed", 3))) == "send 4 mixed deliveries on link 2, in 3 transfers each"


def test_a_mismatch_says_both_sides() -> None:
    assert str(Mismatch("credit 3", "credit 4")) == "expected credit 3, actual credit 4"
