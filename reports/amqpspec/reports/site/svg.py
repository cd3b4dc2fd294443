"""Plots as SVG within a page: lines, sparklines, heat maps, with a title and a description for screen readers.

Knows: geometry, SVG. Must not know: targets, cases, colours (the style sheet assigns them to classes).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10

from markupsafe import Markup, escape

from amqpspec.reports.text import one_line, visible

COLOURS = 8
"""The number of distinct colours; further series share colours, but not dashes."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 14, 12, 26
_CELL_WIDTH, _CELL_HEIGHT = 76, 26
_LETTER, _NAME_LETTERS, _HEAD_LETTERS = 7.2, 30, 24
"""About the width of a letter; names beyond this many are cut."""
_TICKS = 4


@dataclass(frozen=True, slots=True)
class Point:
    """A point; the line skips ``hollow`` ones."""

    x: float
    y: float
    label: str
    hollow: bool = False


@dataclass(frozen=True, slots=True)
class Series:
    """A line with a name."""

    name: str
    points: Sequence[Point]


@dataclass(frozen=True, slots=True)
class Plot:
    """Lines over a common axis;

    ``ticks`` and ``marks`` are places on it with their labels. With ``days`` a place is the ordinal of a day,
    otherwise the number of a run.
    """

    id: str
    title: str
    text: str
    series: Sequence[Series]
    ticks: Sequence[tuple[float, str]] = ()
    marks: Sequence[tuple[float, str]] = ()
    low: float = 0
    high: float | None = None
    unit: str = ""
    width: int = 720
    height: int = 240
    days: bool = False


@dataclass(frozen=True, slots=True)
class HeatCell:
    """A cell: its text, its warmth (0 to 4, None for empty), and its full description."""

    text: str
    heat: int | None
    label: str


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Rows by columns of cells."""

    id: str
    title: str
    text: str
    rows: Sequence[str]
    columns: Sequence[str]
    cells: Sequence[Sequence[HeatCell]]


def lines(plot: Plot) -> Markup:
    """The lines with axes, ticks and marks."""
    frame = _Frame.of(plot)
    parts = [
        *(_level(frame, value, plot.unit) for value in frame.levels),
        *(_tick(frame, x, label) for x, label in plot.ticks),
        *(_mark(frame, x, label) for x, label in plot.marks),
        *(_line(frame, number, series) for number, series in enumerate(plot.series)),
    ]
    return _svg(plot.id, plot.title, plot.text, plot.width, plot.height, parts)


def spark(id: str, title: str, values: Sequence[float], width: int = 130, height: int = 30) -> Markup:
    """A sparkline of values between 0 and 100."""
    low = min([*values, 90.0])
    step = (width - 8) / max(1, len(values) - 1)
    places = [
        (4 + step * number, 4 + (height - 8) * (1 - (value - low) / max(1e-9, 100 - low)))
        for number, value in enumerate(values)
    ]
    parts = (
        [Markup('<polyline class="line c0" points="{}"/>').format(_path(places))] if len(places) > 1 else []
    )
    parts += [
        Markup('<circle class="dot c0" cx="{:.1f}" cy="{:.1f}" r="2.6"/>').format(*s) for s in places[-1:]
    ]
    return _svg(id, title, "", width, height, parts, "spark")


def heat_map(heat: HeatMap) -> Markup:
    """The cells with their numbers; the colour repeats the number."""
    names, heads = (_room(heat.rows, _NAME_LETTERS), _room(heat.columns, _HEAD_LETTERS))
    left, top = round(names) + 14, round(0.64 * heads) + 22
    width = left + _CELL_WIDTH * len(heat.columns) + round(max(0.0, 0.77 * heads - _CELL_WIDTH / 2)) + 10
    height = top + _CELL_HEIGHT * len(heat.rows) + 2
    parts = [_column(left + _CELL_WIDTH * n, top, name) for n, name in enumerate(heat.columns)]
    for number, (name, cells) in enumerate(zip(heat.rows, heat.cells, strict=True)):
        y = top + _CELL_HEIGHT * number
        parts.append(_row(left, y, name))
        parts += [_cell(left + _CELL_WIDTH * place, y, cell) for place, cell in enumerate(cells)]
    return _svg(heat.id, heat.title, heat.text, width, height, parts, "heat", fixed=True)


def _room(names: Sequence[str], letters: int) -> float:
    """The approximate width of the longest of these names."""
    return _LETTER * max((len(one_line(name, letters)) for name in names), default=0)


def _row(left: int, y: int, name: str) -> Markup:
    return Markup('<text class="name" x="{}" y="{}" text-anchor="end"><title>{}</title>{}</text>').format(
        left - 8, y + 17, visible(name), one_line(name, _NAME_LETTERS)
    )


@dataclass(frozen=True, slots=True)
class _Frame:
    """Converts values to coordinates."""

    plot: Plot
    first: float
    last: float
    low: float
    high: float
    levels: tuple[float, ...]

    @classmethod
    def of(cls, plot: Plot) -> _Frame:
        points = [point for series in plot.series for point in series.points]
        places = [point.x for point in points] or [0.0]
        top = plot.high if plot.high is not None else max([point.y for point in points] + [1.0])
        levels = _levels(plot.low, top)
        if plot.high is not None:
            levels = tuple(plot.low + plot.high - value for value in levels if value <= plot.high)
        high = plot.high if plot.high is not None else levels[-1]
        return cls(plot, min(places), max(places), plot.low, high, levels)

    def x(self, value: float) -> float:
        room = self.plot.width - _LEFT - _RIGHT
        if self.last == self.first:
            return _LEFT + room / 2
        return _LEFT + 8 + (room - 16) * (value - self.first) / (self.last - self.first)

    def y(self, value: float) -> float:
        room = self.plot.height - _TOP - _BOTTOM
        return _TOP + room * (1 - (value - self.low) / max(1e-9, self.high - self.low))


def _levels(low: float, high: float) -> tuple[float, ...]:
    """About four round values from ``low`` to ``high`` or just above it, at least 1 apart."""
    rough = max((high - low) / _TICKS, 0.25)
    unit = 10.0 ** floor(log10(rough))
    step = max(1.0, next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= rough))
    count = int(-((low - high) // step))
    return tuple(low + step * number for number in range(count + 1))


def _level(frame: _Frame, value: float, unit: str) -> Markup:
    return Markup(
        '<line class="grid" x1="{0}" x2="{1}" y1="{2:.1f}" y2="{2:.1f}"/>'
        '<text x="{3}" y="{4:.1f}" text-anchor="end">{5:,.0f}{6}</text>'
    ).format(_LEFT, frame.plot.width - _RIGHT, frame.y(value), _LEFT - 7, frame.y(value) + 4, value, unit)


def _tick(frame: _Frame, x: float, label: str) -> Markup:
    at = frame.x(x)
    anchor = "start" if at < _LEFT + 40 else "end" if at > frame.plot.width - _RIGHT - 40 else "middle"
    return Markup('<text x="{:.1f}" y="{}" text-anchor="{}">{}</text>').format(
        at, frame.plot.height - 7, anchor, one_line(label, 24)
    )


def _mark(frame: _Frame, x: float, label: str) -> Markup:
    at, late = frame.x(x), frame.x(x) > frame.plot.width - 160
    return Markup(
        '<line class="mark-line" x1="{0:.1f}" x2="{0:.1f}" y1="{1}" y2="{2}"/>'
        '<text class="mark-text" x="{3:.1f}" y="{4}" text-anchor="{5}">{6}</text>'
    ).format(
        at, _TOP, frame.plot.height - _BOTTOM, at + (-5 if late else 5), frame.plot.height - _BOTTOM - 6,
        "end" if late else "start", one_line(label, 22),
    )  # fmt: skip


def _line(frame: _Frame, number: int, series: Series) -> Markup:
    look = f"c{number % COLOURS} d{number // COLOURS % 3}"
    places = [(frame.x(point.x), frame.y(point.y)) for point in series.points]
    through = [place for point, place in zip(series.points, places, strict=True) if not point.hollow]
    line = Markup('<polyline class="line {}" points="{}"/>').format(look, _path(through))
    dots = (
        Markup('<circle class="dot {}{}" cx="{:.1f}" cy="{:.1f}" r="3.4"><title>{}</title></circle>').format(
            look, " hollow" if point.hollow else "", *place, visible(point.label)
        )
        for point, place in zip(series.points, places, strict=True)
    )
    return Markup("<g>{}{}</g>").format(line if len(through) > 1 else "", Markup("").join(dots))


def _path(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _column(left: int, top: int, name: str) -> Markup:
    return Markup(
        '<text class="name" transform="translate({:.0f} {}) rotate(-40)"><title>{}</title>{}</text>'
    ).format(left + _CELL_WIDTH / 2 - 4, top - 8, visible(name), one_line(name, _HEAD_LETTERS))


def _cell(x: int, y: int, cell: HeatCell) -> Markup:
    heat = "none" if cell.heat is None else cell.heat
    return Markup(
        '<g class="h{0}"><title>{1}</title><rect x="{2}" y="{3}" width="{4}" height="{5}" rx="3"/>'
        '<text x="{6}" y="{7}" text-anchor="middle">{8}</text></g>'
    ).format(
        heat, visible(cell.label), x + 1, y + 1, _CELL_WIDTH - 2, _CELL_HEIGHT - 2, x + _CELL_WIDTH // 2, y + 17,
        visible(cell.text),
    )  # fmt: skip


def _svg(
    id: str, title: str, text: str, width: int, height: int, parts: Sequence[Markup], look: str = "lines",
    fixed: bool = False,
) -> Markup:  # fmt: skip
    """The picture with a title for screen readers; ``fixed`` keeps its size."""
    desc = Markup('<desc id="{}-d">{}</desc>').format(id, visible(text)) if text else ""
    size = Markup(' width="{}" height="{}"').format(width, height) if fixed else ""
    return Markup(
        '<svg class="{look}" viewBox="0 0 {width} {height}"{size} role="img" aria-labelledby="{id}-t"{described}>'
        '<title id="{id}-t">{title}</title>{desc}{parts}</svg>'
    ).format(
        look=look, width=width, height=height, size=size, id=id, title=visible(title), desc=desc,
        described=Markup(' aria-describedby="{}-d"').format(id) if text else "",
        parts=Markup("").join(escape(part) for part in parts),
    )  # fmt: skip
