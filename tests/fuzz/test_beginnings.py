"""What is detected of a target before the first input: who it is, what it does not bear, what its address is worth."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from amqpspec.cli.fuzz_known import attaches, with_known
from amqpspec.cli.fuzz_nodes import with_nodes
from amqpspec.cli.main import cli
from amqpspec.fuzz.campaign.campaign import Campaign
from amqpspec.fuzz.campaign.readiness import title_of
from amqpspec.fuzz.executor.announced import announced
from amqpspec.fuzz.executor.client import Unanswered
from amqpspec.fuzz.executor.subject import NotAttached, check_address
from amqpspec.fuzz.methods.canary import MethodsClient
from amqpspec.fuzz.oracles.canary import Canaries
from amqpspec.fuzz.oracles.monitor import Monitor
from amqpspec.fuzz.states.model import Values
from amqpspec.peer.context import Nodes
from amqpspec.record.journal import read_journal
from amqpspec.reference.server import ReferenceBroker
from tests.fuzz.kit import SECOND, order_of, subject_of

METHODS, TYPES = "amqp-0-9-1", "amqp-1-0"


# --- canaries


@pytest.fixture
def unconsumable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks for deliveries is hung up on."""
    say = MethodsClient.say

    def said(self: MethodsClient, name: str, /, channel: int = 1, **args: Any) -> None:
        if name == "basic.consume":
            self.close()
            raise Unanswered("the target ended the stream")
        say(self, name, channel, **args)

    monkeypatch.setattr(MethodsClient, "say", said)


@pytest.mark.usefixtures("unconsumable")
def test_where_nothing_can_be_consumed_stored_messages_are_watched_all_the_same(
    clean: ReferenceBroker,
) -> None:
    canaries = Canaries(subject_of(clean, others=(SECOND,)))
    for _ in range(2):
        canaries.place()
        assert canaries.check() == []
    canaries.drop()
    assert "cannot consume" in canaries.note and "ended the stream" in canaries.note


@pytest.mark.usefixtures("unconsumable")
def test_a_changed_message_is_seen_without_inboxes() -> None:
    with ReferenceBroker(METHODS, faults=["body-modified"]) as broker:
        canaries = Canaries(subject_of(broker))
        canaries.place()
        assert [found.top for found in canaries.check()] == ["stored message changed"]
        canaries.drop()


def test_inboxes_that_were_there_when_it_began_are_not_gone_on_without(
    clean: ReferenceBroker, request: pytest.FixtureRequest
) -> None:
    canaries = Canaries(subject_of(clean))
    canaries.place()
    canaries.drop()
    request.getfixturevalue("unconsumable")
    with pytest.raises(Unanswered):
        canaries.place()
    assert not canaries.note


@pytest.mark.usefixtures("unconsumable")
def test_a_campaign_says_once_what_it_goes_on_without(clean: ReferenceBroker, tmp_path: Path) -> None:
    order = order_of(subject_of(clean), tmp_path, patterns=("C05/*/limits",), batch=4)
    summary = Campaign(order).run().summary()
    assert summary["ended"] == "all done" and summary["findings"] == []
    (note,) = [line["text"] for line in read_journal(tmp_path) if line["kind"] == "note"]
    assert note == summary["note"] and "canaries without deliveries" in note


# --- the address of a 1.0 target


def test_an_address_that_is_refused_is_a_wrong_order_before_anything_is_sent(tmp_path: Path) -> None:
    with ReferenceBroker(TYPES, faults=["nodes-not-made"]) as broker:
        with pytest.raises(
            NotAttached, match=r"expected an address .* actual 'amqpspec.fuzz.q': .*not-found"
        ):
            check_address(subject_of(broker))
        ran = CliRunner().invoke(cli, ["fuzz", broker.url, "-d", TYPES, "--out", str(tmp_path / "c")])
    assert ran.exit_code == 2 and ran.stderr.count("\n") == 1 and "can be attached to" in ran.stderr
    assert not (tmp_path / "c").exists()


def test_an_address_that_no_one_named_is_that_of_the_target() -> None:
    with ReferenceBroker(TYPES) as broker:
        nameless = subject_of(broker, values=Values(queue=""))
        found = with_nodes(nameless, Nodes())
        assert (found.values.queue, found.make_node) == ("amqpspec.fuzz.q", None)
        check_address(found)
        named = subject_of(broker, values=Values(queue="mine"))
        assert with_nodes(named, Nodes()) is named
    with ReferenceBroker(METHODS) as broker:
        assert with_nodes(subject_of(broker), Nodes()).make_node is None


def test_queues_are_made_where_links_do_not_create_them(tmp_path: Path) -> None:
    made = tmp_path / "made"
    with ReferenceBroker(TYPES) as broker:
        nameless = subject_of(broker, values=Values(queue=""), others=(replace(SECOND, queue=""),))
        hook = f"echo $AMQPSPEC_NODE >> {made}"
        subject = with_nodes(nameless, Nodes("hooks", "/queues/{name}", "vhost:{name}", make_hook=hook))
        assert subject.values.hostname == "vhost:/" and subject.others[0].hostname == "vhost:second"
        canaries = Canaries(replace(subject, others=()))
        canaries.place()
        assert canaries.check() == [] and canaries.note == ""
        canaries.drop()
    _probe, queue, store, inbox = made.read_text(encoding="utf-8").split()
    assert queue == subject.values.queue == "/queues/amqpspec.fuzz.q"
    assert store.startswith(f"{queue}.canary.") and inbox.startswith(f"{queue}.canary.")


def test_a_queue_that_cannot_be_made_is_one_line() -> None:
    with ReferenceBroker(TYPES) as broker:
        nameless = subject_of(broker, values=Values(queue=""))
        assert with_nodes(nameless, Nodes("hooks", make_hook="false")) is nameless
        subject = with_nodes(nameless, Nodes("hooks", make_hook="test $AMQPSPEC_NODE != q2"))
        assert subject.make_node is not None
        with pytest.raises(Unanswered, match=r"r: q2 could not be created: .*make-node"):
            subject.make_node(subject.values, "q2")


def test_an_address_that_is_taken_is_no_complaint(clean: ReferenceBroker) -> None:
    with ReferenceBroker(TYPES) as typed:
        check_address(subject_of(typed))
    check_address(subject_of(clean))


def test_an_address_is_asked_for_where_a_campaign_attaches() -> None:
    assert attaches(TYPES, ["C04/*/attached"], random=False) and attaches(TYPES, ["C04/*/raw"], random=True)
    assert not attaches(TYPES, ["C04/*/raw"], random=False) and not attaches(METHODS, [], random=True)


def test_names_of_canaries_that_are_refused_are_no_finding(tmp_path: Path) -> None:
    with ReferenceBroker(TYPES, faults=["nodes-not-made"]) as broker:
        canaries = Canaries(subject_of(broker))
        canaries.place()
        assert canaries.check() == [] and "not-found" in canaries.note


# --- who it is


@pytest.mark.parametrize("dialect", [METHODS, TYPES])
def test_product_and_version_are_told(dialect: str) -> None:
    with ReferenceBroker(dialect) as broker:
        product, version = announced(subject_of(broker))
    assert product == "amqpspec reference broker" and version


@pytest.mark.parametrize(("versions", "known"), [(">=0.0.1", True), (">=1000", False), ("", True)])
@pytest.mark.parametrize("dialect", [METHODS, TYPES])
def test_a_baseline_of_other_versions_knows_nothing(
    dialect: str, versions: str, known: bool, tmp_path: Path
) -> None:
    case = {METHODS: "framing.end_octet", TYPES: "open_close"}[dialect]
    path = tmp_path / "baseline.yaml"
    path.write_text(
        f'target: r\ndialect: {dialect}\nversions: "{versions}"\nentries:\n'
        f"  - {{case: {_case(dialect, case)}, verdict: fail, observed: '*', reason: r, link: l,"
        " expires: 2099-01-01}\n"
    )
    with ReferenceBroker(dialect) as broker:
        subject = subject_of(broker)
        found, unfit = with_known(subject, path)
    assert bool(found.known) is known and (versions in unfit) is (not known or not versions)
    assert replace(found, known=frozenset()) == replace(subject, known=frozenset()) and with_known(
        subject, None
    ) == (subject, "")


def _case(dialect: str, part: str) -> str:
    from amqpspec.run.case import load_suite

    return min(case for case, row in load_suite(dialect).items() if row.covers)


def test_what_canaries_make_a_target_write_is_no_complaint_of_a_batch(
    clean: ReferenceBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    log.touch()
    place = Canaries.place

    def noisy(self: Canaries) -> None:
        place(self)
        log.write_text("java.nio.BufferUnderflowException\n")

    monkeypatch.setattr(Canaries, "place", noisy)
    monitor = Monitor(subject_of(clean, log=log))
    monitor.before()
    assert monitor.after([]).suspicions == ()
    monitor.close()


def test_a_target_that_no_longer_answers_hangs_and_one_that_refuses_connections_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Canaries are the first to notice; why they cannot be placed decides what the target is blamed for."""
    monkeypatch.setattr(
        MethodsClient, "say", lambda *given, **more: None
    )  # no request arrives, so no reply does
    monkeypatch.setattr("amqpspec.fuzz.oracles.queues.PATIENCE_S", 0.2)
    with ReferenceBroker(METHODS) as broker:
        canaries = Canaries(subject_of(broker))
        with pytest.raises(Unanswered, match=r"for canaries: expected .*, actual: nothing") as silent:
            canaries.place()
    with pytest.raises(Unanswered, match="for canaries: cannot connect") as gone:
        canaries.place()
    useless = Unanswered("it refused", refused=True)
    assert silent.value.silent and not gone.value.silent
    assert title_of(gone.value) == "the target is gone"
    assert title_of(useless) == "no connection of the target can be used"
