"""Checksums of a run's folder, so that a flipped bit is reported with the name of its file.

Knows: the files that verdicts depend on, the file with their checksums. Must not know: the contents of these files.
``SHA256SUMS`` is written when a run has finished, in the format of ``sha256sum``. Folders of older or unfinished runs
do not have it. Transcripts may have been deleted to save space.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import file_digest
from pathlib import Path

from amqpspec.record.evidence import transcripts
from amqpspec.record.journal import JOURNAL
from amqpspec.reports.files import atomic_text
from amqpspec.reports.load import RESULTS, LoadedRun, ReportError, load_run

SUMS = "SHA256SUMS"
_LINE = re.compile(r"([0-9a-f]{64}) [ *](.+)")


def evidence_files(folder: Path) -> list[str]:
    """Journal, results and transcripts by their path within the run's folder, sorted; captures are not included,
    because they repeat transcripts.
    """
    names = (path.relative_to(folder).as_posix() for path in transcripts(folder))
    return sorted([JOURNAL, RESULTS, *names])


def sha256_of(path: Path) -> str:
    """The hash of a file in hex; raises ReportError."""
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ReportError(f"{path}: cannot be read: {error.strerror}") from error


def write_sums(folder: Path) -> None:
    """Write the checksums of a finished run; raises ReportError and OSError."""
    with atomic_text(folder / SUMS) as file:
        file.writelines(f"{sha256_of(folder / name)}  {name}\n" for name in evidence_files(folder))


def check_sums(folder: Path) -> None:
    """Check the files of a run against its checksums; raises ReportError, which names the first changed file."""
    known = _sums(folder / SUMS)
    for name in evidence_files(folder) if known else ():
        path = folder / name
        if not path.exists():
            continue  # the caller raises the error if it needs the file
        expected, actual = known.get(name, f"one in {SUMS}"), sha256_of(path)
        if actual != expected:
            raise ReportError(f"{path}: damaged or changed: expected sha256 {expected}, actual {actual}")


def load_intact(path: Path) -> LoadedRun:
    """``load_run`` of a folder, or of its results.json, after a check of its files against the checksums."""
    check_sums(path if path.is_dir() else path.parent)
    return load_run(path)


def _sums(path: Path) -> Mapping[str, str]:
    """The checksums by name; empty if there is no such file. Raises ReportError."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ReportError(f"{path}: cannot be read: {error}") from error
    found = [_LINE.fullmatch(line) for line in lines]
    if not lines or None in found:
        line = found.index(None) + 1 if lines else 1
        raise ReportError(f"{path}: line {line}: expected a sha256 and a name, as sha256sum writes them")
    return {match[2]: match[1] for match in found if match}
