"""What several verbs share: finding the target, one-line errors with their exit codes.

Knows: targets.yaml's place, exit codes. Must not know: what verbs do.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import click

from amqpspec.run.results import Exit
from amqpspec.spec.dialects import runnable_dialects

STATE_DIR = Path(".brokers")


def one_of(known: Callable[[], Sequence[str]] = runnable_dialects) -> dict[str, Any]:
    """What makes an option take dialects: those that are known when it is read, not when a verb was imported."""

    def check(context: click.Context, option: click.Parameter, given: Any) -> Any:
        for value in given if isinstance(given, tuple) else (given,):
            if value is not None and value not in known():
                raise click.BadParameter(f"{value!r} is not one of {', '.join(map(repr, known()))}.")
        return given

    return {"callback": check, "metavar": f"[{'|'.join(known())}]"}


def stop(code: Exit, text: str) -> NoReturn:
    """One line on standard error, then the documented exit code."""
    click.echo(f"amqpspec: {text}", err=True)
    raise click.exceptions.Exit(code)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn every error that a user can cause into one line and its exit code."""
    try:
        yield
    except Exception as error:
        code = _code_of(error)
        if code is None:
            raise
        stop(code, " ".join(_text(error).split()))


def _text(error: Exception) -> str:
    """An error of the system without its number, the file first; any other in its own words."""
    if isinstance(error, OSError) and type(error).__module__ == "builtins" and error.strerror:
        return ": ".join(str(part) for part in (error.filename2 or error.filename, error.strerror) if part)
    return str(error)


def _code_of(error: Exception) -> Exit | None:
    """The exit code of an error by its class; looked up by name so that quick verbs import nothing for it."""
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
    "BoofuzzMissing": Exit.USAGE,
    "OutOfScope": Exit.USAGE,
    "NotAttached": Exit.USAGE,
    "Unanswered": Exit.TARGET,
    "TargetError": Exit.TARGET,
    "BrokerError": Exit.TARGET,
    "ProbeFailed": Exit.TARGET,
    "OSError": Exit.HARNESS,
}


def interactive() -> bool:
    """Whether progress may be drawn: on a terminal that can move its cursor."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
