"""``merge``: combines the shards of a run into one run, as if one machine had run all cases.

Knows: journals, folders of runs. Must not know: targets, sockets.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from amqpspec.cli.certify import RunRequest, finish
from amqpspec.cli.common import one_line_errors
from amqpspec.cli.place import only_run_in
from amqpspec.record import evidence
from amqpspec.record.journal import Journal, JournalError, read_cases, read_journal, read_run
from amqpspec.record.rows import RunRow
from amqpspec.reports.checksums import check_sums
from amqpspec.run.baseline import read_baseline
from amqpspec.run.case import load_suite
from amqpspec.run.plan import Planned
from amqpspec.target.config import ConfigError, Target

_PATH = click.Path(path_type=Path)


@click.command(short_help="Combine the shards of a run into one run.")
@click.argument("runs", nargs=-1, required=True, type=_PATH)
@click.option("--out", "-o", required=True, type=_PATH, help="Folder for the merged run.")
@click.option("--baseline", "baseline_file", type=_PATH, help="Known deviations (YAML).")
@click.option("--strict", is_flag=True, help="Treat a violated SHOULD as a failure.")
@click.option("--junit", type=_PATH, help="Also write the JUnit file here.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
def merge(
    runs: tuple[Path, ...],
    out: Path,
    baseline_file: Path | None,
    strict: bool,
    junit: Path | None,
    as_json: bool,
) -> None:
    """Merge the folders of several shards into one run with all reports. The exit code is that of the merged run."""
    with one_line_errors():
        row, complete = _one_run(runs)
        if out.exists() and any(out.iterdir()):
            raise ConfigError(f"{out}: expected a new or empty folder, actual: files in it")
        target = Target(row.target.name, row.target.dialect, profile=row.target.profile)
        request = RunRequest(target, out=out, strict=strict, junit=junit, quiet=as_json)
        baseline = read_baseline(baseline_file) if baseline_file else None
        with only_run_in(out):
            cases = _gathered(runs, out, replace(row, id=out.name), complete=complete)
            plan = [Planned(case) for id, case in load_suite(row.target.dialect).items() if id in cases]
            document = finish(request, out, plan, baseline, partial=not complete)
    if as_json:
        click.echo(json.dumps(document, indent=1))
    raise click.exceptions.Exit(document["exit_code"])


def _one_run(runs: Sequence[Path]) -> tuple[RunRow, bool]:
    """The row of the merged run, and whether each shard finished; raises ConfigError."""
    rows = []
    for folder in runs:
        check_sums(folder)
        try:
            rows.append(read_run(folder))
        except JournalError as error:
            raise ConfigError(str(error)) from error
    _check_apart(runs)
    first = rows[0]
    for folder, row in zip(runs, rows, strict=True):
        if _of(row) != _of(first):
            raise ConfigError(f"{folder}: expected a run of {_of(first)} as in {runs[0]}, actual {_of(row)}")
    merged = replace(
        first,
        started=min(row.started for row in rows),
        command=f"amqpspec merge of {len(rows)} runs",
        platform="; ".join(dict.fromkeys(row.platform for row in rows)),
        note="; ".join(dict.fromkeys(row.note for row in rows if row.note)),
    )
    return merged, all(_is_complete(folder) for folder in runs)


def _check_apart(runs: Sequence[Path]) -> None:
    """Make sure that no case is in two runs, because it would be unclear which verdict counts. Raises ConfigError."""
    owners: dict[str, Path] = {}
    for folder in runs:
        ids = {case.id for case in read_cases(folder)}
        for id in sorted(ids & owners.keys()):
            raise ConfigError(f"{id}: expected in one of the runs, actual: in {owners[id]} and {folder}")
        owners |= dict.fromkeys(ids, folder)


def _of(row: RunRow) -> str:
    """The properties that must be equal in all shards of a run."""
    target = row.target
    return f"{target.name} ({target.dialect}, {target.product} {target.version}, suite {row.suite_version})"


def _is_complete(folder: Path) -> bool:
    ends = [line for line in read_journal(folder) if line.get("kind") == "end"]
    return bool(ends and ends[-1].get("complete"))


def _gathered(runs: Sequence[Path], out: Path, row: RunRow, *, complete: bool) -> set[str]:
    """Write the merged journal and its evidence; returns the ids of the cases."""
    with Journal(out) as journal:
        journal.run(row)
        for folder in runs:
            for case in read_cases(folder):
                journal.case(case)
            for path in evidence.transcripts(folder):
                _copy(path, out / evidence.FOLDER / path.name)
        journal.end(complete=complete)
    return {case.id for case in read_cases(out)}


def _copy(path: Path, to: Path) -> None:
    """Probes of all shards have the same names; those of the first shard are kept."""
    to.parent.mkdir(parents=True, exist_ok=True)
    if not to.exists():
        shutil.copyfile(path, to)
