"""Mart: different reactions of targets to the same input, grouped by the vector of targets and reactions.

Knows: the reactions of each target's newest version to each input within the horizon. Must not know: which reaction
is right.

A vector is named by a hash of its targets and their reactions. One input represents each vector; the rows of its
targets have the reactions. Reactions that a baseline declares are excluded; if no difference remains, there is no
row. A target that reacts to an input in different ways has the reaction ``varies``, which alone makes no difference.
"""

from __future__ import annotations

from datetime import date, timedelta

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as fn

from amqpspec.record.observation import CASE, FUZZ
from amqpspec.reports.marts.rows import Difference
from amqpspec.reports.pipeline.grain import as_schema
from amqpspec.reports.pipeline.tables.mart import NEWEST_RUNS, Inputs, Mart, named_runs, until
from amqpspec.reports.pipeline.tasks import as_planned, by_key, with_small

HORIZON_DAYS = 28
FEWEST, MOST = 4, 32
"""Partitions of the shuffle by input. Each costs some tens of milliseconds; with the most, each has less than a million
rows of four weeks of nights of a million.
"""
VARIES = "varies"
_VARIES_KEY = 0
_LINE = ("target", "dialect", "kind")


def table(inputs: Inputs, as_of: date) -> DataFrame:
    """``inputs`` is the number of inputs with this vector. ``sample`` names a case; for an input, ``named`` does."""
    runs = newest_runs(inputs, as_of)
    lines = runs.where("names_line").select("line", "among", *_LINE)
    rows = _rows(inputs, runs, as_of)
    partitions = partitions_for(len(inputs["reaction_days"].inputFiles()))
    # Shuffled before they are aggregated, because there are nearly as many groups as rows; by the input alone, which
    # serves all following steps.
    vectors = _vectors(_reactions(by_key(rows, "input_key", partitions), lines))
    # The rows of the samples are few: they are found by a second scan, without a shuffle.
    chosen = vectors.withColumnRenamed("sample_key", "input_key").withColumnRenamed("among", "of")
    of_samples = with_small(rows, chosen, "input_key")
    members = _reactions(of_samples, lines, "of", "vector", "inputs", "targets")
    return _in_words(inputs, members.where("of = among").withColumnRenamed("input_key", "sample_key"))


def _rows(inputs: Inputs, runs: DataFrame, as_of: date) -> DataFrame:
    """Reactions of each target's newest version, as numbers of fixed width."""
    of_newest = with_small(_within(inputs["reaction_days"], as_of), runs.select("run_key", "line"), "run_key")
    return of_newest.select("input_key", "line", "run_key", "signature_low", "signature_high", "known")


def partitions_for(files: int) -> int:
    """The number of partitions for days in this number of files: one for each file, within the limits."""
    return min(max(files, FEWEST), MOST)


def _reactions(rows: DataFrame, lines: DataFrame, *kept: str) -> DataFrame:
    """One row for each input and target: the reaction of its newest version, unless it is declared; with the columns
    ``kept``.
    """
    reaction = fn.when(fn.col("low") == fn.col("high"), fn.col("low")).otherwise(fn.lit(_VARIES_KEY))
    groups = rows.groupBy("input_key", "line", *kept).agg(
        fn.min("signature_low").alias("low"),
        fn.max("signature_high").alias("high"),
        fn.max("known").alias("known"),
        fn.max("run_key").alias("run_key"),
    )
    named = with_small(groups.where("known = 0 AND low IS NOT NULL"), lines, "line")
    return named.select("input_key", "among", *_LINE, "run_key", reaction.alias("signature"), *kept)


def _vectors(reactions: DataFrame) -> DataFrame:
    """Vectors with differences: one row each, with one of its inputs."""
    # A reaction that varies may be part of a vector, but makes no difference alone.
    stable = fn.when(fn.col("signature") != _VARIES_KEY, fn.col("signature"))
    differing = (
        reactions.groupBy("among", "input_key")
        .agg(
            # An exclusive or does not depend on order: the same reactions have the same name, whichever task reads
            # them first, and its buffer is one number, while a sorted list of targets would need an object for each
            # group.
            fn.bit_xor(fn.xxhash64("target", "signature")).alias("vector"),
            fn.count(fn.lit(1)).alias("targets"),
            fn.min(stable).alias("low"),
            fn.max(stable).alias("high"),
        )
        .where("low < high")
    )
    return differing.groupBy("among", "vector").agg(
        fn.count(fn.lit(1)).alias("inputs"),
        fn.max("targets").alias("targets"),
        fn.min("input_key").alias("sample_key"),
    )


def _within(rollup: DataFrame, as_of: date) -> DataFrame:
    """The days of the horizon."""
    return until(rollup, as_of).where(fn.col("dt") > fn.lit(as_of - timedelta(days=HORIZON_DAYS)))


def newest_runs(inputs: Inputs, as_of: date) -> DataFrame:
    """``run_key, target, dialect, kind``: the runs of the version in which each target was last seen.

    ``line`` is the key of the last three, ``among`` that of the targets that are compared with each other. One run of
    each line has ``names_line``.
    """
    if NEWEST_RUNS in inputs:
        return inputs[NEWEST_RUNS]
    ended = _within(inputs["case_days"], as_of).groupBy("run_key").agg(fn.max("last_us").alias("last_us"))
    runs = with_small(ended, _runs(inputs), "run_key")
    last = fn.max(fn.struct("last_us", "target_version")).over(Window.partitionBy(*_LINE))
    newest = runs.withColumn("last", last).where("target_version = last.target_version")
    return newest.select(
        "run_key",
        *_LINE,
        fn.xxhash64(*_LINE).alias("line"),
        fn.xxhash64("dialect", "kind").alias("among"),
        (fn.col("run_key") == fn.max("run_key").over(Window.partitionBy(*_LINE))).alias("names_line"),
    )


def _runs(inputs: Inputs) -> DataFrame:
    """All runs and campaigns."""
    cases, inputs_of = (
        named_runs(inputs["runs"], kind).withColumn("kind", fn.lit(kind)) for kind in (CASE, FUZZ)
    )
    return as_planned(cases.unionByName(inputs_of)).withColumnRenamed("run_dialect", "dialect")


def _in_words(inputs: Inputs, members: DataFrame) -> DataFrame:
    """Members of vectors with names in place of keys."""
    runs = _runs(inputs).select("run_key", "target_version", "product", "run", "folder")
    words = inputs["signatures"].select("signature", "reaction")
    cases = inputs["cases"].select(fn.col("case_key").alias("sample_key"), fn.col("case").alias("sample"))
    varies = fn.when(fn.col("signature") == _VARIES_KEY, fn.lit(VARIES)).otherwise(fn.col("reaction"))
    is_case = fn.when(fn.col("kind") == CASE, fn.col("sample"))
    return (
        with_small(members, runs, "run_key", "left")
        .join(words, "signature", "left")
        .join(cases, "sample_key", "left")
        .withColumns({"reaction": varies, "sample": is_case, "vector": fn.lower(fn.hex("vector"))})
    )


def with_sample_ids(mart: DataFrame, facts: DataFrame) -> DataFrame:
    """The mart with the ids of its sample inputs, from the facts of its days: the second, small join."""
    wanted = mart.where("sample IS NULL").select(fn.col("sample_key").alias("input_key")).distinct()
    ids = with_small(facts.select("input_key", "input"), wanted, "input_key")
    names = ids.groupBy(fn.col("input_key").alias("sample_key")).agg(fn.min("input").alias("id"))
    joined = with_small(mart, names, "sample_key", "left")
    return as_schema(joined.withColumn("sample", fn.coalesce("sample", "id")), Difference.ddl())


MART = Mart(
    Difference,
    ("reaction_days", "case_days", "runs", "cases", "signatures"),
    table,
    horizon_days=HORIZON_DAYS,
    shares=(NEWEST_RUNS,),
    fill=with_sample_ids,
)
