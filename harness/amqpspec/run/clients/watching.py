"""Connections that clients made anyway, judged as they end: the same cases, without scenarios.

Knows: how a case meets one connection, how verdicts of many connections become one row a case. Must not know: where the
octets come from (a server, a proxy, a capture), any dialect, reports.
A case about conduct sees every connection on which the server kept the specification; a hostile case sees those that
asked for it. The worst verdict of a case stands, with its evidence: a transcript is kept as long as a row needs it.
"""

from __future__ import annotations

import queue
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from amqpspec.net.clock import monotonic_ns, utc_instant
from amqpspec.record.evidence import evidence_path
from amqpspec.record.journal import Journal
from amqpspec.record.rows import FROM_BEST, CaseRow, Outcome
from amqpspec.run.case import Case
from amqpspec.run.clients.agent import Application, Ran
from amqpspec.run.clients.client import CannotDo, Client, Encounter, Recording
from amqpspec.run.clients.execute import judged
from amqpspec.run.execute import row_of
from amqpspec.spec.dialects import entry_of, part_of, widest
from amqpspec.spec.model import Side
from amqpspec.wire.conversation import Address, Reading, Talk
from amqpspec.wire.hostility import Hostility

_UNSEEN = Ran(Application.UNSEEN, None, (), "")


@dataclass(frozen=True, slots=True)
class Seen:
    """One connection in place of scenarios; ``provoked`` is the hostile case that it asked for, if any."""

    encounter: Encounter
    provoked: str = ""

    @property
    def is_prompted(self) -> bool:
        """Never: no one asked the client to do anything."""
        return False

    def clean(self, scenario: str) -> Encounter:
        """The connection, whatever the scenario; raises CannotDo if the server misbehaved on it."""
        if self.provoked:
            raise CannotDo("the server broke the specification on purpose")
        return self.encounter

    def meet(self, name: str, scenario: str, hostility: Hostility | None = None) -> Encounter:
        """The connection if it requested this case; raises CannotDo."""
        if name != self.provoked:
            raise CannotDo("no connection selected this case")
        return self.encounter


@dataclass(frozen=True, slots=True)
class Judged:
    """The results of one connection: each case that says something about it, and how the connection ended."""

    number: int
    remote: str
    provoked: str
    ended: str
    rows: tuple[CaseRow, ...]
    forgiven: tuple[str, ...] = ()
    refused: str = ""

    @property
    def worst(self) -> CaseRow | None:
        """The row of the worst verdict; None if no case applies."""
        return max(self.rows, key=lambda row: FROM_BEST.index(row.verdict), default=None)


@dataclass(slots=True)
class _Sum:
    """One case over all connections: its worst row, and how many connections got which verdict."""

    row: CaseRow
    times: Counter[Outcome] = field(default_factory=Counter)

    def whole(self) -> CaseRow:
        """The row, with how many connections it speaks for."""
        told = f"{self.row.observed}; {self.times[self.row.verdict]} of {self.times.total()} connections"
        return replace(self.row, observed=told)


class Watch:
    """Judges connections as they end, on a separate thread; the ``Recorder`` of a tap, a proxy, a capture.

    ``provoked`` says which hostile case a connection asked for. Leaving it judges what is still open.
    """

    def __init__(
        self,
        dialect: str,
        folder: Path,
        suite: Mapping[str, Case],
        journal: Journal,
        tell: Callable[[Judged], None] = lambda judged: None,
    ) -> None:
        self._dialect, self._folder, self._suite, self._journal = dialect, folder, suite, journal
        self._tell = tell
        self.reading = cast(Reading, part_of(dialect, "reading"))
        self._open: dict[int, tuple[Talk, Recording]] = {}
        self._sums: dict[str, _Sum] = {}
        self._lock = threading.Lock()
        self._failed: BaseException | None = None
        self._queue: queue.SimpleQueue[tuple[Talk, Recording] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="watch", daemon=True)
        self.provoked: Callable[[Talk], str] = lambda talk: ""
        self.connections = 0
        self.forgiven: Counter[str] = Counter()

    @property
    def server_dialect(self) -> str:
        """The dialect of a server for these clients."""
        return widest(entry_of(self._dialect).clients_of)

    # --- calls of a recorder

    def began(self, talk: Talk) -> None:
        """A client has connected."""
        name = f"connection-{talk.number:04d}"
        recording = Recording(self._folder / evidence_path(name), self._dialect)
        with self._lock:
            self.connections += 1
            self._open[talk.number] = talk, recording
        recording.began(talk)

    def octets(self, talk: Talk, sender: Side, at_ns: int, octets: bytes) -> None:
        """Octets have passed."""
        if talk.number in self._open:
            self._open[talk.number][1].octets(talk, sender, at_ns, octets)

    def ended(self, talk: Talk) -> None:
        """A client's side has ended."""
        if talk.number in self._open:
            self._open[talk.number][1].ended(talk)

    def forgave(self, remote: Address, deviation: str) -> None:
        """A lenient server tolerated something."""
        for _, recording in tuple(self._open.values()):
            recording.forgave(remote, deviation)

    def refused(self, remote: Address, reason: str) -> None:
        """The server refused a client without telling it why."""
        for _, recording in tuple(self._open.values()):
            recording.refused(remote, reason)

    def lost(self, talk: Talk) -> None:
        """The connection is gone: it is judged."""
        with self._lock:
            found = self._open.pop(talk.number, None)
        if found is not None:
            found[1].close()
            self._queue.put(found)

    # --- judging

    def rows(self) -> Sequence[CaseRow]:
        """A row for each case that met a connection to which it applies."""
        with self._lock:
            return [sum.whole() for sum in self._sums.values()]

    def _work(self) -> None:
        while (found := self._queue.get()) is not None:
            if self._failed is None:
                try:
                    self._judge(*found)
                except BaseException as error:
                    self._failed = error

    def _judge(self, talk: Talk, recording: Recording) -> None:
        began_ns = monotonic_ns()
        seen = Seen(
            Encounter([self.reading.conversation(talk)], _UNSEEN, recording.evidence), self.provoked(talk)
        )
        rows = tuple(self._rows(seen, talk, began_ns))
        self.forgiven.update(talk.forgiven)
        changed = [self._add(row) for row in rows]
        if not any(changed):
            recording.path.unlink(missing_ok=True)
        talk.room.give_back(talk)
        remote = f"{talk.remote[0]} port {talk.remote[1]}"
        ended, forgiven = _end_of(talk), tuple(talk.forgiven)
        self._tell(Judged(talk.number, remote, seen.provoked, ended, rows, forgiven, talk.refused))

    def _rows(self, seen: Seen, talk: Talk, began_ns: int) -> Iterator[CaseRow]:
        for case in self._suite.values() if self._is_ours(talk) else ():
            verdict = judged(case, Client(seen, case.id, case.requirements))
            if verdict.outcome is not Outcome.NOT_APPLICABLE:
                row = replace(row_of(case, verdict), evidence=seen.encounter.evidence, ended=_end_of(talk))
                duration_ms = round((monotonic_ns() - began_ns) / 1e6, 3)
                yield replace(row, ended_at=utc_instant(), duration_ms=duration_ms)

    def _is_ours(self, talk: Talk) -> bool:
        """Whether the client spoke this dialect; another version of AMQP is none of a dialect's business."""
        first = b"".join(chunk.octets for chunk in talk.chunks[:8] if chunk.sender is Side.CLIENT)
        return bool(first) and any(
            first[:4] != greeting[:4] or first.startswith(greeting[: len(first)])
            for greeting in self.reading.greetings
        )

    def _add(self, row: CaseRow) -> bool:
        """Count a verdict; whether it is the worst of its case so far, which the journal then knows at once."""
        with self._lock:
            known = self._sums.setdefault(row.id, _Sum(row))
            is_new = not known.times or _is_worse(row, known.row)
            if is_new:
                known.row = row
            known.times[row.verdict] += 1
        if is_new:
            self._journal.case(row)
        return is_new

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for talk, _recording in tuple(self._open.values()):
            self.lost(talk)
        self._queue.put(None)
        self._thread.join()
        for row in self.rows():
            self._journal.case(row)
        if self._failed is not None and kind is None:
            raise self._failed


def _end_of(talk: Talk) -> str:
    return talk.ended or ("left by the server" if talk.is_left else "open")


def _is_worse(row: CaseRow, known: CaseRow) -> bool:
    return FROM_BEST.index(row.verdict) > FROM_BEST.index(known.verdict)
