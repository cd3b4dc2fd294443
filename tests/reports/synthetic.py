"""Synthetic runs made from the rows of the contract: realistic ids, every outcome, hostile strings, transcripts.

The data stand in ``synthetic.yaml``; nothing there was measured.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from amqpspec.record.rows import CaseRow, Outcome, RunRow, TargetRow
from amqpspec.reports.json_report import write_results

HOSTILE = "</script><script>alert('x')</script> & \x00\x1b[31m \u202eevil\ufffe ]]> <!-- `|` @team 🐇 é"
HOSTILE_ID = "basic.publish.hostile<script>"
DATA: Mapping[str, Any] = yaml.safe_load(Path(__file__).with_name("synthetic.yaml").read_text("utf-8"))
DID_NOT_RUN = (Outcome.NOT_APPLICABLE, Outcome.BLOCKED, Outcome.EXCLUDED)
PRODUCTS = {"harbor": ("HarborMQ", "3.10.8", 5672), "quay": ("quayd", "0.1.0", 5673)}


def target_row(name: str, **changes: Any) -> TargetRow:
    product, version, port = PRODUCTS[name]
    announced = {
        "product": product,
        "version": version,
        "platform": "Erlang/OTP 25.2.3" if name == "harbor" else "golang",
        "copyright": "Copyright (c) some people",
        "capabilities": {"basic.nack": True, "publisher_confirms": True},
    }
    url = f"amqp://127.0.0.1:{port}/"
    row = TargetRow(name, url, "amqp-0-9-1", f"{name}-3", product, version, announced)
    return replace(row, **changes)


def run_row(target: TargetRow, **changes: Any) -> RunRow:
    row = RunRow(
        id=f"20261121-0200-{target.name}",
        target=target,
        suite_version="0.1.0",
        started="2026-11-21T02:00:00Z",
        ended="2026-11-21T02:00:41Z",
        command=f"amqpspec run --target {target.name} --out report/",
        platform="Linux x86_64, Python 3.11",
    )
    return replace(row, **changes)


def requirements() -> dict[str, dict[str, Any]]:
    """The ledger as results.json carries it."""
    ledger: dict[str, dict[str, Any]] = {}
    for rows in DATA["sections"].values():
        for row in rows:
            facts = {key: row[key] for key in ("level", "section", "says", "source")}
            ledger[row["id"]] = facts | {"binds": "server", "reading": "", "same_as": ""}
    ledger["channel/open/state"]["reading"] = (
        "the XML gives channel-error, the PDF is silent; the XML was taken"
    )
    ledger["framing/frame/end-octet"]["same_as"] = "amq_wlp_frame_02"
    ledger |= DATA["uncovered"]
    return ledger


def cases(name: str) -> Iterator[CaseRow]:
    """The cases of a named target, in the order of the suite."""
    for suite, rows in DATA["sections"].items():
        for number, row in enumerate(rows):
            yield _case(name, suite, row, 2.5 + number)


def _case(name: str, suite: str, row: Mapping[str, str], ms: float) -> CaseRow:
    id = row["id"].replace("/", ".")
    usual = {"verdict": "pass", "expected": "what the requirement says", "observed": "just that"}
    did = dict(DATA["deviations"][name].get(id, usual))
    verdict = Outcome(did.pop("verdict"))
    ran = verdict not in DID_NOT_RUN
    if did.get("baseline") == "known":
        did["reason"] = f"issue 17 of {PRODUCTS[name][0]}"
    if ran:
        did |= {"evidence": f"evidence/{id}.jsonl", "ended": "closed by the target, FIN after 3.1 ms"}
    also = ("channel/close/stability",) if id == "channel.open.state" else ()
    return CaseRow(
        id=id,
        dialect="amqp-0-9-1",
        suite=suite,
        title=row["title"],
        requirements=(row["id"], *also),
        level=row["level"],
        verdict=verdict,
        duration_ms=ms if ran else 0.0,
        **did,
    )


def hostile_case() -> CaseRow:
    """A failed case in which every text tries to break out of its document."""
    return CaseRow(
        id=HOSTILE_ID,
        dialect="amqp-0-9-1",
        suite="basic",
        title=f"Hostile title {HOSTILE}",
        requirements=("no/such/requirement",),
        level="MUST",
        verdict=Outcome.FAIL,
        expected=f"expected {HOSTILE}",
        observed=f"observed {HOSTILE}\nsecond line \ud800 end",
        reason=HOSTILE,
        evidence="evidence/hostile.jsonl",
        ended="fin",
        duration_ms=0.01,
    )


def transcript(case: CaseRow, repeat: int = 1) -> Iterator[dict[str, Any]]:
    """The lines of a transcript: the conversation ``repeat`` times over one connection."""
    yield {"kind": "case", "id": case.id, "title": case.title, "requirements": list(case.requirements)}
    yield {"kind": "open", "t_ns": 0, "conn": 1, "remote": ["127.0.0.1", 5672], "tls": False}
    t_ns, offsets = 12_000, {"out": 0, "in": 0}
    for number, said in enumerate(DATA["talk"] * repeat):
        size, dir = len(said["hex"]) // 2, said["dir"]
        frame = {"offset": offsets[dir], "octets": size}
        frame |= {key: said[key] for key in ("text", "type", "channel") if key in said}
        yield {"kind": "octets", "t_ns": t_ns, "conn": 1, "dir": dir, "hex": said["hex"], "frames": [frame]}
        offsets[dir] += size
        t_ns += 83_000 + 1_700 * number
    yield {"kind": "note", "t_ns": t_ns, "text": "barrier: round trip on channel 2 answered"}
    yield {"kind": "end", "t_ns": t_ns + 2_000_000, "conn": 1, "how": "fin"}
    yield {"kind": "verdict", "t_ns": t_ns + 2_100_000, "verdict": str(case.verdict)}


def hostile_transcript() -> Iterator[dict[str, Any]]:
    """A target that speaks another protocol, and lines that no reader expects."""
    answer = b"HTTP/1.1 400 <script>\r\n".hex()
    yield {"kind": "open", "t_ns": 0, "conn": 1, "remote": ["::1", 5672], "tls": True}
    yield {"kind": "octets", "t_ns": 5, "conn": 1, "dir": "in", "hex": answer, "frames": []}
    yield {"kind": "note", "t_ns": 9, "text": HOSTILE}
    yield {"kind": "surprise", "t_ns": 9}
    yield {"kind": "end", "t_ns": 10, "conn": 1, "how": "rst"}


def write_lines(path: Path, lines: Iterable[Mapping[str, Any]], torn: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + torn, encoding="utf-8")
    return path


def write_run(folder: Path, name: str, hostile: bool = False, **changes: Any) -> Path:
    """One run folder of a named target, with results.json and transcripts."""
    rows = list(cases(name))
    write_transcripts(folder, rows)
    if hostile:
        rows.append(hostile_case())
        write_lines(
            folder / rows[-1].evidence, hostile_transcript(), torn='{"kind": "octets", "t_ns": 11, "con'
        )
    write_results(folder, run_row(target_row(name), **changes), rows, requirements(), exit_code=1)
    return folder


def write_transcripts(folder: Path, rows: Iterable[CaseRow]) -> None:
    for case in rows:
        if case.evidence:
            write_lines(folder / case.evidence, transcript(case))


def write_large_run(folder: Path, name: str, factor: int, version: str) -> Path:
    """A run folder with ``factor`` times the cases; the repeated ones carry a number."""
    ledger: dict[str, dict[str, Any]] = {}
    rows = []
    for number in range(factor):
        mark = f"-{number}" if number else ""
        ledger |= {id + mark: need for id, need in requirements().items()}
        for case in cases(name):
            id, needs = case.id + mark, tuple(need + mark for need in case.requirements)
            evidence = f"evidence/{id}.jsonl" if case.evidence else ""
            rows.append(replace(case, id=id, requirements=needs, evidence=evidence))
    write_transcripts(folder, rows)
    target = target_row(name, version=version)
    write_results(folder, run_row(target), rows, ledger, exit_code=1)
    return folder
