"""``amqpspec run``: the verb that certifies a target.

Knows: how target, suite, engine, journal and reports are combined. Must not know: how any of them works.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from amqpspec.cli.certify import RunRequest, certify
from amqpspec.cli.common import EVIDENCE, PATIENCE, TARGETS, one_line_errors, one_of, stop
from amqpspec.cli.place import recorded_target
from amqpspec.run.detect import detect
from amqpspec.run.exits import Exit
from amqpspec.run.select import SelectionError
from amqpspec.run.shard import Shard
from amqpspec.target.config import Target
from amqpspec.target.find import find_target, is_target


@click.command(short_help="Certify a target.")
@click.argument("arguments", nargs=-1, metavar="[URL] [CASE]...")
@click.option("--target", "-t", "name", help="A target from targets.yaml (default: reference).")
@click.option(
    "--address", metavar="TEXT", help="With a URL: address of the nodes; {name} is replaced by a node's name."
)
@TARGETS
@click.option(
    "--dialect",
    "-d",
    **one_of(),
    help="Dialect to speak with a URL (default: the one the target answers).",
)
@click.option(
    "--out", "-o", type=click.Path(path_type=Path), help="Folder of the run (default: out/TIME-TARGET)."
)
@click.option("--junit", type=click.Path(path_type=Path), help="Also write the JUnit file here.")
@click.option("--ctrf", type=click.Path(path_type=Path), help="Also write the results as CTRF (JSON) here.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
@click.option(
    "--connections",
    "-n",
    type=click.IntRange(1, 512),
    help="Number of cases that run at once (default: the target's setting, or 16).",
)
@PATIENCE
@click.option(
    "--repeat", default=1, show_default=True, type=click.IntRange(1, 10_000), help="Run each case N times."
)
@click.option("--strict", is_flag=True, help="Treat a violated SHOULD as a failure.")
@click.option("--baseline", "baseline_file", type=click.Path(path_type=Path), help="Known deviations (YAML).")
@click.option("--no-baseline", is_flag=True, help="Ignore the target's baseline.")
@click.option("--exclude", multiple=True, metavar="CASE", help="Exclude cases (ids, globs, @file).")
@click.option("--shard", metavar="I/N", help="Run part I of N; `amqpspec merge` combines the parts.")
@click.option(
    "--durations",
    type=click.Path(path_type=Path, exists=True),
    help="An earlier run whose recorded durations balance the shards.",
)
@click.option("--shared-target", is_flag=True, help="Exclude cases that could harm a broker that others use.")
@click.option("--fault", "faults", multiple=True, help="Run the reference broker with a named fault.")
@click.option(
    "--resume",
    type=click.Path(path_type=Path, exists=True),
    help="Continue the unfinished run in this folder.",
)
@click.option("--force", is_flag=True, help="Replace the finished run in --out.")
@EVIDENCE
@click.option("--pcap", is_flag=True, help="Also write each case's conversation as pcapng.")
@click.option(
    "--quiet", "-q", is_flag=True, help="Print only the counts and the path of the report, on standard error."
)
def run(arguments: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Run cases against a target and write evidence and reports.

    URL is amqp://…, amqps://…, amqp+ws://…, amqp+wss://… or reference[:DIALECT]; CASE is an id, a requirement id, a
    module of the suite, a glob, @file, or a Python file with cases of its own. Without URL the target is looked up in
    targets.yaml, without CASE the whole suite runs.
    """
    url = arguments[0] if arguments and is_target(arguments[0]) else None
    patterns = arguments[1:] if url else arguments
    name, targets_file, dialect = (options.pop(key) for key in ("name", "targets_file", "dialect"))
    _check(url, name, patterns, options)
    if dialect and url is None:
        stop(Exit.USAGE, "--dialect requires a URL; a target of targets.yaml has its own")
    address = options.pop("address")
    if address and url is None:
        stop(Exit.USAGE, "--address requires a URL; a target of targets.yaml has its own")
    if address and address.count("{name}") != 1:
        stop(Exit.USAGE, f"--address: expected a text with {{name}} in it, actual {address!r}")
    with one_line_errors():
        options["shard"] = Shard.parse(options["shard"]) if options["shard"] else None
        target = _target(url, name, targets_file, options["resume"])
        target = replace(target, address=address) if address else target
        amiss = ""
        if target.url is not None and url is not None:
            found = detect(replace(target, dialect=dialect or target.dialect), options["patience"])
            target, amiss = replace(target, dialect=dialect or found.dialect), found.amiss
        request = RunRequest(
            target=target, patterns=patterns, quiet=options.pop("quiet") or as_json, amiss=amiss, **options
        )
        document = _certify(request, named=url is not None or name is not None)
    if as_json:
        click.echo(json.dumps(document, indent=1))
    raise click.exceptions.Exit(document["exit_code"])


def _target(url: str | None, name: str | None, targets_file: Path | None, resume: Path | None) -> Target:
    """The named target; for a resumed run, its own target unless one is named. Raises ConfigError."""
    if resume is None or url is not None or name is not None:
        return find_target(url or ("reference" if name is None else name), targets_file)
    row = recorded_target(resume)
    if row.name == "reference":
        return find_target(f"reference:{row.dialect}", targets_file)
    if row.url and row.name == find_target(row.url).name:
        return replace(find_target(row.url), dialect=row.dialect)
    return find_target(row.name, targets_file)


def _certify(request: RunRequest, *, named: bool) -> dict[str, Any]:
    try:
        return certify(request)
    except SelectionError as error:
        hint = "" if named else "; a target is a URL like amqp://localhost/, or --target NAME"
        raise SelectionError(f"{error}{hint}") from error


def _check(url: str | None, name: str | None, patterns: Sequence[str], options: Mapping[str, Any]) -> None:
    """Report contradictory options; a URL is not repeated, because it may contain a password."""
    if url is not None and name is not None:
        stop(Exit.USAGE, f"expected a URL or --target, actual both (--target {name})")
    if any(is_target(pattern) for pattern in patterns):
        stop(Exit.USAGE, "expected one target, before the cases; actual: another one among the cases")
    if options["durations"] is not None and not options["shard"]:
        stop(Exit.USAGE, "--durations requires --shard")
    if options["resume"] is not None and options["out"] is not None:
        stop(Exit.USAGE, "expected --resume or --out, actual both: a resumed run stays in its folder")
