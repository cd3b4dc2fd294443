"""One set of numbers: a run with deviations, known ones of every kind among them, says the same in every report."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml
from click.testing import CliRunner, Result

from amqpspec.cli.main import cli
from amqpspec.net.clock import today
from amqpspec.record.rows import Outcome
from amqpspec.reports.load import load_run
from amqpspec.reports.standing import numbers

RUN = ("run", "reference:amqp-1-0", "transfer*", "--exclude", "transfer.split")
FAULTS = ("--fault", "aborted-delivery-goes-on", "--fault", "drain-ignored")


def amqpspec(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, list(map(str, arguments)))


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of a run with a baseline that knows half of what deviates, and what the terminal said."""
    folder = tmp_path_factory.mktemp("numbers")
    assert amqpspec(*RUN, *FAULTS, "--out", folder / "first", "-q").exit_code == 1
    wrong = [
        case for case in load_run(folder / "first").cases if case.verdict in (Outcome.FAIL, Outcome.NONSTRICT)
    ]
    assert len(wrong) >= 3 and {case.verdict for case in wrong} == {Outcome.FAIL, Outcome.NONSTRICT}
    entry = {"reason": "r", "link": "l", "expires": today() + timedelta(days=9), "observed": "*"}
    entries = [{"case": case.id, "verdict": str(case.verdict), **entry} for case in wrong[::2]]
    (folder / "known.yaml").write_text(yaml.safe_dump({"entries": entries}))
    result = amqpspec(*RUN, *FAULTS, "--out", folder / "run", "--baseline", folder / "known.yaml")
    assert amqpspec("certificate", folder / "run").exit_code == 0
    return folder / "run", result.output


def test_terminal_matrix_junit_and_certificate_say_the_same(told: tuple[Path, str]) -> None:
    folder, terminal = told
    counted = numbers(load_run(folder))
    assert counted.known >= 2 and counted.excluded and counted.unexpected
    adds_up = (
        f"planned = {counted.run} run + {counted.not_applicable} not applicable + {counted.blocked} blocked"
        f" + {counted.excluded} excluded; {counted.requirements_judged} of {counted.requirements} requirements judged"
    )
    page = (folder / "matrix.html").read_text()
    assert f"{counted.planned} {adds_up}" in page and f"{counted.known} known deviations" in page
    assert f"({counted.known} known); planned {counted.planned} = run {counted.run}" in terminal
    assert f"partial: {counted.requirements_judged} of {counted.requirements} requirements judged" in terminal
    document = json.loads((folder / "certificate.json").read_text())
    assert document["numbers"] == counted.to_json()
    assert sum(deviation["known"] for deviation in document["deviations"]) == counted.known
    _junit(folder / "junit.xml", folder)


def _junit(path: Path, folder: Path) -> None:
    counted, root = numbers(load_run(folder)), ET.parse(path).getroot()
    properties = {p.get("name"): p.get("value") for p in root.iter("property")}
    assert properties["numbers.known"] == str(counted.known)
    skipped = [str(one.get("message")) for one in root.iter("skipped")]
    assert sum(message.startswith("known deviation") for message in skipped) == counted.known
    assert len(skipped) == counted.known + counted.not_applicable + counted.left + counted.excluded
    assert root.get("failures") == str(counted.unexpected) and root.get("tests") == str(counted.planned)


def test_the_badge_says_that_it_is_part_of_it(told: tuple[Path, str]) -> None:
    assert re.search(r"partial: \d+ of \d+ requirements judged", (told[0] / "badge.svg").read_text())
