"""Replay: a transcript's octets sent again, step by step, and what the target answers this time.

Knows: the transcript's lines, streams. Must not know: cases, verdicts.
Each connection of the transcript becomes a separate connection. Before octets are sent, the replay waits until the
target has sent as many frames as it had at that point of the recording, or patience ends. Secrets are starred in a
transcript; the login is built again from the target's credentials.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from amqpspec.net.clock import monotonic_s
from amqpspec.net.dial import AnyStream, dial
from amqpspec.net.stream import ConnectError
from amqpspec.run.driver import driver_of
from amqpspec.spec.dialects import widest
from amqpspec.target.live import Live, TargetError
from amqpspec.wire.direction import Direction
from amqpspec.wire.errors import WireError
from amqpspec.wire.transport import StreamEnded


class ReplayError(ValueError):
    """The file is no transcript; the text names file and line."""


@dataclass(frozen=True, slots=True)
class Step:
    """What was seen at one point: ``recorded`` frames then, ``replayed`` frames now, both as texts."""

    conn: int
    sent: str
    recorded: tuple[str, ...]
    replayed: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether the same kinds of frames came in the same order."""
        return [t.split(" ")[0] for t in self.recorded] == [t.split(" ")[0] for t in self.replayed]


@dataclass(slots=True)
class _Conn:
    stream: AnyStream
    heard: Direction
    seen: list[str] = field(default_factory=list)
    ended: str = ""


def read_transcript(path: Path) -> list[dict[str, Any]]:
    """The lines of a transcript; raises ReplayError."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise ReplayError(f"{path}: cannot be read: {why}") from error
    parsed = []
    for number, line in enumerate(lines, start=1):
        try:
            parsed.append(json.loads(line))
        except (ValueError, RecursionError) as error:
            raise ReplayError(f"{path}, line {number}: expected JSON, actual {line[:40]!r}") from error
        if not isinstance(parsed[-1], dict):
            raise ReplayError(f"{path}, line {number}: expected a JSON object, actual {line[:40]!r}")
    if not parsed or parsed[0].get("kind") != "case":
        raise ReplayError(f"{path}: expected a transcript that begins with a case line")
    return parsed


def replay(path: Path, live: Live, patience_s: float = 2.0) -> Iterator[Step]:
    """Send it all again; returns a step for each stretch of octets that was sent, and one for the end.

    What is spoken is what the transcript says, else the widest overlay of the target's dialect.
    """
    conns: dict[int, _Conn] = {}
    lines = read_transcript(path)
    if lines[0].get("role") == "client":
        raise ReplayError(
            f"{path}: expected evidence of a broker, actual: of a client (--pcap writes it as a capture)"
        )
    dialect_id = lines[0].get("dialect") or widest(live.target.dialect)
    try:
        yield from _steps(lines, conns, live, dialect_id, patience_s)
    finally:
        for conn in conns.values():
            conn.stream.close()


def _steps(
    lines: list[dict[str, Any]], conns: dict[int, _Conn], live: Live, dialect_id: str, patience_s: float
) -> Iterator[Step]:
    driver = driver_of(dialect_id)
    waiting: dict[int, list[str]] = {}
    sent: dict[int, str] = {}
    for line in lines:
        number = line.get("conn", 0)
        if line["kind"] == "open":
            conns[number] = _Conn(_dial(live), driver.direction(dialect_id, "in"))
            waiting[number], sent[number] = [], "connect"
        elif line["kind"] == "octets" and number in conns:
            texts = [frame["text"] for frame in line["frames"]]
            if line["dir"] == "in":
                waiting[number] += texts
                continue
            yield _settle(conns[number], number, sent[number], waiting[number], patience_s)
            waiting[number] = []
            sent[number] = "; ".join(texts) or f"{len(line['hex']) // 2} octets"
            conns[number].stream.send(driver.with_login(dialect_id, bytes.fromhex(line["hex"]), live.login))
    for number, conn in conns.items():
        yield _settle(conn, number, sent[number], waiting[number], patience_s)


def _dial(live: Live) -> AnyStream:
    try:
        return dial(live.endpoint)
    except ConnectError as error:
        raise TargetError(str(error)) from error


def _settle(conn: _Conn, number: int, sent: str, recorded: list[str], patience_s: float) -> Step:
    """Read until as many frames arrived as were recorded, or the stream or patience ends."""
    seen: list[str] = []
    until_s = monotonic_s() + patience_s
    while len(seen) < len(recorded) and monotonic_s() < until_s and not conn.ended:
        try:
            seen += [frame["text"] for frame in conn.heard.take(conn.stream.receive(until_s))[1]]
        except StreamEnded as ended:
            conn.ended = str(ended.how)
        except WireError as error:
            raise TargetError(str(error)) from error
    return Step(number, sent, tuple(recorded), tuple(seen))
