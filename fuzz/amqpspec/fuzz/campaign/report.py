"""The text output of a campaign: one line while it runs, a page when it has ended.

Knows: summaries, the checkpoint that a campaign leaves behind. Must not know: how campaigns run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from amqpspec.fuzz.campaign.journal import PROGRESS, findings_in, read_progress
from amqpspec.fuzz.campaign.schedule import chosen_cells
from amqpspec.fuzz.campaign.tally import Tally, cells_in_words
from amqpspec.fuzz.grammar import grammar_hash
from amqpspec.fuzz.triage.findings import read_finding
from amqpspec.record.journal import JournalError, read_journal
from amqpspec.record.reading import parse_json

_NAMED_CELLS = 20
_WHAT_CHARS = 200
_CUT_SHORT = "aborted, or still running"
_OF_THE_MANIFEST = ("url", "product", "version", "suite_version", "workers")


def write_summary(folder: Path, summary: Mapping[str, Any]) -> None:
    """Write ``summary.json`` and ``summary.md`` into the folder of a campaign."""
    (folder / "summary.json").write_text(json.dumps(summary, indent=1, ensure_ascii=False) + "\n", "utf-8")
    (folder / "summary.md").write_text("\n".join(markdown(summary)) + "\n", "utf-8")


def summary_of(folder: Path) -> dict[str, Any]:
    """The summary of a campaign, updated if the campaign continued after it was written. Raises JournalError.

    What an older version did not record, the state of each cell, comes from the checkpoint.
    """
    written = _read_summary(folder)
    if written is not None and not (folder / PROGRESS).exists():
        return written
    saved = read_progress(folder)
    try:
        over = written is not None and written.get("inputs") == saved["tally"]["inputs"]
        found = _from_checkpoint(
            folder, saved, written or {}, str((written or {}).get("ended", "")) if over else _CUT_SHORT
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise JournalError(
            f"{folder / PROGRESS}: expected the progress of a campaign, actual: {error!r}"
        ) from error
    if written is None or not over:
        return found
    if written.get("cell_states"):
        return {**found, **written}
    return {**written, **{name: found[name] for name in ("cell_states", "tables") if name in found}}


def _read_summary(folder: Path) -> dict[str, Any] | None:
    try:
        written = parse_json((folder / "summary.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return written if isinstance(written, dict) else None


def _from_checkpoint(
    folder: Path, saved: Mapping[str, Any], written: Mapping[str, Any], ended: str
) -> dict[str, Any]:
    """A summary from the journal, ``progress.json`` and the folders of findings."""
    plan, tally = saved["plan"], Tally.from_json(saved["tally"])
    begun = next((line for line in read_journal(folder) if line.get("kind") == "campaign"), {})
    # Of other tables than ours, only the cells that were begun have names; how many there are may be known.
    ours = grammar_hash(plan["dialect"]) == plan["grammar"]
    planned = [cell.key for cell in chosen_cells(plan["dialect"], tuple(plan["cells"]))] if ours else []
    keys = list(dict.fromkeys([*planned, *tally.cells]))
    known = len(keys) if ours else max(len(keys), int(written.get("cells_planned", 0)))
    found = [dict(read_finding(folder / "findings" / name)) for name in findings_in(folder).values()]
    return {
        **plan, "run": saved.get("run", ""), "started": saved.get("started", ""), "ended": ended,
        **{name: begun[name] for name in _OF_THE_MANIFEST if name in begun},
        "response_states": len(saved["energy"].get("seen", ())), **tally.figures(known),
        "reactions": dict(tally.reactions), "cell_states": tally.states(((key, None) for key in keys), ended),
        "findings": found, "causes": by_cause(found), **({} if ours else {"tables": "other"}),
    }  # fmt: skip


def by_cause(findings: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The causes of findings as in ``finding.json``; one that an older version wrote is a cause of its own."""
    found: dict[str, dict[str, Any]] = {}
    for one in findings:
        id = one.get("cause") or one["signature"]
        words = one.get("cause_words") or one["top"]
        row = found.setdefault(id, {"cause": id, "words": words, "findings": []})
        row["findings"].append(f"{one['oracle']}-{one['signature']}")
    return list(found.values())


def one_line(summary: Mapping[str, Any]) -> str:
    """The campaign on one line."""
    cells = cells_in_words(
        summary["covered"], summary["cells_planned"], summary["stopped"], summary["not_reachable"]
    )
    findings, causes = len(summary["findings"]), len(by_cause(summary["findings"]))
    of = f" of {causes} cause{'s' if causes > 1 else ''}" if causes < findings else ""
    return (
        f"{summary['target']}: {summary['inputs']} inputs ({summary['rate_per_s']}/s, {summary['random']} random), "
        f"cells {cells}, {summary['response_states']} response states, "
        f"{findings} findings{of}, {sum(summary['suppressed'].values())} known deviations"
    )


def markdown(summary: Mapping[str, Any]) -> Iterator[str]:
    """The campaign as a page."""
    yield f"# Campaign against {summary['target']} ({summary['dialect']})"
    yield ""
    yield one_line(summary) + f". Ended after {summary['seconds']} s: {summary['ended']}."
    yield ""
    yield (
        f"Cells: {summary['covered']} covered, {summary['not_reachable']} not reachable, {summary['stopped']} "
        f"stopped, {summary['open']} open, of which {summary.get('put_off', 0)} were put off. "
        f"Seed {summary['seed']}, shard {'/'.join(map(str, summary['shard']))}."
    )
    yield (
        f"Known causes seen again: {summary['repeats']}. Unconfirmed complaints: {summary['unconfirmed']}. "
        f"Trials for blame and minimization: {summary['trials']}. "
        f"Blame, restarts, crashes and hangs took {summary.get('blame_seconds', 0.0)} s."
    )
    if summary.get("memory_limit_mib"):
        yield f"The data memory of the target's process is limited to {summary['memory_limit_mib']} MiB."
    if summary.get("note"):
        yield f"Note: {summary['note']}."
    yield from _findings(summary)
    yield from _unblamed(summary)
    yield from _cells(summary)
    yield from _known(summary)


def what(found: Mapping[str, Any]) -> str:
    """A finding on one line: for a log, the top of the error."""
    said = found["top"] if found["oracle"] == "log" else found["detail"]
    return " ".join(str(said).split())[:_WHAT_CHARS]


def _findings(summary: Mapping[str, Any]) -> Iterator[str]:
    rows = {f"{found['oracle']}-{found['signature']}": found for found in summary["findings"]}
    for cause in by_cause(summary["findings"]):
        yield from ("", f"## {_cell(cause['words'])}", "")
        yield from ("| finding | status | what | input | replay |", "|---|---|---|---|---|")
        for name in cause["findings"]:
            found = rows[name]
            cells = (
                name,
                found["status"],
                _cell(what(found)),
                found["input"] or "a batch",
                f"`{found['replay']}`",
            )
            yield f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    return " ".join(text.split())[:_WHAT_CHARS].replace("|", "\\|")


def _unblamed(summary: Mapping[str, Any]) -> Iterator[str]:
    """Causes that occurred again after they were blamed often enough, and where."""
    found = summary.get("unblamed", {})
    if found:
        yield from ("", "| cause, only counted | where |", "|---|---|")
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
            "Requirements that the target violates according to its baseline, and how often it did:",
            "",
        )
    yield from (f"- {row}: {count}" for row, count in sorted(summary["suppressed"].items()))
