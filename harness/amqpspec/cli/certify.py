"""A run from request to reports: plan, engine, journal, baseline, exit code; every path ends with complete reports.

Knows: the steps and their order. Must not know: how a step works, the syntax of the command line.
"""

from __future__ import annotations

import platform
import shutil
import signal
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from amqpspec.cli.hosted import tell_host
from amqpspec.cli.place import make_room, only_run_in, recorded_target, usual_place
from amqpspec.cli.progress import Progress
from amqpspec.net.clock import today, utc_now
from amqpspec.peer.context import Patience
from amqpspec.record.drafts import remove_drafts
from amqpspec.record.journal import Journal, read_cases, read_run
from amqpspec.record.rows import BlockedBy, CaseRow, Outcome, RunRow, TargetRow
from amqpspec.reports.checksums import SUMS, load_intact, write_sums
from amqpspec.reports.json_report import ledger_json, write_results
from amqpspec.reports.load import load_run
from amqpspec.run.baseline import Baseline, read_baseline
from amqpspec.run.case import Case, load_suite
from amqpspec.run.driver import Identity, ProbeFailed
from amqpspec.run.engine import Engine, Settings, meet
from amqpspec.run.execute import World
from amqpspec.run.exits import Exit
from amqpspec.run.made import Notes, kept_by
from amqpspec.run.plan import Limits, Planned, make_plan
from amqpspec.run.recorded import Stopped
from amqpspec.run.results import Results, judge, last_attempts
from amqpspec.run.room import room_for
from amqpspec.run.select import select, with_files
from amqpspec.run.shard import Shard
from amqpspec.run.sweep import sweep
from amqpspec.target.config import ConfigError, Target
from amqpspec.target.known import BrokerError
from amqpspec.target.live import TargetError, live

_UNRUN = "the run was stopped before this case"


@dataclass(frozen=True, slots=True)
class RunRequest:
    """The request of the user."""

    target: Target
    patterns: Sequence[str] = ()
    out: Path | None = None
    junit: Path | None = None
    ctrf: Path | None = None
    connections: int | None = None
    patience: float = 1.0
    repeat: int = 1
    strict: bool = False
    baseline_file: Path | None = None
    no_baseline: bool = False
    exclude: Sequence[str] = ()
    shard: Shard | None = None
    durations: Path | None = None
    shared_target: bool = False
    faults: Sequence[str] = ()
    resume: Path | None = None
    force: bool = False
    pcap: bool = False
    evidence: str = "sample"
    quiet: bool = False
    amiss: str = ""
    """Why the target is known to be unreachable before a connection is tried; empty if it is not."""
    note: str = ""
    """Remarks from the time of the run; they are added to its reports."""


def certify(request: RunRequest) -> dict[str, Any]:
    """Run and report; returns the results document. Raises the errors that ``one_line_errors`` handles."""
    baseline = _baseline(request)
    suite, patterns = with_files(load_suite(request.target.dialect), request.patterns, request.target.dialect)
    cases = _sharded(select(suite, patterns), request)
    excluded = {case.id for case in select(suite, request.exclude)} if request.exclude else set()
    limits = Limits(excluded, request.shared_target)
    folder = _place(request)
    stop = threading.Event()
    notes = Notes(request.target.name, request.target.dialect)
    with ExitStack() as stack:
        stack.enter_context(only_run_in(folder))
        _prepare(folder, request)
        stack.enter_context(notes.noted(folder))
        stack.enter_context(stopping(stop))
        row = _run_row(request, folder)
        try:
            if request.amiss:
                raise ProbeFailed(request.amiss)
            target = stack.enter_context(live(request.target, faults=request.faults))
            row = replace(row, target=replace(row.target, url=target.url.redacted))
            journal = stack.enter_context(Journal(folder))
            world = World(target, folder, folder.name[-33:], Patience(), stop)
            world, identity = meet(replace(world, made=kept_by(journal)), journal)
            swept = stack.enter_context(ExitStack())
            swept.callback(sweep, world, notes, folder)
            sweep(world, notes, folder)
        except (ProbeFailed, TargetError, BrokerError) as failed:
            return _not_reached(request, row, folder, cases, str(failed))
        except Stopped:
            journal.run(row)
            return finish(request, folder, [Planned(case) for case in cases], baseline, partial=True)
        row = replace(row, target=_announced(row.target, identity))
        row = replace(row, note="; ".join(filter(None, (row.note, identity.note))))
        journal.run(row)
        scale = request.patience * request.target.patience
        patience = Patience.measured(identity.round_trip_s, scale, request.target.ending_s)
        plan = make_plan(cases, target, identity.lacks, limits)
        with _broken_off(request, folder, plan, baseline):
            complete = _run(request, replace(world, patience=patience), journal, plan)
        swept.close()
        journal.end(complete=complete)
        document = finish(request, folder, plan, baseline, partial=not complete)
        if not complete:
            click.echo(f"stopped: continue with the same command and --resume {folder}", err=True)
        return document


@contextmanager
def _broken_off(
    request: RunRequest, folder: Path, plan: Sequence[Planned], baseline: Baseline | None
) -> Iterator[None]:
    """An unexpected error ends the run like a stop: its reports are written and marked partial."""
    try:
        yield
    except Exception:
        with suppress(Exception):
            finish(request, folder, plan, baseline, partial=True)
        raise


def _run(request: RunRequest, world: World, journal: Journal, plan: Sequence[Planned]) -> bool:
    """Run the rest of a plan; returns whether it finished."""
    left = _left(plan, request)
    progress = Progress(len(left) * request.repeat, request.quiet)
    room = room_for(request.connections or request.target.connections)
    for line in room.says:
        click.echo(line, err=True)
    settings = Settings(room.at_once, request.repeat, request.target.fresh)
    engine = Engine(world, journal, settings, [progress.saw])
    with progress:
        return engine.run(left)


def finish(
    request: RunRequest, folder: Path, plan: Sequence[Planned], baseline: Baseline | None, *, partial: bool
) -> dict[str, Any]:
    """From the journal to all reports; returns the results document."""
    row = replace(read_run(folder), ended=utc_now(), partial=partial, strict=request.strict)
    row = replace(row, note="; ".join(filter(None, (row.note, request.note))))
    fitting = baseline if baseline and baseline.applies_to(row.target.version) else None
    if baseline is not fitting:
        assert baseline is not None
        unfit = (
            f"baseline {baseline.path} is for versions {baseline.versions}, not for {row.target.version!r}"
        )
        row = replace(row, note="; ".join(filter(None, (row.note, unfit))))
    rows = _whole(last_attempts(folder), plan, _UNRUN, BlockedBy.STOPPED)
    unasked = load_suite(request.target.dialect).keys() - {row.id for row in rows}
    results = judge(rows, fitting, today(), unasked, strict=request.strict, partial=partial)
    return _report(request, row, results, folder)


def _whole(rows: Sequence[CaseRow], plan: Sequence[Planned], why: str, by: BlockedBy) -> list[CaseRow]:
    """A row for each case of the plan, in the order of the suite; a case without one is blocked."""
    known = {row.id: row for row in rows}
    for planned in plan:
        if planned.case.id not in known:
            blocked = replace(planned, outcome=Outcome.BLOCKED, reason=why, blocked_by=by)
            known[planned.case.id] = (planned if planned.outcome else blocked).row()
    places = {name: place for place, name in enumerate(_suite_of(known.values()))}
    return sorted(known.values(), key=lambda row: places.get(row.id, len(places)))


def _suite_of(rows: Iterable[CaseRow]) -> Iterator[str]:
    for dialect in sorted({row.dialect for row in rows}):
        yield from load_suite(dialect)


def _report(request: RunRequest, row: RunRow, results: Results, folder: Path) -> dict[str, Any]:
    # Imported here: templates and JUnit take time to load, which a run that does not begin need not spend.
    from amqpspec.cli.conclusion import conclude
    from amqpspec.reports.ctrf import write_ctrf
    from amqpspec.reports.html.page import Evidence
    from amqpspec.reports.render import render_all
    from amqpspec.reports.summary import headline

    requirements = ledger_json(request.target.dialect)
    write_results(folder, row, results.rows, requirements, int(results.exit_code), list(results.stale))
    run = load_run(folder)
    paths = render_all(run, Evidence(request.evidence))
    if not row.partial:
        write_sums(folder)
    if request.pcap:
        _captures(folder, results.rows)
    _point_latest(folder)
    conclude(run, request.quiet)
    tell_host(folder)
    if request.junit is not None:
        request.junit.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(paths["junit.xml"], request.junit)
    if request.ctrf is not None:
        write_ctrf(request.ctrf, run)
    tally = results.tally.to_json()
    cases = [case.to_json() for case in results.rows]
    return {
        **tally,
        "says": headline(run),
        "exit_code": int(results.exit_code),
        "stale_baseline": list(results.stale),
        "cases": cases,
    }


def _captures(folder: Path, rows: Sequence[CaseRow]) -> None:
    from amqpspec.record.capture import write_capture

    for row in rows:
        if row.evidence:
            write_capture(folder / row.evidence)


def _not_reached(
    request: RunRequest, row: RunRow, folder: Path, cases: Sequence[Case], why: str
) -> dict[str, Any]:
    """The target was not reached: the reports show every case as blocked, and a resumed run runs them all."""
    row = replace(row, note=why)
    with Journal(folder) as journal:
        journal.run(row)
        journal.end(complete=False)
    rows = _whole(last_attempts(folder), [Planned(case) for case in cases], why, BlockedBy.NOT_REACHED)
    results = judge(rows, None, today(), strict=request.strict, partial=True)
    results = replace(results, exit_code=Exit.TARGET)
    _report(request, replace(row, ended=utc_now(), partial=True), results, folder)
    raise ProbeFailed(f"{request.target.name}: {why}")


def _sharded(cases: list[Case], request: RunRequest) -> list[Case]:
    """The cases of the requested shard, or all cases."""
    if request.shard is None:
        return cases
    taken_ms: dict[str, float] = {}
    if request.durations is not None:
        taken_ms = {row.id: row.duration_ms for row in load_intact(request.durations).cases}
    return request.shard.part(cases, taken_ms)


def _baseline(request: RunRequest) -> Baseline | None:
    path = request.baseline_file or request.target.baseline
    if request.no_baseline or path is None:
        return None
    return read_baseline(path)


def _left(plan: Sequence[Planned], request: RunRequest) -> list[Planned]:
    """The remaining cases of a resumed run: those with missing attempts, and those blocked by a dead target."""
    if request.resume is None:
        return list(plan)
    done = {row.id for row in read_cases(request.resume) if _is_done(row, request.repeat)}
    return [planned for planned in plan if planned.case.id not in done]


def _is_done(row: CaseRow, repeat: int) -> bool:
    if row.verdict is Outcome.BLOCKED:
        return row.is_blocked_by_configuration
    return not row.evidence or row.attempt >= repeat


def _place(request: RunRequest) -> Path:
    """The folder of the run."""
    return request.resume or request.out or usual_place(request.target.name)


def _prepare(folder: Path, request: RunRequest) -> None:
    if request.resume is not None:
        _check_same_target(folder, request.target)
        (folder / SUMS).unlink(missing_ok=True)
        remove_drafts(folder)
    else:
        make_room(folder, force=request.force)


def _check_same_target(folder: Path, target: Target) -> None:
    known = recorded_target(folder)
    if (known.name, known.dialect) != (target.name, target.dialect):
        raise ConfigError(
            f"{folder} is a run against {known.name} ({known.dialect}): expected the same target (its URL, or"
            f" --target), actual {target.name} ({target.dialect})"
        )


def _run_row(request: RunRequest, folder: Path) -> RunRow:
    target = request.target
    url = target.url.redacted if target.url else ""
    row = begun(
        folder.name,
        TargetRow(target.name, url, target.dialect, target.profile),
        f"amqpspec run {target.name} {' '.join(request.patterns)}".strip(),
    )
    return replace(row, note=f"faults: {', '.join(request.faults)}" if request.faults else "")


def begun(id: str, target: TargetRow, command: str) -> RunRow:
    """The row of a run that begins now, on this machine."""
    return RunRow(
        id=id,
        target=target,
        suite_version=version("amqpspec"),
        started=utc_now(),
        command=command,
        platform=f"Python {platform.python_version()} on {platform.system()} {platform.machine()}",
    )


def _announced(row: TargetRow, identity: Identity) -> TargetRow:
    announced: Mapping[str, Any] = identity.announced
    return replace(row, product=identity.product, version=identity.version, announced=announced)


@contextmanager
def stopping(stop: threading.Event) -> Iterator[None]:
    """SIGTERM and SIGINT end the run in order: finished cases keep their verdicts, and the reports are marked
    partial.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    known = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    for number in known:
        signal.signal(number, lambda *_: stop.set())
    try:
        yield
    finally:
        for number, handler in known.items():
            signal.signal(number, handler)


def _point_latest(folder: Path) -> None:
    """Point ``latest`` next to the run's folder to it, if the system supports links."""
    if folder.parent.name != "out":
        return
    link = folder.parent / "latest"
    try:
        if link.is_symlink():
            link.unlink()
        if not link.exists():
            link.symlink_to(folder.name)
    except OSError:
        return
