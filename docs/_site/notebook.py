"""A page from the notebook on marts: its text, its code, and the outputs that are stored in it.

Knows: the format of notebooks. Must not know: mkdocs, marts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).parents[2] / "examples/notebooks/marts.ipynb"
_SOURCE = (
    "\nThis page is the notebook `examples/notebooks/marts.ipynb` of the source, with its stored outputs.\n"
)


def pages() -> dict[str, str]:
    """Path in the site and Markdown of the one page."""
    title, *cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    lines = [*_cell(title), _SOURCE, *(line for cell in cells for line in _cell(cell))]
    return {"notebook.md": "\n".join([*lines, ""])}


def _cell(cell: Mapping[str, Any]) -> Iterator[str]:
    if cell["cell_type"] == "markdown":
        yield from ("".join(cell["source"]), "")
        return
    yield from ("```python", "".join(cell["source"]), "```", "")
    if printed := "".join(text for output in cell["outputs"] for text in output["text"]).strip("\n"):
        yield from ("```text", printed, "```", "")
