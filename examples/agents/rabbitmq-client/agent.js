// An agent for rabbitmq-client: `npm ci --prefix examples/agents/rabbitmq-client`, then
// `amqpspec client --command "node examples/agents/rabbitmq-client/agent.js" --name rabbitmq-client`.
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Connection } from "rabbitmq-client";

const { queue, messages, octets, large_octets, heartbeat_s, idle_s } = JSON.parse(process.env.AMQPSPEC_CONTEXT);
const name = process.env.AMQPSPEC_SCENARIO;
const bodies = Array.from({ length: messages }, (_, n) => Buffer.alloc(octets + n, 65 + (n % 26)));
const tell = (event, data) => console.log(JSON.stringify({ event, ...data }));

function received(body) {
  tell("delivered", { sha256: createHash("sha256").update(body).digest("hex"), octets: body.length });
}

function receive(channel, wanted) {
  return new Promise((resolve, reject) => {
    const take = ({ body, consumerTag, deliveryTag }) => {
      received(body);
      channel.basicAck({ deliveryTag });
      if (--wanted === 0) channel.basicCancel(consumerTag).then(resolve, reject);
    };
    channel.once("basic.cancel", (_tag, error) => reject(error));
    channel.basicConsume({ queue }, take).catch(reject);
  });
}

async function scenario(channel) {
  if (name === "connect" || name === "reconnect") return;
  if (name === "idle") return sleep(idle_s * 1000);
  if (name === "refused") return channel.queueDeclare({ queue: "amqpspec.nowhere", passive: true });
  if (name === "publish" || name === "return") await channel.confirmSelect();
  if (name === "return") {
    channel.on("basic.return", (message) => tell("returned", { code: message.replyCode }));
    return channel.basicPublish({ routingKey: "amqpspec.nobody", mandatory: true }, Buffer.from("back"));
  }
  await channel.queueDeclare({ queue, exclusive: true });
  if (name === "publish-transactional") await channel.txSelect();
  const sent = name === "large" ? [Buffer.alloc(large_octets)] : bodies;
  for (const body of sent) await channel.basicPublish({ routingKey: queue }, body);
  if (name === "publish-transactional") await channel.txCommit();
  if (name === "consume" || name === "large") await receive(channel, sent.length);
  if (name !== "get") return;
  for (const _ of sent) {
    const message = await channel.basicGet({ queue });
    received(message.body);
    channel.basicAck({ deliveryTag: message.deliveryTag });
  }
  if (await channel.basicGet({ queue })) throw new Error("the queue is not empty");
}

async function session() {
  const connection = new Connection({ url: process.env.AMQPSPEC_URL, heartbeat: heartbeat_s });
  const broken = new Promise((_, reject) => connection.on("error", reject));
  const work = async () => {
    const channel = await connection.acquire();
    try {
      await scenario(channel);
      await channel.close();
    } catch (error) {
      if (name !== "refused" || error.code !== "NOT_FOUND") throw error;
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
