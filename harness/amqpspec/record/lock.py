"""Locks on files and folders, which end with their process.

Knows: the system's file locks; Windows and some file systems have none. Must not know: what they protect.

Without locks, the user has to prevent two writers in one place.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    _HAS_LOCKS = False
else:
    _HAS_LOCKS = True


def take(handle: int, *, wait: bool = False) -> None:
    """Lock an open file as long as it is open; raises BlockingIOError if another process has locked it."""
    if not _HAS_LOCKS:
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        raise
    except OSError:
        return  # a file system without locks


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Lock an existing folder; raises BlockingIOError if another process has locked it, and OSError."""
    if not _HAS_LOCKS:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        take(handle)
        yield
    finally:
        os.close(handle)
