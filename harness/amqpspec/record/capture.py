"""Writes a transcript as pcapng for Wireshark.

Knows: transcripts' lines, the capture writer, which dialects Wireshark reads. Must not know: cases, targets.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from amqpspec.record.reading import parse_json
from amqpspec.spec.dialects import entries
from amqpspec.wire.capture import AMQP_PORT, PLAIN_PORT, Segment, write_pcapng


def write_capture(transcript: Path, path: Path | None = None) -> Path:
    """Write the octets of a transcript next to it (or to ``path``); returns the capture's path.

    A dialect that Wireshark does not support is written as plain TCP.
    """
    path = path or transcript.with_suffix(".pcapng")
    with transcript.open(encoding="utf-8") as lines:
        parsed = map(parse_json, lines)
        first: dict[str, Any] = next(parsed, {})
        segments = _segments(chain([first], parsed))
        # In the evidence of a client, the harness is the server: the client connected, and received octets are the
        # client's.
        written = map(_turned, segments) if first.get("role") == "client" else segments
        write_pcapng(path, written, port=_port(first))
    return path


def _turned(segment: Segment) -> Segment:
    direction: Literal["out", "in"] = "in" if segment.direction == "out" else "out"
    return segment._replace(direction=direction, local=segment.remote, remote=segment.local)


def _port(first: dict[str, Any]) -> int:
    entry = entries().get(first.get("dialect", ""))
    return AMQP_PORT if entry is None or entry.dissected else PLAIN_PORT


def _segments(lines: Iterator[dict[str, Any]]) -> Iterator[Segment]:
    ends: dict[int, tuple[tuple[str, int], tuple[str, int]]] = {}
    for line in lines:
        if line.get("kind") == "open":
            ends[line["conn"]] = _ends(line)
        elif line.get("kind") == "octets" and line["conn"] in ends:
            local, remote = ends[line["conn"]]
            octets = bytes.fromhex(line["hex"])
            yield Segment(line["t_ns"], line["conn"], line["dir"], octets, local, remote)


def _ends(line: dict[str, Any]) -> tuple[tuple[str, int], tuple[str, int]]:
    (local_host, local_port), (host, port) = line["local"], line["remote"]
    return (local_host, local_port), (host, port)
