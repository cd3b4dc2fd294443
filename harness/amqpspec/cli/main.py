"""The command line: verbs, imported when they are called, so that ``--help`` and ``list`` stay quick.

Knows: which module has which verb, and that errors of users are one line. Must not know: what the verbs do.
"""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from amqpspec.spec.names import did_you_mean

_VERBS = {
    "run": ("amqpspec.cli.run", "run", "Certify a target: run cases, keep the evidence, write the reports."),
    "list": ("amqpspec.cli.catalogue", "list_cases", "List cases."),
    "explain": ("amqpspec.cli.catalogue", "explain", "Explain a case or a requirement."),
    "coverage": ("amqpspec.cli.catalogue", "coverage", "Show which requirements have cases, which have none, and why."),
    "merge": ("amqpspec.cli.merge", "merge", "Combine the shards of a run into one run."),
    "replay": ("amqpspec.cli.replay", "replay", "Send a transcript's octets again, or write them as pcapng."),
    "report": ("amqpspec.cli.report", "report", "Write the reports of one or more runs."),
    "compare": ("amqpspec.cli.report", "compare", "Show what changed between two runs."),
    "certificate": ("amqpspec.cli.certificate", "certificate", "Issue or verify the certificate of a run."),
    "baseline": ("amqpspec.cli.report", "baseline", "Write a baseline from a run's deviations."),
    "selftest": ("amqpspec.cli.selftest", "selftest", "Prove the suite: the clean broker passes, faults are found."),
    "fuzz": ("amqpspec.cli.fuzz", "fuzz", "Fuzz a target with mutated frames; replay findings."),
    "pipeline": ("amqpspec.cli.pipeline", "pipeline", "Collect runs in a lake; build marts and pages."),
    "site": ("amqpspec.cli.pipeline", "site", "Write pages to publish from marts."),
    "query": ("amqpspec.cli.query", "query", "Query the marts: 'status:fail target:rabbitmq is:different'."),
    "brokers": ("amqpspec.cli.brokers", "brokers", "Install, start, stop and list known real brokers."),
    "client": ("amqpspec.cli.client", "client", "Certify a client library."),
    "serve": ("amqpspec.cli.observe", "serve", "Judge every client that connects, without an agent."),
    "watch": ("amqpspec.cli.observe", "watch", "Judge clients and servers in a capture."),
    "proxy": ("amqpspec.cli.observe", "proxy", "Pass clients on to a broker and judge both."),
    "agent": ("amqpspec.cli.agent", "agent", "Run scenarios as the reference agent."),
    "clean": ("amqpspec.cli.clean", "clean", "Delete what killed runs left on a target."),
    "reference": ("amqpspec.cli.brokers", "reference", "Serve the reference broker, with or without named faults."),
}  # fmt: skip
_EXTRAS = {"fuzz": "fuzz", "pipeline": "pipeline", "query": "pipeline", "site": "pipeline"}
"""The extra that a verb needs."""
_OPTIONAL = {"pyarrow", "pyspark"}


class _OutputClosed(Exception):
    """The reader of the output has closed it. Click would end with 1, which is the code of deviations."""


class _Verbs(click.Group):
    """A group whose commands are imported when needed; their help texts are here."""

    def list_commands(self, context: click.Context) -> list[str]:
        """Verbs in the order of use."""
        return list(_VERBS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Import one verb."""
        if name not in _VERBS:
            raise click.UsageError(f"No such command {name!r}{did_you_mean(name, _VERBS)}.", context)
        module, attribute, _ = _VERBS[name]
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def invoke(self, context: click.Context) -> Any:
        """Run a verb; report the extra that the user has to install."""
        try:
            return super().invoke(context)
        except BrokenPipeError as error:
            raise _OutputClosed from error
        except ModuleNotFoundError as error:
            missing = str(error.name).partition(".")[0]
            if missing not in _OPTIONAL:
                raise
            verb = context.invoked_subcommand or ""
            extra = _EXTRAS.get(verb, "pipeline")
            click.echo(f"amqpspec: {verb} needs {missing}: pip install 'amqpspec[{extra}]'", err=True)
            raise click.exceptions.Exit(2) from error

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """The verbs with their short help, without importing them."""
        with formatter.section("Verbs"):
            formatter.write_dl([(name, text) for name, (_, _, text) in _VERBS.items()])


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="amqpspec")
def cli() -> None:
    """Certify AMQP implementations, requirement by requirement, with octets as evidence.

    Exit codes: 0 conforming or baseline met, 1 deviations, 2 usage or configuration, 3 target not reached or login
    refused, 4 harness error or incomplete run, 5 stale baseline.
    """


def main() -> None:
    """The entry point of the console script."""
    try:
        code = cli.main(prog_name="amqpspec", standalone_mode=False, **_colour(os.environ))
    except click.Abort as end:
        # Click treats the end of a file as an interrupt; a damaged file has to be reported.
        click.echo(f"amqpspec: {str(end.__cause__ or '') or 'stopped'}", err=True)
        sys.exit(4)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (_OutputClosed, BrokenPipeError):
        # Discard what Python flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(4)
    except Exception as error:
        click.echo(f"amqpspec: {_unforeseen(error)}", err=True)
        sys.exit(4)
    sys.exit(code if isinstance(code, int) else 0)


def _colour(environment: Mapping[str, str]) -> dict[str, Any]:
    """The argument for click that disables colours, if the user or the terminal requires it."""
    plain = environment.get("NO_COLOR") or environment.get("TERM") == "dumb"
    return {"color": False} if plain else {}


def _unforeseen(error: Exception) -> str:
    """One line for an unexpected error, and a file with its details."""
    what = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", prefix="amqpspec-error-", suffix=".txt", delete=False
        ) as report:
            report.write("".join(traceback.format_exception(error)))
    except OSError:
        return f"unforeseen error: {what}"
    return f"unforeseen error: {what}; please report it with {report.name}"


if __name__ == "__main__":
    main()
