"""The journal survives a kill at any point: what was complete stays readable, a resumed run continues."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from amqpspec.record.journal import Journal, JournalError, read_cases, read_run
from amqpspec.record.rows import CaseRow, Outcome, RunRow, TargetRow

WRITER = """
import sys
from pathlib import Path
from amqpspec.record.journal import Journal
from tests.run.test_journal import case
with Journal(Path(sys.argv[1])) as journal:
    for number in range(10**9):
        journal.case(case(f"case-{number}"))
        print(number, flush=True)
"""


def case(name: str) -> CaseRow:
    return CaseRow(name, "amqp-0-9-1", "channel", "title", ("row",), "MUST", Outcome.PASS, "x" * 50, "y")


def test_nothing_that_was_told_is_lost_by_a_kill(tmp_path: Path) -> None:
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    told = 0
    for line in writer.stdout:
        told = int(line)
        if told >= 500:
            break
    os.kill(writer.pid, signal.SIGKILL)
    writer.stdout.close()
    writer.wait()
    names = [row.id for row in read_cases(tmp_path)]
    assert names[: told + 1] == [f"case-{number}" for number in range(told + 1)]


def test_a_torn_last_line_is_left_out_and_the_next_line_stands_alone(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.case(case("whole"))
    path = tmp_path / "journal.jsonl"
    whole = path.read_bytes()
    for cut in range(1, len(whole)):
        path.write_bytes(whole + whole[:cut])
        assert [row.id for row in read_cases(tmp_path)][:1] == ["whole"]
        with Journal(tmp_path) as journal:
            journal.case(case("after"))
        assert [row.id for row in read_cases(tmp_path)][-1] == "after"


def test_a_journal_without_a_run_says_so(tmp_path: Path) -> None:
    Journal(tmp_path).close()
    with pytest.raises(JournalError, match="expected a run, actual: none recorded"):
        read_run(tmp_path)
    with Journal(tmp_path) as journal:
        journal.run(RunRow("r", TargetRow("t", "amqp://h", "amqp-0-9-1"), "0", "now"))
    assert read_run(tmp_path).target.name == "t"


def test_a_full_disk_is_one_clear_error() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    journal = Journal.__new__(Journal)
    journal.path = Path("/dev/full")
    journal._lock = __import__("threading").Lock()
    journal._fd = os.open("/dev/full", os.O_WRONLY)
    with pytest.raises(JournalError, match="cannot write /dev/full: No space left on device"):
        journal.case(case("a"))
    journal.close()


def test_a_folder_that_cannot_be_made_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalError, match="cannot write"):
        Journal(tmp_path / "file" / "run")
