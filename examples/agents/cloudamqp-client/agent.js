// An agent for @cloudamqp/amqp-client: `npm ci --prefix examples/agents/cloudamqp-client`, then
// `amqpspec client --command "node examples/agents/cloudamqp-client/agent.js" --name cloudamqp-client`.
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { AMQPClient } from "@cloudamqp/amqp-client";

const { queue, messages, octets, large_octets, heartbeat_s, idle_s } = JSON.parse(process.env.AMQPSPEC_CONTEXT);
const name = process.env.AMQPSPEC_SCENARIO;
const bodies = Array.from({ length: messages }, (_, n) => Buffer.alloc(octets + n, 65 + (n % 26)));
const url = new URL(process.env.AMQPSPEC_URL);
url.searchParams.set("heartbeat", heartbeat_s);
const tell = (event, data) => console.log(JSON.stringify({ event, ...data }));

function received(body) {
  tell("delivered", { sha256: createHash("sha256").update(body).digest("hex"), octets: body.length });
}

async function receive(channel, wanted) {
  let failed;
  const failure = new Promise((_, reject) => (failed = reject));
  const take = async (message) => {
    received(message.body);
    await message.ack();
    if (--wanted === 0) await message.cancelConsumer();
  };
  const consumer = await channel.basicConsume(queue, { noAck: false }, (message) => take(message).catch(failed));
  await Promise.race([consumer.wait(), failure]);
}

async function scenario(channel) {
  if (name === "connect" || name === "reconnect") return;
  if (name === "idle") return sleep(idle_s * 1000);
  if (name === "refused") return channel.queueDeclare("amqpspec.nowhere", { passive: true });
  if (name === "publish" || name === "return") await channel.confirmSelect();
  if (name === "return") {
    channel.onReturn = (message) => tell("returned", { code: message.replyCode });
    return channel.basicPublish("", "amqpspec.nobody", "back", {}, true);
  }
  await channel.queueDeclare(queue, { exclusive: true, durable: false });
  if (name === "publish-transactional") await channel.txSelect();
  const sent = name === "large" ? [Buffer.alloc(large_octets)] : bodies;
  for (const body of sent) await channel.basicPublish("", queue, body);
  if (name === "publish-transactional") await channel.txCommit();
  if (name === "consume" || name === "large") await receive(channel, sent.length);
  if (name !== "get") return;
  for (const _ of sent) {
    const message = await channel.basicGet(queue, { noAck: false });
    received(message.body);
    await message.ack();
  }
  if (await channel.basicGet(queue, { noAck: false })) throw new Error("the queue is not empty");
}

async function session() {
  const client = new AMQPClient(url.href);
  const broken = new Promise((_, reject) => {
    client.onerror = reject;
    client.ondisconnect = (error) => reject(error ?? new Error("the connection is closed"));
  });
  const work = async () => {
    const connection = await client.connect();
    const channel = await connection.channel();
    const failed = new Promise((_, reject) => (channel.onerror = (reason) => reject(new Error(reason))));
    try {
      await Promise.race([scenario(channel), failed]);
      await Promise.race([channel.close(), failed]);
    } catch (error) {
      if (name !== "refused" || !error.message.endsWith("(404)")) throw error;
      tell("error", { code: 404, scope: "channel" });
    }
    await connection.close();
  };
  await Promise.race([work(), broken]);
}

const alive = setInterval(() => {}, 1000); // A promise that never settles is a hang, not an end.
try {
  for (let n = name === "reconnect" ? 2 : 1; n; n--) await session();
} catch (error) {
  tell("error", { text: error.message });
  process.exitCode = 1;
  await sleep(500); // The library may still be closing the connection.
  process.exit();
}
clearInterval(alive);
