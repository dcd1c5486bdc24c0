/** Training and prediction over HTTP, with what can go wrong. */
import t from "tap";
import { trainingRows } from "./automl-rows.js";
import { TestServer } from "./server.js";

const server = await TestServer.shared();
t.teardown(() => server.stop());
await server.sql("CREATE TABLE loans (id int PRIMARY KEY, age int, income float8, region text, note text, good text)");
await server.sql(
  `INSERT INTO loans SELECT * FROM json_to_recordset($1::json) AS r(id int, age int, income float8, region text, note text, good text)`,
  [JSON.stringify(trainingRows(240))],
);

const train = (body: object, options = {}) => server.call("POST", "/v1/automl/train", body, options);
const features = ["age", "income", "region"];
const quick = { max_trials: 1, algorithms: ["linear"], seed: 7, task_type: "binary_classification", features };
/** As Date.toISOString writes times. */
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** Synchronous. */
const trained = async (body: object) => (await train({ ...quick, async_mode: false, ...body })).body.data;

async function ended(id: string, options = {}): Promise<Record<string, unknown>> {
  for (;;) {
    const { data } = (await server.call("GET", `/v1/automl/jobs/${id}`, undefined, options)).body;
    if (!["pending", "running"].includes(data.status)) return data;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

t.test("a job trains, and its model predicts", async (t) => {
  // A column of prose is learnt from as vectors.
  const all = { features: [...features, "note"], max_trials: 2 };
  const made = await train({ ...quick, ...all, collection: "loans", target: "good", name: "loans" });
  t.match(made, { status: 202, body: { data: { job_id: /^job_/, id: /^job_/, status: "pending", total_trials: 2 } } });
  const job = await ended(made.body.data.job_id);
  t.match(job, { status: "completed", progress: 1, error: null, model_id: /^model_/ });
  t.type(job.best_score, "number");
  t.equal(job.created_at, made.body.data.created_at, "the stored time is told from the beginning");
  for (const time of [job.created_at, job.started_at, job.completed_at]) t.match(time, ISO);
  const { data: model } = (await server.call("GET", "/v1/automl/models/loans")).body;
  t.match(model.created_at, ISO);
  t.match(model, { id: job.model_id, name: "loans", version: 1, task: "binary_classification", status: "ready" });
  const rows = trainingRows(3).map(({ good: _good, ...row }) => row);
  const path = `/v1/automl/models/${model.id}/predict`;
  const { body } = await server.call("POST", path, { rows, probabilities: true });
  t.equal(body.data.predictions.length, 3);
  t.same(body.predictions, body.data.predictions, "at top level, too");
  const [first] = body.data.probabilities;
  t.ok(Math.abs(Object.values(first as Record<string, number>).reduce((sum, p) => sum + p, 0) - 1) < 1e-9);
  for (const spelling of ["inputs", "features"]) {
    t.same((await server.call("POST", path, { [spelling]: rows })).body.predictions, body.predictions);
  }
  t.match(await server.call("POST", path, { rows: [rows[0], { age: 3 }] }), {
    status: 400,
    body: { error: { message: /Row 2 lacks the feature/ } },
  });
  t.match(await server.call("POST", path, { rows: [{ ...rows[0], age: "old" }] }), {
    status: 400,
    body: { error: { message: /Row 1: the feature "age" needs a number/ } },
  });
  t.match(await server.call("POST", path, {}), { status: 400 });
  t.match(await server.call("POST", path, { rows, inputs: rows }), { status: 400 });
  const jobs = (await server.call("GET", "/v1/automl/jobs?status=completed")).body.data;
  t.match(jobs, { count: 1, jobs: [{ id: job.id }] });
});

t.test("a model is compared with rows whose target is known, wherever they are", async (t) => {
  const path = "/v1/automl/models/loans/evaluate";
  const evaluate = (body: object) => server.call("POST", path, body);
  const rows = trainingRows(240);
  await server.call("POST", "/v1/automl/datasets", { name: "known", rows });
  await server.call("POST", "/v1/collections", { name: "known", schema: { age: "number" } });
  await server.call("POST", "/v1/collections/known/documents/bulk", {
    documents: rows.map(({ id: _id, ...row }) => row),
  });
  const { body } = await evaluate({ table: "loans" });
  t.match(body.data, { rows: 240, model_id: /^model_/ });
  t.ok(body.data.metrics.accuracy > 0.7);
  const query = "SELECT l.*, id AS other FROM loans AS l WHERE id >= $1";
  for (const same of [{ query, parameters: [0] }, { rows }, { dataset_id: "known" }, { collection: "known" }]) {
    const { body: other } = await evaluate(same);
    t.equal(other.data?.rows, 240, JSON.stringify(other.error));
    for (const [metric, value] of Object.entries(body.data.metrics)) {
      t.ok(Math.abs(other.data.metrics[metric] - (value as number)) < 1e-9, `${metric} of ${Object.keys(same)[0]}`);
    }
  }
  const [first] = rows;
  const without = (name: string) => ({ rows: [first, { ...first, [name]: undefined }] });
  for (const [wrong, status, message] of [
    [without("good"), 400, /Row 2 lacks the target "good"/],
    [without("age"), 400, /Row 2 lacks the feature "age"/],
    [{ rows: [{ ...first, age: "old" }] }, 400, /Row 1: the feature "age" needs a number/],
    [{ rows: [{ ...first, good: null }] }, 400, /target "good" is missing/],
    [{ rows: [{ ...first, good: "maybe" }] }, 400, /target "good" is "maybe"; it must be one of no, yes/],
    [{ rows: [] }, 400, /no rows/],
    [{ query: "SELECT * FROM loans WHERE false" }, 400, /no rows/],
    [{ query: "SELECT age, income, region, note FROM loans" }, 400, /lacks the target "good"/],
    [{ query: "SELECT good FROM loans" }, 400, /lacks the feature/],
    [{ query: "SELECT * FRM loans" }, 400, /syntax error/],
    [{ table: "nope" }, 404, /does not exist/],
    [{ dataset_id: "nope" }, 404, /does not exist/],
    [{}, 400, /source/],
    [{ rows, table: "loans" }, 400, /one/],
    [{ table: "loans", dataset_id: "known" }, 400, /one source/],
  ] as const) {
    const reply = await evaluate(wrong);
    t.equal(reply.status, status, `${JSON.stringify(wrong).slice(0, 200)} ${JSON.stringify(reply.body)}`);
    t.match(reply.body.error?.message, message);
  }
  await server.call("DELETE", "/v1/automl/datasets/known");
});

t.test("the same seed gives the same model; a name's next version is the one it means", async (t) => {
  const one = await trained({
    query: "SELECT age, income, region, good FROM loans ORDER BY id",
    target: "good",
    name: "twin",
  });
  const two = await trained({
    query: "SELECT age, income, region, good FROM loans ORDER BY id",
    target: "good",
    name: "twin",
  });
  t.same([one.version, two.version], [1, 2]);
  t.equal(one.digest, two.digest);
  t.equal((await server.call("GET", "/v1/automl/models/twin")).body.data.id, two.id);
  t.equal((await server.call("DELETE", `/v1/automl/models/${two.id}`)).status, 204);
  t.equal((await server.call("GET", "/v1/automl/models/twin")).body.data.id, one.id);
  t.equal((await server.call("DELETE", "/v1/automl/models/twin")).status, 204);
  t.match(await server.call("GET", "/v1/automl/models/twin"), {
    status: 404,
    body: { error: { code: "model_not_found" } },
  });
});

t.test("a series: the next steps, and how far they are off", async (t) => {
  const value = (i: number) => 100 + 20 * Math.sin((i * 2 * Math.PI) / 7) + i / 10;
  const day = (i: number) => new Date(Date.UTC(2024, 0, 1 + i)).toISOString().slice(0, 10);
  const rows = Array.from({ length: 127 }, (_, i) => ({ day: day(i), amount: value(i) }));
  await server.sql("CREATE TABLE sales (day date PRIMARY KEY, amount float8)");
  await server.sql("INSERT INTO sales SELECT * FROM json_to_recordset($1::json) AS r(day date, amount float8)", [
    JSON.stringify(rows),
  ]);
  const series = { target: "amount", time_column: "day", task_type: "auto", features: undefined, name: "sales" };
  const model = await trained({ ...series, query: `SELECT * FROM sales WHERE day < '${day(120)}'`, horizon: 7 });
  t.match(model, { task: "forecasting", card: { taskReason: /time column/ } });
  const path = "/v1/automl/models/sales";
  const { data } = (await server.call("POST", `${path}/predict`, { steps: 2 })).body;
  t.match(data.forecast, [{ time: new RegExp(day(120)) }, { time: new RegExp(day(121)) }]);
  t.match(await server.call("POST", `${path}/predict`, { rows }), {
    status: 400,
    body: { error: { message: /steps/ } },
  });
  const ahead = rows.slice(120);
  const known = (await server.call("POST", `${path}/evaluate`, { rows: ahead })).body.data;
  t.match(known, { rows: 7, metrics: { mae: Number } });
  const query = `SELECT * FROM sales WHERE day >= '${day(120)}'`;
  t.same((await server.call("POST", `${path}/evaluate`, { query })).body.data, known);
  t.match(await server.call("POST", `${path}/evaluate`, { rows }), {
    status: 400,
    body: { error: { message: /Row 1: its time is not one of the/ } },
  });
});

t.test("data sets: a table by another name, and rows that were uploaded", async (t) => {
  const path = "/v1/automl/datasets";
  const table = await server.call("POST", path, { name: "by-table", source: { type: "table", table: "loans" } });
  t.match(table, { status: 201, body: { data: { id: /^ds_/, name: "by-table", row_count: null } } });
  const rows = await server.call("POST", path, { name: "uploaded", rows: trainingRows(120) });
  t.match(rows, { status: 201, body: { data: { row_count: 120 } } });
  t.match(await server.call("POST", path, { name: "uploaded", rows: [{ a: 1 }] }), { status: 409 });
  t.match(await server.call("POST", path, { name: "neither" }), { status: 400 });
  const { count, datasets } = (await server.call("GET", path)).body.data;
  t.equal(count, 2);
  t.match(datasets[0].created_at, ISO);
  t.same(datasets[0].created_at, table.body.data.created_at);
  for (const { body } of [table, rows]) {
    const model = await trained({ dataset_id: body.data.id, target_column: "good" });
    t.match(model, { id: /^model_/, name: "good_model" });
  }
  await server.call("POST", "/v1/collections", { name: "letters", schema: { age: "number" } });
  const documents = trainingRows(20).map(({ id: _id, ...row }) => row);
  await server.call("POST", "/v1/collections/letters/documents/bulk", { documents });
  const source = { type: "query", query: "SELECT age, good FROM loans WHERE age > $1", parameters: [30] };
  const asked = await server.call("POST", path, { name: "asked", source });
  t.match(asked, { status: 201, body: { data: { source } } });
  t.match(await trained({ dataset_id: "asked", target: "good", features: ["age"] }), { card: { rows: /1\d\d/ } });
  const some = { type: "collection", collection: "letters", columns: ["region", "good"] };
  t.equal((await server.call("POST", path, { name: "some", source: some })).status, 201);
  const { features: learnt } = await trained({ dataset_id: "some", target: "good", features: undefined });
  t.same(
    learnt.map(({ name }: { name: string }) => name),
    ["region"],
    "the columns that it names",
  );
  for (const [wrong, status, message, details] of [
    [{ type: "table", table: "nope" }, 404, /"nope" does not exist/, {}],
    [{ type: "collection", collection: "nope" }, 404, /"nope" does not exist/, {}],
    [{ type: "table", table: "loans", columns: ["age", "nope"] }, 404, /column "nope" does not exist/, {}],
    [{ type: "collection", collection: "letters", columns: ["nope"] }, 404, /column "nope" does not exist/, {}],
    [{ type: "query", query: "SELECT age FROM nope" }, 400, /nope/, { position: 17 }],
    [{ type: "query", query: "SELECT nope FROM loans" }, 400, /nope/, { position: 8 }],
    [{ type: "query", query: "SELECT age FRM loans" }, 400, /syntax error/, { position: 16 }],
    [{ type: "query", query: "SELECT $1::int AS a" }, 400, /parameter/, {}],
    [{ type: "query", query: "DELETE FROM loans" }, 403, /read-only|permission/i, {}],
    [{ type: "query" }, 400, /source.query/, {}],
    [{ type: "table", table: "loans", query: "SELECT 1" }, 400, /source.query/, {}],
    [{ type: "file", table: "loans" }, 400, /type/, {}],
  ] as const) {
    const reply = await server.call("POST", path, { name: "wrong", source: wrong });
    t.equal(reply.status, status, `${JSON.stringify(wrong)} ${JSON.stringify(reply.body)}`);
    t.match(reply.body.error.message, message);
    t.match(reply.body.error.details ?? {}, details);
  }
  for (const [bad, message] of [
    [[{ a: 1, y: 1 }], /one row/],
    [Array.from({ length: 9 }, (_, a) => ({ a, y: 1 })), /same value/],
    [Array.from({ length: 9 }, (_, a) => ({ a, y: null })), /null in all rows/],
    [Array.from({ length: 9 }, (_, a) => ({ a })), /null in all rows, or in no row at all/],
  ] as const) {
    t.equal((await server.call("POST", path, { name: "bad", rows: bad })).status, 201);
    t.match(await train({ dataset_id: "bad", target: "y" }), { status: 400, body: { error: { message } } });
    await server.call("DELETE", `${path}/bad`);
  }
  const all = (await server.call("GET", path)).body.data;
  t.equal(all.count, 4);
  t.equal(all.datasets.length, 4);
  const page = async (query: string) => (await server.call("GET", `${path}?${query}`)).body.data;
  t.same(await page("limit=2&offset=1"), { datasets: all.datasets.slice(1, 3), count: 4 });
  t.same(await page("offset=4"), { datasets: [], count: 4 });
  t.same(await page("limit=0"), { datasets: [], count: 4 });
  t.equal((await server.call("GET", `${path}?limit=x`)).status, 400);
  t.equal((await server.call("DELETE", `${path}/uploaded`)).status, 204);
  t.match(await server.call("GET", `${path}/uploaded`), { status: 404 });
  t.match(await train({ dataset_id: "uploaded", target: "good" }), {
    status: 404,
    body: { error: { details: { hint: /./ } } },
  });
});

t.test("a table or collection is a data set where none has its name", async (t) => {
  const task = "binary_classification";
  t.match(await trained({ dataset_id: "loans", task, target_column: "good" }), { task, card: { rows: 240 } });
  t.match(await trained({ dataset_id: "public.loans", task, target_column: "good" }), { card: { rows: 240 } });
  t.match(await trained({ dataset_id: "letters", task, target_column: "good" }), { card: { rows: 20 } });
  const rows = trainingRows(120);
  await server.call("POST", "/v1/automl/datasets", { name: "loans", rows });
  t.match(await trained({ dataset_id: "loans", target: "good" }), { card: { rows: 120 } }, "a data set goes first");
  await server.call("DELETE", "/v1/automl/datasets/loans");
  t.match(await server.call("GET", "/v1/automl/datasets/loans"), { status: 404 });
});

t.test("a document collection trains, too", async (t) => {
  await server.call("POST", "/v1/collections", { name: "people", schema: { age: "number" } });
  const documents = trainingRows(80).map(({ id: _id, ...row }) => row);
  await server.call("POST", "/v1/collections/people/documents/bulk", { documents });
  const model = await trained({ collection: "people", target: "good" });
  const names = model.features.map(({ name }: { name: string }) => name);
  for (const name of ["age", "income", "region"]) t.ok(names.includes(name), `${name} is learnt from`);
});

t.test("what cannot be trained is refused at once, with the reason", async (t) => {
  await server.sql("CREATE TABLE bad (a int, same int, nothing int)");
  await server.sql("INSERT INTO bad SELECT i, 1, NULL FROM generate_series(1, 20) AS i");
  for (const [body, status, message] of [
    [{ table: "bad", target: "same" }, 400, /same value in all rows/],
    [{ table: "bad", target: "nothing" }, 400, /null in all rows/],
    [{ table: "bad", target: "no_such" }, 400, /no column "no_such"/],
    [{ query: "SELECT * FROM bad LIMIT 1", target: "a" }, 400, /one row/],
    [{ query: "SELECT * FROM bad WHERE a < 0", target: "a" }, 400, /no rows/],
    [{ table: "bad", target: "a", features: ["x"] }, 400, /no column "x"/],
    [{ table: "nope", target: "a" }, 404, /does not exist/],
    [{ query: "SELEC 1", target: "a" }, 400, /syntax error/],
    [{ query: "DELETE FROM bad", target: "a" }, 403, /read-only|permission/i],
    [{ table: "bad" }, 400, /target/],
    [{ table: "bad", target: "a", task: "guess" }, 400, /task/],
    [{ table: "bad", target: "a", algorithms: ["magic"] }, 400, /magic/],
    [{ table: "bad", target: "a", metric: "luck" }, 400, /luck/],
    [{ target: "a" }, 400, /source/],
    [{ table: "bad", query: "SELECT 1", target: "a" }, 400, /one source/],
    [{ table: "bad", target: "a", max_trials: 0 }, 400, /max_trials/],
    [{ table: "bad", target: "a", trials: 3 }, 400, /trials/],
    [{ table: "bad", target: "a", callback_url: "http://127.0.0.1/x" }, 400, /callback_url/],
  ] as const) {
    const reply = await train(body);
    t.equal(reply.status, status, JSON.stringify(body));
    t.match(reply.body.error.message, message);
  }
  t.equal((await server.call("GET", "/v1/automl/jobs/job_no")).status, 404);
});

t.test("a training can be stopped; two run at once", async (t) => {
  const long = { ...quick, algorithms: [], table: "loans", target: "good", max_trials: 200, time_budget_secs: 600 };
  const [a, b] = await Promise.all([
    train({ ...long, name: "a" }),
    train({ ...quick, table: "loans", target: "good", name: "b" }),
  ]);
  t.match([a, b], [{ status: 202 }, { status: 202 }]);
  const stopped = await server.call("POST", `/v1/automl/jobs/${a!.body.data.id}/stop`);
  t.match(stopped, { status: 200, body: { data: { status: "cancelled" } } });
  t.match(await ended(b!.body.data.id), { status: "completed" });
  t.match(await ended(a!.body.data.id), { status: "cancelled", model_id: null });
  t.match((await server.call("POST", `/v1/automl/jobs/${b!.body.data.id}/stop`)).body.data, { status: "completed" });
});

t.test("trainings start beside the steps of others", async (t) => {
  const first = await train({
    ...quick,
    max_trials: 200,
    time_budget_secs: 600,
    algorithms: [],
    table: "loans",
    target: "good",
  });
  t.equal(first.status, 202);
  for (let i = 0; i < 6; i++) {
    const started = await Promise.all(
      [1, 2, 3, 4, 5, 6].map((n) => train({ ...quick, table: "loans", target: "good", name: `beside_${i}_${n}` })),
    );
    for (const { status, body } of started) t.equal(status, 202, JSON.stringify(body));
    for (const { body } of started) t.match(await ended(body.data.id), { status: "completed" });
  }
  t.equal((await server.call("POST", `/v1/automl/jobs/${first.body.data.id}/stop`)).status, 200);
});

t.test("rights: a read-only key predicts and does not train; other tenants see nothing", async (t) => {
  const { body } = await server.call("POST", "/v1/api-keys", { name: "r", permission: "ReadOnly" });
  const key = { token: body.raw_key as string };
  const rows = trainingRows(1);
  t.equal((await server.call("POST", "/v1/automl/models/loans/predict", { rows }, key)).status, 200);
  t.equal((await train({ ...quick, table: "loans", target: "good" }, key)).status, 403);
  t.equal((await server.call("DELETE", "/v1/automl/models/loans", undefined, key)).status, 403);
  const other = { token: await server.tenant("elsewhere") };
  t.equal((await server.call("POST", "/v1/automl/models/loans/predict", { rows }, other)).status, 404);
  t.same((await server.call("GET", "/v1/automl/models", undefined, other)).body.data, []);
  t.equal((await train({ ...quick, table: "loans", target: "good" }, other)).status, 404);
});
