"""Writes files and folders atomically: a reader sees the old version or the new one.

Knows: temporary names, fsync, rename.
Must not know: what is written.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from amqpspec.record.drafts import draft_of
from amqpspec.reports.load import ReportError


@contextmanager
def atomic_text(path: Path) -> Iterator[TextIO]:
    """Open a text file that replaces ``path`` if the block succeeds, and is removed otherwise.

    A lone surrogate, which UTF-8 cannot encode, is written as its escape ``\\udcXX``.
    """
    draft = draft_of(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException as error:
        with suppress(OSError):
            draft.unlink()
        if isinstance(error, OSError):
            error.filename, error.filename2 = str(path), None
        raise


@dataclass(frozen=True, slots=True)
class WholeFolder:
    """A folder that is replaced atomically by a draft next to it; the file ``manifest`` marks it as written by
    amqpspec.

    ``contents`` and ``whole`` name its contents and itself in messages; ``error`` is raised if the folder contains
    something else.
    """

    manifest: str
    contents: str
    whole: str
    error: type[ReportError] = ReportError

    def check(self, out: Path) -> None:
        """Whether the folder may be replaced: it does not exist, is empty, or contains its manifest."""
        aside = _aside(out)
        if aside.exists() and not out.exists():
            aside.rename(out)
        if out.exists() and not out.is_dir():
            raise self.error(f"{out}: expected a folder for {self.contents}, actual: a file")
        if out.exists() and not (out / self.manifest).is_file() and any(out.iterdir()):
            actual = f"files without a {self.manifest}"
            raise self.error(f"{out}: expected {self.whole} or an empty folder, actual: {actual}")
        out.parent.mkdir(parents=True, exist_ok=True)


def _aside(out: Path) -> Path:
    return out.with_name(f".{out.name}.old")


def swap(draft: Path, out: Path) -> None:
    """Replace the folder by the draft; the next ``check`` repairs a kill between the two renames."""
    aside = _aside(out)
    shutil.rmtree(aside, ignore_errors=True)
    if out.exists():
        out.rename(aside)
    draft.rename(out)
    shutil.rmtree(aside, ignore_errors=True)
