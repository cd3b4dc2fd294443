"""Runs every benchmark, or those whose module is named: ``python -m bench [codec …]``; one JSON object a line.

Knows: which modules measure something; each has ``rows()``, those of ``WITH_OPTIONS`` take options of the command line.
Must not know: what they measure.
"""

from __future__ import annotations

import sys
from importlib import import_module

import click

from amqpspec.cli.common import one_line_errors

MODULES = (
    "codec",
    "codec_0_10",
    "codec_1_0",
    "fuzz_breadth",
    "fuzz_detection",
    "fuzz_inputs",
    "fuzz_rate",
    "fuzz_speed",
    "pipeline",
    "process",
    "suite",
)
WITH_OPTIONS = frozenset({"fuzz_detection", "fuzz_rate", "fuzz_speed"})


def main(words: list[str]) -> int:
    """Print the rows of the named modules, or of all; returns 2 for an unknown name or option, else the exit code."""
    first = next((at for at, word in enumerate(words) if word.startswith("-")), len(words))
    names, options = words[:first], words[first:]
    unknown = [name for name in names if name not in MODULES]
    if unknown:
        print(f"no benchmark {unknown[0]!r}, expected one of {', '.join(MODULES)}", file=sys.stderr)
        return 2
    if options and not WITH_OPTIONS.issuperset(names or MODULES):
        print(f"options are for {', '.join(sorted(WITH_OPTIONS))} only, actual {options[0]}", file=sys.stderr)
        return 2
    for name in names or MODULES:
        try:
            module = import_module(f"bench.{name}")
        except ModuleNotFoundError as error:
            print(f"{name}: left out, for {error.name} is not installed", file=sys.stderr)
            continue
        try:
            with one_line_errors():
                for row in module.rows(options) if name in WITH_OPTIONS else module.rows():
                    print(row.line(), flush=True)
        except click.exceptions.Exit as ended:
            return ended.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
