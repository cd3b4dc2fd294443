"""Output for a hosted CI in addition to the terminal: annotations and the summary of the step.

Knows: the environment variables that identify a host. Must not know: how a run works.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import click


def tell_host(folder: Path, environment: Mapping[str, str] = os.environ) -> None:
    """Annotate a finished run on GitHub Actions; elsewhere, print nothing.

    Annotations go to standard error, which GitHub also reads, so that the output of ``--json`` stays valid.
    """
    if environment.get("GITHUB_ACTIONS") != "true":
        return
    from amqpspec.reports.github import workflow_commands
    from amqpspec.reports.load import load_run

    for line in workflow_commands(load_run(folder)):
        click.echo(line, err=True)
    if path := environment.get("GITHUB_STEP_SUMMARY"):
        _append(Path(path), (folder / "summary.md").read_text(encoding="utf-8"))


def _append(path: Path, text: str) -> None:
    try:
        with path.open("a", encoding="utf-8") as summary:
            summary.write(f"{text}\n")
    except OSError as error:
        click.echo(f"cannot write {path} (GITHUB_STEP_SUMMARY): {error.strerror}", err=True)
