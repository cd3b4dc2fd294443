"""The colours of the page: every text on its ground has a contrast of 4.5 or more, in light and in dark."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import amqpspec.reports.html

CSS = (Path(amqpspec.reports.html.__file__).parent / "style.css").read_text("utf-8")
TEXTS = ("ink", "quiet", "accent", "good", "bad", "warn")
GROUNDS = ("bg", "surface", "sunken", "hover", "press")
VERDICTS = (
    "pass",
    "observed",
    "nonstrict",
    "fail",
    "known",
    "inconclusive",
    "error",
    "not-applicable",
    "blocked",
    "excluded",
)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours as WCAG defines it."""
    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def palette(scheme: str) -> dict[str, str]:
    light, dark = re.findall(r":root \{(.*?)\}", CSS, re.DOTALL)[:2]
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", light if scheme == "light" else dark))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_legible_everywhere(scheme: str) -> None:
    colours = palette(scheme)
    pairs = [(text, ground) for text in TEXTS for ground in GROUNDS]
    pairs += [(f"{verdict}-fg", f"{verdict}-bg") for verdict in VERDICTS]
    pairs += [("out", "out-bg"), ("in", "in-bg"), ("quiet", "out-bg"), ("quiet", "in-bg"), ("ink", "warn-bg")]
    pairs += [("ink", "out-bg"), ("ink", "in-bg"), ("quiet", "warn-bg")]
    weak = [pair for pair in pairs if contrast(colours[pair[0]], colours[pair[1]]) < 4.5]
    assert weak == []


def test_both_schemes_name_the_same_colours() -> None:
    assert palette("light").keys() == palette("dark").keys()
