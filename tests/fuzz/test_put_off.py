"""What is put off after a crash or a hang that is known: it waits, comes one cell at a time, and survives a kill."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from amqpspec.fuzz.campaign.batches import BatchRunner
from amqpspec.fuzz.campaign.clock import BudgetClock
from amqpspec.fuzz.campaign.complaints import Complaints
from amqpspec.fuzz.campaign.energy import Energy
from amqpspec.fuzz.campaign.observations import TimedResult
from amqpspec.fuzz.campaign.put_off import PutOff
from amqpspec.fuzz.campaign.schedule import Batch, Position, Span
from amqpspec.fuzz.campaign.tally import COVERED, OPEN, PUT_OFF, UNREACHABLE, Tally
from amqpspec.fuzz.executor.result import End
from amqpspec.fuzz.inputs.catalogue import Cell, by_key
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.mutation import random_id, random_input
from amqpspec.fuzz.oracles.monitor import Check
from amqpspec.fuzz.oracles.suspicion import Oracle, Suspicion
from amqpspec.fuzz.triage.triage import Triage
from tests.fuzz.test_complaints import Told

DIALECT = "amqp-0-9-1"
CELLS = tuple(
    by_key(DIALECT)[f"{DIALECT}/{name}"] for name in ("C04/frame.size/channel", "C09/order.twice/channel")
)
BATCH = Batch(
    [cell.input(n) for cell in CELLS for n in range(4)],
    Position(),
    tuple(Span(cell, range(4), ends=True) for cell in CELLS),
)
LOOP = Suspicion(Oracle.HANG, "a thread never comes to rest", "", cause="endless in a.B.c")


def test_each_cell_waits_with_what_is_left_of_it_and_comes_alone() -> None:
    put_off, left = PutOff(DIALECT), [*BATCH.items[:1], *BATCH.items[6:]]
    assert put_off.add(BATCH, left) == [cell.key for cell in CELLS]
    assert all(put_off.holds(cell.key) for cell in CELLS)
    at = Position(cell=7)
    first, second = put_off.next(at, lambda key: False), put_off.next(at, lambda key: False)
    assert first is not None and second is not None
    assert ([*first.items, *second.items], first.cells, second.cells) == (left, CELLS[:1], CELLS[1:])
    assert first.after == at and not first.whole and put_off.next(at, lambda key: False) is None


def test_a_cell_that_was_stopped_meanwhile_does_not_come() -> None:
    put_off = PutOff(DIALECT)
    put_off.add(BATCH, BATCH.items)
    found = put_off.next(Position(), lambda key: key == CELLS[0].key)
    assert found is not None and found.cells == CELLS[1:]


def test_what_waits_and_what_is_in_progress_survives_a_kill() -> None:
    put_off = PutOff(DIALECT)
    put_off.add(BATCH, BATCH.items[2:6])
    put_off.next(Position(), lambda key: False)
    again = PutOff(DIALECT, put_off.to_json())
    assert again.to_json() == put_off.to_json() and len(again) == 2
    first = again.next(Position(), lambda key: False)
    assert first is not None and first.items == BATCH.items[2:4]
    assert [span.cell for span in first.spans] == [CELLS[0]] and first.spans[0].numbers == range(4)


def test_what_other_tables_name_is_left_out() -> None:
    put_off = PutOff(DIALECT)
    put_off.add(BATCH, BATCH.items)
    saved = put_off.to_json()
    saved[0]["inputs"][0] = saved[0]["inputs"][0].replace("g:", "g:0", 1)
    assert len(PutOff(DIALECT, saved)) == 1


class Revived(Told):
    """A restart takes no time."""

    def revive(self) -> None:
        """Nothing has to be restarted."""


def met(complaints: Complaints, batch: Batch = BATCH, seen: Suspicion = LOOP) -> bool:
    triage = Revived(complaints._order.subject)
    complaints.take(cast(Triage, triage), batch, Check((seen,)))
    return complaints.met_known


def test_only_a_known_crash_or_hang_puts_off(complaints: Complaints) -> None:
    assert not met(complaints), "it is blamed"
    assert met(complaints), "its cause is known"
    assert not met(complaints, seen=Suspicion(Oracle.LOG, "jvm: boom", "boom"))
    assert not met(complaints, seen=replace(LOOP, cause="endless in d.E.f")), "another cause is blamed"


def test_random_origins_that_were_in_progress_are_drawn_less_often_and_at_last_not_at_all(
    complaints: Complaints,
) -> None:
    items = [random_input(DIALECT, random_id(DIALECT, 1, n)) for n in range(2)]
    origin, other = ((item.id.role, item.state) for item in items)
    batch, seen = Batch(items, Position()), replace(LOOP, inputs=(items[0].id,))
    met(complaints, BATCH)
    weights = []
    for _ in range(3):
        assert met(complaints, batch, seen)
        weights.append(complaints._energy.weights[origin])
    assert weights == [2, 1, 0] and complaints._energy.weights[other] == 4


def test_an_origin_that_showed_much_is_halved_first() -> None:
    energy = Energy(DIALECT)
    origin = next(iter(energy.weights))
    energy.weights[origin] = 64
    energy.thin(origin)
    assert energy.weights[origin] == 32


class Sends:
    """Sends nothing; the first batches end on a hang."""

    def __init__(self, hangs: int) -> None:
        self.hangs, self.sent = hangs, list[Sequence[FuzzInput]]()
        self.waiting = self.undecided = list[FuzzInput]()
        self.belated = list[TimedResult]()

    def send(self, items: Sequence[FuzzInput], attempt: int) -> tuple[list[TimedResult], Check]:
        self.sent.append(items)
        return [], Check((LOOP,) if len(self.sent) <= self.hangs else ())

    def finish(self) -> None:
        """Nothing waits."""


def runner(complaints: Complaints, sends: Sends, put_off: PutOff, tally: Tally) -> BatchRunner:
    triage = Revived(complaints._order.subject)
    nothing = SimpleNamespace(ensure=lambda last: None, write=lambda rows: None)
    parts: Any = (
        sends, nothing, complaints, triage, nothing, None, SimpleNamespace(tally=tally, check=None),
        BudgetClock(60.0, 0.0), put_off,
    )  # fmt: skip
    return BatchRunner(*parts)


def test_a_batch_that_ends_on_a_known_hang_is_not_sent_again_at_once(complaints: Complaints) -> None:
    put_off, tally = PutOff(DIALECT), complaints._tally
    met(complaints)
    sends = Sends(hangs=1)
    ran = runner(complaints, sends, put_off, tally)
    ran.run(BATCH)
    assert len(sends.sent) == 1 and len(put_off) == 2
    assert {tally.cells[cell.key] for cell in CELLS} == {(OPEN, PUT_OFF)}
    assert (tally.figures(2)["open"], tally.figures(2)["put_off"]) == (2, 2)
    part = put_off.next(Position(), tally.is_stopped)
    assert part is not None
    ran.run(part)
    assert list(sends.sent[1]) == list(part.items) and tally.cells.get(CELLS[0].key, ("",))[0] != OPEN
    assert tally.cells[CELLS[1].key] == (OPEN, PUT_OFF) and COVERED not in tally.cells[CELLS[1].key]


def test_the_cell_that_does_it_again_alone_is_stopped(complaints: Complaints) -> None:
    put_off, tally = PutOff(DIALECT), complaints._tally
    met(complaints)
    ran = runner(complaints, Sends(hangs=9), put_off, tally)
    ran.run(BATCH)
    part = put_off.next(Position(), tally.is_stopped)
    assert part is not None
    ran.run(part)
    assert tally.is_stopped(CELLS[0].key) and not tally.is_stopped(CELLS[1].key) and len(put_off) == 1


class Reaches(Sends):
    """Of each batch, some inputs reach their state."""

    def __init__(self, *numbers: set[int]) -> None:
        super().__init__(hangs=0)
        self.numbers = numbers

    def send(self, items: Sequence[FuzzInput], attempt: int) -> tuple[list[TimedResult], Check]:
        there = self.numbers[len(self.sent)]
        super().send(items, attempt)
        results = [
            SimpleNamespace(item=item, reached=number in there, end=End.OPEN)
            for number, item in enumerate(items)
        ]
        return cast(list[TimedResult], [SimpleNamespace(result=result) for result in results]), Check(())


def test_an_input_that_misses_a_state_that_others_reach_is_sent_once_more(
    complaints: Complaints, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A busy target serves some connections and not others."""
    monkeypatch.setattr(BatchRunner, "_write", lambda *given: None)
    put_off, tally, sends = PutOff(DIALECT), complaints._tally, Reaches({0, 1, 3}, {0}, set())
    ran = runner(complaints, sends, put_off, tally)
    ran.run(BATCH)
    assert [put_off.holds(cell.key) for cell in CELLS] == [True, True]
    assert {tally.cells[cell.key] for cell in CELLS} == {(OPEN, PUT_OFF)}
    for cell, missed in ((CELLS[0], BATCH.items[2:3]), (CELLS[1], BATCH.items[4:])):
        part = put_off.next(Position(), tally.is_stopped)
        assert part is not None and list(part.items) == missed and part.cells == (cell,)
        ran.run(part)
    assert len(put_off) == 0, "nothing waits twice"
    assert CELLS[0].key not in tally.cells and tally.cells[CELLS[1].key][0] == UNREACHABLE


def test_a_state_that_no_input_reaches_lets_nothing_wait(
    complaints: Complaints, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BatchRunner, "_write", lambda *given: None)
    put_off, tally = PutOff(DIALECT), complaints._tally
    runner(complaints, Reaches(set()), put_off, tally).run(BATCH)
    assert len(put_off) == 0 and {tally.cells[cell.key][0] for cell in CELLS} == {UNREACHABLE}


def test_what_waits_is_not_put_off_again() -> None:
    put_off = PutOff(DIALECT)
    put_off.add(BATCH, BATCH.items[:2])
    assert (
        put_off.add(BATCH, BATCH.items[1:4]) == [CELLS[0].key] and put_off.add(BATCH, BATCH.items[:4]) == []
    )
    parts = [put_off.next(Position(), lambda key: False) for _ in range(2)]
    assert [list(part.items) for part in parts if part is not None] == [BATCH.items[:2], BATCH.items[2:4]]


def test_a_cell_that_waits_is_covered_with_its_last_input() -> None:
    put_off, first = PutOff(DIALECT), tuple(Span(cell, range(4)) for cell in CELLS)
    put_off.add(replace(BATCH, spans=first), [BATCH.items[0], BATCH.items[4]])
    put_off.end(CELLS[1].key)
    again = PutOff(DIALECT, json.loads(json.dumps(put_off.to_json())))
    parts = [put_off.next(Position(), lambda key: False) for put_off in (again, again)]
    assert [part.spans[0].ends for part in parts if part is not None] == [False, True]


def test_time_aside_is_counted_where_it_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    at = [0.0]
    monkeypatch.setattr("amqpspec.fuzz.campaign.clock.now_s", lambda: at[0])
    clock = BudgetClock(60.0, 0.0, aside_s=1.0)
    with clock.aside():
        at[0] += 5.0
    with clock.aside(lambda: False):
        at[0] += 7.0
    assert clock.aside_s == 6.0


# --- where an input was found that ends the target


def place(cell: Cell) -> tuple[str, str]:
    return cell.family, cell.state


def test_cells_of_the_same_family_and_state_wait_and_the_rest_does_not() -> None:
    put_off = PutOff(DIALECT)
    rest, waiting = put_off.sift(BATCH, {place(CELLS[0])})
    assert waiting == [CELLS[0].key] and put_off.holds(CELLS[0].key) and not put_off.holds(CELLS[1].key)
    assert rest.items == BATCH.items[4:] and rest.cells == CELLS[1:] and rest.after == BATCH.after
    later = put_off.next(Position(), lambda key: False)
    assert later is not None and later.items == BATCH.items[:4]
    assert put_off.sift(later, {place(CELLS[0])}) == (later, []), "what has waited does not wait again"
    assert put_off.sift(BATCH, {("C04", "open"), ("C05", "channel")}) == (BATCH, [])


def test_who_ends_the_target_names_the_cells_that_wait(complaints: Complaints) -> None:
    met(complaints)
    assert complaints.ended == {place(CELLS[0])}
    assert complaints.to_json()["ended"] == [place(CELLS[0])]
    again = Complaints(
        complaints._order, complaints._store, complaints._tally, complaints._energy, complaints._pace,
        complaints._journal, json.loads(json.dumps(complaints.to_json())),
    )  # fmt: skip
    assert again.ended == complaints.ended


def test_a_complaint_that_ends_nothing_lets_no_cell_wait(complaints: Complaints) -> None:
    met(complaints, seen=Suspicion(Oracle.LOG, "jvm: boom", "boom"))
    assert not complaints.ended


def test_a_random_input_that_ends_the_target_lets_no_cell_wait(complaints: Complaints) -> None:
    met(complaints, Batch([random_input(DIALECT, random_id(DIALECT, 1, 1))], Position()))
    assert not complaints.ended


def test_the_rest_of_a_batch_continues_together_without_the_cell_to_blame(complaints: Complaints) -> None:
    put_off, tally = PutOff(DIALECT), complaints._tally
    sends = Sends(hangs=1)
    runner(complaints, sends, put_off, tally).run(BATCH)
    assert list(sends.sent[1]) == BATCH.items[4:]
    assert tally.cells[CELLS[0].key] == (OPEN, PUT_OFF)
    assert put_off.holds(CELLS[0].key) and not put_off.holds(CELLS[1].key)
