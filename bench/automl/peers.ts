/**
 * `PEERS=sklearn make bench BENCH=automl`: the automatic search with its defaults beside scikit-learn's boosting,
 * forest and linear models with theirs, on public tables that come with scikit-learn and with R's packages. The score
 * is the share of right classes, or R², on the 30 % of the rows that are held back, as a mean over SPLITS; times are
 * CPU seconds of learning and predicting. TABLES="wine sonar" runs those alone.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parse } from "csv-parse/sync";
import type { ColumnData } from "../../src/automl/contract.js";
import { loadModel } from "../../src/automl/load-model.js";
import { Random } from "../../src/automl/random.js";
import { trainJob } from "../../src/automl/train-job.js";
import { AUTOML_TRIALS_DEFAULT } from "../../src/protocol/limits.js";
import { removeDirectory, temporaryDirectory } from "../servers.js";
import { writeCsv } from "../tpch/postgres-side.js";

const SPLITS = Number(process.env.SPLITS ?? 3);
const HELD_SHARE = 0.3;
const BUDGET_MS = 3_600_000;
/** Debian's own, which has Debian's packages. */
const PYTHON = "/usr/bin/python3";
const SCRIPTS = new URL("../../../bench/automl/", import.meta.url).pathname;
const REGRESSIONS = new Set(["boston", "diabetes", "sacramento"]);

type Cells = readonly (readonly string[])[];

interface Result {
  readonly score: number;
  readonly cpuSeconds: number;
}

interface Table {
  readonly name: string;
  readonly header: readonly string[];
  readonly rows: Cells;
}

/** Throws with the remedy where a peer is not installed. */
export function automlBesidePeers(): void {
  const missing = [
    [PYTHON, ["-c", "import sklearn"], "python3-sklearn"],
    ["Rscript", ["-e", "library(mlbench); library(caret)"], "r-cran-mlbench r-cran-caret"],
  ] as const;
  for (const [program, args, packages] of missing) {
    if (spawnSync(program, args).status !== 0) {
      throw new Error(`PEERS=sklearn needs Debian's ${packages}: apt-get install ${packages}`);
    }
  }
  const folder = temporaryDirectory("automl-peers");
  try {
    const tables = publicTables(folder);
    console.log(`automl beside scikit-learn: ${tables.length} tables, means of ${SPLITS} splits, one thread each`);
    console.log("| table | rows × columns | automatic | boosting | forest | linear | CPU s | theirs | ÷ |");
    console.log("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    let behind = 0;
    for (const table of tables) behind += compare(table, folder) ? 1 : 0;
    console.log(`behind the best of theirs by more than 1 %: ${behind} of ${tables.length}`);
  } finally {
    removeDirectory(folder);
  }
}

function publicTables(folder: string): Table[] {
  const place = join(folder, "tables");
  mkdirSync(place);
  execFileSync(PYTHON, [join(SCRIPTS, "scikit_learn.py"), "tables", place]);
  execFileSync("Rscript", [join(SCRIPTS, "public-tables.R"), place]);
  const wanted = process.env.TABLES?.split(" ");
  return readdirSync(place)
    .sort()
    .map((file) => ({ file: join(place, file), name: basename(file, ".csv") }))
    .filter(({ name }) => wanted?.includes(name) ?? true)
    .map(({ file, name }) => {
      const [header, ...rows] = parse(readFileSync(file)) as string[][];
      return { name, header: header!, rows };
    });
}

/** Prints a line of the report; whether the automatic search is behind. */
function compare({ name, header, rows }: Table, folder: string): boolean {
  const ours: Result[] = [];
  const theirs: Record<string, Result>[] = [];
  for (let split = 1; split <= SPLITS; split++) {
    const order = new Random(split, name).shuffle(Int32Array.from(rows, (_, i) => i));
    const held = Math.round(rows.length * HELD_SHARE);
    const cellsOf = (part: Int32Array): Cells => Array.from(part, (row) => rows[row]!);
    const [aside, learned] = [cellsOf(order.subarray(0, held)), cellsOf(order.subarray(held))];
    ours.push(automatic(name, header, learned, aside));
    theirs.push(scikitLearn(name, header, learned, aside, folder));
  }
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const score = mean(ours.map((one) => one.score));
  const cpu = mean(ours.map((one) => one.cpuSeconds));
  const names = ["boosting", "forest", "linear"];
  const scores = names.map((model) => mean(theirs.map((one) => one[model]!.score)));
  const cpus = mean(theirs.map((one) => names.reduce((sum, model) => sum + one[model]!.cpuSeconds, 0)));
  const best = Math.max(...scores);
  const cells = [score, ...scores].map((value) => value.toFixed(4));
  const times = [cpu, cpus, cpu / cpus].map((value) => value.toFixed(2));
  console.log(`| ${name} | ${rows.length} × ${header.length - 1} | ${[...cells, ...times].join(" | ")} |`);
  return score < best - 0.01 * Math.abs(best);
}

function columnsOf(header: readonly string[], rows: Cells, isNumber: readonly boolean[]): ColumnData[] {
  return header.map((name, c) => {
    if (!isNumber[c]) return { name, kind: "text", values: rows.map((row) => (row[c] === "" ? null : row[c]!)) };
    const values = Float64Array.from(rows, (row) => (row[c] === "" ? Number.NaN : Number(row[c])));
    return { name, kind: "number", values };
  });
}

function automatic(name: string, header: readonly string[], learned: Cells, held: Cells): Result {
  const all = [...learned, ...held];
  const isNumber = header.map((_, c) => all.every((row) => row[c] === "" || Number.isFinite(Number(row[c]))));
  const target = header.at(-1)!;
  const from = process.cpuUsage();
  const job = { columns: columnsOf(header, learned, isNumber), target, task: "auto" } as const;
  const { bytes } = trainJob({
    ...{ ...job, maxTrials: AUTOML_TRIALS_DEFAULT, trialsAreUsual: true },
    ...{ timeBudgetMs: BUDGET_MS, seed: 0 },
  });
  const scores = loadModel(bytes).evaluate(columnsOf(header, held, isNumber));
  const { user, system } = process.cpuUsage(from);
  return { score: (REGRESSIONS.has(name) ? scores.r2 : scores.accuracy)!, cpuSeconds: (user + system) / 1e6 };
}

function scikitLearn(
  name: string,
  header: readonly string[],
  learned: Cells,
  held: Cells,
  folder: string,
): Record<string, Result> {
  const files = [learned, held].map((rows, i) => {
    const file = join(folder, `${i}.csv`);
    writeCsv(file, (emit) => [header, ...rows].forEach(emit));
    return file;
  });
  const args = [join(SCRIPTS, "scikit_learn.py"), "train", ...files, REGRESSIONS.has(name) ? "regression" : "classes"];
  const env = { ...process.env, OMP_NUM_THREADS: "1", OPENBLAS_NUM_THREADS: "1" };
  return JSON.parse(execFileSync(PYTHON, args, { env, encoding: "utf8" }));
}
