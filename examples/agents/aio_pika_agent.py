"""An agent for aio-pika: run with ``amqpspec client --command "python examples/agents/aio_pika_agent.py"``."""

import asyncio
import hashlib
import json
import os

import aio_pika

context = json.loads(os.environ["AMQPSPEC_CONTEXT"])
queue_name = context["queue"]
bodies = [bytes([65 + n % 26]) * (context["octets"] + n) for n in range(context["messages"])]
URL = f"{os.environ['AMQPSPEC_URL']}?heartbeat={context['heartbeat_s']}"


def tell(event, **data):
    print(json.dumps({"event": event, **data}), flush=True)


async def received(message):
    tell("delivered", sha256=hashlib.sha256(message.body).hexdigest(), octets=len(message.body))
    await message.ack()


async def publish(channel, wanted, confirmed):
    for body in wanted:
        await channel.default_exchange.publish(aio_pika.Message(body), queue_name)
        if confirmed:
            tell("confirmed")


async def consume(queue, wanted):
    async with queue.iterator() as messages:
        async for message in messages:
            await received(message)
            wanted -= 1
            if not wanted:
                return
    raise ConnectionError("the deliveries ended")


async def get(queue):
    for _ in bodies:
        await received(await queue.get())
    if await queue.get(fail=False) is not None:
        raise ValueError("expected an empty queue")


async def idle(connection):
    """Until the time is up, or the connection closes."""
    closed = asyncio.ensure_future(connection.closed())
    done, _ = await asyncio.wait([closed], timeout=context["idle_s"])
    if done:
        raise ConnectionError("the connection closed")
    closed.cancel()


async def scenario(name, connection):
    confirms = name in ("publish", "return")
    channel = await connection.channel(publisher_confirms=confirms, on_return_raises=name == "return")
    if name in ("connect", "reconnect"):
        return
    if name == "idle":
        await idle(connection)
        return
    if name == "refused":
        try:
            await channel.declare_queue("amqpspec.nowhere", passive=True)
        except aio_pika.exceptions.ChannelNotFoundEntity:
            tell("error", code=404, scope="channel")
        return
    if name == "return":
        try:
            await channel.default_exchange.publish(aio_pika.Message(b"back"), "amqpspec.nobody")
        except aio_pika.exceptions.PublishError:
            tell("returned", code=312)
        return
    queue = await channel.declare_queue(queue_name, exclusive=True)
    wanted = [bytes(context["large_octets"])] if name == "large" else bodies
    if name == "publish-transactional":
        async with channel.transaction():
            await publish(channel, wanted, False)
        return
    await publish(channel, wanted, confirms)
    if name in ("consume", "large"):
        await consume(queue, len(wanted))
    if name == "get":
        await get(queue)


async def main(name):
    for _ in range(2 if name == "reconnect" else 1):
        connection = await aio_pika.connect(URL)
        await scenario(name, connection)
        await connection.close()


async def patiently(name):
    try:
        await main(name)
    except BaseException:
        await asyncio.sleep(0.5)  # The library may still be closing the connection.
        raise


asyncio.run(patiently(os.environ["AMQPSPEC_SCENARIO"]))
