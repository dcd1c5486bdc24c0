/**
 * COPY in and out over PostgreSQL's protocol, by psql, of a million narrow rows and of tables of several kinds in each
 * format. Called by pgbench.ts, with Tessera and PostgreSQL side by side. CPU is that of the whole server.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { cpuSecondsOf } from "./processes.js";
import { removeDirectory, temporaryDirectory } from "./servers.js";

export interface CopyServer {
  /** For libpq. */
  readonly environment: Readonly<Record<string, string>>;
  readonly roots: readonly number[];
}

const ROWS = 1_000_000;
const FORMATS = ["text", "csv", "binary"] as const;
const DELIMITED = "md5(i::text) || ' and some more words ' || md5((i + 1)::text)";

interface Kind {
  readonly name: string;
  readonly rows: number;
  readonly columns: string;
  /** Of a row, by its number `i`. */
  readonly values: string;
}

const each = (count: number, item: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => item(n)).join(", ");

const KINDS: readonly Kind[] = [
  { name: "narrow", rows: 500_000, columns: "a int", values: "i" },
  {
    name: "wide",
    rows: 50_000,
    columns: each(40, (n) => (n % 2 === 0 ? `c${n} int` : `c${n} text`)),
    values: each(40, (n) => (n % 2 === 0 ? `i * ${n + 1}` : `'word ' || (i + ${n}) % 1000`)),
  },
  { name: "texts", rows: 100_000, columns: "a text, b text, c text", values: each(3, () => DELIMITED) },
  {
    name: "numeric",
    rows: 200_000,
    columns: each(5, (n) => `n${n} numeric(18, 4)`),
    values: each(5, (n) => `i * ${n + 3}.1357`),
  },
  {
    name: "mixed",
    rows: 100_000,
    columns: "b bool, f float8, d date, t timestamptz, u uuid, j jsonb",
    values:
      "i % 2 = 0, i / 7.0::float8, date '2020-01-01' + i % 5000, timestamptz '2020-01-01 00:00+00' + i * interval '1 minute', " +
      `md5(i::text)::uuid, '{"a": 1, "name": "one of them"}'::jsonb`,
  },
];

interface Cost {
  readonly ms: number;
  /** Until the answer. */
  readonly cpuSeconds: number;
}

/** `theirs` writes the files that both read. */
export async function copies(binaries: string, ours: CopyServer, theirs: CopyServer): Promise<void> {
  const directory = temporaryDirectory("copy");
  await million(binaries, join(directory, "rows"), ours, theirs);
  console.log("\n| COPY of | rows | format | in, CPU s | ratio | out, CPU s | ratio |\n|---|--:|---|--:|--:|--:|--:|");
  for (const kind of KINDS) {
    for (const format of FORMATS) await ofKind(binaries, join(directory, "rows"), kind, format, [ours, theirs]);
  }
  removeDirectory(directory);
}

/**
 * First right after COPY in, while the engine still takes the rows and their columns are being made: that work is most
 * of the CPU time of "out, at once", and "in, after the answer" tells it by itself.
 */
async function million(binaries: string, file: string, ours: CopyServer, theirs: CopyServer): Promise<void> {
  const make = `SELECT i, 'name ' || i, i % 1000 FROM generate_series(1, ${ROWS}) i`;
  psql(binaries, theirs, `\\copy (${make}) TO '${file}'`);
  const costs: Record<string, Cost>[] = [];
  for (const server of [ours, theirs]) {
    psql(binaries, server, "CREATE TABLE copied (id bigint PRIMARY KEY, name text, n int)");
    const measure = (command: string): Cost => costOf(binaries, server, command);
    const into = measure(`\\copy copied FROM '${file}'`);
    const atOnce = measure("\\copy copied TO '/dev/null'");
    const again = measure("\\copy copied TO '/dev/null'");
    psql(binaries, server, "CREATE TABLE rested (id bigint PRIMARY KEY, name text, n int)");
    await quiet(server);
    psql(binaries, server, `\\copy rested FROM '${file}'`);
    const left = await quiet(server);
    costs.push({
      in: into,
      "out, at once, with what COPY in has left to do": atOnce,
      "out, again": again,
      "in, after the answer": left,
      "out, after a rest": measure("\\copy rested TO '/dev/null'"),
    });
  }
  for (const way of Object.keys(costs[0]!)) {
    const [a, b] = costs.map((cost) => cost[way]) as [Cost, Cost];
    console.log(
      `COPY ${way}, ${ROWS} rows: ${a.ms.toFixed(0)} and ${b.ms.toFixed(0)} ms, ${(b.ms / a.ms).toFixed(2)} × PostgreSQL's rate; ` +
        `${a.cpuSeconds.toFixed(2)} and ${b.cpuSeconds.toFixed(2)} s of CPU, ${(b.cpuSeconds / a.cpuSeconds).toFixed(2)} × per CPU second`,
    );
  }
}

async function ofKind(
  binaries: string,
  file: string,
  { name, rows, columns, values }: Kind,
  format: (typeof FORMATS)[number],
  servers: readonly [CopyServer, CopyServer],
): Promise<void> {
  const options = `WITH (FORMAT ${format})`;
  psql(binaries, servers[1], `\\copy (SELECT ${values} FROM generate_series(1, ${rows}) i) TO '${file}' ${options}`);
  const cells: { in: number; out: number }[] = [];
  for (const server of servers) {
    // The second time is measured: code is compiled, and pages are in memory.
    let cost = { in: 0, out: 0 };
    for (let round = 0; round < 2; round++) {
      psql(binaries, server, `DROP TABLE IF EXISTS kind; CREATE TABLE kind (${columns})`);
      await quiet(server);
      const into = costOf(binaries, server, `\\copy kind FROM '${file}' ${options}`).cpuSeconds;
      await quiet(server);
      psql(binaries, server, `\\copy kind TO '/dev/null' ${options}`);
      cost = { in: into, out: costOf(binaries, server, `\\copy kind TO '/dev/null' ${options}`).cpuSeconds };
    }
    cells.push(cost);
  }
  const [a, b] = cells as [{ in: number; out: number }, { in: number; out: number }];
  const cell = (way: "in" | "out"): string =>
    `${a[way].toFixed(2)} and ${b[way].toFixed(2)} | ${(b[way] / a[way]).toFixed(2)}`;
  console.log(`| ${name} | ${rows} | ${format} | ${cell("in")} | ${cell("out")} |`);
}

/** Waits until the server does nothing; answers what it did until then. */
async function quiet({ roots }: CopyServer): Promise<Cost> {
  const started = performance.now();
  const before = cpuSecondsOf(roots);
  let until = started;
  for (let last = before, rests = 0; rests < 3; ) {
    await sleep(250);
    const now = cpuSecondsOf(roots);
    const isQuiet = now - last < 0.03;
    rests = isQuiet ? rests + 1 : 0;
    if (!isQuiet) until = performance.now();
    last = now;
  }
  return { ms: until - started, cpuSeconds: cpuSecondsOf(roots) - before };
}

function costOf(binaries: string, server: CopyServer, command: string): Cost {
  const before = cpuSecondsOf(server.roots);
  const started = performance.now();
  psql(binaries, server, command);
  return { ms: performance.now() - started, cpuSeconds: cpuSecondsOf(server.roots) - before };
}

function psql(binaries: string, { environment }: CopyServer, command: string): void {
  execFileSync(join(binaries, "psql"), ["-v", "ON_ERROR_STOP=1", "-qc", command], {
    env: { ...process.env, ...environment },
    stdio: ["ignore", "ignore", "inherit"],
  });
}
