/**
 * Relations in which users see what is their own of the tables that features keep: chats, responses, runs of agents,
 * evaluations, executions of recipes, trainings, folders and files.
 */
import t, { type Test } from "tap";
import { FakeProvider, openaiPieces } from "../ai/fake-provider.js";
import { ROUTE, TestFolder, until } from "../e2e/filesystem-folder.js";
import { TestServer } from "../e2e/server.js";
import { postgresPort, WITH_POSTGRES, WireClient } from "../e2e/wire-client.js";
import { signIn } from "../e2e/wire-sign-in.js";

const PASSWORD = "a password of somebody";
const SECRET = "xyzzy of the chat";

const fake = await FakeProvider.start(() => ({ pieces: openaiPieces([`{"answer":"${SECRET}"}`]) }));
const folder = new TestFolder();
folder.put("open.md", "The open door.");
folder.put("closed.md", "The closed door.");
const server = await TestServer.start({
  ...fake.settings("m-1"),
  ...WITH_POSTGRES,
  TESSERA_ACTORS: "1",
  TESSERA_FILES_ROOTS: folder.root,
  TESSERA_QUERY_AI_SERVICE_API_KEY_ENV: "LLM_KEY",
  LLM_KEY: "key of the provider",
});
t.teardown(async () => {
  await server.stop();
  await fake.close();
  folder.end();
});

const tokens: Record<string, string> = {};
const call = (who: string, method: string, path: string, body?: unknown) =>
  server.call(method, path, body, { token: tokens[who]! });
const must = (who: string, status: number, method: string, path: string, body?: unknown) =>
  server.expect(status, method, path, body, { token: tokens[who]! });
const run = (who: string, sql: string) => server.sql(sql, [], { token: tokens[who]! });
const rows = (who: string, sql: string) => server.rows(sql, [], { token: tokens[who]! });

const OWN = [
  "tessera_chat_sessions",
  "tessera_chat_messages",
  "tessera_responses",
  "tessera_agent_runs",
  "tessera_evaluations",
  "tessera_evaluation_scores",
  "tessera_recipe_executions",
  "tessera_automl_jobs",
];

async function isRefused(t: Test, who: string, sql: string): Promise<void> {
  const { status, body } = await run(who, sql);
  t.ok(status >= 400 && status < 500, `${sql}: ${status} ${JSON.stringify(body).slice(0, 200)}`);
  t.notMatch(JSON.stringify(body), SECRET, sql);
}

t.test("they are there, and empty, before a feature is used", async (t) => {
  await server.expect(201, "POST", "/admin/tenants", { id: "club" });
  for (const who of ["boss", "ann", "ben"]) {
    const roles = [who === "boss" ? "super_admin" : "user"];
    await server.expect(201, "POST", "/admin/tenants/club/users", { username: who, password: PASSWORD, roles });
    tokens[who] = await server.login(who, PASSWORD);
  }
  for (const relation of [...OWN, "tessera_folders", "tessera_files"]) {
    t.same(await rows("ann", `SELECT * FROM ${relation}`), [], relation);
  }
});

t.test("each user sees the own rows", async (t) => {
  await rows("ann", "CREATE TABLE leaked (note text)");
  await rows("ann", "CREATE TABLE loans (id int PRIMARY KEY, age float8, good text)");
  const loans = "SELECT i, i % 60, CASE WHEN i % 60 > 30 THEN 'yes' ELSE 'no' END FROM generate_series(1, 120) AS i";
  await rows("ann", `INSERT INTO loans ${loans}`);
  const fields = [{ name: "title", type: "string" }];
  await must("ann", 201, "POST", "/v1/collections", { name: "notes", schema: { fields } });
  await must("ann", 201, "POST", "/v1/collections/notes/documents", { id: "one", title: "apple" });
  await rows("ann", "CREATE INDEX ON notes USING text (title)");
  for (const who of ["ann", "ben"]) {
    const session = (await must(who, 201, "POST", "/v1/ai/sessions", { title: `of ${who}` })).body.session_id;
    await must(who, 200, "POST", "/v1/ai/chat", { session_id: session, content: `${SECRET} by ${who}` });
    await must(who, 200, "POST", "/v1/responses", { model: "m-1", input: `${SECRET} by ${who}` });
    await rows(who, `SELECT AGENT_RUN('of ${who}', 'look')`);
    const about = { collection: "notes", pairs: [{ query: "apple", relevant: ["one"] }], settings: [{ mode: "text" }] };
    await must(who, 200, "POST", "/v1/evaluations/retrieval", { ...about, name: `of ${who}` });
    const training = { name: `of_${who}`, table: "loans", target: "good", max_trials: 1, async_mode: false };
    await must(who, 200, "POST", "/v1/automl/train", training);
  }
  const head = { id: "look", version: "1.0.0", engine: ">=0.1.0", name: "Look", category: "test" };
  const recipe = { ...head, workflow: [{ name: "find", sql: "SELECT count(*) FROM loans" }] };
  await must("ann", 201, "POST", "/v1/recipes/import", { recipe });
  await must("ann", 200, "POST", "/v1/recipes/look/execute", {});
  for (const [relation, column] of [
    ["tessera_chat_sessions", "title"],
    ["tessera_agent_runs", "persona"],
    ["tessera_evaluations", "name"],
    ["tessera_automl_jobs", "replace(name, '_', ' ')"],
  ]) {
    for (const who of ["ann", "ben"]) {
      t.same(await rows(who, `SELECT ${column} FROM ${relation}`), [[`of ${who}`]], relation);
    }
    t.same(await rows("boss", `SELECT ${column} FROM pg_catalog.${relation}`), [], "administrators, too");
  }
  for (const who of ["ann", "ben"]) {
    const said = `SELECT m.content FROM tessera_chat_messages m JOIN tessera_chat_sessions s ON s.id = m.session_id
      WHERE s.title = 'of ${who}' AND m.role = 'user'`;
    t.same(await rows(who, said), [[`${SECRET} by ${who}`]]);
    t.same(await rows(who === "ann" ? "ben" : "ann", said), [], "the same text, another user");
    t.same(await rows(who, "SELECT count(*) FROM tessera_responses"), [[1]]);
    t.same(await rows(who, "SELECT count(*) FROM tessera_evaluation_scores"), [[1]]);
    t.same(await rows(who, "SELECT count(*) FROM tessera_recipe_executions"), [[who === "ann" ? 1 : 0]]);
  }
  const wire = await WireClient.connect(postgresPort(server));
  wire.start({ user: "ben", database: "postgres" });
  t.equal((await signIn(wire, PASSWORD)) ?? null, null);
  await wire.until("Z");
  const received = await wire.ask("SELECT title FROM tessera_chat_sessions");
  t.match(received.map(({ body }) => body.toString("latin1")).join(), "of ben", "by PostgreSQL's protocol");
  t.notMatch(received.map(({ body }) => body.toString("latin1")).join(), "of ann");
  wire.close();
  const explained = JSON.stringify(await rows("ann", "EXPLAIN ANALYZE SELECT * FROM tessera_chat_messages"));
  t.notMatch(explained, /Removed by Filter|_chat_messages"|user_id/, "nothing of the rows of others");
});

t.test("only a statement that its user sends may name them", async (t) => {
  const reads = "SELECT content FROM tessera_chat_messages";
  // What ben makes runs as ann calls it; it must not carry her rows away.
  for (const sql of [
    `CREATE FUNCTION spy() RETURNS int LANGUAGE plpgsql AS $$ BEGIN INSERT INTO leaked ${reads}; RETURN 1; END $$`,
    `CREATE FUNCTION dynamic() RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'INSERT INTO leaked ${reads}'; RETURN 1; END $$`,
    `CREATE FUNCTION take() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO leaked ${reads}; RETURN NEW; END $$`,
    "CREATE TABLE bait (id int)",
    "CREATE TRIGGER take AFTER INSERT ON bait FOR EACH ROW EXECUTE FUNCTION take()",
    `CREATE FUNCTION inlined() RETURNS SETOF text LANGUAGE sql STABLE AS '${reads}'`,
    `CREATE FUNCTION put() RETURNS int LANGUAGE sql AS 'INSERT INTO leaked ${reads}; SELECT 1'`,
    `CREATE VIEW chats AS ${reads}`,
    `CREATE RULE r AS ON DELETE TO bait DO ALSO INSERT INTO leaked ${reads}`,
    `CREATE TABLE policed (id int)`,
    `CREATE POLICY p ON policed USING (EXISTS (${reads}))`,
    `CREATE MATERIALIZED VIEW kept AS ${reads}`,
  ]) {
    await run("ben", sql);
  }
  // Her own statement of the same text has a plan that is known.
  t.match(JSON.stringify(await rows("ann", reads)), SECRET);
  for (const sql of [
    "SELECT spy()",
    "SELECT dynamic()",
    "INSERT INTO bait VALUES (1)",
    "SELECT inlined()",
    "SELECT * FROM inlined()",
    "SELECT put()",
    "TABLE chats",
    "DELETE FROM bait",
    "TABLE policed",
    "TABLE kept",
  ]) {
    const { body } = await run("ann", sql);
    t.notMatch(JSON.stringify(body), SECRET, sql);
  }
  t.same(await rows("boss", "SELECT count(*) FROM leaked"), [[0]], "nothing was carried away");
  const head = { version: "1.0.0", engine: ">=0.1.0", category: "test" };
  for (const [id, sql] of [
    ["steals", `INSERT INTO leaked ${reads}`],
    ["same-text", reads],
  ]) {
    const recipe = { ...head, id, name: id, workflow: [{ name: "x", sql }] };
    await call("ben", "POST", "/v1/recipes/import", { recipe });
    const { body } = await call("ann", "POST", `/v1/recipes/${id}/execute`, {});
    t.notMatch(JSON.stringify(body), `${SECRET} by ann`, "a recipe is somebody else's text");
  }
  // An agent works on others' texts.
  const { script } = fake;
  for (const sql of [reads, `INSERT INTO leaked ${reads}`]) {
    let answers = 0;
    const query = { call: sql.startsWith("INSERT") ? "execute" : "query", json: [JSON.stringify({ sql })] };
    fake.script = () => ({ pieces: openaiPieces([answers++ === 0 ? query : "done"]) });
    fake.asked.length = 0;
    await rows("ann", "SELECT AGENT_RUN('clerk', 'look')");
    t.notMatch(JSON.stringify(fake.asked.at(-1)!.body), `${SECRET} by ann`);
  }
  fake.script = script;
  t.same(await rows("boss", "SELECT count(*) FROM leaked"), [[0]]);
  t.equal((await call("ann", "GET", `/v1/subscribe?sql=${encodeURIComponent(reads)}`)).status, 501, "no live queries");
  const made = await must("ann", 201, "POST", "/v1/api-keys", { name: "led", lead: { tables: ["loans"] } });
  tokens.led = made.body.raw_key;
  await isRefused(t, "led", reads);
  await isRefused(t, "ann", "INSERT INTO tessera_chat_sessions VALUES ('x')");
  await isRefused(t, "ann", "DELETE FROM tessera_chat_messages");
  // Into her own table she may take them.
  t.equal((await run("ann", `INSERT INTO leaked ${reads}`)).status, 200);
  await rows("ann", "DELETE FROM leaked");
});

t.test("folders and files by the rights to the collection", async (t) => {
  const { id } = (await must("boss", 201, "POST", ROUTE, { name: "papers", watch_dir: folder.root, embed_text: false }))
    .body.data;
  await until(async () => (await must("boss", 200, "GET", `${ROUTE}/${id}`)).body.data.files.indexed === 2);
  const files = (who: string) => rows(who, "SELECT collection, path, status FROM tessera_files ORDER BY path");
  const both = [
    ["papers", "closed.md", "indexed"],
    ["papers", "open.md", "indexed"],
  ];
  for (const who of ["boss", "ann"]) {
    t.same(await files(who), both);
    t.same(await rows(who, "SELECT name, root FROM tessera_folders"), [["papers", folder.root]]);
  }
  await rows("boss", "CREATE ROLE seller");
  await rows("boss", "CREATE USER ann IN ROLE seller");
  await rows("boss", "CREATE USER ben");
  await rows("boss", "REVOKE ALL ON papers FROM member");
  t.same([await files("ann"), await rows("ann", "TABLE tessera_folders")], [[], []]);
  await rows("boss", "GRANT SELECT ON papers TO seller");
  t.same(await files("ann"), both);
  t.same(await files("ben"), []);
  await rows("boss", "CREATE POLICY p ON papers USING (file = 'open.md')");
  await rows("boss", "ALTER TABLE papers ENABLE ROW LEVEL SECURITY");
  t.same(await files("ann"), [both[1]]);
  t.same(await files("boss"), both);
});
