/** Degenerate scores are told: of trainings on noise and rare classes, not of good ones. */
import t from "tap";
import { metricWarnings } from "../../src/automl/metric-warnings.js";
import { Random } from "../../src/automl/random.js";
import { trainJob as train } from "../../src/automl/train-job.js";
import { columnsOfRows } from "./columns.js";
import { customers, job } from "./tables.js";

const options = { algorithms: ["linear"], maxTrials: 1 } as const;
const told = (rows: readonly object[], target: string) =>
  train(job(columnsOfRows(rows as Record<string, unknown>[]), target, options)).card;

t.test("trainings", async (t) => {
  const random = new Random(7, "noise");
  const noise = Array.from({ length: 300 }, (_, row) => ({
    a: random.normal(),
    b: random.normal(),
    left: row % 15 === 0,
    sold: random.normal(),
  }));
  const rare = told(
    noise.map(({ a, b, left }) => ({ a, b, left })),
    "left",
  );
  t.equal(rare.metrics.f1, 0);
  t.match(rare.warnings.join(" "), /Every validated row was predicted as "false", so F1 is 0: .*probabilities/);
  const values = told(
    noise.map(({ a, b, sold }) => ({ a, b, sold })),
    "sold",
  );
  t.match(
    values.warnings.join(" "),
    /An R² of -?\d\.\d\d means that the features predict hardly better than the target's mean/,
  );
  const good = train(job(customers(400), "leaves", options)).card;
  t.notMatch(good.warnings.join(" "), /validated row|AUC|R²/);
});

t.test("of several classes", async (t) => {
  const metrics = { auc: 0.5 };
  const wanted = Float64Array.of(0, 1, 2, 0);
  const always = Float64Array.from({ length: 12 }, (_, i) => (i % 3 === 0 ? 0.5 : 0.25));
  const classes = ["a", "b", "c"];
  t.match(metricWarnings({ classes, wanted, predicted: always, metrics }), [
    /^Every validated row was predicted as "a": accuracy/,
    /^An AUC of 0.50/,
  ]);
  const two = Float64Array.of(0.6, 0.2, 0.2, 0.2, 0.6, 0.2, 0.6, 0.2, 0.2, 0.2, 0.6, 0.2);
  t.match(metricWarnings({ classes, wanted, predicted: two, metrics: { auc: 0.9 } }), [/^No validated row .* "c"/]);
  const all = Float64Array.of(0.6, 0.2, 0.2, 0.2, 0.6, 0.2, 0.1, 0.2, 0.7, 0.6, 0.2, 0.2);
  t.same(metricWarnings({ classes, wanted, predicted: all, metrics: { auc: 0.9 } }), []);
});
