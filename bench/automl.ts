/**
 * `make bench BENCH=automl`: what the automatic search finds beside plain models on eight tables, how true its
 * probabilities are, that a seed repeats it, and what trainings cost. ROWS and TRIALS change the tables and the search.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import {
  ALGORITHMS,
  type Algorithm,
  type ColumnData,
  type LoadedModel,
  METRICS_OF,
  type TrainJob,
} from "../src/automl/contract.js";
import { rowsOfColumn } from "../src/automl/features/read-column.js";
import { loadModel } from "../src/automl/load-model.js";
import { calibrationError } from "../src/automl/metrics.js";
import { trainJob } from "../src/automl/train-job.js";
import { automlBesidePeers } from "./automl/peers.js";
import { type BenchTable, benchTables, rowsOf } from "./automl/tables.js";

const ROWS = Number(process.env.ROWS ?? 2000);
const TRIALS = Number(process.env.TRIALS ?? 6);
const SIZES = (process.env.SIZES ?? "10000 100000")
  .split(" ")
  .filter((size) => size !== "")
  .map(Number);
const HELD_SHARE = 0.3;

export async function automl(): Promise<void> {
  if (process.env.PEERS === "sklearn") return automlBesidePeers();
  console.log(`automl: ${ROWS} rows a table, ${HELD_SHARE * 100} % held back; ${TRIALS} configurations a search.`);
  console.log("table     metric     automatic  linear  forest   boost    network  plainest | Brier   ECE    | members");
  // In processes of their own, one after the other, on the other core.
  const sizes = SIZES.reduce<Promise<void>>((before, rows) => before.then(() => atSize(rows)), Promise.resolve());
  for (const table of benchTables(ROWS)) {
    const from = process.cpuUsage().user;
    console.log(`${measure(table)}; ${((process.cpuUsage().user - from) / 1e6).toFixed(0)} CPU s`);
    await new Promise(setImmediate);
  }
  await sizes;
}

function jobOf({ target, asked }: BenchTable, columns: readonly ColumnData[], more: Partial<TrainJob>): TrainJob {
  return { columns, target, task: "auto", maxTrials: TRIALS, timeBudgetMs: 3_600_000, seed: 1, ...asked, ...more };
}

function measure(table: BenchTable): string {
  const rows = rowsOfColumn(table.columns[0]!);
  const split = table.asked.horizon === undefined ? Math.round(rows * (1 - HELD_SHARE)) : rows - table.asked.horizon;
  const learned = rowsOf(table.columns, 0, split);
  const held = rowsOf(table.columns, split, rows);
  const job = jobOf(table, learned, {});
  const found = trainJob(job);
  const again = trainJob(job);
  if (digest(found.bytes) !== digest(again.bytes)) throw new Error(`${table.name}: the same seed gave another model`);
  const metric = METRICS_OF[found.task][0]!;
  const model = loadModel(found.bytes);
  const automatic = model.evaluate(held)[metric]!;
  const alone = (algorithm: Algorithm) =>
    loadModel(trainJob(jobOf(table, learned, { algorithms: [algorithm], maxTrials: 1 })).bytes).evaluate(held)[metric]!;
  const [boost, forest, network, linear] = ALGORITHMS.map(alone);
  const shown = [automatic, linear, forest, boost, network, found.card.baseline[metric]].map((value) => digits(value!));
  const members = found.card.members.map(({ algorithm, weight }) => `${algorithm} ${weight.toFixed(2)}`).join(", ");
  return `${table.name.padEnd(9)} ${metric.padEnd(10)} ${shown.join(" ")} | ${truth(model, table, held)} | ${members}; same seed, same bytes`;
}

function digits(value: number): string {
  return value.toPrecision(4).padStart(8);
}

/** On the rows held back. */
function truth(model: LoadedModel, { target }: BenchTable, held: readonly ColumnData[]): string {
  if (model.classes === null) return "-       -     ";
  const { probabilities } = model.predict(held);
  const column = held.find(({ name }) => name === target)!;
  const actual = Float64Array.from(
    Array.from(column.values as ArrayLike<string | number>, (label) => model.classes!.indexOf(String(label))),
  );
  const two = model.classes.length === 2;
  const predicted = two ? actual.map((_, row) => probabilities![2 * row + 1]!) : probabilities!;
  const ece = calibrationError(actual, predicted, model.classes.length);
  return `${model.evaluate(held).brier!.toFixed(4)}  ${ece.toFixed(4)}`;
}

function digest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

interface AtSize {
  readonly rows: number;
  readonly cpuSeconds: number;
  readonly seconds: number;
  readonly phases: Readonly<Record<string, number>>;
  readonly inputMib: number;
  readonly peakMib: number;
  readonly modelKib: number;
  readonly auc: number;
  readonly perCpuSecond: number;
  readonly members: readonly { readonly algorithm: string; readonly weight: number }[];
}

async function atSize(rows: number): Promise<void> {
  const script = fileURLToPath(new URL("./automl/at-size.js", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script, String(rows), String(TRIALS)]);
  const result = JSON.parse(stdout) as AtSize;
  const phases = Object.entries(result.phases).map(([phase, seconds]) => `${phase} ${seconds.toFixed(1)}`);
  const members = result.members.map(({ algorithm, weight }) => `${algorithm} ${weight.toFixed(2)}`);
  const lines = [
    `${rows} rows x 50 columns: ${result.cpuSeconds.toFixed(1)} CPU s (${phases.join(", ")}), ${result.seconds.toFixed(1)} s;`,
    `peak ${result.peakMib.toFixed(0)} MiB (${result.inputMib.toFixed(0)} before); model ${result.modelKib.toFixed(0)} KiB (${members.join(", ")});`,
    `AUC ${result.auc.toFixed(4)} on 5000 rows held back; ${result.perCpuSecond} predictions per CPU s`,
  ];
  console.log(lines.join("\n  "));
}
