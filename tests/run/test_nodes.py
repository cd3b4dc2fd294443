"""Queues of AMQP 1.0 that do not come with links: how they are made is configured or chosen; none remains."""

from __future__ import annotations

import json
import re
import shutil
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from amqpspec.cli.place import only_run_in
from amqpspec.peer.amqp_1_0.books import FrameArrived
from amqpspec.peer.context import Context, Nodes, Unmet
from amqpspec.peer.methods.peer import Peer
from amqpspec.record.journal import Journal, read_nodes
from amqpspec.reference.server import ReferenceBroker
from amqpspec.run.amqp_1_0 import nodes
from amqpspec.run.made import Notes, kept_by
from amqpspec.wire.amqp_1_0.frames import TypedFrame, TypedReader, performative_frame
from tests.peer.amqp_1_0.fake import peer
from tests.tools import amqpspec
from tests.waiting import PATIENCE_S, until

RABBITMQ_4: dict[str, Any] = {
    "offered_capabilities": ["LINK_PAIR_V1_0", "ANONYMOUS-RELAY"],
    "properties": {"product": "RabbitMQ"},
}


def opened(**fields: Any) -> FrameArrived:
    reader = TypedReader()
    reader.feed(performative_frame("open", container_id="c", **fields))
    frame = reader.next()
    assert isinstance(frame, TypedFrame)
    return FrameArrived(frame)


def test_rabbitmq_4_is_told_by_its_open() -> None:
    chosen = nodes.chosen(Nodes(), opened(**RABBITMQ_4))
    assert (chosen.way, chosen.hostname) == ("management", "vhost:{name}")
    assert chosen.address_of("a") == "/queues/amqpspec-1-0.a"
    own = nodes.chosen(Nodes(address="/queues/own-{name}"), opened(**RABBITMQ_4))
    assert (own.way, own.address) == ("management", "/queues/own-{name}")


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"properties": {"product": "RabbitMQ"}},
        {**RABBITMQ_4, "properties": {"product": "Another"}},
        {**RABBITMQ_4, "offered_capabilities": ["ANONYMOUS-RELAY"]},
    ],
)
def test_elsewhere_queues_come_with_links(fields: dict[str, Any]) -> None:
    assert nodes.chosen(Nodes(), opened(**fields)) == Nodes("links")


def test_what_is_configured_is_not_chosen_anew() -> None:
    for known in (Nodes("links"), Nodes("amqp-0-9-1", "/q/{name}"), Nodes("hooks", make_hook="true")):
        assert nodes.chosen(known, opened(**RABBITMQ_4)) == known


@pytest.mark.parametrize(
    ("address", "queue"),
    [("q", "q"), ("/queues/a%20b%2F", "a b/"), ("/queue/q", "q"), ("/queues//queue/q", "/queue/q")],
)
def test_the_queue_behind_an_address(address: str, queue: str) -> None:
    assert nodes.queue_of(address) == queue


@pytest.fixture
def elsewhere() -> Iterator[str]:
    with ReferenceBroker("rabbitmq-0-9-1") as broker:
        yield broker.url


def aside(way: str, **facts: str) -> Context:
    return replace(peer()[0].context, nodes=Nodes(way, **facts))


def test_queues_are_declared_and_deleted_in_0_9_1(elsewhere: str) -> None:
    context = aside(elsewhere)
    nodes.make(context, ["/queues/on%65", "/queues/two"])
    with nodes._by_methods(context) as there:
        look = Peer(there)
        look.open_connection()
        look.call("channel.open")
        for queue in ("one", "two"):
            look.call("queue.declare", queue=queue, passive=True)
    nodes.delete(context, ["/queues/on%65"])
    with nodes._by_methods(context) as there:
        look = Peer(there)
        look.open_connection()
        look.call("channel.open")
        look.call("queue.declare", queue="two", passive=True)
        with pytest.raises(Unmet, match="404"):
            look.call("queue.declare", queue="one", passive=True)


def test_a_hook_is_told_address_and_queue(tmp_path: Path) -> None:
    context = aside(
        "hooks", make_hook=f'echo "$AMQPSPEC_NODE $AMQPSPEC_QUEUE" >> {tmp_path}/made', delete_hook="false"
    )
    nodes.make(context, ["/queues/a%20b", "c"])
    assert (tmp_path / "made").read_text() == "/queues/a%20b a b\nc c\n"
    with pytest.raises(Unmet, match="hook delete-node: exit code 1, expected 0"):
        nodes.delete(context, ["c"])
    nodes.delete(aside("hooks", make_hook="true"), ["c"])


def test_a_node_is_told_before_it_is_made_and_until_it_is_gone(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        made = kept_by(journal)
        for name in ("one", "two", "three", "one"):
            made.add(queue(name))
            assert queue(name) in read_nodes(tmp_path)
        made.add(("/", "one", "exchange"))
        made.discard([queue("two"), ("other", "one", "queue"), queue("never"), ("/", "one", "exchange")])
        assert read_nodes(tmp_path) == made.left == [queue("one"), queue("three")]
    journal_of_before = {"kind": "node", "node": ["/", "old"]}
    with journal.path.open("a") as file:
        file.write(json.dumps(journal_of_before) + "\n")
    assert read_nodes(tmp_path)[-1] == queue("old")


def queue(name: str, vhost: str = "/") -> tuple[str, str, str]:
    return vhost, name, "queue"


def test_runs_are_noted_until_they_have_ended_and_left_nothing(tmp_path: Path) -> None:
    state, folder = tmp_path / "state", tmp_path / "run"
    notes, other = Notes("a target", "d", state), Notes("a target", "e", state)
    with notes.noted(folder), Journal(folder) as journal:
        assert list(notes.runs()) == [(folder, [])]
        made = kept_by(journal)
        made.add(queue("one"))
        made.add(queue("two", "second"))
        assert list(notes.runs()) == [(folder, [queue("one"), queue("two", "second")])]
        assert list(other.runs()) == list(Notes("another", "d", state).runs()) == []
        assert Notes.dialects("a target", state) == ["d"]
    assert list(notes.runs())
    with notes.noted(folder), Journal(folder) as journal:
        journal.deleted(made.left)
    assert list(notes.runs()) == [] and not state.exists()


def test_a_run_whose_folder_is_gone_is_forgotten(tmp_path: Path) -> None:
    notes = Notes("t", "d", tmp_path / "state")
    with notes.noted(tmp_path / "run"), Journal(tmp_path / "run") as journal:
        kept_by(journal).add(queue("one"))
    shutil.rmtree(tmp_path / "run")
    assert list(notes.runs()) == []
    assert not (tmp_path / "state").exists()


def test_a_note_that_goes_while_the_notes_are_read_is_passed_over(tmp_path: Path) -> None:
    notes = Notes("t", "d", tmp_path / "state")
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        with notes.noted(folder), Journal(folder) as journal:
            kept_by(journal).add(queue(folder.name))
    reading = notes.runs()
    first, _ = next(reading)
    for folder in folders:
        notes.forget(folder)
    assert list(reading) == [] and first in folders


@pytest.mark.parametrize("octets", [b"", b"a/relative/folder", b"\xff\xfe"])
def test_a_note_that_names_no_folder_is_passed_over(octets: bytes, tmp_path: Path) -> None:
    state = tmp_path / "state"
    notes = Notes("t", "d", state)
    with notes.noted(tmp_path / "run"), Journal(tmp_path / "run") as journal:
        kept_by(journal).add(queue("one"))
    (state / "left" / "t" / "d" / "0123456789abcdef").write_bytes(octets)
    assert list(notes.runs()) == [(tmp_path / "run", [queue("one")])]


def test_where_nothing_can_be_noted_a_run_goes_on(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    with Notes("t", "d", tmp_path / "state").noted(tmp_path / "run"):
        pass


HOOKED = """\
targets:
  hooked:
    broker: reference
    dialect: amqp-1-0
    hooks:
      make-node: echo "$AMQPSPEC_NODE" >> made
      delete-node: echo "$AMQPSPEC_NODE" >> deleted
"""


def lines(path: Path) -> list[str]:
    return path.read_text().split() if path.exists() else []


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "targets.yaml").write_text(HOOKED)
    return tmp_path


def test_a_run_deletes_what_it_has_made(place: Path) -> None:
    run = amqpspec(place, "run", "-t", "hooked", "links.names*", "transfer.delivery-tag*", "-q")
    said, _ = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 0, said
    made = lines(place / "made")
    assert len(made) > 3
    assert set(made) == set(lines(place / "deleted"))
    assert not list(place.glob(".brokers/left/*/*"))


def test_what_a_killed_run_left_is_deleted_by_clean(place: Path) -> None:
    run = amqpspec(place, "run", "-t", "hooked", "-q")
    until(lambda: len(lines(place / "made")) > 5, "nodes that were made")
    run.send_signal(signal.SIGKILL)
    run.communicate(timeout=PATIENCE_S)
    assert list(place.glob(".brokers/left/hooked/amqp-1-0/*"))
    left = {address for _, address, _ in read_nodes(next(place.glob("out/*-hooked")))}
    assert left
    assert set(lines(place / "made")) - set(lines(place / "deleted")) <= left
    clean = amqpspec(place, "clean", "hooked")
    said, _ = clean.communicate(timeout=PATIENCE_S)
    assert clean.returncode == 0, said
    assert said == f"hooked: {len(left)} nodes of killed runs deleted, 0 left because runs are active\n"
    assert left <= set(lines(place / "deleted"))
    assert not list(place.glob(".brokers/left/*/*"))
    assert amqpspec(place, "clean", "hooked").communicate(timeout=PATIENCE_S)[0].startswith("hooked: 0 nodes")


def test_the_next_run_deletes_what_a_dead_one_left_and_nothing_of_one_at_work(place: Path) -> None:
    notes = Notes("hooked", "amqp-1-0", place / ".brokers")
    for name in ("dead", "alive"):
        with notes.noted(place / name), Journal(place / name) as journal:
            kept_by(journal).add(queue(f"left-by-{name}"))
    with only_run_in(place / "alive"):
        run = amqpspec(place, "run", "-t", "hooked", "open.first-frame", "-q")
        said, _ = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 0, said
    assert "left-by-dead" in lines(place / "deleted")
    assert "left-by-alive" not in lines(place / "deleted")
    assert [folder for folder, _ in notes.runs()] == [place / "alive"]


@pytest.mark.parametrize(
    ("key", "says"),
    [
        (
            "address: /exchange/{name}",
            "amqp:not-found.*targets.yaml specifies how to create them: 'nodes: management'",
        ),
        ("nodes: linx", "line 5, key 'nodes': expected links, management, amqp-0-9-1, or the URL"),
    ],
)
def test_what_to_configure_is_said_in_one_line(tmp_path: Path, key: str, says: str) -> None:
    target = f"targets:\n  t:\n    broker: reference\n    dialect: amqp-1-0\n    {key}\n"
    (tmp_path / "targets.yaml").write_text(target)
    run = amqpspec(tmp_path, "run", "-t", "t", "open.first-frame", "-q")
    said, _ = run.communicate(timeout=PATIENCE_S)
    assert run.returncode in (2, 3)
    (line,) = (line for line in said.splitlines() if line.startswith("amqpspec: "))
    assert re.search(says, line)
