"""The same family goes through cells, ids, a short campaign and its reports."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

import pytest

from amqpspec.fuzz.campaign.campaign import Campaign
from amqpspec.fuzz.campaign.order import CampaignOrder
from amqpspec.fuzz.executor.address import Address
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.grammar import grammar, grammar_hash
from amqpspec.fuzz.inputs.catalogue import cells, resolve
from amqpspec.fuzz.inputs.identity import InputId
from amqpspec.fuzz.parts import fuzzed_dialects
from amqpspec.fuzz.trees.tree import octets_of
from amqpspec.reference.server import ReferenceBroker
from amqpspec.reports.pipeline.ingest import ingest
from tests.cli.verbs import amqpspec
from tests.pipeline.lakes import facts
from tests.toy.wire import frame


@contextmanager
def subject(*faults: str) -> Iterator[Subject]:
    with ReferenceBroker("echo-1", faults) as broker:
        yield Subject("echo", "echo-1", Address(broker.host, broker.port), restart=broker.restart)


def test_it_is_fuzzed() -> None:
    assert "echo-1" in fuzzed_dialects()
    assert octets_of(grammar("echo-1")["ask"].tree) == frame("ask", b"what")


def test_families_bend_it_in_its_states() -> None:
    found = cells("echo-1")
    assert {cell.state for cell in found} == {"raw", "open", "asked"}
    assert {"C02", "C04", "C09"} <= {cell.family for cell in found}
    judged = {row for cell in found for row in cell.requirements}
    assert judged == {"greeting/other-version", "ask/empty", "frame/type", "frame/size"}


def test_an_id_names_its_octets() -> None:
    cell = next(cell for cell in cells("echo-1") if cell.key == "echo-1/C04/frame.type/open")
    item = cell.input(5)
    assert str(item.id).split("/")[0] == f"g:{grammar_hash('echo-1')}"
    assert resolve(InputId.parse(str(item.id))).octets == item.octets


def test_a_correct_broker_has_no_findings(tmp_path: Path) -> None:
    with subject() as clean:
        summary = Campaign(CampaignOrder(clean, tmp_path, mutate=False)).run().summary()
    assert summary["findings"] == [] and summary["ended"] == "all done"
    assert summary["covered"] == summary["cells_planned"] == len(cells("echo-1"))


def test_random_inputs_are_made_of_it(tmp_path: Path) -> None:
    with subject() as clean:
        summary = (
            Campaign(CampaignOrder(clean, tmp_path, 2.0, seed=3, patterns=("C04/none",), batch=16))
            .run()
            .summary()
        )
    assert summary["inputs"] > 0 and summary["findings"] == []


@pytest.mark.parametrize(
    ("rule", "cell"),
    [
        ("ask/empty", "C05/ask.empty/open"),
        ("frame/type", "C04/frame.type/open"),
        ("frame/size", "C04/frame.size/open"),
        ("greeting/other-version", "C09/version/raw"),
    ],
)
def test_a_deviation_is_found(rule: str, cell: str, tmp_path: Path) -> None:
    with subject(
        f"wrong-code:{rule}" if rule != "greeting/other-version" else f"wrong-scope:{rule}"
    ) as wrong:
        order = CampaignOrder(
            wrong, tmp_path, patterns=(cell,), mutate=False, smaller=False, stop_when=lambda finding: True
        )
        summary = Campaign(order).run().summary()
    assert [found["requirement"] for found in summary["findings"]] == [rule]


def test_a_campaign_of_the_verb_is_reported_and_taken_into_the_lake(tmp_path: Path) -> None:
    folder = tmp_path / "campaign"
    with ReferenceBroker("echo-1", ["wrong-code:frame/type"]) as broker:
        done = amqpspec(
            "fuzz",
            broker.url,
            "--dialect",
            "echo-1",
            "--cells",
            "C04/frame.type/open",
            "--workers",
            "1",
            "--families-only",
            "-o",
            folder,
        )
    assert done.exit_code == 1, done.output
    assert "frame/type" in (folder / "campaign.html").read_text()
    taken = ingest([folder], tmp_path / "lake", date(2026, 11, 22))
    assert taken.refused == [] and {row["dialect"] for row in facts(tmp_path / "lake")} == {"echo-1"}
    findings = list((folder / "findings").iterdir())
    assert findings and json.loads((folder / "summary.json").read_text())["findings"]
