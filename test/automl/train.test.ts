/** Whole trainings: what is learned, said, repeated, resumed, stopped and refused. */
import { MessageChannel } from "node:worker_threads";
import t from "tap";
import type { ColumnData, TrainJob, TrainMessage, TrainProgress } from "../../src/automl/contract.js";
import { ALGORITHMS } from "../../src/automl/contract.js";
import { loadModel } from "../../src/automl/load-model.js";
import { Random } from "../../src/automl/random.js";
import { train as trainOnThread } from "../../src/automl/train.js";
import { trainJob as train } from "../../src/automl/train-job.js";
import { columnsOfRows } from "./columns.js";
import { customers, firstRows, job } from "./tables.js";

const numbers = (name: string, values: ArrayLike<number>): ColumnData => ({
  name,
  kind: "number",
  values: Float64Array.from(values),
});
const texts = (name: string, values: (string | null)[]): ColumnData => ({ name, kind: "text", values });

t.test("of few rows fewer configurations are tried, unless their number is named", async (t) => {
  const few = customers(80);
  const tried = (more: Partial<TrainJob>) =>
    train(job(few, "leaves", { algorithms: ["linear"], maxTrials: 20, ...more })).trials.length;
  t.equal(tried({ trialsAreUsual: true }), 9);
  t.equal(tried({ trialsAreUsual: true, maxTrials: 3 }), 3);
  t.equal(tried({ maxTrials: 11 }), 11);
});

t.test("classes: a model that beats the baseline, a card that tells, predictions with reasons", async (t) => {
  const table = customers(600);
  const held = customers(400, 2);
  const seen: TrainProgress[] = [];
  const model = train(job(table, "leaves", { maxTrials: 5 }), { progress: (progress) => seen.push(progress) });
  t.equal(model.task, "binary_classification");
  t.same(model.classes, ["no", "yes"]);
  t.ok(model.metrics.log_loss! < 0.85 * model.card.baseline.log_loss!);
  t.same(
    model.card.columnsDropped.map(({ name }) => name),
    ["key"],
  );
  t.match(model.card.columnsUsed.find(({ name }) => name === "city")?.treatment, /mean for each of 30 values/);
  t.same(
    model.features.map(({ name }) => name),
    ["age", "income", "plan", "city"],
  );
  t.equal(model.card.importance[0]!.feature, "age");
  t.equal(model.trials.length, 5);
  t.equal(seen.at(-1)!.phase, "done");
  t.ok(seen.some(({ phase }) => phase === "screening") && seen.some(({ phase }) => phase === "validating"));

  const loaded = loadModel(model.bytes);
  t.same(loaded.card, model.card);
  const scores = loaded.evaluate(held);
  t.ok(scores.auc! > 0.75, `AUC ${scores.auc} on new rows`);
  t.ok(Math.abs(scores.log_loss! - model.metrics.log_loss!) < 0.08, "the card's loss is what new rows show");
  const { predictions, probabilities, explanations, explanationMethod } = loaded.predict(firstRows(held, 3), {
    explain: true,
  });
  t.same(
    predictions,
    [0, 1, 2].map((row) => (probabilities![2 * row + 1]! >= 0.5 ? "yes" : "no")),
  );
  t.ok(Math.abs(probabilities![0]! + probabilities![1]! - 1) < 1e-12);
  t.equal(explanations!.length, 3);
  t.same(explanations![0]!.contributions.map(({ feature }) => feature).sort(), ["age", "city", "income", "plan"]);
  t.ok(explanationMethod);
  // A row is predicted the same alone and among others.
  t.same(loaded.predict(firstRows(held, 1, 2)).probabilities, probabilities!.slice(4));
});

t.test("the same seed gives the same bytes, another one others", async (t) => {
  const table = customers(150);
  const bytes = (seed: number) => train(job(table, "leaves", { seed, maxTrials: 4, folds: 2 })).bytes;
  const [one, again, other] = [bytes(5), bytes(5), bytes(6)];
  t.ok(Buffer.from(one).equals(again));
  t.notOk(Buffer.from(one).equals(other));
});

t.test("a training that was stopped goes on from its checkpoints to the same model", async (t) => {
  const request = job(customers(200), "leaves", { maxTrials: 5, algorithms: ["xgboost", "linear"] });
  const stopped = new Int32Array(1);
  const checkpoints: Uint8Array[] = [];
  const half = () =>
    train(request, {
      stopped,
      checkpoint: (bytes) => {
        checkpoints.push(bytes);
        if (checkpoints.length === 6) stopped[0] = 1;
      },
    });
  t.throws(half, { code: "cancelled" });
  t.equal(checkpoints.length, 6);
  let anew = 0;
  const damaged = checkpoints[0]!.slice();
  damaged[5]! ^= 1;
  const resumed = train(request, { checkpoints: [damaged, ...checkpoints.slice(1)], checkpoint: () => anew++ });
  const whole = train(request);
  t.ok(Buffer.from(resumed.bytes).equals(whole.bytes));
  const pieces = whole.trials.length + whole.trials.filter(({ status }) => status !== "screened").length;
  t.equal(anew, pieces - 5, "the damaged piece and those that were missing are computed");
  const others = train({ ...request, seed: 9 }, { checkpoints, checkpoint: () => anew++ });
  t.ok(
    Buffer.from(others.bytes).equals(train({ ...request, seed: 9 }).bytes),
    "checkpoints of another job are not used",
  );
});

t.test("a configuration that falls far behind is given up after the first fold, and has no vote", async (t) => {
  const random = new Random(4, "corners");
  const x = Array.from({ length: 300 }, () => random.between(-1, 1));
  const y = Array.from({ length: 300 }, () => random.between(-1, 1));
  const columns = [
    numbers("x", x),
    numbers("y", y),
    texts(
      "same",
      x.map((each, row) => (each * y[row]! > 0 ? "yes" : "no")),
    ),
  ];
  for (const metric of ["log_loss", "accuracy"] as const) {
    const model = train(job(columns, "same", { maxTrials: 2, algorithms: ["xgboost", "linear"], metric }));
    const [boosting, linear] = model.trials;
    t.match(boosting, { algorithm: "xgboost", status: "finished" });
    t.equal(boosting!.foldScores.length, 5);
    t.match(linear, { algorithm: "linear", status: "given_up" });
    t.equal(linear!.foldScores.length, 1);
    t.same(new Set(model.card.members.map(({ algorithm }) => algorithm)), new Set(["xgboost"]));
  }
});

t.test("the time budget ends the search, and the card says so", async (t) => {
  let clock = 0;
  const model = train(
    job(customers(200), "leaves", { maxTrials: 8, timeBudgetMs: 1000, algorithms: ["linear", "xgboost"] }),
    {
      now: () => (clock += 100),
    },
  );
  t.ok(model.trials.length < 8);
  t.ok(model.trials.some(({ status }) => status === "finished"));
  t.match(model.card.limits.join(" "), /time budget \(1000 ms\)/);
});

t.test("values and several classes", async (t) => {
  const random = new Random(2, "values");
  const x = Array.from({ length: 400 }, () => random.between(0, 10));
  const z = Array.from({ length: 400 }, () => random.pick(["a", "b"]));
  const y = x.map((value, row) => 5 * Math.sin(value) + (z[row] === "a" ? 3 : 0) + 0.2 * random.normal());
  const columns = [numbers("x", x), texts("z", z), numbers("y", y)];
  const regression = train(job(columns, "y", { maxTrials: 2, algorithms: ["xgboost", "random_forest"] }));
  t.equal(regression.task, "regression");
  t.ok(regression.metrics.r2! > 0.9, `R2 ${regression.metrics.r2}`);
  t.equal(loadModel(regression.bytes).predict(firstRows(columns, 2)).probabilities, null);

  const stripes = texts(
    "stripe",
    x.map((value) => `stripe ${Math.floor(value / 2.5)}`),
  );
  const classes = train(
    job([numbers("x", x), texts("z", z), stripes], "stripe", { algorithms: ["xgboost"], maxTrials: 1 }),
  );
  t.equal(classes.task, "multiclass_classification");
  t.ok(classes.metrics.accuracy! > 0.95);
  const { predictions, probabilities, explanationMethod, explanations } = loadModel(classes.bytes).predict(
    [numbers("x", [1]), texts("z", [null])],
    { explain: true },
  );
  t.same(predictions, ["stripe 0"]);
  t.equal(probabilities!.length, 4);
  t.equal(explanationMethod, "tree_path");
  t.equal(explanations![0]!.contributions[0]!.feature, "x");
});

t.test("numbers and truths come back as such; text of numbers is read as numbers", async (t) => {
  const random = new Random(3, "truths");
  const x = Array.from({ length: 120 }, () => random.next());
  const asked: Partial<TrainJob> = { algorithms: ["linear"], maxTrials: 1 };
  const zeros = train(
    job(
      [
        texts("x", x.map(String)),
        numbers(
          "y",
          x.map((value) => (value > 0.5 ? 7 : 3)),
        ),
      ],
      "y",
      asked,
    ),
  );
  t.same(zeros.features, [{ name: "x", kind: "number" }]);
  t.same(loadModel(zeros.bytes).predict([texts("x", ["0.9", "0.1"])]).predictions, [7, 3]);
  const truths: ColumnData = {
    name: "y",
    kind: "boolean",
    values: Float64Array.from(x, (value) => (value > 0.5 ? 1 : 0)),
  };
  t.same(
    loadModel(train(job([numbers("x", x), truths], "y", asked)).bytes).predict([numbers("x", [0.9])]).predictions,
    [true],
  );
});

t.test("vectors are reduced and learned from, dates by their parts", async (t) => {
  const random = new Random(4, "vectors");
  const rows = 300;
  const values = Float32Array.from({ length: rows * 64 }, () => 0.1 * random.normal());
  const when = Float64Array.from({ length: rows }, () => Date.UTC(2024, 0, 1) + random.below(365) * 86_400_000);
  const y = Array.from({ length: rows }, (_, row) => {
    const side = row % 2 === 0 ? 1 : -1;
    for (let i = 0; i < 64; i += 3) values[row * 64 + i]! += side;
    return side + (new Date(when[row]!).getUTCDay() === 0 ? 4 : 0);
  });
  const columns: ColumnData[] = [
    { name: "words", kind: "vector", dimensions: 64, values },
    { name: "when", kind: "timestamp", values: when },
    numbers("y", y),
  ];
  const model = train(job(columns, "y", { task: "regression", algorithms: ["xgboost"], maxTrials: 1 }));
  t.match(model.card.columnsUsed[0]!.treatment, /24 principal components of 64 numbers/);
  t.match(model.card.columnsUsed[1]!.treatment, /weekday/);
  t.ok(model.metrics.r2! > 0.9, `R2 ${model.metrics.r2}`);
  t.throws(() => loadModel(model.bytes).predict([{ ...columns[0]!, dimensions: 32 } as ColumnData, columns[1]!]), {
    code: "invalid_request",
    message: /"words" needs vector of 64 numbers, not vector of 32/,
  });
});

t.test("leaks: what equals the target is left out, what tells it alone is warned of", async (t) => {
  const table = customers(200);
  const leaves = (table[5]!.values as string[]).slice();
  const copy = texts("copy", leaves);
  const code = texts(
    "code",
    leaves.map((label) => (label === "yes" ? "Y" : "N")),
  );
  const model = train(job([...table, copy, code], "leaves", { algorithms: ["linear"], maxTrials: 1 }));
  t.match(model.card.columnsDropped.find(({ name }) => name === "copy")!.reason, /equals the target/);
  t.match(model.card.warnings.join(" "), /"copy" equals the target.*"code" corresponds one to one to the target/);
  const random = new Random(5, "near");
  const y = Array.from({ length: 200 }, () => random.normal());
  const near = train(
    job(
      [
        numbers(
          "near",
          y.map((value) => 2 * value + 0.001 * random.normal()),
        ),
        numbers("y", y),
      ],
      "y",
      { maxTrials: 1 },
    ),
  );
  t.match(near.card.warnings.join(" "), /"near" predicts the target almost perfectly by itself/);
});

t.test("a column that numbers the rows is learned from where nothing else is, or where it is named", async (t) => {
  const order = Float64Array.from({ length: 60 }, (_, i) => ((i + 1) * 37) % 61);
  const other = Array.from(order, (value) => Math.sin(value));
  const target = numbers(
    "y",
    Array.from(order, (value) => 2 * value + 1),
  );
  const x = numbers("x", order);
  const fast = { maxTrials: 1, algorithms: ["linear"] } as const;
  const only = train(job([x, target], "y", fast)).card;
  t.same(only.columnsDropped, []);
  t.match(only.warnings.join("\n"), /"x" has another whole number in every row, as a key has\. .* nothing else/);
  const beside = train(job([x, numbers("z", other), target], "y", fast)).card;
  t.match(beside.columnsDropped, [{ name: "x", reason: "it numbers the rows" }]);
  const named = train(job([x, numbers("z", other), target], "y", { ...fast, features: ["x"] })).card;
  t.same(named.columnsDropped, []);
  t.notMatch(named.warnings.join("\n"), /as a key has/, "a client that names it knows");
});

t.test("a wrong row of a prediction is named", async (t) => {
  const table = customers(200);
  const model = loadModel(train(job(table, "leaves", { algorithms: ["linear"], maxTrials: 1 })).bytes);
  const rows = firstRows(table, 2);
  t.throws(() => model.predict(rows.slice(1)), {
    code: "invalid_request",
    message: /The feature "age" \(number\) is missing/,
  });
  const spoiled = [texts("age", ["30", "old"]), ...rows.slice(1)];
  t.throws(() => model.predict(spoiled), {
    code: "invalid_request",
    message: /Row 2: the feature "age" needs a number, not "old"/,
  });
  t.equal(model.predict([texts("age", ["30", null]), ...rows.slice(1)]).predictions.length, 2);
  t.throws(() => model.forecast(), { code: "invalid_request" });
  const strange = rows.map((column) => (column.name === "leaves" ? texts("leaves", ["yes", "maybe"]) : column));
  t.throws(() => model.evaluate(strange), {
    code: "invalid_request",
    message: /Row 2: the target "leaves" is "maybe"; it must be one of no, yes/,
  });
});

t.test("what cannot be trained is refused with the reason and a remedy", async (t) => {
  const x = numbers(
    "x",
    Array.from({ length: 200 }, (_, row) => Math.sin(row)),
  );
  const y = numbers(
    "y",
    Array.from({ length: 200 }, (_, row) => Math.cos(row)),
  );
  const refused = (columns: ColumnData[], target: string | null, more: Partial<TrainJob>, message: RegExp) =>
    t.throws(() => train(job(columns, target, more)), { code: "invalid_request", message });
  const same = numbers("y", new Float64Array(200).fill(3));
  refused([x, same], "y", {}, /"y" is "3" in every row; there is nothing to predict/);
  refused([x, texts("y", new Array(200).fill(null))], "y", {}, /"y" has no value in any row/);
  const endless = numbers(
    "y",
    Array.from({ length: 200 }, (_, row) => (row === 3 ? Number.POSITIVE_INFINITY : row)),
  );
  refused([x, endless], "y", {}, /Row 4: the target "y" is infinite/);
  refused([numbers("x", [1]), numbers("y", [1])], "y", {}, /known in 1 row\(s\); training needs at least 4/);
  refused([numbers("x", []), numbers("y", [])], "y", {}, /no rows/);
  refused(
    [
      x,
      texts(
        "y",
        Array.from({ length: 200 }, (_, row) => `label ${row}`),
      ),
    ],
    "y",
    {},
    /200 different values; at most 100 classes/,
  );
  refused(
    [
      x,
      texts(
        "y",
        Array.from({ length: 200 }, (_, row) => `${"ab"[row % 2]}`),
      ),
    ],
    "y",
    { task: "regression" },
    /regression needs numbers/,
  );
  refused([x, y], "z", {}, /There is no column "z". The columns are x, y/);
  refused([x, y], "y", { features: ["w"] }, /There is no column "w"/);
  refused([x, y], "y", { metric: "auc" }, /"auc" is not one of regression; choose rmse, mae, r2/);
  refused([x, y], "y", { task: "binary_classification" }, /200 different values; binary classification needs two/);
  refused([x, y], "y", { maxTrials: 0 }, /max_trials is 0; it must be a whole number from 1 to/);
  refused([x, y], "y", { algorithms: ["magic" as "linear"] }, /no algorithm "magic"; choose among xgboost/);
  refused(
    [numbers("x", new Float64Array(200).fill(1)), y],
    "y",
    {},
    /no column to learn from. "x": its value is the same in all rows/,
  );
  refused([x, y], "y", { task: "forecasting" }, /needs a time column/);
  const wide = Array.from({ length: 1500 }, (_, i) => numbers(`c${i}`, { length: 0 }));
  const sparse = new Float64Array(200_000).map((_, row) => row % 3);
  refused(
    [
      ...wide.map((column) => ({ ...column, values: sparse }) as ColumnData),
      { ...y, values: sparse.map((v) => 2 - v) } as ColumnData,
    ],
    "y",
    { task: "regression" },
    /would take about \d+ MiB; the limit is 2048 MiB. Use fewer columns, or a sample of at most \d+ rows/,
  );
});

t.test("bytes that are damaged or of another version are told", async (t) => {
  const { bytes } = train(job(customers(100), "leaves", { algorithms: ["linear"], maxTrials: 1 }));
  const refused = (spoil: (copy: Uint8Array) => Uint8Array, message: RegExp) =>
    t.throws(() => loadModel(spoil(bytes.slice())), { code: "model_unavailable", message });
  refused((copy) => copy.fill(7, 300, 301), /digest is wrong/);
  refused((copy) => copy.subarray(0, copy.length - 1), /digest is wrong/);
  refused((copy) => copy.fill(9, 4, 5), /version 9/);
  refused(() => new Uint8Array(3), /no model/);
});

t.test("rows in the order of time are validated on later ones", async (t) => {
  const table = customers(240);
  const when: ColumnData = {
    name: "when",
    kind: "timestamp",
    values: Float64Array.from({ length: 240 }, (_, row) => row * 86_400_000),
  };
  const model = train(job([...table, when], "leaves", { timeColumn: "when", algorithms: ["linear", "xgboost"] }));
  t.match(model.card.validation, /in the order of time/);
  t.ok(model.metrics.auc! > 0.7);
});

t.test("as a thread runs it: messages on a port, and bytes that lie on shared memory", async (t) => {
  const { port1, port2 } = new MessageChannel();
  const kinds: string[] = [];
  const heard = new Promise<void>((resolve) => {
    port1.on("message", (message: TrainMessage) => {
      kinds.push(message.kind);
      if (message.kind === "progress" && message.phase === "done") resolve();
    });
  });
  const request = job(customers(100), "leaves", { algorithms: ["linear"], maxTrials: 1 });
  const { bytes } = trainOnThread({ job: request, port: port2, stopped: new SharedArrayBuffer(4) });
  await heard;
  port1.close();
  t.ok(kinds.includes("checkpoint"));
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
  shared.set(bytes);
  t.equal(loadModel(shared).predict(firstRows(customers(100), 5)).predictions.length, 5);
  const stopped = new SharedArrayBuffer(4);
  new Int32Array(stopped)[0] = 1;
  t.throws(() => trainOnThread({ job: request, stopped }), { code: "cancelled" });
});

t.test("a handful of rows trains with every algorithm, and says that it is a handful", async (t) => {
  const rows = Array.from({ length: 8 }, (_, row) => ({
    age: 20 + ((row * 7) % 50),
    plan: "abc"[row % 3]!,
    left: row % 2 === 0,
  }));
  for (const algorithm of ALGORITHMS) {
    const model = train(job(columnsOfRows(rows), "left", { algorithms: [algorithm], maxTrials: 1 }));
    const { predictions, probabilities } = loadModel(model.bytes).predict(columnsOfRows(rows));
    t.ok(
      predictions.every((label) => typeof label === "boolean"),
      algorithm,
    );
    t.ok(
      probabilities!.every((probability) => probability >= 0 && probability <= 1),
      algorithm,
    );
    t.match(model.card.warnings.join(" "), /8 rows are too few to trust/);
  }
});
