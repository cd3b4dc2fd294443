"""A lake that was hurt: damage is named, strangers are left alone, and a kill at any point costs nothing."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from amqpspec.record import observation
from amqpspec.record.observation import arrow_schema
from amqpspec.record.rows import Outcome
from amqpspec.reports.pipeline.ingest import ingest
from amqpspec.reports.pipeline.lake import open_lake, strangers
from amqpspec.reports.pipeline.manifest import MANIFEST, writing
from amqpspec.reports.pipeline.schema import SCHEMA, LakeError
from tests.cli.verbs import amqpspec, error
from tests.pipeline.journals import CampaignFolder, case, finished, write_run
from tests.pipeline.lakes import CRAFTED, content, crafted, facts

TODAY = date(2026, 11, 21)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    ingest([finished(tmp_path / "run", [case("basic.qos")])], tmp_path / "lake", TODAY)
    return tmp_path / "lake"


# --- damage


@pytest.mark.parametrize("octets", [0, 100, -1])
def test_a_truncated_file_is_named(root: Path, octets: int) -> None:
    [part] = open_lake(root).parts()
    size = part.entry.octets
    part.path.write_bytes(part.path.read_bytes()[:octets])
    left = octets if octets >= 0 else size - 1
    with pytest.raises(LakeError, match=f"{part.path}: expected {size} octets, actual {left}: .*--skip-bad"):
        open_lake(root).parts()


def test_damaged_files_can_be_left_out(root: Path) -> None:
    [part] = open_lake(root).parts()
    part.path.write_bytes(b"\0" * part.entry.octets)
    told: list[str] = []
    assert open_lake(root, skip_bad=True, say=told.append).parts() == []
    assert "expected a Parquet file" in told[0] and str(part.path) in told[0]


def test_a_flipped_bit_is_named_before_anything_is_made_of_it(root: Path) -> None:
    ingest(
        [finished(root.parent / "again", [case("tx.select")], started="2026-11-20T04:00:00Z")], root, TODAY
    )
    lake = open_lake(root)
    for path in (lake.parts()[1].path, lake.dimension_file("cases")):
        assert path is not None
        good = path.read_bytes()
        path.write_bytes(good[:40] + bytes([good[40] ^ 4]) + good[41:])
        assert error("pipeline", "status", "--lake", root, code=2).startswith(f"{path}: damaged or changed")
        if path.parent.name == "kind=case":
            assert error("pipeline", "compact", "--lake", root, code=2).startswith(f"{path}: damaged")
            assert len(open_lake(root, skip_bad=True).parts(whole=True)) == 1
        path.write_bytes(good)
    amqpspec("pipeline", "compact", "--lake", root, code=0)


def test_a_lake_without_digests_is_read(root: Path) -> None:
    path = max((root / MANIFEST).glob("*.json"))
    document = json.loads(path.read_text())
    for entry in document["files"].values():
        del entry["digest"]
    path.write_text(json.dumps(document))
    amqpspec("pipeline", "status", "--lake", root, code=0)


@pytest.mark.parametrize(
    "name", ["../../precious", "/etc/precious", "observations/../../precious", "manifest/1.json"]
)
@pytest.mark.parametrize("key", ["files", "dropped", "dims"])
def test_a_manifest_names_files_of_its_lake_only(name: str, key: str, root: Path) -> None:
    """What a manifest calls dropped is deleted by the next writer."""
    precious = root.parent / "precious"
    precious.write_text("mine")
    path = max((root / MANIFEST).glob("*.json"))
    document = json.loads(path.read_text())
    entry = next(iter(document["files"].values()))
    document[key] = {
        "files": {name: entry},
        "dropped": [name],
        "dims": {"cases": {"path": name, "entry": entry}},
    }[key]
    path.write_text(json.dumps(document))
    for verb in (("status",), ("ingest", root.parent / "run"), ("compact",)):
        said = error("pipeline", *verb, "--lake", root, code=2)
        assert said.startswith(f"{path}: expected a manifest of schema {SCHEMA}")
    assert precious.read_text() == "mine"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("number", "1"), ("number", None), ("schema", 1.5), ("files", []), ("files", {"x": 1}), ("dims", {"cases": 7}),
        ("dims", [1]), ("sources", {"a": {}}), ("sources", {"a": 1}), ("dropped", 7), ("dropped", [7]),
    ],
)  # fmt: skip
def test_a_crafted_manifest_is_named(key: str, value: object, root: Path) -> None:
    path = max((root / MANIFEST).glob("*.json"))
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    for verb in (("status",), ("ingest", root.parent / "run"), ("compact",)):
        assert error("pipeline", *verb, "--lake", root, code=2).startswith(f"{path}: expected a manifest")


@pytest.mark.parametrize("octets", CRAFTED.values(), ids=CRAFTED)
def test_parquet_that_is_none_of_ours_is_named_by_compacting(octets: bytes, root: Path) -> None:
    again = finished(root.parent / "again", [case("basic.qos")], started="2026-11-20T04:00:00Z")
    ingest([again], root, TODAY)
    path = crafted(root, octets)
    assert error("pipeline", "compact", "--lake", root, code=2).startswith(f"{path}: ")


def test_a_file_that_is_gone_is_named(root: Path) -> None:
    [part] = open_lake(root).parts()
    part.path.unlink()
    with pytest.raises(LakeError, match=f"{part.path}: cannot be read: No such file"):
        open_lake(root).parts()


def test_strangers_are_named_and_not_read(root: Path) -> None:
    [part] = open_lake(root).parts()
    (part.path.parent / "part-0123456789abcdef.parquet").write_bytes(part.path.read_bytes())
    (part.path.parent / "notes.txt").write_text("hello")
    lake = open_lake(root)
    assert [name.rpartition("/")[2] for name in strangers(lake)] == [
        "notes.txt",
        "part-0123456789abcdef.parquet",
    ]
    assert len(facts(root)) == 1


def test_a_lake_of_a_newer_build_is_left_alone(root: Path, tmp_path: Path) -> None:
    path = max((root / MANIFEST).glob("*.json"))
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema": SCHEMA + 1, "more": {}}))
    for use in (lambda: open_lake(root), lambda: ingest([tmp_path / "run"], root, TODAY)):
        with pytest.raises(
            LakeError,
            match=f"{path}: written by a newer amqpspec .lake schema {SCHEMA + 1}; .* up to {SCHEMA}",
        ):
            use()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 1}', '{"schema": "x"}'])
def test_a_manifest_that_is_none_is_named(root: Path, text: str) -> None:
    path = max((root / MANIFEST).glob("*.json"))
    path.write_text(text)
    with pytest.raises(LakeError, match=f"{path}: expected a manifest"):
        open_lake(root)


def test_no_lake_is_said(tmp_path: Path) -> None:
    with pytest.raises(LakeError, match="expected a lake, actual: no manifest"):
        open_lake(tmp_path)


def test_two_writers_do_not_meet(root: Path, tmp_path: Path) -> None:
    with writing(root), pytest.raises(LakeError, match="expected no other writer"):
        ingest([tmp_path / "run"], root, TODAY)


# --- journals that are not what they should be


def test_an_unknown_column_is_refused_with_its_file(tmp_path: Path) -> None:
    done = _with_schema(tmp_path, arrow_schema().append(pa.field("colour", pa.string())))
    expected = f"column 'colour': expected one of schema {SCHEMA}, actual: unknown"
    assert f"observations/000001.arrows: {expected}" in done[0]


def test_a_column_of_another_type_is_refused_with_its_file(tmp_path: Path) -> None:
    place = arrow_schema().get_field_index("latency_us")
    done = _with_schema(tmp_path, arrow_schema().set(place, pa.field("latency_us", pa.float64())))
    assert "000001.arrows: column 'latency_us': expected int64, actual double" in done[0]


def test_a_journal_of_a_newer_schema_is_refused(tmp_path: Path) -> None:
    newer = str(observation.SCHEMA + 1)
    done = _with_schema(tmp_path, arrow_schema().with_metadata({"amqpspec.schema": newer}))
    assert f"000001.arrows: expected observations of schema 1 to {observation.SCHEMA}" in done[0]


def test_a_journal_of_the_first_schema_goes_in(tmp_path: Path) -> None:
    assert _with_schema(tmp_path, arrow_schema().with_metadata({"amqpspec.schema": "1"})) == []


def test_a_column_that_an_older_journal_lacks_reads_as_null(tmp_path: Path) -> None:
    place = arrow_schema().get_field_index("evidence")
    assert _with_schema(tmp_path, arrow_schema().remove(place)) == []
    assert [row["evidence"] for row in facts(tmp_path / "lake")] == [None]


def _with_schema(tmp_path: Path, schema: pa.Schema) -> list[str]:
    """What an ingest refuses of a campaign whose observations have this schema; a sound run goes in beside it."""
    campaign = CampaignFolder(tmp_path / "campaign")
    folder = campaign.end() / "observations"
    folder.mkdir()
    row = {"kind": "fuzz", "run": campaign.run, "at_us": datetime(2026, 11, 20, tzinfo=UTC)}
    with pa.ipc.new_stream(str(folder / "000001.arrows"), schema) as stream:
        columns = [
            pa.array([row.get(field.name)], getattr(field.type, "value_type", field.type)).cast(field.type)
            for field in schema
        ]
        stream.write_batch(pa.record_batch(columns, schema=schema))
    done = ingest([tmp_path / "campaign"], tmp_path / "lake", TODAY)
    assert len(done.refused) == (0 if done.rows else 1)
    return done.refused


def test_what_is_no_journal_is_refused_and_the_rest_goes_in(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "journal.jsonl").write_bytes(b"\xff\x00 no json\n" + b'{"kind": "case"}\n')
    done = ingest(
        [
            tmp_path / "none",
            tmp_path / "empty",
            tmp_path / "odd",
            write_run(tmp_path / "run", [case("basic.qos")]),
        ],
        tmp_path / "lake",
        TODAY,
    )
    assert (len(done.refused), done.rows) == (3, 1)
    assert all(name in text for name, text in zip(("none", "empty", "odd"), done.refused, strict=True))


def test_a_clock_that_jumps_back_puts_each_row_on_its_day(tmp_path: Path) -> None:
    campaign = CampaignFolder(tmp_path / "campaign", at=datetime(2026, 11, 20, 12, tzinfo=UTC))
    campaign.batch(2)
    campaign.at -= timedelta(days=30)
    campaign.batch(2)
    ingest([campaign.end()], tmp_path / "lake", TODAY)
    assert [row["dt"] for row in facts(tmp_path / "lake")] == ["2026-10-21"] * 2 + ["2026-11-20"] * 2


def test_a_date_in_the_future_is_said(tmp_path: Path) -> None:
    campaign = CampaignFolder(tmp_path / "campaign", at=datetime(2031, 1, 2, tzinfo=UTC))
    campaign.batch(1)
    done = ingest([campaign.end()], tmp_path / "lake", TODAY)
    assert "dated 2031-01-02, in the future of this machine's clock (2026-11-21)" in done.remarks[0]
    assert open_lake(tmp_path / "lake").days().keys() == {"2031-01-02"}


def test_a_clock_that_runs_wild_is_refused(tmp_path: Path) -> None:
    campaign = CampaignFolder(tmp_path / "campaign", at=datetime(2020, 1, 1, tzinfo=UTC))
    campaign.batch(402, step=timedelta(days=1))
    done = ingest([campaign.end()], tmp_path / "lake", TODAY)
    assert "expected at most 400 days" in done.refused[0]
    assert not list((tmp_path / "lake" / "observations").rglob("*.parquet*"))


# --- kills

_KILLED = """
import os, signal, sys
from datetime import date
from pathlib import Path

left = int(sys.argv[1])

def counted(real):
    def step(*args, **options):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*args, **options)
    return step

os.fsync, os.open = counted(os.fsync), counted(os.open)
Path.replace, Path.unlink = counted(Path.replace), counted(Path.unlink)
import pyarrow.parquet as pq
pq.ParquetWriter.write_table = counted(pq.ParquetWriter.write_table)
pq.ParquetWriter.close = counted(pq.ParquetWriter.close)
import amqpspec.reports.pipeline.compact, amqpspec.reports.pipeline.ingest as module
module.AUTOMATIC_FILES = 1
module.ingest([Path(p) for p in sys.argv[3:]], Path(sys.argv[2]), date(2026, 11, 21))
print("whole")
"""


def _journals(tmp_path: Path) -> Iterator[Path]:
    campaign = CampaignFolder(tmp_path / "campaign")
    campaign.batch(60)
    campaign.batch(60)
    campaign.finding()
    yield campaign.end()
    for number in range(2):
        started = f"2026-11-20T0{number + 1}:00:00Z"
        yield finished(
            tmp_path / f"run{number}", [case("basic.qos", Outcome.FAIL), case("channel.open.twice")], started
        )


def test_an_ingest_that_is_killed_anywhere_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """Killed at seeded steps of the file system, one kill after the other, until one ingest comes through."""
    journals = list(_journals(tmp_path))
    ingest(journals, tmp_path / "undisturbed", TODAY)
    steps = random.Random(1)
    lake, kills = tmp_path / "lake", 0
    for attempt in range(12):
        at = steps.randrange(1, 60) if attempt < 11 else 0
        code, said = _killed(at, lake, journals)
        kills += code == -signal.SIGKILL
        assert code in (0, -signal.SIGKILL), said
        if list((lake / MANIFEST).glob("[0-9]*.json")):
            rows = facts(lake)  # what is there can be read, and holds each observation once
            assert len({(row["run"], row["case"], row["attempt"], row["input"]) for row in rows}) == len(rows)
    assert kills >= 5
    assert content(lake) == content(tmp_path / "undisturbed")
    assert not list(lake.rglob("*.tmp"))


def _killed(at: int, lake: Path, journals: list[Path]) -> tuple[int, str]:
    ended = subprocess.run(
        [sys.executable, "-c", _KILLED, str(at), lake, *journals], capture_output=True, text=True, timeout=300
    )
    return ended.returncode, ended.stderr


_FULL = """
import resource, sys
from datetime import date
from pathlib import Path
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
from amqpspec.reports.pipeline.ingest import ingest
try:
    ingest([Path(sys.argv[3])], Path(sys.argv[2]), date(2026, 11, 21))
except OSError as error:
    print(error)
    sys.exit(4)
"""


@pytest.mark.parametrize("octets", [0, 600, 6_000])
def test_a_full_disk_leaves_the_lake_as_it_was(root: Path, tmp_path: Path, octets: int) -> None:
    campaign = CampaignFolder(tmp_path / "campaign")
    campaign.batch(2_000)
    folder = campaign.end()
    before = content(root)
    ended = subprocess.run(
        [sys.executable, "-B", "-c", _FULL, str(octets), root, folder],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.returncode == 4, ended.stderr
    assert "File too large" in ended.stdout
    assert content(root) == before
    assert not list((root / "observations").rglob("*.tmp"))

    assert ingest([folder], root, TODAY).rows == 2_000
    assert len(facts(root)) == 2_001
