"""The files of a campaign as rows for reports: the summary, its cells, its findings.

The fuzzer writes these files. This is the only module on the readers' side that declares their fields, for the pages
and for the lake. Knows: names and types of fields. Must not know: the fuzzer, files, how rows are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from amqpspec.reports.campaign.fields import read

COVERED, UNREACHABLE, STOPPED, OPEN = "covered", "not reachable", "stopped", "open"
COVERAGES = (COVERED, UNREACHABLE, STOPPED, OPEN)
RANDOM = "random"


@dataclass(frozen=True, slots=True)
class Summary:
    """The fields of ``summary.json`` that reports show."""

    target: str
    product: str
    version: str
    dialect: str
    url: str
    run: str
    started: str
    ended: str
    exit_code: int
    engine: str
    grammar: str
    tables: str
    seed: str
    shard: tuple[str, ...]
    cells: tuple[str, ...]
    workers: int
    memory_limit_mib: int
    suite_version: str
    inputs: int
    random: int
    reached: int
    seconds: float
    rate_per_s: float
    cells_planned: int
    covered: int
    response_states: int
    repeats: int
    unconfirmed: int
    trials: int
    reactions: dict[str, int]
    suppressed: dict[str, int]
    unblamed: dict[str, dict[str, str]]


@dataclass(frozen=True, slots=True)
class CellRow:
    """One planned cell; ``inputs`` is None if they were not counted; ``coverage`` is one of COVERAGES."""

    key: str
    coverage: str
    reason: str
    inputs: int | None

    @property
    def family(self) -> str:
        """``C04``."""
        return "".join(self.key.split("/")[1:2])

    @property
    def state(self) -> str:
        """``channel``."""
        return self.key.rpartition("/")[2]

    @property
    def role(self) -> str:
        """``frame.size``."""
        return "/".join(self.key.split("/")[2:-1])


def cells(states: object) -> Iterator[CellRow]:
    """The cells in ``cell_states`` of ``summary.json``, each with its coverage, the reason, and its inputs."""
    for key, row in states.items() if isinstance(states, dict) else ():
        coverage, reason, inputs = (
            (*row, None, None, None)[:3] if isinstance(row, list) else (None, None, None)
        )
        yield CellRow(
            str(key),
            coverage if coverage in COVERAGES else OPEN,
            str(reason or ""),
            inputs if isinstance(inputs, int) else None,
        )


@dataclass(frozen=True, slots=True)
class FindingRow:
    """One finding from ``finding.json``; ``batch`` contains its inputs if no single input was identified."""

    oracle: str
    signature: str
    cause: str
    cause_words: str
    status: str
    top: str
    detail: str
    dialect: str
    family: str
    state: str
    input: str
    words: str
    requirement: str
    steps: tuple[str, ...]
    batch: tuple[str, ...]
    found_after_s: float
    asks: int
    replay: str
    reaction: str
    recorded: str

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> FindingRow:
        """Read a row."""
        return read(cls, data)

    @property
    def name(self) -> str:
        """The name of the folder, without any part that leads out of the folder of findings."""
        return f"{self.oracle}-{self.signature}".replace("/", "_").replace("\\", "_")

    @property
    def cause_id(self) -> str:
        """The id of the finding's cause; a finding that names no cause has a separate one."""
        return self.cause or self.signature

    @property
    def folder(self) -> str:
        """The path of its folder, relative to the campaign's."""
        return f"findings/{self.name}"

    @property
    def octets(self) -> int:
        """The number of octets of the smallest input."""
        return sum(len(step) for step in self.steps) // 2

    @property
    def cell(self) -> str:
        """The key of the cell of the input, or of all inputs of the batch if they have the same; otherwise empty."""
        return _only({cell_of(id, self.dialect) for id in ([self.input] if self.input else self.batch)})


def _only(found: Iterable[str]) -> str:
    each = list(found)
    return each[0] if len(each) == 1 else ""


def cell_of(id: str, dialect: str) -> str:
    """The key of the cell of an input id; "" for a random input or an invalid id."""
    parts = id.split("/")
    if len(parts) < 6 or parts[1] == RANDOM:
        return ""
    return "/".join([dialect, *parts[1:-2]])
