"""The journal of a run: one JSON object per line, appended as events happen, readable after a kill at any point.

Knows: lines, appending, an incomplete last line. Must not know: reports, targets, cases beyond their rows.

Each line is written with one ``write`` call, so that complete lines stay complete; ``read_journal`` skips an
incomplete last line. Lines: ``run`` (RunRow), ``case`` (CaseRow), ``void`` (cases whose rows so far are withdrawn),
``node`` (one that will be created on the target), ``deleted`` (nodes that were deleted), ``end``.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from amqpspec.record.reading import parse_json
from amqpspec.record.rows import SCHEMA, CaseRow, RunRow

Node = tuple[str, str, str]
"""Virtual host, address, and kind: ``queue`` or ``exchange``."""
JOURNAL = "journal.jsonl"
"""The file's name in the folder of a run, or of a campaign."""


class JournalError(OSError):
    """The journal cannot be written or read; the message names file and cause."""


class Journal:
    """Appends to ``journal.jsonl`` of a run's folder; safe from several threads."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / JOURNAL
        self._lock = threading.Lock()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            _end_torn_line(self.path, self._fd)
        except OSError as error:
            raise JournalError(f"cannot write {self.path}: {error.strerror}") from error

    def run(self, row: RunRow) -> None:
        """The first line: target and suite."""
        self._append({"kind": "run", "schema": SCHEMA, **row.to_json()})

    def case(self, row: CaseRow) -> None:
        """A case has ended."""
        self._append({"kind": "case", **row.to_json()})

    def void(self, cases: Iterable[str], why: str) -> None:
        """Withdraw what was recorded of these cases so far."""
        self._append({"kind": "void", "cases": list(cases), "why": why})

    def node(self, node: Node) -> None:
        """A node will be created."""
        self._append({"kind": "node", "node": list(node)})

    def deleted(self, nodes: Iterable[Node]) -> None:
        """Nodes were deleted."""
        self._append({"kind": "deleted", "nodes": list(nodes)})

    def end(self, **facts: Any) -> None:
        """The run has finished."""
        self._append({"kind": "end", **facts})

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _append(self, data: dict[str, Any]) -> None:
        line = json.dumps(data, ensure_ascii=False, default=str).encode("utf-8", "backslashreplace") + b"\n"
        with self._lock:
            try:
                written = os.write(self._fd, line)
            except OSError as error:
                raise JournalError(f"cannot write {self.path}: {error.strerror}") from error
            if written != len(line):
                raise JournalError(
                    f"cannot write {self.path}: {written} of {len(line)} octets, no space left"
                )


def _end_torn_line(path: Path, fd: int) -> None:
    """Add a line end to a journal that was cut within a line, so that new lines are separate."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        if size:
            file.seek(size - 1)
            if file.read(1) != b"\n":
                os.write(fd, b"\n")


def read_journal(folder: Path) -> Iterator[dict[str, Any]]:
    """Every complete line of a run's journal, in order; incomplete lines are skipped. Raises JournalError."""
    path = folder / JOURNAL
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            for line in file:
                try:
                    parsed = parse_json(line)
                except ValueError:
                    continue
                if isinstance(parsed, dict):
                    yield parsed
    except OSError as error:
        raise JournalError(f"cannot read {path}: {error.strerror}") from error


def read_cases(folder: Path) -> Iterator[CaseRow]:
    """The case rows of a journal, one at a time, with every attempt of a case; withdrawn rows are skipped."""
    last_void: dict[str, int] = {}
    for number, line in enumerate(read_journal(folder)):
        if line.get("kind") == "void":
            last_void |= dict.fromkeys(_voided(folder, line), number)
    for number, line in enumerate(read_journal(folder)):
        if line.get("kind") == "case" and number > last_void.get(str(line.get("id")), -1):
            yield _case(folder, line)


def _case(folder: Path, line: dict[str, Any]) -> CaseRow:
    with _one_line_errors(folder):
        return CaseRow.from_json(line)


def _voided(folder: Path, line: dict[str, Any]) -> list[str]:
    with _one_line_errors(folder):
        return [str(name) for name in line["cases"]]


@contextmanager
def _one_line_errors(folder: Path) -> Iterator[None]:
    """Report a line that is JSON but not a journal's, in one line."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise JournalError(f"{folder / JOURNAL}: expected lines of a run, actual: {error!r}") from error


def read_nodes(folder: Path) -> list[Node]:
    """The nodes that a run may have left on its target, in order of creation. Raises JournalError."""
    left: dict[Node, None] = {}
    for line in read_journal(folder):
        with _one_line_errors(folder):
            if line.get("kind") == "node":
                left[_node(*line["node"])] = None
            elif line.get("kind") == "deleted":
                for node in line["nodes"]:
                    left.pop(_node(*node), None)
    return list(left)


def _node(vhost: str, address: str, kind: str = "queue") -> Node:
    return vhost, address, kind


def read_run(folder: Path) -> RunRow:
    """The run row of a journal; raises JournalError if there is none."""
    for line in read_journal(folder):
        if line.get("kind") == "run":
            return RunRow.from_json(line)
    raise JournalError(f"cannot read {folder / JOURNAL}: expected a run, actual: none recorded")
