"""Planted defects: each strikes where it should, is found by its oracle, and counts as found only then."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from amqpspec.fuzz.campaign.campaign import Campaign
from amqpspec.fuzz.campaign.schedule import chosen_cells
from amqpspec.fuzz.executor.client import Client, Unanswered
from amqpspec.fuzz.inputs.catalogue import by_key
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.oracles.process import gauge
from amqpspec.fuzz.oracles.suspicion import Oracle, Suspicion
from amqpspec.fuzz.parts import fuzzed_dialects
from amqpspec.fuzz.selftest.defects import KINDS, Defect, defect, defects
from amqpspec.fuzz.selftest.effects import EFFECTS
from amqpspec.fuzz.selftest.frames import FrameCondition
from amqpspec.fuzz.selftest.part import frames_in, is_met
from amqpspec.fuzz.selftest.process import SeededBroker
from amqpspec.fuzz.selftest.selftest import CELLS, Clean, Detection, SelfTest, seek, selftest
from amqpspec.fuzz.states.model import Values
from amqpspec.fuzz.states.ways import octets_of_step, states
from amqpspec.fuzz.triage.findings import Finding
from amqpspec.fuzz.triage.triage import Status
from amqpspec.run.exits import Exit
from tests.waiting import until

DIALECTS = fuzzed_dialects()

CELL = by_key("amqp-0-9-1")["amqp-0-9-1/C09/order.client/consuming"]
RARE = next(item for item in CELL if defect("amqp-0-9-1/crash@rare").is_in(item.octets))
OTHER = next(item for item in CELL if not defect("amqp-0-9-1/crash@rare").is_in(item.octets))
PUBLISH = bytes.fromhex("01000100000009003c00280000000000ce")


def finding(item: FuzzInput | None, oracle: Oracle = Oracle.CRASH) -> Finding:
    return Finding("0" * 12, Status.STABLE, Suspicion(oracle, "x", "x"), "amqp-0-9-1", "C09", "channel", item)


def test_each_oracle_over_the_target_has_a_defect_at_two_spots_of_each_dialect() -> None:
    assert set(KINDS.values()) == set(Oracle) - {Oracle.CONFORMANCE}
    assert len(defects()) == 2 * len(KINDS) * len(DIALECTS) == 20 * len(DIALECTS)
    assert set(EFFECTS) == set(KINDS)
    assert len({d.name for d in defects()}) == len(defects())


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("place", ["rare", "common"])
def test_cells_of_the_self_test_strike_and_ways_do_not(dialect: str, place: str) -> None:
    planted = next(d for d in defects((dialect,)) if d.place == place)
    hits = [i for cell in chosen_cells(dialect, CELLS) for i in cell if planted.is_in(i.octets)]
    assert len(hits) >= 10
    for state in states(dialect).values():
        for step in state.steps:
            assert not planted.is_in(octets_of_step(dialect, step, Values()))


def test_a_spot_is_a_name_a_value_or_octets() -> None:
    (said,) = frames_in("amqp-0-9-1", PUBLISH)
    assert said.name == "basic.publish" and said.channel == 1 and said.fields["routing_key"] == "''"
    assert FrameCondition(frozenset({"basic.publish"})).is_at(said) and not FrameCondition(
        frozenset({"basic.get"})
    ).is_at(said)
    assert FrameCondition(field="mandatory", value="False").is_at(said) and not FrameCondition(
        field="mandatory", value="True"
    ).is_at(said)
    assert FrameCondition(octets=b"\x3c\x00\x28").is_at(said) and not FrameCondition(
        octets=b"\x3c\x00\x29"
    ).is_at(said)
    assert not is_met(FrameCondition(frozenset({"basic.publish"})), "amqp-0-9-1", PUBLISH[:-1])


def test_frames_of_both_families_are_cut_up_to_what_cannot_be() -> None:
    assert [s.name for s in frames_in("amqp-0-9-1", PUBLISH + PUBLISH[:-1] + b"\x00" + PUBLISH)] == [
        "basic.publish"
    ]
    end = bytes.fromhex("0000000c02000000" + "00531745")
    assert [s.name for s in frames_in("amqp-1-0", b"AMQP\0\1\0\0" + end + end + end[:-1])] == ["end", "end"]


def test_a_defect_travels_as_one_line() -> None:
    planted = Defect(
        "throw", "drawn", FrameCondition(frozenset({"attach"}), "role", "True", b"\x00\xff"), "amqp-1-0"
    )
    assert Defect.from_json(planted.to_json()) == planted
    assert "\n" not in planted.to_json()


def test_a_defect_is_found_by_its_name() -> None:
    assert [defect(known.name) for known in defects()] == list(defects())
    for name in ("amqp-0-9-1/crash@nowhere", "amqp-7/crash@rare", "crash@rare"):
        with pytest.raises(KeyError):
            defect(name)


def test_a_detection_counts_by_what_it_blames() -> None:
    planted = defect("amqp-0-9-1/crash@rare")
    assert Detection(planted, finding(RARE), 1).right_blame
    assert not Detection(planted, finding(OTHER), 1).right_blame
    assert not Detection(planted, finding(None), 1).right_blame
    assert "not found" in Detection(planted, None, 1).line


def test_the_counts_of_a_self_test() -> None:
    planted = defect("amqp-0-9-1/crash@rare")
    sound = Detection(planted, finding(RARE), 5, replayed=True)
    good = SelfTest([sound])
    said = good.to_json()
    assert (said["seeded"], said["found"], said["right_blame"], said["false_alarms"]) == (1, 1, 1, 0)
    assert good.holds and "0.0 s" in good.table[1]
    assert not SelfTest([Detection(planted, None, 5)]).holds
    assert not SelfTest([replace(sound, false=(finding(OTHER),))]).holds
    assert not SelfTest([replace(sound, replayed=False)]).holds
    assert "not replayed" in replace(sound, replayed=False).line
    clean = [Clean("amqp-0-9-1", 10, 0, (finding(OTHER),))]
    assert not SelfTest([sound], clean).holds


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_seeded_broker_dies_for_good_and_comes_back_on_its_port(dialect: str, tmp_path: Path) -> None:
    with SeededBroker(None, tmp_path, dialect) as broker:
        subject, first, port = broker.subject(), broker.pid, broker.port
        subject.greet(10.0)
        assert first is not None and first != os.getpid()
        os.kill(first, 9)
        until(lambda: not gauge(first).alive, "the broker is gone")
        broker.restart()
        assert broker.port == port and broker.pid != first
        subject.greet(10.0)
        last = broker.pid
    assert not gauge(last).alive


def test_a_nursery_whose_parent_is_gone_takes_its_broker_along(tmp_path: Path) -> None:
    broker = SeededBroker(None, tmp_path, "amqp-1-0")
    broker.start()
    pid = broker.pid
    assert broker._nursery is not None
    broker._nursery.kill()
    broker.stop()
    until(lambda: not gauge(pid).alive, "the broker is gone")


@pytest.mark.parametrize("name", ["amqp-0-9-1/crash@rare", "amqp-wire-9-1/wrong-user@rare"])
def test_a_planted_defect_is_found_and_the_right_input_blamed(name: str, tmp_path: Path) -> None:
    detection = seek(defect(name), tmp_path, cells=("C09/order.client/consuming",))
    assert detection.right_blame and not detection.false, detection.line
    assert detection.finding is not None and detection.finding.status is Status.STABLE


def test_a_finding_is_replayed_by_the_line_that_it_offers(tmp_path: Path) -> None:
    result = selftest(tmp_path / "a folder", [defect("amqp-wire-9-1/throw@common")], clean_budget_s=0)
    assert result.holds, result.detections[0].line
    place = next((tmp_path / "a folder").glob("*/findings/*"))
    assert f"replay '{place}'" in (place / "REPLAY").read_text()
    assert "exit code 1" in next((tmp_path / "a folder").glob("*/replay.txt")).read_text()


def test_a_stop_ends_the_self_test_and_not_one_campaign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(campaign: Campaign, *parts: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Campaign, "_batches", stopped)
    with pytest.raises(KeyboardInterrupt):
        selftest(tmp_path, [defect("amqp-0-9-1/crash@rare")])


def test_a_stop_leaves_no_process(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "amqpspec.cli.main", "fuzz", "--selftest", "-d", "amqp-wire-9-1"]
    running = subprocess.Popen([*command, "--out", str(tmp_path)], stdout=subprocess.DEVNULL)
    process = psutil.Process(running.pid)
    until(lambda: len(list(tmp_path.glob("*/journal.jsonl"))) >= 2, "two campaigns run side by side")
    started = process.children(recursive=True)
    assert len(started) >= 2 * 2
    running.send_signal(signal.SIGINT)
    assert running.wait() == Exit.HARNESS
    until(lambda: not any(gauge(one.pid).alive for one in started), "what it started is gone")


def test_a_line_that_does_nothing_is_no_replay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amqpspec.fuzz.triage.findings.shlex.quote", lambda place: place + "-elsewhere")
    result = selftest(tmp_path, [defect("amqp-wire-9-1/throw@common")], clean_budget_s=0)
    assert result.detections[0].right_blame and not result.detections[0].replayed and not result.holds


@pytest.mark.parametrize("kind", ["wrong-user", "corrupt", "throw"])
def test_defects_of_amqp_1_0_are_found(kind: str, tmp_path: Path) -> None:
    detection = seek(defect(f"amqp-1-0/{kind}@rare"), tmp_path, cells=("C09/order.twice/session",))
    assert detection.right_blame and not detection.false, detection.line


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("amqp-0-9-1/mute@rare", "C09/order.twice/channel"),
        ("amqp-wire-9-1/mixed-up@common", "C09/order.twice/channel"),
        ("amqp-1-0/mute@rare", "C09/order.twice/session"),
        ("amqp-1-0/mixed-up@rare", "C09/order.twice/session"),
    ],
)
def test_a_connection_that_no_longer_obeys_is_found(name: str, cell: str, tmp_path: Path) -> None:
    detection = seek(defect(name), tmp_path, cells=(cell,))
    assert detection.right_blame and not detection.false, detection.line


@pytest.mark.parametrize(
    ("faults", "answer"), [((), "protocol-header"), (("unknown-header-not-answered",), "")]
)
def test_a_process_of_its_own_takes_faults_of_the_reference_broker(
    faults: tuple[str, ...], answer: str, tmp_path: Path
) -> None:
    with (
        SeededBroker(None, tmp_path, "amqp-0-9-1", faults) as broker,
        Client(broker.subject().address, "amqp-0-9-1", Values(), 5.0) as client,
    ):
        client.send(b"AMQP\x09\x09\x09\x09")
        if answer:
            assert client.wait(answer).name == answer
        else:
            with pytest.raises(Unanswered, match="ended"):
                client.wait("protocol-header")
