"""Writes all reports of a run's folder.

Knows: the file names of the reports.
Must not know: what is in them.
"""

from __future__ import annotations

from pathlib import Path

from amqpspec.reports.badge import write_badge
from amqpspec.reports.html.page import Evidence, write_matrix
from amqpspec.reports.junit import write_junit
from amqpspec.reports.load import LoadedRun
from amqpspec.reports.markdown import write_summary
from amqpspec.reports.run_sarif import write_run_sarif


def render_all(run: LoadedRun, embed: Evidence = Evidence.SAMPLE) -> dict[str, Path]:
    """Write every report of a run beside its ``results.json``, each atomically; returns the paths by name."""
    names = ("matrix.html", "junit.xml", "summary.md", "badge.svg", "deviations.sarif")
    paths = {name: run.folder / name for name in names}
    write_junit(paths["junit.xml"], run)
    write_summary(paths["summary.md"], run)
    write_badge(paths["badge.svg"], run)
    write_run_sarif(paths["deviations.sarif"], run)
    write_matrix(paths["matrix.html"], [run], embed)
    return paths
