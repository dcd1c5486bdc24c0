/** Bodies as public clients send them: other names of fields, lists, and fields that mean nothing here. */
import t from "tap";
import { TestServer } from "./server.js";

const server = await TestServer.shared();
t.teardown(() => server.stop());
const call = (method: string, path: string, body?: object) => server.call(method, path, body);
const data = async (status: number, method: string, path: string, body?: object) =>
  (await server.expect(status, method, path, body)).body.data;

t.test("several texts at once", async (t) => {
  const texts = ["I love it. It is great!", "This is awful and sad.", "The box is on the table."];
  const sentiments = await data(200, "POST", "/v1/ai/sentiment", { texts });
  t.same(
    sentiments.map(({ sentiment }: { sentiment: string }) => sentiment),
    ["positive", "negative", "neutral"],
  );
  t.same(sentiments[0], await data(200, "POST", "/v1/ai/sentiment", { text: texts[0] }));
  const categories = ["weather", "food"];
  const classes = await data(200, "POST", "/v1/ai/classify", {
    texts: ["It rains all day.", "The soup is tasty."],
    categories,
  });
  t.match(classes, [
    { classifications: [{ category: "weather" }, {}] },
    { classifications: [{ category: "food" }, {}] },
  ]);
  for (const path of ["/v1/ai/sentiment", "/v1/ai/classify"]) {
    t.match(await call("POST", path, { text: "a", texts: ["b"] }), {
      status: 400,
      body: { error: { details: { field: "text" } } },
    });
    t.match(await call("POST", path, {}), {
      status: 400,
      body: { error: { message: /"text" or several as "texts"/ } },
    });
    t.match(await call("POST", path, { texts: ["x".repeat(150_000), "y".repeat(150_000)] }), {
      status: 400,
      body: {
        error: { message: /300000 characters in total; a request takes at most 200000/, details: { field: "texts" } },
      },
    });
    t.equal((await call("POST", path, { texts: [] })).status, 400);
  }
});

t.test("documents as a list", async (t) => {
  await data(201, "POST", "/v1/collections", { name: "article", schema: { title: "string" } });
  const path = "/v1/collections/article/documents/bulk";
  t.match(await data(201, "POST", path, [{ title: "a" }, { title: "b" }]), { inserted: 2 });
  t.match(await call("POST", path, [7]), {
    status: 400,
    body: { error: { message: /documents\[0\]|documents\/0|documents\.0/ } },
  });
});

t.test("pages by number", async (t) => {
  for (const name of ["one", "two", "three"]) {
    await data(201, "POST", "/v1/vectors/collections", { name, dimensions: 2 });
  }
  const names = async (query: string) =>
    (await data(200, "GET", `/v1/vectors/collections?${query}`)).map(({ name }: { name: string }) => name);
  const all = await names("");
  t.equal(all.length, 3);
  t.same(await names("page=2&page_size=2"), all.slice(2));
  t.same(await names("page=1&pageSize=2"), all.slice(0, 2));
  t.same(await names("limit=1&offset=1"), all.slice(1, 2));
  t.match(await data(200, "GET", "/v1/automl/jobs?page=1&page_size=5"), { jobs: [], count: 0 });
  t.match(await call("GET", "/v1/automl/jobs?page=0"), {
    status: 400,
    body: { error: { details: { field: "page" } } },
  });
});

t.test("a message without a chat begins one", async (t) => {
  const begun = await data(200, "POST", "/v1/ai/chat", {
    message: "Say hello.",
    max_tokens: 4,
    database: "main",
    model: "native",
  });
  t.match(begun, { session_id: /^chat_/, message: { role: "assistant" } });
  const path = `/v1/ai/sessions/${begun.session_id}`;
  t.match((await server.expect(200, "GET", path)).body.data ?? (await call("GET", path)).body, {
    title: "Say hello.",
    message_count: 2,
  });
  await data(200, "POST", "/v1/ai/chat", { session_id: begun.session_id, content: "And again.", max_tokens: 4 });
  t.match(await data(200, "GET", `${path}/messages`), { total: 4 });
  const noted = await call("POST", "/v1/ai/chat", { message: "Hi.", max_tokens: 2, database: "main" });
  t.match(noted.body.meta.warnings, [/"database" is not used/]);
  const refused = await call("POST", "/v1/ai/chat", { message: "Hi.", model: "no-such-model" });
  t.ok(refused.status >= 400 && refused.status < 500, `${refused.status}`);
  const { body } = await call("GET", "/v1/ai/sessions");
  t.equal((body.data ?? body).sessions.length, 2, "what failed began none");
});

t.test("graphs", async (t) => {
  await data(200, "POST", "/v1/graph/match", { cypher: "CREATE (:P {name: 'a'})-[:R]->(:P {name: 'b'})" });
  const statement = "CREATE INDEX p_name FOR (p:P) ON (p.name)";
  t.match(await data(201, "POST", "/v1/graph/indexes", { statement }), { indexes: [{ name: "p_name", label: "P" }] });
  for (const [body, field] of [
    [{ statement: "MATCH (n) DETACH DELETE n" }, "statement"],
    [{ statement, label: "P" }, "label"],
  ] as const) {
    t.match(await call("POST", "/v1/graph/indexes", body), { status: 400, body: { error: { details: { field } } } });
  }
  t.match(await call("POST", "/v1/graph/indexes", { statement: "CREATE INDEX p FOR p" }), { status: 400 });
  const elsewhere = await call("POST", "/v1/graph/indexes", { statement: "USE g CREATE INDEX i FOR (n:P) ON (n.x)" });
  t.match(elsewhere, { status: 400, body: { error: { message: /not with USE g/ } } });
  const options = { max_iterations: 20, damping_factor: 0.85 };
  const components = await call("POST", "/v1/graph/algorithms", { algorithm: "connected_components", options });
  t.match(components, {
    status: 200,
    body: { data: { count: 2 }, meta: { warnings: [/"max_iterations" is not used/, /"damping_factor" is not used/] } },
  });
  const ranked = await call("POST", "/v1/graph/algorithms", { algorithm: "page_rank", options });
  t.equal(ranked.status, 200);
  t.equal(ranked.body.meta.warnings, undefined);
  t.match(await call("POST", "/v1/graph/algorithms", { algorithm: "page_rank", options: { dampening: 1 } }), {
    status: 400,
    body: { error: { message: /no option "dampening"/ } },
  });
});

t.test("what kind a medium is", async (t) => {
  const embed = (input: object) => call("POST", "/v1/multimodal/embed", { input });
  t.match(await embed({ type: "text", text: "a red car" }), { status: 200, body: { data: { modality: "text" } } });
  t.match(await embed({ type: "image", text: "a red car" }), {
    status: 400,
    body: { error: { details: { field: "input.type" } } },
  });
  const bare = (body: object) => call("POST", "/v1/multimodal/embed", body);
  const { embedding } = (await embed({ text: "a red car" })).body.data;
  const answer = await bare({ type: "text", text: "a red car" });
  t.match(answer, { status: 200, body: { data: { modality: "text" } } });
  t.same(answer.body.data.embedding, embedding, "input may be left out around them");
  t.match(await bare({ type: "image", text: "a red car" }), {
    status: 400,
    body: { error: { details: { field: "type" } } },
  });
  t.match(await bare({ text: "a", input: { text: "b" } }), {
    status: 400,
    body: { error: { message: 'Send "input" or "text", not both.', details: { field: "text" } } },
  });
  t.match(await bare({}), { status: 400, body: { error: { details: { field: "input.text" } } } });
});

t.test("trainings", async (t) => {
  await server.rows("CREATE TABLE points (x float8, y float8)");
  await server.rows("INSERT INTO points SELECT (i * 7) % 31, 2 * ((i * 7) % 31) + i % 3 FROM generate_series(1, 60) i");
  const [[made]] = (await server.rows(
    "CREATE EXPERIMENT line AS SELECT * FROM points WITH (target_column = 'y', max_trials = 1, algorithms = [linear], time_budget_seconds = 30)",
  )) as [[object]];
  t.match(made, { status: "completed" });
  t.match(
    await call("POST", "/v1/automl/train", {
      table: "points",
      target: "y",
      time_budget_secs: 5,
      time_budget_seconds: 6,
    }),
    {
      status: 400,
      body: { error: { details: { field: "time_budget_seconds" } } },
    },
  );
});
