"""Marts that others wrote: whatever a file holds or announces, a verb ends in one line that names it."""

from __future__ import annotations

import io
import random
import resource
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.verbs import amqpspec, error
from tests.site import marts

VERDICTS = "verdicts/part-0000.parquet"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return marts.write(tmp_path_factory.mktemp("made") / "marts", marts.literal())


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """Private marts to spoil."""
    return Path(shutil.copytree(made, tmp_path / "marts"))


def verbs(folder: Path) -> list[tuple[str | Path, ...]]:
    return [
        ("query", "is:different", "--marts", folder),
        ("query", "--format", "json", "--marts", folder),
        ("pipeline", "pages", "--marts", folder, "--out", folder.parent / "site"),
    ]


def octets(table: pa.Table) -> bytes:
    written = io.BytesIO()
    pq.write_table(table, written)
    return written.getvalue()


def with_column(name: str, values: object, kind: pa.DataType | None = None) -> Callable[[bytes], bytes]:
    """The same file with other values of a column, one for all rows."""

    def spoil(good: bytes) -> bytes:
        table = pq.read_table(io.BytesIO(good))
        column = pa.array([values] * table.num_rows, kind)
        return octets(table.set_column(table.schema.get_field_index(name), name, column))

    return spoil


def announcing(rows: int) -> Callable[[bytes], bytes]:
    """The same file, whose footer announces another number of rows: a varint in zigzag, by trying where it stands."""

    def spoil(good: bytes) -> bytes:
        length = int.from_bytes(good[-8:-4], "little")
        footer = good[-8 - length : -8]
        mark = varint(2 * pq.ParquetFile(io.BytesIO(good)).metadata.num_rows)
        for place in range(length):
            if footer.startswith(mark, place):
                lying = footer[:place] + varint(2 * rows) + footer[place + len(mark) :]
                crafted = good[: -8 - length] + lying + len(lying).to_bytes(4, "little") + b"PAR1"
                if announced(crafted) == rows:
                    return crafted
        raise AssertionError("no place announces the rows")

    return spoil


def varint(number: int) -> bytes:
    low, rest = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + varint(rest) if rest else bytes([low])


def announced(crafted: bytes) -> int:
    try:
        return int(pq.ParquetFile(io.BytesIO(crafted)).metadata.num_rows)
    except OSError:
        return -1


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda good: b"", "Parquet file size is 0 bytes"),
        (lambda good: b"target,case\na,b\n" * 9, "not a parquet file"),
        (lambda good: good[:-1], "not a parquet file"),
        (lambda good: good[: len(good) // 2], "not a parquet file"),
        (lambda good: good[:-8] + b"\xff\xff\xff\x7fPAR1", "smaller than the size reported"),
        (lambda good: good[:-8] + b"\0\0\0\0PAR1", "deserialize"),
        (announcing(1 << 31), "rows fewer than it announces"),
        (announcing(1 << 62), "rows fewer than it announces"),
        (with_column("verdict", 7), "column 'verdict': expected STRING, actual int64"),
        (with_column("case", [1]), "column 'case': expected plain values, actual list"),
        (with_column("product", {"a": {"b": 1}}), "column 'product': expected plain values, actual struct"),
        (with_column("case", b"\xff"), "column 'case': expected STRING, actual binary"),
        (with_column("at", "yesterday"), "column 'at': expected TIMESTAMP, actual string"),
        (with_column("at", 1 << 62, pa.timestamp("us", "UTC")), "out of range"),
        (with_column("newest", "yes"), "column 'newest': expected BOOLEAN, actual string"),
        (with_column("runs", None, pa.int64()), "column 'runs': expected BIGINT, actual: null"),
        (with_column("target", None, pa.string()), "column 'target': expected STRING, actual: null"),
        (lambda good: octets(pa.table({"x": [1]})), "expected the column"),
    ],
)
def test_parquet_that_is_none_of_ours(spoil: Callable[[bytes], bytes], why: str, folder: Path) -> None:
    path = folder / VERDICTS
    path.write_bytes(spoil(path.read_bytes()))
    said = [error(*verb, code=2) for verb in (*verbs(folder)[:1], verbs(folder)[2])]
    assert all(line.startswith(f"{path}: ") for line in said) and why in said[1], said


def test_any_octets_of_a_file_may_be_wrong(folder: Path) -> None:
    """Seeded damage: an answer, or one line that names the file; never more memory than the file is worth."""
    path, choose = folder / VERDICTS, random.Random(17)
    good, refused = path.read_bytes(), 0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(150):
        spoilt = bytearray(good)
        for _ in range(choose.choice((1, 1, 3))):
            spoilt[choose.randrange(len(good))] = choose.randrange(256)
        path.write_bytes(spoilt)
        result = amqpspec(*choose.choice(verbs(folder)))
        assert result.exit_code in (0, 1, 2), result.output
        if result.exit_code == 2:
            refused += 1
            assert str(path) in result.stderr and result.stderr.count("\n") == 1, result.stderr
    assert refused > 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000, "kilobytes"


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "7", "null", "[" * 60_000, '{"marts": 7}', '{"marts": null}', '{"marts": [1]}',
        '{"marts": ["verdicts"]}', '{"marts": {"verdicts": 7}}', '{"marts": {"verdicts": {"rows": "x"}}}',
        '{"marts": {"verdicts": {"rows": 1e400}}}', '{"marts": {"../../etc": {"rows": 1}}}',
        '{"marts": {"": {}}}', "\udcff",
    ],
)  # fmt: skip
def test_a_manifest_that_is_none(text: str, folder: Path) -> None:
    path = folder / "manifest.json"
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    for verb in verbs(folder):
        assert error(*verb, code=2).startswith(f"{path}: expected the folder of `amqpspec pipeline build`")
