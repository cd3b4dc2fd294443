"""What becomes of complaints that come together: the worst explains, but hides no other line of the log."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from amqpspec.fuzz.campaign.complaints import Complaints
from amqpspec.fuzz.campaign.energy import Energy
from amqpspec.fuzz.campaign.finding_store import FindingStore
from amqpspec.fuzz.campaign.journal import CampaignJournal
from amqpspec.fuzz.campaign.order import CampaignOrder
from amqpspec.fuzz.campaign.pace import Pace
from amqpspec.fuzz.campaign.schedule import Batch, Position, Span
from amqpspec.fuzz.campaign.tally import Tally
from amqpspec.fuzz.executor.loop import Address
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.executor.tempo import Tempo
from amqpspec.fuzz.inputs.catalogue import by_key
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.oracles.monitor import Check, Monitor
from amqpspec.fuzz.oracles.suspicion import Oracle, Suspicion
from amqpspec.fuzz.triage.triage import Blame, Status, Triage

CELL = by_key("amqp-0-9-1")["amqp-0-9-1/C09/order.twice/channel"]
BATCH = Batch([CELL.input(n) for n in range(4)], Position(), (Span(CELL, range(4)),))
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
def complaints(tmp_path: Path) -> Complaints:
    subject = Subject("r", "amqp-0-9-1", Address("127.0.0.1", 1))
    order = CampaignOrder(subject, tmp_path, smaller=False)
    pace = Pace(128, lambda inputs: 0.0)
    journal = CampaignJournal(tmp_path)
    store = FindingStore(tmp_path, subject, journal, lambda: 0.0)
    return Complaints(order, store, Tally(), Energy("amqp-0-9-1"), pace, journal)


def asked(complaints: Complaints, *seen: Suspicion, log: str = "") -> list[str]:
    triage = Told(complaints._order.subject, log)
    complaints.take(triage, BATCH, Check(seen))
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
