"""Targets that live, answer, and hold back what is sent: they are waited for, this is noted, and it is no finding."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from amqpspec.cli import fuzz_nodes
from amqpspec.cli.fuzz_nodes import NO_ROOM, with_nodes
from amqpspec.cli.main import cli
from amqpspec.fuzz.amqp_0_10.canary import AssemblyClient
from amqpspec.fuzz.amqp_1_0 import canary as canary_1_0
from amqpspec.fuzz.campaign.campaign import Campaign
from amqpspec.fuzz.campaign.progress import Progress
from amqpspec.fuzz.executor.client import Client, Unanswered
from amqpspec.fuzz.executor.heard import Heard
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.methods import canary as canary_methods
from amqpspec.fuzz.methods.sequences.talk import Talk
from amqpspec.fuzz.oracles.canary import Canaries
from amqpspec.fuzz.oracles.monitor import Monitor
from amqpspec.fuzz.oracles.part import HeldBack
from amqpspec.fuzz.sequences import stage
from amqpspec.fuzz.sequences.desk import sure
from amqpspec.fuzz.states.model import Values
from amqpspec.net.stream import Endpoint
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import BudgetSpent, Context, Nodes, Patience, Withheld
from amqpspec.reference.amqp_1_0 import limits
from amqpspec.reference.amqp_1_0.session import Session
from amqpspec.reference.server import ReferenceBroker
from amqpspec.run.recorded import NO_TRANSCRIPT, Budget, Streams
from tests.fuzz.kit import canaries_of, order_of, subject_of

METHODS, TYPES = "amqp-0-9-1", "amqp-1-0"


class Maker:
    """Makes nodes as a management does: by a message to the target, which needs credit and window."""

    @staticmethod
    def make(context: Context, addresses: Sequence[str]) -> None:
        peer = Peer(context)
        peer.greet()
        peer.open()
        peer.begin()
        for _ in addresses:
            peer.transfer(peer.sender("management"), b"make", settled=True)
        peer.close()


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "maker_of", lambda dialect: Maker)
    monkeypatch.setattr(Patience, "measured", classmethod(lambda cls, *given: Patience(0.3, 0.1, 1.0)))
    monkeypatch.setattr(canary_1_0, "_HELD_BACK_S", 0.2)
    monkeypatch.setattr(fuzz_nodes, "_HELD_BACK_S", 0.0)
    monkeypatch.setattr(fuzz_nodes, "_AGAIN_S", 0.05)


@pytest.fixture
def typed(hasty: None) -> Iterator[ReferenceBroker]:
    with ReferenceBroker(TYPES) as broker:
        yield broker


@pytest.fixture
def shut(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Sets the window of new sessions, as a memory alarm of RabbitMQ does."""
    return lambda frames: monkeypatch.setattr(limits, "WINDOW_FRAMES", frames)


def made(broker: ReferenceBroker) -> Subject:
    return with_nodes(subject_of(broker, values=Values(queue="")), Nodes("management"))


# --- nodes


def test_a_node_that_has_no_room_in_the_window_is_held_back(
    typed: ReferenceBroker, shut: Callable[[int], None]
) -> None:
    subject = made(typed)
    assert subject.make_node is not None
    subject.make_node(subject.values, "q")
    shut(0)
    with pytest.raises(HeldBack, match="no credit or window"):
        subject.make_node(subject.values, "q")
    typed.stop()
    with pytest.raises(Unanswered) as gone:
        subject.make_node(subject.values, "q")
    assert not isinstance(gone.value, HeldBack)


def test_a_target_that_answers_no_more_holds_nothing_back(
    typed: ReferenceBroker, shut: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    subject = made(typed)
    assert subject.make_node is not None
    shut(0)

    def silent(self: Subject, *given: float) -> None:
        raise Unanswered("nothing", silent=True)

    monkeypatch.setattr(Subject, "greet", silent)
    with pytest.raises(Unanswered, match="nothing") as hung:
        subject.make_node(subject.values, "q")
    assert hung.value.silent and not isinstance(hung.value, HeldBack)


def test_canaries_are_held_back_until_their_nodes_can_be_made(
    typed: ReferenceBroker, shut: Callable[[int], None]
) -> None:
    canaries = Canaries(made(typed))
    canaries.place()
    assert canaries.check() == [] and not canaries.note
    canaries.drop()
    shut(0)
    for _ in range(2):
        canaries.place()
        assert canaries.check() == []
    assert canaries.note == f"not all canaries were checked: {NO_ROOM}"
    shut(512)
    canaries.place()
    assert canaries.check() == [] and canaries._canaries
    canaries.drop()


@pytest.mark.usefixtures("hasty")
def test_a_campaign_notes_that_its_canaries_were_held_back(
    typed: ReferenceBroker, shut: Callable[[int], None], tmp_path: Path
) -> None:
    def alarm(progress: Progress) -> None:
        campaign._target.monitor.forget()
        shut(0)

    order = order_of(made(typed), tmp_path, patterns=("C04/*/open",), batch=16, notify=alarm)
    campaign = Campaign(order)
    summary = campaign.run().summary()
    assert (summary["ended"], summary["findings"], campaign.target_lost) == ("all done", [], False)
    assert summary["note"] == f"not all canaries were checked: {NO_ROOM}"


# --- before the campaign


def test_a_target_is_waited_for_before_a_campaign(
    typed: ReferenceBroker, shut: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuzz_nodes, "_HELD_BACK_S", 60.0)
    shut(0)
    later = threading.Timer(0.5, shut, (512,))
    later.start()
    assert made(typed).make_node is not None
    later.join()


def test_a_target_that_never_makes_room_is_one_line(
    typed: ReferenceBroker, shut: Callable[[int], None], tmp_path: Path
) -> None:
    shut(0)
    ran = CliRunner().invoke(cli, ["fuzz", typed.url, "-d", TYPES, "--out", str(tmp_path / "c")])
    assert ran.exit_code == 3 and ran.stderr.count("\n") == 1 and "room in the window" in ran.stderr


# --- canaries


@pytest.mark.parametrize("tries", [1, 0])
def test_the_first_canaries_are_tried_again(
    typed: ReferenceBroker, shut: Callable[[int], None], monkeypatch: pytest.MonkeyPatch, tries: int
) -> None:
    monkeypatch.setattr("amqpspec.fuzz.oracles.canary._TRIES", tries)
    canaries = Canaries(subject_of(typed))
    shut(0)
    canaries.place()
    assert canaries.check() == [] and "no credit or window" in canaries.note
    shut(512)
    canaries.place()
    assert canaries.check() == [] and bool(canaries.off) is not bool(tries)
    canaries.drop()


@pytest.mark.parametrize("gives", ["window", "credit", "flow"])
def test_a_message_in_place_of_canaries_waits_for_window_and_credit(
    typed: ReferenceBroker, shut: Callable[[int], None], monkeypatch: pytest.MonkeyPatch, gives: str
) -> None:
    canaries = Canaries(subject_of(typed))
    canaries._through_only = True
    assert canaries.check() == [] and not canaries.note
    if gives == "window":
        shut(0)
    elif gives == "credit":
        monkeypatch.setattr(limits, "CREDIT_MESSAGES", 0)
    else:
        monkeypatch.setattr(canary_1_0, "PATIENCE_S", 1.0)
        monkeypatch.setattr(Session, "send_flow", lambda *given, **more: None)
    assert canaries.check() == [] and canaries.held_back and "no credit or window" in canaries.note
    monkeypatch.undo()
    assert canaries.check() == [] and not canaries.held_back


def test_canaries_that_are_held_back_are_not_late(
    typed: ReferenceBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monitor = Monitor(subject_of(typed))
    monitor.before()

    def check(self: Canaries, number: int = 0) -> list[Any]:
        monkeypatch.setattr("amqpspec.fuzz.oracles.monitor.now_s", lambda: 1e9)
        self._unchecked(HeldBack("held back"))
        return []

    monkeypatch.setattr(Canaries, "check", check)
    assert monitor._canary() == ([], None)
    monitor.close()


# --- contents that are turned off


def test_a_canary_confirms_that_contents_are_turned_off_and_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    with ReferenceBroker(METHODS) as broker, canaries_of(subject_of(broker)) as canaries:
        assert canaries.check() == []
        broker.flow(False)
        later = threading.Timer(0.3, broker.flow, (True,))
        later.start()
        canaries.place()
        assert canaries.check() == [] and not canaries.note
        later.join()


def test_contents_that_stay_turned_off_leave_canaries_unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canary_methods, "_HELD_BACK_S", 0.2)
    with ReferenceBroker(METHODS) as broker, canaries_of(subject_of(broker)) as canaries:
        broker.flow(False)
        assert canaries.check() == [] and "turned contents off (channel.flow)" in canaries.note
        canaries.place()  # on a new connection, whose channels are active
        assert canaries.check() == []


def test_a_canary_of_0_10_without_credit_sends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with ReferenceBroker("amqp-0-10") as broker, canaries_of(subject_of(broker)) as canaries:
        told = [Heard("message.stop", channel=1)]
        following = Client.next

        def next(self: Any, until_s: float) -> Heard | None:
            return told.pop() if told and isinstance(self, AssemblyClient) else following(self, until_s)

        monkeypatch.setattr(Client, "next", next)
        canaries.place()
        assert "message.stop" in canaries.note and canaries.check() == []
        canaries.place()
        assert canaries.check() == []


# --- programs


@pytest.mark.parametrize("by", ["flow", "block"])
def test_a_program_is_not_judged_while_the_target_holds_back(by: str) -> None:
    heard: list[str] = []
    with ReferenceBroker(METHODS) as broker:
        streams = Streams(Endpoint(broker.host, broker.port), NO_TRANSCRIPT, Budget(1e12))
        context = Context("rabbitmq-0-9-1", (), streams.dial, patience=Patience(0.5, 0.1, 1.0))
        talk = Talk(context, lambda link, arrival: heard.append(arrival.name))
        talk.connect(0)
        talk.ask(0, "channel.open", 1)
        talk.publish(0, 1, "", "nowhere", b"x")
        if by == "flow":
            broker.flow(False)
        else:
            broker.block("no memory")
        with pytest.raises(BudgetSpent):
            talk.publish(0, 1, "", "nowhere", b"x")
        if by == "block":
            with pytest.raises(BudgetSpent):
                talk.ask(0, "channel.open", 2)
        else:
            talk.ask(0, "channel.open", 2)
        assert not heard
        talk.hang_up()
        streams.hang_up()


def test_what_has_to_succeed_is_not_judged_if_it_is_held_back() -> None:
    def held() -> None:
        raise Withheld("credit", "none")

    with pytest.raises(BudgetSpent, match="credit"):
        sure("no credit", held)
