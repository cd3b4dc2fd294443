"""A violation as a folder: the program, what was expected, the conversation, and the line that runs it again.

Knows: files. Must not know: how programs are found or run.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.sequences.step import Found, Program, Step, script
from amqpspec.fuzz.triage.findings import FindingError, write_documents
from amqpspec.net.clock import utc_now
from amqpspec.record.reading import parse_json

PROGRAM = "program"
_MOST_STEPS = 10_000


@dataclass(frozen=True, slots=True)
class SequenceFinding:
    """One kind of violation, with its smallest program; ``status`` is that of a campaign's findings."""

    found: Found
    status: str
    dialect: str
    seed: int
    programs: int

    @property
    def name(self) -> str:
        """The folder's name, the same for the same kind of violation."""
        key = f"{self.dialect}\0{self.found.violation.kind}"
        return f"sequence-{blake2b(key.encode(), digest_size=6).hexdigest()}"

    def to_json(self, subject: Subject, place: Path) -> dict[str, Any]:
        """What ``finding.json`` holds."""
        violation = self.found.violation
        return {
            "oracle": "sequence", "status": self.status, "top": violation.kind, "expected": violation.expected,
            "actual": violation.actual, "dialect": self.dialect, "seed": self.seed, "programs": self.programs,
            PROGRAM: [step.to_json() for step in self.found.program],
            "target": subject.name, "url": subject.url, "recorded": utc_now(), "replay": replay_line(subject, place),
        }  # fmt: skip


def replay_line(subject: Subject, place: Path) -> str:
    """The command that runs the program of a folder again."""
    return shlex.join(("amqpspec", "fuzz", "replay", str(place), *subject.replay))


def write_sequence(place: Path, finding: SequenceFinding, subject: Subject) -> None:
    """Write a finding; ``finding.json`` comes last."""
    place.mkdir(parents=True, exist_ok=True)
    (place / "program.txt").write_text(
        script(finding.found.program, finding.found.violation), encoding="utf-8"
    )
    write_documents(place, finding.to_json(subject, place), replay_line(subject, place))


def is_sequence(place: Path) -> bool:
    """Whether a folder is the finding of a program."""
    return (place / "program.txt").is_file()


def read_sequence(place: Path) -> tuple[dict[str, Any], Program]:
    """What a folder says, and its program; raises FindingError."""
    try:
        said = parse_json((place / "finding.json").read_text(encoding="utf-8"))
        if not isinstance(said, dict) or not {"dialect", "top", "target"} <= set(said):
            raise ValueError("expected finding.json with dialect, top and target")
        steps = said.get(PROGRAM)
        if not isinstance(steps, list) or not 0 < len(steps) <= _MOST_STEPS:
            raise ValueError(f"expected a program of 1 to {_MOST_STEPS} steps")
        return said, tuple(Step.from_json(step) for step in steps)
    except (OSError, ValueError) as error:
        raise FindingError(f"{place}: expected the finding of a program, actual: {error}") from error
