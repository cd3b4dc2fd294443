"""Targets that do not survive their cases: one at a time, looked at after each, or restarted after each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from amqpspec.peer.methods.peer import Peer
from amqpspec.record.journal import read_journal
from amqpspec.record.rows import Outcome
from amqpspec.run.engine import Settings
from amqpspec.run.verdict import Verdict
from tests.run.test_engine import Mortal, killer, mortal_world
from tests.run.worlds import Counter, make, passes, reference_world, run_cases

ONE = Settings(connections=1)
FRESH = Settings(fresh=True)


def fatal_at_leave(mortal: Mortal) -> Callable[[Peer], Verdict]:
    """A case that the target dies of when its connection is closed."""

    def leaves(peer: Peer) -> Verdict:
        verdict = passes(peer)
        leave = peer.leave

        def dying(within_s: float) -> None:
            leave(within_s)
            mortal.die()

        peer.leave = dying  # type: ignore[method-assign]  # of this connection only
        return verdict

    return leaves


def test_with_one_connection_the_case_that_kills_runs_once_and_is_blamed(tmp_path: Path) -> None:
    with mortal_world(tmp_path, revivable=True) as (world, mortal):
        rows, complete = run_cases(world, [make("a"), make("killer", killer(mortal)), make("b")], ONE)
        assert complete and (mortal.deaths, mortal.restarts) == (1, 1)
    assert {name: row.verdict for name, row in rows.items()} == {
        "a": Outcome.PASS,
        "killer": Outcome.FAIL,
        "b": Outcome.PASS,
    }
    assert not [line for line in read_journal(tmp_path) if line["kind"] == "void"]


def test_with_one_connection_and_no_hook_the_target_is_gone(tmp_path: Path) -> None:
    with mortal_world(tmp_path, revivable=False) as (world, mortal):
        rows, complete = run_cases(world, [make("killer", killer(mortal)), make("late")], ONE)
    assert not complete
    assert (rows["killer"].verdict, rows["late"].verdict) == (Outcome.FAIL, Outcome.BLOCKED)


def test_a_fresh_target_is_restarted_after_each_case(tmp_path: Path) -> None:
    beside = Counter()
    with mortal_world(tmp_path, revivable=True) as (world, mortal):
        rows, complete = run_cases(world, [make(f"c{n}", beside.passes) for n in range(4)], FRESH)
        assert complete and mortal.restarts == 4
    assert beside.most == 1 and {row.verdict for row in rows.values()} == {Outcome.PASS}


def test_slow_cases_of_a_fresh_target_have_it_to_themselves_too(tmp_path: Path) -> None:
    beside = Counter()
    cases = [
        make("a", beside.passes),
        make("s1", beside.passes, slow=True),
        make("s2", beside.passes, slow=True),
    ]
    with mortal_world(tmp_path, revivable=True) as (world, mortal):
        rows, complete = run_cases(world, cases, FRESH)
        assert complete and mortal.restarts == 3
    assert beside.most == 1 and list(rows) == ["a", "s1", "s2"]


def test_a_fresh_target_that_dies_of_a_case_is_a_failure_and_the_next_case_is_none(tmp_path: Path) -> None:
    with mortal_world(tmp_path, revivable=True) as (world, mortal):
        rows, complete = run_cases(world, [make("killer", killer(mortal)), make("b")], FRESH)
    assert complete
    assert rows["killer"].verdict is Outcome.FAIL and "the target died" in rows["killer"].observed
    assert rows["b"].verdict is Outcome.PASS


def test_what_becomes_of_a_fresh_target_after_the_verdict_is_no_matter(tmp_path: Path) -> None:
    for settings, verdict in ((FRESH, Outcome.PASS), (ONE, Outcome.FAIL)):
        with mortal_world(tmp_path / str(verdict), revivable=True) as (world, mortal):
            rows, complete = run_cases(world, [make("leaves", fatal_at_leave(mortal)), make("b")], settings)
        assert complete and (rows["leaves"].verdict, rows["b"].verdict) == (verdict, Outcome.PASS)


def test_fresh_without_a_restart_hook_is_an_ordinary_run(tmp_path: Path) -> None:
    with reference_world(tmp_path, restart=None) as world:
        rows, complete = run_cases(world, [make("a"), make("b")], FRESH)
    assert complete and {row.verdict for row in rows.values()} == {Outcome.PASS}


def test_a_target_is_revived_by_the_hook_for_that(tmp_path: Path) -> None:
    revived: list[int] = []
    with mortal_world(tmp_path, revivable=True) as (world, mortal):

        def revive() -> None:
            revived.append(1)
            mortal.restart()

        world = replace(world, live=replace(world.live, revive=revive))
        run_cases(world, [make("killer", killer(mortal)), make("b")], ONE)
    assert revived == [1]
