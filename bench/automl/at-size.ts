/** One training in a process of its own, for its time and memory: `node at-size.js ROWS TRIALS`. Prints JSON. */
import { loadModel } from "../../src/automl/load-model.js";
import { trainJob } from "../../src/automl/train-job.js";
import { rowsOf, wideTable } from "./tables.js";

const HELD = 5000;
const [rows, maxTrials] = process.argv.slice(2).map(Number) as [number, number];
const table = wideTable(rows + HELD);
const columns = rowsOf(table, 0, rows);
const held = rowsOf(table, rows, rows + HELD);
const cpu = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};
const before = process.memoryUsage().rss;
const from = cpu();
const started = performance.now();
const phases: Record<string, number> = {};
let last = { phase: "preparing", at: cpu() };
const model = trainJob(
  { columns, target: "answer", task: "auto", maxTrials, timeBudgetMs: 3_600_000, seed: 1 },
  {
    progress: ({ phase }) => {
      if (phase === last.phase) return;
      phases[last.phase] = (phases[last.phase] ?? 0) + cpu() - last.at;
      last = { phase, at: cpu() };
    },
  },
);
const cpuSeconds = cpu() - from;
const seconds = (performance.now() - started) / 1000;
// Before predictions take their own.
const peakMib = process.resourceUsage().maxRSS / 1024;
const loaded = loadModel(model.bytes);
const evaluated = loaded.evaluate(held);
const predictFrom = cpu();
let predicted = 0;
while (cpu() - predictFrom < 1) predicted += loaded.predict(held).predictions.length;
const perCpuSecond = Math.round(predicted / (cpu() - predictFrom));
console.log(
  JSON.stringify({
    rows,
    cpuSeconds,
    seconds,
    phases,
    inputMib: before / 2 ** 20,
    peakMib,
    modelKib: model.bytes.length / 1024,
    members: model.card.members,
    trials: model.trials.map(({ algorithm, status, durationMs }) => ({ algorithm, status, durationMs })),
    auc: evaluated.auc,
    perCpuSecond,
  }),
);
