"""Transcripts made small: frames keep their octets, strays are said, caps hold and are said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from amqpspec.reports.html.evidence import (
    FRAME_OCTETS_MAX,
    FRAMES_MAX,
    JSON_MAX,
    digest,
    read_evidence,
)
from tests.reports import synthetic


def octets(hex: str, frames: list[Any], t_ns: int = 1, dir: str = "in", conn: int = 1) -> dict[str, Any]:
    return {"kind": "octets", "t_ns": t_ns, "conn": conn, "dir": dir, "hex": hex, "frames": frames}


def frame(offset: int, size: int, text: str = "basic.get") -> dict[str, Any]:
    return {"offset": offset, "octets": size, "text": text, "type": "method", "channel": 1}


def test_a_conversation_keeps_every_frame_beside_its_octets() -> None:
    found = digest(synthetic.transcript(synthetic.hostile_case()))
    talk = synthetic.DATA["talk"]
    frames = [entry for entry in found["log"] if entry["k"] == "frame"]
    assert [entry["h"] for entry in frames] == [said["hex"] for said in talk]
    assert [entry["x"] for entry in frames] == [said["text"] for said in talk]
    assert (found["frames"], found["conns"]) == (len(talk), 1)
    assert found["octets"] == sum(len(said["hex"]) // 2 for said in talk)
    assert [entry["k"] for entry in found["log"] if entry["k"] != "frame"] == ["open", "note", "end"]


def test_a_frame_in_pieces_and_two_in_one_piece_come_out_whole() -> None:
    found = digest(
        [
            octets("0102", []),
            octets("03040506", [frame(0, 4), frame(4, 1)], t_ns=2),
            octets("07", [frame(5, 2)], t_ns=3),
        ]
    )
    assert [(entry["h"], entry["o"]) for entry in found["log"]] == [("01020304", 0), ("05", 4), ("0607", 5)]


def test_octets_that_make_no_frame_are_shown_where_they_came() -> None:
    lines = [
        octets("aabb", [], t_ns=1),
        octets("ccdd", [frame(3, 1)], t_ns=2),
        octets("ee", [], t_ns=3),
        {"kind": "end", "t_ns": 4, "conn": 1, "how": "rst"},
    ]
    found = digest(lines)["log"]
    assert [(entry["k"], entry.get("h"), entry.get("o")) for entry in found] == [
        ("raw", "aabbcc", 0),
        ("frame", "dd", 3),
        ("raw", "ee", 4),
        ("end", None, None),
    ]


def test_both_directions_and_connections_stay_apart() -> None:
    found = digest([octets("01", []), octets("02", [], dir="out"), octets("03", [frame(0, 1)], conn=2)])
    assert sorted((entry["c"], entry["d"], entry["h"]) for entry in found["log"]) == [
        (1, "in", "01"),
        (1, "out", "02"),
        (2, "in", "03"),
    ]
    assert found["conns"] == 2


@pytest.mark.parametrize("repeat", [1, 10, 100, 1000])
def test_caps_hold_and_what_was_cut_is_counted(repeat: int) -> None:
    found = digest(synthetic.transcript(synthetic.hostile_case(), repeat))
    log = found["log"]
    frames = sum("h" in entry for entry in log)
    cut = sum(entry.get("entries", 0) for entry in log)
    assert frames <= FRAMES_MAX and len(json.dumps(log)) < JSON_MAX * 1.05 + 200
    assert frames + cut == found["frames"] == repeat * len(synthetic.DATA["talk"])
    assert sum(entry.get("n", 0) + entry.get("octets", 0) for entry in log) == found["octets"]
    assert log[-1]["k"] == "end"


def test_a_long_frame_shows_its_first_octets() -> None:
    [entry] = digest([octets("ab" * 5000, [frame(0, 5000)])])["log"]
    assert len(entry["h"]) == FRAME_OCTETS_MAX * 2 and entry["n"] == 5000


def test_a_torn_transcript_says_so(tmp_path: Path) -> None:
    path = synthetic.write_lines(
        tmp_path / "t.jsonl", synthetic.hostile_transcript(), torn='[1]\n{"kind": "oct'
    )
    log = read_evidence(path)["log"]
    assert [entry["k"] for entry in log] == ["open", "raw", "note", "end", "note", "note"]
    assert log[0]["x"] == "connected to [::1]:5672 with TLS"
    assert log[-1]["x"] == "a line of the transcript could not be read"
    assert "\\x00\\x1b" in log[2]["x"] and "\\u202e" in log[2]["x"]


@pytest.mark.parametrize(
    "line",
    [
        {"kind": "octets"},
        {"kind": "octets", "hex": 7, "frames": 3, "conn": "x", "t_ns": "late"},
        {"kind": "octets", "hex": "zz0", "frames": [None, {"offset": -5, "octets": -1, "channel": "x"}]},
        {"kind": "open", "remote": "nowhere"},
        {"kind": "end"},
        {"kind": "note"},
        {"kind": "cut", "octets": 12},
        {"kind": ["odd"]},
    ],
)
def test_a_line_of_another_shape_is_survived(line: dict[str, Any]) -> None:
    found = digest([line, {"kind": "note", "text": "still here"}])
    assert found["log"][-1]["x"] == "still here"
