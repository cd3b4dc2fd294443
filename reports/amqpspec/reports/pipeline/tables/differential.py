"""Mart: different reactions of targets to the same input, grouped by the vector of targets and reactions.

Knows: the reactions of each target's newest version to each input within the horizon. Must not know: which reaction
is right.

A vector is named by a hash of its targets and their reactions. One input represents each vector; the rows of its
targets have the reactions. Reactions that a baseline declares are excluded; if no difference remains, there is no
row. A target that reacts to an input in different ways has the reaction ``varies``, which alone makes no difference.
"""

from __future__ import annotations

from datetime import date, timedelta

from pyspark.sql import DataFrame

from amqpspec.record.observation import CASE, FUZZ
from amqpspec.reports.marts.rows import Difference
from amqpspec.reports.pipeline.expressions import day, grouped
from amqpspec.reports.pipeline.tables.mart import NEWEST_RUNS, Inputs, Mart, named_runs
from amqpspec.reports.pipeline.tasks import as_planned, by_key, with_small

HORIZON_DAYS = 28
FEWEST, MOST = 4, 32
"""Partitions of the shuffle by input. Each costs some tens of milliseconds; with the most, each has less than a million
rows of four weeks of nights of a million.
"""
VARIES = "varies"
_VARIES_KEY, _DECLARED_KEY = 0, "(-9223372036854775807L - 1L)"
_SIGNATURE = f"""CASE
    WHEN known != 0 THEN {_DECLARED_KEY}
    WHEN signature_low != signature_high THEN {_VARIES_KEY}
    ELSE signature_low END"""
"""The reaction of a day in one number: a declared one is the smallest, so that the minimum of all days shows it."""
_LINE = ("target", "dialect", "kind")


def table(inputs: Inputs, as_of: date) -> DataFrame:
    """The members of vectors, as numbers; ``inputs`` is the number of inputs with this vector."""
    runs = newest_runs(inputs, as_of)
    lines = runs.where("names_line").selectExpr("line", "among")
    rows = _rows(inputs, runs, as_of)
    partitions = partitions_for(len(inputs["reaction_days"].inputFiles()))
    # Shuffled before they are aggregated, because there are nearly as many groups as rows; by the input alone, which
    # serves all following steps.
    vectors = _vectors(_reactions(by_key(rows, "input_key", partitions), lines))
    # The rows of the samples are few: they are found by a second scan, without a shuffle.
    chosen = vectors.withColumnsRenamed({"sample_key": "input_key", "among": "of"})
    of_samples = with_small(rows, chosen, "input_key")
    members = _reactions(of_samples, lines, "of", "vector", "inputs", "targets")
    return members.where("of = among").selectExpr(
        "input_key AS sample_key", "run_key", "signature", "vector", "inputs", "targets"
    )


def _rows(inputs: Inputs, runs: DataFrame, as_of: date) -> DataFrame:
    """Reactions of each target's newest version, as numbers of fixed width."""
    lines = runs.selectExpr("run_key", "line")
    of_newest = with_small(_within(inputs["reaction_days"], as_of), lines, "run_key")
    return of_newest.selectExpr("input_key", "line", "run_key", f"{_SIGNATURE} AS signature")


def partitions_for(files: int) -> int:
    """The number of partitions for days in this number of files: one for each file, within the limits."""
    return min(max(files, FEWEST), MOST)


def _reactions(rows: DataFrame, lines: DataFrame, *kept: str) -> DataFrame:
    """One row for each input and target: the reaction of its newest version, unless it is declared; with the columns
    ``kept``.
    """
    groups = grouped(
        rows,
        ("input_key", "line", *kept),
        "min(signature) AS low",
        "max(signature) AS high",
        "max(run_key) AS run_key",
    )
    reaction = f"CASE WHEN low = high THEN low ELSE {_VARIES_KEY} END AS signature"
    named = with_small(groups.where(f"low != {_DECLARED_KEY}"), lines, "line")
    return named.selectExpr("input_key", "among", "line", "run_key", reaction, *kept)


def _vectors(reactions: DataFrame) -> DataFrame:
    """Vectors with differences: one row each, with one of its inputs."""
    # A reaction that varies may be part of a vector, but makes no difference alone.
    stable = f"CASE WHEN signature != {_VARIES_KEY} THEN signature END"
    differing = grouped(
        reactions,
        ("among", "input_key"),
        # An exclusive or does not depend on order: the same reactions have the same name, whichever task reads them
        # first, and its buffer is one number, while a sorted list of targets would need an object for each group.
        "bit_xor(xxhash64(line, signature)) AS vector",
        "count(*) AS targets",
        f"min({stable}) AS low",
        f"max({stable}) AS high",
    )
    return grouped(
        differing.where("low < high"),
        ("among", "vector"),
        "count(*) AS inputs",
        "max(targets) AS targets",
        "min(input_key) AS sample_key",
    )


def _within(rollup: DataFrame, as_of: date) -> DataFrame:
    """The days of the horizon."""
    return rollup.where(f"dt <= {day(as_of)} AND dt > {day(as_of - timedelta(days=HORIZON_DAYS))}")


def newest_runs(inputs: Inputs, as_of: date) -> DataFrame:
    """``run_key, target, dialect, kind``: the runs of the version in which each target was last seen.

    ``line`` is the key of the last three, ``among`` that of the targets that are compared with each other. One run of
    each line has ``names_line``.
    """
    if NEWEST_RUNS in inputs:
        return inputs[NEWEST_RUNS]
    ended = grouped(_within(inputs["case_days"], as_of), ["run_key"], "max(last_us) AS last_us")
    same = f"OVER (PARTITION BY {', '.join(_LINE)})"
    runs = with_small(ended, _runs(inputs), "run_key").selectExpr(
        "*", f"max(struct(last_us, target_version)) {same} AS last"
    )
    return runs.where("target_version = last.target_version").selectExpr(
        "run_key",
        *_LINE,
        f"xxhash64({', '.join(_LINE)}) AS line",
        "xxhash64(dialect, kind) AS among",
        f"run_key = max(run_key) {same} AS names_line",
    )


def _runs(inputs: Inputs) -> DataFrame:
    """All runs and campaigns."""
    cases, inputs_of = (
        named_runs(inputs["runs"], kind).selectExpr("*", f"'{kind}' AS kind") for kind in (CASE, FUZZ)
    )
    return as_planned(cases.unionByName(inputs_of)).withColumnRenamed("run_dialect", "dialect")


def in_words(inputs: Inputs, members: DataFrame, facts: DataFrame | None) -> DataFrame:
    """Members of vectors with names in place of keys. Only the facts name an input of a campaign."""
    runs = _runs(inputs).selectExpr("run_key", *_LINE, "target_version", "product", "run", "folder")
    words = inputs["signatures"].selectExpr("signature", "reaction")
    cases = inputs["cases"].selectExpr("case_key AS sample_key", "`case`")
    joined = with_small(members, runs, "run_key", "left").join(words, "signature", "left")
    named = joined.join(cases, "sample_key", "left")
    if facts is None:
        named = named.selectExpr("*", "CAST(NULL AS STRING) AS id")
    else:
        named = with_small(named, _ids(members, facts), "sample_key", "left")
    return named.selectExpr(
        "* EXCEPT (reaction, vector)",
        f"CASE WHEN signature = {_VARIES_KEY} THEN '{VARIES}' ELSE reaction END AS reaction",
        f"coalesce(CASE WHEN kind = '{CASE}' THEN `case` END, id) AS sample",
        "lower(hex(vector)) AS vector",
    )


def _ids(members: DataFrame, facts: DataFrame) -> DataFrame:
    """The ids of sample inputs, from the facts of the days: the second, small join."""
    inputs = facts.selectExpr("input_key AS sample_key", "input")
    of_samples = with_small(inputs, members.selectExpr("sample_key"), "sample_key", "semi")
    return grouped(of_samples, ["sample_key"], "min(input) AS id")


MART = Mart(
    Difference,
    ("reaction_days", "case_days", "runs", "cases", "signatures"),
    table,
    horizon_days=HORIZON_DAYS,
    shares=(NEWEST_RUNS,),
    fill=in_words,
)
