"""The plots of the pages: converts numbers to lines and cells.

Knows: sheets, the data of plots. Must not know: SVG, HTML.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from amqpspec.reports.outcomes import dialect_title
from amqpspec.reports.site.model import ScoredRun, Sheet, section_share, sections_of
from amqpspec.reports.site.svg import HeatCell, HeatMap, Plot, Point, Series
from amqpspec.reports.text import plural, visible

RUNS_MAX = 120
"""The number of latest runs in a trend."""
DIMENSIONS = {
    "state": "protocol states",
    "production": "productions of the grammar",
    "family": "families of inputs",
    "edge": "edges: a state, a production, a reaction",
    "reaction": "different reactions",
    "cell": "cells of the plan",
}
_LOWEST = 95


def trend(sheet: Sheet, id: str) -> Plot:
    """The score of each run, with marks at new versions of the target."""
    runs = sheet.scored_runs[-RUNS_MAX:]
    points = [Point(n, run.share.percent or 0, _point_label(run), run.part) for n, run in enumerate(runs)]
    marks = [
        (n, run.version)
        for n, run in enumerate(runs)
        if n and run.version and run.version != runs[n - 1].version
    ]
    worst = min([point.y for point in points] + [_LOWEST])
    first, last = (runs[0], runs[-1]) if runs else (None, None)
    text = f"{plural(len(runs), 'run')}"
    if first and last:
        text += f", from {first.share} on {day(first)} to {last.share} on {day(last)}; the lowest is {worst:.0f} %."
    return Plot(
        id, f"Score of {sheet.label} over runs, {dialect_title(sheet.dialect)}", text, [Series("score", points)],
        _run_ticks(runs), marks, low=max(0, worst // 5 * 5 - 5), high=100, unit=" %",
    )  # fmt: skip


def _point_label(run: ScoredRun) -> str:
    part = ", a part of the suite" if run.part else ""
    when = f"{run.at:%Y-%m-%d %H:%M}" if run.at else "no time"
    versions = f"version {run.version or 'unknown'}, suite {run.suite_version}"
    return f"{run.share} ({run.share.short}), {when}, {versions}{part}"


def day(run: ScoredRun) -> str:
    """The day of a run."""
    return f"{run.at:%Y-%m-%d}" if run.at else "no date"


def _run_ticks(runs: Sequence[ScoredRun]) -> list[tuple[float, str]]:
    if not runs:
        return []
    places = sorted({0, len(runs) // 2, len(runs) - 1} if len(runs) > 4 else {0, len(runs) - 1})
    one_day = len({day(run) for run in runs}) == 1
    return [
        (place, f"{runs[place].at:%H:%M}" if one_day and place and runs[place].at else day(runs[place]))
        for place in places
    ]


def growth(named: Sequence[tuple[str, Sheet]], dimension: str, id: str, small: bool = False) -> Plot:
    """Progress of campaigns in one dimension, day by day: a line for each target."""
    series = [
        Series(
            name,
            [
                Point(row.dt.toordinal(), row.covered, f"{name}, {row.dt}: {row.covered:,} ({row.new:,} new)")
                for row in sheet.explored.get(dimension, ())
            ],
        )
        for name, sheet in named
    ]
    days = sorted({point.x for one in series for point in one.points})
    ticks = [
        (place, date.fromordinal(int(place)).isoformat()) for place in dict.fromkeys(days[:1] + days[-1:])
    ]
    ends = ", ".join(f"{one.name} {one.points[-1].y:,.0f}" for one in series if one.points)
    what = DIMENSIONS.get(dimension, dimension)
    title = f"Covered over time: {what}"
    text = f"{plural(len(days), 'day')} of fuzzing; on the last: {ends}."
    size = (360, 190) if small else (720, 240)
    return Plot(id, title, text, series, ticks, width=size[0], height=size[1], days=True)


_FIRST_DAY = date(1970, 1, 1).toordinal()
_DAY_S = 86_400


def data(plot: Plot) -> str:
    """A plot's numbers as JSON for the script that draws it: places, then a column of values for each series.

    Places are seconds since 1970 for days, otherwise numbers of runs, which ``labels`` describe. Hollow points are a
    series of their own without a line, whose number is in ``hollow``.
    """
    columns = [column for series in plot.series for column in _columns(series)]
    places = sorted({place for _, values, _ in columns for place in values})
    return json.dumps({
        "unit": plot.unit, "low": plot.low, "high": plot.high,
        "labels": [] if plot.days else [point.label for series in plot.series for point in series.points],
        "names": [visible(name) for name, _, _ in columns],
        "hollow": [number for number, (_, _, hollow) in enumerate(columns) if hollow],
        "values": [
            [(place - _FIRST_DAY) * _DAY_S if plot.days else place for place in places],
            *([values.get(place) for place in places] for _, values, _ in columns),
        ],
    })  # fmt: skip


def _columns(series: Series) -> Iterator[tuple[str, Mapping[float, float], bool]]:
    """The values of a series by place, and those of its hollow points."""
    yield series.name, {point.x: point.y for point in series.points if not point.hollow}, False
    if hollow := {point.x: point.y for point in series.points if point.hollow}:
        yield f"{series.name}, part of the suite", hollow, True


def heat(sheets: Sequence[Sheet], id: str) -> HeatMap:
    """Sections of the suite by targets, with the share of green cases."""
    sections = sections_of(sheets)
    shares = [[section_share(sheet, section) for sheet in sheets] for section in sections]
    cells = [
        [
            HeatCell(
                share.short,
                share.heat,
                f"{section or 'no section'}, {sheet.label}: {share} green" if share.of else "no case ran",
            )
            for sheet, share in zip(sheets, row, strict=True)
        ]
        for section, row in zip(sections, shares, strict=True)
    ]
    title = f"Sections by targets, {dialect_title(sheets[0].dialect)}"
    text = "The share of green cases in each section of the suite; the table below has the counts."
    return HeatMap(id, title, text, sections, [sheet.label for sheet in sheets], cells)
