"""Ports as the way from a line of the log to an input: in results, while inputs wait, and in complaints."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from amqpspec.fuzz.campaign.campaign import Campaign
from amqpspec.fuzz.campaign.complaints import Complaints
from amqpspec.fuzz.campaign.schedule import Batch
from amqpspec.fuzz.executor.loop import Executor
from amqpspec.fuzz.executor.result import InputResult
from amqpspec.fuzz.inputs.catalogue import by_key
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import InputId
from amqpspec.fuzz.oracles.log import complaints
from amqpspec.fuzz.oracles.monitor import Check, Monitor
from amqpspec.fuzz.oracles.senders import with_senders
from amqpspec.fuzz.oracles.suspicion import Oracle, Suspicion
from amqpspec.fuzz.triage.triage import Triage
from amqpspec.reference.server import ReferenceBroker
from tests.fuzz.kit import order_of, subject_of
from tests.fuzz.test_carrying import carrying, mute
from tests.fuzz.test_executor import QUICK, item, named, server

CELL = by_key("amqp-0-9-1")["amqp-0-9-1/C09/order.twice/channel"]
IDS = [CELL.id(n) for n in range(6)]
SENT = list(zip((41_001, 41_002, 41_003, 41_002, 41_004, 41_005), IDS, strict=True))

BEAM = """[info] <0.9.0> accepting AMQP connection <0.9.0> (127.0.0.1:41001 -> 127.0.0.1:5672)
2026-11-26 21:05:19.5+00:00 [error] <0.7.0>   crasher:
2026-11-26 21:05:19.5+00:00 [error] <0.7.0>     exception error: no function clause matching
2026-11-26 21:05:19.5+00:00 [error] <0.7.0>         some_parser:parse_table(<<127,107>>) (x.erl)
2026-11-26 21:05:19.5+00:00 [error] <0.7.0>     dictionary: [{process_name,
2026-11-26 21:05:19.5+00:00 [error] <0.7.0>                       {reader,<<"127.0.0.1:41003 -> 127.0.0.1:5672">>}}]
[info] <0.9.0> accepting AMQP connection <0.9.0> (127.0.0.1:41005 -> 127.0.0.1:5672)
"""
JVM = """INFO remote=/127.0.0.1:41004: opened
WARN remote=/127.0.0.1:41005: failed
java.lang.NullPointerException
\tat a.B.c(B.java:41001)
"""


def suspects(log: str, sent: Sequence[tuple[int, InputId]] = SENT) -> list[tuple[InputId, ...]]:
    """The inputs named by the complaints of a log."""
    return [seen.inputs for seen in with_senders(Check(tuple(complaints(log)), log), sent).suspicions]


def test_the_port_after_a_complaint_names_its_input() -> None:
    assert suspects(BEAM) == [(IDS[2],)]


def test_the_line_before_names_it_where_nothing_after_does() -> None:
    assert suspects(JVM.replace("41001", "41")) == [(IDS[5],)]


def test_of_several_inputs_on_a_connection_the_last_is_the_first_suspect() -> None:
    assert suspects(BEAM.replace("41003", "41002")) == [(IDS[3], IDS[1])]


def test_two_complaints_have_two_suspects() -> None:
    other = BEAM.replace("41003", "41004").replace("parse_table", "parse_array")
    assert suspects(BEAM + "[info] a\n" * 60 + other) == [(IDS[2],), (IDS[4],)]


@pytest.mark.parametrize(
    "log",
    [
        BEAM.replace("41003", "41999").replace("41005", "41998").replace("41001", "41997"),
        BEAM.replace(":41003", ":5").replace(":41005", "x41005").replace(":41001", " 41001"),
        "\n" * 70 + BEAM.split("\n", 1)[1].replace("41003", "x").replace("41005", "y"),
    ],
)
def test_other_numbers_name_no_one(log: str) -> None:
    assert suspects(log) == [()]


def test_a_port_far_away_belongs_to_another_line() -> None:
    far = "[info] a\n" * 70
    assert suspects(
        f"[info] 127.0.0.1:41001\n{far}java.lang.NullPointerException\n{far}127.0.0.1:41002\n"
    ) == [()]


def test_only_the_log_is_asked() -> None:
    log = "Traceback (most recent call last):\nKeyError: 1\n127.0.0.1:41001\n"
    known = Suspicion(Oracle.LOG, "a", "Traceback (most recent call last):", (IDS[4],))
    others = Suspicion(Oracle.MEMORY, "memory grows", "127.0.0.1:41001"), known
    assert with_senders(Check(others, log), SENT) == Check(others, log)


# --- where ports come from


def test_results_name_the_port_of_their_connection() -> None:
    seen: list[int] = []

    def serve(taken: socket.socket) -> None:
        seen.append(taken.getpeername()[1])
        taken.recv(100)

    with server(serve) as address, closing(Executor(address, named, QUICK, 4)) as executor:
        found = list(executor.run([item("raw", bytes([n])) for n in range(4)]))
    assert sorted(one.port for one in found) == sorted(seen) and len(set(seen)) == 4


def test_what_waits_is_known_by_its_port() -> None:
    with mute() as address, carrying(address) as executor:
        assert list(executor.run([item("raw", bytes([n])) for n in range(3)])) == []
        waiting = executor.ports
        assert list(waiting.values()) == [one.id for one in executor.waiting]
        assert {one.port for one in executor.finish()} == set(waiting) and executor.ports == {}


@pytest.mark.parametrize("workers", [1, 2])
def test_a_campaign_finds_the_suspects_of_each_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    after, taken = Monitor.after, list[tuple[Batch, Check]]()

    def logging(
        self: Monitor, results: Sequence[InputResult], waiting: Sequence[FuzzInput] = (), **more: bool
    ) -> Check:
        check = after(self, results, waiting)
        log = f"Traceback (most recent call last):\nKeyError: 1\n127.0.0.1:{results[-1].port}\n"
        return replace(check, suspicions=tuple(complaints(log)), log=log)

    def take(self: Complaints, triage: Triage, batch: Batch, check: Check) -> None:
        taken.append((batch, check))

    monkeypatch.setattr(Monitor, "after", logging)
    monkeypatch.setattr(Complaints, "take", take)
    with ReferenceBroker("amqp-0-9-1") as broker:
        order = order_of(
            subject_of(broker),
            tmp_path,
            60.0,
            patterns=("C09/order.twice/channel",),
            batch=4,
            workers=workers,
        )
        Campaign(order).run()
    named = [seen.inputs for _, check in taken for seen in check.suspicions]
    assert named and all(named)
    assert all(
        {item.id for item in batch.items}.issuperset(ids)
        for (batch, _), ids in zip(taken, named, strict=True)
    )
