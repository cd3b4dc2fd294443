"""Behaviour of files and branches that the specification of 0-10 allows, and violations that look like it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from amqpspec.record.rows import Outcome
from amqpspec.reference.amqp_0_10.branches import branches_of, xid_of
from amqpspec.reference.amqp_0_10.files import Files
from amqpspec.reference.amqp_0_10.handlers import COMMANDS
from amqpspec.reference.amqp_0_10.orders import Order
from amqpspec.reference.amqp_0_10.session import Session
from amqpspec.run.case import load_suite
from amqpspec.run.memory import Conditions, judged_in_memory
from amqpspec.suites.amqp_0_10._branches_model import Branch, Model, State

GREEN = (Outcome.PASS, Outcome.OBSERVED)
JOINS = [name for name in load_suite("amqp-0-10") if name.startswith("dtx.states.") and ".join" in name]


def outcome(name: str, *faults: str) -> Outcome:
    return judged_in_memory(load_suite("amqp-0-10")[name], Conditions(faults)).outcome


# --- files


@pytest.mark.parametrize("name", ["file.open.identifier", "file.open.content-size"])
def test_a_server_may_stage_one_file_after_the_other(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    has_room, send = Files.has_room, Files.send

    def one_by_one(self: Files, *args: Any) -> bool:
        return not self.stages.outgoing and has_room(self, *args)

    def send_and_wake(self: Files, *args: Any) -> None:
        send(self, *args)
        for queue in self.queues():
            queue.wake()

    monkeypatch.setattr(Files, "has_room", one_by_one)
    monkeypatch.setattr(Files, "send", send_and_wake)
    assert outcome(name) in GREEN


def test_identifiers_may_be_made_of_the_properties(monkeypatch: pytest.MonkeyPatch) -> None:
    command = Session.command

    def digested(self: Session, name: str, **args: Any) -> Any:
        if name in ("file.open", "file.deliver"):
            args["identifier"] = "digest"
        return command(self, name, **args)

    monkeypatch.setattr(Session, "command", digested)
    assert {outcome(f"file.{name}") for name in ("ack.multiple", "qos.session", "priority.two")} <= {*GREEN}


@pytest.mark.parametrize("name", ["file.publish.mandatory", "stream.publish.mandatory"])
def test_flags_that_should_be_implemented_are_nonstrict_without_it(name: str) -> None:
    assert outcome(name, "mandatory-means-nothing") is Outcome.NONSTRICT
    assert outcome(name, "returns-tell-the-wrong-code") is Outcome.FAIL


def test_a_publish_before_its_stage_may_be_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    publish = COMMANDS["file.publish"]

    def strict(session: Session, order: Order) -> None:
        from amqpspec.reference.amqp_0_10.staging import area_of

        staged = area_of(session).get((session.user.name, order["identifier"] or ""))
        if staged is not None and not staged.whole:
            session.refuse("file/publish/identifier/staged", "not staged yet")
        publish(session, order)

    monkeypatch.setitem(COMMANDS, "file.publish", strict)
    assert outcome("file.publish.identifier.early") is Outcome.OBSERVED


@pytest.mark.parametrize(
    "name",
    ["file.ack.multiple", "file.cancel", "file.deliver.redelivered", "file.ack.zero", "file.deliver.tag"],
)
def test_a_server_may_send_one_file_in_advance(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    has_room: Callable[..., bool] = Files.has_room

    def one(self: Files, consumer: Any, message: Any) -> bool:
        waits = consumer.tag not in self.automatic and bool(self.deliveries.outstanding)
        return not waits and has_room(self, consumer, message)

    monkeypatch.setattr(Files, "has_room", one)
    assert outcome(name) in (*GREEN, Outcome.NOT_APPLICABLE)


def test_a_rejected_file_may_be_discarded() -> None:
    assert outcome("file.reject.requeue", "rejected-files-always-leave") is Outcome.OBSERVED
    assert outcome("file.reject.requeue", "rejected-files-always-return") is Outcome.FAIL


# --- branches


@pytest.fixture
def without_join(monkeypatch: pytest.MonkeyPatch) -> None:
    start = COMMANDS["dtx.start"]

    def refusing(session: Session, order: Order) -> Any:
        if order["join"]:
            session.core.refuse("execution/error-code/not-implemented", "join is not implemented")
        return start(session, order)

    monkeypatch.setitem(COMMANDS, "dtx.start", refusing)


@pytest.mark.usefixtures("without_join")
@pytest.mark.parametrize("name", [*JOINS, "dtx.join", "dtx.start.result.doomed", "dtx.histories.sessions"])
def test_join_need_not_be_supported(name: str) -> None:
    assert outcome(name) in (*GREEN, Outcome.NOT_APPLICABLE)


def test_an_end_with_fail_may_roll_back_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    end = COMMANDS["dtx.end"]

    def at_once(session: Session, order: Order) -> Any:
        result = end(session, order)
        known = branches_of(session.vhost)
        branch = known.find(xid_of(order["xid"]))
        if order["fail"] and branch is not None:
            branch.work.give_back()
            known.forget(branch)
        return result

    monkeypatch.setitem(COMMANDS, "dtx.end", at_once)
    assert outcome("dtx.end.fail") is Outcome.OBSERVED
    assert outcome("dtx.end.fail.marked") is Outcome.NONSTRICT


def test_a_suspended_branch_may_end(monkeypatch: pytest.MonkeyPatch) -> None:
    assert outcome("dtx.states.suspended.end", "not-refused:dtx/end/suspend/resume") is Outcome.OBSERVED


def test_a_doomed_branch_may_give_back_its_messages_at_once() -> None:
    model = Model()
    model.branches["a"] = Branch(State.DOOMED, taken=[b"1"])
    model.ready = [b"2"]
    assert model.loose == 1
    model.give_back(b"1")
    assert (model.loose, model.ready) == (0, [b"2", b"1"])
    model.branches["a"].state = State.OPEN
    assert model.loose == 0
