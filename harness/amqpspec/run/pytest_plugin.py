"""``pytest --pyargs amqpspec.suites --amqp-target URL``: the same cases and runner, under pytest's own control.

Knows: pytest's hooks. Must not know: how cases run, where suites lie. Nothing of the harness is imported until a target
is given: pytest loads this module in every project of an environment, whatever is tested there.
pytest selects (-k, --lf, node ids), reports (--junitxml) and exits; the cases that it selected run concurrently as
usual and each item waits for its own row. ``-x`` stops the rest. Under xdist each worker has a separate folder, and
runs a case when it is that one's turn.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from amqpspec.record.rows import CaseRow
    from amqpspec.run.case import Case
    from amqpspec.run.plan import Planned

_KEY = pytest.StashKey["_BackgroundRun"]()


class DeviationError(Exception):
    """A case got another verdict than a green one."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options that name and treat a target."""
    group = parser.getgroup("amqpspec", "AMQP conformance")
    group.addoption("--amqp-target", help="URL, reference[:DIALECT], or a name in targets.yaml")
    group.addoption(
        "--amqp-connections", type=_above_zero(int), help="cases at once (default: the target's, else 16)"
    )
    group.addoption("--amqp-patience", type=_above_zero(float), default=1.0, help="scales every wait")
    group.addoption("--amqp-strict", action="store_true", help="a SHOULD not kept is a failure")
    group.addoption("--amqp-out", help="folder for journal and evidence (default out/pytest/TIME)")


def _above_zero(kind: Callable[[str], float]) -> Callable[[str], float]:
    def read(text: str) -> float:
        if not 0 < (number := kind(text)) < math.inf:
            raise ValueError
        return number

    read.__name__ = "number above 0"
    return read


def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Keep pytest from importing a suite's package a second time, as ``suites`` of wherever it found it."""
    if parent.config.getoption("--amqp-target") is None:
        return None
    folders = {near for file in _cases_by_file() for near in file.parents[:2]}
    return pytest.Dir.from_parent(parent, path=path) if path.resolve() in folders else None


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Suite modules, once there is a target; one that is named comes by ``pytest_pycollect_makemodule``."""
    if file_path.suffix != ".py" or parent.session.isinitpath(file_path):
        return None
    return pytest_pycollect_makemodule(file_path, parent)


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A suite module takes the place of what pytest would make of the file."""
    if parent.config.getoption("--amqp-target") is None or module_path.resolve() not in _cases_by_file():
        return None
    return SuiteFile.from_parent(parent, path=module_path)


@cache
def _cases_by_file() -> Mapping[Path, Sequence[Case]]:
    """The cases of every suite by the file that declares them."""
    import sys

    from amqpspec.run.case import load_suite
    from amqpspec.spec.dialects import certified_dialects

    found: dict[Path, list[Case]] = {}
    for dialect in certified_dialects():
        for case in load_suite(dialect).values():
            file = sys.modules[case.body.__module__].__file__ or ""
            found.setdefault(Path(file).resolve(), []).append(case)
    return found


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out cases of another dialect than the target's: they would drive it in a language it does not speak."""
    name = config.getoption("--amqp-target")
    if name is None:
        return
    from amqpspec.target.config import ConfigError
    from amqpspec.target.find import find_target

    try:
        dialect = find_target(name).dialect
    except ConfigError as error:
        raise pytest.UsageError(" ".join(str(error).split())) from error
    others = [item for item in items if isinstance(item, CaseItem) and item.case.dialect != dialect]
    if others:
        config.hook.pytest_deselected(items=others)
        left_out = {*others}
        items[:] = [item for item in items if item not in left_out]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Start to run what pytest selected."""
    items = [item for item in session.items if isinstance(item, CaseItem)]
    if items and not session.config.option.collectonly:
        session.config.stash[_KEY] = _BackgroundRun(session.config, [item.case for item in items])


def pytest_sessionfinish(session: pytest.Session) -> None:
    """End the run, finished or not."""
    running = session.config.stash.get(_KEY, None)
    if running is not None:
        running.close()


class SuiteFile(pytest.File):
    """One module of a suite."""

    def collect(self) -> Iterator[pytest.Item]:
        """Its cases, by their permanent ids."""
        for case in _cases_by_file()[self.path.resolve()]:
            yield CaseItem.from_parent(self, name=case.id, case=case)


class CaseItem(pytest.Item):
    """One case."""

    def __init__(self, *, case: Case, **rest: Any) -> None:
        super().__init__(**rest)
        self.case = case
        self.user_properties += [("requirement", name) for name in case.covers]
        self.user_properties.append(("level", str(case.level)))

    def runtest(self) -> None:
        """Wait for the case's row and judge it."""
        from amqpspec.record.rows import Outcome

        run = self.config.stash[_KEY]
        if _worker(self.config) and (self.case.restarts or self.case.heavy):
            pytest.skip("this case runs with nothing beside it: run it without xdist")
        row = run.row(self.case.id)
        if row.verdict in (Outcome.NOT_APPLICABLE, Outcome.EXCLUDED) or row.baseline == "known":
            pytest.skip(f"{row.verdict}: {row.reason}")
        if row.is_blocked_by_configuration:
            pytest.skip(f"blocked by configuration: {row.reason}")
        strict = self.config.getoption("--amqp-strict")
        if row.verdict in (Outcome.PASS, Outcome.OBSERVED):
            return
        if row.verdict is Outcome.NONSTRICT and not strict:
            self.add_report_section("call", "nonstrict", _text(row, run.folder))
            return
        raise DeviationError(_text(row, run.folder))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> str | Any:
        """Expected, observed, where to look; a traceback only for our own errors."""
        if isinstance(excinfo.value, DeviationError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the case stands."""
        file, line = self.case.place
        return Path(file), line, self.case.id


def _worker(config: pytest.Config) -> str:
    """The name of this process among xdist's workers; empty if there are none."""
    return str(getattr(config, "workerinput", {}).get("workerid", ""))


def _text(row: CaseRow, folder: Path) -> str:
    evidence = folder / row.evidence if row.evidence else "none"
    return (
        f"{row.verdict}: {row.title}\n  expected: {row.expected}\n  observed: {row.observed or row.reason}\n"
        f"  requirements: {', '.join(row.requirements)}\n  evidence: {evidence}"
    )


class _BackgroundRun:
    """The engine at work behind pytest's loop."""

    def __init__(self, config: pytest.Config, cases: Iterable[Case]) -> None:
        self._rows: dict[str, CaseRow] = {}
        self._changed = threading.Condition()
        self._stop = threading.Event()
        self._stack = ExitStack()
        self._error: BaseException | None = None
        self._thread: threading.Thread | None = None
        self._one: dict[str, Planned] = {}
        try:
            self._start(config, list(cases))
        except Exception as error:
            self._stack.close()
            raise pytest.UsageError(" ".join(str(error).split())) from error

    def _start(self, config: pytest.Config, cases: list[Case]) -> None:
        from dataclasses import replace

        from amqpspec.net.clock import today, utc_now
        from amqpspec.peer.context import Patience
        from amqpspec.record.journal import Journal
        from amqpspec.record.lock import locked_folder
        from amqpspec.run.baseline import read_baseline
        from amqpspec.run.engine import Engine, Settings, meet
        from amqpspec.run.execute import World
        from amqpspec.run.made import Notes, kept_by
        from amqpspec.run.plan import make_plan
        from amqpspec.run.sweep import sweep
        from amqpspec.target.find import find_target
        from amqpspec.target.live import live

        self._today = today()
        target = find_target(config.getoption("--amqp-target"))
        self._baseline = read_baseline(target.baseline) if target.baseline else None
        stamp = utc_now().replace(":", "").replace("-", "")
        folder = Path(config.getoption("--amqp-out") or f"out/pytest/{stamp}") / _worker(config)
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        notes = Notes(target.name, target.dialect)
        self._stack.enter_context(locked_folder(folder))
        self._stack.enter_context(notes.noted(folder))
        running = self._stack.enter_context(live(target))
        journal = self._stack.enter_context(Journal(folder))
        world = World(running, folder, "pytest", Patience(), self._stop, made=kept_by(journal))
        world, identity = meet(world, journal)
        sweep(world, notes, folder)
        self._stack.callback(sweep, world, notes, folder)
        if self._baseline is not None and not self._baseline.applies_to(identity.version):
            self._baseline = None
        scale = config.getoption("--amqp-patience") * target.patience
        world = replace(world, patience=Patience.measured(identity.round_trip_s, scale, target.ending_s))
        connections = config.getoption("--amqp-connections") or target.connections
        settings = Settings(connections, fresh=target.fresh)
        plan = make_plan(cases, running, identity.lacks)

        def run(part: Sequence[Planned]) -> None:
            Engine(world, journal, settings, [self._saw]).run(part)

        if _worker(config):
            # xdist gives each worker all items and has it run some: which ones shows when their turn comes.
            self._one = {planned.case.id: planned for planned in plan}
            self._run_one = run
            return
        self._thread = threading.Thread(target=self._run, args=(run, plan), name="engine")
        self._thread.start()

    def _run(self, run: Callable[[Sequence[Planned]], None], plan: Sequence[Planned]) -> None:
        try:
            run(plan)
        except Exception as error:
            self._error = error
        finally:
            with self._changed:
                self._stop.set()
                self._changed.notify_all()

    def _saw(self, row: CaseRow) -> None:
        with self._changed:
            self._rows[row.id] = row
            self._changed.notify_all()

    def row(self, case_id: str) -> CaseRow:
        """The row of a case, as soon as there is one."""
        from amqpspec.run.baseline import apply

        if case_id in self._one:
            self._run_one([self._one.pop(case_id)])
        with self._changed:
            self._changed.wait_for(lambda: case_id in self._rows or self._stop.is_set())
            if case_id not in self._rows:
                raise self._error or RuntimeError(f"{case_id} was not run")
            return apply([self._rows[case_id]], self._baseline, self._today)[0][0]

    def close(self) -> None:
        """Stop what still runs."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        self._stack.close()
