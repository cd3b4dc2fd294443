"""``fuzz replay ID`` and ``fuzz replay OCTETS``: prints the result of one input.

Knows: the contents of a result. Must not know: how the input is sent.
"""

from __future__ import annotations

import json

import click

from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.triage.again import Look


def say(item: FuzzInput, seen: Look, as_json: bool) -> None:
    """Print the result of an input: the reaction, then each complaint."""
    if as_json:
        click.echo(json.dumps(_json(item, seen)))
        return
    click.echo(f"{item.state}, {len(item.octets)} octets: {seen.result.reaction}")
    for found in seen.complaints:
        click.echo(f"{found.oracle}: {found.top}")
        for line in found.detail.splitlines():
            click.echo(f"  {line}")
    if not seen.complaints:
        click.echo("no complaint")


def _json(item: FuzzInput, seen: Look) -> dict[str, object]:
    return {
        "input": str(item.id), "dialect": item.dialect, "state": item.state, "reaction": seen.result.reaction,
        "requirement": item.expectation.requirement,
        "complaints": [{"oracle": str(s.oracle), "top": s.top, "detail": s.detail} for s in seen.complaints],
    }  # fmt: skip
