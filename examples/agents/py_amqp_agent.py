"""An agent for py-amqp: run with ``amqpspec client --command "python examples/agents/py_amqp_agent.py"``."""

import hashlib
import json
import os
import time
from contextlib import suppress
from urllib.parse import unquote, urlsplit

import amqp

context = json.loads(os.environ["AMQPSPEC_CONTEXT"])
queue = context["queue"]
bodies = [bytes([65 + n % 26]) * (context["octets"] + n) for n in range(context["messages"])]


def tell(event, **data):
    print(json.dumps({"event": event, **data}), flush=True)


def opened():
    url = urlsplit(os.environ["AMQPSPEC_URL"])
    connection = amqp.Connection(
        f"{url.hostname}:{url.port}", userid=url.username, password=url.password,
        virtual_host=unquote(url.path[1:]) or "/", heartbeat=context["heartbeat_s"],
        confirm_publish=False,
    )  # fmt: skip
    connection.connect()
    return connection


def received(channel, message):
    body = message.body if isinstance(message.body, bytes) else message.body.encode()
    tell("delivered", sha256=hashlib.sha256(body).hexdigest(), octets=len(body))
    channel.basic_ack(message.delivery_tag)


def drain(connection):
    """Wait for events and look after heartbeats, which py-amqp leaves to the application."""
    connection.heartbeat_tick()
    with suppress(TimeoutError):
        connection.drain_events(timeout=context["heartbeat_s"] / 4)


def idle(connection):
    until = time.monotonic() + context["idle_s"]
    while time.monotonic() < until:
        drain(connection)


def publish(channel, body, confirmed):
    message = amqp.Message(body)
    if confirmed:
        channel.basic_publish_confirm(message, "", queue)
        tell("confirmed")
    else:
        channel.basic_publish(message, "", queue)


def consume(connection, channel, wanted):
    got = []
    channel.basic_consume(queue, callback=got.append)
    while len(got) < wanted:
        drain(connection)
    for message in got:
        received(channel, message)


def returned(connection, channel):
    got = []
    channel.events["basic_return"].add(lambda error, exchange, key, message: got.append(error.reply_code))
    channel.basic_publish(amqp.Message(b"back"), "", "amqpspec.nobody", mandatory=True)
    while not got:
        drain(connection)
    tell("returned", code=got[0])


def scenario(name, connection, channel):
    if name in ("connect", "reconnect"):
        return
    if name == "idle":
        idle(connection)
        return
    if name == "return":
        returned(connection, channel)
        return
    if name == "refused":
        try:
            channel.queue_declare("amqpspec.nowhere", passive=True)
        except amqp.NotFound as error:
            tell("error", code=error.reply_code, scope="channel")
        return
    channel.queue_declare(queue, exclusive=True, auto_delete=False)
    if name == "publish-transactional":
        channel.tx_select()
    for body in [bytes(context["large_octets"])] if name == "large" else bodies:
        publish(channel, body, name == "publish")
    if name == "publish-transactional":
        channel.tx_commit()
    if name in ("consume", "large"):
        consume(connection, channel, 1 if name == "large" else len(bodies))
    if name == "get":
        for _ in bodies:
            received(channel, channel.basic_get(queue))
        if channel.basic_get(queue) is not None:
            raise ValueError("expected an empty queue")


name = os.environ["AMQPSPEC_SCENARIO"]
for _ in range(2 if name == "reconnect" else 1):
    connection = opened()
    scenario(name, connection, connection.channel())
    connection.close()
