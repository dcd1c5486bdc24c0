/** Differences between two branches, between a branch and its tenant, and between two moments. */
import t from "tap";
import { branchCalls } from "./branch-calls.js";
import { TestServer } from "./server.js";

const server = await TestServer.sharedInstallation();
t.teardown(() => server.stop());

const { fork, rows, sequence } = branchCalls(server);

type Row = Record<string, unknown> | null;
interface Diff {
  readonly tables: readonly { table: string; kind: string; added: number; removed: number; changed: number }[];
  readonly rows: readonly { table: string; change: string; before: Row; after: Row }[];
  readonly definitions: readonly string[];
  readonly complete: boolean;
}

async function diff(token: string, path: string): Promise<Diff> {
  return (await server.expect(200, "GET", path, undefined, { token })).body.data;
}

/** Each row's key, as it was and as it is. */
function sides({ rows: all }: Diff, column = "v"): unknown[][] {
  return all
    .map(({ before, after }) => [(before ?? after)!.id, before?.[column] ?? null, after?.[column] ?? null])
    .sort(([a], [b]) => Number(a) - Number(b));
}

t.test("two branches of one tenant, and a branch and the tenant as it is", async (t) => {
  const token = await server.tenant("two", ["super_admin"]);
  await rows(token, "CREATE TABLE item (id int PRIMARY KEY, v text)");
  await rows(token, "INSERT INTO item SELECT i, 'first' FROM generate_series(1, 600) i");
  await fork(token, { name: "a" });
  await rows(token, "UPDATE item SET v = 'of the tenant' WHERE id IN (1, 2)");
  await rows(token, "DELETE FROM item WHERE id = 10");
  await fork(token, { name: "b" });
  await rows(token, "UPDATE item SET v = 'of a' WHERE id IN (2, 3, 4)", "a");
  await rows(token, "UPDATE item SET v = 'of b' WHERE id IN (4, 5)", "b");
  await rows(token, "UPDATE item SET v = 'of a' WHERE id = 3", "b");
  await rows(token, "DELETE FROM item WHERE id = 6", "b");
  await rows(token, "INSERT INTO item VALUES (601, 'new')", "a");
  const [a, b] = [
    await diff(token, "/v1/branches/a/diff?against=b"),
    await diff(token, "/v1/branches/b/diff?against=a"),
  ];
  t.same(sides(a), [
    [1, "of the tenant", "first"],
    [2, "of the tenant", "of a"],
    [4, "of b", "of a"],
    [5, "of b", "first"],
    [6, null, "first"],
    [10, null, "first"],
    [601, null, "new"],
  ]);
  t.same(a.tables, [{ table: "item", kind: "table", added: 3, removed: 0, changed: 4 }]);
  t.same(b.tables, [{ table: "item", kind: "table", added: 0, removed: 3, changed: 4 }], "the other way round");
  t.same(
    sides(b),
    sides(a).map(([id, before, after]) => [id, after, before]),
  );
  t.same(sides(await diff(token, "/v1/branches/b/diff?against=")), [
    [3, "first", "of a"],
    [4, "first", "of b"],
    [5, "first", "of b"],
    [6, "first", null],
  ]);
  const page = await diff(token, "/v1/branches/a/diff?against=b&change=added&limit=1&offset=1");
  t.same([sides(page), page.complete], [[[10, null, "first"]], false]);
  await fork(token, { name: "of-a", from: "a" });
  await rows(token, "UPDATE item SET v = 'deep' WHERE id = 600", "of-a");
  t.same(sides(await diff(token, "/v1/branches/of-a/diff?against=a")), [[600, "first", "deep"]]);
  t.same((await diff(token, "/v1/branches/of-a/diff?against=b")).tables[0]!.changed, 5, "over two forks");
  t.same((await diff(token, "/v1/branches/a/diff?against=a")).tables, []);
  const missing = await server.call("GET", "/v1/branches/a/diff?against=none", undefined, { token });
  t.match(missing, { status: 404, body: { error: { details: { field: "against" } } } });
  const stream = await fetch(`${server.url}/v1/branches/a/diff?against=b`, {
    headers: { authorization: `Bearer ${token}`, accept: "application/x-ndjson" },
  });
  const lines = (await stream.text()).trim().split("\n");
  t.equal(lines.length, 8, "a row a line, and the counts");
  t.match(JSON.parse(lines.at(-1)!), { tables: a.tables, complete: true });
});

t.test("tables that were emptied, made, dropped and rewritten", async (t) => {
  const token = await server.tenant("tables", ["super_admin"]);
  for (const table of ["emptied", "dropped", "widened", "same"]) {
    await rows(token, `CREATE TABLE ${table} (id int PRIMARY KEY, v int)`);
    await rows(token, `INSERT INTO ${table} SELECT i, i FROM generate_series(1, 3000) i`);
  }
  await fork(token, { name: "a" });
  await fork(token, { name: "b" });
  await rows(token, "TRUNCATE emptied", "a");
  await rows(token, "INSERT INTO emptied VALUES (1, 1), (2, 20), (9999, 1)", "a");
  await rows(token, "DROP TABLE dropped", "a");
  await rows(token, "ALTER TABLE widened ALTER COLUMN v TYPE bigint", "a");
  await rows(token, "UPDATE widened SET v = 5000000000 WHERE id = 7", "a");
  // Both make a table of the same number, but of different names; and both make one of the same name.
  await rows(token, "CREATE TABLE of_a (id int PRIMARY KEY, v int)", "a");
  await rows(token, "CREATE TABLE of_b (id int PRIMARY KEY, v text)", "b");
  await rows(token, "INSERT INTO of_a VALUES (1, 1)", "a");
  await rows(token, "INSERT INTO of_b VALUES (1, 'one')", "b");
  for (const [branch, v] of [
    ["a", 1],
    ["b", 2],
  ] as const) {
    await rows(token, "CREATE TABLE of_both (id int PRIMARY KEY, v int)", branch);
    await rows(token, `INSERT INTO of_both VALUES (1, 0), (2, ${v})`, branch);
  }
  const found = await diff(token, "/v1/branches/a/diff?against=b&limit=0");
  const counts = Object.fromEntries(
    found.tables.map(({ table, added, removed, changed }) => [table, [added, removed, changed]]),
  );
  t.same(counts, {
    emptied: [1, 2998, 1],
    dropped: [0, 3000, 0],
    widened: [0, 0, 1],
    of_a: [1, 0, 0],
    of_b: [0, 1, 0],
    of_both: [0, 0, 1],
  });
  t.same([...found.definitions].sort(), ["dropped", "emptied", "of_a", "of_b", "of_both", "widened"]);
  t.same(sides(await diff(token, "/v1/branches/a/diff?against=b&table=widened")), [[7, 7, 5000000000]]);
  t.same(sides(await diff(token, "/v1/branches/a/diff?against=b&table=of_both")), [[2, 2, 1]]);
  const own = await diff(token, "/v1/branches/a/diff?table=emptied&change=added");
  t.match(own.rows, [{ before: null, after: { id: 9999 }, in_origin: false }], "and against what it began with");
});

t.test("two moments of a tenant, in all models", async (t) => {
  const token = await server.tenant("moments", ["super_admin"]);
  const ask = (method: string, path: string, body?: unknown) => server.call(method, path, body, { token });
  const early = await ask("GET", "/v1/history/diff?from=1");
  t.match(early, { status: 400, body: { error: { details: { sqlstate: "55000" } } } }, "nothing is kept yet");
  await ask("POST", "/v1/collections", { name: "note", schema: { fields: [{ name: "title", type: "string" }] } });
  await ask("POST", "/v1/collections/note/documents", { id: "a", title: "A" });
  await ask("POST", "/v1/vectors/collections", { name: "point", dimensions: 2 });
  await ask("PUT", "/v1/history", { window_seconds: 3600 });
  const first = await sequence(token);
  await ask("PUT", "/v1/collections/note/documents/a", { title: "B" });
  await server.expect(201, "POST", "/v1/vectors/collections/point/vectors", { id: "p", vector: [1, 2] }, { token });
  await rows(token, "CREATE (:Person {name: 'Ann'})-[:KNOWS]->(:Person {name: 'Bob'})");
  const second = await sequence(token);
  await rows(token, "MATCH (p:Person {name: 'Bob'}) SET p.name = 'Bobby'");
  const both = await diff(token, `/v1/history/diff?from=${first}&to=${second}`);
  const kinds = both.tables.map(({ kind, added, changed }) => [kind, added, changed]).sort();
  t.same(kinds, [
    ["collection", 0, 1],
    ["graph", 1, 0],
    ["graph", 2, 0],
    ["vectors", 1, 0],
  ]);
  t.match(await diff(token, `/v1/history/diff?from=${second}`), {
    tables: [{ kind: "graph", added: 0, removed: 0, changed: 1 }],
    rows: [{ before: { properties: { name: "Bob" } }, after: { properties: { name: "Bobby" } } }],
  });
  const back = await diff(token, `/v1/history/diff?from=${second}&to=${first}`);
  t.same(
    back.tables.reduce((sum, { removed }) => sum + removed, 0),
    4,
    "backwards, too",
  );
  t.match(await ask("GET", "/v1/history/diff?from=yesterday"), {
    status: 400,
    body: { error: { code: "invalid_request", details: { field: "from" } } },
  });
  t.match(await ask("GET", `/v1/history/diff?from=${first}&to=99999999`), {
    status: 400,
    body: { error: { details: { sqlstate: "22023" } } },
  });
});

t.test("who may not see all sees no difference", async (t) => {
  const token = await server.tenant("closed", ["super_admin"]);
  const password = "a password of the clerk";
  await server.expect(201, "POST", "/admin/tenants/closed/users", { username: "clerk3", password, roles: ["user"] });
  const clerk = await server.login("clerk3", password);
  await rows(token, "CREATE TABLE open (id int PRIMARY KEY, v text)");
  await ask("PUT", "/v1/history", { window_seconds: 3600 });
  const start = await sequence(token);
  await rows(token, "INSERT INTO open VALUES (1, 'shown')");
  for (const name of ["a", "b"]) await fork(token, { name });
  t.match(JSON.stringify(await diff(clerk, `/v1/history/diff?from=${start}`)), "shown");
  t.same((await diff(clerk, "/v1/branches/a/diff?against=b")).tables, []);
  await rows(token, "CREATE TABLE secret (id int PRIMARY KEY, v text)", "b");
  await rows(token, "INSERT INTO secret VALUES (1, 'hidden')", "b");
  await rows(token, "ALTER TABLE secret ENABLE ROW LEVEL SECURITY", "b");
  for (const path of ["/v1/branches/a/diff?against=b", "/v1/branches/b/diff?against=a"]) {
    const { status, body } = await server.call("GET", path, undefined, { token: clerk });
    t.equal(status, 403, path);
    t.notMatch(JSON.stringify(body), "hidden");
  }
  await rows(token, "ALTER TABLE open ENABLE ROW LEVEL SECURITY");
  await rows(token, "CREATE TABLE gone (id int PRIMARY KEY, v text)");
  const { status } = await server.call("GET", `/v1/history/diff?from=${start}`, undefined, { token: clerk });
  t.equal(status, 403, "a policy of the tenant");

  function ask(method: string, path: string, body?: unknown) {
    return server.call(method, path, body, { token });
  }
});
