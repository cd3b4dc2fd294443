"""Streams a landing folder into the lake by Spark's file source: each new file is read once, then the stream ends.

Knows: streams, checkpoints, a lake's layout. Must not know: journals.

Machines that run the suites add their facts to a landing folder (``ingest --landing``), to which files are only
added. The stream copies new files to ``LAKE/landed``, where Spark's log lists the complete ones; then they are added
to the lake like ingested ones: rewritten, and named by the manifest in one step. If it is killed, the next call
continues.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.compute as pc

from amqpspec.reports.pipeline.dimensions import Rows, dimension_rows, merge
from amqpspec.reports.pipeline.lake import OBSERVATIONS
from amqpspec.reports.pipeline.manifest import Extent, Snapshot, Source, commit, read_snapshot, writing
from amqpspec.reports.pipeline.names import Names, edges, with_edges
from amqpspec.reports.pipeline.parquet import FactWriter, fingerprint, read_facts
from amqpspec.reports.pipeline.schema import DIMENSIONS, FACTS_DDL, LakeError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LANDED, CHECKPOINTS = "landed", "checkpoints"
STREAM = "stream"
_FILES_A_BATCH = 256


def take_in(spark: SparkSession, landing: Path, root: Path) -> int:
    """Read the new files of the landing folder; returns the number of observations. Raises LakeError, OSError."""
    source = (landing / OBSERVATIONS).resolve()
    if not source.is_dir():
        raise LakeError(f"{landing}: expected a landing folder with {OBSERVATIONS}/, actual: none")
    name = fingerprint(str(source))
    landed = (root / LANDED / name).resolve()
    _copy(spark, source, landed, (root / CHECKPOINTS / name).resolve())
    with writing(root) as snapshot:
        known = snapshot.sources.get(f"{STREAM}/{name}") or Source(STREAM, name, 0, str(source), {})
        fresh = [path for path in _whole(spark, landed) if str(path.relative_to(landed)) not in known.read]
        if not fresh:
            return 0
        return _take(root, snapshot, known, landing, landed, fresh)


def streamed_runs(snapshot: Snapshot) -> set[int]:
    """The keys of the runs that were added by streams."""
    marks = (mark for source in snapshot.sources.values() if source.kind == STREAM for mark in source.read)
    return {int(mark.removeprefix("run:")) for mark in marks if mark.startswith("run:")}


def _copy(spark: SparkSession, source: Path, landed: Path, checkpoint: Path) -> None:
    """Spark's part: the existing files, exactly once, by day and kind."""
    stream = (
        spark.readStream.schema(FACTS_DDL)
        .option("pathGlobFilter", "part-*.parquet")
        .option("maxFilesPerTrigger", _FILES_A_BATCH)
        .parquet(str(source))
    )
    query = (
        stream.writeStream.format("parquet")
        .partitionBy("dt", "kind")
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start(str(landed))
    )
    query.awaitTermination()


def _whole(spark: SparkSession, landed: Path) -> list[Path]:
    """The files that Spark's log lists as complete."""
    if not (landed / "_spark_metadata").is_dir():
        return []
    files = spark.read.schema(FACTS_DDL).parquet(str(landed)).inputFiles()
    return sorted(Path(unquote(urlsplit(file).path)) for file in files)


def _take(
    root: Path, snapshot: Snapshot, known: Source, landing: Path, landed: Path, fresh: Iterable[Path]
) -> int:
    own = pa.array(sorted(s.run_key for s in snapshot.sources.values() if s.kind != STREAM), pa.int64())
    read, names = dict(known.read), edges()
    with FactWriter(root) as writer:
        for path in fresh:
            rows = 0
            for batch in read_facts(path, path.parent.name.removeprefix("kind=")):
                # Runs that were ingested from their own journal are not added again.
                others = batch.filter(pc.invert(pc.is_in(batch.column("run_key"), own)))
                writer.add(others)
                names.add(others)
                rows += others.num_rows
                runs = pc.unique(others.column("run_key")).to_pylist()
                read |= {f"run:{number}": Extent(0, "") for number in runs}
            read[str(path.relative_to(landed))] = Extent(path.stat().st_size, "", rows)
        piece = fingerprint(*sorted(read))
        files = writer.finish(piece)
    rows = sum(entry.rows for entry in files.values())
    source = replace(known, read=read, pieces=(*known.pieces, piece), rows=known.rows + rows)
    after = replace(
        snapshot,
        files={**snapshot.files, **files},
        dims=merge(root, with_edges(root, snapshot), _dimensions(landing, names)),
        sources={**snapshot.sources, f"{STREAM}/{known.run}": source},
    )
    commit(root, snapshot, after)
    for path in fresh:
        path.unlink(missing_ok=True)
    return rows


def _dimensions(landing: Path, names: Names) -> Rows:
    """The dimensions next to the landing folder's facts, and the names in the facts themselves."""
    snapshot = read_snapshot(landing)
    return {name: dimension_rows(landing, snapshot, name) for name in DIMENSIONS} | names.rows()
