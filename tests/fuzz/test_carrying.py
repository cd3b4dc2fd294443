"""Batches that do not wait for their slowest input: what is carried on, when its result comes, what it says."""

from __future__ import annotations

import os
import resource
import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from amqpspec.fuzz.campaign.batches import BatchRunner
from amqpspec.fuzz.campaign.campaign import Campaign
from amqpspec.fuzz.campaign.complaints import Complaints
from amqpspec.fuzz.campaign.deferred import Deferred
from amqpspec.fuzz.campaign.journal import read_progress
from amqpspec.fuzz.campaign.progress import Progress
from amqpspec.fuzz.campaign.readiness import Readiness
from amqpspec.fuzz.campaign.schedule import Batch
from amqpspec.fuzz.executor.address import Address
from amqpspec.fuzz.executor.connections import MOST_CARRIED, room_to_wait
from amqpspec.fuzz.executor.conversation import Conversation
from amqpspec.fuzz.executor.gates import MANY_LOST
from amqpspec.fuzz.executor.loop import Executor
from amqpspec.fuzz.executor.result import End
from amqpspec.fuzz.executor.tempo import Tempo
from amqpspec.fuzz.oracles.suspicion import Oracle, Suspicion
from amqpspec.record.journal import JournalError, read_journal
from amqpspec.record.observation import VERDICT_CODES
from amqpspec.record.rows import Outcome as Verdict
from amqpspec.reference.server import ReferenceBroker
from tests.fuzz.kit import order_of, subject_of
from tests.fuzz.test_campaign_faults import rows
from tests.fuzz.test_complaints import asked, line
from tests.fuzz.test_executor import item, named, server

TEMPO = Tempo(quiet_s=2.0, settle_s=0.05, refusal_s=2.0, way_s=5.0, partial_s=2.0)


@contextmanager
def mute() -> Iterator[Address]:
    """A server that reads what arrives and sends nothing until the client disconnects."""
    kept: list[socket.socket] = []
    with server(lambda taken: kept.append(taken.dup())) as address:
        yield address
    for one in kept:
        one.close()


def carrying(address: Address, tempo: Tempo = TEMPO, connections: int = 8) -> closing[Executor]:
    """An executor that does not wait for its slowest input; it is closed in the end."""
    executor = Executor(address, named, tempo, connections)
    executor.carrying = True
    return closing(executor)


def test_a_run_ends_when_the_rest_only_waits_and_its_results_come_by_finish() -> None:
    silent = [replace(item("raw", b"x"), words=str(n)) for n in range(4)]
    with mute() as address, carrying(address) as executor:
        assert list(executor.run(silent)) == []
        assert {one.words for one in executor.waiting} == {"0", "1", "2", "3"}
        found = list(executor.finish())
    assert {o.item.words for o in found} == {"0", "1", "2", "3"} and executor.waiting == []
    assert all(o.reached and o.end is End.OPEN and o.reaction == "silence" for o in found)


def test_what_waits_takes_no_room_from_the_next_run() -> None:
    with mute() as address, carrying(address, TEMPO, 2) as executor:
        for n in range(3):
            assert list(executor.run([item("raw", b"x"), item("raw", b"y")])) == []
            assert len(executor.waiting) == 2 * (n + 1)
        assert len(list(executor.finish())) == 6


def test_what_only_waits_takes_no_room_from_the_same_run() -> None:
    with mute() as address, carrying(address, TEMPO, 2) as executor:
        assert list(executor.run([item("raw", bytes([n])) for n in range(7)])) == []
        assert len(executor.waiting) == 7


def test_no_more_wait_than_there_is_room_for() -> None:
    hasty = replace(TEMPO, quiet_s=0.3, partial_s=0.3, refusal_s=0.3)
    with mute() as address, carrying(address, hasty, 2) as executor:
        executor.most_carried = 3
        found = list(executor.run([item("raw", bytes([n])) for n in range(12)]))
        assert len(executor.waiting) <= 3 and len(found) + len(executor.waiting) == 12


def test_what_is_answered_after_a_silence_only_waits_no_longer() -> None:
    kept: list[socket.socket] = []
    with server(lambda taken: kept.append(taken.dup())) as address, carrying(address) as executor:
        assert list(executor.run([item("raw", b"x")])) == [] and len(executor._idle) == 1
        kept[0].sendall(b"AMQP\x00\x00\x09\x01")
        executor.serve(0.05)
        assert not executor._idle
    kept[0].close()


def test_room_to_wait_is_half_of_the_descriptors() -> None:
    assert room_to_wait(None) == MOST_CARRIED
    ours = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    assert room_to_wait(os.getpid()) == min(4096, ours // 2)
    child = subprocess.Popen(
        ["sh", "-c", "ulimit -n 100; echo; exec cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdout is not None and child.stdin is not None
    child.stdout.readline()
    assert room_to_wait(child.pid) == 50
    child.stdin.close()
    child.wait()
    child.stdout.close()
    assert room_to_wait(child.pid) == MOST_CARRIED, "a process that is gone has none"


def test_room_to_wait_is_fixed_on_systems_that_do_not_report_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(psutil, "RLIMIT_NOFILE")
    assert room_to_wait(os.getpid()) == MOST_CARRIED


def test_answers_that_come_while_time_passes_come_with_the_next_run() -> None:
    """The server takes what arrives, and closes each connection on request."""
    kept: list[socket.socket] = []
    with server(lambda taken: kept.append(taken.dup())) as address, carrying(address) as executor:
        assert list(executor.run([item("raw", b"x"), item("raw", b"y")])) == []
        for one in kept:
            one.shutdown(socket.SHUT_RDWR)
        executor.serve(0.2)
        assert len(executor.waiting) == 2
        found = list(executor.run([]))
        assert [result.end for result in found] == [End.FIN] * 2 and executor.waiting == []
    for one in kept:
        one.close()


def test_a_state_into_which_nobody_comes_keeps_no_other_waiting() -> None:
    """The server never answers, so that no one comes beyond its silence; directly after connecting all do."""
    hasty = replace(TEMPO, way_s=0.2, quiet_s=0.2)
    with mute() as address, carrying(address, hasty) as executor:
        shut = [item("channel", bytes([n])) for n in range(40)]
        begun = list(executor.run(shut))
        assert begun and all(o.late for o in begun) and len(begun) < len(shut)
        assert list(executor.run(shut)) == [], "nothing more is begun of it for a while"
        assert [o.item.state for o in (*executor.run([item("raw", b"x")]), *executor.finish())] == ["raw"]
        assert list(executor.run(shut)), "behind that, it may be another target"


def test_without_carrying_a_run_is_whole() -> None:
    with mute() as address, closing(Executor(address, named, TEMPO, 8)) as executor:
        assert len(list(executor.run([item("raw", b"x")] * 2))) == 2 and executor.waiting == []


def test_a_run_that_is_cut_off_leaves_nothing_waiting() -> None:
    with mute() as address, carrying(address) as executor:
        list(executor.run([item("raw", b"x")]))
        executor.drop()
        assert executor.waiting == [] and list(executor.finish()) == []


def test_a_state_is_tried_again_after_the_input_that_tried_it_was_given_up() -> None:
    with mute() as address, carrying(address) as executor:
        for _ in range(MANY_LOST):
            executor._gates.lost("start")
        executor._gates.shut("start")
        executor._gates.retry()
        run = executor.run([item("start", b"x"), item("raw", b"x")])
        executor.tempo = replace(TEMPO, quiet_s=0.1, partial_s=0.1)
        next(run)
        assert not executor._gates.admits("start"), "an input is on the way into it"
        del run
        assert executor._gates.admits("start")


def test_a_pause_of_ours_is_neither_delay_nor_patience() -> None:
    conversation = Conversation(item("raw", b"x"), named(1), TEMPO, 100.0)
    conversation.connected(100.0)
    conversation.out.clear()
    conversation.flushed(100.0)
    assert not conversation.only_waits(100.05) and conversation.only_waits(100.2)
    due_s = conversation.deadline_s
    conversation.postponed(40.0)
    assert conversation.deadline_s == pytest.approx(due_s + 40.0)
    conversation.heard(b"AMQP\x00\x00\x09\x01", 140.2)
    conversation.ended(End.FIN, 140.2)
    assert conversation.result is not None
    assert conversation.result.timing.latency_s == pytest.approx(0.2)


def test_on_the_way_nothing_only_waits() -> None:
    conversation = Conversation(item("channel", b"x"), named(1), TEMPO, 100.0)
    conversation.connected(100.0)
    conversation.out.clear()
    assert not conversation.only_waits(200.0)


def test_every_input_of_a_campaign_has_a_row_and_those_that_come_late_are_judged(tmp_path: Path) -> None:
    """The broker ignores frames of an unknown type, so that refusals that are due never come."""
    with ReferenceBroker("amqp-0-9-1", faults=["not-refused:amq_wlp_frame_02"]) as broker:
        order = order_of(subject_of(broker, patience=0.2), tmp_path, patterns=("C04/frame.size/channel",))
        campaign = Campaign(order).run()
    found, journal = rows(tmp_path), read_journal(tmp_path)
    waiting = {id for one in journal if one["kind"] == "done" for id in one["waiting"]}
    assert len(found) == campaign.progress.tally.inputs and waiting <= {row["input"] for row in found}
    assert waiting and campaign.progress.tally.undecided == 0
    found_by = {
        (one["oracle"], one["status"], one["top"].partition(":")[0]) for one in campaign.summary()["findings"]
    }
    assert found_by == {("conformance", "stable", "amq_wlp_frame_02")}


def test_a_line_that_is_explained_neither_keeps_batches_small_nor_is_blamed_again(
    complaints: Complaints,
) -> None:
    boom = line("java.lang.NullPointerException")
    asked(complaints, boom)
    assert complaints.of_a_whole == 1 and not complaints.limit.allows(boom)
    asked(complaints, boom)
    assert complaints.of_a_whole == 1
    memory = Suspicion(Oracle.MEMORY, "memory grows", "100 MiB")
    complaints.deferred = Deferred(600.0, 1 / 3)
    asked(complaints, memory)
    assert complaints.of_a_whole == 1, "it waits until sending stops for a stretch of blame"
    complaints.deferred.is_closing = True
    asked(complaints, memory)
    assert complaints.of_a_whole == 2 and complaints.limit.allows(memory)


def test_what_waited_when_a_retry_ended_the_target_is_not_decided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results that came before the retry are judged; those of connections that the restart ended are not."""
    take, waited = BatchRunner._take, list[str]()

    def retried(self: BatchRunner, *given: Any) -> None:
        take(self, *given)
        if not waited and self._sender.waiting:
            waited.extend(str(item.id) for item in self._sender.waiting)
            broker.restart()
            self._triage.revivals += 1

    monkeypatch.setattr(BatchRunner, "_take", retried)
    with ReferenceBroker("amqp-0-9-1", faults=["not-refused:amq_wlp_frame_02"]) as broker:
        subject = subject_of(broker, known=frozenset({"amq_wlp_frame_02"}))
        patterns = ("C04/frame.end/channel",)
        Campaign(order_of(subject, tmp_path, patterns=patterns, batch=8, budget_s=4.0)).run()
    verdicts = {row["verdict"] for row in rows(tmp_path) if row["input"] in waited}
    assert waited and verdicts == {VERDICT_CODES[Verdict.INCONCLUSIVE]}


def test_what_waited_on_a_target_that_has_gone_is_not_decided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two batches the target is restarted: its connections end, and that refuses nothing."""
    ensure, asked = Readiness.ensure, list[int]()

    def restarted(self: Readiness, last: Batch | None) -> None:
        asked.append(1)
        if len(asked) == 2:
            broker.restart()
            self._triage.revivals += 1
        ensure(self, last)

    monkeypatch.setattr(Readiness, "ensure", restarted)
    with ReferenceBroker("amqp-0-9-1", faults=["not-refused:amq_wlp_frame_02"]) as broker:
        subject = subject_of(broker, known=frozenset({"amq_wlp_frame_02"}))
        order = order_of(subject, tmp_path, patterns=("C04/frame.end/channel",), batch=8, budget_s=4.0)
        Campaign(order).run()
    first = next(one for one in read_journal(tmp_path) if one["kind"] == "done")
    found = {row["input"]: row["verdict"] for row in rows(tmp_path) if row["input"] in first["waiting"]}
    assert found and set(found.values()) == {VERDICT_CODES[Verdict.INCONCLUSIVE]}


@pytest.mark.parametrize("how", [JournalError("full"), KeyboardInterrupt()], ids=["full", "interrupted"])
def test_what_waited_when_a_campaign_was_cut_off_is_sent_again(tmp_path: Path, how: BaseException) -> None:
    waited: set[str] = set()

    def stop(progress: Progress) -> None:
        waited.update(str(item.id) for batch in campaign._behind() for item in batch.items)
        if waited:
            raise how

    with ReferenceBroker("amqp-0-9-1", faults=["not-refused:amq_wlp_frame_02"]) as broker:
        subject = subject_of(broker, known=frozenset({"amq_wlp_frame_02"}))
        order = order_of(subject, tmp_path, patterns=("C04/frame.end/channel",), batch=8, notify=stop)
        campaign = Campaign(order)
        with suppress(JournalError):
            campaign.run()
        assert waited and not waited & {row["input"] for row in rows(tmp_path)}
        assert {id for one in read_progress(tmp_path)["put_off"] for id in one["inputs"]} == waited
        resumed = Campaign(replace(order, resume=True, notify=lambda progress: None)).run()
    assert resumed.ended == "all done" and resumed.progress.tally.undecided == 0
    assert waited <= {row["input"] for row in rows(tmp_path)}
