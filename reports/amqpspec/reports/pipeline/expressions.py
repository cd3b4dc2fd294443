"""Expressions as SQL text: the JVM parses a text in one call, while in Python each part of a column is a call.

Knows: quoting, literals. Must not know: tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn


def grouped(rows: DataFrame, keys: Iterable[str], *results: str) -> DataFrame:
    """One row for each value of the keys, with results such as ``max(worst) AS worst``."""
    return rows.groupBy(*keys).agg(*map(fn.expr, results))


def names(*columns: str) -> str:
    """Columns in a list, whatever they are called: ``case`` is also a keyword."""
    return ", ".join(f"`{column}`" for column in columns)


def day(of: date) -> str:
    """A day as a literal."""
    return f"DATE '{of.isoformat()}'"
