"""Small marts of literal rows, as a build leaves them: two targets in two dialects, several versions, a hostile one."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from amqpspec.reports.marts.rows import ROWS

Row = dict[str, Any]
Tables = dict[str, list[Row]]

DIALECT, OTHER = "amqp-0-9-1", "amqp-1-0"
HOSTILE = "</script><img src=x onerror=alert(1)>\u202e\"'&{{ 7*7 }}"
_COLUMNS = {row.NAME: row.names() for row in ROWS}
_KNOWN = {
    "runs": 1, "cases": 1, "mixed_runs": 0, "campaigns": 1, "inputs": 1, "targets": 2, "newest": True,
}  # fmt: skip
_ZERO = {
    "STRING": "", "BIGINT": 0, "TINYINT": 0, "BOOLEAN": False, "DOUBLE": 0.0, "DATE": date(2026, 11, 1),
    "TIMESTAMP": datetime(2026, 11, 1, tzinfo=UTC),
}  # fmt: skip
_UNSAID = {
    row.NAME: {c.name: _KNOWN.get(c.name, None if c.optional else _ZERO[c.spark]) for c in row.columns()}
    for row in ROWS
}


def at(day: int, hour: int = 2) -> datetime:
    return datetime(2026, 11, day, hour, tzinfo=UTC)


def verdict(target: str, case: str, verdict: str, version: str = "3.10", **more: Any) -> Row:
    return {
        "target": target, "target_version": version, "dialect": DIALECT, "case": case, "verdict": verdict,
        "product": target.title(), "suite": case.split(".")[0], "title": f"Title of {case}", "level": "MUST",
        "baseline": "", "runs": 3, "run": "night-3", "suite_version": "0.1", "at": at(3),
    } | more  # fmt: skip


def score(target: str, run: str, day: int, green: int, of: int, version: str = "3.10", **more: Any) -> Row:
    return {
        "target": target, "target_version": version, "suite_version": "0.1", "dialect": DIALECT, "run": run,
        "cases": of, "counted": of, "green": green, "at": at(day),
    } | more  # fmt: skip


def requirement(name: str, status: str, green: int = 0, **more: Any) -> Row:
    judged = int(status == "judged")
    return {
        "target": "harbor", "target_version": "3.10", "dialect": DIALECT, "requirement": name, "level": "MUST",
        "section": "1.2",
        "status": status, "judged": judged, "green": green, "excluded": "",
    } | more  # fmt: skip


def change(case: str, direction: str, was: str, became: str, **more: Any) -> Row:
    return {
        "target": "harbor", "dialect": DIALECT, "case": case, "change": "target-version", "level": "MUST",
        "from_target_version": "3.9", "to_target_version": "3.10", "from_suite_version": "0.1",
        "to_suite_version": "0.1", "from_verdict": was, "to_verdict": became, "direction": direction,
        "flaky": False, "at": at(3),
    } | more  # fmt: skip


def finding(crash: str, open: bool, **more: Any) -> Row:
    return {
        "target": "harbor", "dialect": DIALECT, "crash": crash, "oracle": "crash", "status": "stable",
        "family": "C03", "state": "tuned", "top": f"top of {crash}", "detail": f"detail of {crash}", "open": open,
        "campaigns": 2, "inputs": 12, "recent": 9, "earlier": 3, "first_seen": at(1), "last_seen": at(3),
        "first_version": "3.9", "last_version": "3.10", "smallest_octets": 11, "words": "connection.open: cut",
        "replay": f"amqpspec fuzz replay findings/{crash}",
    } | more  # fmt: skip


def reacted(vector: str, target: str, reaction: str, inputs: int = 5, **more: Any) -> Row:
    return {
        "dialect": DIALECT, "kind": "fuzz", "vector": vector, "target": target, "target_version": "1",
        "reaction": reaction, "inputs": inputs, "sample": f"g:sample/{vector}",
    } | more  # fmt: skip


def explored(target: str, day: int, new: int, covered: int, dimension: str = "edge") -> Row:
    return {
        "target": target, "dialect": DIALECT, "dimension": dimension, "dt": date(2026, 11, day), "new": new,
        "covered": covered,
    }  # fmt: skip


def literal() -> Tables:
    """What the tests speak about."""
    return {
        "verdicts": [
            verdict("harbor", "channel.open", "pass"),
            verdict("harbor", "channel.close", "fail", baseline="known"),
            verdict("harbor", "queue.declare", "fail", baseline="unexpected", level="SHOULD"),
            verdict("harbor", "queue.purge", "not-applicable"),
            verdict("harbor", "channel.open", "pass", "3.9", newest=False),
            verdict("harbor", "queue.declare", "pass", "3.9", newest=False),
            verdict("quay", "channel.open", "blocked", "0.1"),
            verdict("quay", "channel.close", "pass", "0.1"),
            verdict("quay", "queue.declare", "observed", "0.1", level="SHOULD"),
            verdict("harbor", "link.attach", "pass", dialect=OTHER),
        ],
        "requirement_coverage": [
            requirement("channel/open", "judged", 1, verdict="pass", case="channel.open"),
            requirement("channel/close", "judged", verdict="fail", baseline="known", case="channel.close"),
            requirement("queue/missing", "open"),
            requirement("queue/left", "excluded", excluded="only a client can know"),
            requirement("queue/old", "open", newest=False),
            requirement(
                "channel/open", "judged", 0, target_version="3.9", newest=False, verdict="fail", case="channel.open"
            ),
            requirement("channel/open", "judged", 0, target="quay", target_version="0.1", verdict="blocked"),
            requirement("link/attach", "judged", 1, dialect=OTHER, verdict="pass", case="link.attach"),
        ],
        "regressions": [
            change("queue.declare", "regressed", "pass", "fail"),
            change("channel.open", "fixed", "fail", "pass", change="suite-version", to_suite_version="0.2"),
        ],
        "flakiness": [
            {
                "target": "harbor", "target_version": "3.10", "suite_version": "0.1", "dialect": DIALECT,
                "case": "channel.wobbles", "level": "MAY", "runs": 5, "flips": 2, "flip_rate": 0.5,
                "best_verdict": "pass", "worst_verdict": "fail", "last_at": at(3),
            }
        ],
        "findings": [finding("aa11", True), finding("bb22", False, last_version="3.9")],
        "differential": [
            reacted("v1", "harbor", "connection 502"),
            reacted("v1", "quay", "silence"),
            reacted("v2", "harbor", "channel 404", 9, kind="case", sample="queue.declare"),
            reacted("v2", "quay", "ok", 9, kind="case", sample="queue.declare"),
        ],
        "exploration": [
            explored("harbor", 1, 10, 10),
            explored("harbor", 2, 5, 15),
            explored("harbor", 4, 2, 17),
            explored("quay", 2, 7, 7),
            explored("harbor", 1, 3, 3, "state"),
            explored("harbor", 2, 1, 4, "state"),
            explored("harbor", 1, 2, 2, "reaction"),
            explored("quay", 2, 6, 6, "reaction"),
        ],
        "scores": [
            score("harbor", "night-1", 1, 4, 4, "3.9", suite="channel"),
            score("harbor", "night-1", 1, 4, 6, "3.9", suite="queue"),
            score("harbor", "night-2", 2, 9, 10),
            score("harbor", "night-3", 3, 10, 10),
            score("harbor", "only-one", 3, 1, 1, at=at(3, 9)),
            score("harbor", "none-counts", 3, 0, 0, cases=10, at=at(3, 11)),
            score("quay", "night-3", 3, 2, 3, "0.1"),
        ],
    }  # fmt: skip


def hostile() -> Tables:
    """The literal marts with a target all of whose texts are hostile."""
    tables = literal()
    own: Row = {
        "target": HOSTILE,
        "product": HOSTILE,
        "target_version": HOSTILE,
        "suite": HOSTILE,
        "level": HOSTILE,
    }
    own |= {"case": HOSTILE, "title": HOSTILE, "run": HOSTILE, "evidence": HOSTILE, "suite_version": HOSTILE}
    tables["verdicts"].append(verdict(HOSTILE, "x", "fail") | own)
    tables["verdicts"].append(verdict(HOSTILE, "channel.open", "pass") | own | {"case": "channel.open"})
    texts = dict.fromkeys(
        ("top", "detail", "words", "replay", "family", "state", "oracle", "status"), HOSTILE
    )
    tables["findings"].append(finding(HOSTILE, True) | texts | {"target": HOSTILE, "last_version": HOSTILE})
    tables["differential"] += [
        reacted("v3", HOSTILE, HOSTILE, sample=HOSTILE),
        reacted("v3", "quay", HOSTILE, sample=HOSTILE),
    ]
    tables["exploration"] += [explored(HOSTILE, 1, 1, 1), explored(HOSTILE, 2, 1, 2)]
    tables["requirement_coverage"].append(
        requirement(HOSTILE, "excluded", target=HOSTILE, section=HOSTILE, excluded=HOSTILE, level=HOSTILE)
    )
    tables["scores"] += [score(HOSTILE, HOSTILE + str(day), day, 1, 2, HOSTILE) for day in (1, 2)]
    tables["regressions"].append(
        change(HOSTILE, HOSTILE, "pass", "fail", target=HOSTILE, to_target_version=HOSTILE, level=HOSTILE)
    )
    return tables


def write(folder: Path, tables: Mapping[str, Sequence[Row]]) -> Path:
    """Write the tables as marts, each with all of its columns, and one that no one knows."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in tables.items():
        names = [*_COLUMNS[name], "more"]
        whole = [{column: row.get(column, _UNSAID[name].get(column)) for column in names} for row in rows]
        assert all(set(row) <= set(names) for row in rows), name
        (folder / name).mkdir()
        table = pa.Table.from_pylist(whole) if whole else pa.table({column: [] for column in names})
        pq.write_table(table, folder / name / "part-0000.parquet")
        (folder / name / f"{name}.json").write_text(json.dumps(whole, default=str), "utf-8")
        with (folder / name / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([names, *([row[column] for column in names] for row in whole)])
    told = {"as_of": "2026-11-04", "marts": {name: {"rows": len(rows)} for name, rows in tables.items()}}
    (folder / "manifest.json").write_text(json.dumps(told), "utf-8")
    return folder
