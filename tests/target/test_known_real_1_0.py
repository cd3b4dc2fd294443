"""The known brokers that speak AMQP 1.0: queues that come with links, logins, what a restart keeps."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import pika
import psutil
import pytest

from amqpspec.net.ports import LOOPBACK
from amqpspec.spec.amqp_1_0 import HEADERS
from amqpspec.target.known import KnownBroker, Running
from amqpspec.target.known.state import StateFile
from amqpspec.wire.amqp_1_0.frames import TypedFrame, TypedReader, performative_frame
from amqpspec.wire.amqp_1_0.message import decode_message, encode_message
from tests.target.test_known_real import IN_FOLDERS, in_service, open_connection, speaking
from tests.tools import amqpspec
from tests.waiting import PATIENCE_S, until

pytestmark = [pytest.mark.broker, pytest.mark.timeout(180)]

NODES = "amqpspec-1-0."
DURABLE = 2  # unsettled-state; RabbitMQ declares a queue that lasts for such a terminus only
REFUSALS = ("detach", "end", "close")


class Talk:
    """One connection, one session; what arrives is taken in order."""

    def __init__(self, running: Running, role: str = "default") -> None:
        url = urlsplit(running.url)
        self.socket = socket.create_connection((LOOPBACK, url.port or 0), timeout=PATIENCE_S)
        self._reader = TypedReader()
        mechanism = parse_qs(url.query).get("auth_mechanism", ["plain"])[0].upper()
        self._log_in(mechanism, *running.users[role])
        self.send("open", container_id=f"talk-{uuid4()}", hostname="localhost")
        self.send("begin", next_outgoing_id=0, incoming_window=100, outgoing_window=100)
        assert self.take("begin").name == "begin"

    def _log_in(self, mechanism: str, user: str, password: str) -> None:
        response = f"\0{user}\0{password}".encode() if mechanism == "PLAIN" else b""
        self.socket.sendall(HEADERS["sasl"])
        self.send("sasl-init", mechanism=mechanism, initial_response=response)
        outcome = self.take("sasl-outcome").performative
        assert outcome is not None
        self.outcome = outcome["code"]
        if self.outcome == 0:
            self.socket.sendall(HEADERS["amqp"])

    def send(self, name: str, /, *, payload: bytes = b"", **fields: Any) -> None:
        self.socket.sendall(performative_frame(name, payload=payload, **fields))

    def take(self, *names: str) -> TypedFrame:
        """The next frame of one of these names; whatever else comes is passed over."""
        while True:
            got = self._reader.next()
            if isinstance(got, TypedFrame) and got.name in names:
                return got
            if got is None:
                octets = self.socket.recv(65536)
                assert octets, f"expected {names}, the connection ended"
                self._reader.feed(octets)

    def attach(self, role: str, address: str) -> TypedFrame:
        """Attaches handle 0; a refusal, or else what a link of that role begins with."""
        ours: dict[str, Any] = {"initial_delivery_count": 0} if role == "sender" else {}
        node, us = {"address": address, "durable": DURABLE}, {"address": "us"}
        source, target = (us, node) if role == "sender" else (node, us)
        self.send(
            "attach", name=str(uuid4()), handle=0, role=role, source=source, target=target, **ours
        )  # fmt: skip
        first = self.take("attach", *REFUSALS)
        if first.name != "attach":
            return first
        terminus = "target" if role == "sender" else "source"
        refused = first.performative is None or first.performative[terminus] is None
        if refused:
            return self.take(*REFUSALS)
        return self.take("flow", *REFUSALS) if role == "sender" else first

    def put(self, body: bytes) -> TypedFrame:
        payload = encode_message(header={"durable": True}, data=body)
        self.send("transfer", handle=0, delivery_id=0, delivery_tag=b"0", message_format=0, payload=payload)
        return self.take("disposition", *REFUSALS)

    def get(self) -> bytes:
        windows = {
            "next_incoming_id": 0,
            "incoming_window": 100,
            "next_outgoing_id": 0,
            "outgoing_window": 100,
        }
        self.send("flow", payload=b"", handle=0, delivery_count=0, link_credit=1, **windows)
        payload = self.take("transfer").payload
        self.send("disposition", role="receiver", first=0, settled=True, state="accepted")
        body = decode_message(payload).body
        assert isinstance(body, bytes)
        return body

    def __enter__(self) -> Talk:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def close(self) -> None:
        self.send("close")
        self.take("close")


@pytest.fixture(scope="module", params=IN_FOLDERS)
def managed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[KnownBroker]:
    yield from in_service(request.param, tmp_path_factory.mktemp(request.param))


def there(running: Running, addresses: set[str]) -> set[str]:
    """Those of the addresses after which there is a queue."""
    with closing(open_connection(running, "default", "default")) as connection:
        return {address for address in addresses if _exists(connection, address.removeprefix("/queues/"))}


def _exists(connection: pika.BlockingConnection, queue: str) -> bool:
    try:
        connection.channel().queue_declare(queue, passive=True)
    except pika.exceptions.ChannelClosedByBroker as refused:
        assert refused.reply_code == 404
        return False
    return True


def addresses_in(journal: Path) -> set[str]:
    """Every node that a run has reported before it was made."""
    lines = map(json.loads, journal.read_text().splitlines()) if journal.exists() else ()
    return {line["node"][1] for line in lines if line["kind"] == "node"}


def test_a_url_is_enough_where_queues_have_to_be_made(managed: KnownBroker, tmp_path: Path) -> None:
    running = managed.start()
    words = ("run", running.url, "-d", "amqp-1-0", "links.errors*", "links.names*", "-q", "-o", "run")
    run = amqpspec(tmp_path, *words)
    said, _ = run.communicate(timeout=PATIENCE_S)
    assert run.returncode in (0, 1), said
    assert "blocked 0" in said
    made = addresses_in(tmp_path / "run" / "journal.jsonl")
    assert len(made) > 3
    assert there(running, made) == set()


def test_what_a_killed_run_left_goes_with_clean(managed: KnownBroker, tmp_path: Path) -> None:
    running, journal = managed.start(), tmp_path / "run" / "journal.jsonl"
    run = amqpspec(tmp_path, "run", running.url, "-d", "amqp-1-0", "-q", "-o", "run")
    until(lambda: len(addresses_in(journal)) > 20, "nodes that were made")
    run.kill()
    run.communicate(timeout=PATIENCE_S)
    made = addresses_in(journal)
    assert there(running, made)
    said, _ = amqpspec(tmp_path, "clean", running.url).communicate(timeout=PATIENCE_S)
    assert re.search(r": [1-9]\d* nodes of killed runs deleted, 0 left", said), said
    assert there(running, made) == set()


@pytest.fixture(scope="module", params=speaking("amqp-1-0"))
def broker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnownBroker]:
    yield from in_service(request.param, tmp_path_factory.mktemp(request.param))


def put(running: Running, address: str, body: bytes, role: str = "default") -> str:
    """Sends one message; the name of what returned: ``disposition`` where it was taken."""
    with Talk(running, role) as talk:
        answer = talk.attach("sender", address)
        return talk.put(body).name if answer.name == "flow" else answer.name


def get(running: Running, address: str) -> bytes:
    """Takes one message from a queue."""
    with Talk(running) as talk:
        assert talk.attach("receiver", address).name == "attach"
        body = talk.get()
        talk.close()
        return body


def test_queues_come_with_the_links_that_ask_for_them(broker: KnownBroker) -> None:
    running, address = broker.start(), NODES + str(uuid4())
    assert put(running, address, b"one") == "disposition"
    assert get(running, address) == b"one"


def test_other_nodes_do_not(broker: KnownBroker) -> None:
    none = "/exchange/none" if broker.name == "rabbitmq" else "none"
    for role in ("sender", "receiver"):
        with Talk(broker.start()) as talk:
            assert talk.attach(role, none).name in REFUSALS


def test_every_user_is_what_it_is_said_to_be(broker: KnownBroker) -> None:
    running, address = broker.start(), NODES + str(uuid4())
    taken = {role: put(running, address, b"x", role) == "disposition" for role in running.users}
    assert taken == {role: role != "limited" for role in running.users}


def test_a_restart_keeps_what_is_durable(broker: KnownBroker) -> None:
    running, address = broker.start(), NODES + str(uuid4())
    assert put(running, address, b"kept") == "disposition"
    again = broker.restart()
    assert (again.url, again.users, again.vhosts) == (running.url, running.users, running.vhosts)
    assert again.pid != running.pid
    if broker.name == "qpid-proton":
        assert put(again, address, b"new") == "disposition"
        assert get(again, address) == b"new"
    else:
        assert get(again, address) == b"kept"


def test_it_listens_on_the_loopback_interface_only(broker: KnownBroker) -> None:
    broker.start()
    state = StateFile(broker.state_dir).read()
    assert state is not None
    for started in state.processes:
        connections = psutil.Process(started.pid).net_connections()
        listening = [c for c in connections if c.status == psutil.CONN_LISTEN]
        assert listening
        assert {c.laddr.ip.removeprefix("::ffff:") for c in listening} <= {LOOPBACK, "::1"}


def test_an_unreadable_message_harms_no_one_else(broker: KnownBroker) -> None:
    running, address = broker.start(), NODES + str(uuid4())
    first = {"handle": 0, "delivery_id": 0, "delivery_tag": b"0", "message_format": 0}
    with Talk(running) as talk:
        assert talk.attach("sender", address).name == "flow"
        talk.send("transfer", payload=b"\xff\xff", **first)
    assert put(running, NODES + str(uuid4()), b"fine") == "disposition"
    assert running.pid == broker.start().pid
