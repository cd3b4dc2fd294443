"""Findings as folders, and as cases that fail where they were found and pass on a sound broker."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from amqpspec.cli.certify import RunRequest, certify
from amqpspec.fuzz.inputs.catalogue import by_key, cells
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.oracles.suspicion import Oracle, Suspicion
from amqpspec.fuzz.parts import fuzzed_dialects
from amqpspec.fuzz.selftest.defects import Defect
from amqpspec.fuzz.selftest.part import is_met, selftest_part
from amqpspec.fuzz.selftest.process import SeededBroker
from amqpspec.fuzz.states.ways import states
from amqpspec.fuzz.triage.exported import case_of
from amqpspec.fuzz.triage.findings import (
    Finding,
    FindingError,
    item_of,
    read_finding,
    signature_of,
    write_finding,
)
from amqpspec.fuzz.triage.triage import Blame, Status
from amqpspec.peer.context import Login
from amqpspec.reference.server import ReferenceBroker
from amqpspec.run.case import load_file
from amqpspec.run.select import SelectionError, with_files
from amqpspec.target.config import Target, target_of_url

DIALECTS = fuzzed_dialects()

ROLLBACK = next(
    item for item in by_key("amqp-0-9-1")["amqp-0-9-1/C09/order.twice/channel"] if "tx.rollback" in item.words
)


def suspicion(oracle: Oracle, item: FuzzInput = ROLLBACK) -> Suspicion:
    return Suspicion(oracle, 'boom: "quoted" \\N{DIGIT ONE}\n', "boom", (item.id,))


def source(tmp_path: Path, item: FuzzInput, oracle: Oracle, name: str = "crash-1") -> str:
    path = tmp_path / f"{name}.py"
    path.write_text(case_of(name, item, suspicion(oracle, item)), encoding="utf-8")
    return str(path)


def run(target: Target, files: list[str], out: Path) -> dict[str, Any]:
    return certify(RunRequest(target, files, out=out, quiet=True))


def on(broker: SeededBroker, dialect: str) -> Target:
    url = f"amqp://guest:guest@127.0.0.1:{broker.port}/"
    second = {"second": Login("second", "second")}
    return Target("seeded", dialect=dialect, url=target_of_url(url).url, logins=second, ending_s=2.0)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_state_has_a_case_that_a_sound_broker_passes(dialect: str, tmp_path: Path) -> None:
    files: list[str] = []
    for state in states(dialect):
        item = next(cell for cell in cells(dialect) if cell.state == state).input(0)
        oracle = (Oracle.CRASH, Oracle.CANARY, Oracle.LEAK, Oracle.LOG)[len(files) % 4]
        files.append(source(tmp_path, item, oracle, f"{oracle}-{state}"))
    document = run(target_of_url(f"reference:{dialect}"), files, tmp_path / "run")
    assert document["verdicts"] == {"pass": len(states(dialect))}, document["cases"]
    assert document["exit_code"] == 0


@pytest.mark.parametrize(
    ("dialect", "state", "kind", "oracle"),
    [
        ("amqp-0-9-1", "channel", "crash", Oracle.CRASH),
        ("amqp-0-9-1", "body", "corrupt", Oracle.CANARY),
        ("amqp-wire-9-1", "tune", "crash", Oracle.CRASH),
        ("amqp-wire-9-1", "consuming", "wrong-user", Oracle.LEAK),
        ("amqp-1-0", "sasl", "crash", Oracle.CRASH),
        ("amqp-1-0", "attached", "corrupt", Oracle.CANARY),
        ("amqp-1-0", "session", "wrong-user", Oracle.LEAK),
        ("amqp-0-9-1", "channel", "mute", Oracle.OBEDIENCE),
        ("amqp-wire-9-1", "channel", "mute", Oracle.OBEDIENCE),
        ("amqp-1-0", "session", "mute", Oracle.OBEDIENCE),
        ("amqp-fast-0-8", "handle", "crash", Oracle.CRASH),
        ("amqp-fast-0-8", "handle", "corrupt", Oracle.CANARY),
        ("amqp-fast-0-8", "consuming", "wrong-user", Oracle.LEAK),
        ("amqp-fast-0-8", "handle", "mute", Oracle.OBEDIENCE),
        ("amqp-0-10", "session", "crash", Oracle.CRASH),
        ("amqp-0-10", "session", "corrupt", Oracle.CANARY),
        ("amqp-0-10", "session", "wrong-user", Oracle.LEAK),
        ("amqp-0-10", "session", "mute", Oracle.OBEDIENCE),
    ],
)
def test_a_case_of_a_planted_defect_fails_there_and_passes_elsewhere(
    dialect: str, state: str, kind: str, oracle: Oracle, tmp_path: Path
) -> None:
    condition = selftest_part(dialect).conditions(kind)["rare"]
    among = [
        c
        for c in cells(dialect)
        if c.state == state and (oracle is not Oracle.OBEDIENCE or "order.twice" in c.key)
    ]
    item = next(i for cell in among for i in cell if is_met(condition, dialect, i.octets))
    defect = Defect(kind, "rare", condition, dialect)
    path = source(tmp_path, item, oracle)
    for planted, verdict in ((None, "pass"), (defect, "fail")):
        with SeededBroker(planted, tmp_path / f"broker-{verdict}", dialect) as broker:
            document = run(on(broker, dialect), [path], tmp_path / f"run-{verdict}")
        assert document["verdicts"] == {verdict: 1}, document["cases"]


@pytest.mark.parametrize(
    ("dialect", "state", "row"),
    [
        ("amqp-0-9-1", "channel", "wire/content/unexpected-header"),
        ("amqp-wire-9-1", "channel", ""),
        ("amqp-1-0", "session", "definitions/condition/decode-error"),
        ("amqp-fast-0-8", "handle", "frames/fixed-fields"),
        ("amqp-0-10", "session", "encoding/command/unknown-class"),
    ],
)
def test_a_case_of_a_deviation_fails_where_the_rule_is_broken(
    dialect: str, state: str, row: str, tmp_path: Path
) -> None:
    item = next(
        item
        for cell in cells(dialect)
        if cell.state == state
        for item in cell
        if item.expectation.must_refuse
        and item.expectation.requirement.startswith(row)
        and len(item.octets) < 2000
    )
    fault = f"not-refused:{item.expectation.requirement}"
    path = source(tmp_path, item, Oracle.CONFORMANCE, "conformance-1")
    for faults, verdict in (((), "pass"), ((fault,), "fail")):
        with ReferenceBroker(dialect, faults) as broker:
            target = Target("faulty", dialect=dialect, url=target_of_url(broker.url).url, ending_s=2.0)
            document = run(target, [path], tmp_path / verdict)
        assert document["verdicts"] == {verdict: 1}, document["cases"]
        assert document["cases"][0]["requirements"] == [item.expectation.requirement]


def test_what_a_case_cannot_see_is_said_in_it() -> None:
    for oracle in (Oracle.LOG, Oracle.MEMORY, Oracle.CPU, Oracle.LATE):
        assert "beyond what a case can see" in case_of("x-1", ROLLBACK, suspicion(oracle))
    for oracle in (Oracle.CRASH, Oracle.OBEDIENCE):
        assert "beyond" not in case_of("x-1", ROLLBACK, suspicion(oracle))
    early = next(cell for cell in cells("amqp-0-9-1") if cell.state == "tune").input(0)
    assert "beyond what a case can see" in case_of("x-1", early, suspicion(Oracle.OBEDIENCE))


def test_no_case_where_nothing_can_be_demanded() -> None:
    assert case_of("x-1", ROLLBACK, suspicion(Oracle.CONFORMANCE)) == ""


def test_a_file_of_another_dialect_or_without_cases_is_refused(tmp_path: Path) -> None:
    path = source(tmp_path, ROLLBACK, Oracle.CRASH)
    known, names = with_files({}, [path, "basic.*"], "amqp-0-9-1")
    assert list(known) == ["fuzz.crash.1"] and names == ["fuzz.crash.1", "basic.*"]
    with pytest.raises(SelectionError, match=r"expected a case of amqp-1-0, actual: one of amqp-0-9-1"):
        with_files({}, [path], "amqp-1-0")
    for text, why in (
        ("", "none in it"),
        ("1 +", "invalid syntax"),
        ("import no_such_thing", "no_such_thing"),
    ):
        empty = tmp_path / "empty.py"
        empty.write_text(text)
        with pytest.raises(SelectionError, match=why):
            with_files({}, [str(empty)], "amqp-0-9-1")
    with pytest.raises(SelectionError, match="No such file"):
        with_files({}, [str(tmp_path / "none.py")], "amqp-0-9-1")
    assert load_file(Path(path))["fuzz.crash.1"].destructive


def test_a_finding_is_written_and_read_back(tmp_path: Path) -> None:
    with SeededBroker(None, tmp_path / "broker") as broker:
        subject = broker.subject()
    seen = suspicion(Oracle.CRASH)
    finding = Finding(
        signature_of(Oracle.CRASH, "boom", "C09", "channel"), Status.STABLE, seen, "amqp-0-9-1", "C09", "channel",
        ROLLBACK,
    )  # fmt: skip
    place = write_finding(tmp_path, finding, Blame(Status.STABLE, seen, ROLLBACK), subject)
    data = read_finding(place)
    assert item_of(data) == ROLLBACK and data["target"] == "seeded:amqp-0-9-1/none"
    assert (place / "input.bin").read_bytes() == ROLLBACK.octets
    assert (place / "case.py").exists() and "fuzz replay" in (place / "REPLAY").read_text()
    (place / "finding.json").write_text(json.dumps({"dialect": "x"}))
    with pytest.raises(FindingError, match=r"expected finding\.json with"):
        read_finding(place)
