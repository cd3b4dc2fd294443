"""A transcript, shortened for a page: decoded frames with their octets, in order of time.

Knows: the transcript's lines (docs/results-format.md) and the limits of the page. Must not know: how the page shows
it. The transcript is read line by line; a damaged line is reported and not fatal.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from amqpspec.record.reading import parse_json
from amqpspec.reports.text import visible

FRAMES_MAX = 200
JSON_MAX = 64 * 1024  # characters of JSON for one case and target
FRAME_OCTETS_MAX = 1024  # octets shown of one frame
TEXT_MAX = 4000
_NOT_HEX = re.compile("[^0-9a-fA-F]")

Entry = dict[str, Any]
Line = Mapping[str, Any]


def read_evidence(path: Path) -> dict[str, Any]:
    """The transcript as ``{"frames": n, "octets": n, "conns": n, "log": [entry…]}``."""
    with path.open(encoding="utf-8", errors="replace") as lines:
        return digest(_parsed(lines))


def digest(lines: Iterable[Line | None]) -> dict[str, Any]:
    """The same from parsed lines; None represents an unreadable line."""
    log = _Log()
    for line in lines:
        log.take(line)
    return log.result()


def _parsed(lines: Iterable[str]) -> Iterator[Line | None]:
    for text in lines:
        if not text.strip():
            continue
        try:
            line = parse_json(text)
        except ValueError:
            line = None
        yield line if isinstance(line, dict) else None


@dataclass
class _Stream:
    """The octets of one direction of one connection that belong to no frame yet."""

    start: int = 0
    t_ns: int = 0
    hex: str = ""

    def add(self, hex_text: str, t_ns: int) -> None:
        if not self.hex:
            self.t_ns = t_ns
        self.hex += hex_text

    def claim(self, offset: int, octets: int) -> tuple[str, str]:
        """The octets before the frame that belong to no frame, and the octets of the frame."""
        low, high = max(0, offset - self.start) * 2, max(0, offset - self.start + octets) * 2
        stray, own, self.hex = self.hex[:low], self.hex[low:high], self.hex[high:]
        self.start = max(self.start, offset + octets)
        return stray, own

    def rest(self) -> str:
        stray, self.hex = self.hex, ""
        self.start += len(stray) // 2
        return stray


class _Window:
    """The first and the last entries, each within half of the limits; the entries between are counted."""

    def __init__(self) -> None:
        self.head: list[Entry] = []
        self.tail: deque[tuple[int, Entry]] = deque()
        self.room = JSON_MAX // 2
        self.frames = FRAMES_MAX // 2
        self.tail_size = self.tail_frames = self.cut_entries = self.cut_octets = 0

    def put(self, entry: Entry) -> None:
        size, is_octets = len(json.dumps(entry)), "h" in entry
        if not self.tail and size <= self.room and self.frames >= is_octets:
            self.head.append(entry)
            self.room -= size
            self.frames -= is_octets
            return
        self.tail.append((size, entry))
        self.tail_size += size
        self.tail_frames += is_octets
        while self.tail_size > JSON_MAX // 2 or self.tail_frames > FRAMES_MAX // 2:
            self._drop()

    def _drop(self) -> None:
        size, entry = self.tail.popleft()
        self.tail_size -= size
        self.tail_frames -= "h" in entry
        self.cut_entries += 1
        self.cut_octets += entry.get("n", 0)

    def entries(self) -> list[Entry]:
        """All kept entries in order of time, with a mark where entries are missing."""
        head, tail = sorted(self.head, key=_time), sorted((entry for _, entry in self.tail), key=_time)
        if not self.cut_entries:
            return sorted(head + tail, key=_time)
        at = tail[0]["t"] if tail else head[-1]["t"]
        return [*head, {"k": "cut", "t": at, "entries": self.cut_entries, "octets": self.cut_octets}, *tail]


def _time(entry: Entry) -> int:
    return int(entry["t"])


@dataclass
class _Log:
    """The kept part of a transcript, and counts of all of it."""

    window: _Window = field(default_factory=_Window)
    streams: dict[tuple[int, str], _Stream] = field(default_factory=dict)
    conns: set[int] = field(default_factory=set)
    frames: int = 0
    octets: int = 0
    last_ns: int = 0

    def take(self, line: Line | None) -> None:
        """Add one line of the transcript."""
        if line is None:
            self.mark("note", text="a line of the transcript could not be read")
            return
        handler = _HANDLERS.get(str(line.get("kind")))
        if handler:
            self.last_ns = _int(line.get("t_ns"), self.last_ns)
            handler(self, line)

    def mark(self, kind: str, text: str, conn: int = 0) -> None:
        """Add an entry without octets."""
        where = {"c": conn} if conn else {}
        self.window.put({"k": kind, "t": self.last_ns, "x": text} | where)

    def put_octets(self, kind: str, t_ns: int, key: tuple[int, str], hex_text: str, more: Entry) -> None:
        """Add octets with their decoded form."""
        self.frames += kind == "frame"
        conn, dir = key
        entry = {"k": kind, "t": t_ns, "c": conn, "d": dir, "n": len(hex_text) // 2} | more
        self.window.put(entry | {"h": hex_text[: FRAME_OCTETS_MAX * 2]})

    def strays(self, key: tuple[int, str]) -> None:
        """Add octets that are not a frame."""
        stream = self.streams[key]
        at, stray = stream.start, stream.rest()
        if stray:
            self.put_octets("raw", stream.t_ns, key, stray, {"o": at})

    def result(self) -> dict[str, Any]:
        """Finish: the data that the page embeds."""
        for key in self.streams:
            self.strays(key)
        counts = {"frames": self.frames, "octets": self.octets, "conns": len(self.conns)}
        return counts | {"log": self.window.entries()}


def _take_octets(log: _Log, line: Line) -> None:
    key = _int(line.get("conn"), 1), "out" if line.get("dir") == "out" else "in"
    hex_text, frames = _hex(line.get("hex")), line.get("frames")
    stream = log.streams.setdefault(key, _Stream())
    log.octets += len(hex_text) // 2
    log.conns.add(key[0])
    stream.add(hex_text, log.last_ns)
    for frame in frames if isinstance(frames, list) else ():
        if isinstance(frame, dict):
            _take_frame(log, stream, key, frame)


def _take_frame(log: _Log, stream: _Stream, key: tuple[int, str], frame: Line) -> None:
    at, offset = stream.start, _int(frame.get("offset"), stream.start)
    stray, own = stream.claim(offset, max(0, _int(frame.get("octets"), 0)))
    if stray:
        log.put_octets("raw", log.last_ns, key, stray, {"o": at})
    more: Entry = {"o": offset, "x": _text(frame.get("text"))}
    if frame.get("type"):
        more["ty"] = _text(frame["type"])
    if frame.get("channel") is not None:
        more["ch"] = _int(frame["channel"], 0)
    log.put_octets("frame", log.last_ns, key, own, more)


def _take_open(log: _Log, line: Line) -> None:
    conn, remote = _int(line.get("conn"), 1), _address(line.get("remote"))
    log.conns.add(conn)
    text = "connected" + (f" to {remote}" if remote else "") + (" with TLS" if line.get("tls") else "")
    log.mark("open", text, conn)


def _take_end(log: _Log, line: Line) -> None:
    conn = _int(line.get("conn"), 1)
    for key in [key for key in log.streams if key[0] == conn]:
        log.strays(key)
    log.mark("end", _text(line.get("how")), conn)


def _take_note(log: _Log, line: Line) -> None:
    log.mark("note", _text(line.get("text")))


def _take_cut(log: _Log, line: Line) -> None:
    log.mark("note", f"the transcript itself was cut: {_int(line.get('octets'), 0):,} octets more")


_HANDLERS: Mapping[str, Callable[[_Log, Line], None]] = {
    "open": _take_open,
    "octets": _take_octets,
    "note": _take_note,
    "end": _take_end,
    "cut": _take_cut,
}


def _int(value: object, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def _hex(value: object) -> str:
    text = _NOT_HEX.sub("", value) if isinstance(value, str) else ""
    return text[: len(text) // 2 * 2]


def _text(value: object) -> str:
    text = visible("" if value is None else str(value))
    return text if len(text) <= TEXT_MAX else text[:TEXT_MAX] + "…"


def _address(value: object) -> str:
    if not isinstance(value, list | tuple) or len(value) < 2:
        return ""
    host = _text(value[0])
    return f"[{host}]:{value[1]}" if ":" in host else f"{host}:{value[1]}"
