"""``amqpspec client``: certify a client library by an agent, a small program that runs scenarios with it.

Knows: the verb's syntax, the steps of a run. Must not know: what cases judge.
"""

from __future__ import annotations

import json
import shlex
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amqpspec.cli.common import LENIENT, PATIENCE, PRODUCT, command_words, judged_dialect, one_line_errors

if TYPE_CHECKING:
    from amqpspec.record.rows import RunRow
    from amqpspec.run.plan import Planned
    from amqpspec.target.config import Target


@click.command(short_help="Certify a client library.")
@click.argument("cases", nargs=-1, metavar="[CASE]...")
@click.option("--command", "command", help="The agent's command line (default: the reference agent).")
@click.option("--name", default="", help="Name of the client in reports (default: the command's last word).")
@click.option("--dialect", "-d", default="amqp-0-9-1", show_default=True, help="Dialect to judge.")
@click.option(
    "--out", "-o", type=click.Path(path_type=Path), help="Folder of the run (default: out/TIME-NAME)."
)
@click.option("--junit", type=click.Path(path_type=Path), help="Also write the JUnit file here.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
@click.option(
    "-n", "at_once", type=click.IntRange(1, 64), default=2, show_default=True, help="Agents at once."
)
@PATIENCE
@click.option(
    "--batch",
    is_flag=True,
    help="Keep agents running: one process carries out many tasks (see docs/clients.md).",
)
@PRODUCT
@LENIENT
@click.option("--baseline", "baseline_file", type=click.Path(path_type=Path), help="Known deviations (YAML).")
@click.option("--exclude", multiple=True, metavar="CASE", help="Exclude cases (ids, globs, @file).")
@click.option("--force", is_flag=True, help="Replace a finished run in the folder.")
@click.option("--strict", is_flag=True, help="Treat a violated SHOULD as a failure.")
@click.option("--quiet", "-q", is_flag=True, help="Print only the counts and the path of the report.")
def client(cases: tuple[str, ...], command: str | None, as_json: bool, **options: Any) -> None:  # fmt: skip
    """Run an agent against correct and hostile servers and judge what its client does.

    Each scenario is one process of the agent, unless --batch is given. AMQPSPEC_URL specifies where to connect,
    AMQPSPEC_SCENARIO what to do, and AMQPSPEC_CONTEXT the details as JSON. Exit code 89 of an agent means that its
    client cannot do that.
    """
    options["dialect"] = judged_dialect(options["dialect"])
    words = _words(command, options["dialect"], batch=options["batch"])
    options["quiet"] = options["quiet"] or as_json
    with one_line_errors():
        document = _certify(words, cases, options, own=command is None)
    if as_json:
        click.echo(json.dumps(document, indent=1))
    raise click.exceptions.Exit(document["exit_code"])


def _words(command: str | None, dialect: str, *, batch: bool) -> Sequence[str]:
    from amqpspec.run.clients.selftest import reference_agent

    if command is None:
        return (*reference_agent(dialect), *(["--batch"] if batch else []))
    return command_words("--command", command)


def _certify(
    words: Sequence[str], patterns: Sequence[str], options: dict[str, Any], *, own: bool
) -> dict[str, Any]:
    from amqpspec.cli.certify import RunRequest, finish, stopping
    from amqpspec.cli.place import make_room, only_run_in, usual_place
    from amqpspec.cli.progress import Progress
    from amqpspec.record.journal import Journal
    from amqpspec.run.baseline import read_baseline
    from amqpspec.run.clients.agent import Limits
    from amqpspec.run.clients.batch import BatchAgents
    from amqpspec.run.clients.client import Arena
    from amqpspec.run.clients.execute import run_clients
    from amqpspec.run.room import FILES_OF_AN_AGENT, most_files
    from amqpspec.target.config import Target

    name = options["name"] or ("reference agent" if own else Path(words[-1]).name)
    target = Target(name, dialect=options["dialect"])
    folder = options["out"] or usual_place(name)
    request = RunRequest(
        target, patterns, folder, junit=options["junit"], strict=options["strict"], quiet=options["quiet"]
    )
    baseline = read_baseline(options["baseline_file"]) if options["baseline_file"] else None
    plan = _plan(target.dialect, patterns, options["exclude"])
    halt = threading.Event()
    limits = Limits().scaled(options["patience"])
    most_files(options["at_once"] * FILES_OF_AN_AGENT)
    with only_run_in(folder), stopping(halt):
        make_room(folder, force=options["force"])
        with Journal(folder) as journal, Progress(len(plan), request.quiet) as progress, ExitStack() as stack:
            kept = "--batch " if options["batch"] else ""
            command = f"amqpspec client {kept}--command {shlex.join([*words, *patterns])}"
            journal.run(client_run(folder.name, target, command))
            runner = stack.enter_context(BatchAgents(words)) if kept else None
            arena = Arena(
                words, target.dialect, folder, limits, halt, runner, options["product"], options["lenient"]
            )
            complete = run_clients(plan, arena, journal, options["at_once"], [progress.saw])
            journal.end(complete=complete)
        request = replace(request, note=forgiven(arena.forgiven))
        return finish(request, folder, plan, baseline, partial=not complete)


def forgiven(times: Mapping[str, int]) -> str:
    """The deviations that a lenient server tolerated, in one line; empty if there were none."""
    from amqpspec.reference.leniency import FORGIVEN

    said = ", ".join(f"{name} ({FORGIVEN[name]}) on {times[name]} connections" for name in sorted(times))
    return f"forgiven: {said}" if said else ""


def _plan(dialect: str, patterns: Sequence[str], exclude: Sequence[str]) -> list[Planned]:
    from amqpspec.record.rows import BlockedBy, Outcome
    from amqpspec.run.case import load_suite
    from amqpspec.run.clients.roles import about
    from amqpspec.run.plan import Planned
    from amqpspec.run.select import select
    from amqpspec.spec.model import Side

    suite = about(load_suite(dialect), Side.CLIENT)
    left_out = {case.id for case in select(suite, exclude)} if exclude else set()
    excluded = (Outcome.EXCLUDED, "excluded by --exclude", BlockedBy.SELECTION)
    return [Planned(case, *(excluded if case.id in left_out else ())) for case in select(suite, patterns)]


def client_run(id: str, target: Target, command: str) -> RunRow:
    """The row of a run that judges clients."""
    from amqpspec.cli.certify import begun
    from amqpspec.record.rows import TargetRow

    return begun(id, TargetRow(target.name, "", target.dialect, product=target.name), command)
