"""``fuzz --selftest``: tests the oracles with planted defects, and measures how often the right input is blamed.

Knows: options and output. Must not know: how the tests work.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import click

from amqpspec.cli.common import one_line_errors, seconds_of
from amqpspec.cli.fuzz_target import terminable
from amqpspec.run.exits import Exit


def run_selftest(dialects: Sequence[str], as_json: bool, out: Path | None, clean_budget: str) -> NoReturn:
    """Look for every seeded defect; exit code 1 if one is missed, blamed wrongly or not replayed."""
    from amqpspec.fuzz.selftest.selftest import selftest

    with one_line_errors(), terminable(), tempfile.TemporaryDirectory(prefix="amqpspec-") as scratch:
        result = selftest(
            out or Path(scratch),
            dialects=dialects,
            clean_budget_s=seconds_of("--clean-budget", clean_budget),
            notify=_notify(as_json),
        )
    said = result.to_json()
    _show(said, as_json, [
        *result.table,
        f"{said['found']} of {said['seeded']} found, {said['right_blame']} rightly blamed, "
        f"{said['replayed']} replayed by their line, "
        f"{said['false_alarms']} false alarms ({said['clean_inputs']} inputs on clean brokers)",
    ])  # fmt: skip
    raise click.exceptions.Exit(Exit.CONFORMING if result.holds else Exit.DEVIATIONS)


def run_blame(dialects: Sequence[str], as_json: bool, out: Path | None, blames: int, seed: int) -> NoReturn:
    """Seed defects at random places and count which inputs are blamed; exit code 1 below 99 of 100."""
    from amqpspec.fuzz.selftest.blame import blame_many

    with one_line_errors(), terminable(), tempfile.TemporaryDirectory(prefix="amqpspec-") as scratch:
        result = blame_many(
            out or Path(scratch), blames, dialects=dialects, seed=seed, notify=_notify(as_json)
        )
    said = result.to_json()
    _show(said, as_json, [
        *result.table, f"{said['right']} of {said['blames']} blamed on the right input ({said['share']:.1%})",
    ])  # fmt: skip
    raise click.exceptions.Exit(Exit.CONFORMING if result.holds else Exit.DEVIATIONS)


def _notify(as_json: bool) -> Any:
    return lambda line: click.echo(line, err=as_json)


def _show(said: dict[str, Any], as_json: bool, lines: Sequence[str]) -> None:
    click.echo(json.dumps(said, indent=1) if as_json else "\n".join(lines))
