"""A finding as a folder: what it is, its smallest input, the conversation, the log, a replay, a case.

Knows: files. Must not know: how findings are made.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.inputs.corpus import FOLDER, entries_of
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import InputId
from amqpspec.fuzz.oracles.suspicion import Oracle, Suspicion
from amqpspec.fuzz.states.ways import states
from amqpspec.fuzz.triage.causes import cause_id
from amqpspec.fuzz.triage.exported import case_of
from amqpspec.fuzz.triage.triage import Blame, Status
from amqpspec.net.clock import utc_now
from amqpspec.record.capture import write_capture
from amqpspec.record.reading import parse_json
from amqpspec.record.transcript import Transcript
from amqpspec.run.driver import driver_of
from amqpspec.spec.dialects import widest

_LOG_CHARS = 64 << 10


class FindingError(ValueError):
    """A folder is no finding; the text says what was expected."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found in one family and state; ``batch`` are the ids of a batch if no single input is to blame.

    ``cause`` is the same for all findings of one cause. ``asks`` is how often it was tried to make the input smaller.
    """

    signature: str
    status: Status
    suspicion: Suspicion
    dialect: str
    family: str
    state: str
    item: FuzzInput | None
    batch: tuple[str, ...] = ()
    found_after_s: float = 0.0
    cause: str = ""
    asks: int = 0

    @property
    def name(self) -> str:
        """The folder's name."""
        return f"{self.suspicion.oracle}-{self.signature}"

    def to_json(self) -> dict[str, Any]:
        """What ``finding.json`` holds."""
        item = self.item
        entries = entries_of(item.id.role) if item else ()
        return {
            "signature": self.signature, "cause": cause_id(self.cause or self.signature),
            "cause_words": self.cause, "status": str(self.status), "oracle": str(self.suspicion.oracle),
            "top": self.suspicion.top, "detail": self.suspicion.detail, "dialect": self.dialect,
            "family": self.family, "state": self.state,
            "input": str(item.id) if item else None, "words": item.words if item else "",
            "requirement": item.expectation.requirement if item else "",
            "steps": [step.hex() for step in item.steps] if item else [],
            "batch": list(self.batch), "found_after_s": round(self.found_after_s, 2),
            "asks": self.asks,
            **({"corpus": f"{FOLDER}/{entries[0]}.bin"} if entries else {}),
        }  # fmt: skip


def signature_of(oracle: Oracle, top: str, family: str, state: str) -> str:
    """The same for the same family, oracle, top of the error and state."""
    return blake2b("\0".join((family, oracle, top, state)).encode(), digest_size=6).hexdigest()


def write_finding(folder: Path, finding: Finding, blame: Blame, subject: Subject) -> Path:
    """Write a finding below ``findings/`` of a campaign; returns its folder. ``finding.json`` comes last."""
    place = folder / "findings" / finding.name
    place.mkdir(parents=True, exist_ok=True)
    if finding.item is not None:
        (place / "input.bin").write_bytes(finding.item.octets)
        if source := case_of(finding.name, finding.item, finding.suspicion):
            (place / "case.py").write_text(source, encoding="utf-8")
    if blame.spoken:
        _write_conversation(place, finding, blame, subject)
    if blame.log:
        (place / "log.txt").write_text(_shortened(blame.log), encoding="utf-8")
    replay = shlex.join(("amqpspec", "fuzz", "replay", str(place), *subject.replay))
    document = {
        **finding.to_json(),
        "target": subject.name,
        "url": subject.url,
        "recorded": utc_now(),
        "replay": replay,
    }
    if blame.result is not None:
        document["reaction"] = blame.result.reaction
    write_documents(place, document, replay)
    return place


def write_documents(place: Path, document: Mapping[str, Any], replay: str) -> None:
    """Write the line that repeats a finding and, when everything else is there, ``finding.json``."""
    (place / "REPLAY").write_text(replay + "\n", encoding="utf-8")
    partial = place / ".finding.json"
    partial.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    partial.replace(place / "finding.json")


def _shortened(log: str) -> str:
    """Beginning and end of a long log: a runtime says first what broke, and then much about everything else."""
    if len(log) <= _LOG_CHARS:
        return log
    half = _LOG_CHARS // 2
    return f"{log[:half]}\n[{len(log) - 2 * half} characters left out]\n{log[-half:]}"


def _write_conversation(place: Path, finding: Finding, blame: Blame, subject: Subject) -> None:
    family = driver_of(finding.dialect)
    path = place / "transcript.jsonl"
    secret = subject.values.password if subject.values.password != "guest" else ""
    transcript = Transcript(path, lambda way: family.direction(widest(finding.dialect), way), (secret,))
    begun_ns = blame.spoken[0].t_ns
    ends = {"local": ["127.0.0.1", 50_000], "remote": [subject.address.host, subject.address.port]}
    transcript.write("open", begun_ns, conn=1, tls=False, **ends)
    for said in blame.spoken:
        transcript.octets(said.t_ns, 1, said.direction, said.octets)
    if blame.result is not None:
        transcript.write("end", blame.spoken[-1].t_ns, conn=1, how=str(blame.result.end))
    transcript.close()
    write_capture(path)


def read_finding(place: Path) -> Mapping[str, Any]:
    """What a finding's folder says; raises FindingError."""
    try:
        data = parse_json((place / "finding.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FindingError(f"{place}: expected the folder of a finding, actual: {error}") from error
    if not isinstance(data, dict) or not {"dialect", "state", "steps", "oracle", "top"} <= set(data):
        raise FindingError(f"{place}: expected finding.json with dialect, state, steps, oracle and top")
    return data


def item_of(data: Mapping[str, Any]) -> FuzzInput:
    """The smallest input of a finding; raises FindingError if none is to blame, IdError for a wrong id."""
    if not data.get("input"):
        raise FindingError("expected a finding with an input, actual: a batch as a whole is to blame")
    if data["state"] not in states(data["dialect"]):
        raise FindingError(f"expected a state of {data['dialect']}, actual {data['state']!r}")
    steps = tuple(bytes.fromhex(step) for step in data["steps"])
    return FuzzInput(
        InputId.parse(data["input"]), data["dialect"], data["state"], steps, data.get("words", "")
    )
