"""Folders of campaigns to render: one with everything in it, hostile text included."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DIALECT = "amqp-0-9-1"
HOSTILE = "</script><script>alert('x')</script> <img src=x onerror=alert(1)> & \x00\x1b[31m \u202eevil ]]> {{ 7*7 }}"
GRAMMAR = "29310249"


def id_of(family: str, role: str, state: str, number: int, seed: int = 0) -> str:
    """An input's id."""
    return f"g:{GRAMMAR}/{family}/{role}/{state}/s{seed}/{number}"


CELLS: dict[str, list[Any]] = {
    f"{DIALECT}/C02/table.size/channel": ["covered", "", 24],
    f"{DIALECT}/C02/table.size.cut/channel": ["open", "not finished: budget spent", None],
    f"{DIALECT}/C03/nested.array/channel": ["stopped", "crash came again: the target is gone", 128],
    f"{DIALECT}/C04/frame.size/header": ["not reachable", "header was not reached", 10],
    f"{DIALECT}/C04/frame.size/channel": ["covered", "", 10],
    f"{DIALECT}/C04/frame.end/channel": ["covered", "", 12],
    f"{DIALECT}/C09/order.client/limits": ["open", "not finished: budget spent", None],
}


def finding(
    oracle: str, signature: str, status: str, id: str | None, detail: str, **more: Any
) -> dict[str, Any]:
    """What a finding.json holds."""
    parts = id.split("/") if id else ["", "C04", "", "channel"]
    return {
        "signature": signature, "status": status, "oracle": oracle, "top": detail[:60], "detail": detail,
        "dialect": DIALECT, "family": parts[1], "state": parts[3], "input": id, "words": "frame.size: 9 for 5",
        "requirement": "", "steps": ["01000100000005", "0014000a00ce"] if id else [], "batch": [],
        "found_after_s": 12.5, "target": "harbor", "url": "", "recorded": "2026-11-21T17:44:56Z",
        "replay": f"amqpspec fuzz replay campaign/findings/{oracle}-{signature}", "reaction": "socket", **more,
    }  # fmt: skip


FINDINGS = [
    finding("conformance", "c0ffee000001", "stable", id_of("C04", "frame.end", "channel", 3),
            "amq_wlp_frame_02: expected connection closed, actual silence", requirement="amq_wlp_frame_02"),
    finding("crash", "dead00000002", "stable", id_of("C03", "nested.array", "channel", 127), "process 4 is gone",
            steps=["41" * 4000]),
    finding("log", "0ddba1100003", "lost", None, HOSTILE,
            batch=[id_of("C04", "frame.size", "channel", 0), id_of("C04", "frame.end", "channel", 1)]),
    finding("late", "1a7e00000004", "flaky", id_of("random", "method@queue.declare", "channel", 9, 1),
            "answered after 3 s", found_after_s=200.0),
]  # fmt: skip

SUMMARY: dict[str, Any] = {
    "dialect": DIALECT, "grammar": GRAMMAR, "seed": 7, "shard": [2, 4], "cells": ["C0*"], "target": "harbor",
    "run": "fuzz-0123456789ab", "started": "2026-11-21T17:00:00Z", "product": "HarborMQ", "version": "3.10.8",
    "ended": "budget spent", "workers": 2, "response_states": 51, "inputs": 1300, "random": 300, "reached": 1290,
    "seconds": 600.0, "rate_per_s": 2.2, "cells_planned": 7, "covered": 3, "not_reachable": 1, "stopped": 1,
    "open": 2, "cells_not_covered": {}, "suppressed": {"wire/table/malformed": 412, HOSTILE: 1}, "repeats": 4,
    "unconfirmed": 2, "trials": 31, "unblamed": {f"log: {HOSTILE}": {"C02/channel": 17}}, "url": "",
    "reactions": {"silence": 1000, "connection 501": 299, HOSTILE: 1}, "exit_code": 1, "memory_limit_mib": 512,
    "suite_version": "0.1.0", "cell_states": CELLS, "findings": FINDINGS,
}  # fmt: skip
TALK = [
    {"kind": "open", "t_ns": 1, "conn": 1, "remote": ["127.0.0.1", 5672], "tls": False},
    {"kind": "octets", "t_ns": 2, "conn": 1, "dir": "out", "hex": "414d515000000901",
     "frames": [{"offset": 0, "octets": 8, "text": f"protocol header {HOSTILE}"}]},
    {"kind": "end", "t_ns": 9, "conn": 1, "how": "rst"},
]  # fmt: skip


def write_campaign(folder: Path, **more: Any) -> Path:
    """A campaign's folder with its summary, changed by ``more``, and the folders of its findings."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "summary.json").write_text(json.dumps({**SUMMARY, **more}), encoding="utf-8")
    for row in FINDINGS:
        place = folder / "findings" / f"{row['oracle']}-{row['signature']}"
        place.mkdir(parents=True, exist_ok=True)
        (place / "finding.json").write_text(json.dumps(row), encoding="utf-8")
        (place / "log.txt").write_text("nothing", encoding="utf-8")
        if row["input"]:
            (place / "input.bin").write_bytes(b"".join(map(bytes.fromhex, row["steps"])))
            lines = "\n".join(map(json.dumps, TALK))
            (place / "transcript.jsonl").write_text(lines + "\n", encoding="utf-8")
    return folder
