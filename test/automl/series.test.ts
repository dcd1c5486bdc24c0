/** Forecasts and clusters from whole trainings. */
import t from "tap";
import type { ColumnData } from "../../src/automl/contract.js";
import { loadModel } from "../../src/automl/load-model.js";
import { Random } from "../../src/automl/random.js";
import { trainJob as train } from "../../src/automl/train-job.js";
import { job } from "./tables.js";

const DAY_MS = 86_400_000;

function daily(days: number, noise: number): { when: Float64Array; sales: Float64Array } {
  const random = new Random(1, "daily");
  const when = Float64Array.from({ length: days }, (_, day) => Date.UTC(2023, 0, 1) + day * DAY_MS);
  const week = [0, 5, 6, 7, 9, 20, 15];
  const sales = Float64Array.from(
    when,
    (moment, day) => 100 + 0.2 * day + week[new Date(moment).getUTCDay()]! + noise * random.normal(),
  );
  return { when, sales };
}

const columnsOf = ({ when, sales }: { when: Float64Array; sales: Float64Array }): ColumnData[] => [
  { name: "day", kind: "timestamp", values: when },
  { name: "sales", kind: "number", values: sales },
];

t.test("a series with a week and a trend: beats the week before, intervals hold", async (t) => {
  const whole = daily(400, 1);
  const known = { when: whole.when.slice(0, 372), sales: whole.sales.slice(0, 372) };
  // Rows need no order.
  const shuffled = { when: known.when.toReversed(), sales: known.sales.toReversed() };
  const request = job(columnsOf(shuffled), "sales", {
    timeColumn: "day",
    horizon: 28,
    maxTrials: 2,
    algorithms: ["linear", "xgboost"],
  });
  const model = train(request);
  t.equal(model.task, "forecasting");
  t.match(model.card.columnsUsed[1]!.treatment, /a season of 7 steps/);
  t.ok(model.metrics.mase! < model.card.baseline.mase!, `${model.metrics.mase} under ${model.card.baseline.mase}`);
  const loaded = loadModel(model.bytes);
  const { times, predictions, lower, upper, coverage } = loaded.forecast();
  t.equal(predictions.length, 28);
  t.same([...times], [...whole.when.slice(372)]);
  const inside = predictions.filter(
    (_, i) => lower[i]! <= whole.sales[372 + i]! && whole.sales[372 + i]! <= upper[i]!,
  ).length;
  t.equal(coverage, 0.9);
  t.ok(inside >= 22, `${inside} of 28 within the interval`);
  const scores = loaded.evaluate(columnsOf({ when: whole.when.slice(372), sales: whole.sales.slice(372) }));
  t.ok(scores.mae! < 2, `mean error ${scores.mae}`);
  t.ok(loaded.forecast(40).predictions.length === 40);
  t.throws(() => loaded.forecast(0), { code: "invalid_request" });
  t.throws(() => loaded.predict([]), { code: "invalid_request", message: /forecasts a series/ });
  t.throws(() => loaded.evaluate(columnsOf(known)), {
    code: "invalid_request",
    message: /Row 1: its time is not one of/,
  });
  t.ok(Buffer.from(train(request).bytes).equals(model.bytes), "the same seed gives the same bytes");
});

t.test("months are counted by the calendar; swings that grow are even as logarithms", async (t) => {
  const random = new Random(2, "monthly");
  const when = Float64Array.from({ length: 96 }, (_, month) => Date.UTC(2015, month, 1));
  const sales = Float64Array.from(when, (_, month) =>
    Math.exp(4 + 0.012 * month + 0.3 * Math.sin((month * Math.PI) / 6) + 0.02 * random.normal()),
  );
  const model = train(
    job(columnsOf({ when, sales }), "sales", {
      timeColumn: "day",
      task: "forecasting",
      maxTrials: 2,
      horizon: 12,
      algorithms: ["linear", "random_forest"],
    }),
  );
  t.match(model.card.columnsUsed[1]!.treatment, /its logarithm; a season of 12 steps/);
  const { times, predictions } = loadModel(model.bytes).forecast(12);
  t.same(
    [...times],
    Array.from({ length: 12 }, (_, month) => Date.UTC(2023, month, 1)),
  );
  const truth = Array.from({ length: 12 }, (_, i) =>
    Math.exp(4 + 0.012 * (96 + i) + 0.3 * Math.sin(((96 + i) * Math.PI) / 6)),
  );
  const error = truth.reduce((sum, value, i) => sum + Math.abs(predictions[i]! / value - 1) / 12, 0);
  t.ok(error < 0.06, `mean error ${(100 * error).toFixed(1)} %`);
});

t.test("gaps are filled and told; what is no series is refused", async (t) => {
  const { when, sales } = daily(100, 1);
  const keep = (row: number) => row % 10 !== 3;
  const gappy = { when: when.filter((_, row) => keep(row)), sales: sales.filter((_, row) => keep(row)) };
  const asked = { timeColumn: "day", task: "forecasting", algorithms: ["linear"], maxTrials: 1 } as const;
  t.match(train(job(columnsOf(gappy), "sales", asked)).card.warnings.join(" "), /10 missing steps were interpolated/);
  const refused = (columns: ColumnData[], message: RegExp) =>
    t.throws(() => train(job(columns, "sales", asked)), { code: "invalid_request", message });
  refused(columnsOf({ when: when.map(() => 0), sales }), /Several rows have the time 1970/);
  refused(
    columnsOf({ when: when.map((moment, i) => moment + ((i * i * 7919) % 97) * 3_600_000 * 20), sales }),
    /not evenly spaced|Several rows/,
  );
  refused(
    columnsOf({ when: when.slice(0, 5), sales: sales.slice(0, 5) }),
    /5 value\(s\); forecasting needs at least 12/,
  );
  refused(columnsOf({ when, sales: sales.map(() => 4) }), /"sales" is 4 in every row/);
});

t.test("clusters: as many as the silhouette says, new rows to the nearest", async (t) => {
  const random = new Random(3, "heaps");
  const at = [
    [0, 0],
    [8, 8],
    [0, 8],
    [8, 0],
  ] as const;
  const x = Float64Array.from({ length: 400 }, (_, row) => at[row % 4]![0] + random.normal());
  const y = Float64Array.from({ length: 400 }, (_, row) => at[row % 4]![1] + random.normal());
  const columns: ColumnData[] = [
    { name: "x", kind: "number", values: x },
    { name: "y", kind: "number", values: y },
  ];
  const model = train(job(columns, null));
  t.equal(model.task, "clustering");
  t.equal(model.algorithm, "kmeans");
  t.equal(model.card.classes!.length, 4);
  t.ok(model.metrics.silhouette! > 0.6);
  const loaded = loadModel(model.bytes);
  const { predictions } = loaded.predict([
    { name: "x", kind: "number", values: Float64Array.of(0, 8, 0.5) },
    { name: "y", kind: "number", values: Float64Array.of(0, 8, 0.2) },
  ]);
  t.equal(predictions[0], predictions[2]);
  t.not(predictions[0], predictions[1]);
  t.ok(loaded.evaluate(columns).silhouette! > 0.6);
  t.equal(train(job(columns, null, { task: "clustering", clusters: 3 })).card.classes!.length, 3);
});
