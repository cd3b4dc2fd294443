"""``clean``: deletes leftovers of killed runs on a target.

Knows: the verb. Must not know: what is deleted, or how.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from amqpspec.cli.common import TARGETS, one_line_errors, one_of

if TYPE_CHECKING:
    from amqpspec.target.config import Target


@click.command(short_help="Delete what killed runs left on a target.")
@click.argument("name", metavar="TARGET")
@TARGETS
@click.option("--dialect", "-d", **one_of(), help="Only data left in this dialect (default: in any).")
def clean(name: str, targets_file: Path | None, dialect: str | None) -> None:
    """Delete leftovers of killed runs of this directory, on TARGET (a name or a URL) and in their folders.

    Data of runs in progress is kept. The next run against the target also cleans up before its first case.
    """
    from dataclasses import replace

    from amqpspec.run.made import Notes
    from amqpspec.target.find import find_target

    swept = left = 0
    with one_line_errors():
        target = find_target(name, targets_file)
        for spoken in [dialect] if dialect else Notes.dialects(target.name):
            own = replace(target, dialect=spoken)
            swept += _sweep(own)
            left += sum(len(nodes) for _, nodes in Notes(own.name, spoken).runs())
    click.echo(f"{target.name}: {swept} nodes of killed runs deleted, {left} left because runs are active")


def _sweep(target: Target) -> int:
    """Delete what killed runs have left on a target in its dialect; how many nodes that were."""
    from amqpspec.record.journal import Journal
    from amqpspec.run.engine import meet
    from amqpspec.run.execute import World
    from amqpspec.run.made import Notes
    from amqpspec.run.sweep import sweep
    from amqpspec.target.live import live

    with (
        tempfile.TemporaryDirectory() as folder,
        live(target) as running,
        Journal(Path(folder)) as journal,
    ):
        world, _ = meet(World(running, Path(folder), "clean"), journal)
        return sweep(world, Notes(target.name, target.dialect), Path(folder))
