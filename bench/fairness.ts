/**
 * Fairness between tenants of one actor: point reads of one tenant, first alone, then while another tenant runs TPC-H
 * Q1, Q9 and Q18 in a loop. Over HTTP; prints p50 and p99 of both. SCALE (default 0.02), SECONDS.
 */
import { readFileSync } from "node:fs";
import { type Load, type Measured, measure } from "./load.js";
import { post, type Running, startTessera } from "./servers.js";
import { generate, type Row, TABLES } from "./tpch/generate.js";
import { suiteFolder } from "./tpch.js";

const ROWS = 10_000;
const ROWS_PER_STATEMENT = 200;
const STATEMENTS_PER_REQUEST = 50;
const QUERIES = [1, 9, 18];
const CONNECTIONS = 8;

export async function fairness(_rounds: number, seconds: number): Promise<void> {
  const suite = suiteFolder();
  if (suite === null) {
    console.log("fairness: no TPC-H schema and queries found; name their folder in TPCH_SUITE.");
    return;
  }
  const server = await startTessera({ TESSERA_ACTORS: "1", TESSERA_QUERY_MEMORY_BYTES_MAX: String(2 ** 31) });
  try {
    const reader = { ...server, token: await tenantToken(server, "reader") };
    const reporter = { ...server, token: await tenantToken(server, "reporter") };
    await loadAccounts(reader);
    await loadTpch(reporter, suite, Number(process.env.SCALE ?? 0.02));
    const load: Load = {
      path: "/v1/query/execute",
      script: "point-read.lua",
      arguments: ["sql", String(ROWS)],
      connections: CONNECTIONS,
      seconds,
    };
    await measure(reader, { ...load, seconds: 2 });
    const alone = await measure(reader, load);
    const reports = runReports(reporter, suite);
    const beside = await measure(reader, load);
    const done = await reports.stop();
    print(alone, beside, done);
  } finally {
    await server.stop();
  }
}

async function tenantToken({ url, token }: Running, id: string): Promise<string> {
  const password = `password of ${id}`;
  await post(`${url}/admin/tenants`, { id }, token);
  await post(`${url}/admin/tenants/${id}/users`, { username: id, password }, token);
  const answer = await post(`${url}/v1/auth/login`, { username: id, password }, null);
  return answer.access_token as string;
}

async function loadAccounts({ url, token }: Running): Promise<void> {
  const execute = (sql: string): Promise<unknown> => post(`${url}/v1/query/execute`, { sql }, token);
  await execute("CREATE TABLE accounts (id integer PRIMARY KEY, name text NOT NULL, balance integer NOT NULL)");
  for (let from = 1; from <= ROWS; from += 1000) {
    const rows = Array.from({ length: 1000 }, (_, i) => `(${from + i}, 'name of ${from + i}', ${(from + i) % 1000})`);
    await execute(`INSERT INTO accounts VALUES ${rows.join(", ")}`);
  }
}

async function loadTpch({ url, token }: Running, suite: string, scale: number): Promise<void> {
  const batch = (statements: readonly unknown[]): Promise<unknown> =>
    post(`${url}/v1/query/execute/batch`, { statements, transactional: true }, token);
  const schema = readFileSync(`${suite}/schema.sql`, "utf8").replace(/--.*$/gm, "");
  await batch(schema.split(";").filter((sql) => sql.trim() !== ""));
  for (const table of TABLES) {
    const rows: Row[] = [];
    generate(table, scale, (row) => rows.push(row));
    const perRequest = ROWS_PER_STATEMENT * STATEMENTS_PER_REQUEST;
    for (let from = 0; from < rows.length; from += perRequest) {
      const statements: unknown[] = [];
      for (let at = from; at < Math.min(from + perRequest, rows.length); at += ROWS_PER_STATEMENT) {
        statements.push(insertOf(table, rows.slice(at, Math.min(at + ROWS_PER_STATEMENT, rows.length))));
      }
      await batch(statements);
    }
  }
}

function insertOf(table: string, rows: readonly Row[]): { sql: string; parameters: unknown[] } {
  let parameter = 0;
  const tuples = rows.map((row) => `(${row.map(() => `$${++parameter}`).join(",")})`);
  return { sql: `INSERT INTO ${table} VALUES ${tuples.join(",")}`, parameters: rows.flat() };
}

/** Runs the queries round and round until stopped; tells how many it ran and how long one took. */
function runReports({ url, token }: Running, suite: string): { stop(): Promise<{ count: number; meanMs: number }> } {
  const texts = QUERIES.map((number) =>
    readFileSync(`${suite}/queries/q${String(number).padStart(2, "0")}.sql`, "utf8"),
  );
  let stopped = false;
  let count = 0;
  let totalMs = 0;
  const loop = (async () => {
    for (let i = 0; !stopped; i++) {
      const started = performance.now();
      await post(`${url}/v1/query/execute`, { sql: texts[i % texts.length]!.trim().replace(/;$/, "") }, token);
      totalMs += performance.now() - started;
      count++;
    }
  })();
  return {
    stop: async () => {
      stopped = true;
      await loop;
      return { count, meanMs: totalMs / count };
    },
  };
}

function print(alone: Measured, beside: Measured, reports: { count: number; meanMs: number }): void {
  console.log(`\npoint reads of one tenant, ${CONNECTIONS} connections, one actor`);
  const row = (name: string, m: Measured): void => {
    const cells = [m.requestsPerSecond.toFixed(0), m.p50Ms.toFixed(2), m.p99Ms.toFixed(2)].map((cell) =>
      cell.padStart(10),
    );
    console.log(`  ${name.padEnd(34)} ${cells.join(" ")}`);
  };
  console.log(`  ${"".padEnd(34)} ${["requests/s", "p50 ms", "p99 ms"].map((cell) => cell.padStart(10)).join(" ")}`);
  row("alone", alone);
  row("beside another tenant's reports", beside);
  console.log(`  reports run meanwhile: ${reports.count}, ${reports.meanMs.toFixed(0)} ms each`);
  if (alone.errors + beside.errors > 0) throw new Error(`${alone.errors + beside.errors} requests failed`);
}
