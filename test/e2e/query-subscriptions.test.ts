/**
 * Subscriptions to queries: the answer, and what is added, removed and changed in it, in any way that it is found out.
 */
import { isDeepStrictEqual } from "node:util";
import t from "tap";
import { TestServer } from "./server.js";
import { SocketClient } from "./socket-client.js";

const server = await TestServer.start({ TESSERA_ACTORS: "1", TESSERA_CHANGES_QUERY_ROWS_MAX: "2000" });
t.teardown(() => server.stop());
await server.sql("CREATE TABLE sale (id integer PRIMARY KEY, shop text, amount integer)");
await server.sql("CREATE TABLE shop (name text PRIMARY KEY, city text)");
await server.sql("INSERT INTO shop VALUES ('a', 'Rome'), ('b', 'Oslo')");
await server.sql("INSERT INTO sale SELECT i, CASE i % 2 WHEN 0 THEN 'a' ELSE 'b' END, i FROM generate_series(1, 10) i");

async function open(): Promise<SocketClient> {
  const client = await SocketClient.open(server.url, "/v1/ws", { authorization: `Bearer ${server.token}` });
  t.teardown(() => client.destroy());
  return client;
}

/** The rows of the first answer. */
async function begin(client: SocketClient, message: object, mode: string): Promise<unknown[][]> {
  client.send({ type: "subscribe", ...message });
  t.match(await client.next(), { type: "subscribed", mode, columns: [{ name: String }] });
  const rows: unknown[][] = [];
  for (;;) {
    const part = await client.next();
    t.equal(part.type, "result");
    rows.push(...part.rows);
    if (part.done) return rows;
  }
}

t.test("columns and conditions over one table follow each change", async (t) => {
  const client = await open();
  const sql = "SELECT shop, amount * 2 AS twice FROM sale WHERE amount > $1";
  const rows = await begin(client, { id: 1, sql, parameters: [8] }, "incremental");
  t.same(rows, [
    ["b", 18],
    ["a", 20],
  ]);
  const other = await open();
  t.same(await begin(other, { id: "x", sql, params: [8] }, "incremental"), rows);
  await server.sql("INSERT INTO sale VALUES (11, 'c', 11), (12, 'c', 1)");
  for (const each of [client, other]) {
    t.match(await each.next(), { type: "changes", added: [["c", 22]], removed: [], changed: [], sequence: Number });
  }
  await server.sql(
    "UPDATE sale SET amount = CASE id WHEN 11 THEN 30 WHEN 12 THEN 9 ELSE 0 END WHERE id IN (10, 11, 12)",
  );
  t.match(await client.next(), {
    added: [["c", 18]],
    removed: [["a", 20]],
    changed: [{ old: ["c", 22], new: ["c", 60] }],
  });
  // What is not in the answer tells nobody.
  await server.sql("UPDATE sale SET amount = 2 WHERE id = 1");
  await server.sql("DELETE FROM sale WHERE id IN (11, 12)");
  t.match(await client.next(), {
    added: [],
    removed: [
      ["c", 60],
      ["c", 18],
    ],
  });
  await server.sql("UPDATE sale SET amount = id");
  await client.next();
  client.destroy();
  other.destroy();
});

t.test("groups and joins tell what is different, too", async (t) => {
  const client = await open();
  const groups = "SELECT shop, count(*) AS n, sum(amount) AS total FROM sale GROUP BY shop";
  const first = await begin(client, { id: "g", sql: groups }, "incremental");
  t.same(first.sort(), [
    ["a", 5, 30],
    ["b", 5, 25],
  ]);
  await server.sql("INSERT INTO sale VALUES (20, 'a', 100)");
  t.match(await client.next(), {
    id: "g",
    added: [],
    removed: [],
    changed: [{ old: ["a", 5, 30], new: ["a", 6, 130] }],
  });
  const join = "SELECT s.id, city FROM sale s JOIN shop ON name = shop WHERE amount > 50 ORDER BY s.id LIMIT 3";
  t.same(await begin(client, { id: "j", sql: join }, "rerun"), [[20, "Rome"]]);
  await server.sql("UPDATE shop SET city = 'Lima' WHERE name = 'a'");
  t.match(await client.next(), { id: "j", added: [[20, "Lima"]], removed: [[20, "Rome"]] });
  await server.sql("DELETE FROM sale WHERE id = 20");
  const two = [await client.next(), await client.next()];
  t.match(
    two.find(({ id }) => id === "j"),
    { removed: [[20, "Lima"]] },
  );
  t.match(
    two.find(({ id }) => id === "g"),
    { changed: [{ new: ["a", 5, 30] }] },
  );
  client.destroy();
});

t.test("Cypher, too", async (t) => {
  const cypher = (text: string) => server.expect(200, "POST", "/v1/graph/match", { cypher: text });
  await cypher("CREATE (:City {name: 'Rome'})");
  const client = await open();
  const rows = await begin(client, { id: 1, sql: "MATCH (c:City) RETURN c.name", language: "cypher" }, "rerun");
  t.same(rows, [["Rome"]]);
  await cypher("CREATE (:City {name: 'Oslo'})");
  t.match(await client.next(), { added: [["Oslo"]] });
  client.destroy();
});

t.test("random changes: the answer that a client keeps is the query's", async (t) => {
  await server.sql("CREATE TABLE pool (id integer PRIMARY KEY, kind integer, value integer)");
  const client = await open();
  const queries = {
    filter: "SELECT id, value FROM pool WHERE kind < 3",
    group: "SELECT kind, sum(value), max(value) FROM pool GROUP BY kind",
  };
  const kept: Record<string, string[]> = {};
  for (const [id, sql] of Object.entries(queries)) {
    kept[id] = (await begin(client, { id, sql }, "incremental")).map((row) => JSON.stringify(row));
  }
  const random = (n: number) => Math.floor(Math.random() * n);
  for (let i = 0; i < 120; i++) {
    const id = random(15);
    const statements = [
      `INSERT INTO pool VALUES (${id}, ${random(6)}, ${i}) ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, value = excluded.value`,
      `DELETE FROM pool WHERE id = ${id}`,
      `UPDATE pool SET kind = (kind + 1) % 6 WHERE id % 3 = ${id % 3}`,
      `UPDATE pool SET id = id + 20 WHERE id = ${id} AND NOT EXISTS (SELECT 1 FROM pool p WHERE p.id = ${id + 20})`,
    ];
    t.equal((await server.sql(statements[i % 4]!)).status, 200);
  }
  await server.sql("INSERT INTO pool VALUES (1000, 1, -7)");
  const wanted: Record<string, string[]> = {};
  for (const [id, sql] of Object.entries(queries)) {
    wanted[id] = (await server.rows(sql)).map((row) => JSON.stringify(row)).sort();
  }
  // The last write changes both results, so neither is what is wanted before its last message.
  const isDone = () => Object.entries(kept).every(([id, rows]) => isDeepStrictEqual(rows.toSorted(), wanted[id]));
  while (!isDone()) {
    const message = await client.next();
    const rows = kept[message.id]!;
    const drop = (row: unknown) => {
      const at = rows.indexOf(JSON.stringify(row));
      t.ok(at !== -1, "what goes was there", { diagnostic: false });
      rows.splice(at, 1);
    };
    for (const row of message.removed) drop(row);
    for (const { old } of message.changed) drop(old);
    for (const row of message.added) rows.push(JSON.stringify(row));
    for (const pair of message.changed) rows.push(JSON.stringify(pair.new));
  }
  client.destroy();
});

t.test("refusals and endings", async (t) => {
  const client = await open();
  const refused = async (message: object, expected: object) => {
    client.send({ type: "subscribe", id: 1, ...message });
    t.match(await client.next(), { type: "error", id: 1, ...expected });
  };
  await refused({ sql: "DELETE FROM sale" }, { code: "invalid_request" });
  await refused({ sql: "SELECT nothing" }, { code: "query_error", details: { sqlstate: "42703" } });
  await refused({ sql: "SELECT 1", sequence: 1 }, { code: "invalid_request", details: { field: "sequence" } });
  await refused({ sql: "SELECT 1", table: "sale" }, { code: "invalid_request", details: { field: "table" } });
  await refused({ sql: "SELECT $1::int", parameters: [] }, { details: { sqlstate: "08P01" } });
  await refused({ sql: "SELECT * FROM generate_series(1, 3000) i" }, { details: { sqlstate: "54000" } });
  await refused({ sql: "SELECT 1 / 0 FROM sale" }, { details: { sqlstate: "22012" } });
  await server.sql("CREATE TABLE going (id integer PRIMARY KEY)");
  await begin(client, { id: 2, sql: "SELECT id FROM going" }, "incremental");
  await server.sql("DROP TABLE going");
  t.match(await client.next(), { type: "error", id: 2, code: "subscription_interrupted" });
  client.destroy();
});
