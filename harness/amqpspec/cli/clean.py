"""``clean``: what killed runs have left on a target is deleted.

Knows: the verb. Must not know: what is deleted, or how.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from amqpspec.cli.common import one_line_errors


@click.command(short_help="Delete what killed runs left on a target.")
@click.argument("name", metavar="TARGET")
@click.option(
    "--targets",
    "targets_file",
    type=click.Path(path_type=Path),
    help="Use this file in place of targets.yaml.",
)
@click.option("--dialect", "-d", default="amqp-1-0", show_default=True, help="Dialect to speak with a URL.")
def clean(name: str, targets_file: Path | None, dialect: str) -> None:
    """Delete the nodes that killed runs from this directory left on TARGET, a name or a URL.

    Nodes of runs in progress stay. The next run against the target also cleans up before its first case.
    """
    from dataclasses import replace

    from amqpspec.record.journal import Journal
    from amqpspec.run.engine import meet
    from amqpspec.run.execute import World
    from amqpspec.run.made import Notes
    from amqpspec.run.sweep import sweep
    from amqpspec.target.find import find_target
    from amqpspec.target.live import live

    with one_line_errors():
        target = find_target(name, targets_file)
        if target.url is not None and "://" in name:
            target = replace(target, dialect=dialect)
        notes = Notes(target.name)
        with (
            tempfile.TemporaryDirectory() as folder,
            live(target) as running,
            Journal(Path(folder)) as journal,
        ):
            world = World(running, Path(folder), "clean", made=notes.made(journal))
            own = sum(len(nodes) for _, nodes in notes.runs())
            world, _ = meet(world, journal)
            swept = sweep(world, notes, Path(folder))
        left = sum(len(nodes) for _, nodes in notes.runs())
    click.echo(f"{target.name}: {min(own, swept)} nodes of killed runs deleted, {left} left to runs at work")
