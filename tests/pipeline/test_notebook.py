"""The notebook on marts: it runs in a kernel, its answers are those of the marts, and its outputs are stored."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "examples/notebooks/marts.ipynb"
LIMIT_S = 120
Cells = dict[str, str]


_EXECUTE = """
import sys
import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

source, out, sockets, limit_s = sys.argv[1:]
notebook = nbformat.read(source, as_version=4)
kernel = AsyncKernelManager(kernel_name="python3", transport="ipc", ip=sockets)
NotebookClient(notebook, km=kernel, timeout=int(limit_s)).execute()
nbformat.write(notebook, out)
"""
"""Sockets are files: a kernel that chooses ports of its own can meet one that another test has just taken."""


@pytest.fixture(scope="module")
def printed(marts: Path) -> Cells:
    """The output of the cells below each heading, run on the synthetic marts."""
    with tempfile.TemporaryDirectory(prefix="nb") as home:
        folders = ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
        done = subprocess.run(
            [sys.executable, "-c", _EXECUTE, str(NOTEBOOK), f"{home}/out.ipynb", f"{home}/k", str(LIMIT_S)],
            env={**os.environ, **dict.fromkeys(folders, home), "AMQPSPEC_MARTS": str(marts)},
            capture_output=True,
            text=True,
            timeout=2 * LIMIT_S,
        )
        assert done.returncode == 0, done.stderr
        return by_heading(json.loads(Path(home, "out.ipynb").read_text("utf-8")))


def by_heading(notebook: Any) -> Cells:
    found: Cells = {}
    heading = ""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            heading = "".join(cell["source"]).partition("\n")[0].lstrip("# ")
        else:
            texts = ["".join(output["text"]) for output in cell["outputs"]]
            found[heading] = found.get(heading, "") + "".join(texts)
    return found


def rows(marts: Path, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((marts / name / f"{name}.json").read_text("utf-8"))
    return found


def stored() -> Any:
    return json.loads(NOTEBOOK.read_text("utf-8"))


def test_regressions_are_those_of_the_newest_versions(marts: Path, printed: Cells) -> None:
    newest = {(row["target"], row["target_version"]) for row in rows(marts, "verdicts") if row["newest"]}
    due = {
        row["case"]
        for row in rows(marts, "regressions")
        if (row["target"], row["to_target_version"]) in newest
        and (row["direction"], row["change"], row["flaky"]) == ("regressed", "target-version", False)
    }
    assert due and cells_of(printed["What regressed since the last version?"], 1) == due


def test_rules_that_every_broker_keeps_are_counted(marts: Path, printed: Cells) -> None:
    coverage = rows(marts, "requirement_coverage")
    targets = {(row["dialect"], row["target"]) for row in coverage}
    kept: dict[tuple[str, str], dict[str, bool]] = {}
    for row in coverage:
        if (row["newest"], row["status"], row["level"]) == (True, "judged", "MUST"):
            sides = kept.setdefault((row["dialect"], row["requirement"]), {})
            sides[row["target"]] = row["verdict"] in ("pass", "observed")
    due = [
        rule
        for rule, sides in kept.items()
        if all(sides.values()) and len(sides) == len([t for t in targets if t[0] == rule[0]])
    ]
    counts = cells_of(printed["Which rules does every broker keep?"], 2, distinct=False)
    assert sum(map(int, counts)) == len(due) > 0
    both = [rule for rule, sides in kept.items() if len({*sides.values()}) == 2]
    assert printed["Which rules do only some brokers keep?"].startswith(f"{len(both)} rules\n")


def test_the_flakiest_case_is_first(marts: Path, printed: Cells) -> None:
    flaky = sorted(rows(marts, "flakiness"), key=lambda row: -(row["flip_rate"] or -1))
    (first, *_) = lines_of(printed["Which cases are the flakiest?"])
    assert float(first[5]) == round(flaky[0]["flip_rate"], 2) > 0
    assert first[2] in {row["case"] for row in flaky if row["flip_rate"] == flaky[0]["flip_rate"]}


def test_scores_are_those_of_the_mart(marts: Path, printed: Cells) -> None:
    counted = [row for row in rows(marts, "scores") if row["level"] == "MUST"]
    table = lines_of(printed["How does the score change from version to version?"])
    assert table
    for target, version, dialect, runs, percent in table:
        of_row = [
            row
            for row in counted
            if (row["target"], row["target_version"], row["dialect"]) == (target, version, dialect)
        ]
        share = sum(row["green"] for row in of_row) / sum(row["counted"] for row in of_row)
        assert int(runs) == len({row["run"] for row in of_row})
        assert float(percent) == pytest.approx(100 * share, abs=0.06)


def test_every_cell_has_a_stored_output_without_a_path_or_an_error() -> None:
    cells = [cell for cell in stored()["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == [*range(1, len(cells) + 1)]
    for cell in cells[:-1]:
        assert {output["name"] for output in cell["outputs"]} == {"stdout"}, cell["source"]
        assert not [
            text for output in cell["outputs"] for text in output["text"] if "/home" in text or "/tmp" in text
        ]
    assert not cells[-1]["outputs"], "the last cell stops Spark"


def lines_of(table: str) -> list[list[str]]:
    """The values of each row of a printed table: DuckDB has two lines of head, Spark one."""
    lines = [line for line in table.splitlines() if line.startswith(("│", "|"))]
    values = [[value.strip() for value in line.strip("│|").replace("│", "|").split("|")] for line in lines]
    return values[2 if lines and lines[0].startswith("│") else 1 :]


def cells_of(table: str, column: int, distinct: bool = True) -> Any:
    found = [line[column] for line in lines_of(table)]
    return {*found} if distinct else found
