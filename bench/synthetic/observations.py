"""Observations that no one made: seeded, of realistic cardinalities, from a thousand to a hundred million rows.

Used by tests/pipeline and bench/pipeline.py. Knows: how many runs, cells, reactions and findings a night has, and how
skewed they are; columns by pyarrow alone.
Must not know: Spark, files, journals.

A value is a hash of its position, so that the same seed gives the same rows in batches of any size. One night has,
for each line (a target in a dialect), conformance runs with several attempts a case, and a campaign: first the
finite families, which are the same every night, then random inputs of the night's seed, the same for all targets of
a dialect.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache, cached_property

import pyarrow as pa
import pyarrow.compute as pc

from amqpspec.record.evidence import evidence_path
from amqpspec.record.observation import CASE, FUZZ, VERDICT_CODES, key
from amqpspec.record.rows import Outcome

BATCH_ROWS = 1 << 18
_PASS, _FAIL = VERDICT_CODES[Outcome.PASS], VERDICT_CODES[Outcome.FAIL]
_NONSTRICT = VERDICT_CODES[Outcome.NONSTRICT]
_DAY_US = 86_400_000_000
_ATTEMPTS = 4
_CASE_SHARE = 0.1
_CASES, _CELLS, _STATES, _ROLES, _REACTIONS, _CRASHES = 320, 420, 13, 74, 240, 40
_WAYS = 6
"""How many reactions a cell can bring about."""


@dataclass(frozen=True, slots=True)
class Line:
    """A target in one of its dialects."""

    target: str
    product: str
    dialect: str
    number: int


LINES = (
    Line("rabbitmq", "RabbitMQ", "amqp-0-9-1", 0),
    Line("garagemq", "garagemq", "amqp-0-9-1", 1),
    Line("qpid-broker-j", "Qpid Broker-J", "amqp-0-9-1", 2),
    Line("reference", "amqpspec reference", "amqp-0-9-1", 3),
    Line("rabbitmq", "RabbitMQ", "amqp-1-0", 4),
    Line("artemis", "ActiveMQ Artemis", "amqp-1-0", 5),
    Line("qpid-broker-j", "Qpid Broker-J", "amqp-1-0", 6),
    Line("qpid-proton", "Qpid Proton", "amqp-1-0", 7),
)
DIALECTS = tuple(dict.fromkeys(line.dialect for line in LINES))


@dataclass(frozen=True, slots=True)
class RunOf:
    """A run or campaign of one night, and how many rows it leaves."""

    id: str
    kind: str
    line: Line
    target_version: str
    suite_version: str
    grammar: str
    day: date
    rows: int
    index: int


@dataclass(frozen=True)
class Nights:
    """``days`` nights of about ``rows_a_day`` observations each, from ``first`` on."""

    rows_a_day: int
    days: int = 1
    first: date = date(2026, 11, 1)
    seed: int = 1

    def dates(self) -> list[date]:
        """Every night."""
        return [self.first + timedelta(days=number) for number in range(self.days)]

    def runs(self, day: date) -> list[RunOf]:
        """The runs and campaigns of a night; the rows add up to ``rows_a_day``."""
        case_rows = max(len(LINES), round(self.rows_a_day * _CASE_SHARE))
        found = [run for line in LINES for run in self._conformance(day, line, case_rows)]
        fuzz_rows = self.rows_a_day - sum(run.rows for run in found)
        return found + [self._campaign(day, line, fuzz_rows) for line in LINES]

    def _conformance(self, day: date, line: Line, case_rows: int) -> Iterator[RunOf]:
        left, index = _share(case_rows, line.number), 0
        while left > 0:
            rows = min(left, _CASES * _ATTEMPTS)
            yield self._run(day, line, CASE, rows, index)
            left, index = left - rows, index + 1

    def _campaign(self, day: date, line: Line, fuzz_rows: int) -> RunOf:
        return self._run(day, line, FUZZ, _share(fuzz_rows, line.number), 0)

    def _run(self, day: date, line: Line, kind: str, rows: int, index: int) -> RunOf:
        age = (day - date(2026, 11, 1)).days
        word = "campaign" if kind == FUZZ else f"run{index}"
        return RunOf(
            id=f"{day:%Y%m%d}T020000Z-{line.target}-{line.dialect}-{word}",
            kind=kind,
            line=line,
            target_version=f"{3 + line.number % 2}.{10 + age // 3}.0",
            suite_version=f"0.{1 + age // 5}.0",
            grammar=f"{key(line.dialect) & 0xFFFFFFFF:08x}" if kind == FUZZ else "",
            day=day,
            rows=rows,
            index=index,
        )

    def batches(self, run: RunOf, batch_rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """The rows of a run, with every column of an observation that is not null throughout."""
        for start in range(0, run.rows, batch_rows):
            rows = min(batch_rows, run.rows - start)
            maker = _Fuzz if run.kind == FUZZ else _Case
            yield maker(run, self.seed, start, rows).batch()


def _share(rows: int, number: int) -> int:
    """An even part of the rows, the first lines taking what is left over."""
    whole, rest = divmod(rows, len(LINES))
    return whole + (number < rest)


@dataclass(frozen=True)
class _Rows:
    """Some consecutive rows of a run."""

    run: RunOf
    seed: int
    start: int
    rows: int

    @cached_property
    def number(self) -> pa.Array:
        """Where each row is in its run."""
        return pa.array(range(self.start, self.start + self.rows), pa.uint64())

    def constant(self, value: str | int, kind: pa.DataType) -> pa.Array:
        return pa.repeat(pa.scalar(value, kind), self.rows)

    def common(self) -> dict[str, pa.Array]:
        """What a run says of all its rows, and when each of them ended."""
        run = self.run
        begun_us = int(datetime.combine(run.day, datetime.min.time(), UTC).timestamp()) * 1_000_000
        step_us = _DAY_US // (run.rows + 1)
        at_us = pc.add(pc.multiply(self.number.cast(pa.int64()), step_us), begun_us)
        texts = {
            "kind": run.kind, "run": run.id, "target": run.line.target, "product": run.line.product,
            "target_version": run.target_version, "suite_version": run.suite_version, "grammar": run.grammar,
            "dialect": run.line.dialect,
        }  # fmt: skip
        return {
            **{name: self.constant(value, pa.string()) for name, value in texts.items()},
            "run_key": self.constant(key(run.id), pa.int64()),
            "at_us": at_us.cast(pa.timestamp("us", tz="UTC")),
            "worker": _below(self.number, 4).cast(pa.int16()),
        }


class _Fuzz(_Rows):
    def batch(self) -> pa.RecordBatch:
        """Inputs of a campaign, a few of them sent twice."""
        pool, line = pool_of(self.run.line.dialect), self.run.line
        sent = pc.subtract(self.number, pc.less(_below(_mix(self.number, 3), 50), 1).cast(pa.uint64()))
        sent = pc.if_else(pc.greater(sent, self.run.rows), pa.scalar(0, pa.uint64()), sent)
        finite = pc.less(sent, max(1, self.run.rows // 4))
        night = (self.run.day - date(2026, 1, 1)).days
        origin = pc.if_else(finite, pa.scalar(0, pa.uint64()), pa.scalar(night, pa.uint64()))
        ident = _mix(
            pc.add(pc.multiply(origin, pa.scalar(1 << 40, pa.uint64())), sent),
            self.seed * 31 + key(line.dialect) % 97,
        )
        cell = _skewed(_mix(ident, 5), _CELLS)
        own = pc.less(_below(_mix(ident, 100 + line.number), 1000), 30).cast(pa.uint64())
        way = _below(pc.add(_skewed(_mix(ident, 6), _WAYS), own), _WAYS)
        edge = pc.add(pc.multiply(cell, _WAYS), way)
        crashed = pc.equal(_below(_mix(ident, 200 + line.number), 2000), 0)
        crash = pc.if_else(crashed, _skewed(_mix(ident, 7), _CRASHES), pa.scalar(None, pa.uint64()))
        known = pc.and_(pc.equal(own, 1), pc.less(_below(_mix(ident, 8), 10), 3))
        octets = pc.add(_skewed(_mix(ident, 9), 4096), 8).cast(pa.int64())
        words = pc.binary_join_element_wise(
            pool.cells.take(cell), pc.if_else(finite, "s0", f"s{night}"), sent.cast(pa.string()), "/"
        )
        silent = pc.equal(_below(_mix(ident, 10), 20), 0)
        return pa.RecordBatch.from_pydict(
            self.common()
            | {
                "case": pool.cells.take(cell),
                "case_key": pool.cell_keys.take(cell),
                "attempt": self.constant(1, pa.int32()),
                "verdict": pc.if_else(crashed, _FAIL, _PASS).cast(pa.int8()),
                "baseline": pc.if_else(known, "known", pa.scalar(None, pa.string())),
                "family": pool.families.take(cell),
                "role": pool.roles.take(cell),
                "input": pc.binary_join_element_wise(f"g:{self.run.grammar}", words, "/"),
                "input_key": _signed(ident),
                "state": pool.states.take(cell),
                "end_state": pa.array(["fin", "rst", "open", "refused"]).take(_below(way, 4)),
                "production": pool.roles.take(cell),
                "edge": pool.edges.take(edge),
                "reaction": pool.reactions.take(pool.reaction_of.take(edge)),
                "signature": pool.signatures.take(pool.reaction_of.take(edge)),
                "crash": pool.crashes.take(crash),
                "crash_key": pc.fill_null(pool.crash_keys.take(crash), 0),
                "sent_octets": octets,
                "received_octets": _below(_mix(ident, 11), 600).cast(pa.int64()),
                "sent_prefix": _octets(ident),
                "received_prefix": _octets(_mix(way, 12)),
                "latency_us": pc.if_else(
                    silent,
                    pa.scalar(None, pa.int64()),
                    _skewed(_mix(self.number, 13), 50_000).cast(pa.int64()),
                ),
            }
        )


class _Case(_Rows):
    def batch(self) -> pa.RecordBatch:
        """Cases of a run, each with its attempts one after the other."""
        pool, line = pool_of(self.run.line.dialect), self.run.line
        case = _below(pc.divide(self.number, pa.scalar(_ATTEMPTS, pa.uint64())), _CASES)
        attempt = pc.add(_below(self.number, _ATTEMPTS), 1).cast(pa.int32())
        luck = _mix(case, 300 + line.number)
        changed = pc.less(_below(_mix(luck, key(self.run.target_version)), 100), 2)
        deviates = pc.xor(pc.less(_below(luck, 100), 6), changed)
        flaky = pc.equal(_below(_mix(luck, 14), 40), 0)
        unlucky = pc.equal(_below(_mix(self.number, key(self.run.id)), 5), 0)
        verdict = pc.if_else(deviates, _FAIL, pc.if_else(pc.and_(flaky, unlucky), _NONSTRICT, _PASS))
        way = pc.if_else(pc.equal(verdict, _PASS), 0, _below(luck, _REACTIONS - 1)).cast(pa.uint64())
        known = pc.and_(deviates, pc.less(_below(_mix(luck, 15), 10), 7))
        return pa.RecordBatch.from_pydict(
            self.common()
            | {
                "case": pool.cases.take(case),
                "case_key": pool.case_keys.take(case),
                "attempt": attempt,
                "verdict": verdict.cast(pa.int8()),
                "baseline": pc.if_else(known, "known", pa.scalar(None, pa.string())),
                "state": pool.suites.take(case),
                "end_state": self.constant("fin", pa.string()),
                "edge": pool.case_keys.take(case),
                "reaction": pool.reactions.take(way),
                "signature": pool.signatures.take(way),
                "crash_key": self.constant(0, pa.int64()),
                "sent_octets": _below(_mix(case, 16), 900).cast(pa.int64()),
                "received_octets": _below(_mix(case, 17), 900).cast(pa.int64()),
                "latency_us": _skewed(_mix(self.number, 18), 200_000).cast(pa.int64()),
                "evidence": pa.array(map(evidence_path, pool.cases.to_pylist())).take(case),
            }
        )


@dataclass(frozen=True)
class Pool:
    """The names that occur in a dialect, and their keys."""

    dialect: str
    cases: pa.Array
    case_keys: pa.Array
    suites: pa.Array
    cells: pa.Array
    cell_keys: pa.Array
    families: pa.Array
    roles: pa.Array
    states: pa.Array
    reactions: pa.Array
    signatures: pa.Array
    reaction_of: pa.Array
    edges: pa.Array
    crashes: pa.Array
    crash_keys: pa.Array


@cache
def pool_of(dialect: str) -> Pool:
    """The names of a dialect."""
    suites = [f"chapter{number % 9}" for number in range(_CASES)]
    cases = [f"{suite}.case-{number}" for number, suite in enumerate(suites)]
    families = ["random" if n % 15 == 14 else f"C{n % 15 + 1:02}" for n in range(_CELLS)]
    roles = [f"field{n * 7 % _ROLES}.size" for n in range(_CELLS)]
    states = [f"state{n * 5 % _STATES}" for n in range(_CELLS)]
    cells = ["/".join(parts) for parts in zip(families, roles, states, strict=True)]
    reactions = ["answers"] + [f"close {500 + n % 50} on channel {n // 50}" for n in range(1, _REACTIONS)]
    ways = [(cell * 11 + way * way * 7) % _REACTIONS for cell in range(_CELLS) for way in range(_WAYS)]
    edges = [
        key(dialect, states[n // _WAYS], roles[n // _WAYS], reactions[way]) for n, way in enumerate(ways)
    ]
    crashes = [f"{key(dialect, str(n)) & 0xFFFFFFFFFFFF:012x}" for n in range(_CRASHES)]
    names = {
        "cases": cases, "case_keys": [key(dialect, case) for case in cases], "suites": suites,
        "cells": cells, "cell_keys": [key(dialect, cell) for cell in cells],
        "families": families, "roles": roles, "states": states,
        "reactions": reactions, "signatures": [key(reaction) for reaction in reactions], "edges": edges,
        "crashes": crashes, "crash_keys": [key(crash) for crash in crashes],
    }  # fmt: skip
    arrays = {name: pa.array(values) for name, values in names.items()}
    return Pool(dialect, reaction_of=pa.array(ways, pa.uint64()), **arrays)


def _mix(values: pa.Array, salt: int) -> pa.Array:
    """splitmix64's finaliser over values and a salt: well spread, the same everywhere."""
    mixed = pc.add(values, pa.scalar((salt * 0x9E3779B97F4A7C15 + 0x9E3779B97F4A7C15) % 2**64, pa.uint64()))
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        spread = pc.shift_right(mixed, pa.scalar(shift, pa.uint64()))
        mixed = pc.multiply(pc.bit_wise_xor(mixed, spread), pa.scalar(factor, pa.uint64()))
    return pc.bit_wise_xor(mixed, pc.shift_right(mixed, pa.scalar(31, pa.uint64())))


def _below(values: pa.Array, limit: int) -> pa.Array:
    whole = pc.multiply(pc.divide(values, pa.scalar(limit, pa.uint64())), pa.scalar(limit, pa.uint64()))
    return pc.subtract(values, whole)


def _skewed(values: pa.Array, limit: int) -> pa.Array:
    """Numbers below a limit, small ones far more often: the cube of an even draw."""
    even = pc.divide(_below(values, 1 << 30).cast(pa.float64()), float(1 << 30))
    return pc.floor(pc.multiply(pc.power(even, 3.0), float(limit))).cast(pa.uint64())


def _signed(values: pa.Array) -> pa.Array:
    return pa.Array.from_buffers(pa.int64(), len(values), [None, values.buffers()[1]], offset=values.offset)


def _octets(values: pa.Array) -> pa.Array:
    eight = pa.Array.from_buffers(
        pa.binary(8), len(values), [None, values.buffers()[1]], offset=values.offset
    )
    return eight.cast(pa.binary())
