"""The family of described types: probes, cleaning up, replays, oracles, and the suite's way to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import Context, Login, Nodes
from amqpspec.peer.events import Reaction
from amqpspec.record.rows import Outcome
from amqpspec.run.amqp_1_0 import driver as types
from amqpspec.run.amqp_1_0.oracles import (
    allows,
    borne,
    must_refuse,
    rejects_violation,
    well_formed,
    without_effect,
)
from amqpspec.run.case import load_suite
from amqpspec.run.driver import ProbeFailed, driver_of
from amqpspec.run.execute import World
from amqpspec.run.recorded import Streams
from amqpspec.spec.dialects import load_ledger
from amqpspec.target.config import Target
from amqpspec.target.live import live
from amqpspec.wire.amqp_1_0.frames import HEADERS, performative_frame
from amqpspec.wire.amqp_1_0.values import Value
from amqpspec.wire.transport import StreamEnd
from tests.peer.amqp_1_0.fake import attached, begun, error, opened, peer, says

ROW = "sessions/errors/end"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[tuple[World, Streams]]:
    with live(Target("reference", "amqp-1-0", broker="reference")) as target:
        world = World(target, tmp_path, "t")
        streams = world.streams("probe", 20)
        yield world, streams
        streams.hang_up()
        streams.transcript.close()


def context(world: tuple[World, Streams]) -> Context:
    return world[0].context("case", world[1])


def ledger(*ids: str) -> dict[str, Any]:
    rows = load_ledger("amqp-1-0")
    return {"requirements": tuple(rows[id] for id in ids)}


# --- the family


def test_the_dialect_has_its_family_and_suite() -> None:
    assert driver_of("amqp-1-0").probe is types.probe
    assert "version.supported" in load_suite("amqp-1-0")


def test_a_probe_passes_a_message(world: tuple[World, Streams]) -> None:
    found = types.probe(context(world))
    assert (found.product, found.announced["container_id"]) == (
        "amqpspec reference broker",
        "amqpspec-reference",
    )
    assert 0 < found.round_trip_s < 1


def test_a_probe_says_what_failed(world: tuple[World, Streams]) -> None:
    with pytest.raises(ProbeFailed, match=r"could not log in as 'ann' with PLAIN: .*code 1"):
        types.probe(replace(context(world), login=Login("ann", "wrong")))


def test_cleaning_up_empties_nodes(world: tuple[World, Streams]) -> None:
    made = Peer(context(world))
    name = made.name("q")
    made.send_message(name, b"left")
    types.delete(made.context, [("queue", name), ("queue", made.name("never-used"))])
    assert made.fetch(name) == []


@pytest.mark.parametrize("mechanism", ["ANONYMOUS", "SCRAM-SHA-1", "SCRAM-SHA-256", "NONE"])
def test_every_mechanism_leads_to_a_session(world: tuple[World, Streams], mechanism: str) -> None:
    made = Peer(replace(context(world), login=Login("guest", "guest", mechanism=mechanism)))
    assert made.begin().is_mapped


def test_addresses_and_hostnames_follow_the_target() -> None:
    made, _ = peer(nodes=Nodes(address="/queue/{name}", hostname="vhost:{name}"))
    made.login = Login(vhost="second")
    assert made.address_of("a") == "/queue/a"
    assert made.hostname == "vhost:second"
    assert made.node().startswith("/queue/amqpspec.q.")
    assert made.context.cleanup.entities[0][1:] == ("queue", made.node("x")[7:-3] + "q.1")


def test_a_login_is_built_anew_for_a_replay() -> None:
    recorded = says("sasl-init", mechanism="PLAIN", initial_response=b"****", hostname="h")
    wanted = says("sasl-init", mechanism="PLAIN", initial_response=b"\0ann\0secret", hostname="h")
    login = Login("ann", "secret")
    assert types.with_login("amqp-1-0", recorded, login) == wanted
    assert types.with_login("amqp-1-0", HEADERS["sasl"] + recorded, login) == HEADERS["sasl"] + wanted
    assert types.with_login("amqp-1-0", wanted, login) == wanted
    for other in (performative_frame("open", container_id="c"), b"\0\0\0\4", recorded[:-1]):
        assert types.with_login("amqp-1-0", other, login) == other


# --- oracles


def ended(condition: str | None) -> Peer:
    """A peer whose session the target ends, for a row that wants an error."""
    end = says("end", error=error(condition)) if condition else says("end")
    made, _ = peer(opened() + begun(), end, **ledger(ROW))
    made.begin()
    return made


def test_a_refusal_is_judged_by_the_row() -> None:
    assert rejects_violation(ended("amqp:internal-error")).outcome is Outcome.PASS
    verdict = rejects_violation(ended(None))
    assert verdict.outcome is Outcome.FAIL and verdict.observed == "end without error"


def passed(**facts: Any) -> tuple[Peer, Reaction]:
    """A peer whose target does nothing about anything."""
    answer = attached("amqpspec.barrier.2", "receiver", 0) + says("detach", handle=0)
    made, _ = peer(opened() + begun(), None, answer, StreamEnd.FIN, **{**ledger(ROW), **facts})
    made.begin()
    made.name()
    return made, made.reaction()


def test_bearing_with_a_breach_is_recorded() -> None:
    made, reaction = passed()
    assert borne(made, reaction).outcome is Outcome.OBSERVED
    assert without_effect(made, reaction).outcome is Outcome.OBSERVED
    assert without_effect(made, reaction, "a second session").outcome is Outcome.FAIL
    with pytest.raises(Exception, match="expected a refusal, observed no refusal"):
        must_refuse(made, reaction)


def test_a_refusal_of_what_may_be_borne_has_to_be_the_rows() -> None:
    made = ended("amqp:internal-error")
    reaction = made.reaction()
    assert borne(made, reaction).outcome is Outcome.OBSERVED
    assert without_effect(made, reaction).outcome is Outcome.PASS
    assert must_refuse(made, reaction) is reaction
    made = ended(None)
    assert borne(made, made.reaction()).outcome is Outcome.FAIL


def test_what_is_allowed_is_not_refused() -> None:
    answer = attached("amqpspec.barrier.1", "receiver", 0) + says("detach", handle=0)
    made, _ = peer(opened() + begun(), None, answer, **ledger(ROW))
    made.begin()
    assert allows(made).outcome is Outcome.PASS
    made, _ = peer(opened() + begun(), says("end"), **ledger(ROW))
    made.begin()
    assert allows(made).outcome is Outcome.FAIL


def test_ill_typed_values_are_a_deviation() -> None:
    made, _ = peer(opened() + begun(handle_max=Value("ubyte", 4)), **ledger(ROW))
    made.begin()
    verdict = well_formed(made)
    assert verdict.outcome is Outcome.FAIL and "handle-max" in verdict.observed
    assert made.opened is not None and well_formed(made, made.opened).outcome is Outcome.PASS
