/** GENERATE and AGENT_RUN with a scripted provider on loopback, as clients call them in SQL. */
import t from "tap";
import { FakeProvider, openaiPieces, type Part } from "../ai/fake-provider.js";
import { TestServer } from "./server.js";

const fake = await FakeProvider.start(() => ({ pieces: [] }));
const server = await TestServer.start({
  TESSERA_QUERY_AI_SERVICE_PROVIDER: "openai",
  TESSERA_QUERY_AI_SERVICE_BASE_URL: `${fake.url}/v1`,
  TESSERA_QUERY_AI_SERVICE_RETRIES_MAX: "0",
});
t.teardown(async () => {
  await server.stop();
  await fake.close();
});
t.beforeEach(() => {
  fake.asked.length = 0;
  fake.mostUnderWay = 0;
});

const call = (name: string, args: object | string): Part => ({
  call: name,
  json: [typeof args === "string" ? args : JSON.stringify(args)],
});

/** Answers one after the other. */
function script(...answers: (readonly Part[])[]): void {
  fake.asked.length = 0;
  fake.script = (_asked, number) => ({ pieces: openaiPieces(answers[number - 1] ?? ["I do not know."]) });
}

const agent = (options: object = {}) =>
  server.sql("SELECT AGENT_RUN('You are a clerk.', 'Who spent most? Remember it.', $1)", [options]);

/** What the model was told last. */
const told = () => fake.asked.at(-1)!.body.messages as { role: string; content: string }[];

await server.rows("CREATE TABLE customers (id int PRIMARY KEY, name text)");
await server.rows("CREATE TABLE orders (id int PRIMARY KEY, customer_id int, amount int)");
await server.rows("INSERT INTO customers VALUES (1, 'Ada'), (2, 'Bob')");
await server.rows("INSERT INTO orders VALUES (1, 1, 10), (2, 2, 70), (3, 1, 30)");

const JOIN =
  "SELECT c.name, sum(o.amount) AS total FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY c.name ORDER BY total DESC";

t.test("a task in several steps: two tables are joined, a memory is stored", async (t) => {
  script(
    [call("list_tables", {}), call("describe_table", { table: "orders" })],
    ["Let me compute.", call("query", { sql: JOIN })],
    [call("execute", { sql: "SELECT MEMORY_STORE('facts', 'Bob spent most: 70')" })],
    ["Bob spent most, 70."],
  );
  const reply = await agent({ allow_writes: true });
  t.same(reply.body.data?.rows, [["Bob spent most, 70."]], JSON.stringify(reply.body));
  t.equal(fake.asked.length, 4);
  const names = fake.asked[0]!.body.tools.map(({ function: { name } }: { function: { name: string } }) => name);
  for (const name of ["list_tables", "describe_table", "query", "semantic_search", "graph_query", "execute"]) {
    t.ok(names.includes(name), name);
  }
  t.match(
    told().find(({ content }) => content.includes("Bob"))?.content,
    /"rows":\[\["Bob","?70"?\],\["Ada","?40"?\]\]/,
  );
  t.match(await server.rows("SELECT content FROM MEMORY_RECALL('facts', 'who spent most', 1)"), [
    ["Bob spent most: 70"],
  ]);
  const [[status, answer, steps]] = (await server.rows(
    "SELECT status, answer, steps FROM _agent_runs ORDER BY started_at DESC LIMIT 1",
  )) as [[string, string, { calls: { tool: string }[] }[]]];
  t.same([status, answer], ["done", "Bob spent most, 70."]);
  t.same(
    steps.flatMap(({ calls }) => calls.map(({ tool }) => tool)),
    ["list_tables", "describe_table", "query", "execute"],
  );
});

t.test("the traces of the last thousand runs are kept", async (t) => {
  const columns = "user_id, persona, task, status, answer, error, provider, model, steps, input_tokens, output_tokens";
  await server.rows(
    `INSERT INTO _agent_runs SELECT 'run_0' || lpad(g::text, 5, '0'), ${columns}, started_at, finished_at
     FROM (SELECT * FROM _agent_runs LIMIT 1) AS one, generate_series(1, 1003) AS g`,
  );
  script(["Done."]);
  const [[before]] = (await server.rows("SELECT count(*) FROM _agent_runs WHERE id > 'run_1'")) as [[number]];
  t.equal((await agent()).status, 200);
  const kept = await server.rows("SELECT count(*), min(id), count(*) FILTER (WHERE id > 'run_1') FROM _agent_runs");
  t.same(kept, [[1000, `run_0${String(1003 - (999 - before) + 1).padStart(5, "0")}`, before + 1]]);
});

t.test("nothing is written unless it is allowed, and by nobody who may not", async (t) => {
  const wants = [call("execute", { sql: "DELETE FROM orders" }), call("query", { sql: "DELETE FROM orders" })];
  script(wants, ["I could not."]);
  t.same((await agent()).body.data.rows, [["I could not."]]);
  t.match(
    told()
      .filter(({ role }) => role === "tool")
      .map(({ content }) => content),
    [/no tool "execute"/, /error: .*/],
  );
  t.same(await server.rows("SELECT count(*)::int FROM orders"), [[3]]);
  const key = (await server.call("POST", "/v1/api-keys", { name: "r", permission: "ReadOnly" })).body.raw_key;
  const refused = await server.sql("SELECT AGENT_RUN('a', 'b', '{\"allow_writes\": true}')", [], { token: key });
  t.equal(refused.status, 403);
  t.match(refused.body.error.message, /^AGENT_RUN error: .*permission/);
  script([call("query", { sql: "SELECT MEMORY_STORE('facts', 'x')" })], ["No."]);
  t.equal((await server.sql("SELECT AGENT_RUN('a', 'b')", [], { token: key })).body.data?.rows[0][0], "No.");
  t.match(told().find(({ role }) => role === "tool")?.content, /^error: /);
  script([call("query", { sql: "SELECT AGENT_RUN('a', 'b')" })], ["No."]);
  t.same((await agent()).body.data.rows, [["No."]]);
  t.match(told().find(({ role }) => role === "tool")?.content, /an agent cannot run agents/);
});

t.test("an agent on a lead may do less than who starts it", async (t) => {
  const results = () =>
    told()
      .filter(({ role }) => role === "tool")
      .map(({ content }) => content);
  const steps = [
    call("query", { sql: "SELECT name FROM customers WHERE id = 1" }),
    call("query", { sql: "SELECT amount FROM orders" }),
    call("describe_table", { table: "orders" }),
    call("execute", { sql: "UPDATE customers SET name = 'x'" }),
    call("execute", { sql: "CREATE TABLE made (id int)" }),
  ];
  script(steps, ["Done."]);
  const lead = { tables: ["customers"], statements: ["read"] };
  t.same((await agent({ allow_writes: true, lead })).body.data?.rows, [["Done."]]);
  const [own, other, described, updated, defined] = results();
  t.match(own, /Ada/);
  t.match(other, /^error: .*orders/);
  t.match(described, /^error: permission denied for table orders/);
  t.match(updated, /^error: .*(permission|may not)/);
  t.match(defined, /^error: .*permission/);
  t.same(await server.rows("SELECT name FROM customers ORDER BY id"), [["Ada"], ["Bob"]]);

  script(
    [
      call("execute", { sql: "UPDATE customers SET name = name" }),
      call("execute", { sql: "CREATE TABLE made (id int)" }),
    ],
    ["Done."],
  );
  await agent({ allow_writes: true, lead: { tables: ["customers"] } });
  t.match(results()[0], /"rows_affected":2/);
  t.match(results()[1], /^error: .*the agent may not change definitions/);

  script([call("query", { sql: "SELECT 1" })], [call("query", { sql: "SELECT 2" })], ["Done."]);
  const spent = await agent({ lead: { tokens: 1 } });
  t.match(spent.body.error, { code: "budget_exhausted", message: /^AGENT_RUN error: .* 1 tokens/ });
  t.equal(fake.asked.length, 1);
  script([call("query", { sql: "SELECT GENERATE('a', '{}') FROM generate_series(1, 20)" })], ["Made."]);
  t.equal((await agent({ lead: { tokens: 200 } })).status, 429);
  t.ok(fake.asked.length < 20, `${fake.asked.length} asked: what its statements ask counts, too`);
  const odd = await server.sql("CREATE AGENT odd WITH (lead = (statements = [definition]))");
  t.match(odd.body.error?.details, { sqlstate: "22023" });
  t.match((await agent({ lead: { statements: ["definition"] } })).body.error?.details, { sqlstate: "22023" });
  t.match((await agent({ lead: { table: [] } })).body.error?.message, /lead/);

  await server.rows("CREATE AGENT narrow WITH (instructions = 'Look.', lead = (tables = [customers]))");
  script([call("query", { sql: "SELECT amount FROM orders" })], ["Done."]);
  await server.rows("EXECUTE AGENT narrow 'Look.'");
  t.match(results()[0], /^error: .*orders/);
  await server.rows("DROP AGENT narrow");
});

t.test("an agent's budget of a day is one for all who run it, and outlives the server", async (t) => {
  const asks = (...texts: string[]) => script(...texts.map((text) => [call("query", { sql: text })]), ["Done."]);
  const run = (name: string) => server.sql(`EXECUTE AGENT ${name} 'Look.'`);
  const used = async (name: string) => (await server.sql(`DESCRIBE AGENT ${name}`)).body.data.rows[0].at(-1);
  const refused = async (name: string, message: RegExp) => {
    fake.asked.length = 0;
    const { status, headers, body } = await run(name);
    t.equal(status, 429, JSON.stringify(body));
    const { code, message: told, details } = body.error;
    t.equal(code, "budget_exhausted");
    t.match(told, message);
    t.match(details.resets_at, /^\d{4}-\d\d-\d\dT00:00:00\.000Z$/);
    const seconds = (Date.parse(details.resets_at) - Date.now()) / 1000;
    t.ok(Math.abs(seconds - Number(headers.get("retry-after"))) < 60 && seconds > 0 && seconds <= 86_400);
    t.ok(details.hint.includes(details.resets_at) && details.hint.includes("CREATE OR REPLACE AGENT"), details.hint);
    t.equal(fake.asked.length, 0, "no model is asked");
  };
  const results = () => told().flatMap(({ role, content }) => (role === "tool" ? [content] : []));

  await server.rows("CREATE AGENT counted WITH (lead = (statements_per_day = 3))");
  t.same(await used("counted"), { tokens: 0, statements: 0, rows: 0 });
  asks("SELECT 1", "SELECT 2");
  t.equal((await run("counted")).status, 200);
  asks("SELECT 3", "SELECT 4");
  t.equal((await run("counted")).status, 200);
  t.match(results(), [/\[\[3\]\]/, /^error: The agent "counted" may run 3 statements a day; 0 are left today\./]);
  t.match(await used("counted"), { statements: 3, rows: 3 });
  await refused("counted", /^AGENT_RUN error: The agent "counted" may run 3 statements a day/);
  const as = await server.tenant("budgeted");
  await server.rows("CREATE AGENT counted WITH (lead = (statements_per_day = 1))", [], { token: as });
  asks("SELECT 1");
  t.equal(
    (await server.sql("EXECUTE AGENT counted 'x'", [], { token: as })).status,
    200,
    "another tenant's has its own",
  );

  await server.rows("CREATE AGENT reader WITH (lead = (rows_per_day = 5, statements = [read]))");
  asks("SELECT * FROM generate_series(1, 4)", "SELECT * FROM generate_series(1, 2)", "SELECT 1");
  t.equal((await run("reader")).status, 200);
  t.match(results(), [/4/, /^error: The agent "reader" may read 5 rows a day; 1 are left today/, /\[\[1\]\]/]);
  await refused("reader", /may read 5 rows a day; 0 are left/);

  await server.rows("CREATE AGENT talker WITH (instructions = 'Talk.', lead = (tokens_per_day = 3))");
  script(["Well."]);
  const chat = { model: "agent:talker", messages: [{ role: "user", content: "Talk." }] };
  t.equal((await server.call("POST", "/v1/chat/completions", chat)).status, 200, "as a model, too");
  t.ok((await used("talker")).tokens >= 3);
  await refused("talker", /may use 3 tokens a day; 0 are left/);
  t.equal((await server.call("POST", "/v1/chat/completions", chat)).status, 429);

  // Another definition has used what the first has, also one that is made anew.
  await server.rows("DROP AGENT counted");
  await server.rows("CREATE AGENT counted WITH (lead = (statements_per_day = 2))");
  await refused("counted", /may run 2 statements a day; 0 are left/);
  await server.rows("CREATE OR REPLACE AGENT counted WITH (lead = (statements_per_day = 4))");
  await server.terminate();
  await server.boot();
  asks("SELECT 1", "SELECT 2");
  t.equal((await run("counted")).status, 200);
  t.match(results(), [/\[\[1\]\]/, /^error: .* 0 are left/], "a restart forgets nothing");
  await refused("talker", /0 are left/);

  const nameless = await agent({ lead: { rows_per_day: 1 } });
  t.match(nameless.body.error, {
    details: { sqlstate: "22023" },
    message: /a budget for a day is that of a named agent/,
  });
  for (const name of ["counted", "reader", "talker"]) await server.rows(`DROP AGENT ${name}`);
});

t.test("an agent on a lead does not change what agents may do", async (t) => {
  await server.rows("CREATE AGENT sly WITH (allow_writes = true, lead = (statements_per_day = 50))");
  const before = await server.rows("SELECT name, options::text FROM _agents");
  script(
    [
      "UPDATE _agents SET options = '{}'",
      "DELETE FROM _agents",
      "INSERT INTO _agents (name, instructions, options) VALUES ('free', '', '{}')",
      "CREATE OR REPLACE AGENT sly WITH (allow_writes = true)",
      "DROP AGENT sly",
      "ALTER TABLE _agents ADD COLUMN x int",
      "DROP TABLE _agents",
      "CREATE TRIGGER t BEFORE INSERT ON _agents FOR EACH ROW EXECUTE FUNCTION nothing()",
    ].map((text) => call("execute", { sql: text })),
    ["Done."],
  );
  await server.rows("EXECUTE AGENT sly 'Free yourself.'");
  const results = told().flatMap(({ role, content }) => (role === "tool" ? [content] : []));
  t.equal(results.length, 8);
  for (const result of results.slice(0, -1)) t.match(result, /^error: .*(permission denied|must be owner)/);
  t.match(results.at(-1), /^error: /);
  t.same(await server.rows("SELECT name, options::text FROM _agents"), before);
  await server.rows("DROP AGENT sly");
});

t.test("in a sandbox what an agent writes is a branch, to be looked at and merged", async (t) => {
  const remove = call("execute", { sql: "DELETE FROM orders WHERE amount < 20" });
  const insert = call("execute", { sql: "INSERT INTO customers VALUES (3, 'Eve')" });
  script([remove, insert], [call("query", { sql: "SELECT count(*) FROM orders" })], ["Two orders are left."]);
  const reply = await agent({ sandbox: true });
  const { answer, sandbox, steps } = JSON.parse(reply.body.data?.rows[0][0]);
  t.equal(answer, "Two orders are left.");
  t.match(steps[1].calls[0].result, /"rows":\[\["?2"?\]\]/, "it sees what it has written");
  t.same(
    sandbox.tables.sort((a: { table: string }, b: { table: string }) => (a.table < b.table ? -1 : 1)),
    [
      { table: "customers", kind: "table", added: 1, removed: 0, changed: 0, in_origin: 0 },
      { table: "orders", kind: "table", added: 0, removed: 1, changed: 0, in_origin: 0 },
    ],
  );
  t.match(sandbox, { complete: true, definitions: [], branch: /^run_[a-z0-9]+$/ });
  t.same(await server.rows("SELECT count(*)::int FROM orders"), [[3]], "the tenant has not changed");
  const merged = await server.call("POST", `/v1/branches/${sandbox.branch}/merge`, {});
  t.match(merged.body.data, { merged: true, added: 1, removed: 1 });
  t.same(await server.rows("SELECT id FROM orders ORDER BY id"), [[2], [3]]);
  await server.rows("INSERT INTO orders VALUES (1, 1, 10)");
  await server.rows("DELETE FROM customers WHERE id = 3");

  const names = async () =>
    (await server.call("GET", "/v1/branches")).body.data.branches.map(({ name }: { name: string }) => name);
  t.equal((await server.call("DELETE", `/v1/branches/${sandbox.branch}`)).status, 204);
  script([call("query", { sql: "SELECT 1" })], ["Nothing to do."]);
  const idle = JSON.parse((await agent({ sandbox: true })).body.data.rows[0][0]);
  t.match(idle.sandbox, { branch: null, tables: [], rows: [] });
  t.same(await names(), [], "without changes there is no branch");
  script([remove], [""]);
  t.equal((await agent({ sandbox: true })).status, 400);
  t.same(await names(), [], "a run that fails leaves none");
  const token = await server.tenant("clerks");
  const refused = await server.sql("SELECT AGENT_RUN('a', 'b', '{\"sandbox\": true}')", [], { token });
  t.equal(refused.status, 403);
  t.match(refused.body.error.message, /^AGENT_RUN error: A sandbox is a branch\./);
  await server.rows("CREATE AGENT tidier WITH (instructions = 'Tidy up.', sandbox = true)");
  script([remove], ["Done."]);
  const named = await server.sql("EXECUTE AGENT tidier 'Remove small orders'");
  t.match(JSON.parse(named.body.data.rows[0][0]), { sandbox: { tables: [{ table: "orders", removed: 1 }] } });
  await server.rows("DROP AGENT tidier");
});

t.test("a sandbox whose branch is deleted meanwhile", async (t) => {
  const insert = call("execute", { sql: "INSERT INTO orders VALUES (9, 1, 9)" });
  fake.script = async (_asked, number) => {
    const answers: Part[][] = [[insert], [insert, call("execute", { sql: "CREATE TABLE zz (id int)" })], ["Done."]];
    const branches = number === 2 ? (await server.call("GET", "/v1/branches")).body.data.branches : [];
    for (const { name } of branches) await server.call("DELETE", `/v1/branches/${name}`);
    return { pieces: openaiPieces(answers[number - 1]!) };
  };
  const reply = await agent({ sandbox: true });
  t.equal(reply.status, 404);
  t.match(reply.body.error.message, /^AGENT_RUN error: The branch has ended meanwhile/);
  const results = told().flatMap(({ role, content }) => (role === "tool" ? content.slice(0, 23) : []));
  t.match(results, [/^{/, "error: The branch has e", "error: The branch has e"], "nothing is written into nothing");
  const [trace] = await server.rows("SELECT status, error FROM _agent_runs ORDER BY started_at DESC LIMIT 1");
  t.match(trace, ["failed", /The branch has ended/]);
});

t.test("malformed calls are told to the model, and given up after some", async (t) => {
  script(
    [call("query", '{"sql": SELECT')],
    [call("nonsense", {}), call("query", { text: "x" })],
    [call("query", { sql: "SELECT no_such_column FROM orders" })],
    ["All right."],
  );
  t.same((await agent()).body.data.rows, [["All right."]]);
  const errors = told()
    .filter(({ role }) => role === "tool")
    .map(({ content }) => content);
  t.match(errors, [/not valid JSON/, /no tool "nonsense"/, /"?sql/, /does not exist/]);
  fake.asked.length = 0;
  fake.script = () => ({ pieces: openaiPieces([call("nonsense", {})]) });
  const refused = await agent();
  t.equal(refused.status, 400);
  t.match(refused.body.error.message, /^AGENT_RUN error: the model called tools wrongly 3 times/);
  t.match(await server.rows("SELECT status, error FROM _agent_runs ORDER BY started_at DESC LIMIT 1"), [
    ["failed", /wrongly/],
  ]);
  fake.script = () => ({ pieces: openaiPieces([call("list_tables", {})]) });
  t.match(
    (await agent({ max_steps: 2 })).body.error.message,
    /^AGENT_RUN error: the task was not finished within 2 steps/,
  );
});

t.test("time, a provider that is down, and options that are wrong", async (t) => {
  fake.script = () => ({ pieces: [60_000] });
  const late = await agent({ timeout_secs: 5 });
  t.equal(late.status, 408);
  t.match(late.body.error.message, /^AGENT_RUN error: the task was not finished within 5 s/);
  fake.script = () => ({ status: 503, pieces: ["down"] });
  const down = await agent();
  t.equal(down.status, 503);
  t.match(down.body.error.message, /^AGENT_RUN error: The provider openai failed \(503\)/);
  t.match((await agent({ timeout_secs: 90 })).body.error, { message: /^AGENT_RUN error.*timeout_secs/ });
  t.match((await agent({ nonsense: 1 })).body.error, { message: /nonsense/, details: { sqlstate: "22023" } });
  t.match((await agent({ tools: ["execute"] })).body.error.message, /^AGENT_RUN error: there is no tool "execute"/);
});

t.test("GENERATE: some prompts at a time, each row its text", async (t) => {
  fake.script = ({ body }) => ({ pieces: [30, ...openaiPieces([`<${body.messages.at(-1).content}>`])] });
  const rows = await server.rows("SELECT i, GENERATE('p' || i) FROM generate_series(1, 20) AS g(i) ORDER BY i");
  t.same(
    rows,
    Array.from({ length: 20 }, (_, i) => [i + 1, `<p${i + 1}>`]),
  );
  // One more may begin while the server has not seen the end of another.
  t.ok(fake.mostUnderWay > 1 && fake.mostUnderWay <= 10, `${fake.mostUnderWay}`);
  fake.asked.length = 0;
  t.same(await server.rows('SELECT GENERATE(\'a\', \'{"max_tokens": 5, "system": "be brief"}\')'), [["<a>"]]);
  t.match(fake.asked[0]!.body, {
    max_tokens: 5,
    messages: [{ role: "system", content: "be brief" }, { content: "a" }],
  });
  t.same(await server.rows("SELECT GENERATE(NULL)"), [[null]]);
  fake.asked.length = 0;
  await server.rows("SELECT GENERATE('p' || i) FROM generate_series(1, 1000) AS g(i) LIMIT 3");
  t.ok(fake.asked.length <= 16);
  for (const [options, match] of [
    ['{"max_tokens": 0}', /max_tokens/],
    ["[1]", /options/],
    ["nonsense", /JSON|json/],
    ['{"tempreature": 1}', /tempreature/],
  ] as const) {
    const { status, body } = await server.sql("SELECT GENERATE('a', $1)", [options]);
    t.equal(status, 400);
    t.match(body.error.message, match);
  }
});

t.test("named agents: made, listed, run, dropped", async (t) => {
  const sql = async (text: string, params: readonly unknown[] = []) => {
    const { status, body } = await server.sql(text, params);
    return status === 200 ? body.data.rows : [status, body.error.details?.sqlstate, body.error.message];
  };
  t.same(await sql("SHOW AGENTS"), []);
  t.same(await sql("EXECUTE AGENT clerk 'Who?'"), [400, "42704", 'agent "clerk" does not exist']);
  t.same(
    await sql(
      "CREATE AGENT clerk WITH (instructions = 'You are a clerk.', model = 'scripted-2', tools = ['query', list_tables], max_steps = 3, description = 'counts')",
    ),
    [["CREATE AGENT"]],
  );
  t.same(await sql("CREATE AGENT clerk"), [409, "42710", 'agent "clerk" already exists']);
  t.same(await sql("CREATE AGENT IF NOT EXISTS clerk"), [['agent "clerk" already exists, skipping']]);
  const [shown] = await sql("SHOW AGENTS");
  t.same(shown.slice(0, 6), [
    "clerk",
    "counts",
    "scripted-2",
    ["query", "list_tables"],
    "You are a clerk.",
    { tools: ["query", "list_tables"], model: "scripted-2", max_steps: 3 },
  ]);
  t.same((await sql("DESCRIBE AGENT clerk"))[0].slice(0, 2), ["clerk", "counts"]);
  script([call("query", { sql: "SELECT count(*) FROM orders" })], ["Three orders."]);
  t.same(await sql("EXECUTE AGENT clerk 'How many orders are there?'"), [["Three orders."]]);
  t.equal(fake.asked[0]!.body.model, "scripted-2");
  t.same(fake.asked[0]!.body.tools.map(({ function: { name } }: { function: { name: string } }) => name).sort(), [
    "list_tables",
    "query",
  ]);
  t.match(told()[0]!.content, /^You are a clerk\./);
  t.equal(told()[1]!.content, "How many orders are there?");
  for (const text of [
    "EXECUTE AGENT clerk USING $1",
    "EXECUTE AGENT clerk WITH (task = $1)",
    "EXECUTE AGENT clerk ($1)",
  ]) {
    script(["Yes."]);
    t.same(await sql(text, ["Is there one?"]), [["Yes."]], text);
  }
  t.same(await sql("CREATE OR REPLACE AGENT clerk WITH (persona = 'You are new.')"), [["CREATE AGENT"]]);
  t.equal((await sql("SHOW AGENTS"))[0][4], "You are new.");
  t.same(await sql("CREATE AGENT bad WITH (colour = 'red')"), [
    400,
    "22023",
    'CREATE AGENT: there is no option "colour"',
  ]);
  t.match(await sql("CREATE AGENT bad WITH (max_steps = 'many')"), [400, "22023", /the option "max_steps"/]);
  t.match(await sql("CREATE AGENT"), [400, "42601", /expected the name of an agent/]);
  t.match(await sql("EXECUTE AGENT clerk"), [400, "42601", /expected the task as a text/]);
  t.same(await sql("DROP AGENT clark"), [400, "42704", 'agent "clark" does not exist']);
  t.same(await sql("DROP AGENT clerk"), [["DROP AGENT"]]);
  t.same(await sql("DROP AGENT IF EXISTS clerk"), [['agent "clerk" does not exist, skipping']]);
  t.same(await sql("SHOW AGENTS"), []);
});
