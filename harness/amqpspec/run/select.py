"""Which cases of a suite are meant: ids, globs, requirement ids, suites, and ``@file`` lists.

Knows: how users name cases. Must not know: how cases run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from amqpspec.run.case import Case, load_file
from amqpspec.spec.names import did_you_mean


class SelectionError(ValueError):
    """A pattern that names nothing, or a list file that cannot be read."""


def select(cases: Mapping[str, Case], patterns: Iterable[str]) -> list[Case]:
    """The cases that any pattern names, in the order of the suite; no patterns name all. Raises SelectionError."""
    wanted = list(expand(patterns))
    if not wanted:
        return list(cases.values())
    named = {name for pattern in wanted for name in _named(cases, pattern)}
    return [case for case in cases.values() if case.id in named]


def with_files(
    cases: Mapping[str, Case], patterns: Iterable[str], dialect: str
) -> tuple[Mapping[str, Case], list[str]]:
    """The suite with the cases of those patterns that are files (``folder/case.py``), and patterns that name them.

    Raises SelectionError for a file without cases, or with those of another dialect.
    """
    known, names = dict(cases), list[str]()
    for pattern in expand(patterns):
        if not pattern.endswith(".py"):
            names.append(pattern)
            continue
        for case in _in_file(pattern).values():
            if case.dialect != dialect:
                raise SelectionError(
                    f"{pattern}: expected a case of {dialect}, actual: one of {case.dialect}"
                )
            known[case.id] = case
            names.append(case.id)
    return known, names


def _in_file(pattern: str) -> Mapping[str, Case]:
    try:
        found = load_file(Path(pattern))
    except (OSError, SyntaxError, ImportError, KeyError, TypeError) as error:
        raise SelectionError(f"{pattern}: expected a file with cases, actual: {error}") from error
    if not found:
        raise SelectionError(f"{pattern}: expected a file with cases, actual: none in it")
    return found


def expand(patterns: Iterable[str]) -> Iterable[str]:
    """Patterns with ``@file`` replaced by the file's lines; ``#`` begins a comment."""
    for pattern in patterns:
        if not pattern.startswith("@"):
            yield pattern
            continue
        try:
            lines = Path(pattern[1:]).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise SelectionError(f"cannot read {pattern[1:]}: {why}") from error
        yield from filter(None, (line.partition("#")[0].strip() for line in lines))


def _named(cases: Mapping[str, Case], pattern: str) -> list[str]:
    """Cases whose id matches; if none does, those of a module; if there is none, those that cover a row."""
    by: tuple[Callable[[Case], Iterable[str]], ...] = (
        lambda case: (case.id,),
        lambda case: (case.suite,),
        lambda case: case.covers,
    )
    for names in by:
        found = [c.id for c in cases.values() if any(fnmatchcase(name, pattern) for name in names(c))]
        if found:
            return found
    known = {name.rpartition(" ")[2] for case in cases.values() for names in by for name in names(case)}
    hint = did_you_mean(pattern, known) or "; try: amqpspec list"
    raise SelectionError(f"{pattern!r} names no case{hint}")
