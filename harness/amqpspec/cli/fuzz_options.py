"""Options that several verbs of the fuzzer take, each declared once.

Knows: their names, defaults and help. Must not know: what a verb does with them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from amqpspec.cli.common import one_of
from amqpspec.fuzz.parts import spoken_dialects

_Verb = TypeVar("_Verb", bound=Callable[..., Any])

TARGET = click.option("--target", "-t", "name", help="A target from targets.yaml.")
DIALECT = click.option("--dialect", "-d", **one_of(spoken_dialects), help="Dialect to speak.")
CELLS = click.option(
    "--cells", multiple=True, metavar="GLOB", help="Only cells that match, for example C04/*/channel."
)
FAMILIES_ONLY = click.option(
    "--families-only", is_flag=True, help="Send only the families, without random mutation."
)
CONNECTIONS = click.option("--connections", "-n", default=128, show_default=True, type=click.IntRange(1, 512))
PATIENCE = click.option(
    "--patience", default=1.0, show_default=True, type=click.FloatRange(0.1, 20),
    help="Multiply every wait by this factor.",
)  # fmt: skip
SCOPE = click.option(
    "--scope", type=click.Path(path_type=Path, exists=True),
    help="File of allowed hosts beyond loopback, one per line.",
)  # fmt: skip


def budget(of: str) -> Callable[[_Verb], _Verb]:
    """``--budget``; ``of`` names what has this duration."""
    return click.option("--budget", default="10m", show_default=True, help=f"{of}: 90, 90s, 10m, 8h.")


def seed(of: str = "Seed for random mutation.") -> Callable[[_Verb], _Verb]:
    """``--seed``; ``of`` names what it determines."""
    return click.option("--seed", default=1, show_default=True, type=click.IntRange(0), help=of)
