"""``fuzz --differential TARGET TARGET…``: sends the same inputs to several targets and reports different reactions.

Knows: how targets, comparison and report are combined. Must not know: how any of them works.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from amqpspec.cli.common import STATE_DIR, TARGETS, one_line_errors, seconds_of, stop
from amqpspec.cli.fuzz_known import attaches, with_known
from amqpspec.cli.fuzz_nodes import with_nodes
from amqpspec.cli.fuzz_options import (
    CELLS,
    CONNECTIONS,
    DIALECT,
    FAMILIES_ONLY,
    PATIENCE,
    SCOPE,
    budget,
    seed,
)
from amqpspec.cli.fuzz_subject import subject_of
from amqpspec.cli.fuzz_target import target_of, terminable
from amqpspec.fuzz.differential.comparison import Comparison, compare
from amqpspec.fuzz.differential.report import to_json
from amqpspec.fuzz.differential.tally import Kind
from amqpspec.fuzz.executor.subject import Subject, check_address, check_scope
from amqpspec.reports.campaign.differences import write_differences
from amqpspec.reports.text import one_line
from amqpspec.run.exits import Exit
from amqpspec.target.config import ConfigError, Target
from amqpspec.target.find import is_target
from amqpspec.target.live import live

_SHOWN = 20


@click.command(
    "differential", short_help="Send the same inputs to several targets and compare their reactions."
)
@click.argument("names", metavar="TARGET TARGET…", nargs=-1)
@TARGETS
@DIALECT
@budget("Duration of the comparison")
@click.option(
    "--out",
    "-o",
    type=click.Path(path_type=Path),
    default="differences",
    show_default=True,
    help="Folder for the results.",
)
@seed()
@CELLS
@FAMILIES_ONLY
@CONNECTIONS
@PATIENCE
@SCOPE
@click.option("--no-baseline", is_flag=True, help="Ignore the targets' baselines.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def differential(names: tuple[str, ...], budget: str, out: Path, as_json: bool, **options: Any) -> None:
    """Send the same inputs to several targets of one dialect and report reactions that differ.

    A TARGET is a URL or a name in targets.yaml. Violations that a target's baseline declares are not reported. The
    results are differences.json and differences.html in --out. Exit codes: 0 no differences, 1 differences, 2 usage,
    3 a target not reached or lost, 4 nothing compared.
    """
    if len(set(names)) < 2 or len(set(names)) < len(names):
        stop(Exit.USAGE, f"expected two different targets or more, actual: {', '.join(names) or 'none'}")
    with one_line_errors(), terminable(), ExitStack() as stack:
        budget_s = seconds_of("--budget", budget)
        subjects, notes = _subjects(_targets(names, options), options, stack)
        done = compare(
            Comparison(subjects, budget_s, options["seed"], options["cells"], not options["families_only"])
        )
        result = to_json(done, notes)
        code = _code(result)
        result["exit_code"] = int(code)
        page = write_differences(out, result)
    _say(result, page, as_json)
    if code is Exit.HARNESS:
        stop(code, f"nothing was compared: no input has a reaction of every target ({result['ended']})")
    raise click.exceptions.Exit(code)


def _targets(names: Sequence[str], options: dict[str, Any]) -> list[Target]:
    found = [
        target_of(text, None, options) if is_target(text) else target_of(None, text, options)
        for text in names
    ]
    if len({target.dialect for target in found}) > 1:
        spoken = ", ".join(f"{target.name} {target.dialect}" for target in found)
        raise ConfigError(f"expected targets of one dialect (--dialect chooses it), actual: {spoken}")
    if len({target.name for target in found}) < len(found):
        named = ", ".join(target.name for target in found)
        raise ConfigError(f"expected targets with different names, actual: {named}")
    return found


def _subjects(
    targets: Sequence[Target], options: dict[str, Any], stack: ExitStack
) -> tuple[list[Subject], dict[str, str]]:
    """The running targets, each with the deviations that its baseline declares; and remarks about them."""
    subjects, notes = [], {}
    for target in targets:
        running = stack.enter_context(live(target, state_dir=STATE_DIR))
        subject = subject_of(running, options)
        check_scope(subject.address.host, options["scope"])
        if attaches(subject.dialect, options["cells"], random=not options["families_only"]):
            subject = with_nodes(subject, running.nodes)
            check_address(subject)
        baseline = None if options["no_baseline"] else target.baseline
        subject, notes[subject.name] = with_known(subject, baseline)
        subjects.append(subject)
    return subjects, notes


def _code(result: dict[str, Any]) -> Exit:
    if result["differences"]:
        return Exit.DEVIATIONS
    if result["lost"]:
        return Exit.TARGET
    return Exit.CONFORMING if result["compared"] else Exit.HARNESS


def _say(result: dict[str, Any], page: Path, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(result, indent=1))
        return
    for found in result["differences"][:_SHOWN]:
        reactions = "; ".join(f"{name}: {seen}" for name, seen in found["reactions"].items())
        click.echo(one_line(f"{found['cell']} ({found['count']}): {reactions}"))
        for line in found["replay"].values():
            click.echo(f"  {line}")
    if (more := len(result["differences"]) - _SHOWN) > 0:
        click.echo(f"and {more} more")
    for target in result["targets"]:
        if target["note"]:
            click.echo(one_line(f"note: {target['name']}: {target['note']}"))
    counts = ", ".join(f"{result[kind]} {kind}" for kind in Kind)
    ended = one_line(result["ended"])
    click.echo(f"{result['inputs']} inputs, {result['compared']} compared: {counts}; {ended}; {page}")
