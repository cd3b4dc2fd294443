"""Certificates: issued from a real run, true as long as nothing is touched, and telling of every touch."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from operator import methodcaller
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from amqpspec.cli.main import cli
from amqpspec.record.rows import Outcome
from amqpspec.reports.certificate.issue import certificate, declared, own_hash
from amqpspec.reports.checksums import write_sums
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


def test_a_run_whose_fails_were_rewritten_does_not_verify(tmp_path: Path) -> None:
    """Rows, verdict lines, counts, checksums and hashes all agree with one another: only the octets do not."""
    folder = tmp_path / "run"
    faults = (
        "--fault",
        "not-refused:channel/open/state",
        "--fault",
        "not-refused:exchange/declare/exchange/reserved",
    )
    cases = ("channel.open.*", "exchange.declare.*")
    assert amqpspec("run", "reference", *cases, *faults, "--out", folder, "-q").exit_code == 1
    fails = [case.id for case in load_run(folder).cases if case.verdict is Outcome.FAIL]
    assert fails
    for path in (folder / "journal.jsonl", folder / "results.json", *(folder / "evidence").glob("*.jsonl")):
        path.write_text(
            path.read_text().replace('"verdict": "fail"', '"verdict": "pass"').replace('"fail": ', '"x": ')
        )
    rewritten(folder / "results.json", _without_fails)
    write_sums(folder)
    assert amqpspec("certificate", folder).exit_code == 0
    lines = told(folder)
    for id in fails:
        assert any(line.startswith(f"{id}: verdict: recorded pass, its octets say fail") for line in lines), (
            lines
        )


def _without_fails(document: dict[str, Any]) -> None:
    passed = sum(case["verdict"] == "pass" for case in document["cases"])
    document.update(exit_code=0, verdicts={"pass": passed})


def test_results_without_a_case_do_not_verify(copy: Path) -> None:
    rewritten(copy / "results.json", lambda document: document["cases"].pop())
    write_sums(copy)
    assert amqpspec("certificate", copy).exit_code == 0
    assert any("the journal has the case, the results have none" in line for line in told(copy))


def test_a_ledger_that_forgets_cases_does_not_verify(copy: Path) -> None:
    """A run that leaves requirements out would have judged all that are left."""

    def forget(document: dict[str, Any]) -> None:
        judged = {id for case in document["cases"] for id in case["requirements"]}
        document["requirements"] = {
            id: {**row, "cases": []} for id, row in document["requirements"].items() if id in judged
        }

    rewritten(copy / "results.json", forget)
    write_sums(copy)
    assert amqpspec("certificate", copy).exit_code == 0
    assert json.loads((copy / "certificate.json").read_text())["says"] == "conforms"
    assert any(
        line.startswith("requirements: the results' ledger is not that of this suite") for line in told(copy)
    )


def test_a_part_of_the_suite_is_called_so(certified: Path) -> None:
    document = json.loads((certified / "certificate.json").read_text())
    judged, of = document["requirements"]["judged"], document["requirements"]["of"]
    assert 0 < judged < of and len(document["requirements"]["not_judged"]) == of - judged
    assert document["says"] == f"partial: {judged} of {of} requirements judged, no deviation"
    again = amqpspec("certificate", certified, "--out", certified.parent / "again.json")
    assert document["says"] in again.output.splitlines()[0]


# --- signatures


def _keys(folder: Path, kind: str) -> tuple[Path, Path]:
    private, public = folder / f"{kind}.key", folder / f"{kind}.key.pub"
    if kind == "ssh":
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", private], check=True)
    else:
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", private], check=True)
        subprocess.run(["openssl", "pkey", "-in", private, "-pubout", "-out", public], check=True)
    return private, public


@pytest.mark.parametrize("kind", ["ssh", "openssl"])
def test_a_signed_certificate_verifies_with_its_key_and_no_other(
    copy: Path, tmp_path: Path, kind: str
) -> None:
    if shutil.which("ssh-keygen" if kind == "ssh" else "openssl") is None:
        pytest.skip(f"needs {kind}")
    (private, public), path = _keys(tmp_path, kind), copy / "certificate.json"
    assert amqpspec("certificate", copy, "--sign", private).exit_code == 0
    assert "signed by " in amqpspec("certificate", "verify", path, "--key", public).output
    assert amqpspec("certificate", "verify", path, "--key", public).exit_code == 0
    (tmp_path / "other").mkdir()
    other = _keys(tmp_path / "other", kind)[1]
    assert "expected one by the key" in amqpspec("certificate", "verify", path, "--key", other).output

    def forge(document: dict[str, Any]) -> None:
        document["target"]["version"] = "9.9.9"
        document["sha256"] = own_hash(document)

    rewritten(path, forge)
    assert any("it does not fit the certificate" in line for line in told(copy))


def test_what_is_not_signed_does_not_pass_for_signed(copy: Path, tmp_path: Path) -> None:
    _, public = _keys(tmp_path, "openssl")
    result = amqpspec("certificate", "verify", copy / "certificate.json", "--key", public)
    assert (result.exit_code, "expected a signature by" in result.output) == (1, True)
    for signature in (
        {},
        {"algorithm": "none", "public_key": "", "value": ""},
        "x",
        {"public_key": "!", "value": 1},
    ):
        rewritten(copy / "certificate.json", methodcaller("update", signature=signature))
        assert any(line.startswith("signature: ") for line in told(copy))


@pytest.mark.parametrize(
    "text", ["", "no key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"]
)
def test_a_key_that_is_none_is_one_line(copy: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "key").write_text(text)
    for result in (
        amqpspec("certificate", copy, "--sign", tmp_path / "key"),
        amqpspec("certificate", copy, "--sign", tmp_path / "missing"),
    ):
        assert (result.exit_code, result.output.count("\n")) == (2, 1), result.output


def test_a_partial_run_is_not_certified(copy: Path) -> None:
    rewritten(copy / "results.json", lambda document: document["meta"].update(partial=True))
    write_sums(copy)
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
