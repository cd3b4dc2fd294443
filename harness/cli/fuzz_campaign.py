"""``fuzz URL``, ``fuzz replay``, ``fuzz --selftest``: from a target to a campaign, a finding, a proof of the oracles.

Knows: how target, baseline, campaign and summary fit together. Must not know: how any of them works.
"""

from __future__ import annotations

import json
import re
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import quote

import click

from fuzz.campaign import BATCH, Campaign, Order
from fuzz.executor.conversation import Tempo
from fuzz.executor.loop import Address
from fuzz.executor.subject import Subject, check_scope
from fuzz.findings import item_of, read_finding
from fuzz.grammar import DEPLOYED, DIALECTS
from fuzz.oracles.monitor import Monitor
from fuzz.oracles.suspicion import Oracle, Suspicion
from fuzz.report import one_line, write_summary
from fuzz.seeded.process import SEEDED, SeededBroker
from fuzz.states import Values
from fuzz.triage import Status, Triage
from harness.cli.common import STATE_DIR, interactive, one_line_errors, stop
from harness.peer.context import Login
from harness.run.baseline import read_baseline
from harness.run.case import load_suite
from harness.run.detect import detect
from harness.run.results import Exit
from harness.spec.dialects import deployed_as
from harness.target.config import ConfigError, Target
from harness.target.find import find_target
from harness.target.known import BrokerError, known_broker
from harness.target.live import Live, live

_UNITS_S = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
_OUT = Path("campaign")


@click.command("campaign", short_help="Lead a campaign against a target.")
@click.argument("url", required=False)
@click.option("--target", "-t", "name", help="A target of targets.yaml.")
@click.option("--targets", "targets_file", type=click.Path(path_type=Path), help="Another targets.yaml.")
@click.option("--budget", default="10m", show_default=True, help="How long: 90, 90s, 10m, 8h.")
@click.option(
    "--out", "-o", type=click.Path(path_type=Path), help="Folder of the campaign (default: campaign)."
)
@click.option("--dialect", "-d", type=click.Choice((*DIALECTS, *DEPLOYED)), help="What to speak.")
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0), help="Of random mutation.")
@click.option("--shard", default="1/1", show_default=True, metavar="I/N", help="Only every Nth input.")
@click.option(
    "--resume", type=click.Path(path_type=Path, exists=True), help="Go on with a campaign's folder."
)
@click.option("--cells", multiple=True, metavar="GLOB", help="Only cells like C04/*/channel.")
@click.option("--families-only", is_flag=True, help="No random mutation behind the families.")
@click.option("--connections", "-n", default=64, show_default=True, type=click.IntRange(1, 512))
@click.option(
    "--patience", default=1.0, show_default=True, type=click.FloatRange(0.1, 20), help="Scales waits."
)
@click.option(
    "--scope", type=click.Path(path_type=Path, exists=True), help="Hosts beyond loopback, one a line."
)
@click.option("--baseline", "baseline_file", type=click.Path(path_type=Path), help="Known deviations (YAML).")
@click.option("--no-baseline", is_flag=True, help="Ignore the target's baseline.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing but the last line.")
def campaign(
    url: str | None, name: str | None, budget: str, shard: str, as_json: bool, **options: Any
) -> None:
    """Lead a campaign: every cell, then random mutation until the budget ends; findings go to --out.

    Exit codes: 0 no findings, 1 findings, 2 usage, 3 target not reached, 4 error.
    """
    if (url is None) is (name is None):
        stop(Exit.USAGE, "expected a URL or --target, actual: both or none")
    if options["resume"] is not None and options["out"] is not None:
        stop(Exit.USAGE, "expected --resume or --out, actual both: a resumed campaign stays in its folder")
    with one_line_errors(), _terminable():
        budget_s, parts = _seconds_s(budget), _shard(shard)
        target = _target(url, name, options)
        with live(target, state_dir=STATE_DIR) as running:
            subject = _subject(running, options)
            check_scope(subject.address.host, options["scope"])
            order = Order(
                subject, options["resume"] or options["out"] or _OUT, budget_s, options["seed"], parts,
                options["cells"], not options["families_only"], BATCH, options["resume"] is not None,
                told=_progress(as_json or options["quiet"]),
            )  # fmt: skip
            _check_place(order)
            led = Campaign(order).run()
        summary = led.summary()
        found = bool(summary["findings"])
        code = Exit.DEVIATIONS if found else Exit.TARGET if led.target_lost else Exit.CONFORMING
        summary["exit_code"] = int(code)
        write_summary(order.out, summary)
    _say(summary, order.out, as_json)
    raise click.exceptions.Exit(code)


@click.command("replay", short_help="Try a finding's input again.")
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("url", required=False)
@click.option("--target", "-t", "name", help="A target of targets.yaml (default: the finding's).")
@click.option("--targets", "targets_file", type=click.Path(path_type=Path), help="Another targets.yaml.")
@click.option(
    "--scope", type=click.Path(path_type=Path, exists=True), help="Hosts beyond loopback, one a line."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def replay(folder: Path, url: str | None, name: str | None, as_json: bool, **options: Any) -> None:
    """Send the input of FOLDER again, and ask the oracle that found it; exit code 1 where it happens again."""
    with one_line_errors(), _terminable():
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
    reaction = blame.outcome.reaction if blame.outcome else "none that matters"
    if as_json:
        click.echo(json.dumps({"status": str(blame.status), "oracle": data["oracle"], "reaction": reaction}))
    else:
        click.echo(f"{data['oracle']} {data['signature']}: {blame.status}; {blame.suspicion.detail}")
    raise click.exceptions.Exit(Exit.CONFORMING if blame.status is Status.LOST else Exit.DEVIATIONS)


@contextmanager
def _again(url: str | None, name: str | None, options: dict[str, Any]) -> Iterator[Subject]:
    """The target of a finding; a broker with a planted defect is started for it."""
    if url is None and name is not None and name.startswith(SEEDED):
        with (
            tempfile.TemporaryDirectory(prefix="amqpspec-") as scratch,
            SeededBroker(name.removeprefix(SEEDED), Path(scratch)) as broker,
        ):
            yield broker.subject()
        return
    with live(_target(url, name, options), state_dir=STATE_DIR) as running:
        yield _subject(running, options)


def run_selftest(as_json: bool, out: Path | None, clean_budget: str) -> None:
    """Seek every planted defect; exit code 1 where one is not found, wrongly blamed, or something else is."""
    from fuzz.seeded.selftest import selftest

    def told(line: str) -> None:
        click.echo(line, err=as_json)

    with one_line_errors(), _terminable(), tempfile.TemporaryDirectory(prefix="amqpspec-") as scratch:
        result = selftest(out or Path(scratch), clean_budget_s=_seconds_s(clean_budget), told=told)
    said = result.to_json()
    click.echo(
        json.dumps(said, indent=1) if as_json
        else f"{said['found']} of {said['seeded']} found, {said['right_blame']} rightly blamed, "
        f"{said['false_alarms']} false alarms ({said['clean_inputs']} inputs on the clean broker)"
    )  # fmt: skip
    raise click.exceptions.Exit(Exit.CONFORMING if result.holds else Exit.DEVIATIONS)


# --- the target


def _target(url: str | None, name: str | None, options: dict[str, Any]) -> Target:
    target = find_target(url or name or "", options["targets_file"])
    if options["dialect"]:
        return replace(target, dialect=options["dialect"])
    if url is not None and target.url is not None:
        check_scope(target.url.host, options["scope"])
        target = replace(target, dialect=detect(target))
    if target.broker != "reference" and deployed_as(target.dialect) in DEPLOYED:
        return replace(target, dialect=str(deployed_as(target.dialect)))
    return target


def _subject(running: Live, options: dict[str, Any]) -> Subject:
    """A running target as the fuzzer needs it; an embedded reference broker has no process of its own."""
    if running.url.tls:
        raise ConfigError(f"{running.url.redacted}: expected a target without TLS, actual: amqps")
    target = running.target
    queue = target.address.replace("{name}", "amqpspec.fuzz.q")
    pid = _Pid(running)
    others = [
        _values(login, running.vhosts.get(role, login.vhost), queue)
        for role, login in running.logins.items()
        if role == "second"
    ]
    return Subject(
        name=target.name, dialect=target.dialect, address=Address(running.url.host, running.url.port),
        values=_values(running.login, running.login.vhost, queue), others=tuple(others),
        restart=_restart(running, pid), pid=lambda: pid.number, log=running.log,
        known=_known(target, options), connections=min(options["connections"], max(target.connections, 64)),
        patience=options["patience"], url=_public(running),
    )  # fmt: skip


def _public(running: Live) -> str:
    """The URL of a target that has no name in targets.yaml; nothing where it holds a secret."""
    if running.target.broker or running.target.url is None or running.secrets:
        return ""
    url = running.url
    host = f"[{url.host}]" if ":" in url.host else url.host
    return f"amqp://{url.user}:{url.password}@{host}:{url.port}/{quote(url.vhost, safe='')}"


class _Pid:
    """The target's pid; looked up anew after a restart."""

    def __init__(self, running: Live) -> None:
        self._running = running
        self.number = running.pid

    def look(self) -> None:
        """Ask again."""
        target = self._running.target
        if target.broker and target.broker != "reference":
            found = known_broker(target.broker, STATE_DIR / target.broker).running()
            self.number = found.pid if found else None
        elif target.pid is not None:
            try:
                self.number = int(target.pid.read_text().split()[0])
            except (OSError, ValueError, IndexError):
                self.number = None


def _restart(running: Live, pid: _Pid) -> Callable[[], None] | None:
    again = running.revive or running.restart
    if again is None:
        return None

    def restart() -> None:
        try:
            again()
        except BrokerError as error:
            raise OSError(str(error)) from error
        pid.look()

    return restart


def _values(login: Login, vhost: str, queue: str) -> Values:
    return Values(user=login.user, password=login.password, vhost=vhost, queue=queue)


def _known(target: Target, options: dict[str, Any]) -> frozenset[str]:
    """The requirements of cases that the baseline says deviate; their cases are those of the dialect's suite."""
    path = options.get("baseline_file") or target.baseline
    if options.get("no_baseline") or path is None:
        return frozenset()
    baseline = read_baseline(path)
    suite = load_suite(baseline.dialect)
    cases = [suite[entry.case] for entry in baseline.entries if entry.case in suite]
    return frozenset(row for case in cases for row in case.covers)


# --- what is said


def _say(summary: dict[str, Any], folder: Path, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(summary, indent=1))
        return
    for found in summary["findings"]:
        detail = " ".join(str(found["detail"]).split())[:200]
        click.echo(
            f"{found['oracle']} {found['status']}: {detail}\n  {found['input'] or 'a batch'}\n  {found['replay']}"
        )
    click.echo(f"{one_line(summary)}; {summary['ended']}; {folder / 'summary.md'}")


def _progress(quiet: bool) -> Callable[[Campaign], None]:
    """A line on standard error that is written over; nothing where nobody looks."""
    if quiet or not interactive():
        return lambda campaign: None

    def told(campaign: Campaign) -> None:
        tally = campaign.tally
        rate = tally.inputs / tally.seconds_s if tally.seconds_s else 0.0
        sys.stderr.write(
            f"\r\033[K{tally.inputs} inputs, {rate:.0f}/s, cells {len(tally.cells)} of {len(campaign.cells)}, "
            f"{len(campaign.energy.seen)} response states, {len(campaign.findings)} findings"
        )
        sys.stderr.flush()

    return told


# --- small print


def _seconds_s(text: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text)
    if found is None:
        raise ConfigError(f"expected a time like 90s, 10m or 8h, actual {text!r}")
    return float(found[1]) * _UNITS_S[found[2]]


def _shard(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", text)
    if found is None or int(found[1]) > int(found[2]):
        raise ConfigError(f"--shard: expected I/N with I from 1 to N, actual {text!r}")
    return int(found[1]), int(found[2])


def _check_place(order: Order) -> None:
    """A folder that holds a campaign is not written over."""
    if not order.resume and (order.out / "journal.jsonl").exists():
        raise ConfigError(f"{order.out}: expected no campaign there, actual: one; --resume goes on with it")


@contextmanager
def _terminable() -> Iterator[None]:
    """TERM ends like an interrupt from the keyboard: what was found is written down."""

    def end(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
