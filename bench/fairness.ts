/**
 * Fairness between tenants of one actor. One tenant (the quiet one) sends point reads at a fixed rate, far below what
 * the server can do, in rounds: alone, and beside another tenant that
 *
 *   reports  runs TPC-H Q1, Q9 and Q18 in a loop
 *   flood    sends 20 times as many requests, a fifth of them writes
 *   training trains models (POST /v1/automl/train) on TRAINING_ROWS rows (default 20,000), one after the other
 *
 * Latencies are taken from when a request should have been sent (fairness/open-loop.ts). Alone and beside alternate,
 * so that what else the machine does falls on both; the difference is told by rounds, with an interval. Many short
 * rounds say more than few long ones. What the server counts (waits in the actor's queue, CPU time of its turns) is
 * told beside it. SCALE (default 0.1), ROUNDS, SECONDS, RATE (requests a second of the quiet tenant, default 250),
 * SCENARIO ("reports", "flood", "training"), SERVER_PROGRAM (another build's bin/tessera), SERVER_LOG,
 * SERVER_LOG_LEVEL, SERVER_FLAGS.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { promisify } from "node:util";
import { medianInterval } from "./fairness/median-interval.js";
import type { OpenLoop, OpenLoopResult } from "./fairness/open-loop.js";
import { describeBuckets, readTurns, type Turns, turnsBetween } from "./fairness/server-turns.js";
import { post, type Running, startTessera } from "./servers.js";
import { sortedQuantile } from "./statistics.js";
import { generate, type Row, TABLES } from "./tpch/generate.js";
import { suiteFolder } from "./tpch.js";

/** Of the table that is read. */
export const ROWS = 10_000;
const ROWS_PER_STATEMENT = 200;
const STATEMENTS_PER_REQUEST = 50;
const QUERIES = [1, 9, 18];
const QUIET_CONNECTIONS = 32;
const FLOOD_CONNECTIONS = 64;
const FLOOD_FACTOR = 20;
const FLOOD_WRITES = 0.2;
const RESULT_BYTES_MAX = 256 * 1024 * 1024;

/** Keeps the server busy until stopped; tells in words what it did. */
type Neighbour = () => { stop(): Promise<string> };

export async function fairness(rounds: number, seconds: number): Promise<void> {
  const rate = Number(process.env.RATE ?? 250);
  const chosen = process.env.SCENARIO;
  const server = await startTessera({ TESSERA_ACTORS: "1", TESSERA_QUERY_MEMORY_BYTES_MAX: String(2 ** 31) });
  try {
    const quiet = { ...server, token: await tenantToken(server, "quiet") };
    await loadAccounts(quiet);
    await openLoop(quiet, { requestsPerSecond: rate * 4, seconds: 3, connections: QUIET_CONNECTIONS, writes: 0 });
    const scenarios: [string, () => Promise<Neighbour | null>][] = [
      ["flood", () => prepareFlood(server, rate, seconds)],
      ["reports", () => prepareReports(server)],
      ["training", () => prepareTraining(server)],
    ];
    for (const [name, prepare] of scenarios) {
      if (chosen !== undefined && chosen !== name) continue;
      const neighbour = await prepare();
      if (neighbour !== null) await measureBeside(quiet, name, neighbour, { rate, rounds, seconds });
    }
  } finally {
    await server.stop();
  }
}

interface Extent {
  readonly rate: number;
  readonly rounds: number;
  readonly seconds: number;
}

async function measureBeside(quiet: Running, name: string, neighbour: Neighbour, extent: Extent): Promise<void> {
  const load = { requestsPerSecond: extent.rate, seconds: extent.seconds, connections: QUIET_CONNECTIONS, writes: 0 };
  const alone: OpenLoopResult[] = [];
  const beside: OpenLoopResult[] = [];
  const turns: [Turns, Turns][] = [];
  const notes: string[] = [];
  const loads: number[] = [];
  const measureAlone = async (): Promise<void> => void alone.push(await openLoop(quiet, load));
  const measureBoth = async (): Promise<void> => {
    const running = neighbour();
    await new Promise((resolve) => setTimeout(resolve, 300));
    const before = await readTurns(quiet.url);
    beside.push(await openLoop(quiet, load));
    turns.push([before, await readTurns(quiet.url)]);
    notes.push(await running.stop());
  };
  notes.push(`once before: ${await neighbour().stop()}`);
  for (let round = 0; round < extent.rounds; round++) {
    // By turns in either order, so that a machine that grows busier favours neither.
    const order = round % 2 === 0 ? [measureAlone, measureBoth] : [measureBoth, measureAlone];
    for (const measure of order) await measure();
    loads.push(loadavg()[0]!);
  }
  console.log(
    `\n${name}: point reads of a quiet tenant at ${extent.rate}/s, ${extent.rounds} rounds of ${extent.seconds} s`,
  );
  console.log(
    `  ${"milliseconds".padEnd(16)} ${["p50", "p99", "p99.9", "max", "sent late"].map((c) => c.padStart(10)).join("")}`,
  );
  print("alone", alone);
  print("beside", beside);
  printDifference(alone, beside);
  const between = turnsBetween(turns);
  console.log(`  beside, until requests begin (in the actor): ${describeBuckets(between.waits)}`);
  console.log(`  beside, CPU time of the actor's turns: ${describeBuckets(between.cpu)}`);
  console.log(`  the neighbour: ${notes.join("; ")}`);
  const { median, low, high } = medianInterval(loads, 1);
  console.log(`  load of the machine: median ${median.toFixed(1)}, ${low.toFixed(1)} to ${high.toFixed(1)}`);
}

/** By rounds, each of which measures both within seconds: what else the machine does is much the same in a round. */
function printDifference(alone: readonly OpenLoopResult[], beside: readonly OpenLoopResult[]): void {
  const p99 = ({ latenciesMs }: OpenLoopResult): number => quantile([...latenciesMs].sort(ascending), 0.99);
  const pairs = alone.map((one, round) => [p99(one), p99(beside[round]!)] as const);
  const words = (values: readonly number[], unit: string): string => {
    const { median, low, high, confidence } = medianInterval(values);
    const share = (100 * confidence).toFixed(0);
    return `median ${median.toFixed(1)}${unit} (${share} % between ${low.toFixed(1)} and ${high.toFixed(1)})`;
  };
  const difference = words(
    pairs.map(([a, b]) => b - a),
    " ms",
  );
  const ratio = words(
    pairs.map(([a, b]) => b / a),
    "",
  );
  console.log(`  p99 beside − alone by round: ${difference}; beside ÷ alone: ${ratio}`);
  console.log(`  p99 by round: alone ${texts(pairs.map(([a]) => a))}, beside ${texts(pairs.map(([, b]) => b))}`);
}

const texts = (values: readonly number[]): string => values.map((value) => value.toFixed(1)).join(" ");

function ascending(a: number, b: number): number {
  return a - b;
}

const quantile = (sorted: readonly number[], share: number): number => sortedQuantile(sorted, share) ?? Number.NaN;

function print(name: string, results: readonly OpenLoopResult[]): void {
  const all = results.flatMap(({ latenciesMs }) => latenciesMs).sort(ascending);
  const late = Math.max(...results.map(({ lateMs }) => lateMs));
  const cells = [quantile(all, 0.5), quantile(all, 0.99), quantile(all, 0.999), all.at(-1)!, late];
  console.log(`  ${name.padEnd(16)} ${cells.map((cell) => cell.toFixed(2).padStart(10)).join("")}`);
  const errors = results.reduce((sum, one) => sum + one.errors, 0);
  if (errors > 0) throw new Error(`${errors} requests of the quiet tenant failed`);
}

async function openLoop(
  { url, token }: Running,
  load: Pick<OpenLoop, "requestsPerSecond" | "seconds" | "connections" | "writes">,
): Promise<OpenLoopResult> {
  const { hostname, port } = new URL(url);
  const argument: OpenLoop = { host: hostname, port: Number(port), token, rows: ROWS, ...load };
  const script = new URL("./fairness/open-loop.js", import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(process.execPath, [script, JSON.stringify(argument)], {
    maxBuffer: RESULT_BYTES_MAX,
  });
  return JSON.parse(stdout) as OpenLoopResult;
}

export async function tenantToken({ url, token }: Pick<Running, "url" | "token">, id: string): Promise<string> {
  const password = `password of ${id}`;
  await post(`${url}/admin/tenants`, { id }, token);
  await post(`${url}/admin/tenants/${id}/users`, { username: id, password }, token);
  const answer = await post(`${url}/v1/auth/login`, { username: id, password }, null);
  return answer.access_token as string;
}

export async function loadAccounts({ url, token }: Pick<Running, "url" | "token">): Promise<void> {
  const execute = (sql: string): Promise<unknown> => post(`${url}/v1/query/execute`, { sql }, token);
  await execute("CREATE TABLE accounts (id integer PRIMARY KEY, name text NOT NULL, balance integer NOT NULL)");
  for (let from = 1; from <= ROWS; from += 1000) {
    const rows = Array.from({ length: 1000 }, (_, i) => `(${from + i}, 'name of ${from + i}', ${(from + i) % 1000})`);
    await execute(`INSERT INTO accounts VALUES ${rows.join(", ")}`);
  }
}

async function prepareFlood(server: Running, rate: number, seconds: number): Promise<Neighbour> {
  const hot = { ...server, token: await tenantToken(server, "hot") };
  await loadAccounts(hot);
  return () => {
    // Longer than the quiet tenant's requests, which begin a little later.
    const load = { requestsPerSecond: rate * FLOOD_FACTOR, seconds: seconds + 1.5, connections: FLOOD_CONNECTIONS };
    const running = openLoop(hot, { ...load, writes: FLOOD_WRITES });
    return {
      stop: async () => {
        const { latenciesMs, errors } = await running;
        const p99 = quantile([...latenciesMs].sort(ascending), 0.99).toFixed(0);
        return `${latenciesMs.length} requests (${errors} refused, p99 ${p99} ms)`;
      },
    };
  };
}

async function prepareReports(server: Running): Promise<Neighbour | null> {
  const suite = suiteFolder();
  if (suite === null) {
    console.log("fairness: no TPC-H schema and queries found; name their folder in TPCH_SUITE.");
    return null;
  }
  const reporter = { ...server, token: await tenantToken(server, "reporter") };
  await loadTpch(reporter, suite, Number(process.env.SCALE ?? 0.1));
  return () => runReports(reporter, suite);
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

async function prepareTraining(server: Running): Promise<Neighbour> {
  const trainer = { ...server, token: await tenantToken(server, "trainer") };
  const rows = Number(process.env.TRAINING_ROWS ?? 20_000);
  const execute = (sql: string): Promise<unknown> => post(`${trainer.url}/v1/query/execute`, { sql }, trainer.token);
  await execute("CREATE TABLE samples (id integer PRIMARY KEY, a float8, b float8, c text, y text)");
  await execute(
    `INSERT INTO samples SELECT i, sin(i), cos(i * 0.7), 'kind ' || i % 7,
       CASE WHEN sin(i) + cos(i * 0.7) + (i % 7) * 0.2 + sin(i * 12.9898) > 0.6 THEN 'yes' ELSE 'no' END
     FROM generate_series(1, ${rows}) AS i`,
  );
  return () => runTrainings(trainer);
}

/** Trains round and round; what runs when it is to stop is stopped. */
function runTrainings({ url, token }: Running): ReturnType<Neighbour> {
  let stopped = false;
  let count = 0;
  let job = "";
  const status = async (): Promise<string> => {
    const reply = await fetch(`${url}/v1/automl/jobs/${job}`, { headers: { authorization: `Bearer ${token}` } });
    return ((await reply.json()) as { data: { status: string } }).data.status;
  };
  const loop = (async () => {
    while (!stopped) {
      const body = { table: "samples", target: "y", max_trials: 30, name: "bench", features: ["a", "b", "c"] };
      const made = await post(`${url}/v1/automl/train`, body, token);
      job = (made.data as { readonly job_id: string }).job_id;
      while (!stopped && ["pending", "running"].includes(await status())) {
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      count++;
    }
    await post(`${url}/v1/automl/jobs/${job}/stop`, {}, token);
  })();
  return {
    stop: async () => {
      stopped = true;
      await loop;
      return `${count} trainings begun`;
    },
  };
}

/** Runs the queries round and round until stopped, at least each once. */
function runReports({ url, token }: Running, suite: string): ReturnType<Neighbour> {
  const texts = QUERIES.map((number) =>
    readFileSync(`${suite}/queries/q${String(number).padStart(2, "0")}.sql`, "utf8"),
  );
  let stopped = false;
  let count = 0;
  let totalMs = 0;
  const loop = (async () => {
    for (let i = 0; !stopped || i < texts.length; i++) {
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
      return `${count} reports, ${(totalMs / count).toFixed(0)} ms each`;
    },
  };
}
