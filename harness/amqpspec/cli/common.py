"""Common parts of verbs: finding the target, one-line errors with their exit codes.

Knows: the location of targets.yaml, exit codes. Must not know: what verbs do.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import click

from amqpspec.run.exits import Exit
from amqpspec.spec.dialects import UnknownDialectError, client_dialect, client_dialects, runnable_dialects

STATE_DIR = Path(".brokers")
_UNITS_S = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
TARGETS = click.option(
    "--targets", "targets_file", type=click.Path(path_type=Path), help="Use this file in place of targets.yaml.",
)  # fmt: skip
PATIENCE = click.option(
    "--patience", default=1.0, show_default=True, type=click.FloatRange(0.01, 100),
    help="Multiply every wait by this factor.",
)  # fmt: skip
EVIDENCE = click.option(
    "--evidence",
    type=click.Choice(["all", "sample", "deviations", "links"]),
    default="sample",
    show_default=True,
    help="Transcripts in matrix.html: all; deviations and a sample of passes; deviations, and links to no file"
    " (to publish); none, only links.",
)


def one_of(known: Callable[[], Sequence[str]] = runnable_dialects) -> dict[str, Any]:
    """The choice of dialects for an option; they are read when the option is used, not when a verb is imported."""

    def check(context: click.Context, option: click.Parameter, given: Any) -> Any:
        for value in given if isinstance(given, tuple) else (given,):
            if value is not None and value not in known():
                raise click.BadParameter(f"{value!r} is not one of {', '.join(map(repr, known()))}.")
        return given

    return {"callback": check, "metavar": f"[{'|'.join(known())}]"}


PRODUCT = click.option(
    "--product",
    default="",
    metavar="NAME",
    help="The name by which the server identifies itself (some clients require RabbitMQ).",
)
MAX_MESSAGE = click.option(
    "--max-message",
    "max_message_mib",
    default=1,
    show_default=True,
    metavar="MIB",
    type=click.IntRange(1, 128),
    help="The largest message that a server of AMQP 1.0 accepts.",
)
LENIENT = click.option(
    "--lenient", is_flag=True, help="Accept deviations that are common in the field, and report them."
)


def judged_dialect(given: str) -> str:
    """The dialect of clients for a dialect; ends with one line if there is none."""
    try:
        return client_dialect(given)
    except UnknownDialectError:
        stop(Exit.USAGE, f"--dialect: expected one of {', '.join(client_dialects())}, actual {given!r}")


def seconds_of(option: str, text: str) -> float:
    """The seconds of an option like ``90``, ``90s``, ``10m`` or ``8h``; ends with one line for any other text."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text)
    if found is None:
        stop(Exit.USAGE, f"{option}: expected a duration like 90s, 10m or 8h, actual {text!r}")
    return float(found[1]) * _UNITS_S[found[2]]


def command_words(option: str, command: str) -> Sequence[str]:
    """The words of a command line in an option; ends with one line if it is not valid."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        stop(Exit.USAGE, f"{option}: expected a command line, actual: {error}")
    if not words:
        stop(Exit.USAGE, f"{option}: expected a command line, actual: nothing")
    return words


def stop(code: Exit, text: str) -> NoReturn:
    """One line on standard error, then the documented exit code."""
    click.echo(f"amqpspec: {text}", err=True)
    raise click.exceptions.Exit(code)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn every error that a user can cause into one line and its exit code."""
    try:
        yield
    except BrokenPipeError:
        # Who reads the output has enough of it, as `head` has: no error of anyone's.
        raise
    except Exception as error:
        code = _code_of(error)
        if code is None:
            raise
        stop(code, " ".join(_text(error).split()))


def _text(error: Exception) -> str:
    """A system error without its number, with the file first; any other error in its own words."""
    if isinstance(error, OSError) and type(error).__module__ == "builtins" and error.strerror:
        return ": ".join(str(part) for part in (error.filename2 or error.filename, error.strerror) if part)
    return str(error)


def _code_of(error: Exception) -> Exit | None:
    """The exit code of an error by its class; looked up by name, so that quick verbs import nothing for it."""
    names = {kind.__name__ for kind in type(error).__mro__}
    return next((code for name, code in _CODES.items() if name in names), None)


_CODES = {
    "AgentError": Exit.USAGE,
    "ConfigError": Exit.USAGE,
    "SelectionError": Exit.USAGE,
    "BaselineError": Exit.USAGE,
    "ReportError": Exit.USAGE,
    "LedgerError": Exit.USAGE,
    "UnknownFaultError": Exit.USAGE,
    "IdError": Exit.USAGE,
    "ReplayError": Exit.USAGE,
    "FindingError": Exit.USAGE,
    "CaptureError": Exit.USAGE,
    "SeedError": Exit.USAGE,
    "CoverageError": Exit.USAGE,
    "BoofuzzMissing": Exit.USAGE,
    "OutOfScope": Exit.USAGE,
    "NotAttached": Exit.USAGE,
    "CannotListen": Exit.USAGE,
    "Unanswered": Exit.TARGET,
    "TargetError": Exit.TARGET,
    "TargetLost": Exit.TARGET,
    "BrokerError": Exit.TARGET,
    "ProbeFailed": Exit.TARGET,
    "OSError": Exit.HARNESS,
}


def interactive() -> bool:
    """Whether to draw progress: only on a terminal that can move its cursor."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
