"""SARIF 2.1.0: the common parts of all logs, around rules and results.

Knows: SARIF. Must not know: what a rule or a result is about.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from amqpspec.reports.files import atomic_text

VERSION = "2.1.0"
SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def log(
    automation: str,
    rules: Sequence[Mapping[str, Any]],
    results: Sequence[Mapping[str, Any]],
    **more: Any,
) -> dict[str, Any]:
    """A log with one run of this tool; ``automation`` identifies logs to compare."""
    driver = {"name": "amqpspec", "version": version("amqpspec"), "rules": list(rules)}
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": automation},
        "results": list(results),
        **more,
    }
    return {"$schema": SCHEMA, "version": VERSION, "runs": [run]}


def write_log(path: Path, document: Mapping[str, Any]) -> None:
    """Write a log atomically."""
    with atomic_text(path) as out:
        json.dump(document, out, indent=1)
        out.write("\n")
