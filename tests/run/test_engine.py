"""The runner: phases, plans that add up, restarts together, the right case blamed when a target dies."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from amqpspec.peer.context import Patience
from amqpspec.peer.methods.peer import Peer
from amqpspec.record.journal import Journal, JournalError, read_cases, read_journal
from amqpspec.record.rows import CaseRow, Outcome, Tally
from amqpspec.reference.server import ReferenceBroker
from amqpspec.run.case import Case
from amqpspec.run.driver import ProbeFailed
from amqpspec.run.engine import GONE, Engine, Settings
from amqpspec.run.execute import World
from amqpspec.run.plan import Limits, make_plan
from amqpspec.run.rendezvous import Rendezvous
from amqpspec.run.verdict import Verdict
from amqpspec.target.config import Target
from amqpspec.target.live import Live, live_reference
from tests.run.worlds import QUICK, Counter, make, passes, reference_world, run_cases
from tests.waiting import PATIENCE_S

GUARD_S = PATIENCE_S
PASSED = Verdict(Outcome.PASS, "x", "y")


def test_cases_run_side_by_side_and_heavy_ones_alone(tmp_path: Path) -> None:
    met = threading.Barrier(3)
    beside = Counter()

    def meets(peer: Peer) -> Verdict:
        with beside:
            met.wait(GUARD_S)
            return passes(peer)

    def alone(peer: Peer) -> Verdict:
        with beside:
            return Verdict(
                Outcome.PASS if beside.now == 1 else Outcome.FAIL, "alone", f"{beside.now} at once"
            )

    cases = [
        make("heavy.1", alone, heavy=True),
        *(make(f"c{n}", meets) for n in range(3)),
        make("heavy.2", alone, heavy=True),
    ]
    with reference_world(tmp_path) as world:
        rows, complete = run_cases(world, cases)
    assert complete
    assert {row.verdict for row in rows.values()} == {Outcome.PASS}
    assert list(rows)[-2:] == ["heavy.1", "heavy.2"]


def test_connections_bound_how_many_run_at_once(tmp_path: Path) -> None:
    beside = Counter()
    with reference_world(tmp_path) as world:
        run_cases(world, [make(f"c{n}", beside.passes) for n in range(10)], Settings(connections=2))
    assert beside.most <= 2 and beside.total == 10


def test_destructive_cases_come_after_the_ordinary_ones(tmp_path: Path) -> None:
    with reference_world(tmp_path) as world:
        rows, _ = run_cases(world, [make("d", destructive=True), make("a"), make("b")])
    assert list(rows)[-1] == "d"


def test_slow_cases_are_begun_first(tmp_path: Path) -> None:
    with reference_world(tmp_path) as world:
        rows, _ = run_cases(world, [make("a"), make("b"), make("s", slow=True)], Settings(connections=1))
    assert list(rows) == ["s", "a", "b"]


def test_repeat_runs_each_case_so_often(tmp_path: Path) -> None:
    with reference_world(tmp_path) as world:
        run_cases(world, [make("a"), make("b")], Settings(repeat=3))
    assert sorted((row.id, row.attempt) for row in read_cases(tmp_path)) == [
        (name, attempt) for name in "ab" for attempt in (1, 2, 3)
    ]  # fmt: skip


def test_the_plan_adds_up(tmp_path: Path) -> None:
    cases = [
        make("runs"),
        make("lacking", needs=("confirm",)),
        make("unannounced", needs=("nack",)),
        make("vendor", needs=("tx",)),
        make("hook", hooks=("tls",)),
        make("left-out"),
        make("with-user", hooks=("second-user", "forbidden-vhost")),
    ]
    with reference_world(tmp_path) as world:
        target = replace(world.live.target, not_supported={"tx": "the vendor says so"})
        target = replace(target, supported={"nack": "the vendor says so"})
        world = replace(world, live=replace(world.live, target=target))
        limits = Limits(excluded={"left-out"})
        lacks = dict.fromkeys(("confirm", "nack"), "not announced")
        rows, complete = run_cases(world, cases, limits=limits, lacks=lacks)
    assert complete
    assert {name: (row.verdict, row.reason) for name, row in rows.items()} == {
        "runs": (Outcome.PASS, ""),
        "lacking": (Outcome.NOT_APPLICABLE, "confirm: not announced"),
        "unannounced": (Outcome.PASS, ""),
        "vendor": (Outcome.NOT_APPLICABLE, "tx: the vendor says so"),
        "hook": (Outcome.BLOCKED, "no hook: the target's configuration offers no tls"),
        "left-out": (Outcome.EXCLUDED, "left out by --exclude"),
        "with-user": (Outcome.PASS, ""),
    }
    tally = Tally.of(row.verdict for row in rows.values())
    assert tally.planned == 7 == tally.run + tally.not_applicable + tally.blocked + tally.excluded


def test_a_shared_target_is_spared(tmp_path: Path) -> None:
    cases = [make("a"), make("d", destructive=True), make("h", heavy=True), make("r", restarts=True)]
    restarted: list[int] = []
    with reference_world(tmp_path, restart=lambda: restarted.append(1)) as world:
        rows, _ = run_cases(world, cases, limits=Limits(shared_target=True))
    assert [rows[name].verdict for name in "dhr"] == [Outcome.EXCLUDED] * 3
    assert rows["a"].verdict is Outcome.PASS and not restarted


def test_restart_cases_share_one_restart_and_one_may_leave_early(tmp_path: Path) -> None:
    restarts: list[int] = []

    def durable(peer: Peer) -> Verdict:
        peer.open_channel()
        queue = peer.queue(durable=True)
        peer.context.restart()
        again = peer.another().open_channel()
        again.call("queue.declare", queue=queue, passive=True)
        return PASSED

    cases = [make(f"r{n}", durable, restarts=True) for n in range(3)] + [
        make("leaves", passes, restarts=True)
    ]
    with reference_world(tmp_path) as world:
        restart = world.live.restart
        assert restart is not None

        def counted() -> None:
            restarts.append(1)
            restart()

        world = replace(world, live=replace(world.live, restart=counted))
        rows, complete = run_cases(world, cases)
    assert complete and len(restarts) == 1
    assert {row.verdict for row in rows.values()} == {Outcome.PASS}


def test_a_restart_that_fails_is_our_error_not_the_targets_fault(tmp_path: Path) -> None:
    def fails() -> None:
        raise RuntimeError("the hook broke")

    def restarts(peer: Peer) -> Verdict:
        peer.context.restart()
        return PASSED

    with reference_world(tmp_path, restart=fails) as world:
        rows, complete = run_cases(world, [make("r", restarts, restarts=True), make("a")])
    assert complete
    assert (rows["r"].verdict, "the hook broke" in rows["r"].observed) == (Outcome.ERROR, True)
    assert rows["a"].verdict is Outcome.PASS


def test_restart_cases_without_a_hook_are_blocked(tmp_path: Path) -> None:
    with reference_world(tmp_path, restart=None) as world:
        rows, complete = run_cases(world, [make("r", restarts=True)])
    assert complete and rows["r"].is_blocked_by_configuration


def test_observers_are_told_of_each_row(tmp_path: Path) -> None:
    told: list[str] = []
    with reference_world(tmp_path) as world, Journal(tmp_path) as journal:
        plan = make_plan([make("a"), make("b", needs=("x",))], world.live, {"x": "no"})
        Engine(world, journal, Settings(), [lambda row: told.append(row.id)]).run(plan)
    assert sorted(told) == ["a", "b"]


def test_a_stop_leaves_cases_without_a_row(tmp_path: Path) -> None:
    with reference_world(tmp_path) as world:

        def stops(peer: Peer) -> Verdict:
            peer.open_channel()
            world.stop.set()
            peer.barrier()
            return PASSED

        rows, complete = run_cases(world, [make("a", stops), make("b", heavy=True)])
    assert (rows, complete) == ({}, False)


def test_a_journal_that_cannot_be_written_ends_the_run(tmp_path: Path) -> None:
    class Full(Journal):
        def case(self, row: CaseRow) -> None:
            raise JournalError("cannot write: no space left")

    with reference_world(tmp_path) as world, Full(tmp_path) as journal:
        plan = make_plan([make(f"c{n}") for n in range(50)], world.live, {})
        with pytest.raises(JournalError, match="no space left"):
            Engine(world, journal, Settings(connections=2)).run(plan)
        assert world.stop.is_set()


# --- rendezvous


def together(meeting: Rendezvous, *members: Callable[[], None]) -> None:
    threads = [threading.Thread(target=member) for member in members]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(GUARD_S)
    assert not any(thread.is_alive() for thread in threads)


def test_all_arrive_then_one_acts_then_all_go_on() -> None:
    acted: list[int] = []
    meeting = Rendezvous(3, lambda: acted.append(1), threading.Event())
    together(meeting, meeting.arrive, meeting.arrive, meeting.leave)
    assert acted == [1]


def test_two_rounds_are_two_acts() -> None:
    acted: list[int] = []
    meeting = Rendezvous(2, lambda: acted.append(1), threading.Event())

    def twice() -> None:
        meeting.arrive()
        meeting.arrive()
        meeting.leave()

    together(meeting, twice, twice)
    assert acted == [1, 1]


def test_what_the_act_raises_everyone_gets() -> None:
    def act() -> None:
        raise OSError("no")

    meeting = Rendezvous(2, act, threading.Event())
    caught: list[str] = []

    def arrive() -> None:
        try:
            meeting.arrive()
        except OSError as error:
            caught.append(str(error))

    together(meeting, arrive, arrive)
    assert caught == ["no", "no"]


def test_a_stop_lets_everyone_go_without_the_act() -> None:
    stop, acted = threading.Event(), list[int]()
    meeting = Rendezvous(2, lambda: acted.append(1), stop)
    threading.Timer(0.05, stop.set).start()
    together(meeting, meeting.arrive)
    assert acted == []


# --- a target that dies


class Mortal:
    """A reference broker that dies when it receives a poison: connections are aborted, the port is closed."""

    POISON = "poison"

    def __init__(self) -> None:
        self.broker = ReferenceBroker("rabbitmq-0-9-1")
        self.broker.start()
        self.deaths = self.restarts = 0
        self._lock = threading.Lock()

    def die(self) -> None:
        with self._lock:
            self.deaths += 1
            self.broker.stop()

    def restart(self) -> None:
        with self._lock:
            self.restarts += 1
            self.broker.stop()
            self.broker = ReferenceBroker("rabbitmq-0-9-1", port=self.broker.port)
            self.broker.start()


@contextmanager
def mortal_world(folder: Path, *, revivable: bool) -> Iterator[tuple[World, Mortal]]:
    mortal = Mortal()
    try:
        target = live_reference(Target("mortal", broker="reference"), mortal.broker)
        target = replace(target, restart=mortal.restart if revivable else None)
        yield World(target, folder, "m", QUICK), mortal
    finally:
        mortal.broker.stop()


def killer(mortal: Mortal) -> Callable[[Peer], Verdict]:
    """A case whose octets kill: it says pass, since it did not look."""

    def kills(peer: Peer) -> Verdict:
        peer.open_channel()
        peer.queue(queue=mortal.POISON)
        mortal.die()
        return PASSED

    return kills


def test_the_case_that_kills_is_blamed_and_the_others_keep_their_verdicts(tmp_path: Path) -> None:
    with mortal_world(tmp_path, revivable=True) as (world, mortal):
        cases: list[Case] = [make(f"c{n}") for n in range(12)]
        cases.insert(5, make("killer", killer(mortal)))
        rows, complete = run_cases(world, cases, Settings(connections=4))
        assert complete
        assert (mortal.deaths, mortal.restarts) == (2, 2)
    assert rows.pop("killer").verdict is Outcome.FAIL
    assert {row.verdict for row in rows.values()} == {Outcome.PASS}
    assert len(rows) == 12


def test_the_blame_says_how_the_target_died_and_the_withdrawn_rows_are_marked(tmp_path: Path) -> None:
    with mortal_world(tmp_path, revivable=True) as (world, mortal):
        rows, _ = run_cases(world, [make("killer", killer(mortal), destructive=True), make("a")])
    assert "the target died: could not reach the target: cannot connect to" in rows["killer"].observed
    (void,) = [line for line in read_journal(tmp_path) if line["kind"] == "void"]
    assert void["cases"] == ["killer"]
    assert rows["a"].verdict is Outcome.PASS


def test_without_a_restart_hook_the_rest_is_blocked_and_the_run_incomplete(tmp_path: Path) -> None:
    with mortal_world(tmp_path, revivable=False) as (world, mortal):
        cases = [make("a"), make("killer", killer(mortal), destructive=True), make("late", heavy=True)]
        rows, complete = run_cases(world, cases)
    assert not complete
    assert rows["a"].verdict is Outcome.PASS
    assert (rows["late"].verdict, rows["late"].reason.startswith(GONE)) == (Outcome.BLOCKED, True)
    assert set(rows) == {"a", "killer", "late"}


def test_a_target_that_cannot_be_restarted_is_gone(tmp_path: Path) -> None:
    def fails() -> None:
        raise OSError("the hook broke")

    with mortal_world(tmp_path, revivable=True) as (world, mortal):
        world = replace(world, live=replace(world.live, restart=fails))
        cases = [make("killer", killer(mortal)), make("late", heavy=True)]
        rows, complete = run_cases(world, cases)
    assert not complete
    assert "the hook broke" in rows["late"].reason
    assert set(rows) == {"killer", "late"}


# --- probes


def fresh(world: World) -> Engine:
    return Engine(world, Journal.__new__(Journal), Settings())


def at(target: Live, **url: Any) -> Live:
    return replace(target, url=replace(target.url, **url))


def test_a_probe_says_who_the_target_is(tmp_path: Path) -> None:
    with reference_world(tmp_path) as world:
        identity = fresh(world).probe("probe")
    assert "reference broker" in identity.product
    assert identity.lacks == {}
    assert (tmp_path / "evidence" / "probe.jsonl").exists()


def test_an_impatient_run_does_not_take_a_slow_target_for_a_dead_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits_s: list[float] = []

    def slow(self: Engine, name: str, patience: Patience) -> None:
        waits_s.append(patience.reply_s)
        if patience.reply_s < 3:
            raise ProbeFailed("no answer")

    monkeypatch.setattr(Engine, "probe", slow)
    with reference_world(tmp_path) as world:
        assert fresh(replace(world, patience=Patience.measured(0.0, 0.2)))._probe_quietly() == ""
        assert fresh(replace(world, patience=Patience.measured(0.0, 2.0)))._probe_quietly() == ""
    assert waits_s == [1.0, 5.0, 10.0]


def test_a_probe_says_what_is_wrong(tmp_path: Path) -> None:
    from tests.run.hostile import header_only, hostile

    with reference_world(tmp_path) as world:
        wrong = replace(world.live.login, password="wrong-password")
        with pytest.raises(ProbeFailed, match=r"could not log in as 'guest'") as caught:
            fresh(replace(world, live=replace(world.live, login=wrong))).probe("probe")
        assert "wrong-password" not in str(caught.value)
        nowhere = replace(world.live.login, vhost="none")
        with pytest.raises(ProbeFailed, match="open virtual host 'none'"):
            fresh(replace(world, live=replace(world.live, login=nowhere))).probe("probe")
        with (
            hostile(header_only) as port,
            pytest.raises(ProbeFailed, match=r"start the handshake of rabbitmq-0-9-1: .*3"),
        ):
            fresh(replace(world, live=at(world.live, port=port))).probe("probe")
    with pytest.raises(ProbeFailed, match=r"could not reach the target: .*Connection refused"):
        fresh(world).probe("probe")
