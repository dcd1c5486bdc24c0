/**
 * The client for TypeScript against a server: SQL, transactions, streams, errors, collections, graph, chats, live
 * changes.
 */
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import t from "tap";
import { WebSocket } from "undici";
import {
  AuthenticationError,
  ConnectionError,
  ConstraintError,
  connect,
  fragment,
  identifier,
  NotFoundError,
  PermissionError,
  QueryError,
  type Result,
  SerializationError,
  type SocketClass,
  signIn,
  TesseraError,
} from "../../clients/typescript/src/index.js";
import type { BodyOf, ResponseOf } from "../../src/protocol/endpoints.js";
import { TestServer } from "../e2e/server.js";
import { CuttingProxy } from "./cutting-proxy.js";

const server = await TestServer.start({ TESSERA_ACTORS: "1" });
const proxy = await CuttingProxy.start(server.url);
t.teardown(async () => {
  await proxy.stop();
  await server.stop();
});
const unhandled: unknown[] = [];
process.on("unhandledRejection", (reason) => unhandled.push(reason));

const { username, password } = server;
const { raw_key: apiKey } = (await server.expect(201, "POST", "/v1/api-keys", { name: "client" })).body.data;
const db = connect({ url: server.url, apiKey });
const far = connect({ url: proxy.url, apiKey });

async function failure(work: Promise<unknown>): Promise<TesseraError> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof TesseraError) return error;
  throw new Error(`not an error of the server: ${String(error)}`);
}

t.test("statements by a tagged template, with typed rows", async (t) => {
  await db.sql`CREATE TABLE pet (id integer PRIMARY KEY, name text, seen timestamptz, photo bytea)`;
  const seen = new Date("2026-01-02T03:04:05Z");
  const written = await db.sql`INSERT INTO pet VALUES (1, ${"Rex'; --"}, ${seen}, ${new Uint8Array([1, 255])})`;
  t.equal(written.rowsAffected, 1);
  const rows: Result<{ id: number; name: string; same: boolean }> = await db.sql`
    SELECT id, name, seen = ${seen} AND photo = '\\x01ff' AS same FROM pet WHERE id = ${1}`;
  t.same([...rows], [{ id: 1, name: "Rex'; --", same: true }]);
  t.same(rows.lists, [[1, "Rex'; --", true]]);
  t.equal(rows.columns[0]!.data_type, "integer");
  const where = fragment`WHERE ${identifier("name")} LIKE ${"Rex%"}`;
  const [counted] = await db.sql<{ n: number }>`SELECT count(*)::int + ${1}::int AS n FROM pet ${where}`;
  t.equal(counted!.n, 2);
  const few = await db.query("SELECT i FROM generate_series(1, $1::int) i", [9], { maxRows: 3 });
  t.same([few.length, few.truncated], [3, true]);
  const [odd] =
    await db.sql`SELECT 1 AS "__proto__", ${9_007_199_254_740_993n}::int8 AS large, ${undefined}::text AS none`;
  t.same(
    [Object.keys(odd!), Object.values(odd!)],
    [
      ["__proto__", "large", "none"],
      [1, "9007199254740993", null],
    ],
  );
});

t.test("errors are classes, with what the server says of them", async (t) => {
  const wrong = await failure(db.sql`SELECT nme FROM pet`);
  t.ok(wrong instanceof QueryError);
  t.match(wrong, { code: "query_error", status: 400, sqlstate: "42703", position: 8, hint: /name/ });
  t.match(wrong.requestId, /./);
  t.ok((await failure(db.sql`INSERT INTO pet VALUES (1)`)) instanceof ConstraintError);
  t.ok((await failure(db.collection("none").get("a"))) instanceof NotFoundError);
  t.match(await failure(db.request("POST", "/v1/ai/embeddings", { body: {} })), { field: "text" });
  t.ok((await failure(connect({ url: server.url, apiKey: "ak_wrong" }).sql`SELECT 1`)) instanceof AuthenticationError);
  const owner = connect({ url: server.url, username, password });
  const key = { body: { name: "reads", permission: "ReadOnly" } };
  const { raw_key: reading } = await owner.request<{ raw_key: string }>("POST", "/v1/api-keys", key);
  const reader = connect({ url: server.url, apiKey: reading });
  t.ok((await failure(reader.collection("a").create())) instanceof PermissionError);
  const nobody = connect({ url: "http://127.0.0.1:1", apiKey, attempts: 2 });
  t.ok((await failure(nobody.sql`SELECT 1`)) instanceof ConnectionError);
});

t.test("a password: one sign-in for all requests, and a new one when the token is refused", async (t) => {
  const asked: string[] = [];
  let token = "";
  const counting: typeof fetch = (input, init) => {
    asked.push(new URL(String(input)).pathname);
    const headers = new Headers(init?.headers);
    if (token !== "" && asked.at(-1) !== "/v1/auth/login" && asked.length === 4) {
      headers.set("authorization", `Bearer ${token}`);
    }
    return fetch(input, { ...init, headers });
  };
  const own = connect({ url: server.url, username, password, fetch: counting });
  await Promise.all([own.sql`SELECT 1`, own.sql`SELECT 2`]);
  t.same(asked, ["/v1/auth/login", "/v1/query/execute", "/v1/query/execute"]);
  token = "a.b.c";
  const [row] = await own.sql<{ n: number }>`SELECT 3 AS n`;
  t.equal(row!.n, 3);
  t.same(asked.slice(3), ["/v1/query/execute", "/v1/auth/login", "/v1/query/execute"]);
  const wrong = connect({ url: server.url, username, password: "wrong" });
  const errors = await Promise.all([failure(wrong.sql`SELECT 1`), failure(wrong.sql`SELECT 1`)]);
  t.ok(errors.every((error) => error instanceof AuthenticationError));
});

t.test("rows as they come", async (t) => {
  let [count, sum] = [0, 0];
  for await (const { i } of db.stream<{ i: number }>("SELECT i FROM generate_series(1, $1::int) i", [50_000])) {
    count++;
    sum += i;
  }
  t.same([count, sum], [50_000, 1_250_025_000]);
  for await (const { i } of db.stream<{ i: number }>("SELECT i FROM generate_series(1, 5000000) i"))
    if (i === 10) break;
  const error = await failure(
    (async () => {
      for await (const _ of db.stream("SELECT 1 / (3 - i) FROM generate_series(1, 5) i"));
    })(),
  );
  t.equal(error.sqlstate, "22012");
  proxy.cutAfter = 200_000;
  const cut = await failure(
    (async () => {
      for await (const _ of far.stream("SELECT i FROM generate_series(1, 200000) i"));
    })(),
  );
  t.ok(cut instanceof ConnectionError, "rows that are missing are not taken for the end");
});

t.test("an error behind the facts of a whole answer does not count", async (t) => {
  const lines = (...all: readonly unknown[]) => all.map((line) => `${JSON.stringify(line)}\n`).join("");
  const [columns, facts] = [{ columns: [{ name: "i" }] }, { rows_affected: null, truncated: false }];
  const error = { error: { code: "partition_unavailable", message: "The partition gets another owner; retry." } };
  const answers = [lines(columns, [1], [2], facts, error), lines(columns, [1], error)];
  const fetch = async () => new Response(answers.shift(), { headers: { "content-type": "application/x-ndjson" } });
  const client = connect({ url: "http://127.0.0.1:1", apiKey: "key", fetch });
  const rows: unknown[] = [];
  for await (const { i } of client.stream("SELECT i")) rows.push(i);
  t.same(rows, [1, 2]);
  const cut = await failure(
    (async () => {
      for await (const { i } of client.stream("SELECT i")) rows.push(i);
    })(),
  );
  t.equal(cut.code, "partition_unavailable");
  t.same(rows, [1, 2, 1]);
});

t.test("a client of a branch reads and writes the branch, over HTTP and the WebSocket", async (t) => {
  await db.sql`CREATE TABLE branched (id integer PRIMARY KEY)`;
  await db.call("POST /v1/branches", { body: { name: "try" } });
  const own = connect({ url: server.url, apiKey, branch: "try", WebSocket: WebSocket as SocketClass });
  await own.tx((tx) => tx.sql`INSERT INTO branched VALUES (1)`);
  await own.sql`INSERT INTO branched VALUES (2)`;
  const rows = [];
  const all = "SELECT id FROM branched ORDER BY id";
  for await (const row of own.stream(all, [], { over: "websocket" })) rows.push(row);
  t.same(rows, [{ id: 1 }, { id: 2 }]);
  t.same([...(await db.query(all))], [], "the tenant does not change");
  const none = connect({ url: server.url, apiKey, branch: "none" });
  t.match(await failure(none.query(all)), { code: "not_found", message: 'The tenant has no branch "none".' });
  await db.call("DELETE /v1/branches/{name}", { params: { name: "try" } });
});

t.test("rows over a WebSocket: several streams, cuts, and errors", async (t) => {
  const own = connect({ url: server.url, apiKey, WebSocket: WebSocket as SocketClass });
  const over = "websocket" as const;
  const sumOf = async (last: number) => {
    let sum = 0;
    const rows = own.stream<{ i: number }>("SELECT i FROM generate_series(1, $1::int) i", [last], { over });
    for await (const { i } of rows) sum += i;
    return sum;
  };
  t.same(await Promise.all([sumOf(100), sumOf(20_000), sumOf(1)]), [5_050, 200_010_000, 1]);
  const endless = own.stream<{ i: number }>("SELECT i FROM generate_series(1, 1000000000) i", [], { over });
  for await (const { i } of endless) if (i === 10_000) break;
  const wrong = await failure(own.stream("SELECT nme FROM pet", [], { over }).next());
  t.match(wrong, { code: "query_error", sqlstate: "42703", position: 8 });
  const stop = new AbortController();
  const slow = own.stream("SELECT count(*) FROM generate_series(1, 2000000000)", [], { over, signal: stop.signal });
  setTimeout(() => stop.abort(new Error("enough")), 50);
  await t.rejects(slow.next(), { message: "enough" });
  const cut = connect({ url: proxy.url, apiKey, WebSocket: WebSocket as SocketClass });
  const rows = cut.stream<{ i: number }>("SELECT i FROM generate_series(1, 1000000000) i", [], { over });
  await rows.next();
  proxy.cut();
  const lost = await failure(
    (async () => {
      for await (const _ of rows);
    })(),
  );
  t.ok(lost instanceof ConnectionError);
  t.same((await cut.stream("SELECT 1 AS one", [], { over }).next()).value, { one: 1 }, "the next one connects anew");
  const without = connect({ url: server.url, apiKey, WebSocket: undefined as unknown as SocketClass });
  if (!("WebSocket" in globalThis)) {
    t.match(await failure(without.stream("SELECT 1", [], { over }).next()), { code: "not_supported" });
  }
});

t.test("a stream that begins while the connection of the last one closes has one of its own", async (t) => {
  const sockets: WebSocket[] = [];
  let leave = (): void => undefined;
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  /** Says that it is closed only after a while, as a distant server would. */
  class SlowToClose extends WebSocket {
    constructor(url: string) {
      super(url);
      sockets.push(this);
    }
    override close(): void {
      leave();
      setTimeout(() => super.close(), 300);
    }
  }
  const here = connect({ url: server.url, apiKey, WebSocket: SlowToClose as unknown as SocketClass });
  for await (const _ of here.stream("SELECT 1", [], { over: "websocket" }));
  await left;
  const parts = [];
  for await (const part of here.parts("SELECT i FROM generate_series(1, 3) i")) parts.push(part);
  t.match(parts, [
    { type: "columns", columns: [{ name: "i" }] },
    { type: "rows", rows: [[1], [2], [3]] },
    { type: "end", truncated: false },
  ]);
  t.equal(sockets.length, 2);
});

t.test("parts of an answer in a transaction; a query that is followed; files; a token to keep", async (t) => {
  const socket = { WebSocket: WebSocket as unknown as SocketClass };
  const token = await signIn({ url: server.url, username, password });
  t.ok(token.expiresAtMs > Date.now());
  const here = connect({ url: server.url, apiKey: token.text, ...socket });
  await here.query("CREATE TABLE part (id integer PRIMARY KEY, name text)");
  const { id } = await here.request<{ id: string }>("POST", "/v1/transactions", { body: {} });
  for await (const _ of here.parts("INSERT INTO part VALUES (1, 'one')", [], { transaction: id }));
  t.same([...(await here.query("SELECT * FROM part"))], [], "only the transaction sees it");
  await here.request("POST", `/v1/transactions/${id}/commit`, { body: {} });
  const told: unknown[] = [];
  for await (const { rows, changed } of here.live("SELECT name FROM part ORDER BY id")) {
    told.push([rows, changed]);
    if (told.length === 1) await here.query("INSERT INTO part VALUES (2, 'two'), (0, 'one')");
    else if (told.length === 2) await here.query("UPDATE part SET id = 9 WHERE id = 0");
    else if (told.length === 3) await here.query("DELETE FROM part WHERE id < 3");
    else break;
  }
  t.same(told, [
    [[["one"]], []],
    [
      [["one"], ["one"], ["two"]],
      [["one"], ["two"]],
    ],
    [[["one"], ["two"], ["one"]], [["two"]]],
    [[["one"]], []],
  ]);
  await here.query("INSERT INTO part VALUES (2, 'two')");
  await here.query("DELETE FROM part WHERE id = 9");
  const query = { table: "part", create: "false" };
  const content = new Blob(["id,name\n3,three\n"]);
  const answer = await here.fetch("POST", "/v1/data/import/csv", { query, content, contentType: "text/csv" });
  t.equal(((await answer.json()) as { data: { rows: number } }).data.rows, 1);
  const exported = await here.fetch("GET", "/v1/data/export", { query: { table: "part" } });
  t.equal(await exported.text(), "id,name\n2,two\n3,three\n");
  const wrong = await failure(here.live("SELECT nothing FROM part").next());
  t.ok(wrong instanceof QueryError);
});

t.test("a signal cancels, with its reason", async (t) => {
  const stop = new AbortController();
  const work = db.query("SELECT count(*) FROM generate_series(1, 2000000000)", [], { signal: stop.signal });
  setTimeout(() => stop.abort(new Error("enough")), 50);
  await t.rejects(work, { message: "enough" });
  await t.rejects(db.query("SELECT 1", [], { signal: AbortSignal.abort(new Error("never")) }), { message: "never" });
});

t.test("a transaction is done again when a concurrent one was faster", async (t) => {
  await db.sql`CREATE TABLE account (id integer PRIMARY KEY, balance integer)`;
  await db.sql`INSERT INTO account VALUES (1, 0)`;
  let runs = 0;
  const add = () =>
    db.tx(
      async (tx) => {
        runs++;
        const [row] = await tx.sql<{ balance: number }>`SELECT balance FROM account WHERE id = 1`;
        await tx.sql`UPDATE account SET balance = ${row!.balance + 1} WHERE id = 1`;
        return row!.balance;
      },
      { attempts: 100 },
    );
  await Promise.all(Array.from({ length: 8 }, add));
  t.equal((await db.sql<{ balance: number }>`SELECT balance FROM account`)[0]!.balance, 8);
  t.ok(runs > 8);
  const broken = db.tx(async (tx) => {
    await tx.sql`UPDATE account SET balance = 100`;
    throw new Error("changed my mind");
  });
  await t.rejects(broken, { message: "changed my mind" });
  t.equal((await db.sql<{ balance: number }>`SELECT balance FROM account`)[0]!.balance, 8);
  const lost = db.tx(
    async (tx) => {
      await tx.sql`SELECT balance FROM account`;
      await db.sql`UPDATE account SET balance = balance + 1`;
      await tx.sql`UPDATE account SET balance = 0`;
    },
    { attempts: 2 },
  );
  t.ok((await failure(lost)) instanceof SerializationError);
});

t.test("over a network that breaks, nothing is lost and nothing is done twice", async (t) => {
  await db.sql`CREATE TABLE tick (n integer)`;
  await db.sql`CREATE TABLE done (n integer)`;
  let cuts = 0;
  for (let n = 0; n < 40; n++) {
    // Some requests lose their answer, at its beginning or within.
    proxy.cutAfter = n % 2 === 0 ? (n * 37) % 400 : null;
    if (proxy.cutAfter !== null) cuts++;
    await far.sql`INSERT INTO tick VALUES (${n})`;
    await far.tx(async (tx) => {
      await tx.sql`INSERT INTO done SELECT count(*) FROM done`;
    });
  }
  t.ok(proxy.cuts >= cuts / 2, `${proxy.cuts} connections were cut`);
  t.same((await db.sql`SELECT count(*)::int AS all, count(DISTINCT n)::int AS each FROM tick`)[0], {
    all: 40,
    each: 40,
  });
  t.same((await db.sql`SELECT count(*)::int AS all, max(n) AS last FROM done`)[0], { all: 40, last: 39 });
});

t.test("collections of documents", async (t) => {
  interface Article {
    readonly title: string;
    readonly year?: number;
  }
  const articles = db.collection<Article>("articles");
  await articles.create({
    fields: [
      { name: "title", type: "string", embed: true },
      { name: "year", type: "number" },
    ],
  });
  const id = await articles.insert({ title: "Boats in the harbour", year: 2024 });
  const more = Array.from({ length: 25 }, (_, i) => ({ id: `a${i}`, title: `Walk ${i}` }));
  t.equal((await articles.insertMany(more)).length, 25);
  t.match(await articles.get(id), { id, title: "Boats in the harbour" });
  t.match(await articles.patch(id, { year: 2025 }), { year: 2025, title: "Boats in the harbour" });
  t.match(await articles.replace("a1", { title: "Another walk" }), { title: "Another walk" });
  const [found] = await articles.search({ query: "harbour", limit: 1 });
  t.match(found, { id, year: 2025 });
  await articles.delete("a2");
  const ids: string[] = [];
  for await (const article of articles.list({ pageSize: 10 })) ids.push(article.id);
  t.equal(new Set(ids).size, 25);
  await articles.drop();
  await t.rejects(articles.get(id), NotFoundError);
});

t.test("collections of vectors, and embeddings", async (t) => {
  const colours = db.vectors<{ colour: string }>("colours");
  await colours.create(3);
  await colours.upsert([
    { id: "red", vector: [1, 0, 0], metadata: { colour: "red" } },
    { id: "blue", vector: new Float32Array([0, 0, 1]), metadata: { colour: "blue" } },
  ]);
  t.match(await colours.search({ vector: [0.9, 0.1, 0], limit: 1 }), [{ id: "red", metadata: { colour: "red" } }]);
  t.match(await colours.get("blue"), { id: "blue", vector: [0, 0, 1] });
  t.same([await colours.delete(["blue", "none"]), await colours.count()], [1, 1]);
  const [vector] = await db.embed(["A boat."]);
  t.equal(vector!.length, 384);
});

t.test("graphs", async (t) => {
  await db.cypher("CREATE (:Person {name: $name})-[:KNOWS]->(:Person {name: 'Ben'})", { name: "Ann" });
  const rows = await db.cypher<{ a: string; b: string }>("MATCH (a)-[:KNOWS]->(b) RETURN a.name AS a, b.name AS b");
  t.same([...rows], [{ a: "Ann", b: "Ben" }]);
});

t.test("chats", async (t) => {
  const notes = db.collection("notes");
  await notes.create({ fields: [{ name: "text", type: "string", embed: true }] });
  await notes.insert({ text: "The ferry leaves at noon." });
  const session = await db.chat.begin({ collections: ["notes"] });
  const answer = await db.chat.send({ session, content: "When does the ferry leave?" });
  t.match(answer, { content: /at noon/, citations: [{ collection: "notes", cited: true }] });
  let text = "";
  for await (const event of db.chat.stream({ session, content: "When does the ferry leave?" })) {
    if (event.type === "delta") text += event.text;
    else t.equal(event.answer.content, text);
  }
  t.match(text, /at noon/);
  await db.chat.delete(session);
});

t.test("live changes go on after interruptions, each once", async (t) => {
  await db.sql`CREATE TABLE visit (id integer PRIMARY KEY)`;
  const stop = new AbortController();
  const seen: number[] = [];
  let [begun, subscribed] = [0, () => {}];
  const first = new Promise<void>((resolve) => {
    subscribed = resolve;
  });
  const reading = (async () => {
    const followed = {
      table: "visit",
      signal: stop.signal,
      subscribed: () => {
        begun++;
        subscribed();
      },
    };
    for await (const { operation, document } of far.subscribe<{ id: number }>(followed)) {
      if (operation === "insert") seen.push(document.id);
      if (seen.length === 60) break;
    }
  })();
  await first;
  for (let id = 0; id < 60; id++) {
    await db.sql`INSERT INTO visit VALUES (${id})`;
    if (id % 10 === 5) proxy.cut();
  }
  await reading;
  t.same(
    seen,
    Array.from({ length: 60 }, (_, i) => i),
  );
  t.ok(begun > 1, `${begun} subscriptions`);
  const unknown = db.subscribe({ table: "no_such_table" });
  t.equal((await failure(unknown.next())).status, 404);
});

t.test("bodies and answers have the types of the endpoints", (t) => {
  // Checked by the compiler: what the client sends is what the endpoints take.
  const statement: BodyOf<"query.execute"> = { sql: "SELECT 1", parameters: [1], max_rows: 1, timeout_secs: 1 };
  const begin: BodyOf<"transactions.begin"> = { isolation_level: "serializable", read_only: true, timeout_secs: 1 };
  const vectors: BodyOf<"vectors.batch"> = { vectors: [{ id: "a", vector: [1] }], on_conflict: "replace" };
  const chat: BodyOf<"chat.send"> = { session_id: "a", content: "b", model: "c", temperature: 1, max_tokens: 1 };
  const ids: (answer: ResponseOf<"documents.bulk">) => readonly (string | null)[] = ({ ids }) => ids;
  t.ok([statement, begin, vectors, chat, ids]);
  t.end();
});

t.test("the builds: one file for Node.js, a small one for browsers", async (t) => {
  const dist = new URL("../../../clients/typescript/dist/", import.meta.url);
  const bytes = gzipSync(readFileSync(new URL("browser.js", dist)), { level: 9 }).length;
  t.ok(bytes <= 25 * 1024, `${bytes} bytes`);
  for (const file of ["index.js", "browser.js"]) {
    const made = (await import(new URL(file, dist).href)) as { connect: typeof connect };
    const [row] = await made.connect({ url: server.url, apiKey }).sql<{ n: number }>`SELECT ${7}::int AS n`;
    t.equal(row!.n, 7, file);
  }
  t.match(readFileSync(new URL("index.d.ts", dist), "utf8"), /export .*connect/);
});

t.test("no promise was rejected without anybody to hear it", (t) => {
  t.same(unhandled, []);
  t.end();
});
