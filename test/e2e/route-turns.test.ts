/**
 * No large body holds the actor's thread for long, whichever endpoint it is sent to: long texts, many items, many keys
 * and deep nesting, in the place of every part of the endpoint's example. Nor does a large document, or a large input
 * of a procedure of Cypher. None is answered by an error that the server did not foresee. A new endpoint that takes a
 * body needs an example.
 *
 *   node dist/test/e2e/route-turns.test.js [name]
 */
import { isDeepStrictEqual } from "node:util";
import t, { type Test } from "tap";
import { ENDPOINTS } from "../../src/protocol/endpoints.js";
import { sized } from "../lengths.js";
import { TURN_MAX_MS } from "../turn-bound.js";
import { addressOf, bytesOf, enlarger, sendExamples, WAYS } from "./large-bodies.js";
import { type Reply, TestServer } from "./server.js";

/** Of a body. */
const CHARACTERS = Number(process.env.CHARACTERS ?? 50_000);
/** A bucket of the histogram. A look is 10 ms after the one before, so a turn counts with up to 10 ms of others. */
const TURN_MAX = String(TURN_MAX_MS / 1000);
/** Collections of garbage lengthen a turn. */
const TRIES = 20;
const SEEN_TOGETHER = 8;
const JSON_TYPE = { "content-type": "application/json" };
/** What makes the next requests mean nothing. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  "auth.logout": "it ends the session",
};

const [, , only] = process.argv;
const root = t.testdir({ "large.csv": `${Array.from({ length: 20_000 }, (_, i) => `${i},part ${i}`).join("\n")}\n` });
const server = await TestServer.start({
  TESSERA_ACTORS: "1",
  TESSERA_SERVER_LOG_LEVEL: "error",
  TESSERA_FILES_ROOTS: root,
});
t.teardown(() => server.stop());
t.setTimeout(600_000);
const acme = await server.tenant("acme", ["admin"]);
/** Sent since the last look. */
const unseen: Sending[] = [];
let mostSeconds = 0;
let sent = 0;
/** As the loop was after the last request. */
let before = { late: 0, max: 0 };

/** In a whole run of the tests each endpoint gets one way, another one than the endpoint before it. */
const isTried = sized(
  (way: number, first: number) => way === first,
  () => true,
);

/** How many times the loop came round late, and how long that took at most, of CPU time. */
async function loop(): Promise<{ readonly late: number; readonly max: number }> {
  const text: string = (await server.call("GET", "/metrics")).body;
  const value = (name: string): number =>
    Number(
      text
        .split("\n")
        .find((line) => line.startsWith(name))!
        .split(" ")
        .at(-1),
    );
  const of = (le: string) => value(`tessera_actor_loop_cpu_seconds_bucket{le="${le}",actor="0"}`);
  return { late: of("+Inf") - of(TURN_MAX), max: value("tessera_actor_loop_cpu_seconds_max") };
}

function isForeseen({ status, body }: Reply): boolean {
  if (status < 500 || status === 501) return true;
  return status === 503 && typeof body?.error?.message === "string" && body.error.code !== "statement_stopped";
}

interface Sending {
  readonly what: string;
  readonly send: () => Promise<Reply>;
}

/** Sends it, and looks at the loop when some have been sent: a look takes as long as ten requests. */
async function checkTurns(t: Test, what: string, send: () => Promise<Reply>): Promise<void> {
  await sendForeseen(t, { what, send });
  unseen.push({ what, send });
  if (unseen.length >= SEEN_TOGETHER) await lookBack(t);
}

async function sendForeseen(t: Test, { what, send }: Sending): Promise<number> {
  const reply = await send();
  if (!isForeseen(reply)) t.fail(`${what}: ${reply.status} ${JSON.stringify(reply.body).slice(0, 300)}`);
  sent++;
  return reply.status;
}

async function wasLate(): Promise<boolean> {
  const now = await loop();
  mostSeconds = now.max;
  const isLate = now.late !== before.late;
  before = now;
  return isLate;
}

/** Where the loop came round late, each is sent by itself: fails for those with which it comes late each time. */
async function lookBack(t: Test): Promise<void> {
  const all = unseen.splice(0);
  if (!(await wasLate())) return;
  for (const sending of all) {
    for (let tried = 1; ; tried++) {
      const status = await sendForeseen(t, sending);
      if (!(await wasLate())) break;
      if (tried < TRIES) continue;
      t.fail(`${sending.what}: answered ${status}, and the loop was late ${TRIES} times`);
      break;
    }
  }
}

t.test("every endpoint with a body, with large ones", async (t) => {
  await sendExamples(server, acme);
  let place = 0;
  for (const endpoint of ENDPOINTS) {
    const { name, method, body, example } = endpoint;
    if (body === undefined || name in LEFT_OUT || (only !== undefined && name !== only)) continue;
    if (example === undefined) {
      t.fail(`the endpoint ${name} has no example`);
      continue;
    }
    const token = name.startsWith("admin.") ? server.token! : acme;
    const ways = Object.entries(WAYS).flatMap(([way, kind]) => {
      const large = enlarger(example.body ?? {}, kind, way === "many keys", CHARACTERS);
      return large === null ? [] : [{ way, large }];
    });
    const first = place++ % Math.max(1, ways.length);
    for (const { way, large } of ways.filter((_, i) => only !== undefined || isTried(i, first))) {
      const bytes = bytesOf(large());
      await checkTurns(t, `${name}: ${way}`, () =>
        server.call(method, addressOf(endpoint), bytes, { token, headers: JSON_TYPE }),
      );
    }
  }
  await lookBack(t);
  t.equal((await server.call("GET", "/health/ready")).status, 200, "the server is ready");
});

/** Some 2 MB each when a body has 200,000 characters. */
const SHARE = CHARACTERS / 200_000;
const DOCUMENTS: Readonly<Record<string, () => unknown>> = {
  "nested objects": () => Object.fromEntries(Array.from({ length: 100 * SHARE }, (_, i) => [`part${i}`, keys(1_500)])),
  "a list of numbers": () => ({ list: Array.from({ length: 300_000 * SHARE }, (_, i) => i) }),
  "a list of objects": () => ({ list: Array.from({ length: 60_000 * SHARE }, (_, i) => ({ id: i, name: `n${i}` })) }),
  "many keys": () => keys(30_000 * SHARE),
};
const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`key${i}`, i]));

t.test("large documents", { skip: only !== undefined && only !== "large documents" }, async (t) => {
  const options = { token: acme };
  await server.call("POST", "/v1/collections", { name: "large" }, options);
  await server.call("POST", "/v1/collections/large/documents", { id: "one" }, options);
  const path = "/v1/collections/large/documents/one";
  const sql = "UPDATE large SET doc = doc || '{\"more\": 1}' RETURNING doc";
  for (const [what, make] of Object.entries(DOCUMENTS)) {
    const document = make();
    await checkTurns(t, `PUT: ${what}`, () => server.call("PUT", path, document, options));
    await checkTurns(t, `PATCH: ${what}`, () => server.call("PATCH", path, { more: 1 }, options));
    await checkTurns(t, `SQL: ${what}`, () => server.sql(sql, [], options));
    await checkTurns(t, `GET: ${what}`, () => server.call("GET", path, undefined, options));
    await lookBack(t);
    const { body } = await server.call("GET", path, undefined, options);
    t.ok(isDeepStrictEqual(body.data, { id: "one", ...(document as object), more: 1 }), what);
  }
});

/** By the type in a procedure's signature. */
const LARGE_INPUTS: Readonly<Record<string, () => unknown>> = {
  "LIST<STRING>": () => Array.from({ length: 10_000 }, (_, i) => `text ${i}`),
  STRING: () => "text ".repeat(CHARACTERS / 5),
  INTEGER: () => 2_000_000_000,
  BOOLEAN: () => true,
  MAP: () => keys(CHARACTERS / 16),
  "LIST<NUMBER>": () => Array.from({ length: CHARACTERS / 2 }, (_, i) => i),
  // No parameter is one: those procedures have calls of their own.
  NODE: () => null,
  RELATIONSHIP: () => null,
  "LIST<NODE>": () => null,
};

/** Dimensions of the vectors in a graph. */
const DIMENSIONS = 256;
const vectorSearch = (part: string) =>
  `CALL db.index.vector.${part}('near', 3000, $vector) YIELD score RETURN count(*)`;
const wordSearch = (part: string) => `CALL db.index.fulltext.${part}('words', $words) YIELD score RETURN count(*)`;
const start = "MATCH (s:Part {number: 1})";
const from = "MATCH (s:Part {number: 1}), (e:Part {number: 3000})";

/** Calls of procedures that are answered neither with large inputs alone nor without any. */
const CALLS: Readonly<Record<string, string>> = {
  "algo.bfs": `${from} CALL algo.bfs({source: id(s)}) YIELD distance RETURN count(*)`,
  "algo.dijkstra": `${from} CALL algo.dijkstra({source: id(s), target: id(e)}) YIELD path RETURN size(path)`,
  "apoc.neighbors.tohop": `${start} CALL apoc.neighbors.tohop(s, 'BEFORE|NEAR', 10000) YIELD node RETURN count(*)`,
  "apoc.neighbors.tohop.count": `${start} CALL apoc.neighbors.tohop.count(s, '>', 2000000000) YIELD value RETURN value`,
  "apoc.neighbors.athop": `${start} CALL apoc.neighbors.athop(s, 'BEFORE>', 900) YIELD node RETURN node.number`,
  "apoc.neighbors.athop.count": `${start} CALL apoc.neighbors.athop.count(s, '>', 900) YIELD value RETURN value`,
  "apoc.neighbors.byhop": `${start} CALL apoc.neighbors.byhop(s, '>', 10000) YIELD nodes RETURN sum(size(nodes))`,
  "apoc.neighbors.byhop.count": `${start} CALL apoc.neighbors.byhop.count(s, '>', 10000) YIELD value RETURN size(value)`,
  "db.stats.clear": "CALL db.stats.clear('QUERIES')",
  "db.stats.collect": "CALL db.stats.collect('QUERIES')",
  "db.stats.retrieve": "CALL db.stats.retrieve('GRAPH COUNTS')",
  "db.stats.stop": "CALL db.stats.stop('QUERIES')",
  "dbms.queryJmx": "CALL dbms.queryJmx('neo4j.metrics:name=neo4j.default.ids_in_use.node')",
  "load.csv": "CALL load.csv('file:///large.csv', false, ',') YIELD row RETURN count(*)",
  "apoc.create.addLabels":
    "MATCH (p:Part) WITH collect(p) AS parts CALL apoc.create.addLabels(parts, ['Again']) YIELD node RETURN count(*)",
  "apoc.create.node": "CALL apoc.create.node(['Made'], $properties) YIELD node RETURN count(*)",
  "apoc.create.relationship": `${from} CALL apoc.create.relationship(s, 'MADE', $properties, e) YIELD rel RETURN count(*)`,
  "apoc.merge.node": "CALL apoc.merge.node(['Merged'], {number: 1}, $properties) YIELD node RETURN count(*)",
  "apoc.merge.relationship": `${from} CALL apoc.merge.relationship(s, 'MERGED', {number: 1}, $properties, e) YIELD rel RETURN count(*)`,
  "db.create.setNodeVectorProperty": `${from} CALL db.create.setNodeVectorProperty(s, 'vector', $vector)`,
  "db.create.setRelationshipVectorProperty":
    "MATCH (:Part {number: 1})-[r:BEFORE]->() CALL db.create.setRelationshipVectorProperty(r, 'vector', $vector)",
  "db.create.setVectorProperty": `${from} CALL db.create.setVectorProperty(s, 'vector', $vector) YIELD node RETURN count(*)`,
  "db.index.fulltext.queryNodes": wordSearch("queryNodes"),
  "db.index.fulltext.queryRelationships": wordSearch("queryRelationships").replace("words'", "relations'"),
  "db.index.vector.queryNodes": vectorSearch("queryNodes"),
  "db.index.vector.queryRelationships": vectorSearch("queryRelationships").replace("near'", "like'"),
};
/** Those that only a session of Bolt can call, and the one that says what to use in its place. */
const REFUSED: readonly (readonly [RegExp, RegExp])[] = [
  [/^(?:tx|dbms\.routing|dbms\.cluster)\./, /^Only a session of Bolt/],
  [/^db\.stats\.collect$/, /^Statements are not collected: the server logs/],
];
const CALL_INPUTS = {
  vector: Array.from({ length: DIMENSIONS }, (_, i) => i),
  words: Array.from({ length: CHARACTERS / 100 }, (_, i) => `part ${i}`).join(" "),
  properties: keys(CHARACTERS / 16),
};

async function makeIndexes(cypher: (sql: string) => Promise<Reply>): Promise<void> {
  const options = `OPTIONS {indexConfig: {\`vector.dimensions\`: ${DIMENSIONS}}}`;
  await cypher(`CREATE VECTOR INDEX near FOR (p:Part) ON (p.vector) ${options}`);
  await cypher(`CREATE VECTOR INDEX like FOR ()-[r:BEFORE]-() ON (r.vector) ${options}`);
  await cypher("CREATE FULLTEXT INDEX words FOR (p:Part) ON EACH [p.text]");
  await cypher("CREATE FULLTEXT INDEX relations FOR ()-[r:BEFORE]-() ON EACH [r.text]");
  await cypher(
    `MATCH (p:Part) WHERE p.number <= 500 SET p.vector = [i IN range(1, ${DIMENSIONS}) | i % (p.number + 1) * 1.0]`,
  );
  await cypher("MATCH (a)-[r:BEFORE]->() WHERE a.vector IS NOT NULL SET r.vector = a.vector, r.text = a.text");
}

t.test("every procedure of Cypher", { skip: only !== undefined && only !== "procedures" }, async (t) => {
  const cypher = (sql: string, parameters: object = {}) =>
    server.call("POST", "/v1/query/execute", { sql, parameters, timeout_secs: 20 }, { token: acme });
  await cypher(`UNWIND range(1, ${sized(1000, 3000)}) AS i CREATE (:Part {number: i, text: 'part ' + i})`);
  await cypher("MATCH (a:Part), (b:Part {number: a.number + 1}) CREATE (a)-[:BEFORE]->(b), (b)-[:NEAR]->(a)");
  await makeIndexes(cypher);
  const { body } = await cypher("CALL dbms.procedures() YIELD name, signature");
  const procedures: readonly (readonly [string, string])[] = body.data.rows;
  t.ok(procedures.length > 30, `${procedures.length} procedures`);
  for (const [name, signature] of procedures) {
    const types = [...signature.split(") ::")[0]!.matchAll(/ :: ([A-Z<>]+)/g)].map(([, type]) => type!);
    const unknown = types.find((type) => LARGE_INPUTS[type] === undefined);
    if (unknown !== undefined) t.fail(`${name} has an input of the type ${unknown}, for which there is no large value`);
    const inputs = Object.fromEntries(types.map((type, i) => [`p${i}`, LARGE_INPUTS[type]?.()]));
    const call = (names: readonly string[]) => `CALL ${name}(${names.map((each) => `$${each}`).join()})`;
    let isAnswered = false;
    let refusal: unknown;
    const check = async (what: string, send: () => Promise<Reply>) => {
      await checkTurns(t, what, async () => {
        const reply = await send();
        isAnswered ||= reply.status === 200;
        if (reply.status !== 200) refusal = reply.body;
        return reply;
      });
    };
    await check(`${name} with large inputs`, () => cypher(call(Object.keys(inputs)), inputs));
    if (/^[^)]*\?\) ::/.test(signature) && types.length === 1) await check(name, () => cypher(call([])));
    const other = CALLS[name];
    if (other !== undefined) await check(other, () => cypher(other, CALL_INPUTS));
    const refused = REFUSED.find(([names]) => names.test(name));
    if (refused !== undefined) t.match(refusal, { error: { message: refused[1] } }, name);
    else t.ok(isAnswered, `a call of ${name} is answered; if none is, it needs one in CALLS`, { refusal });
  }
  await lookBack(t);
});

t.teardown(() => {
  t.comment(`${sent} requests; the loop came round after at most ${(mostSeconds * 1000).toFixed(0)} ms of CPU time`);
});
