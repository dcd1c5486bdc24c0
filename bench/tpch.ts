/**
 * TPC-H: the 22 queries on data of our own generator, beside PostgreSQL, DuckDB and SQLite with the same data in the
 * same run. Each query is run once after a restart of its own (the page cache stays warm). Then, without another
 * restart, each is run once more and in rounds. Answers are checked against PostgreSQL's (DuckDB's and SQLite's are
 * shown when they differ: they compute in floating point).
 *
 * Tessera is a server with its default configuration, asked over HTTP; TESSERA_QUERY_MEMORY_BYTES_MAX and other
 * settings of the server may be given. SERVER_PROGRAM: another build's bin/tessera.
 *
 * SCALE (default 0.1), ROUNDS, QUERIES ("1,6,17") and TPCH_SUITE, the folder with schema.sql and queries/qNN.sql.
 */
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { duckDbIsInstalled } from "./contenders/duckdb-process.js";
import { postgresBinaries } from "./contenders/postgres-cluster.js";
import { geometricMean, median } from "./statistics.js";
import { difference } from "./tpch/compare-answers.js";
import { duckDbSide } from "./tpch/duckdb-side.js";
import { postgresSide } from "./tpch/postgres-side.js";
import type { Answer, Side, TpchSide } from "./tpch/side.js";
import { sqliteSide } from "./tpch/sqlite-side.js";
import { tesseraServerSide } from "./tpch/tessera-server-side.js";

const ROOT = new URL("../../", import.meta.url).pathname;
const QUERIES = 22;

/** What PostgreSQL and SQLite get besides their primary keys; the others have none of them. */
const PEER_INDEXES = `
  CREATE INDEX l_partkey_idx ON lineitem (l_partkey, l_suppkey);
  CREATE INDEX o_custkey_idx ON orders (o_custkey);
  CREATE INDEX ps_suppkey_idx ON partsupp (ps_suppkey);`;

/** Relative: exact numerics against each other, and against floating point. */
const TOLERANCE = { postgresql: 1e-12, duckdb: 1e-6, sqlite: 1e-6 };

/** The suite's folder: named in the environment, or `shared` beside the repository or its parent. */
export function suiteFolder(): string | null {
  const named = process.env.TPCH_SUITE;
  const candidates = named === undefined ? ["shared", "../shared", "../../shared"].map(inRoot) : [resolve(named)];
  return candidates.find((folder) => existsSync(`${folder}/schema.sql`)) ?? null;
}

function inRoot(folder: string): string {
  return resolve(ROOT, folder, "suites/tpch");
}

export async function tpch(rounds: number): Promise<void> {
  const suite = suiteFolder();
  if (suite === null) {
    console.log("TPC-H: no schema and queries found; name their folder in TPCH_SUITE.");
    return;
  }
  const scale = Number(process.env.SCALE ?? 0.1);
  const numbers = (process.env.QUERIES ?? Array.from({ length: QUERIES }, (_, i) => i + 1).join(",")).split(",");
  const schema = readFileSync(`${suite}/schema.sql`, "utf8");
  const queries = numbers.map((number) => ({
    number,
    sql: readFileSync(`${suite}/queries/q${number.padStart(2, "0")}.sql`, "utf8"),
  }));
  const sides = await openSides(schema);
  try {
    for (const side of sides) {
      const started = performance.now();
      await side.load(scale);
      console.log(`${side.name}: loaded in ${((performance.now() - started) / 1000).toFixed(1)} s`);
    }
    const firsts: Run[][] = [];
    for (const { sql } of queries) firsts.push(await ofEach(sides, (side) => firstRun(side, sql)));
    const names = sides.map(({ name }) => name.padStart(11)).join("");
    console.log(
      `\nTPC-H at scale ${scale}, milliseconds: first runs after a restart | medians of ${rounds} rounds without one`,
    );
    console.log(`  query ${names} |${names} | to postgresql, first and later`);
    const times: Times[] = [];
    const wrong: string[] = [];
    for (const [i, { number, sql }] of queries.entries()) {
      const runs = firsts[i]!;
      const first = runs.map(({ milliseconds }) => milliseconds);
      const line = { first, later: await ofEach(sides, (side) => laterRuns(side, sql, rounds)) };
      times.push(line);
      const note = noteOn(sides, runs, line);
      if (note.wrong) wrong.push(number);
      console.log(`  Q${number.padEnd(4)} ${cells(line.first)} |${cells(line.later)} | ${note.text}`);
    }
    printMeans(sides, times);
    if (wrong.length > 0) throw new Error(`different answers: ${wrong.join(", ")}`);
  } finally {
    for (const side of sides) await side.stop();
  }
}

/** Tessera first, then the peers that this machine has. PEERS=none leaves them out. */
async function openSides(schema: string): Promise<TpchSide[]> {
  const sides: TpchSide[] = [await tesseraServerSide(schema)];
  if (process.env.PEERS === "none") return sides;
  const binaries = postgresBinaries();
  if (binaries === null) console.log("PostgreSQL is not installed here: left out, answers are not checked against it.");
  else sides.push(await postgresSide(binaries, schema, PEER_INDEXES));
  if (duckDbIsInstalled()) sides.push(await duckDbSide(schema));
  else console.log("DuckDB is not installed (npm ci --prefix bench/peers/duckdb): left out.");
  const sqlite = sqliteSide(schema, PEER_INDEXES);
  if (sqlite === null) console.log("better-sqlite3 is not installed (npm ci --prefix bench/peers): left out.");
  else sides.push(sqlite);
  return sides;
}

interface Run {
  readonly answer: Answer | null;
  readonly error: string | null;
  /** Not a number when the query failed. */
  readonly milliseconds: number;
}

/** Milliseconds of one query, by side. */
interface Times {
  readonly first: readonly number[];
  readonly later: readonly number[];
}

function cells(times: readonly number[]): string {
  return times.map((ms) => ms.toFixed(1).padStart(11)).join("");
}

async function ofEach<T>(sides: readonly TpchSide[], ask: (side: TpchSide) => Promise<T>): Promise<T[]> {
  const answers: T[] = [];
  for (const side of sides) answers.push(await ask(side));
  return answers;
}

async function firstRun(side: TpchSide, sql: string): Promise<Run> {
  try {
    await side.restart();
    const answer = await side.query(sql);
    return { answer, error: null, milliseconds: answer.milliseconds };
  } catch (error) {
    return { answer: null, error: (error as Error).message, milliseconds: Number.NaN };
  }
}

/** The median of the rounds after one that does not count; not a number when the query fails. */
async function laterRuns(side: TpchSide, sql: string, rounds: number): Promise<number> {
  try {
    const times: number[] = [];
    for (let round = 0; round <= rounds; round++) times.push((await side.query(sql)).milliseconds);
    return median(times.slice(1));
  } catch (error) {
    console.log(`  ${side.name}: ${(error as Error).message}`);
    return Number.NaN;
  }
}

function noteOn(sides: readonly Side[], measured: readonly Run[], { first, later }: Times) {
  const ours = measured[0]!;
  const reference = sides.findIndex(({ name }) => name === "postgresql");
  const notes: string[] =
    reference < 0 ? [] : [first, later].map((times) => `${(times[0]! / times[reference]!).toFixed(2)}×`);
  let wrong = ours.error !== null;
  measured.forEach(({ answer, error }, i) => {
    if (error !== null) notes.push(`${sides[i]!.name}: ${error}`);
    if (i === 0 || ours.answer === null || answer === null) return;
    const name = sides[i]!.name as keyof typeof TOLERANCE;
    const different = difference(ours.answer.rows, answer.rows, TOLERANCE[name]);
    if (different === null) return;
    notes.push(`differs from ${name}: ${different}`);
    if (name === "postgresql") wrong = true;
  });
  return { text: notes.join("   "), wrong };
}

function printMeans(sides: readonly Side[], times: readonly Times[]): void {
  const meansOf = (when: keyof Times) => sides.map((_, i) => geometricMean(times.map((line) => line[when][i]!)));
  const [first, later] = [meansOf("first"), meansOf("later")];
  console.log(`  mean  ${cells(first)} |${cells(later)} | (geometric)`);
  for (let i = 1; i < sides.length; i++) {
    const worst = Math.max(...times.map(({ later: line }) => line[0]! / line[i]!));
    const ratios = [first, later].map((means) => (means[0]! / means[i]!).toFixed(2));
    console.log(
      `  tessera / ${sides[i]!.name}: first ${ratios[0]}, later ${ratios[1]}, worst later ${worst.toFixed(2)}`,
    );
  }
}
