"""The pipeline beside DuckDB: the same aggregations of the same files in one run; memory, ingest, a cold build.

Knows: synthetic lakes, how to time a session and a DuckDB, that both say the same. Must not know: what marts mean.

``python -m bench.pipeline --millions 2 8 32`` measures those sizes; ``python -m bench pipeline`` the smallest. A size
is measured in a process of its own: a new session makes all rollups cold, then warm, in turns with DuckDB; both write
Parquet. Results are compared row by row before a figure is given.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import psutil

from bench.row import Row
from reports.pipeline import session
from reports.pipeline.lake import Lake, open_lake
from reports.pipeline.rollups import ROLLUPS
from reports.pipeline.rollups.rollup import Rollup
from reports.pipeline.rollups.store import FOLDER, open_store
from reports.pipeline.synthetic import Nights
from reports.pipeline.synthetic_lake import write_campaign, write_lake

MILLION = 1_000_000
SIZES = (2,)
WARM_ROUNDS = 3
_MIB = 1 << 20
_GREEN = "verdict IN (2, 3)"

SQL = {
    "case_days": f"""
        SELECT dt, run_key, case_key, count(*) AS attempts, count(*) FILTER ({_GREEN}) AS green,
               max(verdict) AS worst, min(verdict) AS best, count(*) FILTER (baseline = 'known') AS known,
               count(*) FILTER (baseline = 'unexpected') AS unexpected, min(epoch_us(at_us)) AS first_us,
               max(epoch_us(at_us)) AS last_us, sum(latency_us)::BIGINT AS latency_us
        FROM facts GROUP BY dt, run_key, case_key""",
    "crash_days": """
        SELECT dt, run_key, crash_key, count(*) AS inputs, min(epoch_us(at_us)) AS first_us,
               max(epoch_us(at_us)) AS last_us, min(sent_octets) AS smallest_octets
        FROM facts WHERE kind = 'fuzz' AND crash_key <> 0 GROUP BY dt, run_key, crash_key""",
    "edge_days": """
        SELECT dt, run_key, edge, coalesce(state, '') AS state, coalesce(production, '') AS production, signature,
               count(*) AS inputs, max(verdict) AS worst,
               bit_or(1::BIGINT << coalesce(try_cast(substring(family, 2, 2) AS INT), 0)) AS families,
               min(epoch_us(at_us)) AS first_us, max(epoch_us(at_us)) AS last_us
        FROM facts WHERE kind = 'fuzz' GROUP BY ALL""",
    "reaction_days": """
        SELECT dt, run_key, coalesce(input_key, case_key) AS input_key, min(signature) AS signature_low,
               max(signature) AS signature_high, count(*) AS times,
               max(CASE WHEN baseline = 'known' THEN 1 ELSE 0 END)::TINYINT AS known
        FROM facts GROUP BY ALL""",
}  # fmt: skip
"""What each rollup is, said once more and independently."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What something took."""

    wall_s: float
    cpu_s: float


def rows(millions: tuple[int, ...] = SIZES) -> Iterator[Row]:
    """All figures of these sizes, then ingest and the cold build of a week."""
    warm: dict[int, float] = {}
    with tempfile.TemporaryDirectory(prefix="amqpspec-bench-") as place:
        for size in millions:
            lake = Path(place) / f"lake{size}"
            write_lake(lake, Nights(MILLION, size))
            found = [Row(**json.loads(line)) for line in _child("measure", lake, size)]
            yield from found
            warm[size] = next(row.ours for row in found if row.name == f"rollups {size} M: all, warm")
            shutil.rmtree(lake)
        if len(warm) > 1:
            yield _growth(warm)
        yield _ingest(Path(place))
        yield _week(Path(place))


def _growth(warm: dict[int, float]) -> Row:
    """How much longer a million rows take in the largest size than in the smallest."""
    small, large = min(warm), max(warm)
    ours, theirs = warm[large] / large, warm[small] / small
    name = f"rollups: a million rows of {large} M beside one of {small} M"
    return Row(name, round(ours, 3), round(theirs, 3), round(ours / theirs, 2), "s")


def _ingest(place: Path) -> Row:
    """Rows a second into a lake, beside DuckDB's copy of as many facts of the lake from Parquet to Parquet."""
    from reports.pipeline.ingest import ingest

    nights = Nights(8 * MILLION)
    run = nights.runs(nights.first)[-1]
    count = write_campaign(place / "campaign", nights, run)
    ours = _timed(lambda: ingest([place / "campaign"], place / "ingested", date(2027, 1, 1)))
    facts = str(place / "ingested/observations/*/*/*.parquet")
    copy = f"COPY (SELECT * FROM read_parquet('{facts}')) TO '{place / 'copy.parquet'}' (COMPRESSION zstd)"
    theirs = _timed(lambda: _duck(place).execute(copy))
    return _beside("ingest", count / ours.wall_s, count / theirs.wall_s, "rows/s")


def _week(place: Path) -> Row:
    """``pipeline build`` of seven nights as a process of its own, from nothing, beside the minute it may take."""
    write_lake(place / "week", Nights(MILLION, 7))
    command = [sys.executable, "-m", "harness.cli.main", "pipeline", "build"]
    where = ["--lake", str(place / "week"), "--out", str(place / "marts")]
    spent = _timed(lambda: subprocess.run([*command, *where], check=True, capture_output=True))
    return _beside("build of 7 x 1 M, cold", spent.wall_s, 60.0, "s")


# --- one size, in a process of its own


def measure(lake_root: Path, size: int) -> Iterator[Row]:
    """Rollups cold and warm beside DuckDB, wall and CPU, and the memory at its peak."""
    lake, place = open_lake(lake_root), lake_root.parent
    with session.session() as spark:
        jvm = _jvm()

        def ours(rollup: Rollup) -> None:
            with open_store(lake) as store:
                store.refresh(spark, rollup)

        cold = {rollup.name: _timed(partial(ours, rollup), jvm) for rollup in ROLLUPS}
        best = _warm(lake, ours, jvm)
        peak_mib = (_peak_octets(jvm) + _peak_octets(psutil.Process())) / _MIB
        theirs_cold = _theirs(lake, place)
        best, theirs = _in_turns(lake, ours, jvm, best, theirs_cold, place)
        _check_same(lake, place)
    for name, spent in best.items():
        yield _beside(f"rollup {size} M: {name}, warm", spent.wall_s, theirs[name].wall_s, "s")
        yield _beside(f"rollup {size} M: {name}, warm, CPU", spent.cpu_s, theirs[name].cpu_s, "s of CPU")
    yield _sum(f"rollups {size} M: all, warm", best, theirs)
    yield _sum(f"rollups {size} M: all, cold beside warm", cold, theirs)
    yield _sum(f"rollups {size} M: all, cold", cold, theirs_cold)
    yield _beside(f"rollups {size} M: memory of JVM and Python at peak", peak_mib, 2500.0, "MiB")


Spans = dict[str, Spent]


def _warm(lake: Lake, ours: Callable[[Rollup], None], jvm: psutil.Process) -> Spans:
    shutil.rmtree(lake.root / FOLDER)
    return {rollup.name: _timed(partial(ours, rollup), jvm) for rollup in ROLLUPS}


def _theirs(lake: Lake, place: Path) -> Spans:
    """DuckDB with as many threads as there are processors, and the memory that we promise to keep to."""
    connection = _duck(place)
    source = str(lake.root / "observations/*/*/*.parquet")
    connection.execute(
        f"CREATE VIEW facts AS SELECT * FROM read_parquet('{source}', hive_partitioning = true)"
    )
    return {
        name: _timed(partial(connection.execute, _copy(place, name, query))) for name, query in SQL.items()
    }


def _copy(place: Path, name: str, query: str) -> str:
    return f"COPY ({query}) TO '{place / name}.parquet' (FORMAT parquet, COMPRESSION zstd)"


def _in_turns(
    lake: Lake, ours: Callable[[Rollup], None], jvm: psutil.Process, best: Spans, theirs: Spans, place: Path
) -> tuple[Spans, Spans]:
    """The best of some rounds of each."""
    for _ in range(WARM_ROUNDS - 1):
        theirs = _best(theirs, _theirs(lake, place))
        best = _best(best, _warm(lake, ours, jvm))
    return best, theirs


def _best(first: Spans, second: Spans) -> Spans:
    return {name: min(first[name], second[name], key=lambda spent: spent.wall_s) for name in first}


def _check_same(lake: Lake, place: Path) -> None:
    """Both have the same rows, each as often; raises SystemExit where one has a row that the other has not."""
    connection = _duck(place)
    for rollup in ROLLUPS:
        columns = ", ".join(part.split()[0] for part in rollup.schema.split(", "))
        source = lake.root / FOLDER / rollup.name / "*/*.parquet"
        mine = f"SELECT {columns} FROM read_parquet('{source}', hive_partitioning = true)"
        other = f"SELECT {columns} FROM '{place / rollup.name}.parquet'"
        for left, right in ((mine, other), (other, mine)):
            (count,) = connection.execute(f"SELECT count(*) FROM ({left} EXCEPT ALL {right})").fetchone() or (
                0,
            )
            if count:
                raise SystemExit(f"{rollup.name}: expected the same rows as DuckDB, actual: {count} others")


def _duck(place: Path) -> Any:
    connection = duckdb.connect()
    connection.execute(f"SET threads = {psutil.cpu_count() or 2}")
    connection.execute("SET memory_limit = '2GB'")
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute(f"SET temp_directory = '{place / 'duck'}'")
    return connection


def _timed(work: Callable[[], object], other: psutil.Process | None = None) -> Spent:
    """Wall time, and CPU of this process, its children that ended, and another one."""
    before, begun_s = _cpu_s(other), time.perf_counter()
    work()
    return Spent(time.perf_counter() - begun_s, _cpu_s(other) - before)


def _cpu_s(other: psutil.Process | None) -> float:
    processes = [psutil.Process()] + ([other] if other else [])
    return sum(spent.user + spent.system for spent in (process.cpu_times() for process in processes))


def _jvm() -> psutil.Process:
    """The process of Spark that the session has started."""
    children = psutil.Process().children(recursive=True)
    return next(child for child in children if "java" in Path(child.exe()).name)


def _peak_octets(process: psutil.Process) -> int:
    """What Linux calls VmHWM; elsewhere what is there now."""
    status = Path(f"/proc/{process.pid}/status")
    if not status.exists():
        return int(process.memory_info().rss)
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) << 10


def _sum(name: str, ours: Spans, theirs: Spans) -> Row:
    return _beside(
        name,
        sum(spent.wall_s for spent in ours.values()),
        sum(spent.wall_s for spent in theirs.values()),
        "s",
    )


def _beside(name: str, ours: float, theirs: float, unit: str) -> Row:
    return Row(name, round(ours, 2), round(theirs, 2), round(ours / max(theirs, 1e-9), 2), unit)


def _child(verb: str, lake: Path, size: int) -> list[str]:
    command = [sys.executable, "-m", "bench.pipeline", "--measure", str(lake), "--millions", str(size)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"bench.pipeline: {verb} {size} M: {done.stderr.strip() or done.stdout.strip()}")
    return [line for line in done.stdout.splitlines() if line.startswith("{")]


def main() -> None:
    """Measure the sizes that are asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.pipeline", description="The pipeline beside DuckDB."
    )
    parser.add_argument(
        "--millions", type=int, nargs="+", default=list(SIZES), help="sizes, in millions of rows"
    )
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    found = measure(given.measure, given.millions[0]) if given.measure else rows(tuple(given.millions))
    for row in found:
        print(json.dumps(asdict(row)), flush=True)


if __name__ == "__main__":
    main()
