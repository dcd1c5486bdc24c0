/**
 * Many WebSockets: CONNECTIONS (10,000) open ones and the memory of each; RATE (100) changes a second told to
 * SUBSCRIBERS (1,000) of them, and how long each took from the write's request to the subscriber; then STORM (2,000)
 * subscribers come back at once with their last sequence. Everything on one machine: the clients' CPU time counts
 * against the server.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { SocketReader } from "./load/socket-reader.js";
import { settledMemoryOf } from "./processes.js";
import { post, type Running, startTessera } from "./servers.js";

const CONNECTIONS = Number(process.env.CONNECTIONS ?? 10_000);
const SUBSCRIBERS = Number(process.env.SUBSCRIBERS ?? 1000);
const RATE = Number(process.env.RATE ?? 100);
const STORM = Number(process.env.STORM ?? 2000);
const AT_ONCE = 100;

export async function subscribers(_rounds: number, seconds: number): Promise<void> {
  const most = String(CONNECTIONS + STORM + 100);
  const server = await startTessera({
    TESSERA_ACTORS: "1",
    TESSERA_WEBSOCKET_CONNECTIONS_MAX: most,
    TESSERA_WEBSOCKET_CONNECTIONS_PER_TENANT_MAX: most,
    TESSERA_LIMITS_CONNECTIONS_MAX: most,
  });
  const sql = (text: string, parameters: readonly unknown[] = []) =>
    post(`${server.url}/v1/query/execute`, { sql: text, parameters }, server.token);
  await sql("CREATE TABLE tick (id integer PRIMARY KEY, sent double precision, note text)");
  // The first fifth is not measured: meanwhile the heap still gives back what the start took.
  const first = await openAll(server, Math.ceil(CONNECTIONS / 5));
  const before = await settledMemoryOf(server.roots);
  const opened = performance.now();
  const others = await openAll(server, CONNECTIONS - first.length);
  const perSecond = (1000 * others.length) / (performance.now() - opened);
  const each = ((await settledMemoryOf(server.roots)) - before) / others.length / 1024;
  const open = [...first, ...others];
  console.log(`${open.length} connections, ${perSecond.toFixed(0)}/s, ${each.toFixed(1)} KiB of memory each`);
  await fanOut(server, open.slice(0, SUBSCRIBERS), Math.max(seconds, 5), sql);
  await storm(server, open, sql);
  for (const reader of open) reader.destroy();
  await server.stop();
}

async function openAll(server: Running, count: number): Promise<SocketReader[]> {
  const open: SocketReader[] = [];
  while (open.length < count) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - open.length) }, () =>
      SocketReader.open(server.url, server.token),
    );
    open.push(...(await Promise.all(some)));
  }
  return open;
}

type Sql = (text: string, parameters?: readonly unknown[]) => Promise<unknown>;

/** The first message to each. */
function answered(readers: readonly SocketReader[], message: object): Promise<void[]> {
  return Promise.all(
    readers.map(
      (reader) =>
        new Promise<void>((resolve) => {
          reader.onMessage = () => resolve();
          reader.send(message);
        }),
    ),
  );
}

async function fanOut(server: Running, readers: readonly SocketReader[], seconds: number, sql: Sql): Promise<void> {
  const beforeBytes = await settledMemoryOf(server.roots);
  await answered(readers, { type: "subscribe", id: 1, table: "tick" });
  const each = ((await settledMemoryOf(server.roots)) - beforeBytes) / readers.length / 1024;
  const latencies: number[] = [];
  for (const reader of readers) {
    reader.onMessage = (payload) => {
      const now = performance.now();
      const at = payload.indexOf('"sent":');
      if (at !== -1) latencies.push(now - Number.parseFloat(payload.toString("latin1", at + 7, at + 30)));
    };
  }
  const cpu = server.cpuSeconds();
  const started = performance.now();
  const writes: Promise<unknown>[] = [];
  const count = RATE * seconds;
  for (let i = 0; i < count; i++) {
    const wait = started + (i * 1000) / RATE - performance.now();
    if (wait > 0) await sleep(wait);
    writes.push(sql("INSERT INTO tick VALUES ($1, $2, 'a note of some length')", [i, performance.now()]));
  }
  await Promise.all(writes);
  const took = (performance.now() - started) / 1000;
  for (let i = 0; i < 100 && latencies.length < count * readers.length; i++) await sleep(100);
  const used = server.cpuSeconds() - cpu;
  latencies.sort((a, b) => a - b);
  const at = (share: number): string => latencies[Math.floor((latencies.length - 1) * share)]!.toFixed(1);
  console.log(
    `${(count / took).toFixed(0)} changes/s to ${readers.length} subscribers: ${latencies.length} of ${count * readers.length} delivered, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms; the server used ${((100 * used) / took).toFixed(0)}% of a core; ${each.toFixed(1)} KiB a subscription`,
  );
}

/** Subscribers that were gone for 50 changes. */
async function storm(server: Running, open: SocketReader[], sql: Sql): Promise<void> {
  const [first] = await openAll(server, 1);
  const from = await new Promise<number>((resolve) => {
    first!.onMessage = (payload) => resolve((JSON.parse(payload.toString()) as { sequence: number }).sequence);
    first!.send({ type: "subscribe", id: 1, table: "tick" });
  });
  for (const reader of open.splice(0, STORM)) reader.destroy();
  first!.destroy();
  for (let i = 0; i < 50; i++) await sql("INSERT INTO tick VALUES ($1, 0, 'missed')", [1_000_000 + i]);
  const started = performance.now();
  const back = await openAll(server, STORM);
  const connected = performance.now();
  await Promise.all(
    back.map(
      (reader) =>
        new Promise<void>((resolve) => {
          let changes = 0;
          const ask = () => reader.send({ type: "subscribe", id: 1, table: "tick", sequence: from });
          reader.onMessage = (payload) => {
            if (payload.includes('"missed"') && ++changes === 50) resolve();
            // A tenant may have so many requests on their way; others try again.
            else if (payload.includes('"rate_limited"')) setTimeout(ask, 50 + Math.random() * 100);
          };
          ask();
        }),
    ),
  );
  const ended = performance.now();
  open.push(...back);
  console.log(
    `${STORM} come back: connected after ${((connected - started) / 1000).toFixed(1)} s, all caught up with 50 changes each ${((ended - connected) / 1000).toFixed(1)} s later`,
  );
}
