/** AutoML in SQL and as tools, and what follows a training. */
import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import t from "tap";
import { trainingRows } from "./automl-rows.js";
import { TestServer } from "./server.js";
import { SocketClient } from "./socket-client.js";

const server = await TestServer.start({
  TESSERA_AUTOML_WEBHOOK_PRIVATE_ALLOWED: "true",
  TESSERA_AUTOML_WEBHOOK_SCHEMES: "https,http",
  TESSERA_STORAGE_VERSION_BYTES_MAX: String(2 ** 20),
});
t.teardown(() => server.stop());
await server.sql("CREATE TABLE loans (id int PRIMARY KEY, age int, income float8, region text, note text, good text)");
await server.sql(
  `INSERT INTO loans SELECT * FROM json_to_recordset($1::json) AS r(id int, age int, income float8, region text, note text, good text)`,
  [JSON.stringify(trainingRows(200))],
);
const OPTIONS = "task_type = 'binary_classification', target_column = 'good', max_trials = 2, algorithms = ['linear']";
const rowsOf = async (sql: string) => (await server.sql(sql)).body.data.rows;

t.test("experiments", async (t) => {
  const sql = `CREATE EXPERIMENT churn AS SELECT age, income, region, good FROM loans WITH (${OPTIONS})`;
  const { body, status } = await server.sql(sql);
  t.equal(status, 200, JSON.stringify(body));
  t.match(body.data.columns, [{ name: "automl_result" }]);
  const [[result]] = body.data.rows;
  t.match(result, { status: "completed", best_model_id: /^model_/, algorithm: /./ });
  t.match(await server.sql(sql), { status: 409, body: { error: { message: /already exists/ } } });
  t.match(await rowsOf("SHOW EXPERIMENTS"), [["churn", "completed", 1]]);
  t.match((await rowsOf("DEPLOY MODEL scorer FROM EXPERIMENT churn"))[0][0], { status: "deployed", model: "scorer" });
  const predicted = await server.sql(
    "PREDICT verdict USING scorer AS SELECT id, age, income, region FROM loans ORDER BY id LIMIT 5",
  );
  t.same(
    predicted.body.data.columns.map(({ name }: { name: string }) => name),
    ["id", "age", "income", "region", "verdict"],
  );
  const verdicts = predicted.body.data.rows.map((row: unknown[]) => row[4]);
  for (const verdict of verdicts) t.ok(["yes", "no"].includes(verdict as string));
  const query = "PREDICT verdict USING scorer AS SELECT id, age, income, region FROM loans";
  await server.rows(`CREATE VIEW judged AS ${query}`);
  t.same((await rowsOf("SELECT verdict FROM judged ORDER BY id LIMIT 5")).flat(), verdicts, "a view of predictions");
  await server.rows(`CREATE TABLE judgement AS ${query} WHERE id < 4`);
  await server.rows(`INSERT INTO judgement ${query} WHERE id = 4`);
  t.equal((await rowsOf("SELECT id, verdict FROM judgement WHERE verdict IS NOT NULL")).length, 5);
  const shown = await rowsOf("SHOW MODELS LIKE 'scorer'");
  t.match(shown, [["scorer", /^automl\//]]);
  const calls = [
    "AUTOML.PREDICT('scorer', age, income, region)",
    "AUTOML.PREDICT('scorer', l.region, l.age, l.income)",
    "AUTOML.PREDICT('scorer', age => l.age + 0, income => l.income, region => region)",
    "AUTOML.PREDICT('scorer', to_jsonb(l))",
  ];
  for (const call of calls) {
    const rows = await rowsOf(`SELECT ${call} FROM loans AS l ORDER BY id LIMIT 5`);
    t.same(
      rows.map(([verdict]: [unknown]) => verdict),
      verdicts,
      call,
    );
  }
  const [[shares]] = await rowsOf("SELECT AUTOML.PREDICT_PROBA('scorer', age, income, region) FROM loans LIMIT 1");
  t.same(Object.keys(shares).sort(), ["no", "yes"]);
  t.equal(shares.yes + shares.no, 1);
  const likely = "AUTOML.PREDICT_PROBA('scorer', 'yes', age, income, region)";
  t.same(await rowsOf(`SELECT ${likely} FROM loans LIMIT 1`), [[shares.yes]], "of one class, as a number");
  t.equal((await rowsOf(`SELECT id FROM loans WHERE ${likely} BETWEEN 0 AND 1`)).length, 200);
  const [[byParameter]] = (
    await server.sql("SELECT AUTOML.PREDICT_PROBA('scorer', $1, age, income, region) FROM loans LIMIT 1", ["no"])
  ).body.data.rows;
  t.equal(byParameter, shares.no);
  t.match(await server.sql("SELECT AUTOML.PREDICT_PROBA('scorer', 'perhaps', age, income, region) FROM loans"), {
    status: 400,
    body: { error: { message: /no class "perhaps"/, details: { hint: /no, yes/ } } },
  });
  const both = await rowsOf(
    "PREDICT verdict USING scorer WITH PROBABILITY AS SELECT id, age, income, region FROM loans ORDER BY id LIMIT 5",
  );
  t.same(
    both.map((row: unknown[]) => row[4]),
    verdicts,
  );
  for (const row of both) t.ok(row[5] >= 0.5 && row[5] <= 1);
  await server.rows(
    "CREATE VIEW judged_surely AS PREDICT verdict USING scorer WITH PROBABILITY AS SELECT id, age, income, region FROM loans",
  );
  t.equal((await rowsOf("SELECT verdict FROM judged_surely WHERE verdict_probability >= 0.5")).length, 200);
  for (const call of [
    "AUTOML.PREDICT('nobody', age)",
    "AUTOML.PREDICT_PROBA('nobody', 'yes', age)",
    "AUTOML.PREDICT_SCORE('nobody', age)",
  ]) {
    t.equal((await server.sql(`SELECT ${call} FROM loans WHERE false`)).status, 404, `${call}: no row is predicted`);
  }
  t.equal((await server.sql("PREDICT p USING nobody AS SELECT * FROM loans WHERE false")).status, 404);
  t.match(await rowsOf("DROP EXPERIMENT churn"), [["DROP EXPERIMENT"]]);
  t.match(await rowsOf("DROP EXPERIMENT IF EXISTS churn"), [[/does not exist, skipping/]]);
  t.equal((await server.sql("SELECT AUTOML.PREDICT('churn', age) FROM loans")).status, 404, "its own model went, too");
  t.equal((await rowsOf("SELECT AUTOML.PREDICT('scorer', age, income, region) FROM loans")).length, 200);
});

t.test("a statement that waits for its training keeps nothing old in memory", async (t) => {
  await server.sql("CREATE TABLE filler (id serial PRIMARY KEY, x text)");
  const options = "target_column = 'good', max_trials = 200, algorithms = ['neural_network'], time_budget_secs = 3.5";
  const experiment = server.sql(`CREATE EXPERIMENT patient AS SELECT age, income, good FROM loans WITH (${options})`);
  // More than there is room for beside a snapshot from before.
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setTimeout(resolve, 1050));
    await server.rows("INSERT INTO filler (x) SELECT repeat('x', 1000) FROM generate_series(1, 450)");
  }
  const { status, body } = await experiment;
  t.equal(status, 200, JSON.stringify(body));
  t.match(body.data.rows, [[{ status: "completed" }]]);
});

t.test("parameters are bound in all of them", async (t) => {
  const bound = async (sql: string, parameters: readonly unknown[]) => {
    const { status, body } = await server.sql(sql, parameters);
    t.equal(status, 200, `${sql} ${JSON.stringify(body)}`);
    return body.data.rows;
  };
  const select = "SELECT age, income, region, good FROM loans WHERE age > $1 AND region = ANY($2) AND id <> $3";
  const options = "target_column = $4, max_trials = $5, algorithms = [$6], task = 'classification'";
  const parameters = [30, ["north", "south"], null, "good", 1, "linear"];
  const statement = `CREATE EXPERIMENT bound AS ${select.replace(" AND id <> $3", " AND $3::int IS NULL")} WITH (${options})`;
  const [[result]] = await bound(statement, parameters);
  t.match(result, { status: "completed" });
  const [[rows]] = await rowsOf("SELECT count(*) FROM loans WHERE age > 30 AND region IN ('north', 'south')");
  const { body } = await server.call("GET", `/v1/automl/models/${result.best_model_id}`);
  t.equal(body.data.card.rows, Number(rows), "the parameters chose the rows");
  t.match((await bound("DEPLOY MODEL $1 FROM EXPERIMENT $2", ["chosen", "bound"]))[0][0], { model: "chosen" });
  const predicted = await bound("PREDICT verdict USING $1 AS SELECT age, income, region FROM loans WHERE id < $2", [
    "chosen",
    3,
  ]);
  t.equal(predicted.length, 3);
  await bound("DROP EXPERIMENT $1", ["bound"]);
  for (const [sql, values, message] of [
    [`CREATE EXPERIMENT e AS ${select} WITH (${options})`, ["old", [], 1, "good", 1, "linear"], /integer/],
    ["CREATE EXPERIMENT e AS SELECT age FROM loans WHERE age > $1 WITH (target_column = 'age')", [], /parameter/],
    ["CREATE EXPERIMENT e AS SELECT age FROM loans WITH (target_column = 'age', max_trials = $1)", ["x"], /max_trials/],
    ["CREATE EXPERIMENT e AS SELECT age FROM loans WITH (target_column = 'age', max_trials = 0)", [], /max_trials/],
    ["DEPLOY MODEL m FROM EXPERIMENT $1", ["nope"], /does not exist/],
    ["DROP EXPERIMENT $1", [null], /null/],
  ] as const) {
    const reply = await server.sql(sql, values);
    t.equal(reply.status, 400, `${sql} ${JSON.stringify(reply.body)}`);
    t.match(reply.body.error.message, message);
  }
});

t.test("predictions as numbers", async (t) => {
  await server.sql("CREATE TABLE leaving (id int PRIMARY KEY, age int, income float8, region text, left_us boolean)");
  await server.sql("INSERT INTO leaving SELECT id, age, income, region, good = 'yes' FROM loans");
  const options = "target_column = 'left_us', max_trials = 1, algorithms = ['linear']";
  await rowsOf(`CREATE EXPERIMENT leave AS SELECT age, income, region, left_us FROM leaving WITH (${options})`);
  await rowsOf("DEPLOY MODEL leaver FROM EXPERIMENT leave");
  const args = "('leaver', age, income => income, region)";
  const shares = await rowsOf(`SELECT id, AUTOML.PREDICT_PROBA${args} FROM leaving ORDER BY id`);
  const shareOf = new Map<number, number>(shares.map(([id, share]: [number, { true: number }]) => [id, share.true]));
  const inOrder = (rows: [number, unknown][], sign: number) =>
    rows.every(([id], i) => i === 0 || sign * (shareOf.get(rows[i - 1]![0])! - shareOf.get(id)!) <= 1e-12);
  t.ok(new Set(shareOf.values()).size > 100);
  for (const [sql, sign] of [
    [`SELECT id, AUTOML.PREDICT${args} AS risk FROM leaving ORDER BY risk DESC, id LIMIT 50`, -1],
    [`SELECT id, AUTOML.PREDICT${args} AS risk FROM leaving ORDER BY risk NULLS LAST`, 1],
    [`SELECT id, AUTOML.PREDICT${args} FROM leaving ORDER BY AUTOML.PREDICT${args} DESC`, -1],
    [`SELECT id, r FROM (SELECT id, AUTOML.PREDICT${args} "r" FROM leaving l ORDER BY "r" LIMIT 20) AS q`, 1],
  ] as const) {
    const rows = await rowsOf(sql);
    t.ok(inOrder(rows, sign), sql);
    for (const [id, says] of rows) t.equal(says, shareOf.get(id)! >= 0.5, "the class is shown");
  }
  for (const call of [
    `AUTOML.PREDICT_SCORE${args}`,
    `AUTOML.PREDICT${args}::float8`,
    `CAST(AUTOML.PREDICT${args} AS double precision)`,
    `AUTOML.PREDICT${args} * 1`,
  ]) {
    const rows = await rowsOf(`SELECT id, ${call} AS risk FROM leaving ORDER BY id`);
    t.ok(
      rows.every(([id, risk]: [number, number]) => Math.abs(risk - shareOf.get(id)!) < 1e-12),
      call,
    );
  }
  const count = [...shareOf.values()].filter((share) => share > 0.8).length;
  t.match(await rowsOf(`SELECT count(*) FROM leaving WHERE AUTOML.PREDICT${args} > 0.8`), [[count]]);
  t.match(await rowsOf(`SELECT count(*) FROM leaving WHERE AUTOML.PREDICT${args} = 'true'`), [[Number]]);
  const grouped = await rowsOf(`SELECT AUTOML.PREDICT${args} AS c, count(*) FROM leaving GROUP BY c ORDER BY c`);
  t.match(grouped, [[false], [true]], "groups are put in order by what they are");
  t.match(await rowsOf(`SELECT DISTINCT AUTOML.PREDICT${args} AS c FROM leaving ORDER BY c`), [[false], [true]]);
  const text = await server.sql("SELECT AUTOML.PREDICT('scorer', age, income, region)::float8 FROM loans");
  t.match(text, { status: 400, body: { error: { message: /is no number/, details: { hint: /PREDICT_SCORE/ } } } });
  const [[score]] = await rowsOf("SELECT AUTOML.PREDICT_SCORE('scorer', age, income, region) FROM loans LIMIT 1");
  t.ok(score >= 0 && score <= 1);
});

t.test("mistakes in statements, with their places", async (t) => {
  for (const [sql, status, message, position] of [
    [`CREATE EXPERIMENT e AS SELECT nope FROM loans WITH (${OPTIONS})`, 400, /nope/, 31],
    [`CREATE EXPERIMENT e AS SELEC 1 WITH (${OPTIONS})`, 400, /SELEC/, 24],
    ["CREATE EXPERIMENT e AS SELECT 1", 400, /WITH/, 32],
    ["CREATE EXPERIMENT e AS SELECT age, good FROM loans WITH (target_column 'good')", 400, /"="/, 72],
    ["CREATE EXPERIMENT e AS SELECT age, good FROM loans WITH (target_column = 'good', luck = 1)", 400, /luck/, null],
    ["CREATE EXPERIMENT e AS SELECT age FROM loans WITH (target_column = 'good')", 400, /no column "good"/, null],
    ["CREATE EXPERIMENT e SELECT 1", 400, /AS/, 21],
    ["DROP EXPERIMENT nope", 400, /does not exist/, null],
    ["DEPLOY MODEL m FROM EXPERIMENT nope", 400, /does not exist/, null],
    ["PREDICT x USING nope AS SELECT age FROM loans", 404, /does not exist/, null],
    ["PREDICT x USING nope AS SELECT age FROM loans WHERE false", 404, /"nope" does not exist/, null],
    ["SELECT AUTOML.PREDICT('nope', age) FROM loans WHERE false", 404, /does not exist/, null],
    ["SELECT id FROM loans WHERE false AND AUTOML.PREDICT('nope', age) = '1'", 404, /does not exist/, null],
    ["SELECT (SELECT AUTOML.PREDICT('nope', age) FROM loans WHERE id < 0)", 404, /does not exist/, null],
    ["EXPLAIN SELECT AUTOML.PREDICT('nope', age) FROM loans", 404, /"nope" does not exist/, null],
    ["CREATE VIEW risks AS SELECT AUTOML.PREDICT('nope', age) AS risk FROM loans", 404, /does not exist/, null],
    ["CREATE TABLE risks AS SELECT AUTOML.PREDICT('nope', age) FROM loans WHERE false", 404, /does not exist/, null],
    ["PREPARE risks AS SELECT AUTOML.PREDICT('nope', age) FROM loans WHERE id = $1", 404, /does not exist/, null],
    ["EXPLAIN SELECT EMBED('a', 'nope') FROM loans", 404, /nope/, null],
    [`SELECT GENERATE('a', '{"model":"nope"}') FROM loans WHERE false`, 404, /nope/, null],
    [`SELECT GENERATE('a', '{"modell":"nope"}') FROM loans WHERE false`, 400, /no option "modell"/, null],
    [`SELECT AGENT_RUN('a', 'b', '{"steps":1}') FROM loans WHERE false`, 400, /no option "steps"/, null],
    ["PREDICT x USING scorer AS SELECT nope FROM loans", 400, /nope/, 34],
    ["SELECT AUTOML.PREDICT('scorer', age) FROM loans", 400, /lacks the feature/, null],
  ] as const) {
    const reply = await server.sql(sql);
    t.equal(reply.status, status, `${sql} ${JSON.stringify(reply.body)}`);
    t.match(reply.body.error.message, message);
    if (position !== null) t.equal(reply.body.error.details.position, position, sql);
  }
  const prepared = await server.call("POST", "/v1/query/prepare", { sql: "SELECT AUTOML.PREDICT('nope', $1)" });
  t.equal(prepared.status, 404, JSON.stringify(prepared.body));
  const { body } = await server.call("POST", "/v1/api-keys", { name: "r", permission: "ReadOnly" });
  const key = { token: body.raw_key as string };
  t.equal(
    (await server.sql(`CREATE EXPERIMENT e AS SELECT age, good FROM loans WITH (${OPTIONS})`, [], key)).status,
    403,
  );
  t.equal((await server.sql("PREDICT x USING scorer AS SELECT * FROM loans", [], key)).status, 200);
});

t.test("tools", async (t) => {
  const call = async (name: string, args: object) => {
    const params = { name, arguments: args };
    const { body } = await server.call("POST", "/v1/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params });
    return JSON.parse(body.result.content[0].text);
  };
  const few = { features: ["age", "income"], algorithms: ["linear"], max_trials: 1 };
  const args = { ...few, collection: "loans", target: "good", task_type: "classification", model_name: "tool" };
  t.match(await call("train_model", args), {
    name: "tool",
    algorithm: /./,
    best_score: Number,
    training_time_ms: Number,
  });
  const inputs = trainingRows(2).map(({ good: _good, ...row }) => row);
  const { predictions, probabilities } = await call("predict", { model_name: "tool", inputs });
  t.equal(predictions.length, 2);
  t.ok(probabilities[0].yes >= 0);
  t.ok((await call("list_models", { task_type: "binary_classification" })).count >= 1);
  t.equal((await call("list_models", { task_type: "regression" })).count, 0);
  t.match(await call("describe_model", { model_name: "tool" }), { name: "tool", feature_importance: Array });
});

t.test("progress is heard over the socket, and the end", async (t) => {
  const client = await SocketClient.open(server.url, "/v1/ws", { authorization: `Bearer ${server.token}` });
  t.teardown(() => client.destroy());
  const made = await server.call("POST", "/v1/automl/train", {
    table: "loans",
    target: "good",
    max_trials: 8,
    name: "heard",
  });
  const { job_id } = made.body.data;
  client.send({ type: "automl.follow", id: "f", job_id });
  const heard: string[] = [];
  for (;;) {
    const message = await client.next();
    t.match(message, { id: "f", job_id });
    heard.push(message.type);
    if (message.type === "automl.finished") {
      t.match(message, { status: "completed", model_id: /^model_/, progress: 1 });
      break;
    }
  }
  t.equal(heard.filter((type) => type === "automl.finished").length, 1);
  client.send({ type: "automl.follow", id: "late", job_id });
  t.match(await client.next(), { type: "automl.finished", id: "late", status: "completed" });
  client.send({ type: "automl.follow", id: "none", job_id: "job_none" });
  t.match(await client.next(), { type: "error", id: "none", code: "not_found" });
});

t.test("a webhook is signed, and sent again when it was refused", async (t) => {
  const got: { readonly signature: string; readonly body: string }[] = [];
  const receive = (request: IncomingMessage, response: ServerResponse): void => {
    let body = "";
    request.on("data", (piece: Buffer) => {
      body += piece.toString();
    });
    request.on("end", () => {
      got.push({ signature: String(request.headers["x-tessera-signature"]), body });
      response.writeHead(got.length === 1 ? 503 : 204).end();
    });
  };
  const receiver = createServer(receive).listen(0, "127.0.0.1");
  t.teardown(() => receiver.close());
  await new Promise((resolve) => receiver.once("listening", resolve));
  const callback_url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  const { body } = await server.call("POST", "/v1/automl/train", {
    ...{ table: "loans", target: "good", max_trials: 1, algorithms: ["linear"], features: ["age"], name: "hooked" },
    callback_url,
  });
  while (got.length < 2) await new Promise((resolve) => setTimeout(resolve, 50));
  const { secret } = (await server.call("GET", "/v1/automl/webhook-secret")).body.data;
  for (const { signature, body: text } of got) {
    const [, seconds, hex] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(signature)!;
    t.equal(hex, createHmac("sha256", secret).update(`${seconds}.${text}`).digest("hex"));
    t.match(JSON.parse(text), { event: "automl.completed", data: { id: body.data.id, status: "completed" } });
  }
});
