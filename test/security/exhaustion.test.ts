/** Requests that ask for too much: each ends with a clear answer within its bound, while another tenant is served. */
import t from "tap";
import { type Reply, TestServer } from "../e2e/server.js";
import { sized } from "../lengths.js";

/** Seconds that a statement may run. */
const STATEMENT_SECONDS = 3;
/**
 * For those that would run into that bound on any machine: they ask for this one, so as not to spend processor time in
 * vain.
 */
const ENDLESS_SECONDS = sized(0.25, 0.5);

const server = await TestServer.start({
  TESSERA_ACTORS: "1",
  TESSERA_QUERY_TIMEOUT_SECONDS: String(STATEMENT_SECONDS),
  TESSERA_QUERY_MEMORY_BYTES_MAX: String(64 * 1024 * 1024),
  TESSERA_STORAGE_SPILL_BYTES_MAX: String(64 * 1024 * 1024),
});
t.teardown(() => server.stop());
const greedy = await server.tenant("greedy");
const quiet = await server.tenant("quiet");
await server.rows("CREATE TABLE item (id integer PRIMARY KEY, name text)", [], { token: quiet });
await server.rows("INSERT INTO item VALUES (1, 'here')", [], { token: quiet });
await server.rows("CREATE TABLE big (id integer PRIMARY KEY, name text)", [], { token: greedy });
for (let from = 1; from < 5000; from += 1000) {
  const insert = "INSERT INTO big SELECT i, 'name ' || i FROM generate_series($1, $1 + 999) i";
  await server.rows(insert, [from], { token: greedy });
}
await server.expect(
  200,
  "POST",
  "/v1/graph/match",
  { cypher: "UNWIND range(0, 299) AS i CREATE (:P {i: i})" },
  { token: greedy },
);
// In parts, each of which is far from the bound on a busy machine, too.
for (let from = 0; from < 300; from += 30) {
  const ring = `MATCH (a:P), (b:P) WHERE a.i >= ${from} AND a.i < ${from + 30} AND b.i IN [(a.i + 1) % 300, (a.i + 7) % 300, (a.i + 31) % 300] CREATE (a)-[:K]->(b)`;
  await server.expect(200, "POST", "/v1/graph/match", { cypher: ring }, { token: greedy });
}

/** Sends it, and a point read of the other tenant beside it until it is answered. */
async function beside(ask: () => Promise<Reply>): Promise<{ reply: Reply; reads: number }> {
  let done = false;
  let reads = 0;
  const asked = ask().finally(() => {
    done = true;
  });
  const reading = (async () => {
    do {
      const rows = await server.rows("SELECT name FROM item WHERE id = 1", [], { token: quiet });
      t.same(rows, [["here"]]);
      reads++;
      await new Promise((resolve) => setTimeout(resolve, 20));
    } while (!done);
  })();
  const [reply] = await Promise.all([asked, reading]);
  return { reply, reads };
}

const sql = (text: string, parameters: readonly unknown[] = []) => ({
  path: "/v1/query/execute",
  body: { sql: text, parameters },
});
const cypher = (text: string) => ({ path: "/v1/graph/match", body: { cypher: text } });
interface Ask {
  readonly path: string;
  readonly body: object;
}
const endless = ({ path, body }: Ask): Ask => ({ path, body: { ...body, timeout_secs: ENDLESS_SECONDS } });
const list = (n: number, item: (i: number) => string | number) =>
  Array.from({ length: n }, (_, i) => item(i)).join(",");

/** What is asked, and with what it may end; 200 where the bound is far away and the answer right. */
const CASES: Readonly<Record<string, { path: string; body: unknown; statuses: readonly number[] }>> = {
  "deep JSON": {
    path: "/v1/query/execute",
    body: `{"sql":${"[".repeat(200_000)}${"]".repeat(200_000)}}`,
    statuses: [400],
  },
  "deep JSON as a parameter": {
    path: "/v1/query/execute",
    body: `{"sql":"SELECT $1::jsonb","parameters":[${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}]}`,
    statuses: [400],
  },
  "deep parentheses": { ...sql(`SELECT ${"(".repeat(20_000)}1${")".repeat(20_000)}`), statuses: [400] },
  "deep filter": {
    path: "/v1/collections/none/search",
    body: `{"filter":${'{"$not":'.repeat(5000)}{"a":1}${"}".repeat(5000)}}`,
    statuses: [400, 404],
  },
  "a huge IN list": {
    ...sql(`SELECT count(*) FROM big WHERE id IN (${list(5_000, (i) => i)})`),
    statuses: [200, 400],
  },
  "a huge list of parameters": {
    ...sql("SELECT count(*) FROM big WHERE id = ANY($1::int[])", [Array.from({ length: 50_000 }, (_, i) => i)]),
    statuses: [200, 408],
  },
  "too many parameters": { ...sql("SELECT $1", new Array(70_000).fill(1)), statuses: [400] },
  "a cross join": {
    ...endless(sql("SELECT count(*) FROM big a, big b, big c WHERE a.name || b.name <> c.name")),
    statuses: [408],
  },
  "a sort of a cross join": {
    ...endless(sql("SELECT a.name FROM big a, big b ORDER BY a.name || b.name")),
    statuses: [400, 408],
  },
  "a recursion without end": {
    ...endless(sql("WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r")),
    statuses: [400, 408],
  },
  "a recursion that doubles": {
    ...endless(
      sql("WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n FROM r, (VALUES (1), (2)) v) SELECT count(*) FROM r"),
    ),
    statuses: [400, 408],
  },
  "thousands of columns": { ...sql(`CREATE TABLE wide (${list(9_000, (i) => `c${i} int`)})`), statuses: [400] },
  "a wide SELECT": { ...sql(`SELECT ${list(10_000, (i) => i)}`), statuses: [400] },
  "a million elements": { ...cypher("UNWIND range(1, 5000000) AS i RETURN count(i)"), statuses: [200, 400, 408] },
  "a list that grows": {
    ...cypher("UNWIND range(1, 3000) AS i WITH collect(range(1, 3000)) AS l RETURN size(l)"),
    statuses: [200, 400, 408],
  },
  "a huge range": { ...cypher("RETURN size(range(1, 9000000000))"), statuses: [400] },
  "a huge series": { ...endless(sql("SELECT count(*) FROM generate_series(1, 900000000000)")), statuses: [408] },
  "a huge series collected": {
    ...sql("SELECT array_agg(i) FROM generate_series(1, 900000000) i"),
    statuses: [400, 408],
  },
  repeat: { ...sql("SELECT length(repeat('x', 2000000000))"), statuses: [400] },
  "repeat of repeat": { ...sql("SELECT length(repeat(repeat('x', 60000000), 60000000))"), statuses: [400, 408] },
  lpad: { ...sql("SELECT length(lpad('x', 2147483647, 'y'))"), statuses: [400] },
  "a text that doubles": {
    ...sql(
      "WITH RECURSIVE r(n, s) AS (SELECT 1, 'x' UNION ALL SELECT n + 1, s || s FROM r WHERE n < 60) SELECT max(length(s)) FROM r",
    ),
    statuses: [400, 408],
  },
  "an array of arrays": { ...sql("SELECT array_fill(1, ARRAY[100000, 100000])"), statuses: [400] },
  "a number of many digits": { ...sql("SELECT 9.0::numeric ^ 9999999"), statuses: [400, 408] },
  factorial: { ...sql("SELECT factorial(2000000)"), statuses: [400, 408] },
  "a regular expression that backtracks": {
    ...sql("SELECT repeat('a', 40) || 'b' ~ '^(a+)+$'"),
    statuses: [200, 400],
  },
  "many of those": {
    ...sql("SELECT count(*) FROM big WHERE repeat('a', 40) || name ~ '^(a+)+$'"),
    statuses: [200, 400, 408],
  },
  "one in Cypher": { ...cypher(`RETURN '${"a".repeat(40)}b' =~ '(a+)+'`), statuses: [200, 400] },
  "a LIKE of many signs": {
    ...sql(`SELECT repeat('a', 5000) LIKE '${"%a".repeat(2000)}b'`),
    statuses: [200, 400, 408],
  },
  "a JSON path": {
    ...sql(
      "SELECT jsonb_path_query(to_jsonb(array_agg(i)), '$[*] ? (exists($[*] ? (exists($[*] ? (@ < 0)))))') FROM generate_series(1, 3000) i",
    ),
    statuses: [200, 400, 408],
  },
  "walks of any length": { ...endless(cypher("MATCH (a:P)-[*]->(b:P) RETURN count(*)")), statuses: [400, 408] },
  "walks between all": {
    ...endless(cypher("MATCH p = (a:P)-[*..12]-(b:P) RETURN max(length(p))")),
    statuses: [400, 408],
  },
  "a product of patterns": {
    ...endless(cypher("MATCH (a), (b), (c), (d) RETURN count(a.i + b.i + c.i + d.i)")),
    statuses: [200, 400, 408],
  },
  "a function that calls itself": {
    ...sql("CREATE FUNCTION f(n int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN f(n + 1); END $$; SELECT f(1)"),
    statuses: [400, 408],
  },
  "a loop without end": { ...endless(sql("DO $$ BEGIN LOOP NULL; END LOOP; END $$")), statuses: [400, 408] },
  "views upon views": {
    path: "/v1/query/execute",
    body: {
      sql: `WITH a0 AS (SELECT 1) ${Array.from({ length: 20 }, (_, i) => `, a${i + 1} AS (SELECT * FROM a${i} UNION ALL SELECT * FROM a${i})`).join("")} SELECT count(*) FROM a20`,
    },
    statuses: [200, 400, 408],
  },
};

t.test("each ends within its bound, and the other tenant is served meanwhile", { timeout: 300_000 }, async (t) => {
  for (const [what, { path, body, statuses }] of Object.entries(CASES)) {
    const startedMs = performance.now();
    let answered: Awaited<ReturnType<typeof beside>>;
    try {
      answered = await beside(() => server.call("POST", path, body, { token: greedy }));
    } catch (error) {
      t.fail(`${what}: ${String(error)} ${server.lines.slice(-5).join(" ")}`);
      return;
    }
    const { reply, reads } = answered;
    const ms = Math.round(performance.now() - startedMs);
    const fits = statuses.includes(reply.status);
    t.ok(
      fits,
      `${what}: ${reply.status} after ${ms} ms, ${reads} reads ${fits ? "" : JSON.stringify(reply.body).slice(0, 300)}`,
    );
    if (reply.status < 400) continue;
    t.ok(reply.body.error.message.length > 10 && reply.body.error.code !== "internal_error", reply.body.error.message);
  }
});

t.test("many at a time", { timeout: 300_000 }, async (t) => {
  const asks = ["a cross join", "a recursion without end", "walks of any length", "a huge series"].flatMap((what) =>
    // Up to the server's bound.
    Array.from({ length: 4 }, () => ({
      path: CASES[what]!.path,
      body: { ...(CASES[what]!.body as object), timeout_secs: undefined },
    })),
  );
  const { reads } = await beside(async () => {
    const replies = await Promise.all(asks.map(({ path, body }) => server.call("POST", path, body, { token: greedy })));
    for (const { status } of replies) t.ok([400, 408, 429].includes(status), String(status));
    return replies[0]!;
  });
  t.ok(reads > 0, `${reads} reads meanwhile`);
  t.equal((await server.call("GET", "/health")).body.status, "ok");
});
