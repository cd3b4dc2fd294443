"""``fuzz --client COMMAND``: the fuzzer in the server's role, against the agent of a client library.

Knows: the verb's syntax, the steps of a campaign. Must not know: how inputs are made or sent.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from amqpspec.cli.certify import stopping
from amqpspec.cli.common import command_words, one_line_errors, seconds_of, stop
from amqpspec.cli.fuzz_options import FAMILIES_ONLY, budget, seed
from amqpspec.fuzz.clients.bout import SETTLE_S, Ring
from amqpspec.fuzz.clients.campaign import ClientCampaign, ClientOrder
from amqpspec.fuzz.clients.findings import item_in
from amqpspec.fuzz.clients.inputs import bendings, resolved
from amqpspec.fuzz.clients.part import server_places
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import InputId
from amqpspec.fuzz.parts import fuzzed_dialects
from amqpspec.run.clients.agent import Application, Limits, OneEach, Runner
from amqpspec.run.clients.batch import BatchAgents
from amqpspec.run.clients.client import Arena
from amqpspec.run.exits import Exit
from amqpspec.spec.dialects import client_dialect

_HANG_S, _CPU_S = 10.0, 3.0


@click.command("clients", short_help="Fuzz a client library with its agent.")
@click.option("--client", "command", required=True, help="The agent's command line (docs/clients.md).")
@click.option("--batch", is_flag=True, help="Keep agents running; one process receives up to 64 inputs.")
@click.option("--dialect", "-d", default="amqp-0-9-1", show_default=True, help="Dialect to speak.")
@budget("Duration of the campaign")
@click.option("--inputs", type=click.IntRange(1), help="End after N inputs.")
@seed()
@click.option("--cells", multiple=True, metavar="GLOB", help="Only cells that match: C04/*/server-start.")
@FAMILIES_ONLY
@click.option(
    "-n", "at_once", default=2, show_default=True, type=click.IntRange(1, 64), help="Agents at once."
)
@click.option(
    "--patience", default=1.0, show_default=True, type=click.FloatRange(0.1, 20), help="Multiply every wait by this."
)  # fmt: skip
@click.option(
    "--memory-limit", "memory_mib", default=1024, show_default=True, type=click.IntRange(16), metavar="MIB",
    help="Memory that an agent may use.",
)  # fmt: skip
@click.option(
    "--out", "-o", default=Path("client-campaign"), show_default=True, type=click.Path(path_type=Path),
    help="Folder of the campaign.",
)  # fmt: skip
@click.option(
    "--replay", metavar="FINDING|ID", help="Send this input again: exit code 1 if it is a finding again."
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@click.option("--quiet", "-q", is_flag=True, help="Print only the last line.")
def clients(command: str, replay: str | None, as_json: bool, quiet: bool, **options: Any) -> None:
    """Start an agent repeatedly against a server that sends mutated frames.

    After each input, the server ends the connection: an agent that crashes, does not end, or uses too much memory or
    processor time is a finding. Exit codes are those of ``amqpspec fuzz``.
    """
    words = command_words("--client", command)
    with one_line_errors():
        dialect = options["dialect"]
        if dialect not in fuzzed_dialects() or not server_places(dialect):
            known = ", ".join(d for d in fuzzed_dialects() if server_places(d))
            stop(Exit.USAGE, f"--dialect: expected one of {known}, actual {dialect!r}")
        code = (
            _replay(words, replay, options) if replay else _campaign(words, command, options, as_json, quiet)
        )
    raise click.exceptions.Exit(code)


def _arena(words: Sequence[str], options: dict[str, Any], halt: threading.Event) -> Arena:
    patience = options["patience"]
    limits = Limits(60.0 * patience, SETTLE_S + _HANG_S * patience, options["memory_mib"] << 20)
    return Arena(words, client_dialect(options["dialect"]), options["out"], limits, halt)


def _campaign(
    words: Sequence[str], command: str, options: dict[str, Any], as_json: bool, quiet: bool
) -> Exit:
    budget_s, folder, halt = seconds_of("--budget", options["budget"]), options["out"], threading.Event()
    if not budget_s:
        stop(Exit.USAGE, f"--budget: expected a duration beyond 0, actual {options['budget']!r}")
    globs = options["cells"] or ("*",)

    def chosen(key: str) -> bool:
        return any(fnmatchcase(key, glob) for glob in globs)

    if not any(chosen(one.key) for one in bendings(options["dialect"])):
        stop(Exit.USAGE, f"--cells: expected globs of cells, actual: {', '.join(globs)} match none")
    if (folder / "journal.jsonl").exists():
        stop(Exit.USAGE, f"{folder}: expected a folder without a campaign, actual: there is one")
    folder.mkdir(parents=True, exist_ok=True)
    arena = _arena(words, options, halt)
    with stopping(halt):
        cpu_s = _calibrated(Ring(arena, _runner(words, options), 0.0), options)
        order = ClientOrder(
            arena,
            options["dialect"],
            command,
            budget_s,
            cpu_s,
            options["seed"],
            options["at_once"],
            options["inputs"],
            options["families_only"],
            options["batch"],
            chosen,
        )
        summary = ClientCampaign(order, lambda news: None if quiet or as_json else _tell(news)).run()
    click.echo(json.dumps(summary, indent=1) if as_json else _last_line(summary, folder))
    if summary["findings"]:
        return Exit.DEVIATIONS
    return Exit.CONFORMING if summary["reached"] else Exit.TARGET


def _calibrated(ring: Ring, options: dict[str, Any]) -> float:
    """The CPU time that an input may take in addition to twice that of the scenarios on a correct server."""
    taken_s = 0.0
    for scenario in dict.fromkeys(place.scenario for place in server_places(options["dialect"]).values()):
        ran = ring.scenario(scenario)
        if ran.application not in (Application.SILENT, Application.CANNOT):
            stop(Exit.TARGET, f"the agent fails in {scenario!r} on a correct server: {ran.describe()}")
        taken_s = max(taken_s, ran.cpu_s)
    return 2 * taken_s + _CPU_S


def _runner(words: Sequence[str], options: dict[str, Any]) -> Runner:
    return BatchAgents(words) if options["batch"] else OneEach(words)


def _replay(words: Sequence[str], what: str, options: dict[str, Any]) -> Exit:
    item, oracle = _replayed(what)
    with TemporaryDirectory(prefix="amqpspec-") as scratch:
        arena = _arena(words, {**options, "out": Path(scratch)}, threading.Event())
        ring = Ring(arena, _runner(words, options), 0.0)
        ring = replace(ring, cpu_s=_calibrated(ring, options))
        met = ring.meet(item, "replay", alone=True)
    if met.suspicion is not None and oracle in ("", str(met.suspicion.oracle)):
        click.echo(f"{met.suspicion.oracle}: {met.suspicion.top}: again")
        return Exit.DEVIATIONS
    click.echo(f"not again: {met.encounter.ran.describe()}")
    return Exit.CONFORMING if met.reached else Exit.TARGET


def _replayed(what: str) -> tuple[FuzzInput, str]:
    return item_in(Path(what)) if Path(what).is_dir() else (resolved(InputId.parse(what)), "")


def _tell(news: Path | int) -> None:
    if isinstance(news, Path):
        click.echo(f"finding {news.name}: {(news / 'REPLAY').read_text(encoding='utf-8').strip()}", err=True)
    elif news % 500 == 0:
        click.echo(f"{news} inputs", err=True)


def _last_line(summary: dict[str, Any], folder: Path) -> str:
    found = len(summary["findings"])
    missed = f"; not reached: {', '.join(summary['not_reached'])}" if summary["not_reached"] else ""
    unconfirmed = sum(summary["unconfirmed"].values())
    return (
        f"{summary['inputs']} inputs in {summary['seconds']:.0f} s ({summary['inputs_per_s']} a second),"
        f" {found} findings, {unconfirmed} unconfirmed{missed}; {folder}"
    )
