"""``selftest``: shows that cases detect violations.

Knows: how to print a kill matrix and a survey of mutants. Must not know: how they are made.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import click

from amqpspec.cli.common import judged_dialect, one_line_errors, one_of, stop
from amqpspec.cli.progress import Ticker
from amqpspec.reference.faults import all_faults
from amqpspec.run.clients.selftest import selftest_clients
from amqpspec.run.exits import Exit
from amqpspec.run.mutants.survey import Survey, survey
from amqpspec.run.mutants.trial import Fate, Trial
from amqpspec.run.selftest import Matrix
from amqpspec.run.selftest import selftest as run_selftest
from amqpspec.spec.dialects import certified_dialects

_ENOUGH = 0.95
_LATE_S = 0.2


@click.command(short_help="Prove every case by faults.")
@click.option(
    "--dialect",
    "-d",
    **one_of(),
    help="Default: amqp-0-9-1; with --mutants all.",
)
@click.option(
    "--repeat",
    default=1,
    show_default=True,
    type=click.IntRange(1),
    help="How many times to run each case on the clean broker.",
)
@click.option(
    "--full", is_flag=True, help="Run every case against every fault, not only the cases tied to it."
)
@click.option("--fault", "faults", multiple=True, help="Only these faults.")
@click.option(
    "--late",
    is_flag=True,
    help="Use reference brokers that send deliveries and other events 0.2 s late.",
)
@click.option(
    "--mutants",
    type=click.IntRange(1),
    help="Test this many random changes to the reference brokers' code instead of the named faults.",
)
@click.option("--seed", default=0, show_default=True, help="Seed for the sample of mutants.")
@click.option("--module", default="", help="Only mutants of modules whose name contains this text.")
@click.option("--out", "-o", default="out/selftest", type=click.Path(path_type=Path), show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print the matrix as JSON.")
@click.option(
    "--role",
    default="broker",
    show_default=True,
    type=click.Choice(["broker", "client"]),
    help="Test the suite for brokers or the suite for clients.",
)
def selftest(
    dialect: str | None,
    repeat: int,
    full: bool,
    faults: tuple[str, ...],
    late: bool,
    mutants: int | None,
    seed: int,
    module: str,
    out: Path,
    as_json: bool,
    role: str,
) -> None:
    """Run every case against the clean reference broker and against its named faults.

    Exit code 0 if the clean broker passes every case, every case is killed and every fault is found, else 1.
    With --mutants: change the reference brokers' code at random places and run the cases against each change.
    Exit code 0 if at least 95 % of the non-equivalent mutants make a run fail, else 1.
    """
    if mutants is not None:
        dialects = certified_dialects() if dialect is None else (dialect,)
        raise click.exceptions.Exit(_survey(dialects, mutants, seed, module, as_json))
    dialect = dialect or "amqp-0-9-1"
    if role == "client":
        dialect = judged_dialect(dialect)
    for fault in faults:
        if fault not in all_faults(dialect):
            stop(Exit.USAGE, f"no fault {fault!r}; try: amqpspec reference --list-faults")
    folder = out / (f"{dialect}-late" if late else dialect)
    shutil.rmtree(folder, ignore_errors=True)
    with one_line_errors():
        tell = Ticker(as_json)
        if role == "client":
            matrix = selftest_clients(dialect, folder, faults, tell)
        else:
            late_s = _LATE_S if late else 0.0
            matrix = run_selftest(
                dialect, folder, repeat=repeat, full=full, only=faults, late_s=late_s, tell=tell
            )
        document = matrix.to_json()
        (folder / "kill-matrix.json").write_text(json.dumps(document, indent=1), encoding="utf-8")
    survived = matrix.survivors if not faults else []
    click.echo(json.dumps(document, indent=1) if as_json else _text(matrix, survived, folder))
    bad = matrix.not_clean or matrix.not_found or matrix.errors or survived
    raise click.exceptions.Exit(Exit.DEVIATIONS if bad else Exit.CONFORMING)


def _text(matrix: Matrix, survived: Sequence[str], folder: Path) -> str:
    cases, passed = len(matrix.clean), len(matrix.clean) - len(matrix.not_clean)
    lines = [
        f"{matrix.dialect}: clean broker passed {passed} of {cases} cases; "
        f"{len(matrix.killed)} cases killed; {len(matrix.found)} of {len(matrix.kills)} faults found"
    ]
    for name in matrix.not_clean:
        row = matrix.clean[name]
        lines.append(f"not clean  {name}: {row.verdict}: expected {row.expected}; observed {row.observed}")
    lines += [f"survivor   {name}" for name in survived]
    lines += [f"not found  {name}" for name in matrix.not_found]
    lines += [f"error      {text}" for text in matrix.errors]
    return "\n".join([*lines, f"kill matrix: {folder / 'kill-matrix.json'}"])


def _survey(dialects: Sequence[str], count: int, seed: int, module: str, as_json: bool) -> Exit:
    with one_line_errors():
        tick = Ticker(as_json)

        def tell(trial: Trial, done: int, of: int) -> None:
            tick(f"{trial.fate} {trial.mutant.id}", done, of)

        try:
            found = survey(dialects, count, seed, module=module, tell=tell)
        except LookupError as error:
            stop(Exit.USAGE, f"--module: {error}")
    click.echo(json.dumps(found.to_json(), indent=1, ensure_ascii=False) if as_json else _survey_text(found))
    return Exit.CONFORMING if found.share >= _ENOUGH else Exit.DEVIATIONS


def _survey_text(found: Survey) -> str:
    counts = ", ".join(f"{len(found.of(fate))} {fate.replace('_', ' ')}" for fate in Fate)
    lines = [f"{', '.join(found.dialects)}: {len(found.trials)} mutants: {counts}; {found.share:.1%} noticed"]
    for trial in found.of(Fate.SURVIVED):
        m = trial.mutant
        lines += [
            f"survivor   {m.file}:{m.line}: {m.what}",
            f"           {', '.join(found.rows[m.id])} [{m.id}]",
        ]
    return "\n".join(lines)
