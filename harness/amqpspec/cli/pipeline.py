"""``pipeline``: from runs and campaigns to a lake, marts and pages.

Knows: options, exit codes, what a terminal shows. Must not know: Parquet, Spark.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from amqpspec.cli.common import one_line_errors, stop
from amqpspec.cli.progress import Steps, Ticker
from amqpspec.net.clock import today
from amqpspec.run.exits import Exit

_PATH = click.Path(path_type=Path)
_LAKE = click.option("--lake", required=True, type=_PATH, help="The lake's folder.")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
_SKIP_BAD = click.option("--skip-bad", is_flag=True, help="Skip damaged files of the lake and list them.")


def _engine(command: Callable[..., None]) -> Callable[..., None]:
    """The options that select a Spark session."""
    for option in (
        click.option("--memory", default="1g", show_default=True, help="Heap size of the Spark driver."),
        click.option("--remote", help="Use a Spark Connect server, sc://HOST:PORT."),
        click.option(
            "--master",
            default="local[*]",
            show_default=True,
            help="Spark master: local[*] or spark://HOST:PORT.",
        ),
    ):
        command = option(command)
    return command


@click.group(short_help="Collect runs and campaigns in a lake and build marts from it.")
def pipeline() -> None:
    """Build history from runs. ``ingest`` needs no Spark; ``build`` installs Java if it is missing.

    Exit codes: 0 done, 2 a journal, the lake or Spark is not usable, 4 the result could not be written.
    """


@pipeline.command(short_help="Add runs and campaigns to a lake.")
@click.argument("folders", nargs=-1, required=True, type=_PATH, metavar="RUN_OR_CAMPAIGN…")
@_LAKE
@click.option(
    "--landing", is_flag=True, help="LAKE is a landing folder for `pipeline stream`: only add files."
)
@_JSON
def ingest(folders: tuple[Path, ...], lake: Path, landing: bool, as_json: bool) -> None:
    """Add journals to the lake as Parquet. Only the new part of a journal that has grown is added."""
    from amqpspec.reports.pipeline.ingest import ingest as bring_in

    with one_line_errors():
        done = bring_in(_reporting(folders, as_json), lake, today(), landing=landing)
    if as_json:
        click.echo(
            json.dumps({
                "journals": done.journals, "unchanged": done.unchanged, "rows": done.rows, "files": done.files,
                "remarks": done.remarks, "refused": done.refused,
            })
        )  # fmt: skip
    else:
        click.echo(
            f"{lake}: {done.rows} observations of {done.journals} journals; {done.unchanged} unchanged"
        )
        for remark in done.remarks:
            click.echo(f"  {remark}", err=True)
    if done.refused:
        rest = f" (and {len(done.refused) - 1} more)" if len(done.refused) > 1 else ""
        stop(Exit.USAGE, f"refused: {done.refused[0]}{rest}")


def _reporting(folders: Sequence[Path], quiet: bool) -> Iterator[Path]:
    """The folders; on a terminal, each is shown when it is processed."""
    tick = Ticker(quiet or len(folders) == 1)
    for done, folder in enumerate(folders):
        tick(folder.name, done, len(folders))
        yield folder
    tick("", len(folders), len(folders))


@pipeline.command(short_help="Combine the small files of a lake.")
@_LAKE
@click.option(
    "--files", default=1, show_default=True, type=click.IntRange(1), help="Skip days with at most N files."
)
def compact(lake: Path, files: int) -> None:
    """Combine the small files of each day; the lake's content stays the same."""
    from amqpspec.reports.pipeline.compact import compact as put_together

    with one_line_errors():
        fewer = put_together(lake, files)
    click.echo(f"{lake}: {fewer} files fewer")


@pipeline.command(short_help="Show what a lake holds and whether it is intact.")
@_LAKE
@_JSON
def status(lake: Path, as_json: bool) -> None:
    """Count days, files and rows; list damaged and unknown files. Exit code 2 if one is damaged."""
    from amqpspec.reports.pipeline.lake import open_lake, strangers

    damaged: list[str] = []
    with one_line_errors():
        opened = open_lake(lake, skip_bad=True, say=damaged.append)
        parts = opened.parts(whole=True)
        for name in opened.snapshot.dims:
            opened.dimension_file(name)
        foreign = strangers(opened)
    said: dict[str, Any] = {
        "days": len(opened.days()), "files": len(parts), "rows": sum(part.entry.rows for part in parts),
        "journals": len(opened.snapshot.sources), "damaged": damaged, "strangers": foreign,
    }  # fmt: skip
    if as_json:
        click.echo(json.dumps(said))
    else:
        click.echo(
            f"{lake}: {said['rows']} observations of {said['journals']} journals, {said['days']} days, "
            f"{said['files']} files; {len(foreign)} strangers, ignored"
        )
        for name in foreign:
            click.echo(f"  {name}", err=True)
    if damaged:
        stop(Exit.USAGE, damaged[0].removeprefix("left out: "))


@pipeline.command(short_help="Add what other machines put into a landing folder.")
@_LAKE
@click.option("--from", "landing", required=True, type=_PATH, help="The landing folder, or a copy of it.")
@_engine
def stream(landing: Path, lake: Path, master: str, remote: str | None, memory: str) -> None:
    """Add each new file of a landing folder once, by Spark's file source with a checkpoint, then stop."""
    from amqpspec.reports.pipeline.session import session
    from amqpspec.reports.pipeline.stream import take_in

    with one_line_errors(), session(master, remote, memory=memory) as spark:
        rows = take_in(spark, landing, lake)
    click.echo(f"{lake}: {rows} observations from {landing}")


@pipeline.command(short_help="Build rollups and marts from a lake.")
@_LAKE
@click.option("--out", required=True, type=_PATH, help="Folder for the marts.")
@click.option(
    "--as-of",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Build what was known at the end of this day in UTC (default: the latest day).",
)
@_SKIP_BAD
@_JSON
@_engine
def build(
    lake: Path,
    out: Path,
    as_of: datetime | None,
    skip_bad: bool,
    as_json: bool,
    master: str,
    remote: str | None,
    memory: str,
) -> None:
    """Write each mart as Parquet, CSV and JSON. Days that did not change since the last build are not read again."""
    from amqpspec.reports.pipeline.build import STEPS
    from amqpspec.reports.pipeline.build import build as make
    from amqpspec.reports.pipeline.lake import open_lake
    from amqpspec.reports.pipeline.session import session

    day = as_of.date() if as_of else None
    with one_line_errors():
        steps = Steps(STEPS)
        opened = open_lake(lake, skip_bad=skip_bad, say=steps.remark)
        steps("Spark starts")
        with session(master, remote, memory=memory, rows=opened.rows()) as spark, steps:
            made = make(spark, opened, out, day, steps)
    if as_json:
        click.echo(json.dumps({"out": str(out), "as_of": made.as_of.isoformat(), "marts": dict(made.marts)}))
        return
    click.echo(
        f"{out}: {', '.join(f'{name} {rows}' for name, rows in made.marts.items())}; as of {made.as_of}"
    )


@click.command(short_help="Write pages to publish from marts.")
@click.option("--marts", required=True, type=_PATH, help="The folder that `pipeline build` wrote.")
@click.option("--out", default=Path("site"), show_default=True, type=_PATH, help="Folder for the pages.")
@click.option("--url", default="", help="Address at which the site is published, for the links in its feed.")
def site(marts: Path, out: Path, url: str) -> None:
    """Write static pages about what brokers do, requirement by requirement, with search, feed and data.

    The pages need no server and no network. They replace an older site in the folder.

    Exit codes: 0 done, 2 the marts or the folder are not as expected, 4 the site could not be written.
    """
    from amqpspec.reports.site.folder import write_site

    with one_line_errors():
        index = write_site(marts, out, url)
    click.echo(index)


pipeline.add_command(site, "pages")


@pipeline.command(short_help="Write the package as a zip for spark-submit --py-files.")
@click.option("--out", default=Path("amqpspec.zip"), show_default=True, type=_PATH)
def package(out: Path) -> None:
    """Write the zip for ``spark-submit --py-files``: the packages of this installation and nothing else."""
    from amqpspec.reports.pipeline.package import write_package

    with one_line_errors():
        job = write_package(out)
    click.echo(f"spark-submit --py-files {out} {job} --lake LAKE --out MARTS")
