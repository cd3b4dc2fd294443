"""Rollups and marts said a second time, as DuckDB's SQL over the same files.

Knows: what each of them is by its documentation. Must not know: Spark, files, how long anything takes.
"""

from __future__ import annotations

from collections.abc import Mapping

from amqpspec.record.observation import VERDICT_CODES
from amqpspec.record.rows import Outcome

_GREEN = "verdict IN (2, 3)"

ROLLUP_SQL: Mapping[str, str] = {
    "case_days": f"""
        SELECT dt, run_key, case_key, count(*) AS attempts, count(*) FILTER ({_GREEN}) AS green,
               max(verdict) AS worst, min(verdict) AS best, count(*) FILTER (baseline = 'known') AS known,
               count(*) FILTER (baseline = 'unexpected') AS unexpected, min(epoch_us(at_us)) AS first_us,
               max(epoch_us(at_us)) AS last_us, sum(latency_us)::BIGINT AS latency_us
        FROM facts GROUP BY dt, run_key, case_key""",
    "crash_days": """
        SELECT dt, run_key, crash_key, count(*) AS inputs, min(epoch_us(at_us)) AS first_us,
               max(epoch_us(at_us)) AS last_us, min(sent_octets) AS smallest_octets
        FROM facts WHERE kind = 'fuzz' AND crash_key <> 0 GROUP BY dt, run_key, crash_key""",
    "edge_days": """
        SELECT dt, run_key, edge, count(*) AS inputs, max(verdict) AS worst,
               bit_or(1::BIGINT << coalesce(try_cast(substring(family, 2, 2) AS INT), 0)) AS families,
               min(epoch_us(at_us)) AS first_us, max(epoch_us(at_us)) AS last_us
        FROM facts WHERE kind = 'fuzz' GROUP BY dt, run_key, edge""",
    "reaction_days": """
        SELECT dt, run_key, coalesce(input_key, case_key) AS input_key, min(signature) AS signature_low,
               max(signature) AS signature_high,
               max(CASE WHEN baseline = 'known' THEN 1 ELSE 0 END)::TINYINT AS known
        FROM facts GROUP BY ALL""",
}  # fmt: skip

_NOT_RUN = VERDICT_CODES[Outcome.NOT_APPLICABLE]
_IS_GREEN = "IN (2, 3)"


def _word(column: str) -> str:
    arms = " ".join(f"WHEN {code} THEN '{outcome}'" for outcome, code in VERDICT_CODES.items())
    return f"CASE {column} {arms} END"


_BASELINE = "CASE WHEN unexpected > 0 THEN 'unexpected' WHEN known > 0 THEN 'known' ELSE '' END"
_EVIDENCE = (
    f"""CASE WHEN worst > {_NOT_RUN} THEN concat_ws('/', folder, 'evidence', "case" || '.jsonl') END"""
)
ORDER = """list_append(list_transform(
    list_filter(regexp_split_to_array({0}, '[^0-9A-Za-z]+'), lambda part: part <> ''),
    lambda part: CASE WHEN regexp_full_match(part, '[0-9]+') THEN '2' || lpad(part, 12, '0')
                      ELSE '0' || part END), '1')"""
_CASE = 'target, dialect, "case"'

VIEWS: Mapping[str, str] = {
    "named_runs": """
        SELECT run_key, run, kind, coalesce(target, '') AS target, coalesce(product, '') AS product,
               coalesce(target_version, '') AS target_version, coalesce(suite_version, '') AS suite_version,
               coalesce(dialect, '') AS dialect, folder
        FROM runs""",
    "campaigns": "SELECT * EXCLUDE (kind) FROM named_runs WHERE kind = 'fuzz'",
    "case_runs": """
        SELECT d.*, r.run, r.target, r.product, r.target_version, r.suite_version, r.folder,
               coalesce(c.dialect, r.dialect) AS dialect, coalesce(c."case", lower(hex(d.case_key))) AS "case",
               c.suite, c.title, c.level
        FROM (SELECT run_key, case_key, sum(attempts)::BIGINT AS attempts, sum(green)::BIGINT AS green,
                     sum(known)::BIGINT AS known, sum(unexpected)::BIGINT AS unexpected, max(worst) AS worst,
                     min(best) AS best, min(first_us) AS first_us, max(last_us) AS last_us
              FROM case_days WHERE dt <= getvariable('as_of') GROUP BY run_key, case_key) d
        JOIN named_runs r ON r.run_key = d.run_key AND r.kind = 'case'
        LEFT JOIN cases c ON c.case_key = d.case_key""",
    "latest": """
        SELECT l.*, n.target IS NOT NULL AS newest
        FROM (SELECT *, count(*) OVER (PARTITION BY target, target_version, dialect, "case") AS runs
              FROM case_runs
              QUALIFY row_number() OVER (PARTITION BY target, target_version, dialect, "case"
                                         ORDER BY last_us DESC, run_key DESC) = 1) l
        LEFT JOIN (SELECT target, dialect, target_version, max(last_us) AS at FROM case_runs
                   GROUP BY target, dialect, target_version
                   QUALIFY row_number() OVER (PARTITION BY target, dialect
                                              ORDER BY max(last_us) DESC, target_version DESC) = 1) n
        USING (target, dialect, target_version)""",
    "version_pairs": f"""
        SELECT *, {ORDER.format("target_version")} AS target_order, {ORDER.format("suite_version")} AS suite_order
        FROM (SELECT * EXCLUDE (first_us), min(first_us) OVER pair AS first_us,
                     max(worst) OVER pair <> min(worst) OVER pair OR max(worst - best) OVER pair > 0 AS mixed
              FROM case_runs
              WINDOW pair AS (PARTITION BY {_CASE}, target_version, suite_version)
              QUALIFY row_number() OVER (PARTITION BY {_CASE}, target_version, suite_version
                                         ORDER BY last_us DESC, run_key DESC) = 1)""",
    "crash_dates": """
        SELECT *, (seen_at AT TIME ZONE 'UTC')::DATE AS dt FROM crashes
        WHERE crash_key <> 0 AND (seen_at AT TIME ZONE 'UTC')::DATE <= getvariable('as_of')""",
    "crash_seen": """
        SELECT * FROM crash_days WHERE dt <= getvariable('as_of')
        UNION ALL BY NAME
        SELECT dt, run_key, crash_key, 0 AS inputs, epoch_us(seen_at) AS first_us, epoch_us(seen_at) AS last_us
        FROM crash_dates c
        WHERE NOT EXISTS (FROM crash_days d WHERE d.run_key = c.run_key AND d.crash_key = c.crash_key
                          AND d.dt <= getvariable('as_of'))""",
    "newest_runs": """
        SELECT run_key, target, dialect, kind
        FROM (SELECT r.*, first_value(r.target_version) OVER (PARTITION BY target, dialect, kind
                  ORDER BY e.last_us DESC, r.target_version DESC) AS newest_version
              FROM named_runs r
              JOIN (SELECT run_key, max(last_us) AS last_us FROM case_days
                    WHERE dt <= getvariable('as_of') AND dt > getvariable('as_of') - 28 GROUP BY run_key) e
              USING (run_key))
        WHERE target_version = newest_version""",
}  # fmt: skip
"""What several marts need, in an order in which each knows the ones before it."""

# A vector's hash is taken over one text, because DuckDB's hash of two values is linear in them: two targets that swap
# their reactions would have the same vector.
MART_SQL: Mapping[str, str] = {
    "verdicts": f"""
        SELECT *, {_word("worst")} AS verdict, worst AS verdict_code, {_BASELINE} AS baseline,
               make_timestamp(last_us) AS at, {_EVIDENCE} AS evidence
        FROM latest""",
    "requirement_coverage": f"""
        WITH who AS (SELECT DISTINCT target, target_version, dialect, newest FROM latest),
        linked AS (SELECT requirement_key, count(*) AS cases FROM case_requirements GROUP BY requirement_key),
        worst AS (
            SELECT l.target, l.target_version, l.dialect, c.requirement_key, l."case", l.run, l.folder, l.worst,
                   l.last_us, l.known, l.unexpected, count(*) OVER every AS judged,
                   sum((l.green = l.attempts)::BIGINT) OVER every AS green
            FROM latest l JOIN case_requirements c USING (case_key)
            WINDOW every AS (PARTITION BY l.target, l.target_version, l.dialect, c.requirement_key)
            QUALIFY row_number() OVER (PARTITION BY l.target, l.target_version, l.dialect, c.requirement_key
                                       ORDER BY l.worst DESC, l."case") = 1)
        SELECT who.*, r.requirement, r.level, r.section, r.same_as, r.excluded,
               CASE WHEN worst IS NOT NULL THEN 'judged' WHEN coalesce(r.excluded, '') <> '' THEN 'excluded'
                    WHEN linked.cases > 0 THEN 'not-run' ELSE 'open' END AS status,
               {_word("worst")} AS verdict, worst AS verdict_code, {_BASELINE} AS baseline,
               coalesce(linked.cases, 0) AS cases, coalesce(judged, 0) AS judged,
               coalesce(green, 0)::BIGINT AS green, "case", run, make_timestamp(last_us) AS at,
               {_EVIDENCE} AS evidence
        FROM who JOIN requirements r USING (dialect)
        LEFT JOIN worst w ON w.target = who.target AND w.target_version = who.target_version
             AND w.dialect = who.dialect AND w.requirement_key = r.requirement_key
        LEFT JOIN linked ON linked.requirement_key = r.requirement_key""",
    "regressions": f"""
        WITH placed AS (
            SELECT *, struct_pack(target_version, suite_version, worst, mixed, run) AS own,
                   lag(own) OVER (PARTITION BY {_CASE}, suite_version
                                   ORDER BY target_order, target_version) AS by_target,
                   lag(own) OVER (PARTITION BY {_CASE}, target_version
                                   ORDER BY suite_order, suite_version) AS by_suite,
                   lag(own) OVER (PARTITION BY {_CASE} ORDER BY first_us, target_order, suite_order) AS by_time
            FROM version_pairs),
        compared AS (
            SELECT *, 'target-version' AS change, by_target AS old FROM placed
            UNION ALL BY NAME SELECT *, 'suite-version' AS change, by_suite AS old FROM placed
            UNION ALL BY NAME SELECT *, 'both' AS change, by_time AS old FROM placed
                              WHERE by_target IS NULL AND by_suite IS NULL)
        SELECT {_CASE}, change, suite, level, target_version AS to_target_version, suite_version AS to_suite_version,
               old.target_version AS from_target_version, old.suite_version AS from_suite_version,
               {_word("old.worst")} AS from_verdict, {_word("worst")} AS to_verdict,
               CASE WHEN old.worst {_IS_GREEN} AND worst NOT {_IS_GREEN} AND worst > old.worst THEN 'regressed'
                    WHEN old.worst NOT {_IS_GREEN} AND worst {_IS_GREEN} AND old.worst > worst THEN 'fixed'
                    ELSE 'changed' END AS direction,
               old.mixed OR mixed AS flaky, old.run AS from_run, run AS to_run, make_timestamp(first_us) AS at,
               {_EVIDENCE} AS evidence
        FROM compared WHERE old IS NOT NULL AND old.worst <> worst""",
    "flakiness": f"""
        SELECT target, target_version, suite_version, dialect, "case", any_value(suite) AS suite,
               any_value(level) AS level, count(*) AS runs, sum(flip)::BIGINT AS flips,
               CASE WHEN count(*) > 1 THEN sum(flip) / (count(*) - 1) END AS flip_rate,
               count(*) FILTER (worst <> best) AS mixed_runs, sum(attempts)::BIGINT AS attempts,
               sum(green)::BIGINT AS green, {_word("min(best)")} AS best_verdict,
               {_word("max(worst)")} AS worst_verdict, make_timestamp(min(first_us)) AS first_at,
               make_timestamp(max(last_us) FILTER (flip = 1)) AS last_flip_at,
               make_timestamp(max(last_us)) AS last_at
        FROM (SELECT *, coalesce((lag(worst) OVER (PARTITION BY {_CASE}, target_version, suite_version
                                                   ORDER BY last_us, run_key) <> worst)::BIGINT, 0) AS flip
              FROM case_runs)
        GROUP BY target, target_version, suite_version, dialect, "case"
        HAVING sum(flip) > 0 OR count(*) FILTER (worst <> best) > 0""",
    "findings": """
        WITH clusters AS (
            SELECT target, dialect, crash_key, count(DISTINCT run_key) AS campaigns, count(DISTINCT dt) AS days,
                   sum(inputs)::BIGINT AS inputs,
                   coalesce(sum(inputs) FILTER (dt > getvariable('as_of') - 7), 0)::BIGINT AS recent,
                   coalesce(sum(inputs) FILTER (dt <= getvariable('as_of') - 7 AND dt > getvariable('as_of') - 14),
                            0)::BIGINT AS earlier,
                   min(first_us) AS first_us, max(last_us) AS last_us, min(smallest_octets) AS sent_octets,
                   first(target_version ORDER BY first_us, run_key) AS first_version,
                   first(target_version ORDER BY last_us DESC, run_key DESC) AS last_version
            FROM crash_seen JOIN campaigns USING (run_key) GROUP BY target, dialect, crash_key),
        smallest AS (
            SELECT g.target, g.dialect, c.* EXCLUDE (dialect, run_key, dt), g.run
            FROM crash_dates c JOIN campaigns g USING (run_key)
            QUALIFY row_number() OVER (PARTITION BY g.target, g.dialect, c.crash_key
                ORDER BY c.input_octets NULLS LAST, c.seen_at DESC, c.run_key) = 1),
        fuzzed AS (
            SELECT target, dialect, target_version AS newest_version
            FROM edge_days JOIN campaigns USING (run_key) WHERE dt <= getvariable('as_of')
            GROUP BY target, dialect, target_version
            QUALIFY row_number() OVER (PARTITION BY target, dialect
                                       ORDER BY max(last_us) DESC, target_version DESC) = 1)
        SELECT clusters.*, s.* EXCLUDE (target, dialect, crash_key, crash),
               coalesce(s.crash, lower(hex(clusters.crash_key))) AS crash, last_version = newest_version AS open,
               make_timestamp(first_us) AS first_seen, make_timestamp(last_us) AS last_seen,
               coalesce(s.input_octets, sent_octets) AS smallest_octets, s.input AS smallest_input
        FROM clusters LEFT JOIN smallest s USING (target, dialect, crash_key)
        LEFT JOIN fuzzed USING (target, dialect)""",
    "differential": """
        WITH reactions AS MATERIALIZED (
            SELECT input_key, target, dialect, kind, max(run_key) AS run_key,
                   CASE WHEN min(signature_low) = max(signature_high) THEN min(signature_low) ELSE 0 END AS signature
            FROM reaction_days JOIN newest_runs USING (run_key)
            WHERE dt <= getvariable('as_of') AND dt > getvariable('as_of') - 28
            GROUP BY input_key, target, dialect, kind
            HAVING max(known) = 0 AND min(signature_low) IS NOT NULL),
        differing AS (
            SELECT dialect, kind, input_key, bit_xor(hash(concat(target, ':', signature))) AS vector,
                   count(*) AS targets
            FROM reactions GROUP BY dialect, kind, input_key
            HAVING min(signature) FILTER (signature <> 0) < max(signature) FILTER (signature <> 0)),
        vectors AS (
            SELECT dialect, kind, vector, count(*) AS inputs, max(targets) AS targets, min(input_key) AS sample_key
            FROM differing GROUP BY dialect, kind, vector),
        members AS (
            SELECT v.*, r.target, r.run_key, r.signature
            FROM vectors v JOIN reactions r
            ON r.dialect = v.dialect AND r.kind = v.kind AND r.input_key = v.sample_key),
        ids AS (
            SELECT input_key AS sample_key, min(input) AS id FROM facts
            WHERE kind = 'fuzz' AND dt <= getvariable('as_of') AND dt > getvariable('as_of') - 28
                  AND input_key IN (SELECT sample_key FROM members WHERE kind = 'fuzz')
            GROUP BY input_key)
        SELECT m.dialect, m.kind, m.vector, m.target, n.target_version, n.product,
               CASE WHEN m.signature = 0 THEN 'varies' ELSE s.reaction END AS reaction, m.inputs, m.targets,
               CASE WHEN m.kind = 'case' THEN c."case" ELSE ids.id END AS sample, m.sample_key, n.run, n.folder
        FROM members m LEFT JOIN named_runs n ON n.run_key = m.run_key
        LEFT JOIN signatures s ON s.signature = m.signature
        LEFT JOIN cases c ON c.case_key = m.sample_key
        LEFT JOIN ids ON ids.sample_key = m.sample_key""",
    "exploration": """
        WITH gone AS (SELECT c.target, c.dialect, d.*, e.state, e.production, e.signature
                      FROM edge_days d JOIN campaigns c USING (run_key) LEFT JOIN edges e USING (edge)
                      WHERE dt <= getvariable('as_of')),
        met AS (
            SELECT 'state' AS dimension, target, dialect, dt, state AS value, inputs FROM gone
            UNION ALL SELECT 'production', target, dialect, dt, production, inputs FROM gone
            UNION ALL SELECT 'edge', target, dialect, dt, edge::VARCHAR, inputs FROM gone
            UNION ALL SELECT 'reaction', target, dialect, dt, signature::VARCHAR, inputs FROM gone
            UNION ALL SELECT 'family', target, dialect, dt,
                             CASE n WHEN 0 THEN 'random' ELSE printf('C%02d', n) END, NULL
                      FROM gone, range(0, 63) AS bits(n) WHERE (families >> n) & 1 = 1
            UNION ALL SELECT 'cell', target, dialect, dt, case_key::VARCHAR, attempts
                      FROM case_days JOIN campaigns USING (run_key) WHERE dt <= getvariable('as_of')),
        values_met AS (
            SELECT dimension, target, dialect, dt, value, sum(inputs) AS inputs,
                   min(dt) OVER (PARTITION BY dimension, target, dialect, value) AS first
            FROM met WHERE value <> '' GROUP BY dimension, target, dialect, dt, value),
        daily AS (
            SELECT target, dialect, dimension, dt, count(*) AS met, count(*) FILTER (first = dt) AS new,
                   sum(inputs)::BIGINT AS inputs
            FROM values_met GROUP BY target, dialect, dimension, dt)
        SELECT *, sum(new) OVER (PARTITION BY target, dialect, dimension ORDER BY dt)::BIGINT AS covered FROM daily""",
    "scores": f"""
        SELECT target, target_version, suite_version, dialect, run, coalesce(suite, '') AS suite,
               coalesce(level, '') AS level, any_value(product) AS product, count(*) AS cases,
               count(*) FILTER (worst > {_NOT_RUN}) AS counted, count(*) FILTER (worst {_IS_GREEN}) AS green,
               count(*) FILTER (worst = {VERDICT_CODES[Outcome.FAIL]}) AS failed,
               count(*) FILTER (known > 0 AND unexpected = 0) AS known, count(*) FILTER (unexpected > 0) AS unexpected,
               make_timestamp(min(first_us)) AS at
        FROM case_runs GROUP BY ALL""",
}  # fmt: skip
"""Each over the views; columns are named as the mart names them, and more of them than it has do no harm."""

NOT_COMPARED: Mapping[str, frozenset[str]] = {"differential": frozenset({"vector"})}
"""Names of vectors are hashes of Spark's own; the sample's key, which each vector has for itself, represents them.
"""
