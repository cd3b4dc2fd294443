"""``report``, ``compare`` and ``baseline``: verbs for finished runs.

Knows: run folders and results. Must not know: targets, sockets.
"""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import click

from amqpspec.cli.common import EVIDENCE, one_line_errors, stop
from amqpspec.net.clock import today
from amqpspec.record.rows import TargetRow
from amqpspec.reports.files import atomic_text
from amqpspec.run.exits import Exit

_RUN = click.Path(path_type=Path)


@click.command(short_help="Make the reports of one or more runs.")
@click.argument("runs", nargs=-1, required=True, type=_RUN)
@click.option(
    "--out", "-o", type=_RUN, help="The matrix file (default: matrix.html in the first run's folder)."
)
@EVIDENCE
def report(runs: tuple[Path, ...], out: Path | None, evidence: str) -> None:
    """Write the reports of one run again, or several runs as one matrix with a column for each."""
    from amqpspec.reports.checksums import load_intact
    from amqpspec.reports.html.page import Evidence, write_matrix
    from amqpspec.reports.render import render_all

    with one_line_errors():
        if len(runs) == 1 and out is None:
            for path in render_all(load_intact(runs[0]), Evidence(evidence)).values():
                click.echo(path)
            return
        path = out or runs[0] / "matrix.html"
        write_matrix(path, [load_intact(run) for run in runs], Evidence(evidence))
        click.echo(path)


@click.command(short_help="What changed between two runs.")
@click.argument("before", type=_RUN)
@click.argument("after", type=_RUN)
@click.option(
    "--format", "form", type=click.Choice(["text", "markdown", "json"]), default="text", show_default=True
)
def compare(before: Path, after: Path, form: str) -> None:
    """List cases whose verdict differs, or write a note for a pull request; exit code 1 if a verdict got worse."""
    from amqpspec.reports.checksums import load_intact
    from amqpspec.reports.compare import compare_runs, lines, markdown

    with one_line_errors():
        found = compare_runs(load_intact(before), load_intact(after))
    if form == "json":
        click.echo(json.dumps(found.to_json(), indent=1, ensure_ascii=False))
    else:
        for line in markdown(found) if form == "markdown" else lines(found):
            click.echo(line)
    raise click.exceptions.Exit(Exit.DEVIATIONS if found.worse else Exit.CONFORMING)


@click.command(short_help="Write a baseline from a run's deviations.")
@click.argument("run", type=_RUN)
@click.option("--out", "-o", type=_RUN, help="The file (default: standard output).")
@click.option("--update", type=_RUN, help="Update this baseline; keep reasons, links and dates.")
@click.option("--prune", is_flag=True, help="With --update: drop entries that the run no longer shows.")
@click.option("--reason", default="to be verified", show_default=True, help="Reason for new entries.")
@click.option("--link", default="to be added", show_default=True, help="Link for new entries.")
@click.option(
    "--days", default=180, show_default=True, type=click.IntRange(1), help="Days until the entries expire."
)
def baseline(
    run: Path, out: Path | None, update: Path | None, prune: bool, reason: str, link: str, days: int
) -> None:
    """Turn a run's deviations into a baseline. Verify each entry and write its reason before you use it.

    An entry holds what was observed: scope and code of a refusal, or the text, with * where runs differ.
    """
    from amqpspec.reports.checksums import load_intact
    from amqpspec.run import baselining
    from amqpspec.run.case import load_suite

    if prune and update is None:
        stop(Exit.USAGE, "--prune requires --update")
    if update is None and out is not None and out.exists():
        stop(Exit.USAGE, f"{out} is there already; choose another file, or --update {out}")
    fresh = baselining.Fresh(reason, link, today() + timedelta(days=days))
    with one_line_errors():
        loaded = load_intact(run)
        comment, document = baselining.read_items(update) if update else ("", _head(loaded.meta.target))
        suite = load_suite(loaded.meta.target.dialect)
        done = baselining.update(document["entries"], loaded.cases, suite, fresh, prune=prune)
        text = baselining.written(comment, {**document, "entries": done.entries})
        path = out or update
        if path is None:
            click.echo(text, nl=False)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_text(path) as file:
            file.write(text)
    stale = "dropped" if prune else "not seen any more, kept"
    click.echo(
        f"{path}: {len(done.entries)} entries: {done.kept} as before, {done.changed} changed, {done.added} new;"
        f" {done.stale} {stale}"
    )


def _head(target: TargetRow) -> dict[str, Any]:
    """The header of a new baseline."""
    versions = _series(target.version)
    return {"target": target.name, "dialect": target.dialect, "versions": versions, "entries": []}


def _series(version: str) -> str:
    parts = version.split(".")[:2]
    if len(parts) < 2 or not all(part.isdigit() for part in parts):
        return ""
    return f">={parts[0]}.{parts[1]},<{parts[0]}.{int(parts[1]) + 1}"
