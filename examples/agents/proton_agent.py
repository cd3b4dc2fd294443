"""An agent for Qpid Proton, AMQP 1.0: run with
``amqpspec client --dialect amqp-1-0 --command "python examples/agents/proton_agent.py" --name proton``."""

import hashlib
import json
import os
import random
import time

from proton import Message
from proton.reactor import AtMostOnce
from proton.utils import BlockingConnection, LinkDetached

context = json.loads(os.environ["AMQPSPEC_CONTEXT"])
address, heartbeat_s = context["queue"], context["heartbeat_s"]
bodies = [bytes([65 + n % 26]) * (context["octets"] + n) for n in range(context["messages"])]


def tell(event, **data):
    print(json.dumps({"event": event, **data}), flush=True)


def opened():
    url = os.environ["AMQPSPEC_URL"]
    return BlockingConnection(url, heartbeat=heartbeat_s, reconnect=False, allow_insecure_mechs=True)


def send(connection, messages, **options):
    sender = connection.create_sender(address, **options)
    for number, body in enumerate(messages, start=1):
        sender.send(Message(body=body))
        tell("confirmed", number=number)
    sender.close()


def receive(connection, messages, settle):
    receiver = connection.create_receiver(address, credit=len(messages))
    for _ in messages:
        body = bytes(receiver.receive().body)
        tell("delivered", sha256=hashlib.sha256(body).hexdigest(), octets=len(body))
        getattr(receiver, settle)()
    receiver.close()


def scenario(name, connection):
    large = [random.Random(1).randbytes(context["large_octets"])]
    if name == "send":
        send(connection, bodies)
    elif name == "send-settled":
        send(connection, bodies, options=AtMostOnce())
    elif name in ("receive", "large"):
        messages = large if name == "large" else bodies
        send(connection, messages)
        receive(connection, messages, "accept")
    elif name == "reject":
        send(connection, bodies[:1])
        receive(connection, bodies[:1], "reject")
    elif name == "refused":
        try:
            connection.create_sender("amq.nowhere")
        except LinkDetached as error:
            tell("error", text=str(error), scope="link")
    elif name == "idle":
        until_s = time.monotonic() + context["idle_s"]
        connection.wait(lambda: time.monotonic() >= until_s, timeout=2 * context["idle_s"])


name = os.environ["AMQPSPEC_SCENARIO"]
for _ in range(2 if name == "reconnect" else 1):
    connection = opened()
    try:
        scenario(name, connection)
    finally:
        connection.close()  # What the library has to say of an error, it writes here.
