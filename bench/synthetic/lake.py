"""A lake, or a campaign's journal, of synthetic observations, written in batches: memory does not grow with the rows.

Used by tests/pipeline and bench/pipeline.py. Knows: how synthetic rows become files of a lake or a campaign.
Must not know: Spark, how facts are made.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc

from amqpspec.record.observation import FUZZ, arrow_schema, key
from amqpspec.reports.pipeline.manifest import DimEntry, FileEntry, Snapshot, commit, writing
from amqpspec.reports.pipeline.parquet import FactWriter, write_table
from amqpspec.reports.pipeline.runs import target_columns
from amqpspec.reports.pipeline.schema import DIMENSIONS, fitted
from bench.synthetic.observations import LINES, Nights, Pool, RunOf, pool_of

OBSERVATIONS = "observations"
JOURNAL_BATCH_ROWS = 4096
"""About as many as a campaign writes at once."""
_LEVELS = ("MUST", "MUST", "SHOULD", "MAY", "statement")
_REQUIREMENTS = 260


def write_lake(root: Path, nights: Nights) -> int:
    """Facts and dimensions of these nights, instead of what was in the lake; how many facts there are."""
    with writing(root) as before:
        files = {name: entry for day in nights.dates() for name, entry in _night(root, nights, day).items()}
        runs = [run for day in nights.dates() for run in nights.runs(day)]
        dims = {name: _dimension(root, name, rows) for name, rows in _dimension_rows(runs).items()}
        commit(root, before, Snapshot(files=files, dims=dims))
    return sum(entry.rows for entry in files.values())


def _night(root: Path, nights: Nights, day: date) -> dict[str, FileEntry]:
    with FactWriter(root) as writer:
        for run in nights.runs(day):
            for batch in nights.batches(run):
                writer.add(fitted(batch))
        return writer.finish(f"synthetic {nights.seed} {nights.rows_a_day} {day}")


def _dimension(root: Path, name: str, rows: list[dict[str, Any]]) -> DimEntry:
    return DimEntry(*write_table(root, f"dims/{name}", pa.Table.from_pylist(rows, schema=DIMENSIONS[name])))


def _dimension_rows(runs: list[RunOf]) -> Mapping[str, list[dict[str, Any]]]:
    first = min(run.day for run in runs)
    pools = [pool_of(dialect) for dialect in dict.fromkeys(line.dialect for line in LINES)]
    seen = {"seen_at": _at(first)}
    signatures = {
        signature: text for pool in pools for signature, text in _pairs(pool.signatures, pool.reactions)
    }
    return {
        "runs": [_run(run) for run in runs],
        "targets": list({row["target_key"]: row for row in map(_target, runs)}.values()),
        "cases": [row | seen for pool in pools for row in _cases(pool)],
        "requirements": [row | seen for pool in pools for row in _requirements(pool)],
        "case_requirements": [row | seen for pool in pools for row in _links(pool)],
        "signatures": [{"signature": key_, "reaction": text} for key_, text in signatures.items()],
        "edges": list({row["edge"]: row for pool in pools for row in _edges(pool)}.values()),
        "crashes": [
            _crash(run, pool_of(run.line.dialect), n) for run in runs if run.kind == FUZZ for n in range(40)
        ],
    }


def _pairs(keys: pa.Array, texts: pa.Array) -> Iterator[tuple[int, str]]:
    return zip(keys.to_pylist(), texts.to_pylist(), strict=True)


def _at(day: date) -> datetime:
    return datetime.combine(day, time(2), UTC)


def _identity(run: RunOf) -> dict[str, Any]:
    line = run.line
    return target_columns(line.target, line.product, run.target_version, line.dialect) | {
        "seen_at": _at(run.day)
    }


def _run(run: RunOf) -> dict[str, Any]:
    return _identity(run) | {
        "run_key": key(run.id), "run": run.id, "kind": run.kind, "suite_version": run.suite_version,
        "grammar": run.grammar or None, "partial": False, "strict": False, "folder": f"out/{run.id}",
        "started_at": _at(run.day) - timedelta(hours=2) + timedelta(seconds=run.index),
        "ended_at": _at(run.day) + timedelta(hours=22),
    }  # fmt: skip


def _target(run: RunOf) -> dict[str, Any]:
    return _identity(run) | {"profile": "amqp", "url": "amqp://127.0.0.1:5672/", "announced": "{}"}


def _cases(pool: Pool) -> Iterator[dict[str, Any]]:
    names = zip(pool.case_keys.to_pylist(), pool.cases.to_pylist(), pool.suites.to_pylist(), strict=True)
    for number, (case_key, case, suite) in enumerate(names):
        level = _LEVELS[number % len(_LEVELS)]
        yield _case(pool, case_key, case) | {"suite": suite, "title": f"What {case} demands.", "level": level}


def _case(pool: Pool, case_key: int, case: str) -> dict[str, Any]:
    return {"case_key": case_key, "dialect": pool.dialect, "case": case, "suite_version": "0.1.0"}


def _requirements(pool: Pool) -> Iterator[dict[str, Any]]:
    for number in range(_REQUIREMENTS):
        name = f"chapter{number % 9}/duty-{number}"
        yield {
            "requirement_key": key(pool.dialect, name), "dialect": pool.dialect, "requirement": name,
            "level": _LEVELS[number % len(_LEVELS)], "section": f"chapter{number % 9}#{number}",
            "says": f"Duty {number} is kept.", "excluded": "client side only" if number % 40 == 39 else None,
        }  # fmt: skip


def _links(pool: Pool) -> Iterator[dict[str, Any]]:
    rows = [row for row in _requirements(pool) if not row["excluded"]]
    for number, (case_key, case) in enumerate(_pairs(pool.case_keys, pool.cases)):
        row = rows[number % (len(rows) - 3)]
        link = {name: row[name] for name in ("requirement_key", "requirement")}
        yield {"case_key": case_key, "dialect": pool.dialect, "case": case, **link}


def _edges(pool: Pool) -> Iterator[dict[str, Any]]:
    """Each cell's ways; two of them may have the same reaction, and then are one edge."""
    reactions = pool.signatures.take(pool.reaction_of).to_pylist()
    ways = len(reactions) // len(pool.states)
    for number, (edge, signature) in enumerate(zip(pool.edges.to_pylist(), reactions, strict=True)):
        cell = number // ways
        yield {
            "edge": edge, "dialect": pool.dialect, "state": pool.states[cell].as_py(),
            "production": pool.roles[cell].as_py(), "signature": signature,
        }  # fmt: skip


def _crash(run: RunOf, pool: Pool, number: int) -> dict[str, Any]:
    crash = pool.crashes[number].as_py()
    folder = f"out/{run.id}/findings/crash-{crash}"
    return {
        "crash_key": pool.crash_keys[number].as_py(), "run_key": key(run.id), "crash": crash,
        "oracle": ("crash", "hang", "log", "memory")[number % 4], "status": ("stable", "flaky")[number % 2],
        "top": f"handle_method/{number}", "dialect": pool.dialect, "family": pool.families[number].as_py(),
        "state": pool.states[number].as_py(), "input": f"g:{run.grammar}/{pool.cells[number].as_py()}/s0/{number}",
        "words": "a size that lies", "input_octets": 16 + number, "replay": f"amqpspec fuzz replay {folder}",
        "folder": folder, "found_after_ms": number * 1000, "seen_at": _at(run.day),
    }  # fmt: skip


def write_campaign(folder: Path, nights: Nights, run: RunOf) -> int:
    """The folder of a campaign as the fuzzer leaves it: manifest and Arrow journal, no findings; how many rows."""
    (folder / OBSERVATIONS).mkdir(parents=True)
    plan = {
        "target": run.line.target,
        "dialect": run.line.dialect,
        "grammar": run.grammar,
        "seed": nights.seed,
    }
    manifest = {
        "kind": "campaign", "run": run.id, "started": _at(run.day).isoformat(), "plan": plan,
        "product": run.line.product, "version": run.target_version, "suite_version": run.suite_version,
    }  # fmt: skip
    (folder / "journal.jsonl").write_text(json.dumps(manifest) + "\n", encoding="utf-8")
    schema = arrow_schema()
    with pa.ipc.new_stream(folder / OBSERVATIONS / "000001.arrows", schema) as stream:
        for batch in nights.batches(run, JOURNAL_BATCH_ROWS):
            stream.write_batch(_encoded(fitted(batch).select(schema.names), schema))
    return run.rows


def _encoded(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The batch with names as dictionaries, as a journal has them."""
    names = [pa.types.is_dictionary(field.type) for field in schema]
    columns = [c.dictionary_encode() if name else c for c, name in zip(batch.columns, names, strict=True)]
    return pa.record_batch(columns, schema=schema)
