"""Verdicts derived again from octets: what a run recorded follows, whatever is touched afterwards does not."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from amqpspec.cli.main import cli
from amqpspec.peer.methods.peer import Peer
from amqpspec.record.journal import read_cases
from amqpspec.record.rows import BlockedBy, CaseRow, Outcome
from amqpspec.record.transcript import MAX_OCTETS
from amqpspec.run import derive as derive_module
from amqpspec.run.case import Case
from amqpspec.run.derive import Derivation, derivations, derive
from amqpspec.run.execute import execute
from amqpspec.run.verdict import Verdict
from tests.run.worlds import make, reference_world

FAULT = "not-refused:channel/open/state"
CASES = (
    "channel.open.twice", "basic.ack.*", "basic.persistence.*", "framing.heartbeat.*",
)  # fmt: skip
Lines = list[dict[str, Any]]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with a deviation, restarts, several connections, a second user."""
    folder = tmp_path_factory.mktemp("derive") / "run"
    arguments = ["run", "reference", *CASES, "--fault", FAULT, "--out", str(folder), "-q"]
    assert CliRunner().invoke(cli, arguments).exit_code == 1
    return folder


@pytest.mark.parametrize("dialect", ["amqp-0-9-1", "amqp-wire-9-1", "amqp-1-0"])
def test_what_was_recorded_follows_in_every_dialect(dialect: str, tmp_path: Path) -> None:
    pattern = {"amqp-1-0": "links.*", "amqp-0-9-1": "exchange.*", "amqp-wire-9-1": "header.*"}[dialect]
    arguments = ["run", f"reference:{dialect}", pattern, "--out", str(tmp_path / "run"), "-q"]
    assert CliRunner().invoke(cli, arguments).exit_code == 0
    found = list(derivations(tmp_path / "run"))
    assert len(found) > 3 and {one.follows for one in found} == {True}, [
        one for one in found if not one.follows
    ]


def test_deviations_and_restarts_follow_too(recorded: Path) -> None:
    rows = {row.id: row for row in read_cases(recorded)}
    assert rows["channel.open.twice"].verdict is Outcome.FAIL
    assert any(row.id.startswith("basic.persistence") for row in rows.values())
    assert [one for one in derivations(recorded) if not one.follows] == []


def touched(
    recorded: Path, tmp_path: Path, change: Callable[[Lines], Lines | None], **row: Any
) -> Derivation:
    """What is said of ``channel.open.twice`` after its transcript, or its row, was changed."""
    folder = Path(shutil.copytree(recorded, tmp_path / "run"))
    told = next(one for one in read_cases(folder) if one.id == "channel.open.twice")
    path = folder / told.evidence
    lines: Lines = [json.loads(line) for line in path.read_text().splitlines()]
    changed = change(lines) or lines
    path.write_text("\n".join(map(json.dumps, changed)) + "\n")
    return derive(replace(told, **row), path)


def _last(lines: Lines, dir: str) -> dict[str, Any]:
    end = next(at for at, line in enumerate(lines) if line["kind"] == "verdict")
    return [line for line in lines[:end] if line.get("dir") == dir][-1]


def _early_silence(lines: Lines) -> None:
    at = lines.index(_last(lines, "in"))
    lines[at] = {"kind": "quiet", "conn": 1, "t_ns": lines[at]["t_ns"]}


TOUCHES: list[tuple[Callable[[Lines], Lines | None], dict[str, Any], str]] = [
    (lambda lines: None, {"verdict": Outcome.PASS}, "verdict: recorded pass, its octets say fail"),
    (lambda lines: None, {"level": "MAY"}, "level: recorded MAY, its octets say MUST"),
    (lambda lines: None, {"observed": "channel.close 503"}, "observed: recorded channel.close 503"),
    (lambda lines: None, {"requirements": ("channel/close/state",)}, "requirements: recorded"),
    (lambda lines: None, {"blocked_by": BlockedBy.HOOK}, "blocked_by: recorded"),
    (lambda lines: None, {"died": "connection refused"}, "observed: recorded"),
    (lambda lines: _last(lines, "in").update(hex="0100010000000a"), {}, "the transcript has"),
    (lambda lines: _last(lines, "out").update(hex="00"), {}, "the transcript has 1 octets out"),
    (lambda lines: lines[:2] + lines[3:], {}, "the transcript has"),
    (_early_silence, {}, "expected silence until"),
    (lambda lines: lines[0].pop("conditions"), {}, "expected the conditions of the case"),
    (lambda lines: lines[0].update(id="other"), {}, "the transcript is of other"),
    (lambda lines: lines[0].update(dialect="unheard-of"), {}, "unheard-of"),
    (lambda lines: lines[0]["conditions"].update(patience=7), {}, "AttributeError"),
    (lambda lines: lines.insert(5, {"kind": "over"}), {}, "cut after"),
    (lambda lines: [line for line in lines if line["kind"] != "open"], {}, "expected open"),
    (lambda lines: lines[:4], {}, "the transcript has nothing more"),
    (lambda lines: [], {}, "expected a transcript"),
    (lambda lines: [lines[0], {"kind": "spent", "t_ns": 0}, *lines[1:]], {}, "the transcript has spent"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "row", "said"), TOUCHES)
def test_what_was_touched_does_not_follow(
    recorded: Path, tmp_path: Path, change: Callable[[Lines], Any], row: dict[str, Any], said: str
) -> None:
    def changed(lines: Lines) -> Lines | None:
        result = change(lines)
        return result if isinstance(result, list) else None

    if said == "expected a transcript":
        (tmp_path / "empty.jsonl").write_text("")
        told = next(one for one in read_cases(recorded) if one.id == "channel.open.twice")
        found = derive(told, tmp_path / "empty.jsonl")
    else:
        found = touched(recorded, tmp_path, changed, **row)
    assert not found.follows and not found.underivable and said in found.why, found


# --- cases made on the spot


def _known(monkeypatch: pytest.MonkeyPatch, made: Case) -> None:
    monkeypatch.setattr(derive_module, "load_suite", lambda dialect: {made.id: made})


def _ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: Case) -> tuple[CaseRow, Derivation]:
    _known(monkeypatch, made)
    with reference_world(tmp_path) as world:
        row = execute(made, world)
    return row, derive(row, tmp_path / row.evidence)


def test_what_was_sent_beyond_the_cap_is_compared_by_its_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = [b"z"]

    def floods(peer: Peer) -> Verdict:
        peer.open_channel()
        for octet in (b"x", b"y", *last):
            peer.publish("", octet * (MAX_OCTETS // 2))
        peer.barrier()
        return Verdict(Outcome.PASS, "x", "y")

    row, found = _ran(tmp_path, monkeypatch, make("x", floods))
    assert found.follows
    last[0] = b"a"
    again = derive(row, tmp_path / row.evidence)
    assert not again.follows and not again.underivable


def test_what_arrived_beyond_the_cap_is_said_to_be_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def drinks(peer: Peer) -> Verdict:
        peer.open_channel()
        queue = peer.queue()
        for _ in range(4):
            peer.publish(queue, b"x" * (MAX_OCTETS // 2))
            assert peer.get(queue)
        return Verdict(Outcome.PASS, "x", "y")

    _, found = _ran(tmp_path, monkeypatch, make("x", drinks))
    assert found.underivable and "was cut after" in found.why


def test_errors_of_ours_and_spent_budgets_follow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(peer: Peer) -> Verdict:
        peer.open_channel()
        raise ZeroDivisionError("ours")

    def waits(peer: Peer) -> Verdict:
        peer.open_channel()
        while True:
            peer.read(peer.now() + 0.2)

    for number, (made, outcome) in enumerate(
        [(make("x", fails), Outcome.ERROR), (make("x", waits, budget_s=0.5), Outcome.INCONCLUSIVE)]
    ):
        row, found = _ran(tmp_path / str(number), monkeypatch, made)
        assert (row.verdict, found.follows) == (outcome, True), found


def test_a_refused_connection_follows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = make("x")
    _known(monkeypatch, made)
    with reference_world(tmp_path) as world:
        gone = world
    row = execute(made, gone)
    assert row.verdict is Outcome.BLOCKED
    assert derive(row, tmp_path / row.evidence).follows


def test_of_several_attempts_the_last_one_is_derived(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = make("x")
    _known(monkeypatch, made)
    with reference_world(tmp_path) as world:
        rows = [execute(made, world, attempt) for attempt in (1, 2)]
    first, second = (derive(row, tmp_path / row.evidence) for row in rows)
    assert first.underivable and "a later attempt" in first.why
    assert second.follows


def test_a_secret_password_is_no_hindrance_and_stays_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make("x")
    _known(monkeypatch, made)
    with reference_world(tmp_path) as world:
        live = replace(world.live, login=replace(world.live.login, password="pa55-wörd"))
        row = execute(made, replace(world, live=live))
    assert row.verdict is Outcome.BLOCKED and derive(row, tmp_path / row.evidence).follows
    assert "pa55" not in (tmp_path / row.evidence).read_text()
