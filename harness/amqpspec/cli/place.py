"""The folder of a run: its name, a lock for one run at a time, and protection of its results.

Knows: folders, journals, which files a run writes. Must not know: targets, cases, how a run works.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from amqpspec.net.clock import utc_now
from amqpspec.record import evidence
from amqpspec.record.drafts import remove_drafts
from amqpspec.record.journal import JOURNAL, JournalError, read_journal, read_run
from amqpspec.record.lock import locked_folder
from amqpspec.record.rows import TargetRow
from amqpspec.reports.checksums import SUMS, check_sums
from amqpspec.target.config import ConfigError

_REPORTS = ("results.json", "matrix.html", "junit.xml", "summary.md", "badge.svg", "deviations.sarif", SUMS)


def usual_place(target: str) -> Path:
    """A new folder, named after time and target."""
    stamp = utc_now().replace(":", "").replace("-", "")
    name = "".join(c if c.isalnum() or c in "-." else "-" for c in target)
    return Path("out") / f"{stamp}-{name}"


@contextmanager
def only_run_in(folder: Path) -> Iterator[None]:
    """Keep other runs out of a folder for as long as the block lasts; raises ConfigError and JournalError."""
    with ExitStack() as stack:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            stack.enter_context(locked_folder(folder))
        except BlockingIOError as error:
            raise ConfigError(f"{folder}: another run is active there; choose another --out") from error
        except OSError as error:
            raise JournalError(f"cannot write {folder / JOURNAL}: {error.strerror}") from error
        yield


def recorded_target(folder: Path) -> TargetRow:
    """The run row in a folder; raises ConfigError, and ReportError if the run is damaged."""
    check_sums(folder)
    try:
        return read_run(folder).target
    except JournalError as error:
        raise ConfigError(str(error)) from error


def make_room(folder: Path, *, force: bool) -> None:
    """Clear a folder for a new run; raises ConfigError if this would delete results, or if the folder has foreign
    files.

    ``force`` deletes the results of an older run, but never other files.
    """
    if not force:
        _check(folder)
    for name in (JOURNAL, *_REPORTS):
        (folder / name).unlink(missing_ok=True)
    shutil.rmtree(folder / evidence.FOLDER, ignore_errors=True)
    remove_drafts(folder)


def _check(folder: Path) -> None:
    if not (folder / JOURNAL).exists():
        foreign = next((path.name for path in sorted(folder.iterdir()) if path.name[0] != "."), None)
        if foreign is not None:
            raise ConfigError(
                f"{folder}: expected a new or empty folder, actual: {foreign} in it (or --force)"
            )
        return
    try:
        kinds = {line.get("kind") for line in read_journal(folder)}
    except JournalError as error:
        raise ConfigError(str(error)) from error
    if "case" not in kinds:
        return
    if "end" in kinds:
        raise ConfigError(f"{folder} contains a finished run: choose another --out, or --force to replace it")
    raise ConfigError(
        f"{folder} contains an unfinished run: continue it with --resume {folder}, or choose another --out"
    )
