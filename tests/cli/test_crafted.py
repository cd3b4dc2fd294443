"""Files that others wrote: whatever is in them, a verb ends in one line that names the file, and quotes no secret."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from amqpspec.record.reading import MAX_YAML_CHARACTERS
from amqpspec.reports.checksums import SUMS
from amqpspec.reports.query.output import as_csv
from tests.cli.verbs import amqpspec, error

CASE = "channel.open.twice"
DEEP = "[" * 60_000


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "run"
    amqpspec("run", "reference", CASE, "-q", "-o", folder, code=0)
    amqpspec("certificate", folder, code=0)
    return folder


@pytest.fixture
def run(made: Path, tmp_path: Path) -> Path:
    """A private run to spoil."""
    return Path(shutil.copytree(made, tmp_path / "run"))


@pytest.mark.parametrize(
    ("octets", "why"),
    [
        (b"[" * 5_000, "nested too deeply"),
        (b"entries: " + b"[" * 3_000 + b"]" * 3_000, "nested too deeply"),
        (b"a: &a [x]\nb: &b [*a, *a]\nentries: {}", "expected"),
        (b"\xff\xfe\0e", "not YAML"),
        (b"entries: [" + b"x," * MAX_YAML_CHARACTERS + b"]", f"at most {MAX_YAML_CHARACTERS} characters"),
        (b"password: hunter2\ntop-secret: 1\n", "expected"),
        (b"PASSWORD=hunter2 top-secret\n", "expected"),
    ],
)
def test_yaml_that_is_none_of_ours(octets: bytes, why: str, tmp_path: Path) -> None:
    path = tmp_path / "file.yaml"
    path.write_bytes(octets)
    as_baseline = error("run", "reference", CASE, "--baseline", path, "-o", tmp_path / "run", code=2)
    as_targets = error("run", "--target", "x", "--targets", path, code=2)
    for said in (as_baseline, as_targets):
        assert said.startswith(str(path)) and "hunter2" not in said
    assert why in as_baseline and "top-secret" not in as_baseline


@pytest.mark.parametrize(
    "text", [DEEP, "[1]", "7", '{"schema": 2}', "{", '{"schema": 2, "run": [], "cases": 3}']
)
def test_results_that_are_none(text: str, run: Path) -> None:
    (run / "results.json").write_text(text, encoding="utf-8")
    (run / SUMS).unlink()
    for verb in (("report", run), ("compare", run, run), ("baseline", run), ("certificate", run)):
        assert error(*verb, code=2).startswith(str(run / "results.json"))


@pytest.mark.parametrize("text", [DEEP, "[1]", "7", "{}", '{"certificate": {}}'])
def test_a_certificate_that_is_none(text: str, run: Path) -> None:
    (run / "certificate.json").write_text(text, encoding="utf-8")
    assert error("certificate", "verify", run / "certificate.json", code=2).startswith(
        str(run / "certificate.json")
    )


def test_what_a_certificate_does_not_fit_is_told_without_control_characters(run: Path) -> None:
    path = run / "results.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(
        text.replace('"verdict": "pass"', '"verdict": "fail", "observed": "\\u001b[2J"'), encoding="utf-8"
    )
    told = amqpspec("certificate", "verify", run / "certificate.json", code=1).output
    assert "do not fit" in told and "\x1b" not in told


def not_utf_8(journal: Path) -> None:
    journal.write_bytes(journal.read_bytes().replace(b"channel-error", b"\xff\xfe\x80"))


def not_ours(journal: Path) -> None:
    journal.write_bytes(
        journal.read_bytes() + b'{"kind": "case", "id": "\xff"}\n[1]\n7\n' + DEEP.encode() + b"\n"
    )


@pytest.mark.parametrize("spoil", [not_utf_8, not_ours])
def test_one_run_that_is_spoilt_does_not_keep_the_others_from_the_lake(
    spoil: Callable[[Path], None], run: Path, tmp_path: Path
) -> None:
    folders = []
    for number in range(3):
        folder = tmp_path / f"run-{number}"
        amqpspec("run", "reference", CASE, "-q", "-o", folder, code=0)
        folders.append(folder)
    spoil(folders[1] / "journal.jsonl")
    (folders[1] / SUMS).unlink()
    (folders[1] / "results.json").unlink()
    result = amqpspec("pipeline", "ingest", *folders, "--lake", tmp_path / "lake")
    assert result.exit_code in (0, 2), result.output
    assert "2 observations of 2 journals" in result.output or "3 observations of 3 journals" in result.output


# --- flipped bits

FILES = ("journal.jsonl", "results.json", f"evidence/{CASE}.jsonl", "evidence/probe.jsonl")


def flipped(path: Path, octet: int, bit: int) -> None:
    octets = bytearray(path.read_bytes())
    octets[octet % len(octets)] ^= 1 << bit
    path.write_bytes(octets)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("octet", [0, 99, -2])
def test_a_flipped_bit_is_told_wherever_a_run_is_read(
    name: str, octet: int, run: Path, tmp_path: Path
) -> None:
    flipped(run / name, octet, bit=0)
    for verb in (
        ("report", run), ("report", run, "--out", tmp_path / "page.html"), ("compare", run, run), ("baseline", run),
        ("certificate", run), ("merge", run, "--out", tmp_path / "merged"), ("run", "--resume", run),
        ("run", "reference", CASE, "--shard", "1/1", "--durations", run, "-o", tmp_path / "shard"),
    ):  # fmt: skip
        assert error(*verb, code=2).startswith(f"{run / name}: damaged or changed: expected sha256 "), verb
    told = amqpspec("certificate", "verify", run / "certificate.json").output.splitlines()
    assert any(line.startswith(f"{name}: expected sha256 ") for line in told) or "results.json" in told[0]


def test_a_flipped_bit_keeps_a_run_out_of_the_lake(run: Path, tmp_path: Path) -> None:
    flipped(run / FILES[2], 7, bit=3)
    said = error("pipeline", "ingest", run, "--lake", tmp_path / "lake", code=2)
    assert said.startswith(f"refused: {run / FILES[2]}: damaged or changed: ")


def test_checksums_can_be_checked_without_us_and_do_without_what_was_deleted(run: Path) -> None:
    names = [line.split("  ")[1] for line in (run / SUMS).read_text(encoding="utf-8").splitlines()]
    assert names == sorted(names) and {*FILES} < {*names}
    if shutil.which("sha256sum"):
        subprocess.run(["sha256sum", "--check", "--strict", SUMS], cwd=run, check=True, capture_output=True)
    shutil.rmtree(run / "evidence")
    amqpspec("report", run, code=0)
    (run / SUMS).unlink()
    amqpspec("report", run, code=0)


@pytest.mark.parametrize("text", ["", "x", "\0", f"{'0' * 64}  ../../etc/passwd", "\udcff"])
def test_checksums_that_are_none(text: str, run: Path) -> None:
    (run / SUMS).write_text(text, encoding="utf-8", errors="surrogateescape")
    assert error("report", run, code=2).startswith(str(run))


def test_a_run_that_goes_on_has_no_checksums_of_before(run: Path) -> None:
    fault = ("--fault", "not-refused:channel/open/state")
    lines = (run / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (run / SUMS).unlink()
    (run / "journal.jsonl").write_bytes(lines[0])
    amqpspec("run", "reference", CASE, *fault, "--resume", run, "-q", code=1)
    amqpspec("report", run, code=0)


@pytest.mark.parametrize("text", ["=1+2", "+1", "-1", "@SUM(A1)", "\t=1"])
def test_no_cell_is_a_formula(text: str) -> None:
    written = io.StringIO()
    as_csv([{"a": text, "b": "x=1", "c": -5}], ["a", "b", "c"], written)
    assert list(csv.reader(io.StringIO(written.getvalue())))[1] == [f"'{text}", "x=1", "-5"]
