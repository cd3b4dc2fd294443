"""``fuzz report DIR``: generates the reports of a campaign again, also of one that was killed.

Knows: how a campaign's summary and its renderers are combined. Must not know: how either works.
"""

from __future__ import annotations

from pathlib import Path

import click

from amqpspec.cli.common import one_line_errors, stop
from amqpspec.record.journal import JournalError
from amqpspec.run.exits import Exit


@click.command("report", short_help="Write the reports of a campaign again.")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
def report(folder: Path) -> None:
    """Write summary.json, summary.md, campaign.html, junit.xml and findings.sarif of a campaign's folder.

    A campaign that was killed wrote none of them; they are derived from its journal and findings.
    """
    from amqpspec.fuzz.campaign.report import summary_of

    with one_line_errors():
        try:
            summary = summary_of(folder)
        except JournalError as error:
            stop(Exit.USAGE, " ".join(str(error).split()))
        for path in write_reports(folder, summary):
            click.echo(path)


def write_reports(folder: Path, summary: dict[str, object]) -> list[Path]:
    """Write all reports of a campaign; returns the files."""
    from amqpspec.fuzz.campaign.report import write_summary
    from amqpspec.reports.campaign.render import render_campaign

    write_summary(folder, summary)
    return [folder / "summary.json", folder / "summary.md", *render_campaign(folder).values()]
