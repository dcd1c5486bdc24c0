/** Evaluation: searches with known answers, answers with known support, models with known errors, and the history. */
import t from "tap";
import { trainingRows } from "./automl-rows.js";
import { TestServer } from "./server.js";

const server = await TestServer.start({ TESSERA_NLI_ENABLED: "true" });
t.teardown(() => server.stop());
t.setTimeout(120_000);

const WORDS = "apple brick candle donkey engine forest guitar hammer island jacket kettle lantern".split(" ");
const evaluate = async (kind: string, body: object, status = 200) =>
  (await server.expect(status, "POST", `/v1/evaluations/${kind}`, body)).body.data;
const refused = async (kind: string, body: object) => {
  const { status, body: answer } = await server.call("POST", `/v1/evaluations/${kind}`, body);
  return { status, code: answer.error.code, field: answer.error.details?.field, message: answer.error.message };
};
const rowsOf = async (sql: string, params: readonly unknown[] = []) => (await server.sql(sql, params)).body.data.rows;

t.before(async () => {
  const fields = [{ name: "text", type: "string", embed: true }];
  await server.expect(201, "POST", "/v1/collections", { name: "things", schema: { fields } });
  const documents = WORDS.map((word) => ({ id: word, text: `The ${word} is here.`, even: word.length % 2 === 0 }));
  await server.expect(201, "POST", "/v1/collections/things/documents/bulk", { documents });
});

t.test("retrieval with known answers", async (t) => {
  // Two of twelve are asked for what is not there.
  const pairs = WORDS.map((word, i) => ({ query: word, relevant: i < 2 ? { [WORDS[11 - i]!]: 1 } : { [word]: 2 } }));
  const { id, result, ...about } = await evaluate("retrieval", { name: "words", collection: "things", pairs, k: 1 });
  t.match(id, /^eval_/);
  t.match(about, { kind: "retrieval", name: "words", about: "things", created_at: /Z$/ });
  t.same(
    result.settings.map(({ name }: { name: string }) => name),
    ["text", "vector", "hybrid"],
    "every mode that the collection has",
  );
  const [{ metrics, ms, worst }] = result.settings;
  for (const metric of ["recall@1", "precision@1", "ndcg@1", "mrr"]) t.equal(metrics[metric].value, 10 / 12, metric);
  t.equal(metrics.no_hit.value, 2 / 12);
  for (const { low, value, high } of Object.values<Estimate>(metrics)) t.ok(low < value && value < high);
  t.ok(ms.p50.low <= ms.p50.value && ms.p50.value <= ms.p95.value && ms.p95.value <= ms.p95.high);
  t.same(worst, [
    { query: "apple", ndcg: 0, found: ["apple"], missed: ["lantern"] },
    { query: "brick", ndcg: 0, found: ["brick"], missed: ["kettle"] },
  ]);
  t.equal(result.comparisons.length, 3);
  for (const one of result.comparisons) t.match(one, { metric: "ndcg@1", verdict: /is better than|12 questions/ });
});
interface Estimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

t.test("settings, filters, tables of pairs, and comparison in the history", async (t) => {
  await server.rows("CREATE TABLE pairs (query text, document_id text, grade int)");
  await server.rows("INSERT INTO pairs SELECT word, word, 1 FROM unnest($1::text[]) AS word", [WORDS]);
  const settings = [
    { name: "all", mode: "text" },
    { name: "odd", mode: "text", filter: { even: false } },
  ];
  const from = { collection: "things", pairs_from: "pairs", k: 3 };
  const one = await evaluate("retrieval", { ...from, settings });
  const odd = WORDS.filter((word) => word.length % 2 === 1).length;
  t.same(
    one.result.settings.map((setting: { metrics: Record<string, Estimate> }) => setting.metrics["recall@3"]!.value),
    [1, odd / 12],
  );
  t.match(one.result.comparisons, [{ first: "all", second: "odd", verdict: /^all is better than odd: \+/ }]);
  const other = await evaluate("retrieval", { ...from, settings: [{ name: "all", mode: "text", min_score: 1e9 }] });
  const compared = await server.expect(200, "GET", `/v1/evaluations/${one.id}/compare/${other.id}`);
  t.match(compared.body.data, { first: one.id, second: other.id, kind: "retrieval", questions: 12 });
  const ndcg = compared.body.data.comparisons.find(({ metric }: { metric: string }) => metric === "ndcg@3");
  t.match(ndcg, { first: "all", second: "all", value: 1, low: 1, high: 1, verdict: /^all of the first is better/ });
  const lost = compared.body.data.comparisons.find(({ metric }: { metric: string }) => metric === "no_hit");
  t.match(lost, { value: -1, verdict: /^all of the first is better/ }, "of misses fewer are better");
  const missing = await server.expect(200, "POST", "/v1/evaluations/retrieval", {
    ...{ collection: "things", pairs: [{ query: "apple", relevant: ["apple", "nowhere"] }], keep: false },
  });
  t.equal(missing.body.data.result.missing_documents, 1);
  t.match(missing.body.meta.warnings, [/1 relevant documents are not in the collection "things"/]);
  t.equal(missing.body.data.id, null);
  t.match(missing.body.data.result.comparisons, [{ verdict: "no difference can be told with 1 questions" }, {}, {}]);
});

t.test("pairs of a collection", async (t) => {
  await server.expect(201, "POST", "/v1/collections", { name: "asked_things" });
  const documents = WORDS.slice(0, 3).map((word) => ({ query: word, document_id: word }));
  await server.expect(201, "POST", "/v1/collections/asked_things/documents/bulk", { documents });
  const settings = [{ mode: "text" }];
  const { result } = await evaluate("retrieval", { collection: "things", pairs_from: "asked_things", settings });
  t.equal(result.questions, 3);
  t.equal(result.settings[0].metrics["recall@1"].value, 1);
});

t.test("what is refused", async (t) => {
  const pair = { query: "apple", relevant: ["apple"] };
  const of = (more: object) => ({ collection: "things", ...more });
  t.match(await refused("retrieval", of({})), { status: 400, code: "invalid_request", field: "pairs" });
  t.match(await refused("retrieval", of({ pairs: [pair], pairs_from: "pairs" })), { status: 400, field: "pairs_from" });
  t.match(await refused("retrieval", of({ pairs: [] })), { status: 400, field: "pairs" });
  t.match(await refused("retrieval", of({ pairs: [pair, { query: "x", relevant: { a: 0 } }] })), {
    status: 400,
    field: "pairs[1].relevant",
    message: /above 0/,
  });
  t.match(await refused("retrieval", of({ pairs: new Array(2001).fill(pair) })), {
    status: 400,
    field: "pairs",
    message: /2000/,
  });
  const twice = [{ mode: "text" }, { mode: "text" }];
  t.match(await refused("retrieval", of({ pairs: [pair], settings: twice })), {
    status: 400,
    field: "settings[1].name",
  });
  t.match(await refused("retrieval", { collection: "nothing", pairs: [pair] }), { status: 404, code: "not_found" });
  t.match(await refused("retrieval", of({ pairs_from: "nothing" })), { status: 404, code: "not_found" });
  await server.rows(
    "CREATE VIEW many AS SELECT 'q ' || i AS query, 'apple' AS document_id FROM generate_series(1, 2001) AS i",
  );
  t.match(await refused("retrieval", of({ pairs_from: "many" })), {
    status: 413,
    code: "payload_too_large",
    field: "pairs_from",
    message: /2000/,
  });
  await server.rows("CREATE VIEW wrong AS SELECT 7 AS query, 'apple' AS document_id");
  t.match(await refused("retrieval", of({ pairs_from: "wrong" })), {
    status: 400,
    field: "pairs_from",
    message: /row 1 of "wrong": query/,
  });
  const item = { answer: "It is cold.", passages: ["It is cold."] };
  t.match(await refused("answers", {}), { status: 400, field: "items" });
  t.match(await refused("answers", { questions: ["why?"] }), { status: 400, field: "collection" });
  t.match(await refused("answers", { items: [item], collection: "things" }), { status: 400, field: "collection" });
  t.match(await refused("answers", { items: [item], model: "none" }), { status: 404, code: "nli_model_not_found" });
  const long = { answer: "It is cold. ".repeat(200), passages: new Array(32).fill("It is cold.") };
  t.match(await refused("answers", { items: [long] }), {
    status: 413,
    code: "payload_too_large",
    field: "items",
    message: /5000/,
  });
  t.match(await refused("models", { model: "none", rows: [{ x: 1 }] }), { status: 404, code: "model_not_found" });
});

t.test("answers", async (t) => {
  const passages = ["The museum is open on Mondays. It has a garden.", "Rain is expected in Berlin."];
  const items = [
    { question: "When?", answer: "The museum is open on Mondays [1]. It has a garden [2].", passages },
    { answer: "The museum is closed on Mondays.", passages },
  ];
  const { result, about } = await evaluate("answers", { items });
  t.equal(about, null);
  t.match(result, { answers: 2, does_not_say: 0, sentences: 3, model: /^nli-/ });
  const { faithfulness, contradicted, citation_precision: precision, citation_recall: recall } = result.metrics;
  t.same(
    [faithfulness.value, contradicted.value, precision.value, recall.value],
    [0.5, 0.5, 0.5, 0.5],
    JSON.stringify(result),
  );
  t.match(result.unsupported, [
    {
      item: 1,
      question: null,
      sentence: "The museum is closed on Mondays.",
      state: "contradicted",
      passage: /Mondays/,
    },
  ]);
  const chat = await evaluate("answers", {
    ...{ collection: "things", questions: ["Where is the donkey?", "Who wrote the constitution of Norway?"] },
  });
  t.match(chat, { about: "things", result: { answers: 1, does_not_say: 1, sentences: 1 } });
  t.equal(chat.result.metrics.faithfulness.value, 1, "what is quoted is supported");
  t.equal(chat.result.metrics.citation_precision.value, 1);
});

t.test("models", async (t) => {
  const rows = trainingRows(300);
  const trained = { target: "good", features: ["age", "income", "region"], name: "credit", max_trials: 1 };
  await server.rows(
    "CREATE TABLE loans (id int PRIMARY KEY, age int, income float8, region text, note text, good text)",
  );
  await server.rows(
    "INSERT INTO loans SELECT * FROM json_to_recordset($1::json) AS r(id int, age int, income float8, region text, note text, good text)",
    [JSON.stringify(rows)],
  );
  await server.expect(200, "POST", "/v1/automl/train", {
    ...{ table: "loans", ...trained, algorithms: ["linear"], async_mode: false },
  });
  const metrics = (await server.expect(200, "POST", "/v1/automl/models/credit/evaluate", { table: "loans" })).body.data;
  const same = await evaluate("models", { model: "credit", table: "loans", reference: { table: "loans" } });
  t.same(same.result.metrics, metrics.metrics, "the figures of automl.evaluate");
  const { calibration, drift } = same.result;
  t.equal(calibration.rows, 300);
  t.equal(calibration.brier, metrics.metrics.brier);
  t.equal(calibration.bins.length, 10);
  t.ok(calibration.expected_error >= 0 && calibration.expected_error < 0.2, `${calibration.expected_error}`);
  t.same(drift.verdict, "all features are stable; the predictions are stable");
  const older = rows.map((row) => ({ ...row, age: row.age + 40 }));
  const moved = await evaluate("models", {
    model: "credit",
    rows: older,
    reference: { table: "loans" },
    name: "older",
  });
  const [first, ...others] = moved.result.drift.features;
  t.match(first, { feature: "age", kind: "number", verdict: "much" });
  t.ok(first.ks > 0.5 && first.ks_p_value < 1e-6);
  for (const { verdict } of others) t.equal(verdict, "stable");
  t.match(moved.result.drift.verdict, /^1 of 3 features have moved much \(age\); the predictions have moved/);
  const compared = await server.call("GET", `/v1/evaluations/${same.id}/compare/${moved.id}`);
  t.match(compared.body.error, { code: "invalid_request", message: /no question in common/ });
  const again = await evaluate("models", { model: "credit", query: "SELECT * FROM loans LIMIT 100" });
  const { comparisons, questions } = (await server.expect(200, "GET", `/v1/evaluations/${same.id}/compare/${again.id}`))
    .body.data;
  t.equal(questions, 100);
  t.match(comparisons, [{ metric: "correct", value: 0, verdict: "no difference can be told with 100 rows" }]);
});

t.test("a model of numbers", async (t) => {
  await server.rows(
    "CREATE TABLE lines AS SELECT i::float8 AS x, 3 * i + (i * 7 % 5)::float8 AS y FROM generate_series(1, 80) i",
  );
  const train = { table: "lines", target: "y", name: "line", max_trials: 1, algorithms: ["linear"], async_mode: false };
  await server.expect(200, "POST", "/v1/automl/train", train);
  const { id, result } = await evaluate("models", {
    model: "line",
    table: "lines",
    reference: { query: "TABLE lines" },
  });
  t.ok(result.metrics.rmse < 5, JSON.stringify(result.metrics));
  t.equal(result.calibration, null);
  t.match(result.drift, { features: [{ feature: "x", psi: 0, ks: 0 }], predictions: { kind: "number", ks: 0 } });
  const { body } = await server.expect(200, "GET", `/v1/evaluations/${id}/compare/${id}`);
  t.match(body.data, { questions: 80, comparisons: [{ metric: "absolute_error", value: 0 }] });
});

t.test("the history is each user's own", async (t) => {
  const list = async (query = "") => (await server.expect(200, "GET", `/v1/evaluations${query}`)).body.data;
  const { evaluations, total } = await list();
  t.equal(evaluations.length, total);
  t.same([...new Set(evaluations.map(({ kind }: { kind: string }) => kind))].sort(), [
    "answers",
    "models",
    "retrieval",
  ]);
  t.match(await list("?name=words"), { total: 1, evaluations: [{ name: "words", questions: 12 }] });
  t.match(await list("?kind=models&limit=1"), { total: 4, evaluations: [{ kind: "models" }] });
  const [{ id }] = evaluations;
  const { body } = await server.expect(200, "GET", `/v1/evaluations/${id}`);
  t.match(body.data, { id, result: {} });
  await server.expect(204, "DELETE", `/v1/evaluations/${id}`);
  await server.expect(404, "GET", `/v1/evaluations/${id}`);
  await server.expect(404, "DELETE", `/v1/evaluations/${id}`);
  t.equal((await list()).total, total - 1);
  const [[userId]] = await rowsOf("SELECT DISTINCT user_id FROM _evaluations");
  const insert =
    "INSERT INTO _evaluations SELECT 'old' || i, $1, 'models', NULL, NULL, 1, '{}', now() - interval '1 day' FROM generate_series(1, 520) i";
  await server.rows(insert, [userId]);
  await evaluate("retrieval", { collection: "things", pairs: [{ query: "apple", relevant: ["apple"] }], name: "last" });
  t.match(await list("?limit=1"), { total: 500, evaluations: [{ name: "last" }] }, "the oldest are gone");
  t.match(await list("?name=words"), { total: 1 });
});

t.test("in SQL", async (t) => {
  const lines = await rowsOf(
    "EVALUATE RETRIEVAL ON things FROM pairs WITH (k = 2, modes = ['text', 'vector'], name = 'sql')",
  );
  t.match(
    lines.find(([subject, metric]: [string, string]) => subject === "text" && metric === "recall@2"),
    ["text", "recall@2", 1, 1, 1, "12 questions, 2 documents each"],
  );
  t.match(lines.at(-1), ["text - vector", "ndcg@2", Number, Number, Number, /better|no difference/]);
  t.match((await rowsOf("SHOW EVALUATIONS"))[0].slice(1, 4), ["retrieval", "sql", "things"]);
  const model = await rowsOf("EVALUATE MODEL credit ON loans WITH (reference = 'loans', keep = false)");
  t.match(
    model.find(([subject, metric]: [string, string]) => subject === "age" && metric === "psi"),
    ["age", "psi", 0, null, null, "stable"],
  );
  await server.rows("CREATE TABLE said (question text, answer text, passages text[])");
  await server.rows("INSERT INTO said VALUES ('q', 'The sea is deep [1].', ARRAY['The sea is deep.', 'It rains.'])");
  const said = await rowsOf("EVALUATE ANSWERS FROM said WITH (name = $1)", ["judged"]);
  t.match(said, [
    [null, "answers", 1],
    [null, "does_not_say", 0],
    [null, "faithfulness", 1],
  ]);
  t.match((await rowsOf("SHOW EVALUATIONS"))[0].slice(1, 4), ["answers", "judged", null]);
  const before = (await rowsOf("SHOW EVALUATIONS")).length;
  await server.rows("CREATE VIEW asked AS SELECT 'Where is the ' || query || '?' AS question FROM pairs");
  const quoted = await rowsOf("EVALUATE ANSWERS ON things FROM asked WITH (keep = false)");
  t.match(quoted[0], [null, "answers", 12]);
  t.equal((await rowsOf("SHOW EVALUATIONS")).length, before);
  const undone = "BEGIN; EVALUATE RETRIEVAL ON things FROM pairs WITH (name = 'undone', modes = [text]); ROLLBACK;";
  await server.expect(200, "POST", "/v1/query/script", undone, { headers: { "content-type": "application/sql" } });
  t.same((await rowsOf("SELECT count(*) FROM _evaluations WHERE name = 'undone'"))[0], [0], "a rollback takes it back");
  t.match(await server.sql("EVALUATE RETRIEVAL ON things FROM pairs WITH (colour = 3)"), {
    ...{ status: 400, body: { error: { message: /EVALUATE RETRIEVAL: there is no option "colour"/ } } },
  });
  t.match(await server.sql("EVALUATE MODEL nothing ON loans"), { status: 404 });
});
