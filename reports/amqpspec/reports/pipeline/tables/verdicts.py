"""Mart: the latest verdict of each target and version on each case.

Knows: runs of cases. Must not know: requirements.
"""

from __future__ import annotations

from datetime import date

from pyspark.sql import DataFrame

from amqpspec.reports.marts.rows import LatestVerdict
from amqpspec.reports.pipeline.expressions import names
from amqpspec.reports.pipeline.tables.histories import histories
from amqpspec.reports.pipeline.tables.mart import (
    BASELINE_WORD,
    EVIDENCE,
    HISTORIES,
    Inputs,
    Mart,
    at,
    newest,
    verdict_word,
    with_newest,
)


def latest(inputs: Inputs, as_of: date) -> DataFrame:
    """The last run of each target, version, dialect and case; ``runs`` counts all of them."""
    rows = histories(inputs, as_of)
    # A window, not a group: the complete row of the last run is needed, and histories are few.
    all_runs = f"sum(runs) OVER (PARTITION BY {names(*LatestVerdict.GRAIN)}) AS runs"
    counted = rows.selectExpr("* EXCEPT (runs)", all_runs)
    return with_newest(newest(counted, LatestVerdict.GRAIN), rows)


def table(inputs: Inputs, as_of: date) -> DataFrame:
    """``newest`` means that the target was last seen in this version; a verdict is that of the worst attempt."""
    return latest(inputs, as_of).selectExpr(
        "*",
        f"{verdict_word('worst')} AS verdict",
        "worst AS verdict_code",
        f"{BASELINE_WORD} AS baseline",
        f"{at('last_us')} AS at",
        f"{EVIDENCE} AS evidence",
    )


MART = Mart(LatestVerdict, ("case_days", "runs", "cases"), table, shares=(HISTORIES,))
