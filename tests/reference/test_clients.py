"""Client libraries, unchanged, against the reference broker: publish, consume, confirm, transact, channel errors."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from amqpspec.reference.server import ReferenceBroker
from tests.reference.npm import npm_package
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.clients
DIALECTS = ("amqp-0-9-1", "rabbitmq-0-9-1")
AMQPLIB = "amqplib@0.10.9"


@pytest.fixture(params=DIALECTS)
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    with ReferenceBroker(request.param) as broker:
        yield broker.url


# --- pika


@pytest.fixture
def channel(url: str) -> Iterator[Any]:
    import pika

    connection = pika.BlockingConnection(pika.URLParameters(url))
    yield connection.channel()
    if connection.is_open:
        connection.close()


def test_pika_publishes_and_consumes(channel: Any) -> None:
    import pika

    queue = channel.queue_declare("", exclusive=True).method.queue
    channel.queue_bind(queue, "amq.topic", "a.#")
    properties = pika.BasicProperties(content_type="text/plain", headers={"n": 2**40, "t": {"a": [1, "x"]}})
    channel.basic_publish("amq.topic", "a.b", b"body", properties)
    channel.basic_qos(prefetch_count=1)
    for method, seen, body in channel.consume(queue, inactivity_timeout=10):
        assert (method.routing_key, body, seen.headers["t"]) == ("a.b", b"body", {"a": [1, "x"]})
        channel.basic_ack(method.delivery_tag)
        break
    channel.cancel()
    assert channel.basic_get(queue) == (None, None, None)


def test_pika_confirms(channel: Any) -> None:
    import pika

    channel.confirm_delivery()
    queue = channel.queue_declare("", exclusive=True).method.queue
    channel.basic_publish("", queue, b"1", mandatory=True)
    with pytest.raises(pika.exceptions.UnroutableError):
        channel.basic_publish("", "nowhere", b"2", mandatory=True)
    assert channel.queue_declare(queue, passive=True).method.message_count == 1


def test_pika_transacts(channel: Any) -> None:
    queue = channel.queue_declare("", exclusive=True).method.queue
    channel.tx_select()
    channel.basic_publish("", queue, b"1")
    channel.tx_rollback()
    channel.basic_publish("", queue, b"2")
    channel.tx_commit()
    assert channel.basic_get(queue, auto_ack=True)[2] == b"2"


def test_pika_gets_channel_errors(channel: Any) -> None:
    import pika

    with pytest.raises(pika.exceptions.ChannelClosedByBroker, match="404"):
        channel.queue_declare("missing", passive=True)
    again = channel.connection.channel()
    with pytest.raises(pika.exceptions.ChannelClosedByBroker, match="406"):
        again.queue_declare("not/a/name")


def test_pika_is_refused(url: str) -> None:
    import pika

    with pytest.raises(pika.exceptions.ProbableAuthenticationError):
        pika.BlockingConnection(pika.URLParameters(url.replace("guest:guest", "guest:wrong")))
    with pytest.raises(pika.exceptions.ProbableAccessDeniedError, match="402"):
        pika.BlockingConnection(pika.URLParameters(url.replace("/%2F", "/missing")))


def test_pika_hears_that_its_queue_is_gone(channel: Any) -> None:
    queue = channel.queue_declare("doomed").method.queue
    seen: list[str] = []
    channel.add_on_cancel_callback(lambda frame: seen.append(frame.method.consumer_tag))
    tag = channel.basic_consume(queue, lambda *args: None)
    channel.queue_delete(queue)
    channel.connection.process_data_events(time_limit=1)
    assert seen == [tag]


# --- aio-pika


async def _with_aio_pika(url: str) -> list[bytes]:
    import aio_pika

    async with await aio_pika.connect(url) as connection:
        channel = await connection.channel(publisher_confirms=True)
        exchange = await channel.declare_exchange("x", aio_pika.ExchangeType.HEADERS)
        queue = await channel.declare_queue(exclusive=True)
        await queue.bind(exchange, arguments={"x-match": "all", "k": "v"})
        message = aio_pika.Message(b"1", headers={"k": "v"}, delivery_mode=2)
        await exchange.publish(message, routing_key="")
        bodies = [await _take(queue)]
        with pytest.raises(aio_pika.exceptions.ChannelNotFoundEntity):
            await channel.declare_queue("missing", passive=True)
        plain = await connection.channel(publisher_confirms=False)
        async with plain.transaction():
            await plain.default_exchange.publish(aio_pika.Message(b"2"), routing_key=queue.name)
        again = await plain.get_queue(queue.name)
        return [*bodies, await _take(again)]


async def _take(queue: Any) -> bytes:
    async with queue.iterator(timeout=PATIENCE_S) as messages:
        async for message in messages:
            async with message.process():
                return bytes(message.body)
    return b""


def test_aio_pika(url: str) -> None:
    assert asyncio.run(_with_aio_pika(url)) == [b"1", b"2"]


# --- py-amqp and kombu


def test_py_amqp(url: str) -> None:
    import amqp

    host = url.partition("@")[2].partition("/")[0]
    with amqp.Connection(host, "guest", "guest", confirm_publish=True) as connection:
        channel = connection.channel()
        queue = channel.queue_declare("", exclusive=True).queue
        channel.basic_publish(amqp.Message("1", application_headers={"a": 1}), routing_key=queue)
        bodies: list[str] = []

        def on_message(message: Any) -> None:
            bodies.append(message.body)
            channel.basic_ack(message.delivery_tag)

        channel.basic_consume(queue, callback=on_message)
        connection.drain_events(timeout=PATIENCE_S)
        assert bodies == ["1"]
        with pytest.raises(amqp.exceptions.NotFound):
            channel.queue_declare("missing", passive=True)
    with amqp.Connection(host, "guest", "guest") as connection:
        channel = connection.channel()
        channel.tx_select()
        queue = channel.queue_declare("", exclusive=True).queue
        channel.basic_publish(amqp.Message("2"), routing_key=queue)
        channel.tx_commit()
        assert channel.basic_get(queue, no_ack=True).body == "2"


def test_kombu(url: str) -> None:
    import kombu

    with kombu.Connection(url.replace("amqp://", "pyamqp://").replace("%2F", "/")) as connection:
        exchange = kombu.Exchange("jobs", "direct", durable=True)
        queue = kombu.Queue("jobs", exchange, routing_key="jobs")
        producer = connection.Producer()
        producer.publish({"n": 1}, exchange=exchange, routing_key="jobs", declare=[queue])
        seen: list[Any] = []

        def on_message(body: Any, message: Any) -> None:
            seen.append(body)
            message.ack()

        with connection.Consumer([queue], callbacks=[on_message], accept=["json"]):
            connection.drain_events(timeout=PATIENCE_S)
        assert seen == [{"n": 1}]
        simple = connection.SimpleQueue("simple")
        simple.put("two")
        message = simple.get(timeout=PATIENCE_S)
        assert message.payload == "two"
        message.ack()
        simple.close()


# --- amqplib


@pytest.fixture(scope="session")
def amqplib(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which node finds amqplib; kept in pytest's cache between runs."""
    return npm_package("amqplib", AMQPLIB, request, tmp_path_factory)


SCRIPT = """
const amqp = require('amqplib');
const assert = require('assert');
(async () => {
  const connection = await amqp.connect(process.argv[2]);
  connection.on('error', () => {});
  const channel = await connection.createConfirmChannel();
  const returned = [];
  channel.on('return', m => returned.push(m.content.toString()));
  await channel.assertExchange('x', 'topic', {durable: false});
  const {queue} = await channel.assertQueue('', {exclusive: true});
  await channel.bindQueue(queue, 'x', 'a.*');
  await channel.prefetch(1);
  const bodies = [];
  const got = new Promise(resolve => channel.consume(queue, m => {
    bodies.push(m.content.toString());
    channel.ack(m);
    if (bodies.length === 3) resolve();
  }));
  for (const body of ['1', '2', '3']) channel.publish('x', 'a.b', Buffer.from(body), {headers: {n: 1, big: 2 ** 40}});
  channel.publish('x', 'b', Buffer.from('back'), {mandatory: true});
  await channel.waitForConfirms();
  await got;
  assert.deepStrictEqual(bodies, ['1', '2', '3']);
  assert.deepStrictEqual(returned, ['back']);
  const failing = await connection.createChannel();
  const failed = new Promise(resolve => failing.on('error', e => resolve(e.code)));
  failing.checkQueue('missing').catch(() => {});
  assert.strictEqual(await failed, 404);
  await connection.close();
  console.log('all is well');
})().catch(error => { console.error(error); process.exit(1); });
"""


def test_amqplib(url: str, amqplib: Path) -> None:
    script = amqplib / "talk.js"
    script.write_text(SCRIPT, encoding="utf-8")
    done = subprocess.run(
        ["node", str(script), url],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        cwd=amqplib,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "all is well"), done.stderr
