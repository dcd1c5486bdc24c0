/**
 * Tables that features keep for themselves, asked for by a colleague of whoever's rows are in them, by every language
 * and protocol, while the features themselves go on for everybody.
 */
import t, { type Test } from "tap";
import { FakeProvider, openaiPieces } from "../ai/fake-provider.js";
import { BoltClient, boltPort, WITH_BOLT } from "../e2e/bolt-client.js";
import { TestServer } from "../e2e/server.js";
import { fieldsOf, postgresPort, WITH_POSTGRES, WireClient } from "../e2e/wire-client.js";
import { signIn } from "../e2e/wire-sign-in.js";

const SECRET = "xyzzy of the chat";
const PASSWORD = "a password of somebody";
const TENANT = "club";
const KEPT = ["_chat_sessions", "_chat_messages", "_responses", "_agent_runs", "_evaluations", "_evaluation_scores"];
const KEPT_OF_MODELS = ["_automl_jobs", "_automl_checkpoints", "_automl_models", "_automl_model_bytes"];

const fake = await FakeProvider.start(() => ({ pieces: openaiPieces([`{"answer":"${SECRET}"}`]) }));
const server = await TestServer.start({
  ...fake.settings("m-1"),
  ...WITH_POSTGRES,
  ...WITH_BOLT,
  TESSERA_ACTORS: "1",
  TESSERA_QUERY_AI_SERVICE_API_KEY_ENV: "LLM_KEY",
  LLM_KEY: "key of the provider",
});
t.teardown(async () => {
  await server.stop();
  await fake.close();
});

const tokens: Record<"boss" | "ann" | "ben", string> = { boss: "", ann: "", ben: "" };
type Who = keyof typeof tokens;
const call = (who: Who, method: string, path: string, body?: unknown) =>
  server.call(method, path, body, { token: tokens[who] });
const must = (who: Who, status: number, method: string, path: string, body?: unknown) =>
  server.expect(status, method, path, body, { token: tokens[who] });
const run = (who: Who, sql: string) => server.sql(sql, [], { token: tokens[who] });
const rows = (who: Who, sql: string) => server.rows(sql, [], { token: tokens[who] });

/** Refused for want of rights, and the answer tells nothing. */
async function refused(t: Test, who: Who, sql: string, sqlstate = "42501"): Promise<void> {
  const { status, body } = await run(who, sql);
  t.equal(body.error?.details?.sqlstate, sqlstate, `${sql}: ${status} ${JSON.stringify(body).slice(0, 300)}`);
  t.notMatch(JSON.stringify(body), SECRET, sql);
}

let session = "";

/** An agent acts for the request; in a function that others made it has their rights. */
async function agentsOfOthers(t: Test, reads: string): Promise<void> {
  const asks = `CREATE FUNCTION asks() RETURNS text LANGUAGE plpgsql AS $$ BEGIN
    RETURN AGENT_RUN('clerk', 'look'); END $$`;
  await rows("ben", asks);
  const { script } = fake;
  for (const [who, sql, sees] of [
    ["boss", "SELECT AGENT_RUN('clerk', 'look')", true],
    ["boss", "SELECT asks()", false],
    ["ben", "SELECT asks()", false],
  ] as const) {
    const query = { call: "query", json: [JSON.stringify({ sql: reads })] };
    let answers = 0;
    fake.script = () => ({ pieces: openaiPieces([answers++ === 0 ? query : "done"]) });
    fake.asked.length = 0;
    t.same(await rows(who, sql), [["done"]], sql);
    const told = JSON.stringify(fake.asked.at(-1)!.body);
    t.equal(told.includes(SECRET), sees, `${who}: ${sql}`);
    if (!sees) t.match(told, /permission denied for table _chat_messages/);
  }
  fake.script = script;
}

t.test("members use the features", async (t) => {
  await server.expect(201, "POST", "/admin/tenants", { id: TENANT });
  for (const who of ["boss", "ann", "ben"] as const) {
    const roles = [who === "boss" ? "super_admin" : "user"];
    await server.expect(201, "POST", `/admin/tenants/${TENANT}/users`, { username: who, password: PASSWORD, roles });
    tokens[who] = await server.login(who, PASSWORD);
  }
  await rows("ann", "CREATE TABLE common (id int PRIMARY KEY, note text)");
  // Its plan is known before there is anything to keep.
  for (const who of ["boss", "ben"] as const) t.same(await rows(who, "SELECT count(*) FROM common"), [[0]]);
  session = (await must("ann", 201, "POST", "/v1/ai/sessions", {})).body.session_id;
  await must("ann", 200, "POST", "/v1/ai/chat", { session_id: session, content: SECRET });
  const said = (await must("ann", 200, "GET", `/v1/ai/sessions/${session}/messages`)).body.data;
  t.match(JSON.stringify(said), SECRET, "ann reads her chat");
  t.equal((await call("ben", "GET", `/v1/ai/sessions/${session}/messages`)).status, 404, "ben does not");

  const response = (await must("ann", 200, "POST", "/v1/responses", { model: "m-1", input: SECRET })).body;
  await must("ann", 200, "GET", `/v1/responses/${response.id}`);
  t.equal((await call("ben", "GET", `/v1/responses/${response.id}`)).status, 404);

  await must("ann", 201, "POST", "/v1/collections", {
    ...{ name: "notes", schema: { fields: [{ name: "title", type: "string" }] } },
  });
  await must("ann", 201, "POST", "/v1/collections/notes/documents", { id: "one", title: "apple" });
  await rows("ann", "CREATE INDEX ON notes USING text (title)");
  const pairs = [{ query: "apple", relevant: ["one"] }];
  const settings = [{ mode: "text" }];
  const about = { collection: "notes", pairs, settings, name: SECRET };
  const { id } = (await must("ann", 200, "POST", "/v1/evaluations/retrieval", about)).body.data;
  await must("ann", 200, "GET", `/v1/evaluations/${id}`);
  await rows("ben", "CREATE TABLE asked (query text, document_id text)");
  await rows("ben", "INSERT INTO asked VALUES ('apple', 'one')");
  const evaluated = await run("ben", "EVALUATE RETRIEVAL ON notes FROM asked WITH (modes = [text])");
  t.equal(evaluated.status, 200, JSON.stringify(evaluated.body));
  t.equal((await must("ben", 200, "GET", "/v1/evaluations")).body.data.total, 1, "each has one");

  await rows("ann", "CREATE TABLE loans (id int PRIMARY KEY, age float8, good text)");
  const loans = "SELECT i, i % 60, CASE WHEN i % 60 > 30 THEN 'yes' ELSE 'no' END FROM generate_series(1, 120) AS i";
  await rows("ann", `INSERT INTO loans ${loans}`);
  const training = { name: "loans", table: "loans", target: "good", max_trials: 1, time_budget_secs: 5 };
  const job = (await must("ann", 202, "POST", "/v1/automl/train", training)).body.data;
  const jobOf = (who: Who) => call(who, "GET", `/v1/automl/jobs/${job.id ?? job.job_id}`);
  while (/^(pending|running)$/.test((await jobOf("ann")).body.data.status)) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  t.equal((await jobOf("ann")).body.data.status, "completed", JSON.stringify((await jobOf("ann")).body));
  t.equal((await jobOf("ben")).status, 404, "a job is its maker's");
  const predicted = await call("ben", "POST", "/v1/automl/models/loans/predict", { rows: [{ id: 1, age: 50 }] });
  t.equal(predicted.status, 200, JSON.stringify(predicted.body));
  t.equal((await run("ben", "SHOW MODELS")).status, 200);
  await rows("ann", `SELECT AGENT_RUN('ask', '${SECRET}')`);
});

t.test("no statement of a colleague's reaches what is kept", async (t) => {
  const names = (await rows("boss", "SELECT relname FROM pg_class WHERE relname LIKE '\\_%'")).map(([name]) => name);
  for (const name of [...KEPT, ...KEPT_OF_MODELS]) {
    t.ok(names.includes(name), `${name} is there`);
    for (const who of ["ann", "ben"] as const) {
      await refused(t, who, `SELECT * FROM ${name}`);
      await refused(t, who, `SELECT count(*) FROM public."${name}"`);
    }
    t.equal((await run("boss", `SELECT * FROM ${name}`)).status, 200, "administrators may");
    await refused(t, "ben", `SELECT * FROM ${name}`);
    t.equal((await call("ben", "GET", `/v1/data/export?table=${name}&format=ndjson`)).status, 403, name);
    t.equal((await call("ben", "GET", `/v1/subscribe?table=${name}`)).status, 403, name);
  }
  t.match(JSON.stringify(await rows("boss", "SELECT * FROM _chat_messages")), SECRET);
  // Plans without constants, and those of the features.
  for (let i = 0; i < 6; i++)
    await rows("boss", `SELECT content FROM _chat_messages WHERE session_id = '${i}' AND seq = 1`);
  await refused(t, "ben", `SELECT content FROM _chat_messages WHERE session_id = '${session}' AND seq = 1`);
  // What a store has just asked for somebody else.
  await must("ann", 200, "GET", "/v1/ai/sessions");
  const asked = 'SELECT count(*) FROM "_chat_sessions" WHERE user_id = $1::text';
  const same = await server.sql(asked, ["x"], { token: tokens.ben });
  t.equal(same.body.error?.details?.sqlstate, "42501");
  // Parts of the keys under which plans are kept, in front of a text that is known.
  await rows("boss", "SELECT content FROM _chat_messages");
  for (const before of ["own\0", "administrator\0", "own\0administrator\0", "lifted\0unknown\0own\0"]) {
    for (const [text, given] of [
      [asked, ["x"]],
      ["SELECT content FROM _chat_messages", []],
    ] as const) {
      const { status, body } = await server.sql(before + text, given, { token: tokens.ben });
      t.equal(status, 400, JSON.stringify(body).slice(0, 200));
    }
  }
  for (const sql of [
    "TABLE _chat_messages",
    "SELECT (SELECT content FROM _chat_messages LIMIT 1)",
    "SELECT * FROM common WHERE EXISTS (SELECT 1 FROM _chat_messages WHERE content LIKE '%x%')",
    "WITH m AS (SELECT * FROM _chat_messages) SELECT * FROM m",
    "EXPLAIN SELECT * FROM _chat_messages",
    "EXPLAIN ANALYZE SELECT * FROM _chat_messages",
    "CREATE VIEW v AS SELECT * FROM _chat_messages",
    "CREATE MATERIALIZED VIEW v AS SELECT * FROM _chat_messages",
    "CREATE TABLE copy AS SELECT * FROM _chat_messages",
    "INSERT INTO common SELECT 1, content FROM _chat_messages",
    "INSERT INTO _chat_messages SELECT * FROM _chat_messages",
    "UPDATE _chat_messages SET content = 'forged'",
    "UPDATE _chat_sessions SET user_id = 'ben'",
    "DELETE FROM _chat_messages",
    "MERGE INTO common c USING _chat_messages m ON false WHEN NOT MATCHED THEN INSERT VALUES (1, m.content)",
    "PREPARE p AS SELECT * FROM _chat_messages",
    "DECLARE c CURSOR WITH HOLD FOR SELECT * FROM _chat_messages",
    "DO $$ BEGIN PERFORM content FROM _chat_messages; END $$",
    "TRUNCATE _chat_messages",
    "DROP TABLE _chat_messages",
    "DROP INDEX _chat_sessions_user",
    "ALTER TABLE _chat_messages ADD COLUMN more text",
    "ALTER TABLE _chat_messages RENAME TO mine",
    "ALTER TABLE _chat_messages SET SCHEMA pg_temp",
    "CREATE TABLE child () INHERITS (_chat_messages)",
    "CREATE TABLE points_to (s text REFERENCES _chat_sessions (id))",
    "CREATE INDEX ON _chat_messages (content)",
    "CREATE POLICY p ON _chat_messages USING (true)",
    "ALTER TABLE _chat_messages DISABLE ROW LEVEL SECURITY",
    "ALTER TABLE _chat_messages OWNER TO member",
    "COMMENT ON TABLE _chat_messages IS 'mine'",
    "LOCK TABLE _chat_messages",
    "GRANT SELECT ON _chat_messages TO member",
  ]) {
    await refused(t, "ben", sql);
  }
  t.match((await run("ben", "ANALYZE _chat_messages")).body.data.notices, [/skipping "_chat_messages"/]);
  for (const sql of [
    "ALTER TABLE common INHERIT _chat_messages",
    "SELECT * FROM search('_chat_messages', 'xyzzy')",
    "VERIFY _chat_messages",
  ]) {
    const { status, body } = await run("ben", sql);
    t.ok(status >= 400 && status !== 500, `${sql}: ${status}`);
    t.notMatch(JSON.stringify(body), SECRET, sql);
  }
  await must("boss", 200, "POST", "/v1/query/execute", { sql: "ANALYZE" });
  const size = "SELECT n_live_tup FROM pg_stat_user_tables WHERE relname = '_chat_messages'";
  t.same([await rows("boss", size), await rows("ben", size)], [[[2]], [[0]]], "how many there are");
  const listed = async (who: Who) =>
    JSON.stringify((await must(who, 200, "GET", "/v1/schema/tables?include_system=true")).body.data);
  t.match(await listed("boss"), "_chat_messages");
  t.notMatch(await listed("ben"), "_chat_messages");
});

t.test("neither do functions, triggers, views and names of a colleague's", async (t) => {
  const reads = "SELECT content FROM _chat_messages";
  await refused(t, "ben", `CREATE FUNCTION spy() RETURNS text LANGUAGE sql AS '${reads}'`);
  for (const sql of [
    "CREATE TABLE leaked (note text)",
    `CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       INSERT INTO leaked ${reads}; RETURN NEW; END $$`,
    "CREATE TRIGGER keep AFTER INSERT ON common FOR EACH ROW EXECUTE FUNCTION keep()",
    `CREATE FUNCTION leak(text) RETURNS int LANGUAGE plpgsql AS $$ BEGIN
       EXECUTE 'INSERT INTO leaked ${reads}'; RETURN 1; END $$`,
    "CREATE FUNCTION leak() RETURNS int LANGUAGE sql AS 'SELECT leak(NULL)'",
    "CREATE VIEW leaks AS SELECT leak('')",
    "CREATE FUNCTION plus(int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN $1 + 1; END $$",
    "CREATE FUNCTION minus(int) RETURNS int LANGUAGE sql AS 'SELECT $1 - 1'",
    "CREATE FUNCTION twice(int) RETURNS int LANGUAGE sql AS 'SELECT plus($1) + plus($1)'",
    "CREATE FUNCTION take(text) RETURNS int LANGUAGE sql AS 'INSERT INTO leaked VALUES ($1); SELECT 1'",
  ]) {
    await rows("ben", sql);
  }
  // Their bodies name another table of that name, as long as they are made.
  const script = `CREATE SCHEMA elsewhere; CREATE TABLE elsewhere._chat_messages (content text);
    SET search_path = elsewhere, public;
    CREATE FUNCTION public.pull() RETURNS int LANGUAGE sql AS 'SELECT take((${reads} LIMIT 1))';
    CREATE FUNCTION public.peek() RETURNS text LANGUAGE sql STABLE AS '${reads} LIMIT 1';
    CREATE TABLE public.peeks (a int, b text DEFAULT peek());
    CREATE TABLE public.peeked (a int, b text DEFAULT 'x' CHECK (b <> peek()));`;
  await server.expect(200, "POST", "/v1/query/script", script, {
    ...{ token: tokens.ben, headers: { "content-type": "application/sql" } },
  });
  for (const sql of [
    "SELECT peek()",
    "INSERT INTO peeks (a) VALUES (1) RETURNING b",
    "INSERT INTO peeked VALUES (1)",
  ]) {
    for (const who of ["ben", "boss"] as const) await refused(t, who, sql);
  }
  for (const sql of [
    "SELECT leak()",
    "SELECT pull()",
    "SELECT leak('')",
    "TABLE leaks",
    "INSERT INTO common VALUES (1, 'x')",
  ]) {
    // An administrator lends no rights to what others have made.
    for (const who of ["ben", "boss", "ben"] as const) await refused(t, who, sql);
  }
  // One call after the other, and some within others.
  for (const who of ["boss", "ben"] as const) {
    const sums = "SELECT sum(plus(i)), sum(minus(i)), sum(twice(i)), current_user FROM generate_series(1, 100) AS i";
    t.same(await rows(who, sums), [[5150, 4950, 10300, who]]);
    const own = "SELECT plus(1), (SELECT count(*) >= 0 FROM _chat_messages), plus(2)";
    if (who === "boss") t.same(await rows(who, own), [[2, true, 3]], "between two calls the rights are its own");
    else await refused(t, who, own);
  }
  t.same(await rows("ben", "SELECT count(*) FROM leaked"), [[0]]);
  await agentsOfOthers(t, reads);
  // A name that a feature would take for its own.
  for (const sql of [
    "CREATE TABLE _automl_jobs (id int)",
    "ALTER TABLE leaked RENAME TO _agent_runs",
    "CREATE VIEW _responses AS SELECT 1 AS id",
  ]) {
    const { status } = await run("ben", sql);
    t.ok(status >= 400 && status < 500, sql);
  }
  await server.tenant("fresh");
  const fresh = await server.login("fresh-user", (await import("../e2e/server.js")).passwordOf("fresh"));
  for (const sql of [
    "CREATE TABLE _chat_messages (session_id text CHECK (length(session_id) > 0))",
    "CREATE TABLE mine (a int); ALTER TABLE mine RENAME TO _chat_messages",
    "CREATE VIEW _chat_messages AS SELECT 1 AS a",
    "CREATE TABLE _chat_sessions AS SELECT 1 AS a",
  ]) {
    const { status, body } = await server.call("POST", "/v1/query/script", sql, {
      ...{ token: fresh, headers: { "content-type": "application/sql" } },
    });
    t.match(JSON.stringify(body), /42501/, `${sql}: ${status}`);
  }
});

t.test("by the other doors", async (t) => {
  const sql = "SELECT content FROM _chat_messages";
  const tool = (name: string, args: object) =>
    call("ben", "POST", "/v1/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } });
  const answers = [
    tool("query", { sql }),
    tool("execute", { sql }),
    tool("describe_table", { table: "_chat_messages" }),
    call("ben", "POST", "/v1/query/execute/batch", { statements: [{ sql: "SELECT 1" }, { sql }] }),
    call("ben", "POST", "/v1/vectors/map", { sql: "SELECT * FROM _chat_messages" }),
    call("ben", "POST", "/v1/automl/train", { name: "spy", query: `${sql}, loans`, target: "content" }),
    call("ben", "POST", "/v1/automl/train", { name: "spy", table: "_chat_messages", target: "content" }),
    call("ben", "POST", "/v1/automl/models/loans/evaluate", { table: "_chat_messages" }),
    call("ben", "POST", "/v1/evaluations/retrieval", { collection: "notes", pairs_from: "_chat_messages" }),
    call("ben", "GET", `/v1/subscribe?sql=${encodeURIComponent(sql)}`),
    call("ben", "POST", "/v1/data/import/ndjson?table=_chat_messages", { session_id: session, content: "forged" }),
  ];
  for (const [i, answer] of (await Promise.all(answers)).entries()) {
    t.not(answer.status, 500, `${i}`);
    t.notMatch(JSON.stringify(answer.body), SECRET, `${i}: ${answer.status}`);
    t.match(JSON.stringify(answer.body), /42501|permission denied|content|_chat_messages/, `${i}`);
  }
  for (const table of ["_chat_messages", "_chat_sessions"]) {
    const messages = await rows("boss", `SELECT count(*) FROM ${table}`);
    t.same(messages, [[table === "_chat_messages" ? 2 : 1]], "nothing was forged");
  }

  const wire = await WireClient.connect(postgresPort(server));
  wire.start({ user: "ben", database: "postgres" });
  t.equal((await signIn(wire, PASSWORD)) ?? null, null);
  await wire.until("Z");
  for (const text of [sql, "COPY _chat_messages TO STDOUT", "COPY (SELECT * FROM _chat_messages) TO STDOUT"]) {
    const received = await wire.ask(text);
    const failure = received.find(({ type }) => type === "E");
    t.equal(failure === undefined ? "none" : fieldsOf(failure).C, "42501", text);
    t.notMatch(received.map(({ body }) => body.toString("latin1")).join(), SECRET, text);
  }
  wire.close();

  const bolt = await BoltClient.connect(boltPort(server));
  await bolt.start([5, 8], { user: "ben", password: PASSWORD });
  for (const text of [sql, "MATCH (m:_chat_messages) RETURN m"]) {
    t.notMatch(JSON.stringify(await bolt.rows(text, {}, {})), SECRET, text);
  }
  bolt.close();
});

t.test("branches, roles and keys", async (t) => {
  await must("boss", 201, "POST", "/v1/branches", { name: "try" });
  const there = { token: tokens.ann, headers: { "x-tessera-branch": "try" } };
  await server.expect(200, "POST", "/v1/ai/chat", { session_id: session, content: SECRET }, there);
  const inBranch = { token: tokens.ben, headers: { "x-tessera-branch": "try" } };
  t.match(await server.sql("SELECT * FROM _chat_messages", [], inBranch), { status: 403 });
  const diff = (await must("ben", 200, "GET", "/v1/branches/try/diff")).body;
  t.notMatch(JSON.stringify(diff), SECRET);
  t.match(JSON.stringify((await must("boss", 200, "GET", "/v1/branches/try/diff")).body), SECRET);

  await rows("boss", "CREATE ROLE readers");
  await rows("boss", "CREATE USER ben IN ROLE readers");
  await rows("boss", "GRANT SELECT ON ALL TABLES IN SCHEMA public TO readers");
  const granted = "SELECT count(*) FROM information_schema.role_table_grants WHERE grantee = 'readers' AND table_name";
  t.same(await rows("boss", `${granted} LIKE '\\_chat%'`), [[0]]);
  t.same(await rows("boss", `${granted} = 'common'`), [[1]]);
  await refused(t, "boss", "GRANT SELECT ON _chat_messages TO readers", "0A000");
  await refused(t, "ben", "SELECT * FROM _chat_messages");
  await rows("boss", "CREATE VIEW my_chats AS SELECT title FROM _chat_sessions WHERE user_id = current_user");
  await rows("boss", "GRANT SELECT ON my_chats TO readers");
  t.same(await rows("ben", "SELECT * FROM my_chats"), [], "an administrator's view may show a part");
  await refused(t, "ben", "CREATE VIEW all_chats AS SELECT * FROM _chat_messages");
  await rows("boss", "SET ROLE member; SELECT 1").catch(() => undefined);
  const asMember = await server.call("POST", "/v1/query/script", "SET ROLE member; SELECT * FROM _chat_messages;", {
    ...{ token: tokens.boss, headers: { "content-type": "application/sql" } },
  });
  t.match(JSON.stringify(asMember.body), /42501/, "a role taken later is not an administrator");
  t.notMatch(JSON.stringify(asMember.body), SECRET);
  await must("ann", 200, "POST", "/v1/ai/chat", { session_id: session, content: "and now?" });
  t.equal((await must("ann", 200, "GET", `/v1/ai/sessions/${session}/messages`)).body.data.messages.length, 4);
  await must("ann", 204, "DELETE", `/v1/ai/sessions/${session}`);
});

t.test("memories are their maker's, where the tenant has roles", async (t) => {
  await rows("boss", "CREATE USER ann");
  await rows("boss", "ALTER DEFAULT PRIVILEGES FOR ROLE ann GRANT SELECT ON TABLES TO readers");
  await rows("ann", `SELECT MEMORY_STORE('anns', '${SECRET}')`);
  await must("ann", 201, "POST", "/v1/ai/memory/anns", { content: "Ann likes tea." });
  await rows("boss", "GRANT SELECT ON ALL TABLES IN SCHEMA public TO readers");
  await rows("ben", "CREATE TABLE bens (id int)");
  for (const sql of [
    "SELECT * FROM _memory_anns",
    "SELECT content FROM MEMORY_RECALL('anns', 'xyzzy')",
    "SELECT MEMORY_STORE('anns', 'forged')",
    "SELECT MEMORY_UPSERT('anns', 'x', 'forged')",
    "DROP TABLE _memory_anns",
    "GRANT SELECT ON _memory_anns TO readers",
  ]) {
    await refused(t, "ben", sql);
  }
  const recall = (who: Who) => call(who, "POST", "/v1/ai/memory/anns/recall", { query: "xyzzy" });
  const listed = async (who: Who) =>
    (await must(who, 200, "GET", "/v1/ai/memory")).body.data.namespaces.map(
      (one: { namespace: string }) => one.namespace,
    );
  const denied = await recall("ben");
  t.match(denied, { status: 403, body: { error: { details: { hint: /GRANT SELECT.* ON "_memory_anns"/ } } } });
  t.equal((await call("ben", "GET", "/v1/subscribe?table=_memory_anns")).status, 403);
  t.equal((await call("ben", "GET", "/v1/data/export?table=_memory_anns&format=ndjson")).status, 403);
  t.match(JSON.stringify((await recall("ann")).body), SECRET, "she recalls them, although ben has a table of his own");
  t.same([await listed("ann"), await listed("ben")], [["anns"], []]);
  await rows("ann", "GRANT SELECT ON _memory_anns TO readers");
  t.match(JSON.stringify((await recall("ben")).body), SECRET, "shared by name");
  t.same(await listed("ben"), ["anns"]);
  await refused(t, "ben", "SELECT MEMORY_STORE('anns', 'forged')");
  await rows("boss", "REVOKE ALL ON ALL TABLES IN SCHEMA public FROM readers");
  t.equal((await recall("ben")).status, 403);

  // A policy hides the memory under an id.
  await rows("ann", "GRANT SELECT, INSERT, UPDATE ON _memory_anns TO readers");
  await rows("ann", "ALTER TABLE _memory_anns ENABLE ROW LEVEL SECURITY");
  await rows("ann", "CREATE POLICY own ON _memory_anns USING (metadata ->> 'by' = 'ben')");
  await rows("ann", "SELECT MEMORY_UPSERT('anns', 'taken', 'hers')");
  t.same(await rows("ben", "SELECT content FROM MEMORY_RECALL('anns', 'xyzzy')"), []);
  const taken = await run("ben", `SELECT MEMORY_UPSERT('anns', 'taken', 'his', '{"by": "ben"}')`);
  t.match(taken, { status: 409, body: { error: { details: { sqlstate: "23505" } } } });
});

t.test("what one user remembers closes nothing to the others, and opens to them nowhere", async (t) => {
  const team = "team";
  await server.expect(201, "POST", "/admin/tenants", { id: team });
  const signedIn: Record<string, string> = {};
  for (const username of ["chief", "cleo", "dan"]) {
    const roles = [username === "chief" ? "super_admin" : "user"];
    await server.expect(201, "POST", `/admin/tenants/${team}/users`, { username, password: PASSWORD, roles });
    signedIn[username] = await server.login(username, PASSWORD);
  }
  const as = (who: string, headers?: Record<string, string>) => ({
    token: signedIn[who]!,
    ...(headers && { headers }),
  });
  const did = (who: string, sql: string) => server.rows(sql, [], as(who));
  await server.expect(200, "PUT", "/v1/history", { window_seconds: 3600 }, as("chief"));
  await did("chief", "CREATE TABLE common (id int PRIMARY KEY, note text)");
  await did("chief", "CREATE ROLE crew");
  for (const name of ["cleo", "dan"]) {
    await did("chief", `CREATE USER ${name}`);
    await did("chief", `GRANT crew TO ${name}`);
    await did("chief", `ALTER DEFAULT PRIVILEGES FOR ROLE ${name} GRANT ALL ON TABLES TO crew`);
  }
  await did("chief", "GRANT ALL ON ALL TABLES IN SCHEMA public TO crew");
  await did("cleo", `SELECT MEMORY_STORE('cleos', 'plugh of the cave')`);
  await did("cleo", "SELECT MEMORY_STORE('cleos', 'Cleo likes tea.')");
  await did("cleo", "GRANT SELECT ON _memory_cleos TO dan");
  const [[shared]] = (await did("dan", "SELECT now()::text FROM _memory_cleos LIMIT 1")) as [[string]];
  await did("cleo", "REVOKE SELECT ON _memory_cleos FROM dan");
  const past = { "X-Tessera-As-Of": new Date(shared).toISOString() };

  const sends = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    server.call(method, path, body, as("dan", headers));
  for (const [status, method, path, body, headers] of [
    [200, "POST", "/v1/chat/completions", { model: "m-1", messages: [{ role: "user", content: "hi" }] }],
    [201, "POST", "/v1/ai/sessions", {}],
    [200, "GET", "/v1/recipes"],
    [200, "GET", "/v1/automl/models"],
    [200, "GET", "/v1/schema/tables?include_system=true"],
    [200, "GET", "/v1/schema/tables?include_system=true", undefined, past],
    [200, "POST", "/v1/query/execute", { sql: "SELECT count(*) FROM common" }, past],
    [200, "POST", "/v1/query/execute", { sql: `SELECT count(*) FROM common AS OF TIMESTAMP '${shared}'` }],
    [403, "POST", "/v1/query/execute", { sql: "SELECT content FROM _memory_cleos" }, past],
    [403, "POST", "/v1/query/execute", { sql: `SELECT content FROM _memory_cleos AS OF TIMESTAMP '${shared}'` }],
    [403, "POST", "/v1/ai/memory/cleos/recall", { query: "cave" }, past],
    [403, "GET", "/v1/data/export?table=_memory_cleos&format=ndjson", undefined, past],
    [403, "GET", "/v1/schema/tables/_memory_cleos"],
    [403, "GET", "/v1/schema/tables/_memory_cleos/indexes", undefined, past],
    [403, "POST", "/v1/automl/train", { table: "_memory_cleos", target: "content", name: "m" }],
    [403, "POST", "/v1/automl/datasets", { name: "d", source: { type: "table", table: "_memory_cleos" } }],
    [403, "POST", "/v1/recipes/export", { id: "r", name: "r", version: "1.0.0", tables: ["_memory_cleos"] }],
    [403, "GET", "/v1/branches/none/diff"],
    [403, "POST", "/v1/query/execute", { sql: "SELECT 1" }, { "X-Tessera-Branch": "none" }],
  ] as const) {
    const { status: answered, body: told } = await sends(method, path, body, headers);
    t.equal(answered, status, `${method} ${path} ${JSON.stringify(body)}: ${JSON.stringify(told).slice(0, 200)}`);
    t.notMatch(JSON.stringify(told), /plugh|"name":"_memory_cleos"/);
  }
  t.match(JSON.stringify(await did("dan", "EXPLAIN ANALYZE SELECT * FROM common")), /actual time/);
  const estimate = "SELECT n_live_tup > 0 FROM pg_stat_user_tables WHERE relname = '_memory_cleos'";
  await did("chief", "ANALYZE _memory_cleos");
  t.same([await did("chief", estimate), await did("dan", estimate)], [[[true]], [[false]]]);
  await did("cleo", "CREATE VIEW of_cleo AS SELECT content FROM _memory_cleos WHERE content = ''");
  t.same(await did("dan", "SELECT * FROM of_cleo"), []);
  const explained = await server.sql("EXPLAIN ANALYZE SELECT * FROM of_cleo", [], as("dan"));
  t.equal(explained.status, 403, "how many rows a view tries tells of those that it hides");
  const query = { call: "query", json: [JSON.stringify({ sql: "SELECT content FROM _memory_cleos" })] };
  let answers = 0;
  fake.script = () => ({ pieces: openaiPieces([answers++ === 0 ? query : "done"]) });
  t.same(await did("dan", "SELECT AGENT_RUN('You look.', 'Look.')"), [["done"]]);
  t.match(JSON.stringify(fake.asked.at(-1)!.body), /permission denied for table _memory_cleos/);
  const own = await server.sql(`SELECT content FROM _memory_cleos AS OF TIMESTAMP '${shared}'`, [], as("chief"));
  t.match(JSON.stringify(own.body), "plugh", "administrators read the past of memories");
});
