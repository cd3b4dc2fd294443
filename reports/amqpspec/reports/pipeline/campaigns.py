"""A campaign of the fuzzer as observations: the batches of its Arrow journal, its manifest, its findings.

Knows: the files of a campaign's folder. Must not know: the fuzzer, Parquet, the lake's manifest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from amqpspec.record import observation
from amqpspec.record.arrow_journal import observation_files, read_observations
from amqpspec.record.journal import JOURNAL, read_journal
from amqpspec.record.observation import FUZZ, key, utc
from amqpspec.record.reading import parse_json
from amqpspec.reports.campaign.rows import FindingRow
from amqpspec.reports.pipeline.dimensions import Rows
from amqpspec.reports.pipeline.parquet import fingerprint
from amqpspec.reports.pipeline.runs import ledger_rows, requirement_rows, target_columns
from amqpspec.reports.pipeline.schema import OBSERVATION, SCHEMA, LakeError, check_columns, fitted


@dataclass(frozen=True, slots=True)
class Campaign:
    """A campaign's folder; ``manifest`` is the first complete line of its journal."""

    folder: Path
    manifest: Mapping[str, Any]
    ended: str

    @property
    def name(self) -> str:
        """The campaign's id."""
        return str(self.manifest["run"])

    @property
    def source(self) -> str:
        """A key that is the same for the same campaign in any folder."""
        return fingerprint(FUZZ, self.name)

    @property
    def started(self) -> datetime:
        """When the campaign began; raises LakeError."""
        try:
            return utc(str(self.manifest["started"]))
        except ValueError as error:
            raise LakeError(f"{self.folder / JOURNAL}: started: {error}") from error


def is_campaign(folder: Path) -> bool:
    """Whether the journal in this folder is that of a campaign. Raises JournalError."""
    return any(
        line.get("kind") == "campaign" for line, _ in zip(read_journal(folder), range(8), strict=False)
    )


def open_campaign(folder: Path) -> Campaign:
    """The campaign in this folder; raises LakeError, JournalError."""
    manifest, ended = None, ""
    for line in read_journal(folder):
        if line.get("kind") == "campaign":
            manifest, ended = manifest or line, ""
        elif line.get("kind") == "end":
            ended = str(line.get("why", "")) or "ended"
    if missing := [name for name in ("run", "started", "plan") if not (manifest or {}).get(name)]:
        raise LakeError(f"{folder / JOURNAL}: expected a campaign with {', '.join(missing)}, actual: none")
    return Campaign(folder, manifest or {}, ended)


def files(campaign: Campaign) -> list[Path]:
    """The files of its observations, in order."""
    return observation_files(campaign.folder)


def batches(campaign: Campaign, path: Path, first: int) -> Iterator[pa.RecordBatch]:
    """Complete batches of one file, from number ``first`` on, as observations; raises LakeError, JournalError."""
    for number, batch in enumerate(read_observations(path)):
        if number == 0:
            _check(path, batch.schema)
        if number >= first:
            yield _dated(fitted(batch), campaign.started)


def dimensions(campaign: Campaign) -> Rows:
    """The rows of the dimensions: the campaign, its target and its findings."""
    seen = {"seen_at": campaign.started}
    target = _target(campaign.manifest)
    dialect = target["dialect"]
    return {
        "runs": [_run_row(campaign, target) | seen],
        "targets": [target | {"profile": "", "url": campaign.manifest.get("url", ""), "announced": "{}"} | seen],
        "requirements": [row | seen for row in requirement_rows(dialect, ledger_rows(dialect))],
        "crashes": list(_crashes(campaign)),
    }  # fmt: skip


def _check(path: Path, schema: pa.Schema) -> None:
    version = (schema.metadata or {}).get(b"amqpspec.schema", b"0")
    check_columns(path, schema)
    if not version.isdigit() or not 1 <= int(version) <= observation.SCHEMA:
        raise LakeError(
            f"{path}: expected observations of schema 1 to {observation.SCHEMA} (lake schema {SCHEMA}), "
            f"actual: {version.decode(errors='replace')}"
        )


def _dated(batch: pa.RecordBatch, started: datetime) -> pa.RecordBatch:
    """A row without a time gets the start time of the campaign."""
    place = OBSERVATION.get_field_index("at_us")
    if not batch.column(place).null_count:
        return batch
    filled = pc.fill_null(batch.column(place), pa.scalar(started, OBSERVATION.field(place).type))
    return batch.set_column(place, OBSERVATION.field(place), filled)


def _target(manifest: Mapping[str, Any]) -> dict[str, Any]:
    plan = manifest["plan"]
    texts = (plan.get("target"), manifest.get("product"), manifest.get("version"), plan.get("dialect"))
    return target_columns(*(str(text or "") for text in texts))


def _run_row(campaign: Campaign, target: Mapping[str, Any]) -> dict[str, Any]:
    plan = campaign.manifest["plan"]
    return {
        **target, "run_key": key(campaign.name), "run": campaign.name, "kind": FUZZ,
        "suite_version": str(campaign.manifest.get("suite_version", "")), "grammar": str(plan.get("grammar", "")),
        "started_at": campaign.started, "partial": not campaign.ended, "strict": False, "seed": plan.get("seed"),
        "shard": "/".join(map(str, plan.get("shard", ()))), "command": f"amqpspec fuzz {target['target']}",
        "note": campaign.ended, "folder": str(campaign.folder.resolve()),
    }  # fmt: skip


def _crashes(campaign: Campaign) -> Iterator[dict[str, Any]]:
    for path in sorted((campaign.folder / "findings").glob("*/finding.json")):
        try:
            data = parse_json(path.read_text(encoding="utf-8"))
            if not data["signature"]:
                raise ValueError("no signature")
            yield _crash(campaign, path, FindingRow.from_json(data))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise LakeError(f"{path}: expected a finding, actual: {error!r}") from error


def _crash(campaign: Campaign, path: Path, found: FindingRow) -> dict[str, Any]:
    texts = (
        "oracle",
        "status",
        "top",
        "detail",
        "dialect",
        "family",
        "state",
        "words",
        "requirement",
        "replay",
    )
    return {
        **{name: getattr(found, name) for name in texts},
        "crash_key": key(found.signature), "run_key": key(campaign.name), "crash": found.signature,
        "input": found.input or None, "input_octets": found.octets or None, "folder": f"findings/{path.parent.name}",
        "found_after_ms": int(found.found_after_s * 1000),
        "seen_at": utc(found.recorded) if found.recorded else campaign.started,
    }  # fmt: skip
