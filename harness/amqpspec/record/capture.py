"""A transcript as pcapng, so that Wireshark opens and dissects the conversation.

Knows: transcripts' lines and the capture writer. Must not know: cases, targets.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from amqpspec.wire.capture import Segment, write_pcapng


def write_capture(transcript: Path, path: Path | None = None) -> Path:
    """Write the octets of a transcript beside it (or to ``path``); gives the capture's path."""
    path = path or transcript.with_suffix(".pcapng")
    write_pcapng(path, _segments(transcript))
    return path


def _segments(transcript: Path) -> Iterator[Segment]:
    ends: dict[int, tuple[tuple[str, int], tuple[str, int]]] = {}
    with transcript.open(encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            if line["kind"] == "open":
                ends[line["conn"]] = _ends(line)
            elif line["kind"] == "octets" and line["conn"] in ends:
                local, remote = ends[line["conn"]]
                octets = bytes.fromhex(line["hex"])
                yield Segment(line["t_ns"], line["conn"], line["dir"], octets, local, remote)


def _ends(line: dict[str, Any]) -> tuple[tuple[str, int], tuple[str, int]]:
    (local_host, local_port), (host, port) = line["local"], line["remote"]
    return (local_host, local_port), (host, port)
