"""``serve``, ``watch`` and ``proxy`` as their user calls them: what they print, what they leave, how they end."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from amqpspec.cli.main import cli
from amqpspec.record.rows import CaseRow, Outcome
from amqpspec.reference.server import ReferenceBroker
from amqpspec.reports.live import LivePage, said
from amqpspec.run.clients.client import CONTEXT
from amqpspec.run.clients.watching import Judged
from amqpspec.spec.dialects import client_dialects
from tests.waiting import PATIENCE_S

_MODULE = (sys.executable, "-m", "amqpspec")


@contextmanager
def _running(*words: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen([*_MODULE, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def _agent(url: str, scenario: str, *faults: str) -> int:
    told = {"AMQPSPEC_URL": url, "AMQPSPEC_SCENARIO": scenario, "AMQPSPEC_CONTEXT": json.dumps(CONTEXT)}
    options = [word for fault in faults for word in ("--fault", fault)]
    command = [*_MODULE, "agent", *options]
    return subprocess.run(
        command, env={**os.environ, **told}, capture_output=True, timeout=PATIENCE_S
    ).returncode


def _first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def _results(folder: Path) -> dict[str, str]:
    document = json.loads((folder / "results.json").read_text())
    return {case["id"]: case["verdict"] for case in document["cases"]}


@pytest.mark.parametrize(("fault", "code"), [(None, 0), ("never-acknowledges", 1)])
def test_serve_judges_what_connects_and_ends_at_its_limit(
    tmp_path: Path, fault: str | None, code: int
) -> None:
    folder = tmp_path / "run"
    words = ("serve", "--judge", "--connections", "2", "--out", str(folder), "--name", "own")
    with _running(*words) as process:
        url = _first_line(process)
        for scenario in ("publish", "get"):
            assert _agent(url, scenario, *([fault] if fault else [])) == 0
        out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == code, (out, err)
    assert "live page: http://127.0.0.1:" in err and err.count("connection ") >= 2
    verdicts = _results(folder)
    assert verdicts["client.ack.owed"] == ("fail" if fault else "pass")
    assert verdicts["client.hostile.fin.start"] == "excluded"
    assert (folder / "matrix.html").exists() and "168" in out


def test_serve_is_hostile_to_everybody_where_it_is_told_so(tmp_path: Path) -> None:
    folder, case = tmp_path / "run", "client.hostile.start.version"
    with _running(
        "serve", "--hostile", case, "--connections", "1", "--out", str(folder), "--quiet"
    ) as process:
        assert _agent(_first_line(process), "connect") == 1
        out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, _results(folder)[case]) == (0, "pass"), (out, err)


@pytest.mark.parametrize("verb", ["serve", "proxy", "reference"])
def test_a_port_that_is_taken_is_one_line(tmp_path: Path, verb: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        place = (
            ["--listen", f":{port}", "--to", "amqp://localhost"] if verb == "proxy" else ["--port", str(port)]
        )
        out = [] if verb == "reference" else ["--out", str(tmp_path / "run")]
        result = CliRunner().invoke(cli, [verb, *place, *out])
    assert result.exit_code == 2
    last = result.stderr.strip().splitlines()[-1]
    assert last == f"amqpspec: cannot listen on 127.0.0.1, port {port}: Address already in use"


def test_serve_names_what_it_forgives(tmp_path: Path) -> None:
    with _running("serve", "--lenient", "--connections", "1", "--out", str(tmp_path / "run")) as process:
        assert _agent(_first_line(process), "connect", "locale-empty") == 0
        _, err = process.communicate(timeout=PATIENCE_S)
    assert "; forgiven: locale-empty" in err and process.returncode == 1
    with _running("reference", "rabbitmq-0-9-1", "--lenient", "--product", "RabbitMQ") as process:
        assert _agent(_first_line(process), "connect", "locale-list") == 0
        process.terminate()
        _, err = process.communicate(timeout=PATIENCE_S)
    assert err.startswith("forgiven: locale-list, 127.0.0.1 port ")


def test_a_server_says_why_it_refused_a_client_without_a_word(tmp_path: Path) -> None:
    with _running("serve", "--connections", "1", "--out", str(tmp_path / "run")) as process:
        assert _agent(_first_line(process).replace("guest:guest", "guest:wrong"), "connect") != 0
        _, err = process.communicate(timeout=PATIENCE_S)
    assert "; refused: login refused [connection/secure]" in err
    with _running("reference", "amqp-0-9-1") as process:
        assert _agent(_first_line(process).replace("guest:guest", "guest:wrong"), "connect") != 0
        process.terminate()
        _, err = process.communicate(timeout=PATIENCE_S)
    assert err.startswith("refused: login refused [connection/secure], 127.0.0.1 port ")


def test_who_judged_nothing_does_not_pass(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["serve", "--seconds", "0.2", "--out", str(tmp_path / "run")])
    assert result.exit_code not in (0, 1), result.output


def test_proxy_and_watch_judge_the_same_octets(tmp_path: Path) -> None:
    with ReferenceBroker("rabbitmq-0-9-1") as broker:
        words = ("proxy", "--to", broker.url, "--connections", "1", "--out", str(tmp_path / "proxy"))
        with _running(*words) as process:
            port = _first_line(process).rsplit(" ", 1)[1]
            assert _agent(f"amqp://guest:guest@127.0.0.1:{port}/%2F", "consume") == 0
            out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, (out, err)
    transcript = next((tmp_path / "proxy" / "evidence").glob("*.jsonl"))
    capture = tmp_path / "capture.pcapng"
    made = CliRunner().invoke(cli, ["replay", str(transcript), "--pcap", str(capture)])
    assert made.exit_code == 0, made.output
    # A separate process: what other tests have imported of scapy must not help.
    with _running("watch", str(capture), "--out", str(tmp_path / "watch")) as process:
        out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, (out, err)
    first, second = (_results(tmp_path / name) for name in ("proxy", "watch"))
    assert first["server.delivery-tags"] == first["server.replies.asked"] == "pass"
    assert {id for id, verdict in first.items() if verdict == "pass"} == {
        id for id, verdict in second.items() if verdict == "pass"
    }


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ["serve", "--dialect", "amqp-9"],
            f"--dialect: expected one of {', '.join(client_dialects())}, actual 'amqp-9'",
        ),
        (
            ["serve", "--hostile", "client.nothing"],
            "--hostile: expected a hostile case of amqp-0-9-1-clients",
        ),
        (["proxy", "--to", "amqp://x", "--listen", "here"], "--listen: expected [HOST]:PORT, actual 'here'"),
        (["proxy", "--to", "no url"], "no url"),
        (["proxy", "--to", "amqp+ws://h"], "--to: expected scheme amqp or amqps, actual a WebSocket"),
        (["watch", "nowhere.pcap"], "nowhere.pcap: No such file or directory"),
    ],
)
def test_what_a_user_gets_wrong_is_one_line(tmp_path: Path, words: list[str], line: str) -> None:
    result = CliRunner().invoke(cli, [*words, "--out", str(tmp_path / "run")])
    assert result.exit_code == 2 and line in result.stderr
    assert result.stderr.count("\n") == 1


def _judged(number: int, *rows: CaseRow) -> Judged:
    return Judged(number, "127.0.0.1 port 7", "", "FIN", rows)


def _row(verdict: Outcome, observed: str) -> CaseRow:
    return CaseRow(
        id="client.x", dialect="d", suite="s", title="t", requirements=(), level="must",
        verdict=verdict, observed=observed,
    )  # fmt: skip


def test_the_live_page_shows_the_latest_first_and_escapes_what_clients_say() -> None:
    page = LivePage()
    url = page.start()
    try:
        page.add(_judged(1, _row(Outcome.PASS, "kept")))
        page.add(_judged(2, _row(Outcome.FAIL, "<script>alert(1)</script>\x1b[0m")))
        with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
            html = answer.read().decode()
    finally:
        page.stop()
    assert "<script>alert" not in html and "&lt;script&gt;" in html and "\x1b" not in html
    assert "2 connections judged, 1 with deviations" in html
    assert html.index("<td>2</td>") < html.index("<td>1</td>")


def test_a_connection_in_one_line() -> None:
    assert said(_judged(1)) == "nothing to judge"
    assert said(_judged(1, _row(Outcome.PASS, ""), _row(Outcome.PASS, ""))) == "2 cases passed"
    assert said(_judged(1, _row(Outcome.NONSTRICT, "a"), _row(Outcome.FAIL, "b"))) == (
        "fail: client.x: b, and 1 other deviation"
    )
