"""The declared rows of marts: what derives from them agrees with what they say."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import jsonschema
import pytest

from amqpspec.reports.marts.page import page
from amqpspec.reports.marts.row import TINY, MartRow
from amqpspec.reports.marts.rows import ROWS
from amqpspec.reports.marts.schema import SCHEMA_FILE, text
from amqpspec.reports.pipeline.tables.registry import MARTS

DOCS = Path(__file__).parents[2] / "docs"


@dataclass(frozen=True, slots=True)
class _Toy(MartRow):
    NAME = "toys"
    GRAIN = ("name",)
    SHOWN = ("name", "size")

    name: Annotated[str, "what it is called"]
    size: Annotated[int | None, "how big it is", TINY]
    whole: Annotated[bool, "whether nothing is broken"]


def test_schema_and_names_follow_from_the_fields() -> None:
    assert _Toy.ddl() == "name STRING, size TINYINT, whole BOOLEAN"
    assert _Toy.names() == ("name", "size", "whole")
    assert [column.meaning for column in _Toy.columns()][1] == "how big it is"


def test_every_declared_mart_is_made_and_every_made_one_is_declared() -> None:
    assert sorted(mart.name for mart in MARTS) == sorted(row.NAME for row in ROWS)
    assert {mart.row for mart in MARTS} == set(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.NAME)
def test_grain_and_shown_columns_are_columns(row: type[MartRow]) -> None:
    def known(names: Sequence[str]) -> bool:
        return len(set(names)) == len(names) > 0 and set(names) <= set(row.names())

    assert known(row.GRAIN) and known(row.SHOWN)
    assert row.names()[: len(row.GRAIN)] == row.GRAIN, "a reader finds what a row is unique by at its begin"


def test_the_page_of_columns_is_what_the_rows_say() -> None:
    assert (DOCS / "marts.md").read_text("utf-8") == page(), (
        "python -m amqpspec.reports.marts.page > docs/marts.md"
    )


def test_the_schema_is_a_schema_and_what_the_rows_say() -> None:
    assert SCHEMA_FILE.read_text("utf-8") == text(), (
        "python -m amqpspec.reports.marts.schema > reports/amqpspec/reports/schemas/marts.json"
    )
    jsonschema.Draft202012Validator.check_schema(json.loads(text()))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.NAME)
def test_the_pipelines_table_names_each_mart_with_its_grain(row: type[MartRow]) -> None:
    assert f"\n| `{row.NAME}` | {', '.join(row.GRAIN)} | " in (DOCS / "pipeline.md").read_text("utf-8")
