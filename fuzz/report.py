"""A campaign in words: one line while it runs, a page when it has ended.

Knows: summaries. Must not know: how campaigns run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

_NAMED_CELLS = 20


def write_summary(folder: Path, summary: Mapping[str, Any]) -> None:
    """Write ``summary.json`` and ``summary.md`` into a campaign's folder."""
    (folder / "summary.json").write_text(json.dumps(summary, indent=1, ensure_ascii=False) + "\n", "utf-8")
    (folder / "summary.md").write_text("\n".join(markdown(summary)) + "\n", "utf-8")


def one_line(summary: Mapping[str, Any]) -> str:
    """The campaign in one line."""
    done = summary["covered"] + summary["not_reachable"] + summary["stopped"]
    return (
        f"{summary['target']}: {summary['inputs']} inputs ({summary['rate_per_s']}/s, {summary['random']} random), "
        f"cells {done} of {summary['cells_planned']}, {summary['response_states']} response states, "
        f"{len(summary['findings'])} findings, {sum(summary['suppressed'].values())} known deviations"
    )


def markdown(summary: Mapping[str, Any]) -> Iterator[str]:
    """The campaign as a page."""
    yield f"# Campaign against {summary['target']} ({summary['dialect']})"
    yield ""
    yield one_line(summary) + f". Ended after {summary['seconds']} s: {summary['ended']}."
    yield ""
    yield (
        f"Cells: {summary['covered']} covered, {summary['not_reachable']} not reachable, {summary['stopped']} "
        f"stopped, {summary['open']} open. Seed {summary['seed']}, shard {'/'.join(map(str, summary['shard']))}."
    )
    yield (
        f"Seen again: {summary['repeats']}. Not to be repeated, and so no findings: {summary['unconfirmed']}. "
        f"Trials to blame and to make smaller: {summary['trials']}."
    )
    if summary.get("memory_limit_mib"):
        yield f"The target's process may write to {summary['memory_limit_mib']} MiB at most."
    yield from _findings(summary)
    yield from _unblamed(summary)
    yield from _cells(summary)
    yield from _known(summary)


def _findings(summary: Mapping[str, Any]) -> Iterator[str]:
    if summary["findings"]:
        yield from ("", "| finding | status | what | input | replay |", "|---|---|---|---|---|")
    for found in summary["findings"]:
        what = " ".join(str(found["detail"]).split())[:200].replace("|", "\\|")
        name = f"{found['oracle']}-{found['signature']}"
        yield f"| {name} | {found['status']} | {what} | {found['input'] or 'a batch'} | `{found['replay']}` |"


def _unblamed(summary: Mapping[str, Any]) -> Iterator[str]:
    """What was blamed often enough before it came again, and where it did."""
    found = summary.get("unblamed", {})
    if found:
        yield from ("", "| came again, not blamed any more | where |", "|---|---|")
    for cause, places in found.items():
        where = ", ".join(f"{place} ({count})" for place, count in places.items())
        yield f"| {cause[:200].replace('|', chr(92) + '|')} | {where} |"


def _cells(summary: Mapping[str, Any]) -> Iterator[str]:
    others = list(summary["cells_not_covered"].items())
    if others:
        yield from ("", "Cells that were not covered:", "")
    yield from (f"- {key}: {why}" for key, why in others[:_NAMED_CELLS])
    if len(others) > _NAMED_CELLS:
        yield f"- and {len(others) - _NAMED_CELLS} more, in summary.json"


def _known(summary: Mapping[str, Any]) -> Iterator[str]:
    if summary["suppressed"]:
        yield from (
            "",
            "Requirements that the baseline says are broken, and how often they were seen broken:",
            "",
        )
    yield from (f"- {row}: {count}" for row, count in sorted(summary["suppressed"].items()))
