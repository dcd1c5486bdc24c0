/**
 * A table as it grows: import, restarts, first and second reads, bulk writes, memory and disk at each size, beside
 * PostgreSQL and DuckDB with one and two threads, and what a neighbour's point reads on the same actor wait. The
 * systems take part one after the other, each alone on the machine; all answers are compared.
 *
 * SIZES (rows, "100000 1000000"), WAIT_SECONDS (10) between import and stop, RATE (200) of the neighbour, PEERS
 * (postgres, duckdb, none), RESULT.
 */
import { statSync } from "node:fs";
import { loadavg } from "node:os";
import { duckDbIsInstalled } from "./contenders/duckdb-process.js";
import { postgresBinaries } from "./contenders/postgres-cluster.js";
import { chart } from "./growth/chart.js";
import { duckDbSide } from "./growth/duckdb-side.js";
import { postgresSide } from "./growth/postgres-side.js";
import { type GrowthResult, markdown, type SizeResult, stepOf } from "./growth/report.js";
import { runSide, type SideResult } from "./growth/run-side.js";
import type { GrowthSide } from "./growth/side.js";
import { writeTable } from "./growth/table.js";
import { tesseraSide } from "./growth/tessera-side.js";
import { describeMachine } from "./report/machine.js";
import { writeReport } from "./report/results.js";
import { removeDirectory, temporaryDirectory } from "./servers.js";
import { difference } from "./tpch/compare-answers.js";

export const GROWTH_CONTENDERS: readonly string[] = ["postgres", "duckdb"];
/** Relative. Sums are exact; only a text of them may be rounded. */
const TOLERANCE = 1e-12;
/** Told of a difference. */
const DIFFERENCE_CHARS = 300;
const DUCKDB_THREADS = [1, 2];

export async function growth(): Promise<void> {
  const sizes = wordsOf(process.env.SIZES ?? "100000 1000000").map(Number);
  if (sizes.some((rows) => !(rows >= 1000))) throw new Error("SIZES: numbers of rows, 1000 or more");
  const waitSeconds = Number(process.env.WAIT_SECONDS ?? 10);
  const contenders = contendersHere();
  const date = new Date().toISOString().slice(0, 10);
  const machine = describeMachine("bench/load/client.ts");
  const done: SizeResult[] = [];
  for (const rows of sizes) {
    done.push(await runSize(rows, waitSeconds, contenders));
    const result: GrowthResult = { date, machine, loadAverageAfter: loadavg()[0]!, waitSeconds, sizes: done };
    // After each, so that a run that is stopped leaves what it has.
    const base = writeReport(`growth-${date}`, result, markdown(result), chart(result));
    if (rows === sizes.at(-1)) console.log(`\n${markdown(result)}\n\nWritten to ${base}.md, .json and .svg`);
  }
  const differences = done.flatMap((size) => size.differences).length;
  if (differences > 0) throw new Error(`${differences} answers are different; the report names them`);
}

type Open = () => Promise<GrowthSide>;

/** Tessera first, then those peers that PEERS names and this machine has. */
function contendersHere(): Open[] {
  const named = process.env.PEERS === undefined ? GROWTH_CONTENDERS : wordsOf(process.env.PEERS);
  const contenders: Open[] = [tesseraSide];
  if (named.includes("postgres")) {
    const binaries = postgresBinaries();
    if (binaries === null) console.log("PostgreSQL is not installed here: left out.");
    else contenders.push(() => postgresSide(binaries));
  }
  if (named.includes("duckdb")) {
    if (!duckDbIsInstalled()) console.log("DuckDB is not installed (npm ci --prefix bench/peers/duckdb): left out.");
    else contenders.push(...DUCKDB_THREADS.map((threads) => () => duckDbSide(threads)));
  }
  return contenders;
}

async function runSize(rows: number, waitSeconds: number, contenders: readonly Open[]): Promise<SizeResult> {
  const folder = temporaryDirectory("growth-rows");
  const files = writeTable(folder, rows);
  const csvBytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  const sides: SideResult[] = [];
  for (const open of contenders) {
    const side = await open();
    try {
      console.log(`${rows} rows: ${side.name} ${side.version}`);
      sides.push(await runSide(side, files, rows, waitSeconds));
    } finally {
      await side.stop();
    }
  }
  removeDirectory(folder);
  const differences = sides.slice(1).flatMap((side) => differencesOf(sides[0]!, side));
  // Answers were compared; the result needs no rows.
  const bare = sides.map((side) => ({ ...side, steps: side.steps.map((step) => ({ ...step, answer: [] })) }));
  return { rows, csvBytes, sides: bare, differences };
}

function differencesOf(ours: SideResult, theirs: SideResult): string[] {
  return ours.steps.flatMap((step) => {
    const other = stepOf(theirs, step);
    if (other === undefined || step.error !== null || other.error !== null || step.kind === "write") return [];
    const different = difference(step.answer, other.answer, TOLERANCE);
    const words = different?.slice(0, DIFFERENCE_CHARS);
    return words === undefined ? [] : [`${step.name}, ${ours.name} and ${theirs.name}: ${words}`];
  });
}

function wordsOf(text: string): string[] {
  return text.split(/[ ,]+/).filter((word) => word !== "");
}
