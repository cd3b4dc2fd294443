"""A badge: one small SVG with the dialect and how many cases pass.

Knows: the drawing.
Must not know: how the score is counted.
"""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from amqpspec.reports.files import atomic_text
from amqpspec.reports.load import LoadedRun
from amqpspec.reports.standing import Deviations, standing
from amqpspec.reports.summary import Score
from amqpspec.reports.text import one_line

GREEN_FILL, AMBER_FILL, RED_FILL, GREY_FILL = "#1a7f37", "#8f5f00", "#c4283a", "#5a6069"
_NARROW = frozenset("fijlrt1.,:;|!/-()[] ")
_SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" aria-label={name}>
  <title>{title}</title>
  <clipPath id="r"><rect width="{width}" height="20" rx="3"/></clipPath>
  <g clip-path="url(#r)">
    <rect width="{left}" height="20" fill="#30363d"/>
    <rect x="{left}" width="{right}" height="20" fill="{fill}"/>
  </g>
  <g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11">
    <text x="{label_x}" y="14" textLength="{label_length}">{label}</text>
    <text x="{message_x}" y="14" textLength="{message_length}">{message}</text>
  </g>
</svg>
"""


def write_badge(path: Path, run: LoadedRun) -> None:
    """Write the badge of a run."""
    score, stands = Score.of_run(run), standing(run)
    message = f"{score.green}/{score.of} pass"
    if run.meta.partial:
        message += ", partial"
    elif not stands.is_whole:
        message = str(stands)
    with atomic_text(path) as out:
        out.write(badge(one_line(run.meta.target.dialect, 40), message, fill_of(run)))


def fill_of(run: LoadedRun) -> str:
    """Red for an unexpected deviation, grey for an unfinished run, green if all cases are green, otherwise amber."""
    score = Score.of_run(run)
    if Deviations.of_run(run).unexpected:
        return RED_FILL
    if run.meta.partial or not run.tally.run:
        return GREY_FILL
    return GREEN_FILL if score.green == score.of and standing(run).is_whole else AMBER_FILL


def badge(label: str, message: str, fill: str) -> str:
    """The SVG of two texts."""
    label_length, message_length = _width(label), _width(message)
    left, right = label_length + 12, message_length + 12
    return _SVG.format(
        width=left + right,
        left=left,
        right=right,
        fill=fill,
        name=quoteattr(f"{label}: {message}"),
        title=escape(f"{label}: {message}"),
        label=escape(label),
        message=escape(message),
        label_length=label_length,
        message_length=message_length,
        label_x=left / 2,
        message_x=left + right / 2,
    )


def _width(text: str) -> int:
    """The approximate width of the text at 11 px; ``textLength`` makes the font keep to it."""
    return max(1, round(sum(4.3 if char in _NARROW else 7.1 for char in text)))
