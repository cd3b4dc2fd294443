"""``list``, ``explain`` and ``coverage``: the contents of the suite, without a target.

Knows: suites and ledgers. Must not know: targets, runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

import click

from amqpspec.cli.common import one_line_errors, one_of, stop
from amqpspec.run.case import Case, load_suite
from amqpspec.run.coverage import Coverage, coverage_of
from amqpspec.run.exits import Exit
from amqpspec.run.select import select
from amqpspec.spec.dialects import (
    certified_dialects,
    client_dialects,
    load_dialect,
    load_ledger,
    runnable_dialects,
    widest,
)
from amqpspec.spec.model import Requirement
from amqpspec.spec.names import did_you_mean


def _with_suites() -> tuple[str, ...]:
    return (*runnable_dialects(), *client_dialects())


_DIALECT = click.option(
    "--dialect",
    "-d",
    "dialects",
    multiple=True,
    **one_of(_with_suites),
    help="Default: all that are certified.",
)


@click.command("list", short_help="List cases.")
@click.argument("patterns", nargs=-1, metavar="[CASE]...")
@_DIALECT
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
def list_cases(patterns: tuple[str, ...], dialects: tuple[str, ...], as_json: bool) -> None:
    """List cases by id, requirement id, module, glob or @file."""
    with one_line_errors():
        suites = {d: load_suite(d) for d in dialects or certified_dialects()}
        cases = select(
            {f"{d} {id}": case for d, suite in suites.items() for id, case in suite.items()}, patterns
        )
    if as_json:
        click.echo(json.dumps([_case_json(case) for case in cases], indent=1))
        return
    width = max((len(case.id) for case in cases), default=0)
    for case in cases:
        click.echo(f"{case.id:{width}}  {case.title}")


@click.command(short_help="Explain a case or a requirement.")
@click.argument("name", metavar="ID")
def explain(name: str) -> None:
    """Explain what a case does and what its requirements demand, or list the cases of a requirement."""
    found, known = False, set[str]()
    for dialect in _with_suites():
        suite, ledger = load_suite(dialect), load_ledger(dialect)
        known |= {*suite, *ledger}
        if name in suite:
            _explain_case(suite[name])
            found = True
        if name in ledger:
            _explain_requirement(ledger[name], dialect, suite.values())
            found = True
    if not found:
        hint = did_you_mean(name, known) or "; try: amqpspec list"
        stop(Exit.USAGE, f"{name!r} is neither a case nor a requirement{hint}")


@click.command(short_help="Requirements covered, excluded, open.")
@_DIALECT
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
@click.option(
    "--open", "only_open", is_flag=True, help="List only requirements with neither a case nor a reason."
)
def coverage(dialects: tuple[str, ...], as_json: bool, only_open: bool) -> None:
    """Count testable, covered, excluded and open requirements; list the excluded ones with their reasons."""
    tables = {d: coverage_of(load_ledger(d), load_suite(d)) for d in dialects or certified_dialects()}
    if as_json:
        click.echo(json.dumps({"dialects": {d: table.to_json() for d, table in tables.items()}}, indent=1))
        return
    for dialect, table in tables.items():
        _print_coverage(dialect, table, only_open)


def _print_coverage(dialect: str, table: Coverage, only_open: bool) -> None:
    click.echo(
        f"{dialect}: {table.testable} testable = {table.covered} covered + {len(table.excluded)} excluded"
        f" + {len(table.open)} open; {len(table.untestable)} not testable; {table.beyond} rows beyond the inventory"
    )
    for row in table.open:
        click.echo(f"  open      {row.id}: {row.paraphrase}")
    if only_open:
        return
    for title, rows in (("excluded", table.excluded), ("untestable", table.untestable)):
        for row in rows:
            click.echo(f"  {title:10} {row.id}: {row.excluded}")


def _explain_case(case: Case) -> None:
    click.echo(f"{case.id} ({case.dialect}, {case.suite})\n  {case.title}")
    marks = [*(f"needs {n}" for n in case.needs), *(f"hook {h}" for h in case.hooks)]
    marks += ["destructive"] if case.destructive else []
    if marks:
        click.echo(f"  {', '.join(marks)}")
    for requirement in case.requirements:
        click.echo(_requirement_text(requirement, case.dialect, "  "))


def _explain_requirement(requirement: Requirement, dialect: str, cases: Iterable[Case]) -> None:
    click.echo(_requirement_text(requirement, dialect, ""))
    for case in cases:
        if requirement.id in case.covers:
            click.echo(f"  case {case.id}: {case.title}")


def _requirement_text(r: Requirement, dialect_id: str, indent: str) -> str:
    dialect = load_dialect(widest(dialect_id))
    lines = [f"{r.id} ({r.level}, binds {r.binds}; {dialect_id} {r.section})", f"  {r.paraphrase}"]
    for title, refusals in (("expected", r.accepts), ("tolerated", r.tolerates)):
        if refusals:
            lines.append(f"  {title}: {' or '.join(x.describe(dialect) for x in refusals)}")
    lines += [
        f"  {title}: {text}" for title, text in (("reading", r.reading), ("excluded", r.excluded)) if text
    ]
    return "\n".join(indent + line for line in lines)


def _case_json(case: Case) -> dict[str, object]:
    return {
        "id": case.id, "dialect": case.dialect, "suite": case.suite, "title": case.title, "level": str(case.level),
        "requirements": list(case.covers), "needs": list(case.needs), "hooks": list(case.hooks),
        "destructive": case.destructive,
    }  # fmt: skip
