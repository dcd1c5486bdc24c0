/**
 * What the server costs at rest: start-up to listening and memory, with an empty store and with TENANTS tenants (1,000)
 * of TABLES tables each (10), right after they were made over HTTP, when they have been idle for IDLE seconds (10), and
 * after a restart. STARTS (5) starts each; the least and the median are told, as whatever else the machine does only
 * adds to it.
 */
import { readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { accessTokenSigner } from "../src/protocol/access-token.js";
import { post, type Running, startTessera, temporaryDirectory } from "./servers.js";

const TENANTS = Number(process.env.TENANTS ?? 1000);
const TABLES = Number(process.env.TABLES ?? 10);
const IDLE_SECONDS = Number(process.env.IDLE ?? 10);
const STARTS = Number(process.env.STARTS ?? 5);
const CONCURRENCY = 4;
const MIB = 1024 * 1024;

interface Start {
  readonly server: Running;
  /** From the start of the process until it listens. */
  readonly seconds: number;
  readonly cpuSeconds: number;
}

/** All rounds together cost the same; the settings of other benches do not apply. */
export async function cost(): Promise<void> {
  console.log(`load average before: ${loadavg()[0]!.toFixed(1)}`);
  const empty = await starts(() => temporaryDirectory("cost"), 0);
  await report("empty store", empty);
  await empty.server.stop();

  const directory = temporaryDirectory("cost");
  const { server } = await start(directory, IDLE_SECONDS);
  const began = performance.now();
  const tokens = await makeTenants(server, directory);
  console.log(`${TENANTS} tenants of ${TABLES} tables made in ${((performance.now() - began) / 1000).toFixed(0)} s`);
  await memory("just made", server);
  await useAll(server, tokens);
  await memory("all just used", server);
  await sleep(IDLE_SECONDS + 15);
  await memory(`idle for ${IDLE_SECONDS} s`, server);
  await server.stop();
  const again = await starts(() => directory, 300);
  await report("restarted", again);
  await useAll(again.server, tokens);
  await memory("all used again", again.server);
  await again.server.stop();
}

async function start(directory: string, idleSeconds: number): Promise<Start> {
  const began = performance.now();
  const server = await startTessera({
    TESSERA_DATA_DIR: directory,
    ...(idleSeconds === 0 ? {} : { TESSERA_LIMITS_TENANT_IDLE_SECONDS: String(idleSeconds) }),
  });
  const listening = performance.now();
  const cpuSeconds = server.cpuSeconds();
  // The server was handed over after its first sign-in; another one tells how much of the time that was.
  await post(`${server.url}/v1/auth/login`, { username: "admin", password: "bench-password" }, null);
  const signIn = performance.now() - listening;
  return { server, seconds: (listening - began - signIn) / 1000, cpuSeconds };
}

/** The last server goes on running. */
async function starts(directory: () => string, idleSeconds: number): Promise<{ server: Running; all: Start[] }> {
  const all: Start[] = [];
  for (;;) {
    const one = await start(directory(), idleSeconds);
    all.push(one);
    if (all.length === STARTS) return { server: one.server, all };
    await one.server.stop();
  }
}

async function report(when: string, { server, all }: { server: Running; all: readonly Start[] }): Promise<void> {
  const seconds = all.map((one) => one.seconds).sort((a, b) => a - b);
  const cpu = all.map((one) => one.cpuSeconds).sort((a, b) => a - b);
  const middle = Math.floor(seconds.length / 2);
  console.log(
    `${when}: listening after ${seconds[0]!.toFixed(2)} s at best, median ${seconds[middle]!.toFixed(2)} s; ` +
      `CPU with a sign-in ${cpu[0]!.toFixed(2)} s, median ${cpu[middle]!.toFixed(2)} s`,
  );
  await sleep(2);
  await memory(when, server);
}

async function memory(when: string, { pid, url }: Running): Promise<void> {
  const rss = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024;
  const page = await (await fetch(`${url}/metrics`)).text();
  const heaps = [...page.matchAll(/^tessera_actor_heap_bytes\{actor="(\d+)"\} (\d+)/gm)];
  const tenants = [...page.matchAll(/^tessera_partition_tenants_in_memory\S* (\d+)/gm)].map(([, count]) =>
    Number(count),
  );
  const gateway = Number(/^nodejs_heap_size_used_bytes (\d+)/m.exec(page)?.[1] ?? 0) / MIB;
  const actors = heaps.map(([, actor, bytes]) => `actor ${actor} ${(Number(bytes) / MIB).toFixed(0)}`).join(", ");
  console.log(
    `${when}: RSS ${rss.toFixed(0)} MiB; heaps in MiB: gateway ${gateway.toFixed(0)}, ${actors}; ` +
      `tenants in memory ${tenants.reduce((sum, count) => sum + count, 0)}`,
  );
}

/** Their users' tokens, signed here with the installation's secret: a thousand sign-ins would take a minute. */
async function makeTenants(server: Running, directory: string): Promise<string[]> {
  const sign = accessTokenSigner(readFileSync(join(directory, "secret.key")));
  const tokens = new Array<string>(TENANTS);
  const now = Math.floor(Date.now() / 1000);
  await inParallel(TENANTS, async (index) => {
    const id = `tenant-${index}`;
    await post(`${server.url}/admin/tenants`, { id }, server.token);
    const body = { username: `user-${index}`, password: "a password of a bench" };
    const { data } = (await post(`${server.url}/admin/tenants/${id}/users`, body, server.token)) as {
      data: { id: string };
    };
    tokens[index] = sign({
      ...{ sub: data.id, username: body.username, tenant_id: id, company_id: id, roles: ["user"] },
      ...{ epoch: 0, iat: now, exp: now + 86_400 },
    });
    const statements = Array.from({ length: TABLES }, (_, table) => ({
      sql: `CREATE TABLE table_${table} (id serial PRIMARY KEY, name text NOT NULL, at timestamptz DEFAULT now(), amount numeric(10,2))`,
    }));
    await post(`${server.url}/v1/query/execute/batch`, { statements }, tokens[index]!);
  });
  return tokens;
}

/** A row into each of two tables and one query, as a small application would. */
async function useAll(server: Running, tokens: readonly string[]): Promise<void> {
  await inParallel(tokens.length, async (index) => {
    const statements = [
      { sql: "INSERT INTO table_0 (name, amount) VALUES ('a name', 12.5)" },
      { sql: "INSERT INTO table_1 (name, amount) VALUES ('a name', 12.5)" },
      { sql: "SELECT count(*), sum(amount) FROM table_0 JOIN table_1 USING (id)" },
    ];
    await post(`${server.url}/v1/query/execute/batch`, { statements }, tokens[index]!);
  });
}

async function inParallel(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}

function sleep(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}
