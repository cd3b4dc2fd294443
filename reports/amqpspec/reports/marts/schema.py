"""Generates the JSON Schema of the marts from the declared rows: ``python -m amqpspec.reports.marts.schema > FILE``.

Knows: JSON Schema, how the export writes a value. Must not know: any mart.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from amqpspec.reports.marts.row import Column, MartRow
from amqpspec.reports.marts.rows import ROWS

SCHEMA_FILE = Path(__file__).parents[1] / "schemas" / "marts.json"
_KINDS: Mapping[str, Mapping[str, Any]] = {
    "STRING": {"type": "string"},
    "BIGINT": {"type": "integer"},
    "TINYINT": {"type": "integer", "minimum": -128, "maximum": 127},
    "BOOLEAN": {"type": "boolean"},
    "DOUBLE": {"type": "number"},
    "DATE": {"type": "string", "format": "date", "pattern": r"^\d{4}-\d{2}-\d{2}$"},
    "TIMESTAMP": {
        "type": "string",
        "format": "date-time",
        "pattern": r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$",
    },
}


def schema() -> dict[str, Any]:
    """Each mart is a property, a list of rows; ``$defs`` has its row."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The marts as JSON: the contents of NAME.json, by NAME",
        "type": "object",
        "properties": {row.NAME: {"type": "array", "items": {"$ref": f"#/$defs/{row.NAME}"}} for row in ROWS},
        "additionalProperties": False,
        "$defs": {row.NAME: _row(row) for row in ROWS},
    }


def text() -> str:
    """The text of the schema file."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def _row(row: type[MartRow]) -> dict[str, Any]:
    return {
        "description": f"{row.__doc__} The grain: {', '.join(row.GRAIN)}.",
        "type": "object",
        "required": [*row.names()],
        "properties": {column.name: _value(column) for column in row.columns()},
        "additionalProperties": False,
    }


def _value(column: Column) -> dict[str, Any]:
    kind = dict(_KINDS[column.spark])
    if column.optional:
        kind["type"] = [kind["type"], "null"]
    return {"description": column.meaning, **kind}


if __name__ == "__main__":
    print(text(), end="")
