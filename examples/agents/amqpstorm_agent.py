"""An agent for AMQPStorm: run with ``amqpspec client --command "python examples/agents/amqpstorm_agent.py"``."""

import hashlib
import json
import os
import time

import amqpstorm

context = json.loads(os.environ["AMQPSPEC_CONTEXT"])
queue = context["queue"]
bodies = [bytes([65 + n % 26]) * (context["octets"] + n) for n in range(context["messages"])]
OPTIONS = f"?heartbeat={context['heartbeat_s']}"


def tell(event, **data):
    print(json.dumps({"event": event, **data}), flush=True)


def received(message):
    tell("delivered", sha256=hashlib.sha256(message.body).hexdigest(), octets=len(message.body))
    message.ack()


def idle(connection):
    until = time.monotonic() + context["idle_s"]
    while time.monotonic() < until:
        connection.check_for_errors()
        time.sleep(0.1)


def consume(channel, wanted):
    got = []
    channel.basic.consume(got.append, queue)
    while len(got) < wanted:
        channel.process_data_events(auto_decode=False)
        channel.check_for_errors()  # A connection that is lost ends the call above without an error.
        time.sleep(0.01)
    for message in got:
        received(message)


def scenario(name, connection, channel):
    if name in ("connect", "reconnect"):
        return
    if name == "idle":
        idle(connection)
        return
    if name == "refused":
        try:
            channel.queue.declare("amqpspec.nowhere", passive=True)
        except amqpstorm.AMQPChannelError as error:
            tell("error", code=error.error_code, scope="channel")
        return
    if name == "return":
        channel.confirm_deliveries()
        try:
            channel.basic.publish(b"back", "amqpspec.nobody", mandatory=True)
        except amqpstorm.AMQPMessageError as error:
            tell("returned", code=error.error_code)
        return
    channel.queue.declare(queue, exclusive=True)
    if name == "publish":
        channel.confirm_deliveries()
    if name == "publish-transactional":
        channel.tx.select()
    for number, body in enumerate([bytes(context["large_octets"])] if name == "large" else bodies, 1):
        confirmed = channel.basic.publish(body, queue)
        if name == "publish":
            tell("confirmed" if confirmed else "error", number=number)
    if name == "publish-transactional":
        channel.tx.commit()
    if name in ("consume", "large"):
        consume(channel, 1 if name == "large" else len(bodies))
    if name == "get":
        for _ in bodies:
            received(channel.basic.get(queue, auto_decode=False))
        if channel.basic.get(queue) is not None:
            raise ValueError("expected an empty queue")


def main(name):
    for _ in range(2 if name == "reconnect" else 1):
        connection = amqpstorm.UriConnection(os.environ["AMQPSPEC_URL"] + OPTIONS)
        scenario(name, connection, connection.channel())
        connection.check_for_errors()
        connection.close()


try:
    main(os.environ["AMQPSPEC_SCENARIO"])
except Exception:
    time.sleep(0.5)  # The library may still be writing.
    raise
