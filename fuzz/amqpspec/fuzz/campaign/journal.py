"""Files of a running campaign: a journal that is only appended to, and its progress.

Knows: files that survive a kill at any point. Must not know: what the lines mean.

A batch is written down before it is sent (``batch``), and again when all of it was checked (``done``); in between,
its rows are (``amqpspec.record.arrow_journal``). ``progress.json`` is replaced as a whole, and says where the next
batch begins; a campaign that was killed sends the batch again that was in progress.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from amqpspec.fuzz.inputs.identity import InputId
from amqpspec.record.journal import JournalError, read_journal
from amqpspec.record.reading import parse_json

PROGRESS = "progress.json"


class CampaignJournal:
    """Appends to ``journal.jsonl`` of a campaign's folder, one write per line. Raises JournalError."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._path = folder / "journal.jsonl"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            torn = self._path.exists() and not _ends_whole(self._path)
            self._fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise JournalError(f"cannot write {self._path}: {error.strerror}") from error
        if torn:
            os.write(self._fd, b"\n")

    def line(self, kind: str, **data: Any) -> None:
        """Append a line."""
        octets = json.dumps({"kind": kind, **data}, ensure_ascii=False, default=str).encode() + b"\n"
        try:
            written = os.write(self._fd, octets)
        except OSError as error:
            raise JournalError(f"cannot write {self._path}: {error.strerror}") from error
        if written != len(octets):
            raise JournalError(f"cannot write {self._path}: {written} of {len(octets)} octets, no space left")

    def write_checkpoint(self, progress: Mapping[str, Any]) -> None:
        """Replace the checkpoint."""
        path = self.folder / PROGRESS
        partial = self.folder / f".{PROGRESS}"
        try:
            partial.write_text(json.dumps(progress), encoding="utf-8")
            partial.replace(path)
        except OSError as error:
            raise JournalError(f"cannot write {path}: {error.strerror}") from error

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)


def _ends_whole(path: Path) -> bool:
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        if not size:
            return True
        file.seek(size - 1)
        return file.read(1) == b"\n"


def read_progress(folder: Path) -> dict[str, Any]:
    """Read the checkpoint; raises JournalError if there is none."""
    try:
        data: dict[str, Any] = parse_json((folder / PROGRESS).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise JournalError(f"{folder}: expected the folder of a campaign, actual: {error}") from error
    return data


def findings_in(folder: Path) -> dict[str, str]:
    """The folders of the findings that a campaign has recorded, by signature, without one that a kill interrupted."""
    found = {}
    for path in sorted((folder / "findings").glob("*/finding.json")):
        with suppress(OSError, ValueError, KeyError, TypeError):
            found[str(parse_json(path.read_text(encoding="utf-8"))["signature"])] = path.parent.name
    return found


def inputs_of(batch: Mapping[str, Any]) -> Iterator[str]:
    """The id of every input that a ``batch`` line names, in order; raises IdError."""
    yield from batch.get("ids", ())
    for first, last, step in batch.get("spans", ()):
        id = InputId.parse(first)
        for counter in range(id.counter, InputId.parse(last).counter + 1, step):
            yield str(id._replace(counter=counter))


def batches(folder: Path) -> Iterator[dict[str, Any]]:
    """Every batch that was begun, in order."""
    return (line for line in read_journal(folder) if line.get("kind") == "batch")
