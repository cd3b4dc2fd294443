"""The location of transcripts in a run's folder.

Knows: names. Must not know: the contents of a transcript.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

FOLDER = "evidence"
SUFFIX = ".jsonl"


def evidence_path(name: str) -> str:
    """The path of a transcript, relative to the run's folder: of a case by its id, of a probe by its name."""
    return f"{FOLDER}/{name}{SUFFIX}"


def transcripts(folder: Path) -> Iterator[Path]:
    """The transcripts in a run's folder, in no order."""
    return folder.glob(evidence_path("*"))


def is_transcript(path: Path) -> bool:
    """Whether a path is that of a transcript in a run's folder."""
    return path.suffix == SUFFIX and path.parent.name == FOLDER
