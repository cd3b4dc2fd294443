"""The suite for clients of 0-9-1: what ties it together, forgiven mistakes, agents that do not do their part."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from amqpspec.cli.main import cli
from amqpspec.spec.dialects import certified_dialects, client_dialects, runnable_dialects
from tests.run.clients.command import agent, client, verdicts_of

_DIALECT = "amqp-0-9-1-clients"


_client = partial(client, "amqp-0-9-1")
_agent = partial(agent, "amqp-0-9-1")


def test_a_dialect_of_clients_is_no_dialect_of_brokers() -> None:
    assert _DIALECT in client_dialects()
    assert _DIALECT not in (*runnable_dialects(), *certified_dialects())


@pytest.mark.parametrize(
    ("fault", "case"),
    [
        ("locale-empty", "client.start-ok.locale"),
        ("locale-list", "client.start-ok.locale"),
        ("frame-max-counts-payload", "client.frames.size"),
    ],
)
@pytest.mark.parametrize("is_lenient", [False, True])
def test_what_is_forgiven_is_named_and_still_a_deviation(
    tmp_path: Path, fault: str, case: str, is_lenient: bool
) -> None:
    another = "client.content.whole"
    words = ["--command", _agent(fault), case, another, *(["--lenient"] if is_lenient else [])]
    result = _client(tmp_path, *words)
    verdicts = verdicts_of(result)
    assert verdicts[case] == "fail"
    note = json.loads((tmp_path / "run" / "results.json").read_text())["meta"]["note"]
    name = "frame-max-plus-8" if fault == "frame-max-counts-payload" else fault
    assert note.startswith(f"forgiven: {name} (") is is_lenient
    if fault != "frame-max-counts-payload":  # then no other case could be judged on a strict server
        assert verdicts[another] == ("pass" if is_lenient else "not-applicable")
    evidence = "".join(path.read_text() for path in (tmp_path / "run" / "evidence").glob("*.jsonl"))
    assert (f'"text": "forgiven: {name}"' in evidence) is is_lenient


@pytest.mark.parametrize("fault", ["frames-beyond-the-limit", "locale-not-offered"])
def test_what_is_not_common_is_not_forgiven(tmp_path: Path, fault: str) -> None:
    result = _client(
        tmp_path, "--lenient", "--command", _agent(fault), "client.frames.size", "client.start-ok.locale"
    )
    assert json.loads((tmp_path / "run" / "results.json").read_text())["meta"]["note"] == ""
    assert result.exit_code == 1


def test_a_server_calls_itself_what_its_client_wants(tmp_path: Path) -> None:
    result = _client(tmp_path, "--product", "RabbitMQ", "client.start-ok.locale")
    assert result.exit_code == 0
    evidence = next((tmp_path / "run" / "evidence").glob("*.jsonl")).read_text()
    assert "RabbitMQ" in evidence and "reference broker" not in evidence


@pytest.mark.parametrize("program", ["raise SystemExit(89)", "pass"], ids=["cannot do it", "never connects"])
def test_a_client_without_conduct_is_not_judged(tmp_path: Path, program: str) -> None:
    command = f"{sys.executable} -c '{program}'"
    result = _client(tmp_path, "--command", command, "client.start-ok.*", "client.hostile.fin.start")
    assert set(verdicts_of(result).values()) == {"not-applicable"}
    assert result.exit_code == 4


def test_servers_are_no_subject_where_the_harness_is_the_server(tmp_path: Path) -> None:
    result = _client(tmp_path, "server.*")
    assert result.exit_code == 2 and "names no case" in result.stderr


def test_an_agent_that_ignores_its_scenario_is_judged_by_what_it_did(tmp_path: Path) -> None:
    cases = ("client.start-ok.locale", "client.hostile.deliver-to-nobody.consume-ok")
    result = _client(tmp_path, "--command", f"env AMQPSPEC_SCENARIO=connect {_agent()}", *cases)
    assert verdicts_of(result) == dict(zip(cases, ("pass", "not-applicable"), strict=True))


_CONNECTS_OFTEN = """
import os, socket, sys
from urllib.parse import urlsplit
url = urlsplit(os.environ["AMQPSPEC_URL"])
held = [socket.create_connection((url.hostname, url.port)) for _ in range(1000)]
for one in held:
    one.sendall(b"AMQP" + bytes([0, 0, 9, 1]))
sys.exit(1)
"""


def test_an_agent_that_opens_a_thousand_connections_gets_its_verdict(tmp_path: Path) -> None:
    agent = tmp_path / "agent.py"
    agent.write_text(_CONNECTS_OFTEN)
    cases = ("client.start-ok.locale", "client.hostile.fin.start")
    result = _client(tmp_path, "--command", f"{sys.executable} {agent}", *cases)
    assert verdicts_of(result) == dict(zip(cases, ("not-applicable", "pass"), strict=True))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--command", "/nonexistent/agent"], "/nonexistent/agent: cannot be run: No such file or directory"),
        (["--command", ""], "--command: expected a command line, actual: nothing"),
        (["--command", "'"], "--command: expected a command line, actual: No closing quotation"),
        (
            ["--dialect", "amqp-7"],
            f"--dialect: expected one of {', '.join(client_dialects())}, actual 'amqp-7'",
        ),
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


def test_a_client_gets_a_certificate_that_names_its_role(tmp_path: Path) -> None:
    assert _client(tmp_path, "client.start-ok.locale", "client.hostile.fin.deliver").exit_code == 0
    run = tmp_path / "run"
    issued = CliRunner().invoke(cli, ["certificate", "issue", str(run)])
    assert issued.exit_code == 0 and f"({_DIALECT}, client): " in issued.stdout, issued.output
    assert json.loads((run / "certificate.json").read_text())["role"] == "client"
    verify = ["certificate", "verify", str(run / "certificate.json")]
    verified = CliRunner().invoke(cli, verify)
    assert verified.exit_code == 0 and "all fit" in verified.stdout, verified.output
    assert "2 verdicts, 0 derived again from their octets, 2 not" in verified.stdout
    again = CliRunner().invoke(cli, [*verify, "--replay"])
    assert again.exit_code == 2 and "run the client again" in again.stderr
    evidence = next((run / "evidence").glob("*.jsonl"))
    evidence.write_text(evidence.read_text() + " ")
    assert CliRunner().invoke(cli, verify).exit_code == 1
