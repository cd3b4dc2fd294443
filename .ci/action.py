"""The step of the GitHub action: environment variables in, a run, outputs and an exit code out.

Knows: the names of the action's inputs and outputs. Must not know: how a run is made.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

USAGE = 2
OPTIONS = ("target", "targets", "dialect", "baseline", "shard")


def arguments(environment: Mapping[str, str]) -> list[str]:
    """The command line of ``amqpspec run`` for these inputs; an empty input is omitted."""
    given = {
        name.removeprefix("AMQPSPEC_").lower(): value.strip()
        for name, value in environment.items()
        if name.startswith("AMQPSPEC_")
    }
    line = [given["url"]] if given.get("url") else []
    line += [f"--{name}={given[name]}" for name in OPTIONS if given.get(name)]
    line += ["--strict"] if given.get("strict", "").lower() == "true" else []
    # A runner that keeps its folders has the previous run there, which was uploaded.
    return [
        *line,
        f"--out={given.get('out') or 'amqpspec-run'}",
        "--force",
        "--",
        *given.get("cases", "").split(),
    ]


def outputs(folder: Path, code: int) -> dict[str, str]:
    """What later steps can read; counts are left out of a run that wrote no results."""
    told = {"exit-code": str(code)}
    if code == USAGE:
        return told  # nothing was run: the files there are of an earlier run
    try:
        counted = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return told
    verdicts = [case["verdict"] for case in counted["cases"]]
    counts = {verdict: str(verdicts.count(verdict)) for verdict in ("pass", "fail", "blocked")}
    return told | counts | {"folder": str(folder), "planned": str(len(verdicts))}


def main() -> int:
    """Run, report, and exit with the run's exit code."""
    line = arguments(os.environ)
    folder = Path(next(word for word in line if word.startswith("--out=")).removeprefix("--out="))
    code = subprocess.run([sys.executable, "-m", "amqpspec", "run", *line], check=False).returncode
    if path := os.environ.get("GITHUB_OUTPUT"):
        with Path(path).open("a", encoding="utf-8") as told:
            told.writelines(f"{name}={value}\n" for name, value in outputs(folder, code).items())
    return code


if __name__ == "__main__":
    sys.exit(main())
