/**
 * TPC-H: the 22 queries on data of our own generator, beside PostgreSQL and SQLite with the same data in the same run.
 * Answers are checked against PostgreSQL's (SQLite's are shown when they differ: it computes in floating point).
 *
 * SCALE (default 0.1), ROUNDS, QUERIES ("1,6,17") and TPCH_SUITE, the folder with schema.sql and queries/qNN.sql.
 */
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { postgresBinaries } from "./contenders/postgres-cluster.js";
import { geometricMean } from "./statistics.js";
import { difference } from "./tpch/compare-answers.js";
import { postgresSide } from "./tpch/postgres-side.js";
import type { Answer, Side } from "./tpch/side.js";
import { sqliteSide } from "./tpch/sqlite-side.js";
import { tesseraSide } from "./tpch/tessera-side.js";

const ROOT = new URL("../../", import.meta.url).pathname;
const QUERIES = 22;

/** What the peers get besides their primary keys; Tessera has none of them. */
const PEER_INDEXES = `
  CREATE INDEX l_partkey_idx ON lineitem (l_partkey, l_suppkey);
  CREATE INDEX o_custkey_idx ON orders (o_custkey);
  CREATE INDEX ps_suppkey_idx ON partsupp (ps_suppkey);`;

/** Relative: exact numerics against each other, and against floating point. */
const TOLERANCE = { postgresql: 1e-12, sqlite: 1e-6 };

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
    console.log(`\nTPC-H at scale ${scale}, milliseconds (medians of ${rounds} rounds after a first one)`);
    console.log(`  ${"query".padEnd(6)}${sides.map(({ name }) => name.padStart(12)).join("")}   to postgresql`);
    const times: number[][] = [];
    const wrong: string[] = [];
    for (const { number, sql } of queries) {
      const measured = await measureAll(sides, sql, rounds);
      const line = measured.map(({ milliseconds }) => milliseconds);
      times.push(line);
      const note = noteOn(sides, measured, line);
      if (note.wrong) wrong.push(number);
      console.log(`  Q${number.padEnd(5)}${line.map((ms) => ms.toFixed(1).padStart(12)).join("")}   ${note.text}`);
    }
    printMeans(sides, times);
    if (wrong.length > 0) throw new Error(`different answers: ${wrong.join(", ")}`);
  } finally {
    for (const side of sides) await side.stop();
  }
}

/** Tessera first, then the peers that this machine has. PEERS=none leaves them out. */
async function openSides(schema: string): Promise<Side[]> {
  const sides: Side[] = [await tesseraSide(schema)];
  if (process.env.PEERS === "none") return sides;
  const binaries = postgresBinaries();
  if (binaries === null) console.log("PostgreSQL is not installed here: left out, answers are not checked against it.");
  else sides.push(await postgresSide(binaries, schema, PEER_INDEXES));
  const sqlite = sqliteSide(schema, PEER_INDEXES);
  if (sqlite === null) console.log("better-sqlite3 is not installed (npm ci --prefix bench/peers): left out.");
  else sides.push(sqlite);
  return sides;
}

interface Measured {
  readonly answer: Answer | null;
  readonly error: string | null;
  /** Median; not a number when the query failed. */
  readonly milliseconds: number;
}

async function measureAll(sides: readonly Side[], sql: string, rounds: number): Promise<Measured[]> {
  const measured: Measured[] = [];
  for (const side of sides) measured.push(await measure(side, sql, rounds));
  return measured;
}

async function measure(side: Side, sql: string, rounds: number): Promise<Measured> {
  try {
    const answer = await side.query(sql);
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) times.push((await side.query(sql)).milliseconds);
    times.sort((a, b) => a - b);
    return { answer, error: null, milliseconds: times[Math.floor(times.length / 2)] ?? answer.milliseconds };
  } catch (error) {
    return { answer: null, error: (error as Error).message, milliseconds: Number.NaN };
  }
}

function noteOn(sides: readonly Side[], measured: readonly Measured[], line: readonly number[]) {
  const ours = measured[0]!;
  const reference = sides.findIndex(({ name }) => name === "postgresql");
  const notes: string[] = reference < 0 ? [] : [`${(line[0]! / line[reference]!).toFixed(2)}×`];
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

function printMeans(sides: readonly Side[], times: readonly (readonly number[])[]): void {
  const means = sides.map((_, i) => geometricMean(times.map((line) => line[i]!)));
  console.log(`  ${"mean".padEnd(6)}${means.map((mean) => mean.toFixed(1).padStart(12)).join("")}   (geometric)`);
  for (let i = 1; i < sides.length; i++) {
    const ratios = times.map((line) => line[0]! / line[i]!);
    const worst = Math.max(...ratios);
    console.log(`  tessera / ${sides[i]!.name}: ${(means[0]! / means[i]!).toFixed(2)}, worst ${worst.toFixed(2)}`);
  }
}
