"""The suite for clients of 0-9-1: what ties it together, and the reference agent clean and with mistakes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from amqpspec.cli.main import cli
from amqpspec.reference.faults import all_faults
from amqpspec.run.case import load_suite
from amqpspec.spec.dialects import certified_dialects, client_dialects, load_ledger, runnable_dialects

_DIALECT = "amqp-0-9-1-clients"


def _client(tmp_path: Path, *words: str) -> Result:
    return CliRunner().invoke(cli, ["client", "--json", "--out", str(tmp_path / "run"), *words])


def _verdicts(result: Result) -> dict[str, str]:
    return {case["id"]: case["verdict"] for case in json.loads(result.stdout)["cases"]}


def _agent(*faults: str) -> str:
    options = " ".join(f"--fault {fault}" for fault in faults)
    return f"{sys.executable} -m amqpspec agent {options}"


def test_every_row_has_a_case_and_every_case_a_row() -> None:
    covered = {row for case in load_suite(_DIALECT).values() for row in case.covers}
    assert covered == set(load_ledger(_DIALECT))


def test_every_mistake_breaks_rows_that_exist_and_every_row_is_broken_by_one() -> None:
    broken = {row for fault in all_faults(_DIALECT).values() for row in fault.breaks}
    assert broken == set(load_ledger(_DIALECT))


def test_a_dialect_of_clients_is_no_dialect_of_brokers() -> None:
    assert client_dialects() == (_DIALECT,)
    assert _DIALECT not in (*runnable_dialects(), *certified_dialects())


@pytest.mark.parametrize("dialect", ["amqp-0-9-1", _DIALECT])
def test_the_reference_agent_passes(tmp_path: Path, dialect: str) -> None:
    cases = [
        "client.start-ok.*",
        "client.content.*",
        "client.hostile.end-octet.consume-ok",
        "client.hostile.fin.deliver",
    ]
    result = _client(tmp_path, "--dialect", dialect, *cases)
    assert (result.exit_code, set(_verdicts(result).values())) == (0, {"pass"})


@pytest.mark.parametrize(
    ("fault", "case", "application"),
    [
        ("locale-not-offered", "client.start-ok.locale", ""),
        ("consumer-tag-twice", "client.consumer-tag.unique", ""),
        ("bears-anything", "client.hostile.deliver-to-nobody.channel-open-ok", "silent"),
        ("crashes-on-what-it-cannot-read", "client.hostile.content.body-alone.consume-ok", "crash"),
        ("silent-at-the-end", "client.hostile.fin.consume-ok", "silent"),
    ],
)
def test_a_mistake_is_found(tmp_path: Path, fault: str, case: str, application: str) -> None:
    result = _client(tmp_path, "--command", _agent(fault), case)
    assert (result.exit_code, _verdicts(result)) == (1, {case: "fail"})
    row = json.loads(result.stdout)["cases"][0]
    assert row["facts"].get("application", "") == application
    assert (tmp_path / "run" / row["evidence"]).is_file()


def test_a_client_that_cannot_do_it_is_not_judged(tmp_path: Path) -> None:
    result = _client(
        tmp_path, "--command", f"{sys.executable} -c 'raise SystemExit(89)'", "client.start-ok.*"
    )
    assert set(_verdicts(result).values()) == {"not-applicable"}
    assert result.exit_code == 4


def test_a_client_that_never_connects_is_not_judged(tmp_path: Path) -> None:
    result = _client(
        tmp_path,
        "--command",
        f"{sys.executable} -c 'pass'",
        "client.start-ok.locale",
        "client.hostile.fin.start",
    )
    assert set(_verdicts(result).values()) == {"not-applicable"}
    assert result.exit_code == 4


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--command", "/nonexistent/agent"], "/nonexistent/agent: cannot be run: No such file or directory"),
        (["--command", ""], "--command: expected a command line, actual: nothing"),
        (["--command", "'"], "--command: expected a command line, actual: No closing quotation"),
        (["--dialect", "amqp-7"], "--dialect: expected one of amqp-0-9-1-clients, actual 'amqp-7'"),
        (["no.such.case"], "'no.such.case' names no case; try: amqpspec list"),
    ],
)
def test_mistakes_of_the_user_are_one_line(tmp_path: Path, words: list[str], said: str) -> None:
    result = _client(tmp_path, *words)
    assert result.exit_code == 2
    assert result.stderr.strip().splitlines()[-1].endswith(said)


def test_an_agent_without_its_environment_says_so() -> None:
    result = CliRunner(env={"AMQPSPEC_URL": ""}).invoke(cli, ["agent"])
    assert result.exit_code == 2


def test_what_is_known_of_clients_is_listed(tmp_path: Path) -> None:
    listed = CliRunner().invoke(cli, ["list", "-d", _DIALECT, "client.hostile.fin.*", "--json"])
    assert len(json.loads(listed.stdout)) == 11
    explained = CliRunner().invoke(cli, ["explain", "client.hostile.fin.deliver"])
    assert "violated/end" in explained.stdout
    counted = CliRunner().invoke(cli, ["coverage", "-d", _DIALECT, "--json"])
    assert json.loads(counted.stdout)["dialects"][_DIALECT]["open"] == 0


def test_a_client_gets_no_certificate(tmp_path: Path) -> None:
    assert _client(tmp_path, "client.start-ok.locale").exit_code == 0
    result = CliRunner().invoke(cli, ["certificate", "issue", str(tmp_path / "run")])
    assert result.exit_code == 2
    assert result.stderr.strip().endswith("actual: amqp-0-9-1-clients, which is not certified yet")
