"""Fuzzing clients: inputs have ids, planted defects are found and blamed on the right input, good clients pass."""

from __future__ import annotations

import json
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from amqpspec.cli.main import cli
from amqpspec.fuzz.clients.inputs import bendings, family_inputs, random_inputs, resolved
from amqpspec.fuzz.clients.part import server_places
from amqpspec.fuzz.grammar import grammar
from amqpspec.fuzz.inputs.identity import IdError, InputId
from amqpspec.fuzz.parts import fuzzed_dialects
from amqpspec.run.clients.client import CONTEXT
from amqpspec.run.methods.agent import _SCENARIOS
from amqpspec.spec.model import Side

_DIALECT = "amqp-0-9-1"
_FRAGILE = Path(__file__).parent / "fragile.py"


def _everything(key: str) -> bool:
    return True


# --- inputs


def test_places_stand_in_scenarios_and_go_on_with_what_servers_send() -> None:
    for place in server_places(_DIALECT).values():
        assert place.scenario in _SCENARIOS and place.next
        for name in place.next:
            assert grammar(_DIALECT)[name].sent_by is not Side.CLIENT or name.startswith(("header/", "body"))
    assert CONTEXT["messages"] > 0


def test_every_place_has_every_family_and_ids_name_their_inputs() -> None:
    assert {one.place for one in bendings(_DIALECT)} == set(server_places(_DIALECT))
    assert {one.family for one in bendings(_DIALECT)} == {"C02", "C03", "C04", "C09", "C11"}
    assert len({one.key for one in bendings(_DIALECT)}) == len(bendings(_DIALECT))
    items = [*islice(family_inputs(_DIALECT, _everything), 0, 600, 7)]
    items += islice(random_inputs(_DIALECT, 3, _everything), 60)
    for item in items:
        assert item.octets or item.id.family == "random"
        again = resolved(InputId.parse(str(item.id)))
        assert (again.steps, again.words) == (item.steps, item.words)


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


def _fuzz(tmp_path: Path, defect: str, *words: str) -> Result:
    command = f"{sys.executable} {_FRAGILE} {defect}"
    options = ["--json", "--batch", "-n", "1", "--patience", "0.2", "--out", str(tmp_path / "out")]
    return CliRunner().invoke(cli, ["fuzz", "--client", command, *options, "--budget", "120s", *words])


def _finding(tmp_path: Path) -> dict[str, Any]:
    place = next((tmp_path / "out" / "findings").iterdir())
    assert {"input.bin", "transcript.jsonl", "log.txt", "REPLAY"} <= {path.name for path in place.iterdir()}
    found: dict[str, Any] = json.loads((place / "finding.json").read_text())
    return found


def test_a_client_without_a_defect_passes(tmp_path: Path) -> None:
    result = _fuzz(tmp_path, "none", "--inputs", "90")
    summary = json.loads(result.stdout)
    assert (result.exit_code, summary["findings"], summary["suspicions"]) == (0, [], {}), result.stdout
    assert set(summary["reached"]) == {"server-start", "server-tune", "server-open-ok"}
    assert set(summary["not_reached"]) == set(server_places(_DIALECT)) - set(summary["reached"])
    journal = (tmp_path / "out" / "journal.jsonl").read_text().splitlines()
    assert len(journal) == summary["inputs"] == 90


@pytest.mark.parametrize(
    ("defect", "cells", "oracle", "words"),
    [
        ("crash", "C04/frame.type/server-tune", "crash", ("--inputs", "6")),
        ("memory", "C02/frame.size/server-start", "memory", ("--memory-limit", "150", "--inputs", "6")),
        ("hang", "C09/frame.channel/server-open-ok", "hang", ("--inputs", "2")),
        ("busy", "C09/frame.channel/server-tune", "cpu", ("--patience", "3", "--inputs", "1")),
    ],
)
def test_a_planted_defect_is_found(
    tmp_path: Path, defect: str, cells: str, oracle: str, words: tuple[str, ...]
) -> None:
    result = _fuzz(tmp_path, defect, "--cells", cells, "--families-only", *words)
    assert result.exit_code == 1, result.output
    found = _finding(tmp_path)
    assert (found["oracle"], found["status"], found["batch"]) == (oracle, "stable", [])
    assert cells == "/".join((found["family"], found["input"].split("/")[2], found["state"]))
    place = tmp_path / "out" / "findings" / f"{oracle}-{found['signature']}"
    for client, code in ((defect, 1), ("none", 0)):
        command = f"{sys.executable} {_FRAGILE} {client}"
        options = ["--batch", "--patience", "3" if oracle == "cpu" else "0.2", "--memory-limit", "150"]
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
        (["--client", "x", "--dialect", "amqp-fast-0-8"], "actual 'amqp-fast-0-8'"),
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


def test_only_dialects_with_places_are_fuzzed_this_way() -> None:
    assert {d for d in fuzzed_dialects() if server_places(d)} >= {_DIALECT}
