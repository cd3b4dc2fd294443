"""The option ``--resume`` of a campaign: what the campaign was begun with is the default of other options.

Knows: the plan in a campaign's folder, click's defaults. Must not know: how campaigns run.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from amqpspec.fuzz.campaign.journal import read_progress
from amqpspec.record.journal import JournalError


def _begun(context: click.Context, parameter: click.Parameter, folder: Path | None) -> Path | None:
    """Eager, so that the other options find their defaults; whether they fit is checked when the campaign begins."""
    if folder is not None:
        # A campaign that was killed early has no plan yet; why a folder is not a campaign's is said later.
        with suppress(JournalError):
            context.default_map = {**(context.default_map or {}), **_options_of(read_progress(folder))}
    return folder


def _options_of(saved: Any) -> dict[str, Any]:
    """The plan as click's parameters; of an edited file, what is none is not taken."""
    match saved:
        case {
            "plan": {
                "target": str(name), "dialect": str(dialect), "seed": int(seed),
                "shard": [int(part), int(parts)], "cells": [*cells],
            }
        } if all(isinstance(cell, str) for cell in cells):  # fmt: skip
            return {
                "name": name,
                "dialect": dialect,
                "seed": seed,
                "shard": f"{part}/{parts}",
                "cells": cells,
            }
    return {}


RESUME = click.option(
    "--resume", type=click.Path(path_type=Path, exists=True), is_eager=True, callback=_begun,
    help="Continue the campaign in this folder, by default with its target, dialect, seed, shard and cells.",
)  # fmt: skip


def named(url: str | None, name: str | None) -> str | None:
    """The name of the target; the one that a resumed campaign began with is not used beside a URL."""
    source = click.get_current_context().get_parameter_source("name")
    return None if url is not None and source is click.core.ParameterSource.DEFAULT_MAP else name
