"""An agent for pika: run with ``amqpspec client --command "python examples/agents/pika_agent.py" --name pika``."""

import hashlib
import json
import os

import pika

context = json.loads(os.environ["AMQPSPEC_CONTEXT"])
queue, heartbeat_s = context["queue"], context["heartbeat_s"]
bodies = [bytes([65 + n % 26]) * (context["octets"] + n) for n in range(context["messages"])]


def tell(event, **data):
    print(json.dumps({"event": event, **data}), flush=True)


def opened():
    parameters = pika.URLParameters(os.environ["AMQPSPEC_URL"])
    parameters.heartbeat = heartbeat_s
    connection = pika.BlockingConnection(parameters)
    return connection, connection.channel()


def publish(channel, body, key=queue, **options):
    channel.basic_publish("", key, body, **options)


def receive(channel, wanted):
    for frame, _, body in channel.consume(queue):
        tell("delivered", sha256=hashlib.sha256(body).hexdigest(), octets=len(body))
        channel.basic_ack(frame.delivery_tag)
        wanted -= 1
        if not wanted:
            channel.cancel()
            return


def scenario(name, connection, channel):
    if name in ("connect", "reconnect"):
        return
    if name == "refused":
        try:
            channel.queue_declare("amqpspec.nowhere", passive=True)
        except pika.exceptions.ChannelClosedByBroker as error:
            tell("error", code=error.reply_code, scope="channel")
        return
    if name == "idle":
        connection.sleep(context["idle_s"])
        return
    if name == "return":
        channel.confirm_delivery()
        try:
            publish(channel, b"back", "amqpspec.nobody", mandatory=True)
        except pika.exceptions.UnroutableError:
            tell("returned", code=312)
        return
    channel.queue_declare(queue, exclusive=True)
    if name == "publish":
        channel.confirm_delivery()
    if name == "publish-transactional":
        channel.tx_select()
    for body in [bytes(context["large_octets"])] if name == "large" else bodies:
        publish(channel, body)
    if name == "publish-transactional":
        channel.tx_commit()
    if name in ("consume", "large"):
        receive(channel, 1 if name == "large" else len(bodies))
    if name == "get":
        for _ in bodies:
            frame, _, _ = channel.basic_get(queue)
            channel.basic_ack(frame.delivery_tag)


name = os.environ["AMQPSPEC_SCENARIO"]
for _ in range(2 if name == "reconnect" else 1):
    connection, channel = opened()
    scenario(name, connection, channel)
    connection.close()
