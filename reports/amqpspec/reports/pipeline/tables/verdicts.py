"""Mart: the latest verdict of each target and version on each case.

Knows: runs of cases. Must not know: requirements.
"""

from __future__ import annotations

from datetime import date

from pyspark.sql import DataFrame

from amqpspec.reports.marts.rows import LatestVerdict
from amqpspec.reports.pipeline.tables.histories import histories
from amqpspec.reports.pipeline.tables.mart import (
    BASELINE_WORD,
    EVIDENCE,
    HISTORIES,
    NEWEST,
    Inputs,
    Mart,
    at,
    first_of,
    verdict_word,
    with_newest,
)


def latest(inputs: Inputs, as_of: date) -> DataFrame:
    """The last run of each target, version, dialect and case; ``all_runs`` counts all of them."""
    return first_of(with_newest(histories(inputs, as_of)), LatestVerdict.GRAIN, NEWEST, all_runs="sum(runs)")


def table(inputs: Inputs, as_of: date) -> DataFrame:
    """``newest`` means that the target was last seen in this version; a verdict is that of the worst attempt."""
    return latest(inputs, as_of).selectExpr(
        "* EXCEPT (runs)",
        "all_runs AS runs",
        f"{verdict_word('worst')} AS verdict",
        "worst AS verdict_code",
        f"{BASELINE_WORD} AS baseline",
        f"{at('last_us')} AS at",
        f"{EVIDENCE} AS evidence",
    )


MART = Mart(LatestVerdict, ("case_days", "runs", "cases"), table, shares=(HISTORIES,))
