"""How complaints of one batch are handled: the worst explains, but hides no other line of the log."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from amqpspec.fuzz.campaign.complaints import Complaints
from amqpspec.fuzz.campaign.deferred import Deferred
from amqpspec.fuzz.campaign.limits import BlameLimit
from amqpspec.fuzz.campaign.report import by_cause
from amqpspec.fuzz.campaign.schedule import Batch, Position, Span
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.executor.tempo import Tempo
from amqpspec.fuzz.inputs.catalogue import by_key
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.oracles.monitor import Check, Monitor
from amqpspec.fuzz.oracles.suspicion import CANARY_LOST, Oracle, Suspicion
from amqpspec.fuzz.triage.triage import Blame, OutOfTime, Status, TargetLost, Triage

OTHER = by_key("amqp-0-9-1")["amqp-0-9-1/C04/frame.size/channel"]
CELL = by_key("amqp-0-9-1")["amqp-0-9-1/C09/order.twice/channel"]
BATCH = Batch([CELL.input(n) for n in range(4)], Position(), (Span(CELL, range(4)),))
MIXED = Batch([CELL.input(0), OTHER.input(0)], Position(), (Span(CELL, range(1)), Span(OTHER, range(1))))
OLD, NEW = "java.lang.NullPointerException", "java.lang.ClassCastException"


class Told(Triage):
    """The first input is to blame for whatever is asked; what is asked is kept."""

    def __init__(self, subject: Subject, log: str = "") -> None:
        super().__init__(subject, Monitor(subject), Tempo())
        self.log, self.asked = log, list[str]()

    def blame(self, items: Sequence[FuzzInput], seen: Suspicion) -> Blame:
        self.asked.append(seen.top)
        return Blame(Status.STABLE, seen, items[0], log=self.log)


def line(text: str) -> Suspicion:
    return Suspicion(Oracle.LOG, f"jvm: {text}", text)


@pytest.fixture
def waiting(complaints: Complaints) -> Complaints:
    """Blame may take a third of the time: it waits for a stretch of its own."""
    complaints.deferred = Deferred(600.0, 1 / 3)
    return complaints


def followed(complaints: Complaints, triage: Triage) -> None:
    """What a campaign does after each batch."""
    while step := complaints.next_step():
        step(triage)


def asked(complaints: Complaints, *seen: Suspicion, log: str = "", batch: Batch = BATCH) -> list[str]:
    triage = Told(complaints._order.subject, log)
    complaints.take(triage, batch, Check(seen))
    return triage.asked


def test_a_known_line_hides_no_new_one(complaints: Complaints) -> None:
    assert asked(complaints, line(OLD)) == [line(OLD).top]
    assert asked(complaints, line(OLD), line(NEW)) == [line(NEW).top]
    assert [found.suspicion.top for found in complaints._store.found] == [line(OLD).top, line(NEW).top]
    assert asked(complaints, line(OLD), line(NEW)) == [] and complaints._tally.repeats == 3


def test_a_worse_complaint_hides_no_line_of_the_log_but_the_rest(complaints: Complaints) -> None:
    leak, cpu = Suspicion(Oracle.LEAK, "leak", "leak"), Suspicion(Oracle.CPU, "processor burns", "burns")
    assert asked(complaints, leak, cpu, line(OLD), line(NEW)) == ["leak", line(OLD).top, line(NEW).top]


def test_what_one_input_makes_the_log_say_is_one_finding(complaints: Complaints) -> None:
    assert asked(complaints, line(OLD), line(NEW), log=f"{OLD}\n{NEW}\n") == [line(OLD).top]
    assert asked(complaints, line(OLD), line(NEW)) == [] and len(complaints._store.found) == 1


# --- causes


def crash(cause: str, top: str = "go: panic: boom") -> Suspicion:
    return Suspicion(Oracle.CRASH, f"the target is gone; {top}", "gone", cause=cause)


def elsewhere(*cells: str) -> list[Batch]:
    found = [by_key("amqp-0-9-1")[f"amqp-0-9-1/{cell}"] for cell in cells]
    return [Batch([cell.input(0)], Position(), (Span(cell, range(1)),)) for cell in found]


PLACES = elsewhere("C04/frame.size/channel", "C04/frame.size/header", "C09/order.twice/open")


@pytest.mark.usefixtures("awake")
def test_a_known_cause_of_a_crash_is_counted_and_not_blamed_again(complaints: Complaints) -> None:
    assert len(asked(complaints, crash("go: nil in a.b"))) == 1
    for batch in PLACES:
        assert asked(complaints, crash("go: nil in a.b", "go: panic: other values"), batch=batch) == []
    assert len(asked(complaints, crash("go: nil in c.d"), batch=PLACES[0])) == 1, "another cause is blamed"
    (places,) = complaints.limit.repeats.values()
    assert sum(places.values()) == len(PLACES)
    assert len({found.cause for found in complaints._store.found}) == 2


@pytest.mark.usefixtures("awake")
def test_what_was_blamed_is_known_and_not_what_else_ended_the_target(
    complaints: Complaints, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = crash("go: nil in c.d")
    monkeypatch.setattr(Told, "blame", lambda self, items, seen: Blame(Status.STABLE, other, items[0]))
    complaints.take(Told(complaints._order.subject), BATCH, Check((crash("go: nil in a.b"),)))
    assert not complaints.limit.allows(other) and complaints.limit.allows(crash("go: nil in a.b"))


def test_a_crash_of_which_the_log_shows_no_place_is_blamed_in_each(complaints: Complaints) -> None:
    for batch in PLACES:
        assert len(asked(complaints, crash(""), batch=batch)) == 1


@pytest.mark.usefixtures("awake")
def test_a_cell_in_which_a_known_cause_comes_again_and_again_is_stopped(complaints: Complaints) -> None:
    (batch,) = elsewhere("C04/frame.size/channel")
    asked(complaints, crash("go: nil in a.b"))
    asked(complaints, crash("go: nil in a.b"), batch=batch)
    assert not complaints._tally.is_stopped(OTHER.key), "the rest of it may hold other causes"
    asked(complaints, crash("go: nil in a.b"), batch=batch)
    assert complaints._tally.is_stopped(OTHER.key)


def test_one_cause_of_several_places_is_one(complaints: Complaints) -> None:
    deviates = [
        Suspicion(Oracle.CONFORMANCE, f"a/row: {how}", how, (batch.items[0].id,))
        for how, batch in zip(("silence", "socket", "close 504"), PLACES, strict=True)
    ]
    for seen, batch in zip(deviates, PLACES, strict=True):
        asked(complaints, seen, batch=batch)
    rows = [found.to_json() for found in complaints._store.found]
    assert len(rows) == 3 and len({row["signature"] for row in rows}) == 3
    assert by_cause(rows) == [
        {
            "cause": rows[0]["cause"],
            "words": "conformance: a/row",
            "findings": [found.name for found in complaints._store.found],
        }
    ]


def test_findings_of_an_older_version_are_causes_of_their_own() -> None:
    rows = [{"oracle": "log", "signature": name, "top": "boom"} for name in "ab"]
    assert [row["findings"] for row in by_cause(rows)] == [["log-a"], ["log-b"]]


@pytest.mark.usefixtures("awake")
def test_of_a_mixed_batch_another_cause_in_a_known_place_is_a_finding(
    complaints: Complaints, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked(complaints, crash("go: nil in a.b"))
    other = crash("go: nil in c.d", "go: panic: other")
    monkeypatch.setattr(Told, "blame", lambda self, items, seen: Blame(Status.STABLE, other, items[0]))
    complaints.limit = BlameLimit()
    asked(complaints, crash("go: nil in a.b"), batch=MIXED)
    assert [found.cause for found in complaints._store.found] == ["go: nil in a.b", "go: nil in c.d"]


# --- batches of several families and states


def test_of_a_mixed_batch_the_place_of_the_input_to_blame_counts(complaints: Complaints) -> None:
    leak = Suspicion(Oracle.LEAK, "leak", "leak")
    assert asked(complaints, leak, batch=MIXED) == ["leak"]
    (found,) = complaints._store.found
    assert (found.family, found.state) == ("C09", "channel") and MIXED.place == ("several", "channel")
    assert asked(complaints, leak) == [], "its cell alone is known for it"


def test_what_comes_of_mixed_batches_again_and_again_ends_mixing(
    complaints: Complaints, monkeypatch: pytest.MonkeyPatch
) -> None:
    crash = Suspicion(Oracle.CRASH, "the target is gone", "gone")
    for _ in range(4):
        assert not complaints.is_confused
        assert asked(complaints, crash, batch=MIXED) == ["the target is gone"]
    monkeypatch.setattr(Subject, "awake", lambda self, within_s: False)
    with pytest.raises(TargetLost):
        asked(complaints, crash, batch=MIXED)
    assert complaints.is_confused and len(complaints._store.found) == 1
    assert complaints._tally.is_stopped(CELL.key), "what is to blame each time is sent no more"


def test_a_lost_canary_that_is_only_counted_restarts_the_target(
    complaints: Complaints, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The target may serve no one any more: the next batch would meet the same hang."""
    lost = Suspicion(Oracle.CANARY, CANARY_LOST, "nothing in 10 s")
    changed = Suspicion(Oracle.CANARY, "stored message changed", "changed")
    monkeypatch.setattr(Subject, "awake", lambda self, within_s: False)
    for seen in (lost, changed):
        assert asked(complaints, seen) == [seen.top]
    with pytest.raises(TargetLost):
        asked(complaints, lost)
    assert complaints.concerns(BATCH, Check((lost,))), "what is on the way has to end first"
    assert asked(complaints, changed) == [] and not complaints.concerns(BATCH, Check((changed,)))


def test_a_cause_is_made_small_once(complaints: Complaints, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(complaints, "_order", replace(complaints._order, smaller=True))
    complaints.deferred.is_broad = True
    made: list[str] = []

    def smaller(self: Told, blame: Blame) -> Blame:
        made.append(blame.suspicion.top)
        return blame

    monkeypatch.setattr(Told, "smaller", smaller)
    named = Suspicion(Oracle.CRASH, "the target is gone; go: panic", "gone")
    bare = Suspicion(Oracle.CRASH, "the target is gone", "gone")
    for seen in (named, bare):
        for batch in (BATCH, Batch([OTHER.input(0)], Position(), (Span(OTHER, range(1)),))):
            asked(complaints, seen, batch=batch)
    assert made == [named.top, bare.top, bare.top]


def test_every_cell_comes_before_smaller_inputs(
    complaints: Complaints, monkeypatch: pytest.MonkeyPatch
) -> None:
    def smaller(self: Told, blame: Blame) -> Blame:
        assert blame.item is not None
        return replace(blame, item=replace(blame.item, steps=(b"\x08",)), asks=7)

    monkeypatch.setattr(complaints, "_order", replace(complaints._order, smaller=True))
    monkeypatch.setattr(Told, "smaller", smaller)
    triage = Slow(complaints)
    complaints.deferred = Deferred(1e9, 0.3)
    complaints.take(triage, BATCH, Check((Suspicion(Oracle.CRASH, "the target is gone", "gone"),)))
    (whole,) = complaints._store.found
    assert (whole.item, whole.asks) == (BATCH.items[0], 0)
    may = [complaints.next_step() is not None]
    complaints.deferred.is_broad = True
    may.append(complaints.next_step() is not None)
    followed(complaints, triage)
    may.append(complaints.next_step() is not None)
    (small,) = complaints._store.found
    assert small.item is not None and (small.item.steps, small.asks) == ((b"\x08",), 7)
    place = complaints._order.out / "findings" / whole.name
    assert (place / "input.bin").read_bytes() == b"\x08"
    assert may == [False, True, False], "not before every cell, and once"


def test_known_deviations_and_lines_of_a_log_confuse_nobody(complaints: Complaints) -> None:
    deviates = Suspicion(Oracle.CONFORMANCE, "a/row: silence", "silence", (CELL.input(0).id,))
    for seen in (deviates, line(OLD)):
        assert asked(complaints, seen, batch=MIXED) == [seen.top]
        for _ in range(5):
            assert asked(complaints, seen, batch=MIXED) == []
    assert not complaints.is_confused


# --- suspicions that wait


class Slow(Told):
    """Blame takes so long that none has time any more."""

    def blame(self, items: Sequence[FuzzInput], seen: Suspicion) -> Blame:
        self.deferred._spent_s += 1e6
        return super().blame(items, seen)

    def __init__(self, complaints: Complaints) -> None:
        super().__init__(complaints._order.subject)
        self.deferred = complaints.deferred


def test_behind_much_blame_suspicions_wait_each_cause_once(waiting: Complaints) -> None:
    triage = Slow(waiting)
    waiting.take(triage, BATCH, Check((line(OLD),)))
    assert not triage.asked and not waiting.concerns(BATCH, Check((line(OLD),))), "sending goes on"
    followed(waiting, triage)
    assert triage.asked == [line(OLD).top] and not waiting.deferred.is_due(Oracle.LOG)
    for batch in (BATCH, MIXED, BATCH):
        waiting.take(triage, batch, Check((line(NEW),)))
        followed(waiting, triage)
    assert triage.asked == [line(OLD).top] and len(waiting.deferred) == 1 and waiting._tally.repeats == 2
    waiting.deferred.is_closing = True
    followed(waiting, triage)
    assert triage.asked == [line(OLD).top, line(NEW).top] and not len(waiting.deferred)


def test_one_stretch_of_blame_follows_many_causes_and_the_next_one_comes_later(
    waiting: Complaints, monkeypatch: pytest.MonkeyPatch
) -> None:
    time_s = [1000.0]
    monkeypatch.setattr("amqpspec.fuzz.campaign.deferred.now_s", lambda: time_s[0])
    waiting.deferred = Deferred(600.0, 1 / 3)
    triage, tops = Told(waiting._order.subject), [line(text).top for text in (OLD, NEW, "x", "y")]
    waiting.take(triage, BATCH, Check((line(OLD), line(NEW))))
    followed(waiting, triage)
    assert triage.asked == tops[:2]
    for text in "xy":
        time_s[0] += 4
        waiting.take(triage, BATCH, Check((line(text),)))
        followed(waiting, triage)
    assert triage.asked == tops[:2], "8 s after the first stretch"
    time_s[0] += 4
    followed(waiting, triage)
    assert triage.asked == tops


def test_what_was_due_is_followed_when_the_time_for_blame_has_just_passed(waiting: Complaints) -> None:
    """Between the decision and its step, a campaign waits for the last answers, which takes time of blame."""
    triage = Slow(waiting)
    waiting.take(triage, BATCH, Check((line(OLD),)))
    step = waiting.next_step()
    waiting.deferred._spent_s = 1e6
    assert step is not None
    step(triage)
    assert triage.asked == [line(OLD).top] and waiting.next_step() is None


class Revived(Told):
    """Restarts are counted."""

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self.restarts = 0

    def revive(self) -> None:
        self.restarts += 1


def test_the_cause_of_a_crash_is_sought_when_every_cell_has_had_its_turn(
    waiting: Complaints, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject = replace(waiting._order.subject, restart=lambda: None)
    monkeypatch.setattr(waiting, "_order", replace(waiting._order, subject=subject))
    triage = Revived(subject)
    ends = [Suspicion(Oracle.CRASH, "the target is gone", "gone", (item.id,)) for item in MIXED.items]
    for seen in ends:
        waiting.take(triage, MIXED, Check((seen,)))
        followed(waiting, triage)
        assert waiting.met_known, "what is left of the batch is put off"
    assert (triage.restarts, triage.asked) == (2, [])
    waiting.take(triage, BATCH, Check((ends[0],)))
    assert triage.asked == [ends[0].top], "a batch of one cell has few suspects"
    waiting.deferred.is_broad = True
    followed(waiting, triage)
    assert len(triage.asked) == 3 and not len(waiting.deferred)


def test_without_a_restart_a_crash_is_followed_at_once(waiting: Complaints) -> None:
    triage = Revived(waiting._order.subject)
    waiting.take(triage, MIXED, Check((Suspicion(Oracle.CRASH, "the target is gone", "gone"),)))
    assert triage.asked == ["the target is gone"]


def test_what_finds_no_room_is_a_finding_without_blame(waiting: Complaints) -> None:
    for number in range(66):
        waiting.take(Told(waiting._order.subject), BATCH, Check((line(f"x{'y' * number}"),)))
    assert [found.status for found in waiting._store.found] == [Status.UNBLAMED] * 2
    assert len(waiting.deferred) == 64


def test_a_blame_under_way_counts(complaints: Complaints, monkeypatch: pytest.MonkeyPatch) -> None:
    times_s = iter([0.0, 0.0, 10.0, 10.0, 50.0, 50.0, 50.0, 60.0])
    monkeypatch.setattr("amqpspec.fuzz.campaign.deferred.now_s", lambda: next(times_s))
    deferred = Deferred(600.0, 0.3)
    with deferred.timed():
        assert deferred.is_due(Oracle.LOG), "10 s are spent"
        assert not deferred.is_due(Oracle.LOG), "50 s are spent"


@pytest.mark.parametrize("oracle", [Oracle.CRASH, Oracle.HANG, Oracle.LEAK, Oracle.CANARY])
def test_what_spoils_a_target_never_waits(waiting: Complaints, oracle: Oracle) -> None:
    triage = Slow(waiting)
    waiting.take(triage, BATCH, Check((line(OLD),)))
    waiting.take(triage, BATCH, Check((Suspicion(oracle, "spoilt", "spoilt"),)))
    assert triage.asked == ["spoilt"] and len(waiting.deferred) == 1


def test_what_waits_at_the_end_is_a_finding_and_waits_on_in_the_next_part(complaints: Complaints) -> None:
    seen = Suspicion(Oracle.LOG, "jvm: x", "x", (CELL.input(1).id,))
    assert complaints.deferred.put(BATCH, seen)
    complaints.leave_deferred()
    (found,) = complaints._store.found
    assert found.status is Status.UNBLAMED and not complaints.unfinished
    ((batch, again),) = Deferred(60.0, 0.3, json.loads(json.dumps(complaints.deferred.to_json())))
    assert again == seen and [item.id for item in batch.items] == [item.id for item in BATCH.items]


def test_a_late_answer_waits_behind_all_others_until_the_budget_nears_its_end() -> None:
    slow = Suspicion(Oracle.LATE, "late answer", "late", (CELL.input(1).id,))
    early, closing = Deferred(1e9, 0.3), Deferred(1e9, 0.3)
    for deferred in (early, closing):
        assert deferred.put(BATCH, slow) and deferred.put(BATCH, line(OLD))
    assert early.take()[1] == line(OLD) and not early.has_due
    closing.is_closing = True
    assert [closing.take()[1], closing.take()[1]] == [slow, line(OLD)]
    assert Deferred(1e9, 1.0).is_due(Oracle.LATE), "where blame may take all the time, nothing waits"


def test_what_costs_restarts_waits_for_every_cell_and_for_what_costs_none() -> None:
    deferred = Deferred(1e9, 0.3)
    grows, burns = (
        Suspicion(Oracle.MEMORY, "memory grows", "a"), Suspicion(Oracle.CPU, "processor burns", "b")
    )  # fmt: skip
    for seen in (grows, line(OLD), burns, line(NEW)):
        assert deferred.put(BATCH, seen)
    assert not deferred.is_due(Oracle.MEMORY) and not deferred.is_due(Oracle.CPU)
    deferred.is_broad = True
    assert [deferred.take()[1] for _ in range(4)] == [line(OLD), line(NEW), grows, burns]


def test_what_is_cut_short_waits_on(complaints: Complaints, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_late(*args: object) -> Blame:
        raise OutOfTime

    triage = Slow(complaints)
    monkeypatch.setattr(triage, "blame", too_late)
    complaints.deferred.put(BATCH, line(OLD))
    complaints.follow_deferred(triage)
    assert complaints.unfinished and [seen for _, seen in complaints.deferred] == [line(OLD)]
    assert not complaints._store.found, "it is a finding once, at the end"


def test_what_cannot_be_made_again_waits_no_more() -> None:
    saved = Deferred(60.0, 0.3)
    saved.put(BATCH, line(OLD))
    (row,) = saved.to_json()
    for bent in (
        {**row, "batch": {"ids": ["g:00000000/C09/x/y/s0/0"]}},
        {**row, "oracle": 3, "top": None},
        {},
    ):
        assert not len(Deferred(60.0, 0.3, [bent]))


def test_so_many_causes_wait_and_no_more() -> None:
    deferred = Deferred(60.0, 0.3)
    assert all(deferred.put(BATCH, line(str(n))) for n in range(64)) and not deferred.put(BATCH, line("x"))
    assert deferred.put(BATCH, line("3")), "a cause that waits already needs no room"


def test_a_target_that_holds_what_nobody_is_blamed_for_is_restarted(
    waiting: Complaints, monkeypatch: pytest.MonkeyPatch
) -> None:
    triage = Slow(waiting)
    renewed: list[int] = []
    monkeypatch.setattr(triage, "renew", lambda: renewed.append(1))
    grows = Suspicion(Oracle.MEMORY, "memory grows", "grows")
    waiting.take(triage, BATCH, Check((line(OLD),)))
    for _ in range(2):
        waiting.take(triage, MIXED, Check((grows,), grown_octets=400 << 20))
    check = Check((grows,), grown_octets=400 << 20)
    assert not renewed and waiting.concerns(MIXED, check), "what waits must not be cut off by the restart"
    waiting.take(triage, MIXED, check)
    assert renewed == [1] and not waiting.concerns(MIXED, check)
