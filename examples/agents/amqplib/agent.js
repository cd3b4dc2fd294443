// An agent for amqplib: `npm ci --prefix examples/agents/amqplib`, then
// `amqpspec client --command "node examples/agents/amqplib/agent.js" --name amqplib`.
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import amqplib from "amqplib";

const { queue, messages, octets, large_octets, heartbeat_s, idle_s } = JSON.parse(process.env.AMQPSPEC_CONTEXT);
const name = process.env.AMQPSPEC_SCENARIO;
const bodies = Array.from({ length: messages }, (_, n) => Buffer.alloc(octets + n, 65 + (n % 26)));
const tell = (event, data) => console.log(JSON.stringify({ event, ...data }));
const url = new URL(process.env.AMQPSPEC_URL);
url.searchParams.set("heartbeat", heartbeat_s);

function received(message) {
  tell("delivered", { sha256: createHash("sha256").update(message.content).digest("hex"), octets: message.content.length });
}

function receive(channel, wanted) {
  return new Promise((resolve, reject) => {
    const take = (message) => {
      if (message === null) return reject(new Error("the server cancelled the consumer"));
      received(message);
      channel.ack(message);
      if (--wanted === 0) channel.cancel(message.fields.consumerTag).then(resolve, reject);
    };
    channel.consume(queue, take).catch(reject);
  });
}

async function scenario(channel) {
  if (name === "connect" || name === "reconnect") return;
  if (name === "idle") return sleep(idle_s * 1000);
  if (name === "refused") return channel.checkQueue("amqpspec.nowhere");
  if (name === "return") {
    channel.on("return", (message) => tell("returned", { code: message.fields.replyCode }));
    channel.publish("", "amqpspec.nobody", Buffer.from("back"), { mandatory: true });
    return channel.waitForConfirms();
  }
  await channel.assertQueue(queue, { exclusive: true, durable: false });
  const sent = name === "large" ? [Buffer.alloc(large_octets)] : bodies;
  for (const body of sent) channel.sendToQueue(queue, body);
  if (name === "publish") await channel.waitForConfirms();
  if (name === "consume" || name === "large") await receive(channel, sent.length);
  if (name !== "get") return;
  for (const _ of sent) {
    const message = await channel.get(queue);
    received(message);
    channel.ack(message);
  }
  if (await channel.get(queue)) throw new Error("the queue is not empty");
}

async function session() {
  const connection = await amqplib.connect(url.href);
  const broken = new Promise((_, reject) => {
    connection.on("error", reject).on("close", () => reject(new Error("the connection is closed")));
  });
  const work = async () => {
    const channel = await (["publish", "return"].includes(name) ? connection.createConfirmChannel() : connection.createChannel());
    const failed = new Promise((_, reject) => channel.on("error", reject));
    try {
      await Promise.race([scenario(channel), failed]);
      await Promise.race([channel.close(), failed]);
    } catch (error) {
      if (name !== "refused" || error.code !== 404) throw error;
      tell("error", { code: error.code, scope: "channel" });
    }
  };
  await Promise.race([work(), broken]);
  await connection.close();
}

if (name === "publish-transactional") process.exit(89);
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
