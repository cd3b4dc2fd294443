"""The Arrow journal: rows return as they were, a torn end costs the open batch only, a full disk one line."""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from amqpspec.record import arrow_journal
from amqpspec.record.arrow_journal import ArrowJournal, observation_files, read_observations
from amqpspec.record.journal import JournalError
from amqpspec.record.observation import COLUMNS, SCHEMA, arrow_schema, key, row

AT = datetime(2026, 11, 21, 2, 0, 0, 123456, UTC)
ROOT = Path(__file__).parents[2]


OF_CASES = [name for name, _, _ in COLUMNS if name not in arrow_schema().names]


def made(number: int, **more: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "kind": "fuzz", "run": "r", "target": "t", "dialect": "amqp-0-9-1", "case": f"C04/x/state{number % 3}",
        "input": f"g:1/C04/x/raw/s0/{number}", "sent_octets": number, "verdict": 2, "at_us": AT,
        "sent_prefix": bytes([number % 256]), "reaction": f"answer {number % 5}",
    }  # fmt: skip
    return row(**(values | more))


def read(folder: Path) -> list[dict[str, Any]]:
    files = observation_files(folder)
    found = [line for path in files for batch in read_observations(path) for line in batch.to_pylist()]
    return [dict.fromkeys(OF_CASES) | line for line in found]


def test_rows_come_back_as_they_were(tmp_path: Path) -> None:
    journal = ArrowJournal(tmp_path)
    rows = [[made(n) for n in range(start, start + 7)] for start in (0, 7, 300)]
    for batch in rows:
        journal.write(batch)
    journal.write([])
    journal.close()
    assert read(tmp_path) == [line for batch in rows for line in batch]
    (batch, *_) = read_observations(tmp_path / "observations" / "000001.arrows")
    assert batch.schema.equals(arrow_schema()) and batch.schema.metadata == {
        b"amqpspec.schema": b"%d" % SCHEMA
    }
    assert [*batch.schema.names, *OF_CASES] == [name for name, _, _ in COLUMNS]


def test_every_start_has_its_own_file_made_with_the_first_row(tmp_path: Path) -> None:
    for number in range(2):
        journal = ArrowJournal(tmp_path)
        assert len(observation_files(tmp_path)) == number
        journal.write([made(number)])
        journal.close()
    ArrowJournal(tmp_path).close()
    assert [path.name for path in observation_files(tmp_path)] == ["000001.arrows", "000002.arrows"]
    assert [line["sent_octets"] for line in read(tmp_path)] == [0, 1]


def test_what_was_written_is_there_before_the_end(tmp_path: Path) -> None:
    journal = ArrowJournal(tmp_path)
    journal.write([made(1)])
    journal.write([made(2), made(3)])
    assert [line["sent_octets"] for line in read(tmp_path)] == [1, 2, 3]
    journal.close()


def test_a_file_cut_anywhere_gives_every_whole_batch(tmp_path: Path) -> None:
    journal = ArrowJournal(tmp_path)
    ends = []
    for number in range(4):
        journal.write([made(number), made(number + 100)])
        assert journal.path is not None
        ends.append(journal.path.stat().st_size)
    path = journal.path
    journal.close()
    assert path is not None
    octets = path.read_bytes()
    cut = tmp_path / "cut.arrows"
    for length in {0, 1, 7, *range(8, len(octets), 61), *ends, *(end - 1 for end in ends)}:
        cut.write_bytes(octets[:length])
        whole = sum(end <= length for end in ends)
        assert [b.column("sent_octets")[0].as_py() for b in read_observations(cut)] == list(range(whole)), (
            length
        )


def _size(folder: Path, reactions: list[str]) -> int:
    journal = ArrowJournal(folder)
    for reaction in reactions:
        journal.write([made(1, reaction=reaction)])
    journal.close()
    assert journal.path is not None
    return journal.path.stat().st_size


def test_dictionaries_are_written_once_and_begun_anew_when_they_grow_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [random.Random(n).randbytes(1000).hex() for n in range(4)]
    same, other = (_size(tmp_path / name, said) for name, said in (("a", texts[:1] * 4), ("b", texts)))
    assert same + 3 * 900 < other
    monkeypatch.setattr(arrow_journal, "_MOST_NAMES", 3)
    small = ArrowJournal(tmp_path / "small")
    rows = [made(n, reaction=f"answer {n}") for n in range(20)]
    for line in rows:
        small.write([line])
    small.close()
    assert read(tmp_path / "small") == rows
    last = list(read_observations(observation_files(tmp_path / "small")[0]))[-1]
    assert len(last.column("reaction").dictionary) <= 5


def test_a_text_that_is_no_text_is_written_out(tmp_path: Path) -> None:
    journal = ArrowJournal(tmp_path)
    journal.write([made(1, reaction="\udc80", detail="é\ud800")])
    journal.close()
    (line,) = read(tmp_path)
    assert line["reaction"] == "\\udc80" and line["detail"] == "é\\ud800"


def test_a_full_disk_is_one_line_and_what_was_written_stays(tmp_path: Path) -> None:
    """In a separate process, whose files may not grow beyond this many octets."""
    script = (
        "import sys; from pathlib import Path\n"
        "from tests.record.test_arrow_journal import made\n"
        "from amqpspec.record.arrow_journal import ArrowJournal\n"
        "from amqpspec.record.journal import JournalError\n"
        "journal = ArrowJournal(Path(sys.argv[1]))\n"
        "done = 0\n"
        "try:\n"
        "    while True:\n"
        "        journal.write([made(n) for n in range(50)])\n"
        "        done += 1\n"
        "except JournalError as error:\n"
        "    print(done, error)\n"
        "try:\n"
        "    journal.write([made(1)])\n"
        "except JournalError as error:\n"
        "    print(error)\n"
        "journal.close()\n"
    )
    ran = subprocess.run(
        [sys.executable, "-B", "-c", script, str(tmp_path)], check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000)),
    )  # fmt: skip
    first, second = ran.stdout.splitlines()
    written, _, told = first.partition(" ")
    assert told.startswith("cannot write ") and "000001.arrows" in told and int(written) > 0
    assert second.endswith("an earlier write has failed")
    assert len(read(tmp_path)) == 50 * int(written)


def test_a_place_that_cannot_be_written_or_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "observations").write_text("a file", encoding="utf-8")
    with pytest.raises(JournalError, match=r"cannot write .*observations"):
        ArrowJournal(tmp_path).write([made(1)])
    with pytest.raises(JournalError, match="cannot read"):
        list(read_observations(tmp_path / "none.arrows"))
    (tmp_path / "empty.arrows").touch()
    assert list(read_observations(tmp_path / "empty.arrows")) == []


def test_a_broken_descriptor_is_a_journal_error(tmp_path: Path) -> None:
    journal = ArrowJournal(tmp_path)
    journal.write([made(1)])
    full = os.open("/dev/full", os.O_WRONLY)
    assert journal._fd is not None
    os.dup2(full, journal._fd)
    os.close(full)
    with pytest.raises(JournalError, match="No space left"):
        journal.write([made(2)])
    journal.close()
    assert [line["sent_octets"] for line in read(tmp_path)] == [1]


def test_a_row_has_every_column_and_its_keys() -> None:
    line = made(1)
    assert list(line) == [name for name, _, _ in COLUMNS]
    assert line["run_key"] == key("r") and line["input_key"] == key("g:1/C04/x/raw/s0/1")
    assert line["crash_key"] == 0 and line["edge"] == key("amqp-0-9-1", "", "", "answer 1")
    with pytest.raises(KeyError, match="expected columns"):
        row(unknown=1)
    assert (
        pa.record_batch([pa.array([line["at_us"]], arrow_schema().field("at_us").type)], ["at"]).num_rows == 1
    )
