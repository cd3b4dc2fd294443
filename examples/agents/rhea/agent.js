// An agent for rhea, AMQP 1.0: `npm ci --prefix examples/agents/rhea`, then
// `amqpspec client --dialect amqp-1-0 --command "node examples/agents/rhea/agent.js" --name rhea`.
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import rhea from "rhea";

const { queue, messages, octets, large_octets, heartbeat_s, idle_s } = JSON.parse(process.env.AMQPSPEC_CONTEXT);
const name = process.env.AMQPSPEC_SCENARIO;
const bodies = Array.from({ length: messages }, (_, n) => Buffer.alloc(octets + n, 65 + (n % 26)));
const tell = (event, data) => console.log(JSON.stringify({ event, ...data }));
const { hostname, port, username, password } = new URL(process.env.AMQPSPEC_URL);
const options = { host: hostname, port, username, password, reconnect: false, idle_time_out: heartbeat_s * 1000 };

const ours = new Set(); // What the agent closes itself: that it ends is no failure.

function close(endpoint, event) {
  ours.add(endpoint);
  endpoint.close();
  return once(endpoint, event);
}

function failure(connection, events) {
  return new Promise((_, reject) => {
    const learn = (event) => (context) => {
      const endpoint = context[event.split("_")[0]];
      if (!ours.has(endpoint)) reject(new Error(`${event}: ${endpoint?.error ?? context.error ?? context.message ?? ""}`));
    };
    for (const event of events) connection.on(event, learn(event));
  });
}

async function send(connection, sent, mode = {}) {
  const sender = connection.open_sender({ target: queue, ...mode });
  await once(sender, "sendable");
  for (const [n, body] of sent.entries()) {
    sender.send({ body: rhea.message.data_section(body) });
    if (mode.snd_settle_mode === 1) continue;
    await once(sender, "accepted");
    tell("confirmed", { number: n + 1 });
  }
  await close(sender, "sender_close");
}

async function receive(connection, wanted, settle) {
  const receiver = connection.open_receiver({ source: queue, autoaccept: false, credit_window: 0 });
  receiver.add_credit(wanted);
  await new Promise((resolve) =>
    receiver.on("message", ({ message, delivery }) => {
      const body = message.body?.content ?? message; // Without format 0, the library hands over the octets.
      tell("delivered", { sha256: createHash("sha256").update(body).digest("hex"), octets: body.length });
      delivery[settle]();
      if (--wanted === 0) resolve();
    }),
  );
  await close(receiver, "receiver_close");
}

async function refused(connection) {
  const sender = connection.open_sender("amq.nowhere");
  const [context] = await once(sender, "sender_error");
  tell("error", { text: String(context.sender.error), scope: "link" });
}

async function scenario(connection) {
  if (name === "idle") return sleep(idle_s * 1000);
  if (name === "refused") return refused(connection);
  if (name === "send") return send(connection, bodies);
  if (name === "send-settled") return send(connection, bodies, { snd_settle_mode: 1 });
  if (name !== "receive" && name !== "reject" && name !== "large") return;
  const sent = name === "large" ? [randomBytes(large_octets)] : name === "reject" ? bodies.slice(0, 1) : bodies;
  await send(connection, sent);
  await receive(connection, sent.length, name === "reject" ? "reject" : "accept");
}

async function session() {
  const connection = rhea.create_container().connect(options);
  const work = async () => {
    await once(connection, "connection_open");
    await scenario(connection);
    await close(connection, "connection_close");
  };
  const kinds = name === "refused" ? ["connection", "session"] : ["connection", "session", "sender", "receiver"];
  const events = kinds.flatMap((kind) => [`${kind}_error`, `${kind}_close`]);
  events.push("disconnected", "protocol_error", "error");
  await Promise.race([work(), failure(connection, events)]);
}

const alive = setInterval(() => {}, 1000); // A promise that never settles is a hang, not an end.
try {
  for (let n = name === "reconnect" ? 2 : 1; n; n--) await session();
} catch (error) {
  tell("error", { text: error.message });
  await sleep(500); // The library may still be closing the connection.
  process.exit(1);
}
clearInterval(alive);
