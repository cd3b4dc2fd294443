"""Ingests journals into the lake: new octets are read once; each journal is stored completely or not at all.

Knows: the order of steps, which parts of a journal were ingested. Must not know: columns, Parquet, Spark.

A run is ingested as a whole, and again if its journal or its results have changed, because a journal may withdraw
earlier statements and a baseline may be added later. A campaign only appends batches, so only new ones are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from amqpspec.record.journal import JOURNAL, JournalError
from amqpspec.record.observation import CASE, FUZZ, key
from amqpspec.reports.load import RESULTS, ReportError
from amqpspec.reports.pipeline import campaigns, runs
from amqpspec.reports.pipeline.campaigns import Campaign, is_campaign, open_campaign
from amqpspec.reports.pipeline.compact import AUTOMATIC_FILES, compacted, without_run
from amqpspec.reports.pipeline.dimensions import Rows, merge
from amqpspec.reports.pipeline.manifest import Extent, Snapshot, Source, commit, digest_of, writing
from amqpspec.reports.pipeline.names import Names, with_edges
from amqpspec.reports.pipeline.parquet import FactWriter, fingerprint
from amqpspec.reports.pipeline.runs import Run, open_run
from amqpspec.reports.pipeline.schema import LakeError
from amqpspec.reports.pipeline.stream import streamed_runs

_TOLERATED = timedelta(days=1)
_GROUP_JOURNALS = 64
_GROUP_ROWS = 1_000_000
_NOTHING = Extent(0, "")


@dataclass(slots=True)
class Ingested:
    """The result of an ingest."""

    journals: int = 0
    unchanged: int = 0
    rows: int = 0
    files: int = 0
    remarks: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Incoming:
    """A journal to ingest; ``piece`` names its new part, and is empty if there is none."""

    source: Source
    piece: str
    dims: Rows
    batches: Iterator[pa.RecordBatch]
    replaces: bool = False
    read: dict[str, Extent] = field(default_factory=dict)


def ingest(
    folders: Iterable[Path],
    root: Path,
    today: date,
    *,
    landing: bool = False,
) -> Ingested:
    """Ingest runs and campaigns into the lake; unusable journals are refused one by one, and the others are ingested.

    A ``landing`` folder is a lake to which files are only added: runs are ingested after they have ended, and nothing
    is compacted. Raises LakeError if the lake itself cannot be used, OSError if it cannot be written.
    """
    done = Ingested()
    with writing(root) as snapshot:
        group = _Group(root, snapshot)
        for folder in folders:
            try:
                group.add(*_bring_in(root, group.snapshot, folder, today, done, landing))
            except (ReportError, JournalError) as problem:
                done.refused.append(str(problem))
        snapshot = group.commit()
        after = snapshot if landing else compacted(root, snapshot, more_than=AUTOMATIC_FILES)
        if after is not snapshot:
            commit(root, snapshot, after)
    return done


class _Group:
    """Journals that are committed together: each commit waits for the disk, and most runs are small."""

    def __init__(self, root: Path, snapshot: Snapshot) -> None:
        self._root, self._committed = root, snapshot
        self.snapshot = with_edges(root, snapshot)
        self._dims: Rows = {}
        self._journals = self._rows = 0

    def add(self, after: Snapshot, dims: Rows, rows: int) -> None:
        """Add a journal with its rows of dimensions."""
        if after is self.snapshot:
            return
        self.snapshot = after
        for name, new in dims.items():
            self._dims.setdefault(name, []).extend(new)
        self._journals, self._rows = self._journals + 1, self._rows + rows
        if self._journals >= _GROUP_JOURNALS or self._rows >= _GROUP_ROWS:
            self.commit()

    def commit(self) -> Snapshot:
        """Commit what was added."""
        if self.snapshot is not self._committed:
            dims = merge(self._root, self.snapshot, self._dims)
            self._committed = self.snapshot = commit(
                self._root, self._committed, replace(self.snapshot, dims=dims)
            )
            self._dims, self._journals, self._rows = {}, 0, 0
        return self._committed


def _bring_in(
    root: Path, snapshot: Snapshot, folder: Path, today: date, done: Ingested, landing: bool
) -> tuple[Snapshot, Rows, int]:
    """The lake with one more journal; not committed, and with its dimensions separate."""
    incoming = _incoming(snapshot, folder, done)
    if incoming is None:
        done.unchanged += 1
        return snapshot, {}, 0
    _check_fit(snapshot, incoming, folder, landing)
    rows, names, latest = 0, Names(), date.min
    with FactWriter(root) as writer:
        for batch in incoming.batches:
            writer.add(batch)
            names.add(batch)
            rows += batch.num_rows
            latest = max(latest, _last_day(batch))
        files = writer.finish(incoming.piece)
    if latest > today + _TOLERATED:
        done.remarks.append(f"{folder}: dated {latest}, in the future of this machine's clock ({today})")
    before = without_run(root, snapshot, incoming.source) if incoming.replaces else snapshot
    pieces = () if incoming.replaces else incoming.source.pieces
    source = replace(
        incoming.source, read={**incoming.source.read, **incoming.read},
        pieces=(*pieces, *([incoming.piece] if rows else [])),
        rows=rows if incoming.replaces else incoming.source.rows + rows,
    )  # fmt: skip
    after = replace(
        before,
        files={**before.files, **files},
        sources={**before.sources, f"{source.kind}/{source.run}": source},
    )
    done.journals, done.rows, done.files = done.journals + 1, done.rows + rows, done.files + len(files)
    return after, {**incoming.dims, **names.rows()}, rows


def _check_fit(snapshot: Snapshot, incoming: _Incoming, folder: Path, landing: bool) -> None:
    """Check that a journal may be ingested into this lake; raises LakeError."""
    if incoming.source.run_key in streamed_runs(snapshot):
        raise LakeError(
            f"{folder}: expected a run that was not ingested yet, "
            f"actual: {incoming.source.run} was ingested by a stream"
        )
    if landing and incoming.source.kind == CASE and (incoming.replaces or not incoming.source.ended):
        actual = "one that has changed since" if incoming.replaces else "one in progress"
        raise LakeError(f"{folder}: expected a run that has ended for a landing folder, actual: {actual}")


def _incoming(snapshot: Snapshot, folder: Path, done: Ingested) -> _Incoming | None:
    if is_campaign(folder):
        return _campaign(snapshot, open_campaign(folder), done)
    return _run(snapshot, open_run(folder), done)


# --- runs


def _run(snapshot: Snapshot, run: Run, done: Ingested) -> _Incoming | None:
    """A run whose current state is not ingested yet."""
    known = snapshot.sources.get(f"{CASE}/{run.name}")
    read = {name: _whole(run.folder / name) for name in (JOURNAL, RESULTS) if (run.folder / name).exists()}
    if known is not None and (known.read == read or _is_older(run, known, read, done)):
        return None
    source = Source(
        CASE, run.name, key(run.name), str(run.folder), {}, known.pieces if known else (), ended=run.ended
    )
    piece = fingerprint(CASE, run.name, *(read[name].digest for name in sorted(read)))
    return _Incoming(source, piece, runs.dimensions(run), runs.batches(run), known is not None, read)


def _is_older(run: Run, known: Source, read: dict[str, Extent], done: Ingested) -> bool:
    """Whether the lake has more of this run than the folder; raises LakeError if they contradict each other."""
    path = run.folder / JOURNAL
    was, now = known.read[JOURNAL], read[JOURNAL]
    if now.octets < was.octets:
        done.remarks.append(
            f"{path}: an older copy of a run that is in ({now.octets} of {was.octets} octets); left alone"
        )
        return True
    if digest_of(path, was.octets) != was.digest:
        raise LakeError(f"{path}: expected the journal that was ingested from {known.folder} or one that continues "
                        f"from it, actual: its first {was.octets} octets differ")  # fmt: skip
    return now.octets == was.octets and _judged_earlier(run, known, read)


def _judged_earlier(run: Run, known: Source, read: dict[str, Extent]) -> bool:
    """Of one journal with two results, the later one counts, whichever is ingested first."""
    was = (known.ended, known.read.get(RESULTS, _NOTHING).digest)
    return (run.ended, read.get(RESULTS, _NOTHING).digest) <= was


# --- campaigns


def _campaign(snapshot: Snapshot, campaign: Campaign, done: Ingested) -> _Incoming | None:
    """The part of a campaign that is not ingested yet."""
    known = snapshot.sources.get(f"{FUZZ}/{campaign.name}")
    paths = [*campaigns.files(campaign), campaign.folder / JOURNAL]
    read = dict(known.read) if known else {}
    sizes = {path.name: _whole(path) for path in paths}
    grown = [path for path in paths if sizes[path.name][:2] != read.get(path.name, _NOTHING)[:2]]
    if not grown or any(_is_less(path, read.get(path.name, _NOTHING), done) for path in grown):
        return None
    source = Source(FUZZ, campaign.name, key(campaign.name), str(campaign.folder), read,
                    known.pieces if known else (), known.rows if known else 0, campaign.ended)  # fmt: skip
    begun = (
        f"{path.name} {read.get(path.name, _NOTHING).batches} {sizes[path.name].digest}" for path in grown
    )
    incoming = _Incoming(
        source, fingerprint(FUZZ, campaign.name, *begun), campaigns.dimensions(campaign), iter(()), False
    )
    incoming.read[JOURNAL] = sizes[JOURNAL]
    incoming.batches = _new_batches(
        campaign, [path for path in grown if path.name != JOURNAL], sizes, incoming
    )
    return incoming


def _new_batches(
    campaign: Campaign, paths: Sequence[Path], sizes: dict[str, Extent], incoming: _Incoming
) -> Iterator[pa.RecordBatch]:
    """The batches that are not ingested yet, with a count."""
    for path in paths:
        number = incoming.source.read.get(path.name, _NOTHING).batches
        for batch in campaigns.batches(campaign, path, number):
            number += 1
            yield batch
        incoming.read[path.name] = sizes[path.name]._replace(batches=number)


def _is_less(path: Path, was: Extent, done: Ingested) -> bool:
    """Whether the lake has more of this file than the folder; raises LakeError if they contradict each other."""
    size = path.stat().st_size
    if size < was.octets:
        done.remarks.append(
            f"{path}: an older copy of an ingested file ({size} of {was.octets} octets); left alone"
        )
        return True
    if was.octets and digest_of(path, was.octets) != was.digest:
        raise LakeError(
            f"{path}: expected the ingested octets, or more; actual: its first {was.octets} octets differ"
        )
    return False


# --- helpers


def _last_day(batch: pa.RecordBatch) -> date:
    last = pc.max(batch.column("at_us")).as_py()
    return last.date() if last is not None else date.min


def _whole(path: Path) -> Extent:
    octets = path.stat().st_size
    return Extent(octets, digest_of(path, octets))
