"""``amqpspec serve``, ``watch`` and ``proxy``: judge clients by their connections, without an agent.

Knows: the verbs' syntax, where connections come from, the steps of a run. Must not know: what cases judge.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amqpspec.cli.common import LENIENT, MAX_MESSAGE, PRODUCT, judged_dialect, one_line_errors, stop
from amqpspec.run.exits import Exit

if TYPE_CHECKING:
    from amqpspec.run.case import Case
    from amqpspec.run.clients.watching import Judged, Watch
    from amqpspec.run.plan import Planned
    from amqpspec.wire.conversation import Talk
    from amqpspec.wire.hostility import Hostility

_LOOK_S = 0.1
_OPTIONS = (
    click.option("--dialect", "-d", default="amqp-0-9-1", show_default=True, help="Dialect to judge."),
    click.option("--name", help="Name of the client in reports."),
    click.option("--out", "-o", type=click.Path(path_type=Path), help="Folder of the run (default: out/TIME-NAME)."),
    click.option("--junit", type=click.Path(path_type=Path), help="Also write the JUnit file here."),
    click.option("--baseline", "baseline_file", type=click.Path(path_type=Path), help="Known deviations (YAML)."),
    click.option("--force", is_flag=True, help="Replace a finished run in the folder."),
    click.option("--strict", is_flag=True, help="Treat a violated SHOULD as a failure."),
    click.option("--quiet", "-q", is_flag=True, help="Print only the counts and the path of the report."),
)  # fmt: skip
_ENDS = (
    click.option("--connections", type=click.IntRange(1), help="End after N connections have ended."),
    click.option("--seconds", "seconds_s", type=click.FloatRange(0, min_open=True), help="End after N seconds."),
    click.option("--page-port", type=click.IntRange(0, 65535), help="Serve the live page here (default: a free port)."),
)  # fmt: skip


def _with(*options: Callable[..., Any]) -> Callable[..., Any]:
    return lambda verb: reduce(lambda known, option: option(known), reversed(options), verb)


@dataclass(frozen=True, slots=True)
class Observation:
    """The request of the user, whatever the source of the connections."""

    verb: str
    name: str
    dialect: str
    options: Mapping[str, Any]
    chosen: str = ""
    """The hostile case of every connection; empty for none."""


@click.command(short_help="Judge every client that connects.")
@_with(*_OPTIONS, *_ENDS)
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="Port (default: a free one).")
@PRODUCT
@MAX_MESSAGE
@LENIENT
@click.option("--hostile", default="", metavar="CASE", help="Misbehave as in this case, on every connection.")
@click.option(
    "--judge/--no-judge", default=True, show_default=True, help="Judge the clients, or only serve them."
)
def serve(host: str, port: int, hostile: str, judge: bool, **options: Any) -> None:
    """Serve the reference broker and judge what each client sends, until SIGINT, SIGTERM or a limit.

    A client that opens the virtual host of a hostile case (see: amqpspec list -d amqp-0-9-1-clients) is served by that
    server.
    """
    if not judge:
        from amqpspec.cli.brokers import reference

        words = [options["dialect"], "--host", host, "--port", str(port), "--product", options["product"]]
        words += ["--max-message", str(options["max_message_mib"])]
        words += ["--lenient"] if options["lenient"] else []
        reference.main(words, prog_name="amqpspec serve")
    asked = _asked("serve", options, options["name"] or "clients", hostile)

    def source(watch: Watch, halt: threading.Event) -> None:
        from amqpspec.cli.brokers import begin
        from amqpspec.reference.core import PRODUCT as SERVED_AS
        from amqpspec.reference.server import ReferenceBroker
        from amqpspec.reference.tap import Manners, tapped

        every, by_place = _hostilities(asked, watch)
        manners = Manners(watch.reading, every, by_place)
        broker = ReferenceBroker(
            watch.server_dialect,
            host=host,
            port=port,
            through=tapped(watch, manners),
            vhosts=tuple(by_place),
            product=options["product"] or SERVED_AS,
            forgave=watch.forgave if options["lenient"] else None,
            refused=watch.refused,
            max_message_octets=options["max_message_mib"] << 20,
        )
        begin(broker)
        try:
            click.echo(broker.url)
            halt.wait()
        finally:
            broker.stop()

    _observe(asked, source)


@click.command(short_help="Judge clients and servers in a capture.")
@click.argument("capture", type=click.Path(path_type=Path))
@_with(*_OPTIONS)
def watch(capture: Path, **options: Any) -> None:
    """Judge client and server of each connection that begins in a capture (pcap or pcapng)."""
    asked = _asked("watch", options, options["name"] or capture.stem)

    def source(watch: Watch, halt: threading.Event) -> None:
        from amqpspec.wire.flows import tell_capture

        skipped = tell_capture(capture, watch)
        if skipped.begun_before:
            click.echo(
                f"{len(skipped.begun_before)} connections began before the capture and are not judged",
                err=True,
            )

    _observe(asked, source)


@click.command(short_help="Pass clients on to a broker and judge both.")
@click.option(
    "--listen", default="127.0.0.1:0", show_default=True, metavar="[HOST]:PORT", help="Where to listen."
)
@click.option("--to", "to_url", required=True, metavar="URL", help="The broker.")
@_with(*_OPTIONS, *_ENDS)
def proxy(listen: str, to_url: str, **options: Any) -> None:
    """Pass every connection on to a broker, and judge what both sides send, until SIGINT, SIGTERM or a limit."""
    from amqpspec.net.relay import Listening, pass_on
    from amqpspec.target.config import ConfigError
    from amqpspec.target.live import endpoint_of
    from amqpspec.target.url import UrlError, parse_url

    host, _, port = listen.rpartition(":")
    if not port.isdecimal() or int(port) > 65_535:
        stop(Exit.USAGE, f"--listen: expected [HOST]:PORT, actual {listen!r}")
    place = Listening(host.strip("[]") or "127.0.0.1", int(port))
    try:
        url = parse_url(to_url)
        if url.path:
            raise UrlError("expected scheme amqp or amqps, actual a WebSocket")
        endpoint = endpoint_of(url)
    except (UrlError, ConfigError) as error:
        stop(Exit.USAGE, f"--to: {error}")
    asked = _asked("proxy", options, options["name"] or "clients")

    def source(watch: Watch, halt: threading.Event) -> None:
        pass_on(
            place, endpoint, watch, halt, lambda at: click.echo(f"listening on {at.host}, port {at.port}")
        )

    _observe(asked, source)


def _asked(verb: str, options: Mapping[str, Any], name: str, chosen: str = "") -> Observation:
    from amqpspec.run.case import load_suite
    from amqpspec.run.clients.provoking import provocations_of

    dialect = judged_dialect(options["dialect"])
    load_suite(dialect)
    if chosen and chosen not in provocations_of(dialect):
        stop(Exit.USAGE, f"--hostile: expected a hostile case of {dialect}, actual {chosen!r}")
    return Observation(verb, name, dialect, options, chosen)


def _hostilities(asked: Observation, watch: Watch) -> tuple[Hostility | None, dict[str, Hostility]]:
    """The hostility for every connection, and for connections that open the virtual host of a case.

    A server that violates the specification before it knows the virtual host cannot be selected by it.
    """
    from amqpspec.run.clients.provoking import provocations_of

    known = provocations_of(asked.dialect)
    if asked.chosen:
        watch.provoked = lambda talk: asked.chosen
        return replace(known[asked.chosen], connection=None), {}
    early = watch.reading.before_place
    by_place = {case: deed for case, deed in known.items() if deed.after not in early}

    def provoked(talk: Talk) -> str:
        place = watch.reading.place(talk) or ""
        return place if place in by_place else ""

    watch.provoked = provoked
    return None, by_place


def _observe(asked: Observation, source: Callable[[Watch, threading.Event], None]) -> None:
    """Judge the connections of a source; ends with the exit code of the run."""
    with one_line_errors():
        document = _run(asked, source)
    raise click.exceptions.Exit(document["exit_code"])


def _run(asked: Observation, source: Callable[[Watch, threading.Event], None]) -> dict[str, Any]:
    from amqpspec.cli.certify import RunRequest, finish, stopping
    from amqpspec.cli.client import client_run, forgiven
    from amqpspec.cli.place import make_room, only_run_in, usual_place
    from amqpspec.record.journal import Journal
    from amqpspec.run.baseline import read_baseline
    from amqpspec.run.case import load_suite
    from amqpspec.run.clients.roles import about
    from amqpspec.run.clients.watching import Watch
    from amqpspec.spec.model import Side
    from amqpspec.target.config import Target

    options = asked.options
    target = Target(asked.name, dialect=asked.dialect)
    folder = options["out"] or usual_place(asked.name)
    baseline = read_baseline(options["baseline_file"]) if options["baseline_file"] else None
    # Our own server is not judged.
    roles = (Side.CLIENT,) if asked.verb == "serve" else (Side.CLIENT, Side.SERVER)
    suite = about(load_suite(asked.dialect), *roles)
    halt = threading.Event()
    with ExitStack() as stack:
        stack.enter_context(only_run_in(folder))
        make_room(folder, force=options["force"])
        stack.enter_context(stopping(halt))
        journal = stack.enter_context(Journal(folder))
        journal.run(client_run(folder.name, target, f"amqpspec {asked.verb}"))
        tell = stack.enter_context(_Telling(options, halt))
        with Watch(asked.dialect, folder, suite, journal, tell) as watch:
            source(watch, halt)
        plan = _plan(suite, {row.id for row in watch.rows()}, journal)
        journal.end(complete=True)
    request = RunRequest(
        target,
        (),
        folder,
        options["junit"],
        strict=options["strict"],
        quiet=options["quiet"],
        note=forgiven(watch.forgiven),
    )
    return finish(request, folder, plan, baseline, partial=False)


def _plan(suite: Mapping[str, Case], met: set[str], journal: Any) -> Sequence[Planned]:
    """A row for every case, including those that applied to no connection."""
    from amqpspec.record.rows import BlockedBy, Outcome
    from amqpspec.run.clients.provoking import provocations_of
    from amqpspec.run.plan import Planned

    unasked = (Outcome.EXCLUDED, "no connection selected this server", BlockedBy.SELECTION)
    unseen = (Outcome.NOT_APPLICABLE, "no connection did what the case is about", BlockedBy.PROFILE)
    plan = []
    for case in suite.values():
        is_hostile = case.id in provocations_of(case.dialect)
        planned = Planned(case, *(() if case.id in met else unasked if is_hostile else unseen))
        plan.append(planned)
        if planned.outcome is not None:
            journal.case(planned.row())
    return plan


class _Telling:
    """Prints a line for each connection, updates the live page, and ends the run at its limits."""

    def __init__(self, options: Mapping[str, Any], halt: threading.Event) -> None:
        from amqpspec.reports.live import LivePage

        self._quiet, self._halt = options["quiet"], halt
        self._left = options.get("connections")
        self._timer = threading.Timer(options["seconds_s"], halt.set) if options.get("seconds_s") else None
        self._page = LivePage(options["page_port"] or 0) if "page_port" in options else None

    def __call__(self, judged: Judged) -> None:
        if self._page is not None:
            self._page.add(judged)
        if not self._quiet:
            click.echo(_line(judged), err=True)
        if self._left is not None:
            self._left -= 1
            if self._left <= 0:
                self._halt.set()

    def __enter__(self) -> _Telling:
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()
        if self._page is not None:
            click.echo(f"live page: {self._page.start()}", err=True)
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._page is not None:
            self._page.stop()


def _line(judged: Judged) -> str:
    from amqpspec.reports.live import said

    let_pass = f"; forgiven: {', '.join(judged.forgiven)}" if judged.forgiven else ""
    refused = f"; refused: {judged.refused}" if judged.refused else ""
    return f"connection {judged.number} from {judged.remote}: {said(judged)}{let_pass}{refused}"
