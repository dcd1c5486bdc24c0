/** API keys on a lead: each door, in a tenant that makes no use of roles, on a running server. */
import t from "tap";
import { ENDPOINTS } from "../../src/protocol/endpoints.js";
import type { Lead } from "../../src/protocol/lead.js";
import { BoltClient, boltPort, WITH_BOLT } from "../e2e/bolt-client.js";
import { TestServer } from "../e2e/server.js";
import { errorIn, fieldsOf, postgresPort, WITH_POSTGRES, WireClient } from "../e2e/wire-client.js";
import { signIn } from "../e2e/wire-sign-in.js";

const SECRET = "xyzzy-of-the-board";

const server = await TestServer.start({ ...WITH_POSTGRES, ...WITH_BOLT, TESSERA_ACTORS: "1" });
t.teardown(() => server.stop());

const sql = (text: string, token: string = server.token) =>
  server.call("POST", "/v1/query/execute", { sql: text }, { token });
const must = (text: string) => server.expect(200, "POST", "/v1/query/execute", { sql: text });

async function key(lead: Lead, permission = "FullAccess"): Promise<string> {
  const { body } = await server.expect(201, "POST", "/v1/api-keys", { name: "led", permission, lead });
  return body.data.raw_key;
}

const tool = (name: string, args: object, token: string) =>
  server.call(
    "POST",
    "/v1/mcp",
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } },
    { token },
  );

t.before(async () => {
  await must("CREATE TABLE board (id int PRIMARY KEY, note text)");
  await must(`INSERT INTO board VALUES (1, '${SECRET}')`);
  await must("CREATE TABLE common (id serial PRIMARY KEY, note text)");
  await must("INSERT INTO common (note) VALUES ('for all')");
  await must("CREATE SCHEMA sales");
  await must("CREATE TABLE sales.orders (id int PRIMARY KEY)");
  await must("CREATE VIEW notes AS SELECT note FROM board");
  await must("CREATE VIEW common_notes AS SELECT note FROM common");
  await must("ANALYZE board");
  await server.expect(201, "POST", "/v1/graph/nodes", { labels: ["Member"], properties: { note: SECRET } });
});

t.test("a key that may name some tables", async (t) => {
  const led = await key({ tables: ["common", "sales.orders", "common_notes"] });
  const stated = "SELECT note FROM board";
  t.match(JSON.stringify((await sql(stated)).body), SECRET, "its maker sees all tables");
  t.same((await sql("SELECT note FROM common", led)).body.data.rows, [["for all"]]);
  t.same((await sql("SELECT note FROM common_notes", led)).body.data.rows, [["for all"]]);
  t.equal((await sql("SELECT * FROM sales.orders", led)).status, 200);
  t.equal(
    (await sql("INSERT INTO common (note) VALUES ('by the key')", led)).status,
    200,
    "serial columns are numbered",
  );
  for (const text of [
    stated,
    "SELECT count(*) FROM board",
    "TABLE board",
    "SELECT * FROM notes",
    "WITH b AS (SELECT * FROM board) SELECT * FROM b",
    "INSERT INTO common (note) SELECT note FROM board",
    "UPDATE board SET note = ''",
    "DELETE FROM board",
    "DO $$ BEGIN PERFORM note FROM board; END $$",
    "PREPARE p AS SELECT * FROM board",
    "CREATE TABLE mine (id int)",
    "CREATE TABLE _agents (id int)",
    "CREATE VIEW v AS SELECT * FROM common",
    "DROP TABLE common",
    "ALTER TABLE common ADD COLUMN x int",
    "TRUNCATE board",
    "CREATE ROLE somebody",
    "GRANT SELECT ON common TO PUBLIC",
    "SET ROLE admin; SELECT * FROM board",
    "SELECT nextval('sales.hidden')",
    "SELECT * FROM search('board', 'xyzzy')",
    "COPY board TO STDOUT",
  ]) {
    const { status, body } = await sql(text, led);
    t.ok(status >= 400 && status !== 500, `${text}: ${status}`);
    t.notMatch(JSON.stringify(body), SECRET, text);
  }
  const stats = await sql("SELECT * FROM pg_stats WHERE tablename = 'board'", led);
  t.notMatch(JSON.stringify(stats.body), SECRET, "statistics tell nothing of other tables");
  t.match(JSON.stringify((await sql(stated)).body), SECRET, "plans are not shared with others");
  for (const endpoint of ENDPOINTS.filter(({ door }) => door === "whole" || door === "all")) {
    const at = endpoint.path.replace(/\{\w+\}|:\w+/g, "board");
    const { status, body } = await server.call(endpoint.method, at, endpoint.method === "GET" ? undefined : {}, {
      token: led,
    });
    if (status === 426) continue;
    t.equal(status, 403, `${endpoint.name}: ${JSON.stringify(body).slice(0, 200)}`);
  }
  const exported = await server.call("GET", "/v1/data/export?table=board", undefined, { token: led });
  t.equal(exported.status, 403);
  const found = await server.call("POST", "/v1/collections/board/search", { query: "xyzzy" }, { token: led });
  t.notMatch(JSON.stringify(found.body), SECRET);
  const followed = await server.call("GET", "/v1/subscribe?table=board", undefined, { token: led });
  t.ok(followed.status >= 400 && followed.status < 500, `subscribe: ${followed.status}`);
  t.match(JSON.stringify((await tool("query", { sql: stated }, led)).body), /permission denied/);
  const listed = JSON.stringify((await tool("list_tables", {}, led)).body);
  t.match(listed, "common");
  t.notMatch(listed, "board");
  t.match(JSON.stringify((await tool("describe_table", { table: "board" }, led)).body), /permission denied/);
  const cypher = await tool("graph_query", { cypher: "MATCH (n) RETURN n" }, led);
  t.match(JSON.stringify(cypher.body), /permission denied/);
  t.notMatch(JSON.stringify(cypher.body), SECRET);
});

t.test("a key that acts as a role", async (t) => {
  const led = await key({ role: "clerk" });
  t.match((await sql("SELECT 1", led)).body.error, { code: "forbidden", message: /role "clerk"/ }, "there must be one");
  await must("CREATE ROLE clerk");
  t.equal((await sql("SELECT 1", led)).status, 200);
  await must("CREATE TABLE pay (id int)");
  await must("REVOKE ALL ON pay FROM member");
  t.equal((await sql("SELECT * FROM pay", led)).status, 403, "it is no administrator, as its maker is");
  await must("GRANT SELECT ON pay TO clerk");
  t.equal((await sql("SELECT * FROM pay", led)).status, 200);
  t.equal((await server.call("GET", "/admin/tenants", undefined, { token: led })).status, 403);
  await must("DROP TABLE pay");
});

t.test("a key with kinds of statements", async (t) => {
  const writer = await key({ statements: ["read", "write"] });
  t.equal((await sql("INSERT INTO common (note) VALUES ('w')", writer)).status, 200);
  t.match((await sql("CREATE TABLE made (id int)", writer)).body.error, {
    message: /may not change definitions/,
    details: { hint: /definition/ },
  });
  t.equal((await sql("CREATE TEMP TABLE own (id int)", writer)).status, 200, "what it makes for itself is its own");
  const collection = { name: "made" };
  t.equal((await server.call("POST", "/v1/collections", collection, { token: writer })).status, 403);
  const reader = await key({ statements: ["read"] });
  t.equal((await sql("SELECT 1", reader)).status, 200);
  t.equal((await sql("INSERT INTO common (note) VALUES ('r')", reader)).status, 403);
  const { body } = await server.expect(200, "GET", "/v1/api-keys?limit=1");
  t.match(body.data.keys[0], { permission: "ReadOnly", lead: { statements: ["read"] } });
});

t.test("a key with tools", async (t) => {
  const led = await key({ tools: ["query", "graph_query"] });
  const listed = await server.expect(
    200,
    "POST",
    "/v1/mcp",
    { jsonrpc: "2.0", id: 1, method: "tools/list" },
    {
      token: led,
    },
  );
  t.same(listed.body.result.tools.map(({ name }: { name: string }) => name).sort(), ["graph_query", "query"]);
  t.match((await tool("query", { sql: "SELECT 6 * 7 AS answer" }, led)).body.result, { isError: false });
  const refused = await tool("execute", { sql: "DELETE FROM common" }, led);
  t.match(refused.body.result, { isError: true, structuredContent: { error: { code: "forbidden" } } });
  t.match((await sql("SELECT 1", led)).body.error, { code: "forbidden", message: /only call tools/ });
  const resources = { jsonrpc: "2.0", id: 1, method: "resources/list" };
  t.match((await server.call("POST", "/v1/mcp", resources, { token: led })).body.error, { message: /only call tools/ });
});

t.test("what a lead refuses says what would be needed, and is in the audit trail", async (t) => {
  const made = await server.expect(201, "POST", "/v1/api-keys", {
    ...{ name: "watched", lead: { tables: ["common"], statements: ["read"], rows_per_day: 2 } },
  });
  const { raw_key: led, api_key: about } = made.body.data;
  const needs = /may name common; it may run statements of these kinds: read\. .*lead\.tables or lead\.statements/;
  t.match((await sql("SELECT note FROM board", led)).body.error.details.hint, needs);
  t.match((await sql("DELETE FROM common", led)).body.error.details.hint, needs);
  const asked = await tool("query", { sql: "SELECT note FROM board" }, led);
  t.match(asked.body.result.structuredContent.error.details.hint, needs);
  for (let i = 0; i < 20; i++) await sql("SELECT * FROM generate_series(1, 3)", led);

  const wire = await WireClient.connect(postgresPort(server));
  wire.start({ user: "key", database: "system" });
  t.equal((await signIn(wire, led)) ?? null, null);
  await wire.until("Z");
  const failure = (await wire.ask("SELECT note FROM board")).find(({ type }) => type === "E")!;
  t.match(fieldsOf(failure).H, needs);
  t.match(errorIn(await wire.ask("LISTEN changes")), { S: "ERROR", C: "42501", H: /without rows_per_day/ });
  wire.close();
  const bolt = await BoltClient.connect(boltPort(server));
  await bolt.start([5, 8], { user: "key", password: led });
  t.match(JSON.stringify(await bolt.rows("CREATE (n:Member) RETURN n", {}, {})), /Forbidden/);
  bolt.close();

  const entries = async () =>
    (await server.expect(200, "GET", "/admin/audit?limit=200")).body.data.entries.filter(
      (entry: { key_id: string | null }) => entry.key_id === about.id,
    );
  // Equal refusals of another second are another entry.
  const actionsOf = (all: readonly { action: string; code: string }[]) =>
    new Set(all.map((one) => `${one.action} ${one.code}`));
  for (let i = 0; i < 60 && actionsOf(await entries()).size < 5; i++)
    await new Promise((resolve) => setTimeout(resolve, 100));
  const found = await entries();
  const actions = actionsOf(found);
  t.same(
    [...actions].sort(),
    [
      "bolt.messages forbidden",
      "mcp.call forbidden",
      "postgres.messages forbidden",
      "query.execute budget_exhausted",
      "query.execute forbidden",
    ],
    JSON.stringify(found),
  );
  t.ok(found.every((one: { outcome: string }) => one.outcome === "refused"));
  const spent = found.filter(({ code }: { code: string }) => code === "budget_exhausted");
  t.equal(
    spent.reduce((sum: number, { count }: { count: number }) => sum + count, 0),
    20,
    "each is counted",
  );
  t.ok(spent.length < 10, "equal ones of a second are one entry");
});

t.test("a key on a lead cannot make itself another", async (t) => {
  const led = await key({ statements: ["read", "write", "definition"] });
  t.equal((await server.call("POST", "/v1/api-keys", { name: "free" }, { token: led })).status, 403);
  t.equal((await server.call("GET", "/v1/api-keys", undefined, { token: led })).status, 403);
  t.equal((await server.call("GET", "/v1/users/me", undefined, { token: led })).status, 200);
});

t.test("a key with a budget", async (t) => {
  await must("CREATE TABLE many AS SELECT i FROM generate_series(1, 100) i");
  const led = await key({ rows_per_day: 10, tables: ["many"] });
  t.equal((await sql("SELECT i FROM many LIMIT 6", led)).status, 200);
  const more = await sql("SELECT i FROM many LIMIT 6", led);
  t.equal(more.status, 429);
  t.match(more.body.error, { code: "budget_exhausted", message: /10 rows a day; 4 are left/ });
  t.ok(Number(more.headers.get("retry-after")) > 0);
  const written = await sql("DELETE FROM many WHERE i < 50 RETURNING i", led);
  t.equal(written.body.error?.code, "budget_exhausted", "a statement that would tell too much does nothing");
  t.same((await sql("SELECT count(*) FROM many")).body.data.rows, [[100]]);
  t.equal((await sql("SELECT i FROM many LIMIT 4", led)).status, 200, "what was refused did not count");
  t.equal((await sql("SELECT i FROM many LIMIT 1", led)).status, 429, "then nothing is left");
  t.equal((await sql("DELETE FROM many WHERE i = 1", led)).status, 200, "a statement without rows takes none");
  const bytes = await key({ bytes_per_day: 600, tables: ["many"] });
  t.equal((await sql("SELECT i FROM many LIMIT 1", bytes)).status, 200);
  t.equal((await sql("SELECT i FROM many", bytes)).status, 429);
  const changed = await sql("UPDATE many SET i = i RETURNING i, repeat('x', 100)", bytes);
  t.equal(changed.body.error?.code, "budget_exhausted", "what changes something does not get more");
  const batch = {
    statements: [{ sql: "UPDATE many SET i = i WHERE i = 2" }, { sql: "SELECT i, repeat('x', 99) FROM many" }],
  };
  const batched = await server.call("POST", "/v1/query/execute/batch", batch, { token: bytes });
  t.not(batched.status, 404, "the door is there");
  t.notMatch(JSON.stringify(batched.body), /x{99}/);
  for (const path of ["/v1/subscribe?table=many", "/v1/subscribe?sql=SELECT%201", "/v1/listen?channel=x"]) {
    t.equal((await server.call("GET", path, undefined, { token: bytes })).status, 403, path);
  }
  const exported = await server.call("GET", "/v1/data/export?table=many", undefined, {
    token: await key({ rows_per_day: 50 }),
  });
  t.not(exported.status, 200, "exports count, too");
  await new Promise((resolve) => setTimeout(resolve, 1200));
  await server.kill();
  await server.boot();
  t.equal((await sql("SELECT i FROM many LIMIT 1", led)).status, 429, "a restart forgets nothing");
  await must("DROP TABLE many");
});

t.test("what a key has begun it can end when nothing is left", async (t) => {
  await must("CREATE TABLE held AS SELECT 1 AS i");
  const led = await key({ rows_per_day: 1, tables: ["held"] });
  const begun = await server.expect(201, "POST", "/v1/transactions", {}, { token: led });
  const at = `/v1/transactions/${begun.body.data.transaction_id ?? begun.body.data.id}`;
  const inside = (text: string) => server.call("POST", `${at}/execute`, { sql: text }, { token: led });
  t.equal((await inside("UPDATE held SET i = 2")).status, 200);
  t.equal((await inside("SELECT i FROM held")).status, 200);
  t.equal((await inside("SELECT i FROM held")).status, 429);
  t.equal((await server.call("POST", `${at}/rollback`, {}, { token: led })).status < 300, true);
  t.same((await sql("SELECT i FROM held")).body.data.rows, [[1]]);
  t.same((await server.expect(200, "GET", "/v1/users/me", undefined, { token: led })).body.data.username, "admin");
  await must("DROP TABLE held");
});

t.test("a key whose models may read and write so many tokens", async (t) => {
  const [embeds, text] = ["SELECT EMBED('a text of some words, which are tokens') IS NULL", "a further text of words"];
  const led = await key({ tokens_per_day: 5 });
  t.equal((await sql(embeds, led)).status, 200, "what a call uses is known at its end");
  const more = await sql("SELECT EMBED('another text') IS NULL", led);
  t.match(
    [more.status, more.body.error],
    [429, { code: "budget_exhausted", message: /use 5 tokens a day; 0 are left/ }],
  );
  const embedded = await server.call("POST", "/v1/embeddings", { input: text, model: "default" }, { token: led });
  t.equal(embedded.status, 429, "by whatever route");
  t.equal((await sql("SELECT 1", led)).status, 200, "what needs no model goes on");
  t.equal((await sql("SELECT GENERATE('go on') IS NULL", led)).status, 429);
  t.equal((await sql(embeds)).status, 200, "others go on");

  const few = await key({ models: ["some-model"] });
  const other = await sql("SELECT EMBED('a text of the configured model') IS NULL", few);
  t.match([other.status, other.body.error], [403, { code: "forbidden", message: /may not use the model/ }]);
  const name = /the model "([^"]+)"/.exec(other.body.error.message)![1]!;
  t.equal((await sql(embeds, await key({ models: [name] }))).status, 200);
  const batch = await server.call("POST", "/v1/ai/embeddings/batch", { texts: ["one", "two"] }, { token: led });
  t.equal(batch.status, 429);
});

t.test("a tenant's budget is for all of its users and keys", async (t) => {
  const token = await server.tenant("thrifty", ["super_admin"]);
  const set = (budget: object) => server.expect(200, "PUT", "/admin/budget", budget, { token });
  const two = "SELECT * FROM generate_series(1, 2)";
  t.equal((await sql(two, token)).status, 200);
  t.match((await set({ rows_per_day: 3 })).body.data, { rows_per_day: 3, used_today: { rows: 0 } });
  t.equal((await sql(two, token)).status, 200);
  const more = await sql(two, token);
  t.match(
    [more.status, more.body.error],
    [429, { code: "budget_exhausted", message: /tenant may read 3 rows a day; 1/ }],
  );
  const made = await server.expect(201, "POST", "/v1/api-keys", { name: "k", lead: { rows_per_day: 9 } }, { token });
  t.equal((await sql(two, made.body.data.raw_key)).status, 429, "its keys, too");
  t.equal((await sql(two)).status, 200, "others go on");
  const { body } = await server.expect(200, "GET", "/admin/budget", undefined, { token });
  t.equal(body.data.used_today.rows, 2);
  await set({ rows_per_day: 10, tokens_per_day: 1 });
  t.equal((await sql(two, token)).status, 200, "what was used counts on");
  t.equal((await sql("SELECT EMBED('some words') IS NULL", token)).status, 200);
  t.equal((await sql("SELECT EMBED('other words') IS NULL", token)).status, 429);
  t.match((await set({})).body.data.used_today, { rows: 5 });
  t.equal((await sql("SELECT EMBED('other words') IS NULL", token)).status, 200, "without a budget nothing is refused");
  t.equal((await server.call("PUT", "/admin/budget", { rows_per_day: 0 }, { token })).status, 400);
});

t.test("the installation's administrators read and set the budget of any tenant", async (t) => {
  const two = "SELECT * FROM generate_series(1, 2)";
  const path = "/admin/tenants/bounded/budget";
  const token = await server.tenant("bounded", ["super_admin"]);
  t.same((await server.expect(200, "GET", path)).body.data, { used_today: { rows: 0, bytes: 0, tokens: 0 } });
  t.match((await server.expect(200, "PUT", path, { rows_per_day: 3 })).body.data, { rows_per_day: 3 });
  t.equal((await sql(two, token)).status, 200);
  t.equal((await sql(two, token)).status, 429);
  t.equal((await sql(two)).status, 200, "the administrator's own tenant is another one");
  const own = await server.expect(200, "GET", "/admin/budget", undefined, { token });
  t.match(own.body.data, { rows_per_day: 3, used_today: { rows: 2 } });
  t.same((await server.expect(200, "GET", path)).body.data, own.body.data);
  t.equal((await server.call("PUT", path, {}, { token })).status, 403, "its own administrators have /admin/budget");
  t.equal((await server.call("GET", "/admin/tenants/thrifty/budget", undefined, { token })).status, 403);
  const none = await server.call("PUT", "/admin/tenants/nobody/budget", {});
  t.match([none.status, none.body.error], [404, { code: "tenant_not_found" }]);
  const kept = await server.call("PUT", path, { rows_per_day: "3" });
  t.match([kept.status, kept.body.error], [400, { code: "invalid_request", details: { field: "rows_per_day" } }]);
  const { body } = await server.expect(200, "GET", "/admin/audit?action=admin.tenants.budget.set&outcome=ok&limit=1");
  t.match(body.data.entries, [{ username: "admin", tenant: "system", target: ["bounded"] }]);
});

t.test("a lead gives nobody a role", async (t) => {
  const path = "/admin/tenants/system/users";
  await server.expect(201, "POST", path, { username: "ann", password: "password of ann" });
  const ann = await server.login("ann", "password of ann");
  await must("CREATE ROLE chief");
  await must("CREATE ROLE su SUPERUSER");
  await must("CREATE TABLE pay (id int)");
  await must("REVOKE ALL ON pay FROM member");
  await must("GRANT SELECT ON pay TO chief");
  const keyOfAnn = async (role: string) =>
    (await server.expect(201, "POST", "/v1/api-keys", { name: role, lead: { role } }, { token: ann })).body.data
      .raw_key;
  for (const role of ["chief", "su"]) {
    const led = await keyOfAnn(role);
    t.match((await sql("SELECT * FROM pay", led)).body.error, { code: "forbidden", message: /no member/ }, role);
  }
  await must("CREATE USER ann IN ROLE chief");
  t.equal((await sql("SELECT * FROM pay", await keyOfAnn("chief"))).status, 200, "a member may");
  const led = await key({ role: "su" });
  const taking = "DO $$ BEGIN SET LOCAL ROLE su; GRANT ALL ON pay TO PUBLIC; END $$";
  t.equal((await sql(taking, led)).status, 403, "no key on a lead is a superuser");
  await must("DROP TABLE pay");
});

t.test("leads that mean nothing are refused, with the field", async (t) => {
  const refused = async (lead: object, field: string, permission = "FullAccess") => {
    const { status, body } = await server.call("POST", "/v1/api-keys", { name: "x", permission, lead });
    t.equal(status, 400, JSON.stringify(lead));
    t.match(JSON.stringify(body.error), field);
  };
  await refused({}, "lead");
  await refused({ statements: ["write"] }, "lead.statements");
  await refused({ statements: ["read", "definition"] }, "lead.statements");
  await refused({ tables: ["common"], statements: ["read", "write", "definition"] }, "lead.statements");
  await refused({ statements: ["read", "write"] }, "permission", "ReadOnly");
  await refused({ tools: ["qeury"] }, "lead.tools");
  await refused({ tables: [] }, "tables");
  await refused({ rows_per_day: 0 }, "rows_per_day");
});
