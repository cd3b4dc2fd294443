from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from amqpspec.record.capture import write_capture
from amqpspec.record.rows import Outcome
from amqpspec.run.case import load_suite
from amqpspec.run.engine import Settings
from amqpspec.run.replay import ReplayError, Step, read_transcript, replay
from amqpspec.target.config import Target
from amqpspec.target.live import TargetError, live
from amqpspec.wire.capture import read_pcapng
from tests.run.worlds import make, reference_world, run_cases

CHOSEN = (
    "channel.open.twice",
    "amq_wlp_frame_01",
    "amq_wlp_frame_02",
    "amq_wlp_header_01",
    "amq_wlp_content_01",
)


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Transcripts of a few cases against the clean reference broker."""
    folder = tmp_path_factory.mktemp("recorded")
    suite = load_suite("amqp-0-9-1")
    with reference_world(folder) as world:
        rows, _ = run_cases(world, [make("opens"), *(suite[name] for name in CHOSEN)], Settings())
    assert {row.verdict for row in rows.values()} == {Outcome.PASS}
    return folder / "evidence"


def steps(path: Path, *faults: str) -> Iterator[Step]:
    with live(Target("reference", broker="reference"), faults=faults) as target:
        yield from replay(path, target, patience_s=1.0)


@pytest.mark.parametrize("name", ["opens", *CHOSEN])
def test_the_same_target_answers_the_same(name: str, evidence: Path) -> None:
    found = list(steps(evidence / f"{name}.jsonl"))
    assert found and all(step.same for step in found), [step for step in found if not step.same]
    assert any(step.replayed for step in found)


def test_a_target_that_deviates_answers_otherwise(evidence: Path) -> None:
    path = evidence / "channel.open.twice.jsonl"
    different = [step for step in steps(path, "not-refused:channel/open/state") if not step.same]
    assert different
    assert any("connection.close" in text for step in different for text in step.recorded)


def test_the_login_is_made_anew(evidence: Path) -> None:
    text = (evidence / "opens.jsonl").read_text(encoding="utf-8")
    assert b"\0guest\0guest".hex() not in text
    with live(Target("reference", broker="reference")) as target:
        wrong = replace(target, login=replace(target.login, password="wrong"))
        assert not all(step.same for step in replay(evidence / "opens.jsonl", wrong, patience_s=1.0))


def test_amqplain_is_made_anew_too(tmp_path: Path) -> None:
    with reference_world(tmp_path) as world:
        login = replace(world.live.login, mechanism="AMQPLAIN")
        world = replace(world, live=replace(world.live, login=login))
        run_cases(world, [make("opens")])
    assert all(step.same for step in steps(tmp_path / "evidence" / "opens.jsonl"))


def test_nobody_there_is_said(evidence: Path) -> None:
    with live(Target("reference", broker="reference")) as target:
        pass
    with pytest.raises(TargetError, match="cannot connect to"):
        list(replay(evidence / "opens.jsonl", target))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected a transcript that begins with a case line"),
        ('{"kind": "open"}\n', "expected a transcript that begins with a case line"),
        ('{"kind": "case"}\nnot JSON\n', "line 2: expected JSON, actual 'not JSON'"),
    ],
)
def test_what_is_no_transcript_is_said(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ReplayError, match=said):
        read_transcript(path)
    with pytest.raises(ReplayError, match="cannot be read"):
        read_transcript(tmp_path / "none.jsonl")


def test_a_transcript_becomes_a_capture_with_the_same_octets(evidence: Path, tmp_path: Path) -> None:
    path = evidence / "opens.jsonl"
    segments = read_pcapng(write_capture(path, tmp_path / "x.pcapng"))
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for direction in ("in", "out"):
        recorded = "".join(line["hex"] for line in lines if line.get("dir") == direction)
        assert b"".join(s.octets for s in segments if s.direction == direction).hex() == recorded
