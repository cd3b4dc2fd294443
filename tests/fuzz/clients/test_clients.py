"""Fuzzing clients: inputs have ids, planted defects are found and blamed on the right input, good clients pass."""

from __future__ import annotations

import json
import struct
import sys
import threading
from collections.abc import Collection
from fnmatch import fnmatchcase
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import amqpspec.run.amqp_0_10.agent
import amqpspec.run.amqp_1_0.agent
import amqpspec.run.amqp_fast_0_8.agent
import amqpspec.run.methods.agent
from amqpspec.cli.main import cli
from amqpspec.fuzz.clients.bout import Ring
from amqpspec.fuzz.clients.inputs import bendings, family_inputs, random_inputs, resolved
from amqpspec.fuzz.clients.part import client_families, fitted, server_places
from amqpspec.fuzz.grammar import grammar
from amqpspec.fuzz.inputs.identity import IdError, InputId
from amqpspec.fuzz.parts import fuzzed_dialects
from amqpspec.run.clients.agent import Limits, OneEach
from amqpspec.run.clients.client import Arena
from amqpspec.spec.dialects import client_dialect
from amqpspec.spec.model import Side

_DIALECT = "amqp-0-9-1"
_DIALECTS = tuple(d for d in fuzzed_dialects() if server_places(d))
_SCENARIOS: dict[str, Collection[str]] = {
    "amqp-0-9-1": amqpspec.run.methods.agent._SCENARIOS,
    "amqp-wire-9-1": amqpspec.run.methods.agent._SCENARIOS,
    "amqp-0-10": amqpspec.run.amqp_0_10.agent._SCENARIOS,
    "amqp-1-0": amqpspec.run.amqp_1_0.agent._SCENARIOS,
    "amqp-fast-0-8": amqpspec.run.amqp_fast_0_8.agent._SCENARIOS,
}
_FRAGILE = Path(__file__).parent / "fragile.py"


def _everything(key: str) -> bool:
    return True


# --- inputs


def test_clients_of_every_dialect_are_fuzzed() -> None:
    assert fuzzed_dialects() == _DIALECTS


@pytest.mark.parametrize("dialect", _DIALECTS)
def test_places_stand_in_scenarios_and_go_on_with_what_servers_send(dialect: str) -> None:
    for place in server_places(dialect).values():
        assert place.scenario in _SCENARIOS[dialect] and place.next
        for name in place.next:
            is_part = name.startswith(("header/", "body"))
            assert grammar(dialect)[name].sent_by is not Side.CLIENT or is_part, name


@pytest.mark.parametrize("dialect", _DIALECTS)
def test_every_place_is_bent_and_ids_name_their_inputs(dialect: str) -> None:
    assert {one.place for one in bendings(dialect)} == set(server_places(dialect))
    assert {one.family for one in bendings(dialect)} == set(client_families(dialect))
    assert len({one.key for one in bendings(dialect)}) == len(bendings(dialect))
    items = [*islice(family_inputs(dialect, _everything), 0, 600, 7)]
    items += islice(random_inputs(dialect, 3, _everything), 60)
    for item in items:
        assert item.octets or item.id.family in ("random", "C12")
        again = resolved(InputId.parse(str(item.id)))
        assert (again.steps, again.words) == (item.steps, item.words)


def test_inputs_get_on_the_channel_of_the_server_s_frame() -> None:
    def frame(channel: int, payload: bytes = b"octets") -> bytes:
        return struct.pack(">BBHxBH4x", 15, 1, 12 + len(payload), 0, channel) + payload

    beside = frame(9)
    for given, sent in (
        (frame(1) + frame(2) + frame(1, b""), frame(9) + frame(2) + frame(9, b"")),
        (frame(1)[:2] + b"\0\0" + frame(1)[4:] + frame(1), frame(9)[:2] + b"\0\0" + frame(9)[4:] + frame(1)),
        (frame(1)[:7], frame(1)[:7]),
        (b"AMQP\1\1\0\12", b"AMQP\1\1\0\12"),
    ):
        assert fitted("amqp-0-10", beside, given) == sent
        assert fitted("amqp-1-0", beside, given) == given


def test_random_inputs_differ_by_seed_only() -> None:
    one, same, other = (
        [item.steps for item in islice(random_inputs(_DIALECT, seed, _everything), 30)] for seed in (1, 1, 2)
    )
    assert one == same != other


@pytest.mark.parametrize(
    "id", ["g:00000000/C04/frame.size/server-start/s0/0", "g:29310249/C04/frame.size/raw/s0/0"]
)
def test_an_id_of_something_else_is_refused(id: str) -> None:
    with pytest.raises(IdError, match="expected"):
        resolved(InputId.parse(id))


# --- campaigns


def _fuzz(tmp_path: Path, defect: str, *words: str, dialect: str = _DIALECT) -> Result:
    command = f"{sys.executable} {_FRAGILE} {defect} {dialect}"
    options = [
        "--json",
        "--batch",
        "-n",
        "1",
        "--patience",
        "0.2",
        "--out",
        str(tmp_path / "out"),
        "-d",
        dialect,
    ]
    return CliRunner().invoke(cli, ["fuzz", "--client", command, *options, "--budget", "120s", *words])


def _finding(tmp_path: Path) -> dict[str, Any]:
    place = next((tmp_path / "out" / "findings").iterdir())
    assert {"input.bin", "transcript.jsonl", "log.txt", "REPLAY"} <= {path.name for path in place.iterdir()}
    found: dict[str, Any] = json.loads((place / "finding.json").read_text())
    return found


@pytest.mark.parametrize(
    ("dialect", "places"),
    [
        ("amqp-0-9-1", {"server-start", "server-tune", "server-open-ok"}),
        ("amqp-0-10", {"server-header", "server-start", "server-tune", "server-open-ok"}),
        ("amqp-1-0", {"server-header", "server-mechanisms", "server-outcome", "server-open"}),
    ],
)
def test_a_client_without_a_defect_passes(tmp_path: Path, dialect: str, places: set[str]) -> None:
    result = _fuzz(tmp_path, "none", "--inputs", "60", "--cells", "C04/*", dialect=dialect)
    summary = json.loads(result.stdout)
    assert (result.exit_code, summary["findings"], summary["suspicions"]) == (0, [], {}), result.stdout
    assert set(summary["reached"]) == places
    assert set(summary["not_reached"]) == set(server_places(dialect)) - places
    journal = (tmp_path / "out" / "journal.jsonl").read_text().splitlines()
    assert len(journal) == summary["inputs"] == 60


@pytest.mark.parametrize("dialect", [d for d in _DIALECTS if d != _DIALECT])
def test_the_reference_agent_comes_to_every_place(dialect: str, tmp_path: Path) -> None:
    arena = Arena(
        [sys.executable, "-m", "amqpspec", "agent", "--dialect", dialect], client_dialect(dialect),
        tmp_path, Limits(60.0, 60.0, 1 << 30), threading.Event(),
    )  # fmt: skip
    ring = Ring(arena, OneEach(arena.command), 60.0)
    for place in server_places(dialect):
        item = next(family_inputs(dialect, partial(fnmatchcase, pat=f"*/{place}")))
        met = ring.meet(item, place)
        assert met.reached and met.suspicion is None, (place, met.suspicion)


@pytest.mark.parametrize(
    ("defect", "dialect", "cells", "oracle", "words"),
    [
        ("crash", "amqp-0-9-1", "C04/frame.type/server-tune", "crash", ("--inputs", "6")),
        ("crash", "amqp-0-10", "C04/frame.type/server-tune", "crash", ("--inputs", "6")),
        ("crash", "amqp-1-0", "C04/frame.type/server-open", "crash", ("--inputs", "6")),
        ("memory", "amqp-0-9-1", "C02/frame.size/server-start", "memory", ("--memory-limit", "150", "--inputs", "6")),
        ("memory", "amqp-1-0", "C02/frame.size/server-outcome", "memory", ("--memory-limit", "150", "--inputs", "9")),
        ("hang", "amqp-0-9-1", "C09/frame.channel/server-open-ok", "hang", ("--inputs", "2")),
        ("busy", "amqp-0-9-1", "C09/frame.channel/server-tune", "cpu", ("--patience", "3", "--inputs", "1")),
    ],
)  # fmt: skip
def test_a_planted_defect_is_found(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    defect: str,
    dialect: str,
    cells: str,
    oracle: str,
    words: tuple[str, ...],
) -> None:
    if oracle == "cpu":
        monkeypatch.setattr(
            "amqpspec.cli.fuzz_clients._CPU_S", 0.5
        )  # so that the client burns less than it would
    result = _fuzz(tmp_path, defect, "--cells", cells, "--families-only", *words, dialect=dialect)
    assert result.exit_code == 1, result.output
    found = _finding(tmp_path)
    assert (found["oracle"], found["status"], found["batch"]) == (oracle, "stable", [])
    assert cells == "/".join((found["family"], found["input"].split("/")[2], found["state"]))
    assert found["dialect"] == dialect
    place = tmp_path / "out" / "findings" / f"{oracle}-{found['signature']}"
    for client, code in ((defect, 1), ("none", 0)):
        command = f"{sys.executable} {_FRAGILE} {client} {dialect}"
        options = [
            "--batch",
            "--patience",
            "3" if oracle == "cpu" else "0.2",
            "--memory-limit",
            "150",
            "-d",
            dialect,
        ]
        again = CliRunner().invoke(cli, ["fuzz", "--client", command, *options, "--replay", str(place)])
        assert again.exit_code == code, again.output


def test_what_takes_several_inputs_is_blamed_on_those(tmp_path: Path) -> None:
    words = ("--cells", "C04/frame.type/server-start", "--families-only", "--inputs", "12")
    result = _fuzz(tmp_path, "third-crash", *words)
    assert result.exit_code == 1, result.output
    found = _finding(tmp_path)
    assert (found["oracle"], found["status"]) == ("crash", "flaky")
    assert 3 <= len(found["batch"]) <= 5


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--client", "", "--budget", "1s"], "--client: expected a command line, actual: nothing"),
        (["--client", "/nonexistent/agent"], "/nonexistent/agent: No such file or directory"),
        (["--client", "x", "--budget", "soon"], "--budget: expected a duration like 90s, 10m or 8h, actual 'soon'"),
        (["--client", "x", "--cells", "C99/*"], "--cells: expected globs of cells, actual: C99/* match none"),
        (["--client", "x", "--replay", "g:1"], "FAMILY/ROLE/STATE/sSEED/COUNTER, actual 'g:1'"),
        (["--client", "x", "--dialect", "amqp-2-0"], "actual 'amqp-2-0'"),
    ],
)  # fmt: skip
def test_mistakes_of_the_user_are_one_line(tmp_path: Path, words: list[str], said: str) -> None:
    result = CliRunner().invoke(cli, ["fuzz", "--out", str(tmp_path / "out"), *words])
    assert result.exit_code == 2, result.output
    assert result.stderr.strip().splitlines()[-1].endswith(said)


def test_an_agent_that_fails_on_a_correct_server_is_no_target(tmp_path: Path) -> None:
    command = f"{sys.executable} -c 'raise SystemExit(1)'"
    result = CliRunner().invoke(cli, ["fuzz", "--client", command, "--out", str(tmp_path / "out")])
    assert result.exit_code == 3 and "on a correct server" in result.stderr
