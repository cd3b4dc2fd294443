"""Writes all reports of a campaign's folder.

Knows: the file names of the reports. Must not know: what is in them.
"""

from __future__ import annotations

from pathlib import Path

from amqpspec.reports.campaign.causes import causes, write_causes
from amqpspec.reports.campaign.junit import write_junit
from amqpspec.reports.campaign.load import load_campaign
from amqpspec.reports.campaign.page import write_page
from amqpspec.reports.campaign.sarif import write_sarif


def render_campaign(folder: Path) -> dict[str, Path]:
    """Write ``junit.xml``, ``findings.sarif`` and ``campaign.html`` beside ``summary.json``, each atomically.

    If there are findings, also write a page for each cause. Raises ReportError if summary.json is missing or not
    readable.
    """
    campaign = load_campaign(folder)
    paths = {name: folder / name for name in ("junit.xml", "findings.sarif", "campaign.html")}
    write_junit(paths["junit.xml"], campaign)
    write_sarif(paths["findings.sarif"], campaign)
    write_page(paths["campaign.html"], campaign)
    found = causes(campaign)
    return paths | ({"causes": write_causes(folder, found)} if found or (folder / "causes").exists() else {})
