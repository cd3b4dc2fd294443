"""A finding about a client as a folder: its description, its smallest input, the conversation, output, a replay.

Knows: files. Must not know: how findings are made.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from amqpspec.fuzz.clients.blame import Blamed
from amqpspec.fuzz.clients.part import server_places
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import InputId
from amqpspec.fuzz.triage.findings import FindingError, read_finding, write_documents
from amqpspec.record.capture import write_capture


def write_finding(folder: Path, signature: str, blamed: Blamed, command: str, found_after_s: float) -> Path:
    """Write a finding below ``findings/``; returns its folder. ``finding.json`` comes last."""
    place = folder / "findings" / f"{blamed.suspicion.oracle}-{signature}"
    place.mkdir(parents=True, exist_ok=True)
    item = blamed.item or blamed.batch[-1]
    (place / "input.bin").write_bytes(item.octets)
    evidence = folder / blamed.evidence
    if evidence.is_file():
        shutil.copyfile(evidence, place / "transcript.jsonl")
        write_capture(place / "transcript.jsonl")
    (place / "log.txt").write_text(blamed.said, encoding="utf-8")
    replay = f"amqpspec fuzz --client {shlex.quote(command)} --replay {shlex.quote(str(place))}"
    document = {
        "role": "client", "signature": signature, "status": str(blamed.status),
        "oracle": str(blamed.suspicion.oracle), "top": blamed.suspicion.top, "detail": blamed.suspicion.detail,
        "dialect": item.dialect, "family": item.id.family, "state": item.state, "input": str(item.id),
        "words": item.words, "steps": [step.hex() for step in item.steps],
        "batch": [str(one.id) for one in blamed.batch], "found_after_s": round(found_after_s, 2),
        "client": command, "replay": replay,
    }  # fmt: skip
    write_documents(place, document, replay)
    return place


def item_in(place: Path) -> tuple[FuzzInput, str]:
    """The input of a finding, and the oracle that complained; raises FindingError, IdError."""
    data: Mapping[str, Any] = read_finding(place)
    if data.get("role") != "client" or data["state"] not in server_places(data["dialect"]):
        raise FindingError(f"{place}: expected a finding about a client, actual: one about a broker")
    try:
        steps = tuple(bytes.fromhex(step) for step in data["steps"])
    except (TypeError, ValueError) as error:
        raise FindingError(f"{place}: expected steps in hex, actual: {error}") from error
    id = InputId.parse(data["input"])
    return FuzzInput(id, data["dialect"], data["state"], steps, str(data.get("words", ""))), data["oracle"]
