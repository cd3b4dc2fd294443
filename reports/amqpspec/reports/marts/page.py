"""Generates docs/marts.md from the declared rows: ``python -m amqpspec.reports.marts.page > docs/marts.md``.

Knows: Markdown. Must not know: any mart.
"""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.reports.marts.row import MartRow
from amqpspec.reports.marts.rows import ROWS

_HEAD = """\
# The columns of the marts

`python -m amqpspec.reports.marts.page` generates this page from `reports/amqpspec/reports/marts/rows.py`, which
declares each row once for the [build](pipeline.md), the export, [queries](query.md) and [pages](site.md). The columns
of the grain are bold: a mart has one row for each of their combinations, and they are never null. Times are in UTC.

The JSON Schema of the rows in `NAME.json` is `reports/amqpspec/reports/schemas/marts.json`, which the wheel contains.
Each mart is a property, and `$defs` has its row. `python -m amqpspec.reports.marts.schema` generates it from the same
declarations; the schema of `results.json` is [beside it](results-format.md#schema-1)."""


def page() -> str:
    """The whole page."""
    return "\n".join([_HEAD, *(line for row in ROWS for line in _mart(row)), ""])


def _mart(row: type[MartRow]) -> Iterator[str]:
    yield from (
        "",
        f"## {row.NAME}",
        "",
        f"{row.__doc__}",
        "",
        "| column | type | meaning |",
        "|---|---|---|",
    )
    for column in row.columns():
        name = f"**`{column.name}`**" if column.name in row.GRAIN else f"`{column.name}`"
        yield f"| {name} | {column.spark.lower()} | {column.meaning} |"


if __name__ == "__main__":
    print(page(), end="")
