"""The progress of a running campaign: a live view on a terminal, plain lines elsewhere, or JSON lines.

Knows: rich, standard error, which facts are shown. Must not know: how campaigns run, what is written when they end.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import click

from amqpspec.cli.common import interactive
from amqpspec.fuzz.campaign.tally import COVERED, OPEN, cells_in_words
from amqpspec.net.clock import monotonic_s
from amqpspec.reports.campaign.words import FAMILIES
from amqpspec.reports.html.targets import duration
from amqpspec.reports.text import one_line

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from amqpspec.fuzz.campaign.progress import Progress
    from amqpspec.fuzz.triage.findings import Finding

PLAIN_EVERY_S, LINES_EVERY_S = 30.0, 1.0
_LAST_FINDINGS = 5
_BAR_WIDTH = 24


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A campaign between two batches; ``families`` has (finished, planned) cells of each family.

    A cell is finished if it is covered, stopped or not reachable; ``covered`` is the number of those that are covered.
    """

    target: str
    dialect: str
    seconds_s: float
    inputs: int
    random: int
    response_states: int
    families: Mapping[str, tuple[int, int]]
    covered: int
    stopped: int
    not_reachable: int
    states: tuple[int, int]
    findings: tuple[Finding, ...]
    rss_octets: int
    cpu_s: float

    @classmethod
    def of(cls, progress: Progress) -> Snapshot:
        """An immutable snapshot of a campaign."""
        tally, cells = progress.tally, progress.cells
        how = {cell.key: tally.cells.get(cell.key, (OPEN, ""))[0] for cell in cells}
        figures = tally.figures(len(cells))
        families: dict[str, tuple[int, int]] = {}
        for cell in cells:
            have, all = families.get(cell.family, (0, 0))
            families[cell.family] = have + (how[cell.key] != OPEN), all + 1
        reached = {cell.state for cell in cells if how[cell.key] == COVERED}
        return cls(
            progress.subject.name, progress.subject.dialect, tally.seconds_s, tally.inputs, tally.random,
            len(progress.energy.seen), families, figures["covered"], figures["stopped"],
            figures["not_reachable"], (len(reached), len({cell.state for cell in cells})), tuple(progress.findings),
            progress.check.rss_octets, progress.check.cpu_s,
        )  # fmt: skip

    @property
    def cells(self) -> tuple[int, int]:
        """The numbers of finished and of planned cells."""
        return sum(done for done, _ in self.families.values()), sum(all for _, all in self.families.values())

    @property
    def rate_per_s(self) -> float:
        """Inputs per second since the campaign began."""
        return self.inputs / self.seconds_s if self.seconds_s else 0.0

    def line(self) -> str:
        """All of it in one line."""
        cells = cells_in_words(self.covered, self.cells[1], self.stopped, self.not_reachable)
        return (
            f"{self.inputs} inputs, {self.rate_per_s:.0f}/s, cells {cells}, "
            f"{self.response_states} response states, {len(self.findings)} findings"
        )

    def to_json(self) -> dict[str, Any]:
        """A ``progress`` line."""
        done, planned = self.cells
        return {
            "kind": "progress", "seconds": round(self.seconds_s, 1), "inputs": self.inputs, "random": self.random,
            "rate_per_s": round(self.rate_per_s, 1), "cells_done": done, "cells_covered": self.covered,
            "cells_planned": planned, "response_states": self.response_states, "findings": len(self.findings),
            "rss_octets": self.rss_octets, "cpu_s": round(self.cpu_s, 3),
        }  # fmt: skip


class View:
    """A view that shows nothing, the base of the others. ``notify`` is called after each batch, ``end`` once."""

    def notify(self, progress: Progress) -> None:
        """A batch has ended."""

    def end(self, summary: Mapping[str, Any]) -> None:
        """The campaign has ended."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None


class _News(View):
    """Shows each finding, and the progress every ``every_s``."""

    def __init__(self, every_s: float, clock: Callable[[], float] = monotonic_s) -> None:
        self._every_s, self._clock = every_s, clock
        self._last_s, self._known = clock(), 0

    def notify(self, progress: Progress) -> None:
        """A batch has ended."""
        for finding in progress.findings[self._known :]:
            self.found(finding)
        self._known = len(progress.findings)
        if self._clock() - self._last_s >= self._every_s:
            self._last_s = self._clock()
            self.stands(Snapshot.of(progress))

    def found(self, finding: Finding) -> None:
        """There is a finding."""
        raise NotImplementedError

    def stands(self, now: Snapshot) -> None:
        """Show the progress."""
        raise NotImplementedError


class PlainView(_News):
    """Lines of text."""

    def __init__(self, clock: Callable[[], float] = monotonic_s) -> None:
        super().__init__(PLAIN_EVERY_S, clock)

    def found(self, finding: Finding) -> None:
        """There is a finding."""
        click.echo(f"found: {in_words(finding)}", err=True)

    def stands(self, now: Snapshot) -> None:
        """Show the progress."""
        click.echo(f"{duration(now.seconds_s)}: {now.line()}", err=True)


class LinesView(_News):
    """One JSON object per line: ``progress``, ``finding``, ``end``."""

    def __init__(self, clock: Callable[[], float] = monotonic_s) -> None:
        super().__init__(LINES_EVERY_S, clock)

    def found(self, finding: Finding) -> None:
        """There is a finding."""
        said = finding.to_json()
        names = (
            "signature",
            "status",
            "oracle",
            "family",
            "state",
            "top",
            "input",
            "requirement",
            "found_after_s",
        )
        self._say({"kind": "finding", "folder": f"findings/{finding.name}", **{n: said[n] for n in names}})

    def stands(self, now: Snapshot) -> None:
        """Show the progress."""
        self._say(now.to_json())

    def end(self, summary: Mapping[str, Any]) -> None:
        """The campaign has ended."""
        names = ("ended", "exit_code", "inputs", "seconds", "covered", "not_reachable", "stopped", "open")
        said = {name: summary[name] for name in names}
        self._say({"kind": "end", **said, "findings": len(summary["findings"])})

    def _say(self, line: Mapping[str, Any]) -> None:
        click.echo(json.dumps(line), err=True)


class LiveView(View):
    """A table that is redrawn in place, also while a finding is blamed and no batch ends."""

    def __init__(
        self, budget_s: float, console: Console | None = None, clock: Callable[[], float] = monotonic_s
    ) -> None:
        from rich.console import Console
        from rich.live import Live

        self._budget_s, self._clock, self._begun_s = budget_s, clock, clock()
        self._now: Snapshot | None = None
        self._first: Snapshot | None = None
        self._rate_per_s = 0.0
        self._live = Live(
            get_renderable=self.render,
            console=console or Console(stderr=True),
            transient=True,
            refresh_per_second=4,
        )

    def notify(self, progress: Progress) -> None:
        """A batch has ended."""
        now, before = Snapshot.of(progress), self._now
        self._first = self._first or now
        if before is not None and now.seconds_s > before.seconds_s:
            self._rate_per_s = (now.inputs - before.inputs) / (now.seconds_s - before.seconds_s)
        # One assignment: the thread that draws sees either the old or the new snapshot.
        self._now = now

    def __enter__(self) -> Self:
        self._begun_s = self._clock()
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def render(self) -> RenderableType:
        """The current view."""
        from rich.console import Group
        from rich.text import Text

        now, spent_s = self._now, self._clock() - self._begun_s
        clock = f"{duration(spent_s)} of {duration(self._budget_s)}"
        if now is None:
            return Text(f"first batch in progress, {clock}", no_wrap=True, overflow="ellipsis")
        return Group(
            Text(one_line(f"{now.target} ({now.dialect}) · {clock}{self._eta(now)}"), style="bold", no_wrap=True),
            Text("\n".join(self._figures(now)), no_wrap=True, overflow="ellipsis"),
            self._bars(now),
            *(Text(f"found  {in_words(f)}", no_wrap=True, overflow="ellipsis") for f in now.findings[-_LAST_FINDINGS:]),
        )  # fmt: skip

    def _figures(self, now: Snapshot) -> list[str]:
        found: dict[str, int] = {}
        for finding in now.findings:
            found[str(finding.suspicion.oracle)] = found.get(str(finding.suspicion.oracle), 0) + 1
        by_oracle = ", ".join(f"{count} {oracle}" for oracle, count in found.items()) or "none"
        process = (
            f"memory {now.rss_octets / (1 << 20):.0f} MiB, processor {now.cpu_s:.2f} s in the last batch"
        )
        rates = f"{self._rate_per_s:.0f}/s now, {now.rate_per_s:.0f}/s mean"
        return [
            f"inputs    {now.inputs:,} ({now.random:,} random), {rates}",
            f"states    {now.states[0]} of {now.states[1]} reached, {now.response_states} response states",
            f"target    {process if now.rss_octets else 'memory and processor not known'}",
            f"findings  {by_oracle}",
        ]

    def _bars(self, now: Snapshot) -> RenderableType:
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        table = Table.grid(padding=(0, 1))
        for family, (done, all) in now.families.items():
            bar = ProgressBar(total=all, completed=done, width=_BAR_WIDTH)
            table.add_row(family, bar, f"{done}/{all}", FAMILIES.get(family, ""))
        return table

    def _eta(self, now: Snapshot) -> str:
        """The estimated time for the remaining families at the current rate."""
        done, planned = now.cells
        if self._first is None or done >= planned:
            return " · families done" if done >= planned else ""
        cells, seconds_s = done - self._first.cells[0], now.seconds_s - self._first.seconds_s
        if cells <= 0 or seconds_s <= 0:
            return ""
        return f" · families done in about {duration((planned - done) * seconds_s / cells)}"


def in_words(finding: Finding) -> str:
    """A finding in one line, safe to show, because parts of it may come from the target."""
    seen = finding.suspicion
    where = str(finding.item.id) if finding.item is not None else f"a batch of {len(finding.batch)}"
    return one_line(f"{seen.oracle} ({finding.status}): {seen.top} [{where}]", 240)


def view_of(budget_s: float, quiet: bool, json_lines: bool) -> View:
    """The view for the requested options and the output."""
    if json_lines:
        return LinesView()
    if quiet:
        return View()
    return LiveView(budget_s) if interactive() else PlainView()
