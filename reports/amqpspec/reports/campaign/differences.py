"""Writes differences.json and differences.html: how the reactions of several targets differ.

Knows: the template and its data. Must not know: how targets are compared.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from amqpspec.reports.files import atomic_text
from amqpspec.reports.html.page import breakable
from amqpspec.reports.html.targets import duration
from amqpspec.reports.html.template import environment
from amqpspec.reports.outcomes import dialect_title

SHOWN_MAX = 500
"""The page shows at most this many groups of each kind; the JSON contains all."""


def write_differences(folder: Path, result: Mapping[str, Any]) -> Path:
    """Write both files; returns the path of the page."""
    with atomic_text(folder / "differences.json") as out:
        out.write(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    page = folder / "differences.html"
    made = environment(Path(__file__).parent, ("campaign.js",))
    made.filters["breakable"] = breakable
    context = {
        "result": result,
        "dialect": dialect_title(result["dialect"]),
        "when": duration,
        "most": SHOWN_MAX,
    }
    with atomic_text(page) as out:
        out.writelines(made.get_template("differences.html.j2").generate(context))
    return page
