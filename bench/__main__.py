"""Runs every benchmark, or those whose module is named: ``python -m bench [codec …]``; one JSON object a line.

Knows: which modules measure something; each has ``rows()``. Must not know: what they measure.
"""

from __future__ import annotations

import sys
from importlib import import_module

MODULES = ("codec", "codec_1_0", "fuzz_inputs", "fuzz_speed", "pipeline", "process", "suite")


def main(names: list[str]) -> int:
    """Print the rows of the named modules, or of all; 2 for a name that there is not."""
    unknown = [name for name in names if name not in MODULES]
    if unknown:
        print(f"no benchmark {unknown[0]!r}, expected one of {', '.join(MODULES)}", file=sys.stderr)
        return 2
    for name in names or MODULES:
        try:
            module = import_module(f"bench.{name}")
        except ModuleNotFoundError as error:
            print(f"{name}: left out, for {error.name} is not installed", file=sys.stderr)
            continue
        for row in module.rows():
            print(row.line(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
