"""Results are never lost or blurred: folders that are taken, errors that no one foresaw, ports that speak no AMQP."""

from __future__ import annotations

import http.server
import json
import re
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from amqpspec.cli import main
from amqpspec.reference.server import ReferenceBroker
from amqpspec.run.case import load_suite
from amqpspec.run.engine import Engine
from tests.cli.terminal import PLACING, on_a_terminal
from tests.cli.verbs import SMALL, amqpspec, command, error, outside, process
from tests.waiting import PATIENCE_S, until

CASE = "channel.open.twice"
COLOUR = re.compile(r"\x1b\[[\d;]+m")


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# --- folders


def test_a_finished_run_is_kept_unless_it_is_given_up(tmp_path: Path) -> None:
    amqpspec("run", "reference", *SMALL, "-q", "-o", tmp_path, code=0)
    before = files(tmp_path)
    said = error("run", "reference", CASE, "-o", tmp_path, code=2)
    assert said == f"{tmp_path} contains a finished run: choose another --out, or --force to replace it"
    assert files(tmp_path) == before
    amqpspec("run", "reference", CASE, "-q", "-o", tmp_path, "--force", code=0)
    after = files(tmp_path)
    assert f"evidence/{SMALL[1]}.jsonl" in before and f"evidence/{SMALL[1]}.jsonl" not in after


def test_a_folder_of_somebody_elses_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".hidden").write_text("", encoding="utf-8")
    (tmp_path / "thesis.txt").write_text("mine", encoding="utf-8")
    said = error("run", "reference", CASE, "-o", tmp_path, code=2)
    assert said == f"{tmp_path}: expected a new or empty folder, actual: thesis.txt in it (or --force)"
    assert sorted(files(tmp_path)) == [".hidden", "thesis.txt"]
    amqpspec("run", "reference", CASE, "-q", "-o", tmp_path, "--force", code=0)
    assert files(tmp_path)["thesis.txt"] == b"mine"


def test_a_run_that_reached_nobody_gives_way(tmp_path: Path) -> None:
    with ReferenceBroker("amqp-0-9-1") as broker:
        pass
    for _ in "12":
        amqpspec("run", broker.url, CASE, "-q", "-o", tmp_path, code=3)


# --- resuming


def cut_off(folder: Path) -> None:
    """Make a run look as if it had been killed after its first case."""
    lines = (folder / "journal.jsonl").read_bytes().splitlines(keepends=True)
    first = next(at for at, line in enumerate(lines) if json.loads(line)["kind"] == "case")
    (folder / "journal.jsonl").write_bytes(b"".join(lines[: first + 1]))
    (folder / "SHA256SUMS").unlink()


@pytest.mark.parametrize("dialect", ["amqp-0-9-1", "amqp-1-0"])
def test_a_resumed_run_knows_its_target(dialect: str, tmp_path: Path) -> None:
    cases = ("channel.open.twice", "exchange.declare.*") if dialect == "amqp-0-9-1" else ("open.*",)
    amqpspec("run", f"reference:{dialect}", *cases, "-q", "-o", tmp_path / "own", code=0)
    with ReferenceBroker(dialect) as broker:
        amqpspec("run", broker.url, *cases, "-q", "-o", tmp_path / "url", code=0)
        for folder in (tmp_path / "own", tmp_path / "url"):
            count = len(json.loads((folder / "results.json").read_text(encoding="utf-8"))["cases"])
            cut_off(folder)
            result = amqpspec("run", *cases, "--resume", folder, code=0)
            assert f"{dialect}:" in result.output and f"planned {count} " in result.output


def test_who_stops_a_run_is_told_how_to_go_on(tmp_path: Path) -> None:
    with process(command("run", "reference", "-o", tmp_path / "run", "-n", "1")) as running:
        until(lambda: len(list((tmp_path / "run").glob("evidence/*"))) > 5, "some cases")
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 4
    assert f"stopped: continue with the same command and --resume {tmp_path / 'run'}" in said


# --- what no one foresaw


def test_an_unforeseen_error_is_one_line_a_report_and_exit_code_4(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*args: object) -> bool:
        raise KeyError("nobody\nforesaw this")

    monkeypatch.setattr(Engine, "run", broken)
    monkeypatch.setattr(
        sys, "argv", ["amqpspec", "run", "reference", CASE, "-q", "-o", str(tmp_path / "run")]
    )
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    with pytest.raises(SystemExit) as ended:
        main.main()
    assert ended.value.code == 4
    line = capsys.readouterr().err.splitlines()[-1]
    found = re.fullmatch(
        r"amqpspec: unforeseen error: KeyError: .*foresaw this'; please report it with (\S+)", line
    )
    assert found is not None, line
    assert "Traceback" in Path(found[1]).read_text(encoding="utf-8")
    document = json.loads((tmp_path / "run/results.json").read_text(encoding="utf-8"))
    assert document["exit_code"] == 4 and [case["verdict"] for case in document["cases"]] == ["blocked"]


# --- ports that speak no AMQP


@contextmanager
def mute() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


@contextmanager
def web() -> Iterator[int]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("made", "told"), [(mute, "nothing within 3 s of a protocol header"), (web, "it speaks HTTP")]
)
def test_a_port_without_amqp_is_told_within_three_seconds(made: object, told: str, tmp_path: Path) -> None:
    assert callable(made)
    with made() as port:
        began_s = time.monotonic()
        done = outside(command("run", f"amqp://127.0.0.1:{port}/", CASE, "-o", tmp_path))
        took_s = time.monotonic() - began_s
    assert done.returncode == 3 and told in done.stderr.splitlines()[-1]
    assert (tmp_path / "junit.xml").exists()
    # Three seconds of patience; the rest is a start of Python on a busy machine.
    assert took_s < 3 + 10


# --- words that were mistyped, terminals that can little


def test_what_was_mistyped_is_guessed_at(tmp_path: Path) -> None:
    assert (
        error("run", "reference", "chanel.open.twice", "-o", tmp_path, code=2)
        == "'chanel.open.twice' names no case; did you mean 'channel.open.twice'?"
    )
    assert "did you mean 'channel.open.twice'?" in error("explain", "channel.open.twise", code=2)
    assert "did you mean 'rabbitmq'?" in error("run", "--target", "rabbitmk", code=2)
    done = outside(command("rnu"))
    assert done.returncode == 2 and "No such command 'rnu'; did you mean 'run'?" in done.stderr


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1", "TERM": "xterm"}, {"TERM": "dumb"}])
def test_no_colours_where_none_are_wanted(
    environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = "not-refused:channel/open/state"
    line = " ".join(command("run", "reference", CASE, "--fault", fault, "-o", tmp_path / "a"))
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    said = on_a_terminal(line)
    assert "fail" in said and COLOUR.search(said) is None
    assert all(len(PLACING.sub("", part)) <= 40 for part in said.split("\r") if re.match(r"\S*\d/1 ", part))
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert COLOUR.search(on_a_terminal(line + " --force"))


# --- targets that others use


@pytest.mark.parametrize("dialect", ["amqp-0-9-1", "amqp-0-10"])
def test_what_belongs_to_everybody_is_left_alone_on_a_shared_target(dialect: str, tmp_path: Path) -> None:
    modules = [name for name in {case.suite for case in load_suite(dialect).values()} if "exchange" in name]
    amqpspec("run", f"reference:{dialect}", *modules, "--shared-target", "-q", "-o", tmp_path, code=0)
    asked = set()
    for path in (tmp_path / "evidence").glob("*.jsonl"):
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        frames = [frame for line in lines if line.get("dir") == "out" for frame in line.get("frames", ())]
        asked |= {
            frame["text"].split()[0] + _exchange(frame["text"])
            for frame in frames
            if "passive=True" not in frame["text"]
        }
    assert any(text.startswith("exchange.delete") for text in asked), "their own ones are deleted"
    shared = (
        "exchange.delete ''",
        "exchange.declare ''",
        "exchange.delete 'amq.",
        "basic.publish 'amq.fanout'",
    )
    assert [text for text in asked if text.startswith(shared)] == []


def _exchange(text: str) -> str:
    found = re.search(r"exchange=('[^']*')", text)
    return f" {found[1]}" if found else ""
