"""``fuzz``: campaigns, the cells of the fuzzer, single inputs by id, replay of findings, the self-test.

Knows: the catalogue of cells, which module has which verb. Must not know: how inputs are made or sent.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click

from amqpspec.cli.common import one_line_errors, one_of, stop
from amqpspec.cli.fuzz_options import seed
from amqpspec.fuzz.grammar import grammar_hash
from amqpspec.fuzz.inputs.catalogue import Cell, absent, cells, resolve
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import InputId
from amqpspec.fuzz.inputs.words import in_words
from amqpspec.fuzz.parts import fuzzed_dialects, spoken_dialects
from amqpspec.fuzz.states.ways import states
from amqpspec.run.exits import Exit
from amqpspec.spec.dialects import load_dialect, widest

_CAMPAIGN, _CLIENTS = "campaign", "clients"
_MODES = ("differential", "sequences")
"""Verbs that can also be given as options: ``fuzz --differential A B``."""
_ELSEWHERE = {
    _CAMPAIGN: "fuzz_campaign",
    _CLIENTS: "fuzz_clients",
    "differential": "fuzz_differential",
    "sequences": "fuzz_sequences",
    "replay": "fuzz_campaign",
    "report": "fuzz_report",
    "export-boofuzz": "fuzz_interop",
}
"""Verbs in the order of use, by the module that is imported for each."""
_OF_THE_GROUP = frozenset({"--list-cells", "--selftest", "-h", "--help"})


class _Fuzz(click.Group):
    """A group with ``campaign`` as the default command: ``fuzz URL`` is ``fuzz campaign URL``."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Insert the command name if it is missing."""
        if args and args[0] not in self.list_commands(context) and not _OF_THE_GROUP & set(args):
            of_clients = any(arg == "--client" or arg.startswith("--client=") for arg in args)
            mode = next((mode for mode in _MODES if f"--{mode}" in args), "")
            rest = [arg for arg in args if arg != f"--{mode}"]
            args = [mode or (_CLIENTS if of_clients else _CAMPAIGN), *rest]
        return super().parse_args(context, args)

    def list_commands(self, context: click.Context) -> list[str]:
        """Verbs in the order of use."""
        return [*_ELSEWHERE, *super().list_commands(context)]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Import a verb that needs more than the catalogue when it is called."""
        if name not in _ELSEWHERE:
            return super().get_command(context, name)
        command = getattr(import_module(f"amqpspec.cli.{_ELSEWHERE[name]}"), name.replace("-", "_"))
        assert isinstance(command, click.Command)
        return command


@click.group(
    "fuzz",
    cls=_Fuzz,
    invoke_without_command=True,
    short_help="Fuzz a target with mutated frames; replay findings.",
)
@click.option(
    "--list-cells",
    is_flag=True,
    help="List the cells (family, field role, state) and their number of inputs.",
)
@click.option(
    "--selftest", is_flag=True, help="Check the oracles: seeded defects are found, and nothing else is."
)
@click.option(
    "--dialect",
    "-d",
    "dialects",
    multiple=True,
    **one_of(spoken_dialects),
    help="Default: all; with --selftest, those with a ledger.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option(
    "--out",
    "-o",
    type=click.Path(path_type=Path),
    help="Folder that keeps the self-test's campaigns (default: keep none).",
)
@click.option(
    "--clean-budget",
    default="60s",
    show_default=True,
    help="Total time that the self-test fuzzes brokers without defects.",
)
@click.option(
    "--blame",
    type=click.IntRange(1),
    metavar="N",
    help="With --selftest: seed N crashes and count how many are blamed on the right input.",
)
@seed("Seed for --blame.")
@click.pass_context
def fuzz(
    context: click.Context,
    list_cells: bool,
    selftest: bool,
    dialects: tuple[str, ...],
    as_json: bool,
    out: Path | None,
    clean_budget: str,
    blame: int | None,
    seed: int,
) -> None:
    """Fuzz with mutated frames: families C1 to C14, crossed with field roles and protocol states.

    ``amqpspec fuzz URL`` runs a campaign (see ``amqpspec fuzz campaign --help``). ``amqpspec fuzz --client COMMAND``
    runs one against a client library (see ``amqpspec fuzz clients --help``). ``amqpspec fuzz --differential TARGET
    TARGET…`` compares targets (see ``amqpspec fuzz differential --help``). ``amqpspec fuzz --sequences URL`` runs
    programs over several connections (see ``amqpspec fuzz sequences --help``).
    """
    if context.invoked_subcommand is not None:
        return
    if selftest:
        _check_seeded(dialects)
        from amqpspec.cli.fuzz_selftest import run_blame, run_selftest

        if blame is not None:
            run_blame(dialects, as_json, out, blame, seed)
        run_selftest(dialects, as_json, out, clean_budget)
    elif list_cells:
        _list_cells(dialects or spoken_dialects(), as_json)
    else:
        click.echo(context.get_help())


def _check_seeded(dialects: tuple[str, ...]) -> None:
    outside = sorted({*dialects} - {*fuzzed_dialects()})
    if outside:
        expected = ", ".join(fuzzed_dialects())
        stop(Exit.USAGE, f"--selftest: expected dialects of {expected}, actual {', '.join(outside)}")


def _list_cells(chosen: tuple[str, ...], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"dialects": {d: _dialect_json(d) for d in chosen}}, indent=1))
        return
    for dialect_id in chosen:
        for line in _lines(dialect_id):
            click.echo(line)


@fuzz.command(short_help="Show one input.")
@click.argument("name", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show(name: str, as_json: bool) -> None:
    """Show the octets of one input in hex, its decoded frames, the steps to its state, and the expected reaction."""
    with one_line_errors():
        found = resolve(InputId.parse(name))
    if as_json:
        click.echo(json.dumps(_input_json(found), indent=1))
        return
    state, expected = states(found.dialect)[found.state], found.expectation
    click.echo(
        f"{found.id} ({found.dialect})\n  {found.words}\n  state     {state.name}: {state.words or 'nothing sent'}"
    )
    click.echo(
        f"  expected  {_expected(found)}" + (f" ({expected.requirement})" if expected.must_refuse else "")
    )
    for number, octets in enumerate(found.steps, start=1):
        click.echo(f"step {number}, {len(octets)} octets")
        for text in in_words(found.dialect, octets):
            click.echo(f"  {text}")
        for line in _hex(octets):
            click.echo(f"  {line}")


def _lines(dialect_id: str) -> Iterator[str]:
    every = cells(dialect_id)
    total = sum(cell.inputs for cell in every)
    yield f"{dialect_id} g:{grammar_hash(dialect_id)}: {len(every)} cells, {total} inputs"
    width = max(len(_name(cell)) for cell in every)
    for cell in every:
        yield f"  {_name(cell):{width}}  {cell.inputs:6}  {' '.join(cell.requirements)}".rstrip()
    for family, reason in absent(dialect_id).items():
        yield f"  {family} does not exist: {reason}"


def _name(cell: Cell) -> str:
    return f"{cell.family}/{cell.role}/{cell.state}"


def _dialect_json(dialect_id: str) -> dict[str, object]:
    every = cells(dialect_id)
    return {
        "grammar": grammar_hash(dialect_id),
        "inputs": sum(cell.inputs for cell in every),
        "absent": absent(dialect_id),
        "cells": [
            {
                "family": cell.family, "role": cell.role, "state": cell.state, "inputs": cell.inputs,
                "requirements": list(cell.requirements), "first": str(cell.id(0)),
            }
            for cell in every
        ],
    }  # fmt: skip


def _input_json(found: FuzzInput) -> dict[str, object]:
    return {
        "id": str(found.id), "dialect": found.dialect, "state": found.state, "words": found.words,
        "way": states(found.dialect)[found.state].words, "requirement": found.expectation.requirement,
        "expected": _expected(found),
        "steps": [{"octets": s.hex(), "frames": in_words(found.dialect, s)} for s in found.steps],
    }  # fmt: skip


def _expected(found: FuzzInput) -> str:
    if not found.expectation.must_refuse:
        return found.expectation.kind
    dialect = load_dialect(widest(found.dialect))
    return " or ".join(refusal.describe(dialect) for refusal in found.expectation.accepts)


def _hex(octets: bytes) -> Iterator[str]:
    for at in range(0, len(octets), 16):
        yield f"{at:06x}  {octets[at : at + 16].hex(' ')}"
