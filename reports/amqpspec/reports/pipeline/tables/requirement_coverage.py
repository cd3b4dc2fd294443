"""Mart: the result of each target and version for each requirement: the worst verdict of its cases, with the
evidence.

Knows: the ledger, cases, latest verdicts. Must not know: how verdicts change over time.
"""

from __future__ import annotations

from datetime import date

from pyspark.sql import DataFrame

from amqpspec.reports.marts.rows import LatestVerdict, RequirementStatus
from amqpspec.reports.pipeline.expressions import grouped
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
from amqpspec.reports.pipeline.tasks import with_small

_WHO = ("target", "target_version", "dialect")
_COUNTS = ("cases", "judged", "green")
_STATUS = (
    "CASE WHEN worst IS NOT NULL THEN 'judged' WHEN length(coalesce(excluded, '')) > 0 THEN 'excluded' "
    "WHEN cases > 0 THEN 'not-run' ELSE 'open' END"
)


def table(inputs: Inputs, as_of: date) -> DataFrame:
    """``status``: judged; not-run if it has cases, but none ran; open without a case; excluded with a reason."""
    seen = with_newest(histories(inputs, as_of))
    worst = _worst(inputs, first_of(seen, LatestVerdict.GRAIN, NEWEST))
    # The joined tables have no more rows than the mart.
    judged = with_small(_targets_times_requirements(inputs, seen), worst, (*_WHO, "requirement_key"), "left")
    return with_small(judged, _linked(inputs), "requirement_key", "left").selectExpr(
        f"* EXCEPT ({', '.join(_COUNTS)})",
        f"{_STATUS} AS status",
        f"{verdict_word('worst')} AS verdict",
        "worst AS verdict_code",
        f"{BASELINE_WORD} AS baseline",
        *(f"coalesce({name}, 0) AS {name}" for name in _COUNTS),
        f"{at('last_us')} AS at",
        f"{EVIDENCE} AS evidence",
    )


def _targets_times_requirements(inputs: Inputs, seen: DataFrame) -> DataFrame:
    who = seen.selectExpr(*_WHO, "newest").distinct()
    rows = inputs["requirements"].selectExpr(
        "requirement_key", "dialect", "requirement", "level", "section", "same_as", "excluded"
    )
    return with_small(who, rows, "dialect")


def _linked(inputs: Inputs) -> DataFrame:
    """The number of cases that cover a requirement."""
    return grouped(inputs["case_requirements"], ["requirement_key"], "count(*) AS cases")


def _worst(inputs: Inputs, latest: DataFrame) -> DataFrame:
    """For each target and requirement the worst verdict, and the first case by name with it."""
    links = inputs["case_requirements"].selectExpr("case_key", "requirement_key")
    keys = (*_WHO, "requirement_key")
    rows = with_small(latest, links, "case_key").selectExpr(
        *keys, "`case`", "run", "folder", "worst", "last_us", "known", "unexpected", "green = attempts AS is_green"
    )  # fmt: skip
    return first_of(rows, keys, "worst DESC, `case`", judged="count(*)", green="count_if(is_green)")


MART = Mart(
    RequirementStatus,
    ("case_days", "runs", "cases", "requirements", "case_requirements"),
    table,
    shares=(HISTORIES,),
)
