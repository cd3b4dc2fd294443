"""``fuzz --sequences URL``: programs over several connections, and the replay of a finding.

Knows: how target, programs and findings are combined. Must not know: how any of them works.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

import click

from amqpspec.cli.common import STATE_DIR, TARGETS, one_line_errors, seconds_of, stop
from amqpspec.cli.fuzz_options import DIALECT, PATIENCE, SCOPE, TARGET, budget, seed
from amqpspec.cli.fuzz_subject import subject_of
from amqpspec.cli.fuzz_target import check_one_target, target_of, terminable
from amqpspec.fuzz.executor.subject import check_scope
from amqpspec.fuzz.parts import fuzzed_dialects
from amqpspec.fuzz.sequences.finding import SequenceFinding, read_sequence
from amqpspec.fuzz.sequences.part import sequences_part
from amqpspec.reports.text import one_line
from amqpspec.run.exits import Exit
from amqpspec.target.config import ConfigError
from amqpspec.target.live import live


def with_programs() -> tuple[str, ...]:
    """The dialects that have programs."""
    return tuple(dialect for dialect in fuzzed_dialects() if sequences_part(dialect).verbs)


@click.command("sequences", short_help="Run programs over several connections and compare with a model.")
@click.argument("url", required=False)
@TARGET
@TARGETS
@DIALECT
@budget("Duration")
@click.option("--programs", default=0, type=click.IntRange(0), help="End after this many programs as well.")
@click.option(
    "--out", "-o", type=click.Path(path_type=Path), default="sequences", show_default=True,
    help="Folder for the findings.",
)  # fmt: skip
@seed("Seed that decides the programs.")
@PATIENCE
@SCOPE
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def sequences(
    url: str | None, name: str | None, budget: str, out: Path, as_json: bool, **options: Any
) -> None:
    """Run programs of legal steps over several connections and channels, and compare what happens with a model.

    Violations are shrunk and written to --out/findings. Exit codes: 0 no findings, 1 findings, 2 usage, 3 target not
    reached or lost, 4 no program ran to its end.
    """
    from amqpspec.fuzz.sequences.campaign import SequenceCampaign, SequenceOrder

    check_one_target(url, name)
    with one_line_errors(), terminable():
        budget_s, target = seconds_of("--budget", budget), target_of(url, name, options)
        _check(target.dialect, out)
        with live(target, state_dir=STATE_DIR) as running:
            subject = subject_of(running, options | {"connections": 1})
            check_scope(subject.address.host, options["scope"])
            order = SequenceOrder(
                subject,
                out,
                budget_s,
                options["seed"],
                options["programs"],
                running.nodes,
                _quiet if as_json else _tell,
            )
            done = SequenceCampaign(order).run()
    summary = done.summary()
    code = _code(summary, lost=done.lost)
    summary["exit_code"] = int(code)
    out.mkdir(parents=True, exist_ok=True)
    (out / "summary.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    _say(summary, as_json)
    if code is Exit.HARNESS:
        stop(code, f"{summary['target']}: no program ran to its end ({summary['ended']})")
    raise click.exceptions.Exit(code)


def _check(dialect: str, out: Path) -> None:
    if dialect not in with_programs():
        raise ConfigError(
            f"expected a dialect with programs ({', '.join(with_programs())}), actual {dialect}"
        )
    if (out / "findings").exists():
        raise ConfigError(f"{out}: expected no findings there, actual: some; --out names another folder")


def _code(summary: dict[str, Any], *, lost: bool) -> Exit:
    if summary["findings"]:
        return Exit.DEVIATIONS
    if lost:
        return Exit.TARGET
    return Exit.CONFORMING if summary["programs"] > summary["unjudged"].get("program", 0) else Exit.HARNESS


def _tell(finding: SequenceFinding) -> None:
    click.echo(one_line(f"found ({finding.status}): {finding.found.violation.kind}", 240), err=True)


def _quiet(finding: SequenceFinding) -> None:
    """Show nothing until the end."""


def _say(summary: dict[str, Any], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(summary, indent=1))
        return
    for found in summary["findings"]:
        click.echo(
            one_line(
                f"{found['status']}: {found['top']}: expected {found['expected']}, actual {found['actual']}"
            )
        )
        click.echo(f"  {found['replay']}")
    click.echo(
        f"{summary['programs']} programs, {summary['steps']} steps, {summary['loads']} loads, "
        f"{len(summary['findings'])} findings; {one_line(summary['ended'])}"
    )
    for name, count in summary["unjudged"].items():
        click.echo(f"not judged, cut off: {one_line(name)} ({count})")
    for name, count in summary["unconfirmed"].items():
        click.echo(f"not confirmed: {one_line(name)} ({count})")


def replay_sequence(
    folder: Path, url: str | None, name: str | None, as_json: bool, options: dict[str, Any]
) -> NoReturn:
    """Run a finding's program again; exit code 1 if the violation occurs again."""
    from amqpspec.fuzz.sequences.machine import run_program
    from amqpspec.fuzz.sequences.stage import Stage

    with one_line_errors(), terminable():
        said, program = read_sequence(folder)
        if url is None and name is None:
            url, name = (said["url"], None) if said.get("url") else (None, said["target"])
        options |= {"dialect": said["dialect"], "patience": 1.0, "connections": 1}
        with live(target_of(url, name, options), state_dir=STATE_DIR) as running:
            subject = subject_of(running, options)
            check_scope(subject.address.host, options["scope"])
            found = run_program(Stage.of(subject, running.nodes).begin, program)
    seen = found.violation if found is not None else None
    reproduced = seen is not None and seen.kind == said["top"]
    if as_json:
        click.echo(
            json.dumps({"status": "stable" if reproduced else "lost", "top": seen.kind if seen else ""})
        )
    else:
        click.echo(one_line(f"{seen.kind}: {seen}" if seen else "no violation"))
    raise click.exceptions.Exit(Exit.DEVIATIONS if reproduced else Exit.CONFORMING)
