"""``fuzz URL``, ``fuzz replay``, ``fuzz --selftest``: from a target to a campaign, a replay, or a test of the
oracles.

Knows: how target, baseline, campaign and summary are combined. Must not know: how any of them works.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from amqpspec.cli.common import STATE_DIR, TARGETS, one_line_errors, seconds_of, stop
from amqpspec.cli.fuzz_interop import ENGINES, coverage_of, keep_seeds, run_boofuzz, seeds_of
from amqpspec.cli.fuzz_known import attaches, with_known
from amqpspec.cli.fuzz_live import view_of
from amqpspec.cli.fuzz_nodes import with_nodes
from amqpspec.cli.fuzz_options import (
    CELLS,
    CONNECTIONS,
    DIALECT,
    FAMILIES_ONLY,
    PATIENCE,
    SCOPE,
    TARGET,
    budget,
    seed,
)
from amqpspec.cli.fuzz_report import write_reports
from amqpspec.cli.fuzz_resume import RESUME, named
from amqpspec.cli.fuzz_sequences import replay_sequence
from amqpspec.cli.fuzz_subject import subject_of
from amqpspec.cli.fuzz_target import check_one_target, target_of, terminable
from amqpspec.fuzz.campaign.campaign import Campaign
from amqpspec.fuzz.campaign.order import BATCH, CampaignOrder
from amqpspec.fuzz.campaign.report import one_line, what
from amqpspec.fuzz.executor.pool import workers_for
from amqpspec.fuzz.executor.subject import Subject, check_address, check_scope
from amqpspec.fuzz.executor.tempo import Tempo
from amqpspec.fuzz.oracles.monitor import Monitor
from amqpspec.fuzz.oracles.suspicion import Oracle, Suspicion
from amqpspec.fuzz.selftest.process import SEEDED, SeededBroker
from amqpspec.fuzz.sequences.finding import is_sequence
from amqpspec.fuzz.triage.findings import item_of, read_finding
from amqpspec.fuzz.triage.triage import Status, Triage
from amqpspec.reports.text import visible
from amqpspec.run.exits import Exit
from amqpspec.target.config import ConfigError
from amqpspec.target.known.memory import limit_in_force_mib
from amqpspec.target.live import live

if TYPE_CHECKING:
    from amqpspec.fuzz.interop.boofuzz_engine import BoofuzzRun

_OUT = Path("campaign")


@click.command("campaign", short_help="Run a campaign against a target.")
@click.argument("url", required=False)
@TARGET
@TARGETS
@budget("Duration of the campaign")
@click.option(
    "--out", "-o", type=click.Path(path_type=Path), help="Folder of the campaign (default: campaign)."
)
@DIALECT
@seed()
@click.option(
    "--shard", default="1/1", show_default=True, metavar="I/N", help="Send only part I of N of the inputs."
)
@RESUME
@CELLS
@FAMILIES_ONLY
@click.option(
    "--workers", "-w", type=click.IntRange(1, 64), show_default="half of more than 2 processors, at most 4",
    help="Number of sending processes.",
)  # fmt: skip
@CONNECTIONS
@PATIENCE
@click.option(
    "--thorough", is_flag=True, help="After each input that was not refused, continue with legal frames."
)
@SCOPE
@click.option("--baseline", "baseline_file", type=click.Path(path_type=Path), help="Known deviations (YAML).")
@click.option("--no-baseline", is_flag=True, help="Ignore the target's baseline.")
@click.option(
    "--engine",
    default=ENGINES[0],
    show_default=True,
    type=click.Choice(ENGINES),
    help="The engine that generates inputs.",
)
@click.option(
    "--seeds", type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A capture (pcap, pcapng) whose conversations are mutated as well.",
)  # fmt: skip
@click.option(
    "--coverage", metavar="KIND[:ADDRESS]",
    help="Favor inputs that run new code of the target: jacoco[:HOST:PORT] or file:PATH.",
)  # fmt: skip
@click.option(
    "--min-cells", default=1, show_default=True, type=click.IntRange(0), metavar="N",
    help="Exit with 4 if fewer cells are covered (where any were planned).",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@click.option(
    "--json-lines", is_flag=True, help="Write progress and findings as JSON lines to standard error."
)
@click.option("--quiet", "-q", is_flag=True, help="Print only the last line.")
def campaign(
    url: str | None, name: str | None, budget: str, shard: str, as_json: bool, **options: Any
) -> None:
    """Run a campaign: a few inputs of every cell, then the rest, with random mutation. Findings go to --out.

    Exit codes: 0 no findings, 1 findings, 2 usage, 3 target not reached, 4 error, nothing judged, or too few cells.
    """
    name = named(url, name)
    check_one_target(url, name)
    if options["resume"] is not None and options["out"] is not None:
        stop(Exit.USAGE, "expected --resume or --out, actual both: a resumed campaign stays in its folder")
    with one_line_errors(), terminable():
        budget_s, parts = seconds_of("--budget", budget), _shard(shard)
        target = target_of(url, name, options)
        with live(target, state_dir=STATE_DIR) as running:
            subject = subject_of(running, options)
            check_scope(subject.address.host, options["scope"])
            if attaches(subject.dialect, options["cells"], random=not options["families_only"]):
                subject = with_nodes(subject, running.nodes)
                check_address(subject)
            baseline = None if options["no_baseline"] else options["baseline_file"] or target.baseline
            subject, unfit = with_known(subject, baseline)
            if unfit and not options["quiet"]:
                # At once: who waits for a whole campaign learns too late that its known deviations are findings.
                click.echo(f"note: {visible(unfit)}", err=True)
            seeds = seeds_of(subject.dialect, options)
            coverage = coverage_of(options)
            view = view_of(budget_s, as_json or options["quiet"], options["json_lines"])
            order = CampaignOrder(
                subject, options["resume"] or options["out"] or _OUT, budget_s, options["seed"], parts,
                options["cells"], not options["families_only"], BATCH, options["resume"] is not None,
                notify=view.notify, corpus=seeds.corpus,
                origins=tuple(seed.origin for seed in seeds.entries),
                workers=options["workers"] or workers_for(os.cpu_count()), coverage=coverage,
            ).with_restart()  # fmt: skip
            _check_place(order)
            keep_seeds(order, seeds, options)
            limit_mib = limit_in_force_mib(subject.pid())
            if options["engine"] == "boofuzz":
                led: BoofuzzRun | Campaign = run_boofuzz(order, options)
            else:
                with view:
                    led = Campaign(order).run()
        summary = {**led.summary(), "memory_limit_mib": limit_mib}
        summary["note"] = "; ".join(filter(None, (summary.get("note"), unfit)))
        code, amiss = _conclusion(summary, lost=led.target_lost, least=options["min_cells"])
        summary["exit_code"] = int(code)
        write_reports(order.out, summary)
        view.end(summary)
    _say(summary, order.out, as_json, options["quiet"])
    if amiss:
        stop(code, amiss)
    raise click.exceptions.Exit(code)


@click.command("replay", short_help="Send an input again: a finding's, or one by id or octets.")
@click.argument("what", metavar="FOLDER|ID|OCTETS")
@click.argument("url", required=False)
@click.option("--target", "-t", "name", help="A target from targets.yaml (default: the finding's).")
@TARGETS
@click.option("--state", metavar="STATE", help="State in which to send OCTETS (hex; commas separate steps).")
@click.option(
    "--oracle", "oracles", multiple=True, type=click.Choice([oracle.value for oracle in Oracle]),
    help="With an id or octets: use only this oracle (default: all).",
)  # fmt: skip
@click.option(
    "--corpus", type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="With an id of an input made from a corpus: the folder of its campaign.",
)  # fmt: skip
@SCOPE
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def replay(
    what: str, url: str | None, name: str | None, state: str | None, oracles: tuple[str, ...], as_json: bool,
    **options: Any,
) -> None:  # fmt: skip
    """Send an input again and check its oracle; exit code 1 if the finding happens again.

    FOLDER is a finding. An ID, or OCTETS with --state, is sent once to URL or --target and judged by every oracle.
    """
    if is_sequence(Path(what)):
        replay_sequence(Path(what), url, name, as_json, options)
    if state is not None or what.startswith("g:"):
        _replay_one(what, url, name, state, oracles, as_json, options)
    with one_line_errors(), terminable():
        folder = Path(what)
        data = read_finding(folder)
        item = item_of(data)
        if url is None and name is None:
            url, name = (data["url"], None) if data.get("url") else (None, data["target"])
        options |= {"dialect": data["dialect"], "patience": 1.0, "connections": 1, "no_baseline": True}
        seen = Suspicion(Oracle(data["oracle"]), data["top"], data["detail"], (item.id,))
        with _again(url, name, options) as subject:
            check_scope(subject.address.host, options["scope"])
            tempo = Tempo.of(subject.round_trip_s(), hang_s=subject.hang_s)
            monitor = Monitor(subject)
            blame = Triage(subject, monitor, tempo).again(item, seen)
            monitor.close()
    reaction = blame.result.reaction if blame.result else "none that matters"
    if as_json:
        click.echo(json.dumps({"status": str(blame.status), "oracle": data["oracle"], "reaction": reaction}))
    else:
        click.echo(f"{data['oracle']} {data['signature']}: {blame.status}; {blame.suspicion.detail}")
    raise click.exceptions.Exit(Exit.CONFORMING if blame.status is Status.LOST else Exit.DEVIATIONS)


def _replay_one(
    what: str, url: str | None, name: str | None, state: str | None, oracles: tuple[str, ...], as_json: bool,
    options: dict[str, Any],
) -> NoReturn:  # fmt: skip
    from amqpspec.cli.fuzz_again import say
    from amqpspec.fuzz.triage.again import given, look, named

    if url is None and name is None:
        stop(Exit.USAGE, "expected a URL or --target with an id or octets, actual: none")
    options |= {"dialect": None, "patience": 1.0, "connections": 1, "no_baseline": True}
    with one_line_errors(), terminable(), _again(url, name, options) as subject:
        check_scope(subject.address.host, options["scope"])
        item = (
            given(subject.dialect, state, what)
            if state is not None
            else named(subject.dialect, what, options["corpus"])
        )
        seen = look(subject, item, [Oracle(oracle) for oracle in oracles] or list(Oracle))
    say(item, seen, as_json)
    raise click.exceptions.Exit(Exit.DEVIATIONS if seen.complaints else Exit.CONFORMING)


@contextmanager
def _again(url: str | None, name: str | None, options: dict[str, Any]) -> Iterator[Subject]:
    """The target of a finding; if the finding needs it, a broker with a planted defect is started."""
    if url is None and name is not None and name.startswith(SEEDED):
        with (
            tempfile.TemporaryDirectory(prefix="amqpspec-") as scratch,
            SeededBroker.named(name.removeprefix(SEEDED), Path(scratch)) as broker,
        ):
            yield broker.subject()
        return
    with live(target_of(url, name, options), state_dir=STATE_DIR) as running:
        yield with_nodes(subject_of(running, options), running.nodes)


# --- output


def _conclusion(summary: dict[str, Any], *, lost: bool, least: int) -> tuple[Exit, str]:
    """The exit code and, if no statement about the target is possible, the reason in one line."""
    if summary["findings"]:
        return Exit.DEVIATIONS, ""
    if lost:
        return Exit.TARGET, ""
    if not summary["inputs"]:
        return (
            Exit.HARNESS,
            f"{summary['target']}: nothing was judged: no input was sent ({summary['ended']})",
        )
    planned, covered = summary.get("cells_planned", 0), summary.get("covered", 0)
    if planned and covered < least:
        return Exit.HARNESS, (
            f"{summary['target']}: expected {least} covered cells at least (--min-cells), actual {covered} of {planned}"
            f"{'' if covered else ': nothing was judged to its end'} ({summary['ended']})"
        )
    return Exit.CONFORMING, ""


def _say(summary: dict[str, Any], folder: Path, as_json: bool, quiet: bool) -> None:
    if as_json:
        click.echo(json.dumps(summary, indent=1))
        return
    for found in [] if quiet else summary["findings"]:
        shown = visible(what(found))
        click.echo(
            f"{found['oracle']} {found['status']}: {shown}\n  {found['input'] or 'a batch'}\n  {found['replay']}"
        )
    if summary.get("note") and not quiet:
        click.echo(f"note: {visible(summary['note'])}")
    click.echo(f"{one_line(summary)}; {summary['ended']}; {folder / 'campaign.html'}")


# --- helpers


def _shard(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", text)
    if found is None or int(found[1]) > int(found[2]):
        raise ConfigError(f"--shard: expected I/N with I from 1 to N, actual {text!r}")
    return int(found[1]), int(found[2])


def _check_place(order: CampaignOrder) -> None:
    """Do not overwrite a folder that contains a campaign."""
    if not order.resume and (order.out / "journal.jsonl").exists():
        raise ConfigError(f"{order.out}: expected no campaign there, actual: one; --resume continues it")
