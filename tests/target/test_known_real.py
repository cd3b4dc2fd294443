"""The known brokers themselves: each is started, spoken to, restarted and stopped."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pika
import psutil
import pytest
import trustme

from amqpspec.net.ports import LOOPBACK
from amqpspec.target.known import INSTALLED, KNOWN, KnownBroker, Running, Tls, known_broker
from amqpspec.target.known.rabbitmq import RELEASES
from amqpspec.target.known.state import StateFile
from tests.waiting import PATIENCE_S

pytestmark = [pytest.mark.broker, pytest.mark.timeout(180)]

HEADER_0_9_1 = b"AMQP\x00\x00\x09\x01"
METHOD_FRAME_ON_CHANNEL_0 = b"\x01\x00\x00"
INSTALLED_HERE = Path(__file__).parents[2] / ".brokers"
IN_FOLDERS = [f"rabbitmq@{release}" for release in RELEASES]


def speaking(dialect: str) -> list[str]:
    """The known brokers that speak a dialect."""
    return [name for name, broker in KNOWN.items() if dialect in broker.dialects]


def prepare(name: str, state_dir: Path, **options: Any) -> KnownBroker:
    """The broker with a state directory of its own, and what was installed in the usual one before."""
    for part in INSTALLED:
        installed = INSTALLED_HERE / name / part
        if installed.exists():
            state_dir.mkdir(parents=True, exist_ok=True)
            (state_dir / part).symlink_to(installed)
    broker = known_broker(name, state_dir, **options)
    if broker.version() is None:
        pytest.skip(f"{name} is not installed; run: amqpspec brokers install {name}")
    return broker


def in_service(name: str, state_dir: Path) -> Iterator[KnownBroker]:
    """The broker while it runs."""
    one = prepare(name, state_dir)
    one.start()
    yield one
    one.stop()


@pytest.fixture(scope="module", params=[*speaking("amqp-0-9-1"), *IN_FOLDERS])
def broker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnownBroker]:
    yield from in_service(request.param, tmp_path_factory.mktemp(request.param))


def open_connection(running: Running, user_role: str, vhost_role: str) -> pika.BlockingConnection:
    user, password = running.users[user_role]
    address = urlsplit(running.url)
    vhost = quote(running.vhosts[vhost_role], safe="")
    return pika.BlockingConnection(
        pika.URLParameters(f"amqp://{user}:{password}@{address.hostname}:{address.port}/{vhost}")
    )


def may_declare(running: Running, user_role: str) -> bool:
    connection = open_connection(running, user_role, "default")
    try:
        connection.channel().queue_declare("declared-by-" + user_role, exclusive=True)
    except (pika.exceptions.ChannelClosedByBroker, pika.exceptions.ConnectionClosedByBroker) as refused:
        assert refused.reply_code == 403
        return False
    finally:
        if connection.is_open:
            connection.close()
    return True


def queue_exists(running: Running, name: str) -> bool:
    connection = open_connection(running, "default", "default")
    try:
        connection.channel().queue_declare(name, passive=True)
    except (pika.exceptions.ChannelClosedByBroker, pika.exceptions.ConnectionClosedByBroker) as refused:
        assert refused.reply_code == 404
        return False
    finally:
        if connection.is_open:
            connection.close()
    return True


def family_of(pid: int) -> list[psutil.Process]:
    one = psutil.Process(pid)
    return [one, *one.children(recursive=True)]


def test_it_answers_the_protocol_header_with_a_frame(broker: KnownBroker) -> None:
    address = urlsplit(broker.start().url)
    assert address.hostname == LOOPBACK
    with socket.create_connection((LOOPBACK, address.port or 0), timeout=PATIENCE_S) as connection:
        connection.sendall(HEADER_0_9_1)
        assert connection.recv(3) == METHOD_FRAME_ON_CHANNEL_0


def test_it_listens_on_the_loopback_interface_only(broker: KnownBroker) -> None:
    state = StateFile(broker.state_dir).read()
    assert state is not None
    for started in state.processes:
        listening = [
            c for c in psutil.Process(started.pid).net_connections() if c.status == psutil.CONN_LISTEN
        ]
        assert listening
        assert {c.laddr.ip.removeprefix("::ffff:") for c in listening} <= {LOOPBACK, "::1"}


def test_every_role_is_what_it_says(broker: KnownBroker) -> None:
    running = broker.start()
    for role in {"default", "second"} & set(running.users):
        assert may_declare(running, role)
    if "limited" in running.users:
        assert not may_declare(running, "limited")
    if "second" in running.vhosts:
        open_connection(running, "default", "second").close()
    if "forbidden" in running.vhosts:
        with pytest.raises(pika.exceptions.AMQPConnectionError):
            open_connection(running, "default", "forbidden")


def test_a_restart_keeps_the_durable_and_drops_the_transient(broker: KnownBroker) -> None:
    running = broker.start()
    connection = open_connection(running, "default", "default")
    channel = connection.channel()
    channel.queue_declare("kept", durable=True)
    channel.queue_declare("dropped")
    if connection.publisher_confirms_supported:
        channel.confirm_delivery()
    channel.basic_publish("", "kept", b"persistent", pika.BasicProperties(delivery_mode=2))
    channel.queue_declare("kept", passive=True)
    connection.close()
    again = known_broker(broker.full_name, broker.state_dir).restart()
    assert (again.url, again.users, again.vhosts) == (running.url, running.users, running.vhosts)
    assert again.pid != running.pid
    assert not queue_exists(again, "dropped")
    connection = open_connection(again, "default", "default")
    _, _, body = connection.channel().basic_get("kept", auto_ack=True)
    assert body == b"persistent"
    connection.close()


def test_stop_leaves_no_process(broker: KnownBroker) -> None:
    running = broker.start()
    state = StateFile(broker.state_dir).read()
    assert state is not None
    family = [member for started in state.processes for member in family_of(started.pid)]
    broker.stop()
    _, alive = psutil.wait_procs(family, timeout=5)
    assert not alive
    assert not broker.is_running()
    assert running.log.stat().st_size > 0


@pytest.fixture
def tls_files(tmp_path: Path) -> Tls:
    authority = trustme.CA(key_type=trustme.KeyType.RSA)
    issued = authority.issue_cert("localhost", LOOPBACK, key_type=trustme.KeyType.RSA)
    files = Tls(tmp_path / "ca.pem", tmp_path / "cert.pem", tmp_path / "key.pem")
    authority.cert_pem.write_to_path(files.ca)
    issued.cert_chain_pems[0].write_to_path(files.cert)
    issued.private_key_pem.write_to_path(files.key)
    return files


@pytest.mark.parametrize("name", [*(name for name, broker in KNOWN.items() if broker.takes_tls), *IN_FOLDERS])
def test_tls_listeners_survive_a_restart(name: str, tls_files: Tls, tmp_path: Path) -> None:
    broker = prepare(name, tmp_path / name, tls=tls_files)
    try:
        first = broker.start()
        again = known_broker(name, broker.state_dir).restart()
        assert first.tls_url == again.tls_url is not None
        context = ssl.create_default_context(cafile=tls_files.ca)
        address = (LOOPBACK, urlsplit(again.tls_url).port or 0)
        with (
            socket.create_connection(address, timeout=PATIENCE_S) as plain,
            context.wrap_socket(plain, server_hostname="localhost") as connection,
        ):
            connection.sendall(HEADER_0_9_1)
            assert connection.recv(3) == METHOD_FRAME_ON_CHANNEL_0
    finally:
        broker.stop()
