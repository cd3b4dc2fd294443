"""Runs and campaigns as their writers leave them, small and literal."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from amqpspec.record.arrow_journal import ArrowJournal
from amqpspec.record.journal import Journal
from amqpspec.record.observation import FUZZ, row
from amqpspec.record.rows import CaseRow, Facts, Outcome, RunRow, TargetRow
from amqpspec.reports.json_report import write_results
from amqpspec.run.results import last_attempts
from amqpspec.spec.model import Refusal, Scope

STARTED = "2026-11-20T02:00:00Z"
LEDGER: Mapping[str, Mapping[str, Any]] = {
    "channel/open/state": {"level": "MUST", "says": "a second open is refused", "section": "channel.open"},
    "basic/qos/size": {"level": "SHOULD", "says": "zero is no limit", "section": "basic.qos"},
}


REFUSED = Facts(Refusal(Scope.CHANNEL, 504), ("channel.close 504",))


def case(name: str, verdict: Outcome = Outcome.PASS, **values: Any) -> CaseRow:
    requirement = "channel/open/state" if name.startswith("channel") else "basic/qos/size"
    given = {
        "dialect": "amqp-0-9-1", "suite": name.split(".")[0], "title": f"the case {name}",
        "requirements": (requirement,),
        "level": "MUST", "observed": "channel exception 504", "facts": REFUSED, "ended": "fin", "duration_ms": 1.5,
        **values,
    }  # fmt: skip
    return CaseRow(id=name, verdict=verdict, **given)


def run_row(folder: Path, started: str = STARTED, version: str = "3.10.8") -> RunRow:
    target = TargetRow(
        "rabbitmq", "amqp://127.0.0.1:5672/", "amqp-0-9-1", product="RabbitMQ", version=version
    )
    return RunRow(folder.name, target, "0.1.0", started)


def write_run(
    folder: Path, cases: Sequence[CaseRow], started: str = STARTED, version: str = "3.10.8"
) -> Path:
    """A run whose journal goes so far; no results yet."""
    with Journal(folder) as journal:
        journal.run(run_row(folder, started, version))
        for one in cases:
            journal.case(one)
    return folder


def finish_run(
    folder: Path, cases: Sequence[CaseRow], started: str = STARTED, ended: str = "2026-11-20T02:05:00Z"
) -> Path:
    """The results beside a journal."""
    row = run_row(folder, started)
    done = RunRow(**{**{name: getattr(row, name) for name in RunRow.__slots__}, "ended": ended})
    write_results(folder, done, cases, LEDGER, 0)
    return folder


def finished(folder: Path, cases: Sequence[CaseRow], started: str = STARTED) -> Path:
    write_run(folder, cases, started)
    return finish_run(folder, last_attempts(folder), started)


def input_row(run: str, number: int, at: datetime, **values: Any) -> dict[str, Any]:
    given = {
        "kind": FUZZ, "run": run, "target": "rabbitmq", "product": "RabbitMQ", "target_version": "3.10.8",
        "suite_version": "0.1.0", "grammar": "29310249", "dialect": "amqp-0-9-1", "case": "C04/frame.size/channel",
        "attempt": 1, "verdict": 2, "family": "C04", "role": "frame.size",
        "input": f"g:29310249/C04/frame.size/channel/s0/{number}", "state": "channel", "end_state": "fin",
        "production": "C04/frame.size", "reaction": f"connection exception {500 + number % 3}", "sent_octets": 8,
        "received_octets": 20, "sent_prefix": b"\x01\x00\x01", "latency_us": 900 + number, "at_us": at, "worker": 0,
    }  # fmt: skip
    return row(**{**given, **values})


class CampaignFolder:
    """A campaign that is written as the fuzzer does."""

    def __init__(self, folder: Path, run: str = "fuzz-0123456789ab", at: datetime | None = None) -> None:
        self.folder, self.run = folder, run
        self.at = at or datetime(2026, 11, 20, 23, 59, tzinfo=UTC)
        self.number = 0
        folder.mkdir(parents=True)
        plan = {
            "dialect": "amqp-0-9-1",
            "grammar": "29310249",
            "seed": 7,
            "shard": [1, 2],
            "target": "rabbitmq",
        }
        self.line(
            "campaign", run=run, started=self.at.strftime("%Y-%m-%dT%H:%M:%SZ"), plan=plan, product="RabbitMQ",
            version="3.10.8", suite_version="0.1.0", url="",
        )  # fmt: skip
        self.journal = ArrowJournal(folder)

    def line(self, kind: str, **data: Any) -> None:
        with (self.folder / "journal.jsonl").open("a") as file:
            file.write(json.dumps({"kind": kind, **data}) + "\n")

    def batch(self, rows: int, step: timedelta = timedelta(seconds=1), **values: Any) -> None:
        """This many inputs, each a step after the one before."""
        made = []
        for _ in range(rows):
            made.append(input_row(self.run, self.number, self.at, **values))
            self.number += 1
            self.at += step
        self.journal.write(made)
        self.line("done", inputs=rows, left=[])

    def finding(self, signature: str = "ab12cd34ef56") -> None:
        place = self.folder / "findings" / f"crash-{signature}"
        place.mkdir(parents=True)
        found = {
            "signature": signature, "status": "stable", "oracle": "crash", "top": "badmatch", "detail": "it went",
            "dialect": "amqp-0-9-1", "family": "C04", "state": "channel", "steps": ["010203", "04"],
            "input": f"g:29310249/C04/frame.size/channel/s0/{self.number}", "recorded": "2026-11-20T23:59:30Z",
            "replay": f"amqpspec fuzz replay {place}", "found_after_s": 1.25,
        }  # fmt: skip
        (place / "finding.json").write_text(json.dumps(found))

    def end(self) -> Path:
        self.line("end", why="budget spent")
        self.journal.close()
        return self.folder
