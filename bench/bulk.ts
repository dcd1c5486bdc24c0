/**
 * Statements over a whole table of ROWS rows (default 1,000,000): filling, indexing, changing and emptying it, beside
 * PostgreSQL and SQLite in the same run; milliseconds of each until the answer. Tessera is a server with its default
 * configuration. Threads of it take a large commit into RocksDB and write columns afterwards; the next statement begins
 * when they are done. CPU is that of all threads and processes: until the answer, and with what was done afterwards. On
 * a busy machine it says more than the time.
 */
import { postgresBinaries } from "./contenders/postgres-cluster.js";
import { postgresSide } from "./tpch/postgres-side.js";
import type { Side } from "./tpch/side.js";
import { sqliteSide } from "./tpch/sqlite-side.js";
import { tesseraSide } from "./tpch/tessera-side.js";

const ROWS = Number(process.env.ROWS ?? 1_000_000);

interface Step {
  readonly name: string;
  readonly sql: string;
  /** In SQLite's dialect; null: it has no such statement. */
  readonly sqlite?: string | null;
}

const series = (columns: string) => `SELECT ${columns} FROM generate_series(1, ${ROWS}) AS g(i)`;
const recursive = (columns: string) =>
  `WITH RECURSIVE g(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM g WHERE i < ${ROWS}) SELECT ${columns} FROM g`;

const STEPS: readonly Step[] = [
  {
    name: "CREATE TABLE AS",
    sql: `CREATE TABLE made AS ${series("i AS a, i * 2 AS b, 'name ' || i AS c")}`,
    sqlite: `CREATE TABLE made AS ${recursive("i AS a, i * 2 AS b, 'name ' || i AS c")}`,
  },
  { name: "CREATE TABLE", sql: "CREATE TABLE t (id integer PRIMARY KEY, k integer, name text, x double precision)" },
  {
    name: "INSERT … SELECT",
    sql: `INSERT INTO t ${series(`i, i % 1000 * 1000 + i / 1000, 'name of ' || i, i / 4.0`)}`,
    sqlite: `INSERT INTO t ${recursive(`i, i % 1000 * 1000 + i / 1000, 'name of ' || i, i / 4.0`)}`,
  },
  {
    name: "CREATE TABLE (indexed)",
    sql: "CREATE TABLE u (id integer PRIMARY KEY, k integer CHECK (k >= 0), name text, x double precision); CREATE INDEX u_k ON u (k)",
  },
  { name: "INSERT … indexed", sql: "INSERT INTO u SELECT id, k, name, x FROM t" },
  { name: "CREATE INDEX", sql: "CREATE INDEX t_k ON t (k)" },
  {
    name: "ADD UNIQUE",
    sql: "ALTER TABLE t ADD CONSTRAINT t_name_key UNIQUE (name)",
    sqlite: "CREATE UNIQUE INDEX t_name_key ON t (name)",
  },
  { name: "ANALYZE", sql: "ANALYZE t" },
  { name: "UPDATE of all", sql: "UPDATE u SET x = x + 1" },
  { name: "UPDATE of key", sql: "UPDATE u SET k = k + 1" },
  { name: "DELETE of all", sql: "DELETE FROM u" },
  { name: "TRUNCATE", sql: "TRUNCATE t", sqlite: "DELETE FROM t" },
];

export async function bulk(): Promise<void> {
  const wanted = process.env.PEERS;
  const sides: Side[] = [await tesseraSide()];
  const binaries = wanted === "none" ? null : postgresBinaries();
  if (binaries !== null) sides.push(await postgresSide(binaries, "", ""));
  const sqlite = wanted === "none" ? null : sqliteSide("", "");
  if (sqlite !== null) sides.push(sqlite);
  const headings = sides.flatMap(({ name }) => [name, "cpu", "cpu after"]);
  console.log(`\nstatements over ${ROWS} rows, milliseconds`);
  console.log(`  ${"".padEnd(24)}${headings.map(inColumn).join("")}   to postgresql   cpu to postgresql`);
  try {
    for (const step of STEPS) console.log(await measured(step, sides, binaries !== null));
  } finally {
    for (const side of sides) await side.stop();
  }
}

const inColumn = (text: string): string => text.padStart(12);

/** The step's line. */
async function measured(step: Step, sides: readonly Side[], hasPostgres: boolean): Promise<string> {
  const figures: (readonly [number, number, number])[] = [];
  for (const side of sides) {
    const before = cpuMillisecondsOf(side);
    const milliseconds = await timeOf(side, step);
    const answered = cpuMillisecondsOf(side);
    await side.settle?.();
    figures.push([milliseconds, answered - before, cpuMillisecondsOf(side) - answered]);
  }
  const columns = figures.flat().map((ms) => inColumn(ms.toFixed(0)));
  const ratio = (at: 0 | 1): string => (hasPostgres ? (figures[0]![at] / figures[1]![at]).toFixed(2) : "");
  return `  ${step.name.padEnd(24)}${columns.join("")}${ratio(0).padStart(16)}${ratio(1).padStart(20)}`;
}

function cpuMillisecondsOf(side: Side): number {
  if (side.cpuSeconds !== undefined) return 1000 * side.cpuSeconds();
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

async function timeOf(side: Side, { sql, sqlite }: Step): Promise<number> {
  const text = side.name === "sqlite" ? (sqlite ?? sql) : sql;
  let milliseconds = 0;
  for (const statement of text.split("; ")) {
    try {
      milliseconds += (await side.query(`${statement};`)).milliseconds;
    } catch (error) {
      console.log(`  ${side.name}: ${(error as Error).message}`);
      return Number.NaN;
    }
  }
  return milliseconds;
}
