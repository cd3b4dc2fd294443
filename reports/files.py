"""Writing a report so that a reader sees the old one or the new one, never half of one.

Knows: temporary names, fsync, rename.
Must not know: what is written.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO


@contextmanager
def atomic_text(path: Path) -> Iterator[TextIO]:
    """Open a text file that takes the place of ``path`` when the block ends well, and else leaves no trace.

    A lone surrogate, which UTF-8 cannot carry, is written as its escape ``\\udcXX``.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
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
