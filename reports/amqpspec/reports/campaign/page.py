"""Writes campaign.html: one file that needs no network, in the style of the matrix.

Knows: the template and its data. Must not know: how cells and findings are combined (model).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment

from amqpspec.reports.campaign import model
from amqpspec.reports.campaign.load import LoadedCampaign
from amqpspec.reports.campaign.words import COVERAGES, ORACLES
from amqpspec.reports.files import atomic_text
from amqpspec.reports.html.page import breakable
from amqpspec.reports.html.targets import duration
from amqpspec.reports.html.template import environment
from amqpspec.reports.outcomes import dialect_title

_HERE = Path(__file__).parent
REACTIONS_MAX = 40
TONES = {"covered": "pass", "not reachable": "blocked", "stopped": "error", "open": "excluded"}
STATUS_TONES = {"stable": "fail", "unblamed": "fail", "flaky": "nonstrict", "lost": "not-applicable"}


def write_page(path: Path, campaign: LoadedCampaign) -> None:
    """Write the campaign as one self-contained HTML file; its only links to other files are to those of findings."""
    with atomic_text(path) as out:
        out.writelines(_environment().get_template("campaign.html.j2").generate(_context(campaign)))


def _context(campaign: LoadedCampaign) -> dict[str, Any]:
    summary = campaign.summary
    reactions = list(summary.reactions.items())
    head, tone = model.headline(campaign)
    causes = model.by_cause(campaign)
    names = (found.row.name for _, seen in causes for found in seen)
    return {
        "campaign": campaign, "summary": summary,
        "dialect": dialect_title(summary.dialect),
        "product": " ".join(filter(None, (summary.product, summary.version))),
        "headline": head, "tone": tone,
        "facts": [fact for fact in model.facts(campaign) if fact],
        "sums": list(model.sums(campaign)),
        "coverages": campaign.coverages(),
        "states": model.states(campaign), "families": model.families(campaign),
        "elsewhere": campaign.elsewhere(),
        "numbers": {name: place for place, name in enumerate(names, 1)},
        "causes": causes, "cause_numbers": {cause.id: place for place, (cause, _) in enumerate(causes, 1)},
        "oracles": model.oracles(campaign.findings),
        "reactions": reactions[:REACTIONS_MAX], "more_reactions": max(0, len(reactions) - REACTIONS_MAX),
        "resume": model.resume(campaign),
    }  # fmt: skip


def _environment() -> Environment:
    made = environment(_HERE, ("campaign.js",))
    made.filters["breakable"] = breakable
    made.filters["path"] = lambda value: quote(str(value), errors="backslashreplace")
    made.globals.update(
        TONES=TONES, STATUS_TONES=STATUS_TONES, COVERAGES=COVERAGES, ORACLES=ORACLES,
        in_words=model.in_words, when=duration,
    )  # fmt: skip
    return made
