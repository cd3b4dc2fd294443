"""Certificates: issued from a real run, true as long as nothing is touched, and telling of every touch."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from amqpspec.cli.main import cli
from amqpspec.reports.certificate.issue import certificate, declared, own_hash
from amqpspec.reports.load import ReportError, load_run

CASES = ("channel.open.twice", "queue.declare.passive.missing", "basic.ack.*")


def amqpspec(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, list(map(str, arguments)))


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of a few cases with its certificate."""
    folder = tmp_path_factory.mktemp("certified") / "run"
    assert amqpspec("run", "reference", *CASES, "--out", folder, "-q").exit_code == 0
    assert amqpspec("certificate", folder).exit_code == 0
    return folder


@pytest.fixture
def copy(certified: Path, tmp_path: Path) -> Path:
    """The same run to be tampered with."""
    return Path(shutil.copytree(certified, tmp_path / "run"))


def told(folder: Path) -> list[str]:
    result = amqpspec("certificate", "verify", folder / "certificate.json")
    assert result.exit_code == 1, result.output
    return result.output.splitlines()


def rewritten(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


def test_an_untouched_run_verifies(certified: Path) -> None:
    result = amqpspec("certificate", "verify", certified / "certificate.json")
    assert (result.exit_code, result.output.count("\n")) == (0, 1)
    assert result.output.endswith("all fit\n")


def test_a_certificate_says_who_was_judged_by_what(certified: Path) -> None:
    document = json.loads((certified / "certificate.json").read_text())
    assert document["target"]["product"] == "amqpspec reference broker"
    assert document["declared"] == declared("amqp-0-9-1") != declared("amqp-1-0")
    assert document["counts"]["planned"] == len(document["verdicts"]) == len(load_run(certified).cases)
    assert document["sha256"] == own_hash(document)
    assert "evidence/channel.open.twice.jsonl" in document["evidence"]["files"]


def _evidence(folder: Path) -> Path:
    return folder / "evidence" / "channel.open.twice.jsonl"


def _changed_octets(folder: Path) -> None:
    path = _evidence(folder)
    path.write_text(path.read_text().replace('"hex": "414d5150', '"hex": "414d5151'))


def _changed_verdict_in_results(folder: Path) -> None:
    rewritten(folder / "results.json", lambda document: document["cases"][0].update(verdict="fail"))


def _changed_certificate(folder: Path) -> None:
    rewritten(
        folder / "certificate.json", lambda document: document["verdicts"].update({"basic.ack.none": "pass"})
    )


def _forged_certificate(folder: Path) -> None:
    def forge(document: dict[str, Any]) -> None:
        document["target"]["version"] = "9.9.9"
        document["sha256"] = own_hash(document)

    rewritten(folder / "certificate.json", forge)


TOUCHES: list[tuple[Callable[[Path], object], str]] = [
    (_changed_octets, "evidence/channel.open.twice.jsonl: expected sha256"),
    (lambda folder: _evidence(folder).unlink(), "the file is missing"),
    (lambda folder: (folder / "evidence" / "other.jsonl").write_text("{}"), "one that the certificate does not name"),
    (_changed_verdict_in_results, "the transcript says pass, the results say fail"),
    (_changed_certificate, "the certificate was changed"),
    (_forged_certificate, "version: certificate says '9.9.9'"),
]  # fmt: skip


@pytest.mark.parametrize(("touch", "line"), TOUCHES)
def test_every_touch_is_told_in_one_line(copy: Path, touch: Callable[[Path], object], line: str) -> None:
    touch(copy)
    lines = told(copy)
    assert any(line in said for said in lines), lines
    assert lines[-1].endswith("do not fit")


def test_replay_runs_every_verdict_again(certified: Path) -> None:
    path = certified / "certificate.json"
    again = amqpspec("certificate", "verify", path, "--replay")
    assert (again.exit_code, again.output.endswith("all fit, run again\n")) == (0, True), again.output


def test_replay_against_another_target_tells_what_is_otherwise(copy: Path) -> None:
    def claim(document: dict[str, Any]) -> None:
        document["verdicts"]["channel.open.twice"] = "fail"
        document["sha256"] = own_hash(document)

    rewritten(copy / "certificate.json", claim)
    lines = amqpspec("certificate", "verify", copy / "certificate.json", "--replay").output.splitlines()
    assert any(line.startswith("channel.open.twice: expected fail, actual pass") for line in lines)


def test_a_partial_run_is_not_certified(copy: Path) -> None:
    rewritten(copy / "results.json", lambda document: document["meta"].update(partial=True))
    with pytest.raises(ReportError, match="partial"):
        certificate(load_run(copy))
    result = amqpspec("certificate", copy)
    assert (result.exit_code, result.output.count("\n")) == (2, 1)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"certificate": 1}'])
def test_what_is_no_certificate_is_said_in_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "certificate.json"
    path.write_text(text)
    result = amqpspec("certificate", "verify", path)
    assert (result.exit_code, result.output.count("\n")) == (2, 1)


def test_a_newer_certificate_is_refused(copy: Path) -> None:
    rewritten(copy / "certificate.json", lambda document: document.update(certificate=3))
    result = amqpspec("certificate", "verify", copy / "certificate.json")
    assert (result.exit_code, "schema 2, actual 3" in result.output) == (2, True)
