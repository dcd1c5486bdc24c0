/** Subscriptions as a client meets them: changes in commit order, filters, coming back, tables that change or go. */
import t from "tap";
import { TestServer } from "./server.js";
import { SocketClient } from "./socket-client.js";

const server = await TestServer.shared();
t.teardown(() => server.stop());

async function open(token = server.token): Promise<SocketClient> {
  const client = await SocketClient.open(server.url, "/v1/ws", { authorization: `Bearer ${token}` });
  t.teardown(() => client.destroy());
  return client;
}

async function subscribe(client: SocketClient, message: object): Promise<{ sequence: number }> {
  client.send({ type: "subscribe", ...message });
  const answer = await client.next();
  t.match(answer, { type: "subscribed", sequence: Number });
  return answer;
}

t.test("changes of a table, in commit order, with growing sequences", async (t) => {
  await server.sql("CREATE TABLE price (id integer PRIMARY KEY, name text, amount numeric(8,2), at timestamptz)");
  await server.sql("INSERT INTO price VALUES (1, 'old', 1.5, NULL)");
  const client = await open();
  const { sequence } = await subscribe(client, { id: "p", table: "price" });
  await server.sql("INSERT INTO price VALUES (2, 'two', 2.25, '2026-01-02T03:04:05Z'), (3, 'three', 3, NULL)");
  await server.sql("UPDATE price SET amount = 9 WHERE id = 1");
  await server.sql("DELETE FROM price WHERE id = 2");
  const changes = [];
  for (let i = 0; i < 4; i++) changes.push(await client.next());
  t.match(changes, [
    {
      type: "change",
      id: "p",
      operation: "insert",
      collection: "price",
      document: { id: 2, name: "two", amount: "2.25", at: "2026-01-02T03:04:05+00:00" },
    },
    { operation: "insert", document: { id: 3, name: "three", at: null } },
    { operation: "update", document: { id: 1, name: "old" } },
    { operation: "delete", document: { id: 2, name: "two" } },
  ]);
  const sequences = [sequence, ...changes.map((change) => change.sequence)];
  for (let i = 1; i < sequences.length; i++) t.ok(sequences[i]! > sequences[i - 1]!, "sequences grow");
  t.ok(Math.abs(Date.parse(changes[0].timestamp) - Date.now()) < 60_000);
  // From the second insert on: inside a commit.
  const again = await open();
  await subscribe(again, { table: "price", sequence: changes[0].sequence });
  for (const change of changes.slice(1)) t.same(await again.next(), { ...change, id: null });
  client.destroy();
  again.destroy();
});

t.test("a filter: what leaves it is deleted, what comes into it is inserted", async (t) => {
  await server.expect(201, "POST", "/v1/collections", { name: "offer", schema: { fields: { price: "number" } } });
  const client = await open();
  await subscribe(client, { id: 1, collection: "offer", filter: { price: { $lt: 10 }, "tags.kind": "new" } });
  const post = (document: object) => server.expect(201, "POST", "/v1/collections/offer/documents", document);
  await post({ id: "dear", price: 20, tags: { kind: "new" } });
  await post({ id: "cheap", price: 5, tags: { kind: "new" }, more: [1, 2] });
  await post({ id: "old", price: 5, tags: { kind: "old" } });
  t.match(await client.next(), {
    id: 1,
    operation: "insert",
    collection: "offer",
    document: { id: "cheap", more: [1, 2] },
  });
  const put = (id: string, data: object) =>
    server.expect(200, "PUT", `/v1/collections/offer/documents/${id}`, { data, merge: true });
  await put("dear", { price: 7 });
  t.match(await client.next(), { operation: "insert", document: { id: "dear", price: 7 } });
  await put("cheap", { price: 50 });
  t.match(await client.next(), { operation: "delete", document: { id: "cheap", price: 5 } });
  await server.expect(204, "DELETE", "/v1/collections/offer/documents/dear");
  t.match(await client.next(), { operation: "delete", document: { id: "dear" } });
  client.destroy();
});

t.test("vectors, nodes and relationships", async (t) => {
  await server.expect(201, "POST", "/v1/vectors/collections", { name: "point", dimensions: 2, metric: "l2" });
  const client = await open();
  await subscribe(client, { id: "v", collection: "point", filter: { kind: "a" } });
  await server.call("POST", "/v1/vectors/collections/point/vectors", {
    id: "x",
    vector: [1, 2],
    metadata: { kind: "b" },
  });
  await server.call("POST", "/v1/vectors/collections/point/vectors", {
    id: "y",
    vector: [3, 4],
    metadata: { kind: "a" },
  });
  t.match(await client.next(), {
    id: "v",
    operation: "insert",
    document: { id: "y", vector: [3, 4], metadata: { kind: "a" } },
  });
  const cypher = (text: string) => server.expect(200, "POST", "/v1/graph/match", { cypher: text });
  await cypher("CREATE (:Person {name: 'Zoe', age: 1})");
  await subscribe(client, { id: "n", label: "Person", filter: { age: { $gte: 30 } } });
  await subscribe(client, { id: "r", relationship: "KNOWS" });
  await cypher(
    "CREATE (a:Person:Boss {name: 'Ann', age: 40})-[:KNOWS {since: 2020}]->(b:Person {name: 'Bob', age: 3})",
  );
  const got = [await client.next(), await client.next()];
  t.match(
    got.find(({ id }) => id === "n"),
    {
      operation: "insert",
      collection: "Person",
      graph: "default",
      kind: "node",
      document: { labels: ["Boss", "Person"], properties: { name: "Ann", age: 40 } },
    },
  );
  t.match(
    got.find(({ id }) => id === "r"),
    { collection: "KNOWS", kind: "relationship", document: { type: "KNOWS", properties: { since: 2020 } } },
  );
  client.destroy();
});

t.test("TRUNCATE, renamed columns, DROP", async (t) => {
  await server.sql("CREATE TABLE doomed (id integer PRIMARY KEY, name text)");
  const client = await open();
  const { sequence } = await subscribe(client, { id: "d", table: "doomed" });
  await server.sql("INSERT INTO doomed SELECT i, 'n' FROM generate_series(1, 3) i");
  for (let i = 1; i <= 3; i++) t.match(await client.next(), { document: { id: i, name: "n" } });
  await server.sql("ALTER TABLE doomed RENAME COLUMN name TO title");
  await server.sql("ALTER TABLE doomed ADD COLUMN more integer DEFAULT 7");
  await server.sql("INSERT INTO doomed VALUES (4, 'four')");
  t.match(await client.next(), { operation: "insert", document: { id: 4, title: "four", more: 7 } });
  await server.sql("TRUNCATE doomed");
  const next = await client.next();
  if (next.operation === "delete") for (let i = 0; i < 3; i++) t.match(await client.next(), { operation: "delete" });
  else {
    t.match(next, { operation: "truncate", document: null });
    client.send({ type: "subscribe", id: "late", table: "doomed", sequence });
    t.match(await client.next(), { type: "error", id: "late", code: "sequence_too_old" });
  }
  await server.sql("DROP TABLE doomed");
  t.match(await client.next(), { type: "error", id: "d", code: "not_found" });
  client.destroy();
});

t.test("errors name what is wrong", async (t) => {
  const client = await open();
  const refused = async (message: object, expected: object) => {
    client.send({ type: "subscribe", id: 1, ...message });
    t.match(await client.next(), { type: "error", id: 1, ...expected });
  };
  await server.sql("CREATE VIEW seen AS SELECT 1 AS one");
  await refused({}, { code: "invalid_request" });
  await refused({ collection: "nothing" }, { code: "not_found" });
  await refused({ table: "seen" }, { code: "invalid_request", message: /view/ });
  await refused({ table: "price", filter: { nothing: 1 } }, { code: "invalid_request", message: /Columns: id, name/ });
  await refused({ table: "price", filter: { amount: { $dance: 1 } } }, { code: "invalid_request", message: /\$dance/ });
  await refused({ table: "price", filter: 3 }, { code: "invalid_request" });
  await refused({ table: "price", sequence: 1 }, { code: "sequence_too_old", details: { sequence: 1 } });
  await refused({ table: "price", sequence: 9e15 }, { code: "sequence_too_old" });
  await refused({ table: "price", label: "Person" }, { code: "invalid_request" });
  await refused({ label: "Person", graph: "no" }, { code: "not_found" });
  await subscribe(client, { id: 1, table: "price" });
  await refused({ table: "price" }, { code: "invalid_request", message: /running/ });
  client.send({ type: "unsubscribe", id: 1 });
  t.same(await client.next(), { type: "unsubscribed", id: 1 });
  await server.sql("DELETE FROM price WHERE id = 3");
  client.send({ type: "unsubscribe", id: 1 });
  t.match(await client.next(), { type: "error", code: "not_found" });
  client.destroy();
});

t.test("a tenant that moves: the subscription ends, and goes on elsewhere with nothing missed", async (t) => {
  const moving = await TestServer.start({ TESSERA_ACTORS: "2" });
  t.teardown(() => moving.stop());
  const token = await moving.tenant("nomad");
  await moving.rows("CREATE TABLE thing (id integer PRIMARY KEY)", [], { token });
  const connect = () => SocketClient.open(moving.url, "/v1/ws", { authorization: `Bearer ${token}` });
  const client = await connect();
  const away = await connect();
  for (const each of [client, away]) await subscribe(each, { id: 1, table: "thing" });
  await moving.rows("INSERT INTO thing VALUES (1)", [], { token });
  t.match(await client.next(), { document: { id: 1 } });
  const seen = await away.next();
  away.destroy();
  const { partition } = (await moving.expect(200, "GET", "/admin/tenants/nomad")).body.data;
  await moving.expect(202, "POST", "/admin/tenants/nomad/move", { partition: 1 - partition });
  const ended = await client.next();
  t.match(ended, { type: "error", id: 1, code: "subscription_interrupted", details: { sequence: Number } });
  await moving.rows("INSERT INTO thing VALUES (2)", [], { token });
  await subscribe(client, { id: 2, table: "thing", sequence: ended.details.sequence });
  t.match(await client.next(), { id: 2, operation: "insert", document: { id: 2 } });
  const back = await connect();
  await subscribe(back, { id: 3, table: "thing", sequence: seen.sequence });
  t.match(await back.next(), { id: 3, document: { id: 2 } });
  client.send({ type: "subscribe", id: 4, table: "thing", sequence: seen.sequence - 1 });
  t.match(await client.next(), { type: "error", id: 4, code: "sequence_too_old" });
  client.destroy();
  back.destroy();
});
