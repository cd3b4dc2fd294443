"""A family that is added by its entry alone goes through run, evidence, replay, self-test and reports."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from datetime import date
from pathlib import Path

import pytest

from amqpspec.reference.server import ReferenceBroker
from amqpspec.reports.pipeline.ingest import ingest
from amqpspec.run.detect import detect, offered
from amqpspec.spec.dialects import certified_dialects, dialect_ids, load_ledger
from amqpspec.target.config import Target
from amqpspec.target.url import parse_url
from amqpspec.wire.layers import layers_of
from tests.cli.verbs import amqpspec, document, error
from tests.pipeline.lakes import content
from tests.toy.wire import frame

CASES = [
    "greeting.answered",
    "greeting.other-version",
    "ask.answered",
    "ask.empty",
    "frame.type.undefined",
    "frame.size.zero",
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("echo")
    amqpspec("run", "reference:echo-1", "-o", folder, "--pcap", code=0)
    return folder


def test_it_is_known() -> None:
    assert "echo-1" in certified_dialects() and "echo-1" in dialect_ids()


def test_the_cases_are_listed_and_explained() -> None:
    listed = amqpspec("list", "--dialect", "echo-1", code=0).output
    assert all(case in listed for case in CASES)
    assert "an ask without octets is refused" in amqpspec("explain", "ask/empty", code=0).output
    covered = json.loads(amqpspec("coverage", "--json", code=0).stdout)["dialects"]["echo-1"]
    assert (covered["testable"], covered["covered"], covered["open"]) == (6, 6, 0)


def test_a_run_leaves_all_of_its_files(run: Path) -> None:
    data = document(run)
    assert sorted(case["id"] for case in data["cases"]) == sorted(CASES)
    assert {case["verdict"] for case in data["cases"]} == {"pass"}
    assert len(data["requirements"]) == 7
    junit = ET.parse(run / "junit.xml").getroot()
    assert sorted(case.get("name", "") for case in junit.iter("testcase")) == sorted(CASES)
    assert all(case in (run / "matrix.html").read_text() for case in CASES)


def test_evidence_shows_octets_and_words(run: Path) -> None:
    lines = [json.loads(line) for line in (run / "evidence" / "ask.empty.jsonl").read_text().splitlines()]
    texts = [f["text"] for line in lines if line["kind"] == "octets" for f in line["frames"]]
    assert texts[:3] == ["protocol header 45 01", "protocol header 45 01", "ask of 0 octets"]
    assert "error of 1 octets: 01" in texts
    sent = b"".join(bytes.fromhex(line["hex"]) for line in lines if line.get("dir") == "out")
    assert sent == b"E\x01" + frame("ask") + frame("ask", b"barrier")
    assert (run / "evidence" / "ask.empty.pcapng").exists()


def test_a_deviation_is_found_and_replayed(tmp_path: Path, run: Path) -> None:
    wrong = ("--fault", "wrong-code:ask/empty")
    said = amqpspec("run", "reference:echo-1", *wrong, "-o", tmp_path, code=1).output
    assert "connection exception 1 empty" in said and "error 2 unknown-type" in said
    evidence = run / "evidence" / "ask.empty.jsonl"
    assert "DIFFERENT" not in amqpspec("replay", evidence, "reference:echo-1", code=0).output
    with ReferenceBroker("echo-1", ["not-refused:ask/empty"]) as broker:
        assert "DIFFERENT" in amqpspec("replay", evidence, broker.url, code=1).output


def test_the_selftest_is_complete() -> None:
    data = json.loads(amqpspec("selftest", "--dialect", "echo-1", "--json", code=0).stdout)
    assert (data["cases"], data["clean_passed"], data["killed"], data["survivors"]) == (6, 6, 6, [])
    assert data["faults"] == data["faults_found"] == 13


def test_layers_dissect_it() -> None:
    stream = layers_of("echo-1").stream(b"E\x01" + frame("ask", b"x") + frame("answer", b"x"))
    assert [item.name for item in stream.frames] == ["EchoProtocolHeader", "EchoFrame", "EchoFrame"]


def test_what_it_lacks_is_said() -> None:
    assert "echo-1" in error("run", "reference:echo-2", code=2)


def test_a_run_is_compared_certified_and_taken_into_the_lake(tmp_path: Path, run: Path) -> None:
    worse = tmp_path / "worse"
    amqpspec("run", "reference:echo-1", "--fault", "answer-backwards", "-o", worse, code=1)
    assert "ask.answered" in amqpspec("compare", run, worse, code=1).output
    assert "ask.answered" in amqpspec("baseline", worse, code=0).output
    amqpspec("certificate", "issue", run, code=0)
    done = ingest([run, worse], tmp_path / "lake", date(2026, 11, 22))
    rows, dims, _ = content(tmp_path / "lake")
    assert (done.rows, done.refused, {row["dialect"] for row in rows}) == (12, [], {"echo-1"})
    assert {row["requirement"] for row in dims["requirements"]} == set(load_ledger("echo-1"))


def test_it_is_told_by_its_greeting() -> None:
    with ReferenceBroker("echo-1") as broker:
        assert detect(Target("it", dialect="echo-1", url=parse_url(broker.url))).dialect == "echo-1"
    assert offered(b"E\x01") == "echo-1"
    assert offered(b"E") is None
