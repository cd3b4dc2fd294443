"""The recorded octets in place of the target: streams that give a case what its transcript says, in the same order.

Knows: the lines of a transcript, masked octets. Must not know: cases, verdicts, sockets, the real clock.
A case is a function of what it receives, so that it asks for the same things in the same order again. Whatever it does
otherwise than the transcript has it ends the derivation. Time is the transcript's: no wait takes any.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, NoReturn

from amqpspec.peer.context import BudgetSpent
from amqpspec.wire.direction import Direction, Directions
from amqpspec.wire.transport import StreamEnd, StreamEnded

_TOLD = frozenset({"open", "octets", "quiet", "unsent", "end", "restart", "spent", "over", "sent"})
_SLACK_S = 0.001
_SHOWN_OCTETS = 16

Line = Mapping[str, Any]


# Not an Exception: neither a case nor what it uses may take it for an answer of the target.
class Diverged(BaseException):
    """The case did something else than the transcript says; one line."""


class Cut(BaseException):
    """The case followed the transcript up to where the transcript was cut."""


class Script:
    """The events of one transcript up to its verdict, taken one by one."""

    def __init__(self, lines: Sequence[Line], directions: Directions, budget_s: float) -> None:
        self._events, self._clocks = _events(lines)
        self._directions, self._budget_s = directions, budget_s
        self._at = self._conns = 0
        self._begun_s = _seconds(lines[0])
        self.clock_s = self._begun_s
        self.diverged: Diverged | None = None

    def dial(self) -> ScriptedStream:
        """The next connection; raises StreamEnded(REFUSED)."""
        self._conns += 1
        event = self.take("open", "end", conn=self._conns)
        if event["kind"] == "end":
            raise StreamEnded(StreamEnd.REFUSED)
        return ScriptedStream(self, self._conns, self._directions("out"))

    def restart(self) -> None:
        """The target is restarted."""
        self.take("restart")

    def finish(self) -> None:
        """The case has ended; raises Diverged if the transcript continues, or where a divergence was swallowed."""
        if self.diverged is not None:
            raise self.diverged
        if self._at < len(self._events):
            self.fail("the case to end here", self._events[self._at])

    def take(self, *kinds: str, conn: int | None = None) -> Line:
        """The next event, which is of one of these kinds; raises Diverged, Cut, BudgetSpent."""
        event = self.peek()
        if event.get("kind") == "over":
            raise Cut
        if event.get("kind") == "spent" and _seconds(event) - self._begun_s >= self._budget_s - _SLACK_S:
            self._at += 1
            raise BudgetSpent
        if event.get("kind") not in kinds or (conn is not None and event.get("conn") != conn):
            self.fail(f"{' or '.join(kinds)}{f' on connection {conn}' if conn else ''}", event)
        self._at += 1
        self.clock_s = max(self.clock_s, _seconds(event))
        return event

    def now(self) -> float:
        """The time that the case read, in seconds; raises Diverged if that is not between two events."""
        told = self._clocks[self._at]
        if told:
            now_s = float(told.popleft()) / 1e9
            latest_s = _seconds(self.peek()) if self.peek() else now_s
            if not self.clock_s - _SLACK_S <= now_s <= latest_s + _SLACK_S:
                self.fail(
                    f"a clock between {self.clock_s:.3f} s and {latest_s:.3f} s", {"kind": f"{now_s:.3f} s"}
                )
            self.clock_s = max(self.clock_s, now_s)
        return self.clock_s

    def peek(self) -> Line:
        """The next event, or an empty one after the last."""
        return self._events[self._at] if self._at < len(self._events) else {}

    def fail(self, expected: str, event: Line) -> NoReturn:
        """Raise Diverged; the first divergence counts."""
        if self.diverged is None:
            self.diverged = Diverged(f"expected {expected}, the transcript has {_said(event)}")
        raise self.diverged


class ScriptedStream:
    """See ``amqpspec.wire.transport.Transport``."""

    def __init__(self, script: Script, conn: int, sent: Direction) -> None:
        self._script, self._conn, self._sent = script, conn, sent
        self._end: StreamEnd | None = None
        self._closed = False

    def now(self) -> float:
        """The transcript's clock in seconds."""
        return self._script.now()

    def note(self, text: str) -> None:
        """Remarks are the case's own; they are not compared."""

    def send(self, octets: bytes) -> bool:
        """Whether the target took the octets, which are those that the case sent then."""
        self._compare(octets)
        event = self._script.peek()
        if event.get("kind") == "unsent" and event.get("conn") == self._conn:
            self._script.take("unsent")
            return False
        return True

    def receive(self, until_s: float) -> bytes:
        """What arrived next, or nothing if the transcript waited as long without success."""
        if self._end is not None:
            raise StreamEnded(self._end)
        event = self._script.take("octets", "quiet", "end", conn=self._conn)
        if event["kind"] == "octets" and event.get("dir") == "in":
            return bytes.fromhex(event["hex"])
        if event["kind"] == "quiet":
            if _seconds(event) < until_s - _SLACK_S:
                self._script.fail(f"silence until {until_s:.3f} s", event)
            return b""
        if event["kind"] != "end" or event.get("how") not in tuple(StreamEnd):
            self._script.fail(f"something to receive on connection {self._conn}", event)
        self._end = StreamEnd(event["how"])
        raise StreamEnded(self._end)

    def half_close(self, last: bytes = b"") -> None:
        """Shut the write side."""
        if last:
            self._compare(last)

    def close(self) -> None:
        """Close the stream."""
        if not self._closed:
            self._closed = True
            if self._end is None:
                self._script.take("end", conn=self._conn)
                self._end = StreamEnd.FIN

    def _compare(self, octets: bytes) -> None:
        event = self._script.take("octets", "sent", conn=self._conn)
        shown, _ = self._sent.take(octets)
        if event["kind"] == "sent":
            same = event.get("sha256") == sha256(shown).hexdigest()
        else:
            same = event.get("dir") == "out" and event.get("hex") == shown.hex()
        if not same:
            self._script.fail(f"{len(shown)} octets out, {_brief(shown.hex())}", event)


def _events(lines: Sequence[Line]) -> tuple[list[Line], list[deque[int]]]:
    """The events up to the verdict, and what the clock said before each of them and after the last."""
    events: list[Line] = []
    clocks: list[deque[int]] = [deque()]
    for line in lines:
        clocks[-1].extend(line.get("now", ()))
        if line.get("kind") == "verdict":
            break
        if line.get("kind") in _TOLD:
            events.append(line)
            clocks.append(deque())
    return events, clocks


def _seconds(line: Line) -> float:
    return float(line.get("t_ns", 0)) / 1e9


def _said(event: Line) -> str:
    if not event:
        return "nothing more"
    where = f" on connection {event['conn']}" if "conn" in event else ""
    if event.get("kind") != "octets":
        return f"{event.get('kind')}{where} at {_seconds(event):.3f} s"
    octets = str(event.get("hex"))
    return f"{len(octets) // 2} octets {event.get('dir')}{where}, {_brief(octets)}"


def _brief(octets: str) -> str:
    """The first and last octets."""
    half = _SHOWN_OCTETS
    return octets if len(octets) <= 4 * half else f"{octets[: 2 * half]}…{octets[-2 * half :]}"
