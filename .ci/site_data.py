"""Runs of all known brokers that are installed, in all their dialects, as marts to keep: ``site_data.py BIN OUT``.

OUT grows: each call adds the runs of its day to OUT/lake and builds OUT/marts (Parquet only, small enough to keep) and
OUT/site again, so that pages show what changed. ``--target`` and ``--case`` select part of it; ``--keep`` writes what
`make site` needs of the marts into a folder, without names of this machine. OUT/log has all output.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

ROOT = Path(__file__).parents[1]
RAN = (0, 1, 5)
"""Exit codes of a run that has results: deviations, and a baseline of another version, belong on the pages."""
KIB = 1024


class Steps:
    """Runs commands of amqpspec; their output goes to OUT/log."""

    def __init__(self, bin_: Path, out: Path) -> None:
        self._amqpspec, self._log = bin_ / "amqpspec", out / "log"

    def __call__(self, what: str, *arguments: str | Path, expected: Sequence[int] = (0,)) -> None:
        """Run one command; ends the program if its exit code is not expected."""
        print(f"  {what}", flush=True)
        with self._log.open("a", encoding="utf-8") as log:
            done = subprocess.run([self._amqpspec, *arguments], stdout=log, stderr=log, check=False)
        if done.returncode not in expected:
            sys.exit(f"site-data: {what} failed with exit code {done.returncode}; see {self._log}")

    def installed(self) -> set[str]:
        """The known brokers that this machine has."""
        told = subprocess.run(
            [self._amqpspec, "brokers", "list", "--json"], capture_output=True, text=True, check=True
        )
        return {broker["name"] for broker in json.loads(told.stdout) if broker["version"]}


def targets(wanted: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Each known broker with its targets in targets.yaml; ``wanted`` names some of them, or is empty for all."""
    named = yaml.safe_load((ROOT / "targets.yaml").read_text(encoding="utf-8"))["targets"]
    if unknown := set(wanted) - set(named):
        sys.exit(f"site-data: expected targets of targets.yaml, actual: {sorted(unknown)[0]}")
    known = {name: about["broker"] for name, about in named.items() if about["broker"] != "reference"}
    chosen = sorted((broker, name) for name, broker in known.items() if not wanted or name in wanted)
    for broker, rows in groupby(chosen, key=lambda row: row[0]):
        yield broker, [name for _, name in rows]


@contextmanager
def started(step: Steps, broker: str) -> Iterator[None]:
    """The broker runs, and is stopped at the end."""
    step(f"start of {broker}", "brokers", "start", broker)
    try:
        yield
    finally:
        step(f"stop of {broker}", "brokers", "stop", broker)


def run_all(step: Steps, runs: Path, wanted: Sequence[str], cases: Sequence[str]) -> None:
    """A run of each target; a broker that is not installed is skipped, with one line of output."""
    installed = step.installed()
    for broker, names in targets(wanted):
        if broker not in installed:
            print(f"  {broker} is not installed: amqpspec brokers install {broker}")
            continue
        with started(step, broker):
            for name in names:
                step(
                    f"run of {name}",
                    "run",
                    "--target",
                    name,
                    "--quiet",
                    "--out",
                    runs / name,
                    *cases,
                    expected=RAN,
                )


def keep(marts: Path) -> int:
    """Delete the copies of marts as CSV and JSON, which a site makes again; returns the size of the rest in octets."""
    for copy in (*marts.glob("*/*.csv"), *marts.glob("*/*.json")):
        copy.unlink()
    return sum(path.stat().st_size for path in marts.rglob("*") if path.is_file())


def keep_for_pages(marts: Path, kept: Path) -> int:
    """Replace ``kept`` by the marts as `make site` reads them; returns the size in octets.

    Transcripts stay with their runs: their paths are left out, and of a run's folder only its name is kept.
    """
    shutil.rmtree(kept, ignore_errors=True)
    built = json.loads((marts / "manifest.json").read_text(encoding="utf-8"))
    for name in built["marts"]:
        (kept / name).mkdir(parents=True)
        table = _without_places(pq.read_table(sorted((marts / name).glob("*.parquet"))))
        pq.write_table(table, kept / name / "part-0000.parquet", compression="zstd", compression_level=19)
    said = {key: built[key] for key in ("schema", "as_of", "marts") if key in built}
    (kept / "manifest.json").write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")
    return sum(path.stat().st_size for path in kept.rglob("*") if path.is_file())


def _without_places(table: pa.Table) -> pa.Table:
    """A mart that names no folder of this machine."""
    table = table.replace_schema_metadata()
    for number, name in enumerate(table.column_names):
        if name == "evidence":
            table = table.set_column(number, name, pa.nulls(len(table), pa.string()))
        elif name == "folder":
            names = [Path(place or "").name for place in table[name].to_pylist()]
            table = table.set_column(number, name, pa.array(names, pa.string()))
    return table


def main() -> None:
    """Run, ingest, build, write the pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bin", type=Path, help="the folder of the program amqpspec")
    parser.add_argument("out", type=Path, help="the folder for runs, lake, marts and pages")
    parser.add_argument("--target", action="append", default=[], help="only this target; repeatable")
    parser.add_argument("--case", action="append", default=[], help="only these cases; repeatable")
    parser.add_argument("--keep", type=Path, help="the folder of the repository that `make site` reads")
    given = parser.parse_args()
    out = given.out
    runs = out / "runs" / f"{datetime.now(UTC):%Y-%m-%dT%H%M%S}"
    runs.mkdir(parents=True)
    step = Steps(given.bin.absolute(), out)
    run_all(step, runs, given.target, given.case)
    if not any(runs.iterdir()):
        sys.exit("site-data: expected a known broker that is installed, actual: none")
    step("lake", "pipeline", "ingest", *sorted(runs.iterdir()), "--lake", out / "lake")
    shutil.rmtree(out / "marts", ignore_errors=True)
    step("marts", "pipeline", "build", "--lake", out / "lake", "--out", out / "marts")
    print(f"  {out / 'marts'}: {keep(out / 'marts') // KIB} KiB")
    if given.keep:
        print(f"  {given.keep}: {keep_for_pages(out / 'marts', given.keep) // KIB} KiB")
    step("pages", "site", "--marts", out / "marts", "--out", out / "site")
    print(f"open {out / 'site' / 'index.html'}")


if __name__ == "__main__":
    main()
