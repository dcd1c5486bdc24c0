/**
 * The works whose connections live for some seconds: server-sent events, and WebSockets with a stream of rows and a
 * subscription.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Dispatcher, request, WebSocket } from "undici";
import { type Caller, expect, Unexpected } from "./caller.js";
import type { Work } from "./works.js";

const STAYS_MS = 3_000;

export const liveWorks: readonly Work[] = [
  { kind: "server-sent events", everySeconds: 5, one: events },
  { kind: "websocket", everySeconds: 5, one: socket },
];

/** Subscribes, sees changes go by for a while, and leaves. */
async function events(caller: Caller): Promise<void> {
  const controller = new AbortController();
  const reply: Dispatcher.ResponseData = await request(`${caller.url}/v1/subscribe?table=churn`, {
    headers: { authorization: `Bearer ${caller.token}` },
    signal: controller.signal,
  });
  if (reply.statusCode !== 200) throw new Unexpected(reply.statusCode, `subscribe: ${await reply.body.text()}`);
  let received = "";
  reply.body.on("data", (data: Buffer) => {
    if (received.length < 10_000) received += data.toString();
  });
  const left = new Promise<void>((resolve) => reply.body.on("error", () => resolve()));
  await sleep(STAYS_MS);
  controller.abort();
  await left;
  expect(received.includes("event: subscribed"), `a subscription began with ${received.slice(0, 200)}`);
  expect(received.includes("event: change"), "a subscription saw no change");
}

async function socket(caller: Caller): Promise<void> {
  const { data } = await caller.want(200, "POST", "/v1/ws/ticket");
  const ticket = data.ticket ?? data.token;
  const connection = new WebSocket(`${caller.url.replace("http", "ws")}/ws?token=${ticket}`);
  const types = new Set<string>();
  let failure = "";
  connection.addEventListener("message", ({ data: text }) => {
    const message = JSON.parse(String(text)) as { type: string };
    types.add(message.type);
    if (message.type === "error") failure = String(text);
  });
  await new Promise((resolve, reject) => {
    connection.addEventListener("open", resolve, { once: true });
    connection.addEventListener("error", () => reject(new Unexpected(0, "a WebSocket did not open")), { once: true });
  });
  connection.send(
    JSON.stringify({ type: "sql.execute.stream", id: 1, sql: "SELECT * FROM kv ORDER BY id LIMIT 5000" }),
  );
  connection.send(JSON.stringify({ type: "subscribe", id: 2, sql: "SELECT count(*) FROM churn" }));
  await sleep(STAYS_MS);
  const closed = new Promise((resolve) => connection.addEventListener("close", resolve, { once: true }));
  connection.close();
  await closed;
  expect(failure === "", failure);
  for (const type of ["sql.done", "subscribed", "result"])
    expect(types.has(type), `no message ${type} in ${[...types]}`);
}
