"""``query``: queries on the marts of many runs.

Knows: where marts are, formats. Must not know: how a query is evaluated.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from amqpspec.cli.common import one_line_errors, stop
from amqpspec.run.exits import Exit


class _Query(click.Command):
    """A command that treats ``-is:known`` as a term, not as an option."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """The only short options are those for help."""
        return super().parse_args(context, [f" {arg}" if _is_term(arg) else arg for arg in args])


def _is_term(arg: str) -> bool:
    return arg.startswith("-") and not arg.startswith("--") and arg != "-h"


@click.command(cls=_Query, short_help="Query the marts: 'status:fail target:rabbitmq is:different'.")
@click.argument("terms", nargs=-1)
@click.option("--marts", type=click.Path(path_type=Path), default=Path("marts"), show_default=True)
@click.option("--mart", default="verdicts", show_default=True, help="The mart to query.")
@click.option(
    "--format", "form", type=click.Choice(["table", "json", "csv"]), default="table", show_default=True
)
@click.option("--all-versions", is_flag=True, help="Include older versions of a target.")
def query(terms: tuple[str, ...], marts: Path, mart: str, form: str, all_versions: bool) -> None:
    """Print the rows of a mart that match all terms.

    A term is COLUMN:VALUE (globs; a,b for either), COLUMN:>N, is:FLAG, or a word. Combine terms with or, not (or -),
    parentheses and quotes. Exit codes: 0 rows found, 1 none, 2 the query is not valid.
    """
    from amqpspec.reports.query.evaluate import compile_query
    from amqpspec.reports.query.marts import open_mart
    from amqpspec.reports.query.output import as_csv, as_json, as_table
    from amqpspec.reports.query.parse import QueryError, parse

    typed = " ".join(terms)
    with one_line_errors():
        chosen = open_mart(marts, mart)
        try:
            test = compile_query(parse(typed), chosen.columns, chosen.flags, typed)
        except QueryError as error:
            click.echo(error.pointed, err=True)
            stop(Exit.USAGE, error.why)
        is_newest = "newest" in chosen.columns and not all_versions
        rows = (row for row in chosen.answers(test) if not is_newest or row["newest"])
        if form == "json":
            count = as_json(rows, sys.stdout)
        elif form == "csv":
            count = as_csv(rows, chosen.columns, sys.stdout)
        else:
            count = as_table(rows, chosen.shown, sys.stdout)
    click.echo(f"{count} rows of {mart}", err=True)
    raise click.exceptions.Exit(Exit.CONFORMING if count else Exit.DEVIATIONS)
