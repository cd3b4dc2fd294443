"""One observation: a case that ran or an input that was sent, as a row of fixed columns with names and 64-bit keys.

Knows: columns, their types, the keys and codes for grouping. Must not know: files, Spark, the source of observations.
Columns are only added, at the end and nullable; SCHEMA increases with each addition. Needs pyarrow.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import pyarrow as pa

from amqpspec.record.rows import FROM_BEST, Outcome

SCHEMA = 2
PREFIX_OCTETS = 16
"""The number of sent and received octets in the row; the evidence contains all of them."""

CASE, FUZZ = "case", "fuzz"

VERDICT_CODES: Mapping[Outcome, int] = {outcome: code for code, outcome in enumerate(FROM_BEST)}
"""The worst verdict has the highest code, so that the maximum of codes is the worst verdict."""

_NAME = pa.dictionary(pa.int32(), pa.string())
_TIME = pa.timestamp("us", tz="UTC")

COLUMNS: tuple[tuple[str, pa.DataType, str], ...] = (
    ("kind", _NAME, "case or fuzz"),
    ("run", pa.string(), "id of the run or campaign"),
    ("run_key", pa.int64(), "key of run"),
    ("target", _NAME, "name in targets.yaml, or the URL without secrets"),
    ("product", _NAME, "as announced"),
    ("target_version", _NAME, "as announced"),
    ("suite_version", _NAME, "of amqpspec"),
    ("grammar", _NAME, "hash over the dialect's tables, fuzz only"),
    ("dialect", _NAME, "amqp-0-9-1 …"),
    ("case", _NAME, "case id; of an input its cell, FAMILY/ROLE/STATE"),
    ("case_key", pa.int64(), "key of dialect and case"),
    ("attempt", pa.int32(), "from 1"),
    (
        "verdict",
        pa.int8(),
        "code of the verdict; fuzz: 2 as expected or nothing claimed, 5 state not reached, 6 a deviation that did not "
        "repeat, 8 one that did, or a finding's input",
    ),
    ("baseline", _NAME, "known, unexpected or nothing"),
    ("family", _NAME, "C01 … C14 or random, fuzz only"),
    ("role", _NAME, "field role or production that was bent, fuzz only"),
    ("input", pa.string(), "id of the input, fuzz only"),
    ("input_key", pa.int64(), "key of input"),
    ("state", _NAME, "protocol state in which the input was sent; of a case its suite module"),
    ("end_state", _NAME, "how it ended: fin, rst, open, refused"),
    ("production", _NAME, "what was sent, fuzz only"),
    ("edge", pa.int64(), "key of state, production and reaction"),
    ("reaction", _NAME, "what the target did, in words"),
    ("signature", pa.int64(), "key of reaction"),
    ("crash", _NAME, "signature of the finding that blames this input, or nothing"),
    ("crash_key", pa.int64(), "key of crash, 0 for nothing"),
    ("sent_octets", pa.int64(), ""),
    ("received_octets", pa.int64(), ""),
    ("sent_prefix", pa.binary(), "first octets sent"),
    ("received_prefix", pa.binary(), "first octets received"),
    ("latency_us", pa.int64(), "until the first answer, null where none came; of a case its duration"),
    ("at_us", _TIME, "when it ended, UTC"),
    ("worker", pa.int16(), "which process sent it"),
    ("evidence", pa.string(), "path within the run's folder, or nothing"),
    ("detail", pa.string(), "JSON, nullable"),
    ("blocked_by", _NAME, "what kept a case from a judgement, or nothing"),
    ("refusal_scope", _NAME, "of the refusal that a case observed, or nothing"),
    ("refusal_code", _NAME, "its reply code or condition, or nothing"),
    ("arrivals", _NAME, "kinds of what arrived in a case, in order, or nothing"),
)
_OF_CASES = frozenset({"blocked_by", "refusal_scope", "refusal_code", "arrivals"})


def arrow_schema() -> pa.Schema:
    """The schema of a campaign's journal, with its version in the metadata; unused columns of cases cost nothing."""
    fields = [pa.field(name, kind, nullable=True) for name, kind, _ in COLUMNS if name not in _OF_CASES]
    return pa.schema(fields, metadata={"amqpspec.schema": str(SCHEMA)})


def key(*parts: str) -> int:
    """A signed 64-bit key of some names, the same on every machine."""
    digest = blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


_EMPTY: dict[str, Any] = dict.fromkeys((name for name, _, _ in COLUMNS), None)
_known_key = lru_cache(maxsize=1 << 12)(key)
"""For names that occur repeatedly."""


def row(**values: Any) -> dict[str, Any]:
    """A complete row: missing values are null, keys are computed from the names."""
    if unknown := sorted(values.keys() - _EMPTY.keys()):
        raise KeyError(f"observation: expected columns {', '.join(sorted(_EMPTY))}, actual {unknown}")
    filled = _EMPTY | values
    dialect, state, production, reaction = (
        str(filled[name] or "") for name in ("dialect", "state", "production", "reaction")
    )
    return filled | {
        "run_key": _known_key(str(filled["run"] or "")),
        "case_key": _known_key(dialect, str(filled["case"] or "")),
        "input_key": key(filled["input"]) if filled["input"] else None,
        "edge": _known_key(dialect, state, production, reaction),
        "signature": _known_key(reaction),
        "crash_key": _known_key(filled["crash"]) if filled["crash"] else 0,
    }


def utc(text: str) -> datetime:
    """``2026-11-21T02:00:00Z`` as a time."""
    return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(UTC)
