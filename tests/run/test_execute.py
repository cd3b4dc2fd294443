"""One case: how what happened becomes a row, what is cleaned up, and what never reaches the evidence."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from amqpspec.peer.context import BudgetSpent, Login, MissingHook, OutOfReach, Unmet
from amqpspec.peer.events import Ended, Reaction
from amqpspec.peer.methods.peer import Peer
from amqpspec.record.journal import Journal
from amqpspec.record.observation import utc
from amqpspec.record.rows import BlockedBy, CaseRow, Facts, Outcome
from amqpspec.record.transcript import MAX_OCTETS, Transcript, TranscriptError
from amqpspec.reference.model import User
from amqpspec.reference.server import ReferenceBroker
from amqpspec.run.case import Case, case, cases_of, load_suite
from amqpspec.run.engine import Engine, Settings
from amqpspec.run.execute import World, execute
from amqpspec.run.methods.driver import direction
from amqpspec.run.plan import make_plan
from amqpspec.run.recorded import Budget, Stopped
from amqpspec.run.verdict import Verdict
from amqpspec.spec.model import Refusal, Scope
from amqpspec.target.config import Target
from amqpspec.target.live import live_reference
from amqpspec.wire.transport import StreamEnd, StreamEnded
from tests.run.worlds import QUICK, make, passes, reference_world, run_cases

SHOULD = next(
    row.id for case in load_suite("amqp-0-9-1").values() for row in case.requirements if row.level == "SHOULD"
)  # fmt: skip


def ran(world: World, made: Case) -> CaseRow:
    return execute(made, world)


def raises(error: Exception, claim: str = "") -> Any:
    def body(peer: Peer) -> Verdict:
        if claim:
            peer.claim(claim)
        raise error

    return body


@pytest.mark.parametrize(
    ("error", "claim", "covers", "outcome", "observed", "blocked_by"),
    [
        (ValueError("oops"), "", (), Outcome.ERROR, "ValueError: oops (test_execute.py:", None),
        (ValueError("oops"), "it holds", (), Outcome.ERROR, "ValueError: oops", None),
        (Unmet("a", "b"), "", (), Outcome.BLOCKED, "b", BlockedBy.PREREQUISITE),
        (Unmet("a", "b"), "it holds", (), Outcome.FAIL, "b", None),
        (Unmet("a", "b"), "it holds", (SHOULD,), Outcome.NONSTRICT, "b", None),
        (StreamEnded(StreamEnd.RST), "", (), Outcome.BLOCKED, "connection rst", BlockedBy.PREREQUISITE),
        (MissingHook("no user"), "it holds", (), Outcome.BLOCKED, "no user", BlockedBy.HOOK),
        (OutOfReach("channel-max is 1"), "", (), Outcome.NOT_APPLICABLE, "channel-max is 1", BlockedBy.LIMIT),
        (BudgetSpent(), "", (), Outcome.INCONCLUSIVE, "the budget of 60 s was used up", BlockedBy.BUDGET),
        (BudgetSpent(), "so", (), Outcome.INCONCLUSIVE, "the budget of 60 s was used up", BlockedBy.BUDGET),
    ],
)  # fmt: skip
def test_what_is_raised_becomes_an_outcome(
    error: Exception,
    claim: str,
    covers: tuple[str, ...],
    outcome: Outcome,
    observed: str,
    blocked_by: BlockedBy | None,
    tmp_path: Path,
) -> None:
    with reference_world(tmp_path) as world:
        made = make("x", raises(error, claim), **({"covers": covers} if covers else {}))
        row = ran(world, made)
    assert (row.verdict, row.observed[: len(observed)], row.blocked_by) == (outcome, observed, blocked_by)
    assert bool(row.reason) == (outcome in (Outcome.BLOCKED, Outcome.NOT_APPLICABLE))


@pytest.mark.parametrize("claim", ["", "it holds"])
def test_what_came_in_place_of_a_step_is_kept_as_data(claim: str, tmp_path: Path) -> None:
    error = Unmet("a", "b", Reaction((Ended(StreamEnd.FIN),), Refusal(Scope.SOCKET)))
    with reference_world(tmp_path) as world:
        row = ran(world, make("x", raises(error, claim)))
    assert row.facts == Facts(Refusal(Scope.SOCKET), ("end",))


def test_a_row_says_when_the_case_ended(tmp_path: Path) -> None:
    with reference_world(tmp_path) as world:
        before = datetime.now(UTC)
        row = ran(world, make("x"))
    assert before <= utc(row.ended_at) <= datetime.now(UTC)


def test_a_refused_connection_blocks(tmp_path: Path) -> None:
    with reference_world(tmp_path) as world:
        pass
    row = ran(world, make("x"))
    assert (row.verdict, row.observed) == (Outcome.BLOCKED, "connection refused")


def test_a_case_that_waits_too_long_is_inconclusive(tmp_path: Path) -> None:
    def waits(peer: Peer) -> Verdict:
        peer.open_channel().claim("a delivery")
        while True:
            peer.arrival("basic.deliver", within_s=0.01)

    with reference_world(tmp_path) as world:
        row = ran(world, make("x", waits, budget_s=0.05))
    assert (row.verdict, row.expected) == (Outcome.INCONCLUSIVE, "a delivery")


def test_a_stopped_case_has_no_row(tmp_path: Path) -> None:
    with reference_world(tmp_path) as world:
        world.stop.set()
        with pytest.raises(Stopped):
            ran(world, make("x"))


def test_a_budget_in_the_past_is_spent() -> None:
    with pytest.raises(BudgetSpent):
        Budget(0.0).check()


def test_a_row_says_what_ended_and_where_the_evidence_is(tmp_path: Path) -> None:
    with reference_world(tmp_path) as world:
        row = ran(world, make("x"))
    lines = [json.loads(line) for line in (tmp_path / row.evidence).read_text(encoding="utf-8").splitlines()]
    kinds = [line["kind"] for line in lines]
    assert (kinds[0], kinds[1], "verdict" in kinds) == ("case", "open", True)
    assert all(earlier <= later for earlier, later in zip(times(lines), times(lines)[1:], strict=False))
    sent = bytes.fromhex("".join(line["hex"] for line in lines if line.get("dir") == "out"))
    assert sent.startswith(b"AMQP\x00\x00\x09\x01")
    assert "connection.tune-ok" in json.dumps(lines)


def times(lines: list[dict[str, Any]]) -> list[int]:
    return [line["t_ns"] for line in lines if "t_ns" in line]


def test_what_a_case_made_is_deleted_after_it(tmp_path: Path) -> None:
    names: list[str] = []

    def makes(peer: Peer) -> Verdict:
        peer.open_channel()
        names.extend([peer.queue(durable=True), peer.exchange("fanout", durable=True)])
        other = peer.another(vhost=peer.context.vhost("second")).open_channel()
        names.append(other.queue(durable=True))
        return Verdict(Outcome.PASS, "x", "y")

    def looks(peer: Peer) -> Verdict:
        peer.open_channel()
        peer.send("queue.declare", queue=names[0], passive=True)
        gone = [peer.reaction().code]
        peer.call("channel.open", channel=2)
        peer.send("exchange.declare", channel=2, exchange=names[1], type="fanout", passive=True)
        gone.append(peer.reaction(2).code)
        other = peer.another(vhost=peer.context.vhost("second")).open_channel()
        other.send("queue.declare", queue=names[2], passive=True)
        gone.append(other.reaction().code)
        return Verdict(Outcome.PASS, "all gone", repr(gone))

    with reference_world(tmp_path) as world:
        assert ran(world, make("makes", makes)).verdict is Outcome.PASS
        assert ran(world, make("looks", looks)).observed == "[404, 404, 404]"


def test_cleaning_what_cannot_be_cleaned_changes_no_verdict(tmp_path: Path) -> None:
    def makes(peer: Peer) -> Verdict:
        peer.will_clean("queue", "never-declared")
        peer.another("limited").will_clean("queue", "x")
        peer.context.cleanup.add("no such vhost", "queue", "x")
        return passes(peer)

    with reference_world(tmp_path) as world:
        assert ran(world, make("x", makes)).verdict is Outcome.PASS


def test_a_verdict_needs_both_sides() -> None:
    with pytest.raises(ValueError, match="expected a verdict with both expected and observed"):
        Verdict(Outcome.PASS, "", "y")


def test_a_case_needs_a_docstring_and_an_id_of_its_own() -> None:
    with pytest.raises(TypeError, match="expected a docstring"):
        case("x", covers=["channel/open/state"])(lambda peer: Verdict(Outcome.PASS, "x", "y"))
    assert cases_of(__import__("tests.run.worlds").run.worlds) == []


# --- transcripts


def test_a_transcript_is_capped_and_says_what_was_cut(tmp_path: Path) -> None:
    def floods(peer: Peer) -> Verdict:
        peer.open_channel()
        for _ in range(3):
            peer.publish("", b"x" * (MAX_OCTETS // 2))
        peer.barrier()
        return Verdict(Outcome.PASS, "x", "y")

    with reference_world(tmp_path) as world:
        row = ran(world, make("x", floods))
    path = tmp_path / row.evidence
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    kept = sum(len(line["hex"]) // 2 for line in lines if line["kind"] == "octets")
    assert lines[-1]["kind"] == "cut" and lines[-1]["octets"] >= MAX_OCTETS // 2
    assert kept <= MAX_OCTETS
    assert row.verdict is Outcome.PASS


def test_a_transcript_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TranscriptError, match=r"cannot write .*x\.jsonl: "):
        Transcript(tmp_path / "file" / "x.jsonl", partial(direction, "rabbitmq-0-9-1"))


def test_a_disk_that_is_full_is_not_the_cases_fault(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    evidence = tmp_path / "evidence"
    evidence.mkdir()
    (evidence / "x.jsonl").symlink_to("/dev/full")
    with (
        reference_world(tmp_path) as world,
        Journal(tmp_path) as journal,
        pytest.raises(TranscriptError, match=r"cannot write .*x\.jsonl: No space left on device"),
    ):
        Engine(world, journal, Settings()).run(make_plan([make("x")], world.live, {}))


# --- secrets

SECRET, OTHER = "s3cr3t-of-the-default", "s3cr3t-of-the-other"


def leaky(peer: Peer) -> Verdict:
    """Whatever a case may do with a password, down to one octet at a time and in malformed frames."""
    password = peer.login.password
    peer.open_channel()
    peer.call("queue.declare", queue=f"q-{password}", exclusive=True)
    peer.claim(f"nobody sees {password}")
    split = peer.another()
    split.greet()
    response = split.credentials("PLAIN")
    fields = {"client_properties": {}, "mechanism": "PLAIN", "response": response, "locale": "en_US"}
    octets = split.method_frame("connection.start-ok", 0, **fields)
    for octet in octets:
        split.send_octets(bytes((octet,)))
    split.tune()
    broken = peer.another()
    broken.send_header()
    broken.send_octets(octets[:-1] + b"\x00")
    broken.expect_end(0.1)
    facts = Facts(Refusal(Scope.LINK, f"x:{password}"), (f"detach x:{password}",), f"{password} was taken")
    return Verdict(Outcome.FAIL, f"not {password}", f"{password} was shown", facts)


@pytest.mark.parametrize("mechanism", ["PLAIN", "AMQPLAIN"])
def test_passwords_reach_neither_evidence_nor_journal(mechanism: str, tmp_path: Path) -> None:
    with ReferenceBroker("rabbitmq-0-9-1") as broker:
        assert broker._core is not None
        everywhere = frozenset({"/", "second"})
        broker._core.users |= {"ann": User("ann", SECRET, everywhere), "bob": User("bob", OTHER, everywhere)}
        target = live_reference(Target("reference", broker="reference"), broker)
        login = Login("ann", SECRET, mechanism=mechanism)
        target = replace(target, login=login, logins={"second": Login("bob", OTHER, mechanism=mechanism)})
        world = World(target, tmp_path, "t", QUICK)
        chosen = [c for c in load_suite("amqp-0-9-1").values() if c.suite == "connection"]
        rows, _ = run_cases(world, [make("leaky", leaky), *chosen], Settings(connections=8))
        Engine(world, Journal.__new__(Journal), Settings()).probe("probe")
    assert rows["leaky"].verdict is Outcome.FAIL and "***" in rows["leaky"].observed
    assert rows["leaky"].facts.way.startswith("***") and SECRET not in repr(rows["leaky"])
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > len(chosen)
    for path in files:
        for secret in (SECRET, OTHER):
            assert_hidden(path, secret)


def assert_hidden(path: Path, secret: str) -> None:
    """Neither as text, nor in the octets of any direction of any connection put together."""
    text = path.read_text(encoding="utf-8")
    assert secret not in text, path
    streams: dict[tuple[int, str], str] = {}
    for line in map(json.loads, text.splitlines()):
        if line.get("kind") == "octets":
            key = (line["conn"], line["dir"])
            streams[key] = streams.get(key, "") + line["hex"]
    for octets in streams.values():
        assert secret.encode().hex() not in octets, path
