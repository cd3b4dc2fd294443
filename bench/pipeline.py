"""The pipeline beside DuckDB: the same aggregations of the same files in one run; memory, ingest, a cold build.

Knows: sizes, rounds, which figures are given. Must not know: how a side makes a rollup or a mart, what they mean.
All marts together are one step of amqpspec, because a build makes some of them at once; of DuckDB each is a step.

``python -m bench.pipeline --millions 2 8 32`` measures those sizes; ``python -m bench pipeline`` the smallest. A size
is measured in a separate process: a new session, as a build has it, makes all rollups and marts cold; a second one,
as a notebook keeps it, makes the rollups and then the marts until they are warm, alternately with DuckDB; both write
Parquet. Results are compared row by row before a figure is given. Data is removed at the end, whatever the end is.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import date
from pathlib import Path

import psutil
from pyspark.sql import SparkSession

from amqpspec.reports.pipeline import session
from amqpspec.reports.pipeline.lake import Lake, open_lake
from bench.pipeline_cluster import rollups_s
from bench.pipeline_sides import Ours, Steps, Theirs, connect, differences
from bench.pipeline_spent import (
    MIB,
    Spans,
    Spent,
    beside,
    best,
    both,
    jvm,
    peak_octets,
    timed,
    total,
    watched_children,
)
from bench.row import Row
from bench.synthetic.lake import write_campaign, write_lake
from bench.synthetic.observations import Nights

MILLION = 1_000_000
SIZES = (2,)
WARM_ROUNDS = 10
"""The JVM compiles what runs often during the first six or seven rounds."""
ROUNDS_S = 180
"""Rounds of rollups, and those of marts, begin within this time only; one is always made."""
MOST_MIB = 2500
WEEK_S = 30
_DISK_MIB_A_MILLION = 150

Sides = tuple[Spans, Spans]
"""What ours took, and what DuckDB did."""


def rows(millions: Sequence[int] = SIZES, unit: int = MILLION, nights: int = 7) -> Iterator[Row]:
    """All figures of these sizes, then ingest and the cold build of a week; ``unit`` rows represent a million."""
    warm: dict[int, Spent] = {}
    with tempfile.TemporaryDirectory(prefix="amqpspec-bench-") as place:
        _check_disk(Path(place), max(*millions, 8))
        for size in millions:
            lake = Path(place) / "lake"
            yield from _generated(lake, size, unit)
            found = [Row(**json.loads(line)) for line in _child(lake, size)]
            yield from found
            told = {row.name: row.ours for row in found}
            name = f"rollups {size} M: all, warm"
            warm[size] = Spent(told[name], told[f"{name}, CPU"])
            _empty(Path(place))
        if len(warm) > 1:
            yield from _growth(warm)
        yield from _ingest(Path(place), unit)
        _empty(Path(place))
        yield from _week(Path(place), unit, nights)


def cluster_rows(millions: Sequence[int], unit: int = MILLION) -> Iterator[Row]:
    """Rollups by a standalone cluster of one worker of one core, and by one of two: the second beside the first."""
    for size in millions:
        with tempfile.TemporaryDirectory(prefix="amqpspec-bench-") as name:
            write_lake(Path(name) / "lake", Nights(unit, size))
            one_s, two_s = rollups_s(open_lake(Path(name) / "lake"), Path(name))
        yield beside(f"rollups {size} M: all, warm, two workers beside one", two_s, one_s, "s")


def large_rows(millions: Sequence[int], unit: int = MILLION) -> Iterator[Row]:
    """A first build, and one when only the marts are made again, without DuckDB: of sizes that would take too long."""
    for size in millions:
        with tempfile.TemporaryDirectory(prefix="amqpspec-bench-") as name:
            _check_disk(Path(name), size)
            write_lake(Path(name) / "lake", Nights(unit, size))
            for what in ("from nothing", "marts only"):
                yield from _build(Path(name), "lake", f"build of {size} x 1 M, {what}")


def _check_disk(place: Path, millions: int) -> None:
    free, wanted = shutil.disk_usage(place).free / MIB, millions * _DISK_MIB_A_MILLION
    if free < wanted:
        raise SystemExit(
            f"{place}: expected {wanted} MiB of free disk, actual: {free:.0f}; TMPDIR names another"
        )


def _empty(place: Path) -> None:
    for path in place.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def _generated(lake: Path, size: int, unit: int) -> Iterator[Row]:
    spent = timed(lambda: write_lake(lake, Nights(unit, size)))
    name = f"synthetic {size} M: rows a second, beside those a CPU second"
    yield beside(name, *spent.rates(size * unit), "rows/s")


def _growth(warm: dict[int, Spent]) -> Iterator[Row]:
    """How much longer a million rows take in the largest size than in the smallest."""
    small, large = min(warm), max(warm)
    name = f"rollups: a million rows of {large} M beside one of {small} M"
    ours, theirs = (Spent(warm[n].wall_s / n, warm[n].cpu_s / n) for n in (large, small))
    yield from both(name, ours, theirs)


def _ingest(place: Path, unit: int) -> Iterator[Row]:
    """Rows a second into a lake, beside DuckDB's copy of as many facts of the lake from Parquet to Parquet."""
    from amqpspec.reports.pipeline.ingest import ingest

    nights = Nights(8 * unit)
    count = write_campaign(place / "campaign", nights, nights.runs(nights.first)[-1])
    ours = timed(lambda: ingest([place / "campaign"], place / "ingested", date(2027, 1, 1)))
    facts = place / "ingested/observations/*/*/*.parquet"
    copy = f"COPY (SELECT * FROM read_parquet('{facts}')) TO '{place / 'copy.parquet'}' (COMPRESSION zstd)"
    duck = connect(place)
    (landed,) = duck.execute(f"SELECT count(*) FROM read_parquet('{facts}')").fetchone()
    if landed != count:
        raise SystemExit(f"ingest: expected {count} rows in the lake, actual: {landed}")
    theirs = timed(lambda: duck.execute(copy).fetchall())
    for name, mine, other in zip(
        ("ingest", "ingest, a CPU second"), ours.rates(count), theirs.rates(count), strict=True
    ):
        yield beside(name, mine, other, "rows/s")


def _week(place: Path, unit: int, nights: int) -> Iterator[Row]:
    """``pipeline build`` of some nights as a separate process, from nothing, beside the half minute it may take."""
    write_lake(place / "week", Nights(unit, nights))
    yield from _build(place, "week", f"build of {nights} x 1 M, cold")


def _build(place: Path, lake: str, name: str) -> Iterator[Row]:
    command = [sys.executable, "-m", "amqpspec.cli.main", "pipeline", "build"]
    where = ["--lake", str(place / lake), "--out", str(place / "marts")]
    with watched_children() as peak:
        spent = timed(lambda: _run([*command, *where]))
    yield beside(name, spent.wall_s, WEEK_S, "s")
    yield beside(f"{name}, CPU beside wall", spent.cpu_s, spent.wall_s, "s")
    yield beside(f"{name}, memory at its peak", peak.octets / MIB, MOST_MIB, "MiB")


# --- one size, in a separate process


def measure(lake_root: Path, size: int, rounds: int = WARM_ROUNDS) -> Iterator[Row]:
    """Rollups and marts cold and warm beside DuckDB, wall and CPU, and the memory at its peak."""
    lake, place = open_lake(lake_root), lake_root.parent
    theirs = Theirs(lake, place)
    with ExitStack() as stack:
        opened: list[SparkSession] = []
        started = timed(lambda: opened.append(stack.enter_context(session.session(rows=lake.rows()))))
        ours, java = Ours(opened[0], lake, place), jvm()
        mine = _made(ours.rollups(), java), _made(ours.marts(), java)
        python_octets = peak_octets(psutil.Process())  # DuckDB lives in this process, too, from here on
        other = _made(theirs.rollups()), _made(theirs.marts())
        _check_same(ours, theirs)
        short_octets = peak_octets(java) if java else 0
    rollups, marts, long_octets = _warm(lake, place, theirs, rounds)
    octets = python_octets + max(short_octets, long_octets)
    yield beside(f"session {size} M: start beside 10 s", started.wall_s, 10, "s")
    for when, what, sides in (
        ("warm", "rollup", rollups),
        ("warm", "mart", marts),
        ("cold", "rollup", (mine[0], other[0])),
        ("cold", "mart", (mine[1], other[1])),
    ):
        yield from _figures(size, what, when, sides)
    yield beside(f"pipeline {size} M: memory of JVM and Python at peak", octets / MIB, MOST_MIB, "MiB")


def _warm(lake: Lake, place: Path, theirs: Theirs, rounds: int) -> tuple[Sides, Sides, int]:
    """Rollups and marts by a session that is kept, whose JVM has both compilers; and the JVM's memory at its peak."""
    with session.session(rows=None) as spark:
        ours, java = Ours(spark, lake, place), jvm()
        rollups = _best(rounds, lambda: (_made(ours.rollups(), java), _made(theirs.rollups())))
        marts = _best(rounds, lambda: (_made(ours.marts(), java), _made(theirs.marts())))
        _check_same(ours, theirs)
        return rollups, marts, peak_octets(java) if java else 0


def _best(rounds: int, both_sides: Callable[[], Sides]) -> Sides:
    """Of each step the best that each side took in some rounds."""
    until_s = time.monotonic() + ROUNDS_S
    ours, theirs = both_sides()
    for _ in range(rounds - 1):
        if time.monotonic() < until_s:
            mine, other = both_sides()
            ours, theirs = best(ours, mine), best(theirs, other)
    return ours, theirs


def _made(steps: Steps, java: psutil.Process | None = None) -> Spans:
    return {name: timed(make, java) for name, make in steps.items()}


def _check_same(ours: Ours, theirs: Theirs) -> None:
    for line in differences(ours, theirs):
        raise SystemExit(line)


def _figures(size: int, what: str, when: str, sides: Sides) -> Iterator[Row]:
    ours, theirs = sides
    for name in (name for name in ours if name in theirs):
        yield from both(f"{what} {size} M: {name}, {when}", ours[name], theirs[name])
    yield from both(f"{what}s {size} M: all, {when}", total(ours), total(theirs))


# --- as a program


def _child(lake: Path, size: int) -> list[str]:
    command = [sys.executable, "-m", "bench.pipeline", "--measure", str(lake), "--millions", str(size)]
    return [line for line in _run(command).splitlines() if line.startswith("{")]


def _run(command: list[str]) -> str:
    """What a process printed; raises SystemExit with its last output if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise SystemExit(f"{' '.join(command[2:])}: exit code {done.returncode}: {said[-1] if said else ''}")
    return done.stdout


def _stopped(number: int, frame: object) -> None:
    """An end like any other, so that the data is removed."""
    raise SystemExit(128 + number)


def main() -> None:
    """Measure the requested sizes."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.pipeline", description="The pipeline beside DuckDB."
    )
    parser.add_argument(
        "--millions", type=int, nargs="+", default=list(SIZES), help="sizes, in millions of rows"
    )
    parser.add_argument(
        "--unit", type=int, default=MILLION, help="rows that stand for a million, to try it out"
    )
    parser.add_argument(
        "--cluster", action="store_true", help="rollups by a standalone cluster of one and of two workers"
    )
    parser.add_argument(
        "--build", action="store_true", help="whole builds, without DuckDB and without a comparison of rows"
    )
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, _stopped)
    for row in _found(given):
        print(row.line(), flush=True)


def _found(given: argparse.Namespace) -> Iterator[Row]:
    if given.measure:
        return measure(given.measure, given.millions[0])
    which = cluster_rows if given.cluster else large_rows if given.build else rows
    return which(given.millions, given.unit)


if __name__ == "__main__":
    main()
