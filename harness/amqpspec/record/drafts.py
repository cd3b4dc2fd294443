"""Drafts: files that are being written, next to their destination, with the id of the writing process.

Knows: their names. Must not know: what is written.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import psutil

_DRAFT = re.compile(r"\..+\.(\d+)\.tmp")


def draft_of(path: Path) -> Path:
    """The path of a draft."""
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")


def remove_drafts(folder: Path) -> None:
    """Remove drafts of killed processes from a folder."""
    for path in folder.glob(".*.tmp"):
        found = _DRAFT.fullmatch(path.name)
        if found and not psutil.pid_exists(int(found[1])):
            path.unlink(missing_ok=True)
