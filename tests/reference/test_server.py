from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
import trustme

from amqpspec.reference.faults import UnknownFaultError
from amqpspec.reference.host import ReferenceHost
from amqpspec.reference.server import ReferenceBroker, serve_forever
from tests.reference.talk import Talk, ready


def test_the_url_says_where_and_who(broker: ReferenceBroker) -> None:
    parts = urlsplit(broker.url)
    assert (parts.scheme, parts.username, parts.password, parts.path) == ("amqp", "guest", "guest", "/%2F")
    assert parts.port == broker.port


def test_many_brokers_share_a_host() -> None:
    brokers = [ReferenceBroker() for _ in range(50)]
    try:
        urls = {broker.start() for broker in brokers}
        assert len(urls) == 50
        with ready(brokers[0].url) as talk:
            talk.ask("queue.declare", queue="only-there", exclusive=True)
        with ready(brokers[49].url) as talk:
            talk.say("queue.declare", queue="only-there", passive=True)
            assert talk.hear("channel.close")["reply_code"] == 404
    finally:
        for broker in brokers:
            broker.stop()


def test_a_host_of_its_own() -> None:
    host = ReferenceHost("alone")
    with ReferenceBroker(on=host) as broker, ready(broker.url) as talk:
        talk.silent()
    host.close()


@pytest.mark.usefixtures("ipv6")
def test_ipv6() -> None:
    with ReferenceBroker(host="::1") as broker, ready(broker.url) as talk:
        assert "[::1]" in broker.url
        talk.silent()


def test_stop_ends_connections() -> None:
    broker = ReferenceBroker()
    with ready(broker.start()) as talk:
        broker.stop()
        broker.stop()
        with pytest.raises(OSError, match=r".*"):
            while talk.socket.recv(100):
                pass
            raise ConnectionResetError
    with pytest.raises(OSError, match=r".*"):
        Talk(broker.url)


def test_a_restart_drops_connections_and_keeps_the_port(broker: ReferenceBroker) -> None:
    url = broker.url
    with ready(url) as talk:
        talk.ask("queue.declare", queue="d", durable=True)
        talk.ask("queue.declare", queue="t")
        talk.publish("", "d", b"kept", properties={"delivery_mode": 2})
        talk.publish("", "d", b"lost", properties={"delivery_mode": 1})
        assert talk.get("d") is not None
        broker.restart()
        close = talk.hear("connection.close")
        assert (close["reply_code"], close["class_id"]) == (320, 0)
        assert talk.ended()
    assert broker.url == url
    with ready(url) as talk:
        got = talk.get("d")
        assert got is not None and got[1] == b"kept" and got[0]["redelivered"]
        assert talk.get("d") is None
        talk.say("queue.declare", queue="t", passive=True)
        assert talk.hear("channel.close")["reply_code"] == 404


def test_an_unknown_fault_is_an_error() -> None:
    with pytest.raises(UnknownFaultError, match="expected the name of a fault, actual 'no-such-thing'"):
        ReferenceBroker(faults=["no-such-thing"])


def test_an_unknown_dialect_is_an_error() -> None:
    with pytest.raises(KeyError, match=r"expected one of .*amqp-0-9-1.*, actual 'amqp-7'"):
        ReferenceBroker("amqp-7")


def test_operators_can_pause_and_block(broker: ReferenceBroker) -> None:
    with ready(broker.url, capabilities={"connection.blocked": True}) as talk:
        broker.flow(False)
        assert talk.hear("channel.flow")["active"] is False
        talk.say("channel.flow-ok", active=False)
        broker.block("no room")
        assert talk.hear("connection.blocked")["reason"] == "no room"
        broker.unblock()
        talk.hear("connection.unblocked")
        talk.silent()


def test_serving_until_cancelled() -> None:
    async def served() -> str:
        broker = ReferenceBroker()
        serving = asyncio.create_task(serve_forever(broker))
        while not broker.port:
            await asyncio.sleep(0.01)
        reader, writer = await asyncio.open_connection(broker.host, broker.port)
        writer.write(b"AMQP\x00\x00\x09\x01")
        octets = await reader.readexactly(11)
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
        writer.close()
        return octets[7:].hex()

    assert asyncio.run(served()) == "000a000a"


# --- TLS


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def tls(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.configure_trust(context)
    context.verify_mode = ssl.CERT_OPTIONAL
    return context


Connect = Callable[[ReferenceBroker, str | None], Talk]


@pytest.fixture
def connect(authority: trustme.CA) -> Connect:
    def connected(broker: ReferenceBroker, name: str | None) -> Talk:
        context = ssl.create_default_context()
        authority.configure_trust(context)
        if name is not None:
            authority.issue_cert(common_name=name).configure_cert(context)
        talk = Talk(broker.url)
        talk.socket = context.wrap_socket(talk.socket, server_hostname="127.0.0.1")
        return talk

    return connected


def test_tls_with_a_password(tls: ssl.SSLContext, connect: Connect) -> None:
    with ReferenceBroker(tls=tls) as broker, connect(broker, None) as talk:
        assert broker.url.startswith("amqps://")
        talk.ready()
        talk.ask("connection.close", 0)
        assert talk.ended()


def test_external_takes_the_name_in_the_certificate(tls: ssl.SSLContext, connect: Connect) -> None:
    with ReferenceBroker(tls=tls) as broker:
        with connect(broker, "limited") as talk:
            talk.ready(mechanism="EXTERNAL", response=b"")
            talk.say("queue.declare", queue="q")
            assert talk.hear("channel.close")["reply_code"] == 403
        with connect(broker, "nobody") as talk, pytest.raises(AssertionError, match="actual None"):
            talk.ready(mechanism="EXTERNAL", response=b"")
