"""Blame: which input it was, how sure that is, and what of it is needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from amqpspec.fuzz.executor.address import Address
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.executor.tempo import Tempo
from amqpspec.fuzz.inputs.catalogue import by_key
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.oracles.monitor import Monitor
from amqpspec.fuzz.oracles.suspicion import Oracle, Suspicion
from amqpspec.fuzz.selftest.defects import defect
from amqpspec.fuzz.selftest.process import SeededBroker
from amqpspec.fuzz.triage.triage import Status, TargetLost, Triage, _Trial
from amqpspec.net.ports import free_port
from amqpspec.reference.server import ReferenceBroker

CELL = by_key("amqp-0-9-1")["amqp-0-9-1/C09/order.twice/channel"]
ITEMS = [CELL.input(n) for n in range(40)]
Fires = Callable[[Sequence[FuzzInput]], bool]


class Simulated(Triage):
    """Trials are decided by a function; what is tried is kept."""

    def __init__(self, fires: Fires) -> None:
        subject = Subject("simulated", "amqp-0-9-1", Address("127.0.0.1", 1))
        super().__init__(subject, Monitor(subject), Tempo())
        self.fires, self.tried = fires, list[int]()

    def _try(self, items: Sequence[FuzzInput], seen: Suspicion, *, hasty: bool = False) -> _Trial:
        self.tried.append(len(items))
        return _Trial(seen if self.fires(items) else None)


def guilty(*numbers: int) -> Fires:
    return lambda items: any(item.id.counter in numbers for item in items)


def seen(oracle: Oracle = Oracle.LOG, *numbers: int) -> Suspicion:
    return Suspicion(oracle, "boom", "boom", tuple(CELL.id(n) for n in numbers))


@pytest.mark.parametrize("number", [0, 1, 19, 20, 39])
def test_bisection_finds_the_one(number: int) -> None:
    triage = Simulated(guilty(number))
    blame = triage.blame(ITEMS, seen())
    assert blame.item is not None and blame.item.id == CELL.id(number) and blame.status is Status.STABLE
    assert len(triage.tried) < 16


def test_suspects_come_first_but_are_not_all() -> None:
    triage = Simulated(guilty(7))
    assert triage.blame(ITEMS, seen(Oracle.LOG, 6, 7)).item == ITEMS[7]
    assert triage.tried == [1, 1, 1, 1]  # each suspect alone, and what is found twice more
    triage = Simulated(guilty(9))
    assert triage.blame(ITEMS, seen(Oracle.LOG, 5, 6, 7, 8, 9)).item == ITEMS[9]
    assert max(triage.tried) == 5
    blame = Simulated(guilty(30)).blame(ITEMS, seen(Oracle.LOG, 6, 7))
    assert blame.item is not None and blame.item.id == CELL.id(30)


class Silent(Simulated):
    """An answer is missing for a patient trial as ``patient`` says, and for every other trial."""

    def __init__(self, patient: bool) -> None:
        super().__init__(guilty(7))
        self.patient, self.patiently = patient, list[bool]()

    def _try(self, items: Sequence[FuzzInput], seen: Suspicion, *, hasty: bool = False) -> _Trial:
        self.patiently.append(not hasty)
        return _Trial(seen if hasty or self.patient else None)


@pytest.mark.parametrize(
    ("patient", "status", "patiently"),
    [(True, Status.STABLE, [True, False]), (False, Status.LOST, [True, True])],
)
def test_a_silence_is_waited_for_patiently_once_and_a_slow_answer_is_none(
    patient: bool, status: Status, patiently: list[bool]
) -> None:
    triage = Silent(patient)
    assert triage.blame(ITEMS, seen(Oracle.CONFORMANCE, 7)).status is status
    assert triage.patiently == patiently


def test_of_several_one_is_blamed() -> None:
    blame = Simulated(guilty(3, 33, 34)).blame(ITEMS, seen())
    assert blame.item is not None and blame.item.id.counter in (3, 33, 34)


class Killed(Simulated):
    """Each of some inputs ends the target in its own way, the first of a batch before the others."""

    def __init__(self, causes: dict[int, str]) -> None:
        super().__init__(guilty(*causes))
        self.causes = causes

    def revive(self) -> None:
        """There is no process."""

    def _try(self, items: Sequence[FuzzInput], seen: Suspicion, *, hasty: bool = False) -> _Trial:
        self.tried.append(len(items))
        killers = [self.causes[item.id.counter] for item in items if item.id.counter in self.causes]
        fired = Suspicion(Oracle.CRASH, f"gone; {killers[0]}", "gone", cause=killers[0]) if killers else None
        return _Trial(fired)


@pytest.mark.parametrize(
    ("causes", "blamed"), [({3: "a", 33: "b"}, 33), ({3: "a", 33: "a"}, 3), ({3: "a"}, 3)]
)
def test_of_several_ways_to_end_a_target_the_one_that_was_seen_is_blamed(
    causes: dict[int, str], blamed: int
) -> None:
    triage = Killed(causes)
    blame = triage.blame(ITEMS, Suspicion(Oracle.CRASH, "gone; b", "gone", cause="b"))
    assert blame.item == ITEMS[blamed] and blame.suspicion.cause == causes[blamed]
    assert len(triage.tried) < 20


def test_what_two_do_together_is_flaky_and_has_no_single_input() -> None:
    def both(items: Sequence[FuzzInput]) -> bool:
        return {1, 38} <= {item.id.counter for item in items}

    blame = Simulated(both).blame(ITEMS, seen())
    assert blame.item is None and blame.status is Status.FLAKY


def test_what_does_not_happen_again_is_lost() -> None:
    assert Simulated(guilty()).blame(ITEMS, seen()).status is Status.LOST


def test_what_happens_at_times_is_flaky() -> None:
    times = iter([True, False])
    blame = Simulated(lambda items: next(times)).again(ITEMS[0], seen())
    assert blame.status is Status.FLAKY


def test_what_happens_without_any_input_is_nobodys_fault() -> None:
    blame = Simulated(lambda items: True).again(ITEMS[0], seen(Oracle.CPU))
    assert blame.status is Status.LOST
    assert Simulated(lambda items: bool(items)).again(ITEMS[0], seen(Oracle.CPU)).status is Status.STABLE


@pytest.mark.parametrize("oracle", [Oracle.LATE, Oracle.CPU, Oracle.MEMORY])
def test_what_a_busy_machine_does_at_times_is_lost(oracle: Oracle) -> None:
    times = iter([True, True, False, True, True, False])
    assert Simulated(lambda items: bool(items) and next(times)).again(ITEMS[0], seen(oracle)).status in (
        Status.STABLE if oracle is not Oracle.LATE else Status.LOST,
    )
    times = iter([True, False, True, True, True])
    assert (
        Simulated(lambda items: bool(items) and next(times)).again(ITEMS[0], seen(oracle)).status
        is Status.LOST
    )


NOISY_ONES = [Oracle.LATE, Oracle.CPU, Oracle.MEMORY, Oracle.OBEDIENCE]


@pytest.mark.parametrize("oracle", NOISY_ONES)
@pytest.mark.parametrize("suspects", [(), (3,), (1, 2, 3, 4, 5)])
def test_noise_costs_two_trials_at_most(oracle: Oracle, suspects: tuple[int, ...]) -> None:
    triage = Simulated(guilty())
    assert triage.blame(ITEMS, seen(oracle, *suspects)).status is Status.LOST
    assert len(triage.tried) <= 2


@pytest.mark.parametrize("oracle", NOISY_ONES)
@pytest.mark.parametrize("suspects", [(), (7,), (1, 2, 3, 4, 7)])
def test_what_is_repeated_is_blamed_all_the_same(oracle: Oracle, suspects: tuple[int, ...]) -> None:
    blame = Simulated(guilty(7)).blame(ITEMS, seen(oracle, *suspects))
    assert blame.item == ITEMS[7] and blame.status is Status.STABLE


@pytest.mark.parametrize("oracle", [Oracle.LATE, Oracle.CPU, Oracle.MEMORY])
def test_who_delays_others_without_an_answer_of_its_own_is_found(oracle: Oracle) -> None:
    blame = Simulated(guilty(30)).blame(ITEMS, seen(oracle, 6, 7))
    assert blame.item == ITEMS[30] and blame.status is Status.STABLE


def test_processor_time_for_which_nobody_is_to_blame_is_learnt() -> None:
    triage = Simulated(guilty())
    usual = triage._monitor.usual
    usual.learn_greetings(0.0)
    before_s = usual.cpu_s(100)
    triage._monitor._borne = (0.5, 100)
    triage.blame(ITEMS, seen(Oracle.CPU))
    assert before_s < usual.cpu_s(100) == 1.0


@pytest.mark.usefixtures("gone")
def test_a_target_that_stays_away_ends_it() -> None:
    subject = Subject("gone", "amqp-0-9-1", Address("127.0.0.1", free_port()))
    with pytest.raises(TargetLost, match="gone no longer answers"):
        Triage(subject, Monitor(subject), Tempo()).blame(ITEMS, seen(Oracle.CRASH))


def test_on_a_broker_with_a_defect_the_smallest_input_is_left(tmp_path: Path) -> None:
    one = next(i for i in CELL if "tx.rollback" in i.words)
    batch = [*ITEMS[:6], one, *ITEMS[6:9]]
    with SeededBroker(defect("amqp-0-9-1/throw@rare"), tmp_path) as broker:
        subject = broker.subject()
        monitor = Monitor(subject)
        monitor.before()
        tempo = Tempo(quiet_s=0.2, settle_s=0.02, refusal_s=2.0, way_s=5.0)
        executor = subject.executor(tempo)
        check = monitor.after(list(executor.run(batch)))
        executor.close()
        (suspicion,) = [s for s in check.suspicions if s.oracle is Oracle.LOG]
        triage = Triage(subject, monitor, tempo)
        blame = triage.smaller(triage.blame(batch, suspicion))
        monitor.close()
    assert blame.item is not None and blame.item.id == one.id and blame.status is Status.STABLE
    assert blame.item.octets == bytes.fromhex("01000100000004005a001ece")
    assert "planted" in blame.log and blame.spoken


@pytest.mark.parametrize(("looks", "oracle", "fires"), [(9, Oracle.CRASH, True), (9, Oracle.LEAK, False)])
def test_a_process_that_takes_time_to_die_is_waited_for(
    looks: int, oracle: Oracle, fires: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = [None] * looks
    gone = Suspicion(Oracle.CRASH, "the target is gone", "gone")
    monkeypatch.setattr("amqpspec.fuzz.oracles.monitor.pause", lambda seconds_s: None)
    monkeypatch.setattr(Monitor, "_fatal", lambda self, results: left.pop() if left else gone)
    with ReferenceBroker("amqp-0-9-1") as broker:
        subject = Subject("r", "amqp-0-9-1", Address(broker.host, broker.port))
        monitor = Monitor(subject)
        trial = Triage(subject, monitor, Tempo())._try([], seen(oracle))
        monitor.close()
    assert (trial.fired is gone) is fires and bool(left) is not fires


def test_a_process_that_lives_on_is_not_waited_for_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []
    monkeypatch.setattr("amqpspec.fuzz.oracles.monitor.pause", lambda seconds_s: None)
    monkeypatch.setattr(Monitor, "_fatal", lambda self, results: looks.append(1))
    subject = Subject("r", "amqp-0-9-1", Address("127.0.0.1", 1))
    assert Monitor(subject)._dies([]) is None and 1 < len(looks) < 50


class Weighed(Simulated):
    """Each input takes some memory, by its number."""

    def __init__(self, takes: Callable[[int], int], base: int) -> None:
        super().__init__(lambda items: True)
        self.takes, self.base = takes, base

    def _try(self, items: Sequence[FuzzInput], seen: Suspicion, *, hasty: bool = False) -> _Trial:
        self.tried.append(len(items))
        grown = sum(self.takes(item.id.counter) for item in items)
        return _Trial(seen if grown > self.base else None)


def test_memory_is_blamed_on_the_largest_input_first() -> None:
    largest = max(ITEMS, key=lambda item: len(item.octets)).id.counter
    triage = Weighed(lambda n: 100 if n == largest else 0, 30)
    blame = triage.blame(ITEMS, seen(Oracle.MEMORY))
    assert blame.item is not None and blame.item.id.counter == largest
    assert triage.tried[:2] == [len(ITEMS), 1] and max(triage.tried[2:]) == 1


def test_memory_that_one_of_the_smaller_ones_takes_is_found_by_halves() -> None:
    smallest = min(ITEMS, key=lambda item: len(item.octets)).id.counter
    blame = Weighed(lambda n: 100 if n == smallest else 1, 30).blame(ITEMS, seen(Oracle.MEMORY))
    assert blame.item is not None and blame.item.id.counter == smallest


def test_of_several_that_take_much_memory_one_is_found() -> None:
    """None of the halves holds most of what the whole takes."""
    blame = Weighed(lambda n: 50 if n % 3 == 0 else 0, 30).blame(ITEMS, seen(Oracle.MEMORY))
    assert blame.item is not None and blame.item.id.counter % 3 == 0


def test_memory_of_which_each_takes_some_is_nobodys() -> None:
    triage = Weighed(lambda n: 5, 30)
    assert triage.blame(ITEMS, seen(Oracle.MEMORY)).item is None
    assert len(triage.tried) < 10


@pytest.mark.parametrize(
    ("name", "oracle", "restarts"),
    [
        # One to begin with, one for each pass (parts of 16, of 2, single ones), one for each time it is confirmed.
        ("crash@rare", Oracle.CRASH, 6),
        # All together, the largest one alone, one for each pass, one for each time it is confirmed, and none at all.
        ("leak@rare", Oracle.MEMORY, 8),
        ("cpu@rare", Oracle.CPU, 8),
    ],
)
def test_who_spoils_a_target_costs_few_restarts(
    tmp_path: Path, name: str, oracle: Oracle, restarts: int
) -> None:
    planted = defect(f"amqp-0-9-1/{name}")
    one = next(i for i in CELL if planted.is_in(i.octets))
    others = [i for i in CELL if not planted.is_in(i.octets)][:127]
    with SeededBroker(planted, tmp_path) as broker:
        subject = broker.subject()
        monitor = Monitor(subject)
        triage = Triage(subject, monitor, Tempo(quiet_s=0.2, settle_s=0.02, refusal_s=2.0, way_s=5.0))
        blame = triage.blame([*others[:90], one, *others[90:]], seen(oracle))
        monitor.close()
    assert blame.item is not None and blame.item.id == one.id and blame.status is Status.STABLE
    assert triage.revivals <= restarts


def test_what_shows_only_when_all_are_sent_together_is_found_by_halves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    triage = Simulated(guilty(7))
    monkeypatch.setattr(Triage, "_first", lambda self, groups, seen: None)
    triage._subject = replace(triage._subject, restart=lambda: None)
    monkeypatch.setattr(Triage, "revive", lambda self: None)
    blame = triage.blame(ITEMS, seen(Oracle.CRASH))
    assert blame.item is not None and blame.item.id == CELL.id(7)


def test_who_disobeys_is_sought_on_a_fresh_target(monkeypatch: pytest.MonkeyPatch) -> None:
    """What happens only beside what others left behind is no finding: it could not be replayed."""
    triage, restarts = Simulated(lambda items: False), list[int]()
    triage._subject = replace(triage._subject, restart=lambda: None)
    monkeypatch.setattr(Triage, "revive", lambda self: restarts.append(len(triage.tried)))
    blame = triage.blame(ITEMS, seen(Oracle.OBEDIENCE, 3))
    assert restarts == [0] and triage.tried == [1] and blame.status is Status.LOST
