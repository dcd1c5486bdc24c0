/** Training and prediction over HTTP, with what can go wrong. */
import t from "tap";
import { trainingRows } from "./automl-rows.js";
import { TestServer } from "./server.js";

const server = await TestServer.start();
t.teardown(() => server.stop());
await server.sql("CREATE TABLE loans (id int PRIMARY KEY, age int, income float8, region text, note text, good text)");
await server.sql(
  `INSERT INTO loans SELECT * FROM json_to_recordset($1::json) AS r(id int, age int, income float8, region text, note text, good text)`,
  [JSON.stringify(trainingRows(240))],
);

const train = (body: object, options = {}) => server.call("POST", "/v1/automl/train", body, options);
const features = ["age", "income", "region"];
const quick = { max_trials: 1, algorithms: ["linear"], seed: 7, task_type: "binary_classification", features };
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
  const { data: model } = (await server.call("GET", "/v1/automl/models/loans")).body;
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
  const evaluated = await server.call("POST", `/v1/automl/models/loans/evaluate`, { table: "loans" });
  t.match(evaluated.body.data, { rows: 240, model_id: model.id });
  t.type(evaluated.body.data.metrics.accuracy, "number");
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

t.test("data sets: a table by another name, and rows that were uploaded", async (t) => {
  const path = "/v1/automl/datasets";
  const table = await server.call("POST", path, { name: "by-table", source: { type: "table", table: "loans" } });
  t.match(table, { status: 201, body: { data: { id: /^ds_/, name: "by-table", row_count: null } } });
  const rows = await server.call("POST", path, { name: "uploaded", rows: trainingRows(120) });
  t.match(rows, { status: 201, body: { data: { row_count: 120 } } });
  t.match(await server.call("POST", path, { name: "uploaded", rows: [{ a: 1 }] }), { status: 409 });
  t.match(await server.call("POST", path, { name: "neither" }), { status: 400 });
  t.equal((await server.call("GET", path)).body.data.count, 2);
  for (const { body } of [table, rows]) {
    const model = await trained({ dataset_id: body.data.id, target_column: "good" });
    t.match(model, { id: /^model_/, name: "good_model" });
  }
  t.equal((await server.call("DELETE", `${path}/uploaded`)).status, 204);
  t.match(await server.call("GET", `${path}/uploaded`), { status: 404 });
  t.match(await train({ dataset_id: "uploaded", target: "good" }), { status: 404 });
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
  const stopped = await server.call("POST", `/v1/automl/jobs/${a!.body.data.id}/stop`);
  t.match(stopped, { status: 200, body: { data: { status: "cancelled" } } });
  t.match(await ended(b!.body.data.id), { status: "completed" });
  t.match(await ended(a!.body.data.id), { status: "cancelled", model_id: null });
  t.match((await server.call("POST", `/v1/automl/jobs/${b!.body.data.id}/stop`)).body.data, { status: "completed" });
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
