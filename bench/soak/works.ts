/**
 * What the soak loads a server with: work over all models, made so that what is stored stays of one size (rows are
 * replaced or deleted after a while), and so that every answer can be checked. `share` says how often, in proportion to
 * the others; what has `everySeconds` instead comes at that interval, one at a time.
 */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Caller, expect } from "./caller.js";
import { liveWorks } from "./live-works.js";

export interface Work {
  readonly kind: string;
  readonly share?: number;
  readonly everySeconds?: number;
  prepare?(caller: Caller): Promise<void>;
  /** The n-th piece, from 1. */
  one(caller: Caller, n: number): Promise<void>;
}

const KEYS = 20_000;
const LIVES = 2_000;
const DOCUMENTS = 2_000;
const VECTORS = 3_000;
const DIMENSIONS = 64;
const PEOPLE = 1_000;
const FILES = 40;
const POLL_MS = 250;

const SUBJECTS = [
  "harbour",
  "mountain",
  "engine",
  "garden",
  "violin",
  "market",
  "glacier",
  "library",
  "kitchen",
  "rocket",
];
const VERBS = ["opens", "closes", "sings", "freezes", "burns", "grows", "travels", "waits", "breaks", "returns"];
const PLACES = ["at noon", "in winter", "by the river", "under the bridge", "on the island", "before the storm"];

function pick<T>(values: readonly T[], n: number): T {
  return values[n % values.length]!;
}

function sentence(n: number): string {
  const second = Math.floor(n / 7);
  return `The ${pick(SUBJECTS, n)} ${pick(VERBS, second)} ${pick(PLACES, n + second)}, says note ${n % 997}.`;
}

function vectorOf(n: number): number[] {
  return Array.from({ length: DIMENSIONS }, (_, i) => Math.fround(Math.sin((n + 1) * (i + 1) * 0.37)));
}

function any(below: number): number {
  return Math.floor(Math.random() * below);
}

/** Rows, statements and transactions. */
const rowWorks: readonly Work[] = [
  {
    kind: "point read",
    share: 50,
    async prepare(caller) {
      await caller.rows("CREATE TABLE kv (id integer PRIMARY KEY, v text, n bigint NOT NULL DEFAULT 0)");
      await caller.rows("INSERT INTO kv (id, v) SELECT i, 'value ' || i FROM generate_series(1, $1) AS g(i)", [KEYS]);
    },
    async one(caller) {
      const id = 1 + any(KEYS);
      const rows = await caller.rows("SELECT id, v FROM kv WHERE id = $1", [id]);
      expect(rows.length === 1 && rows[0]![1] === `value ${id}`, `row ${id} is ${JSON.stringify(rows)}`);
    },
  },
  {
    kind: "update",
    share: 15,
    one: async (caller) => {
      await caller.rows("UPDATE kv SET n = n + 1 WHERE id = $1", [1 + any(KEYS)]);
    },
  },
  {
    kind: "insert and delete",
    share: 15,
    async prepare(caller) {
      await caller.rows("CREATE TABLE churn (id integer PRIMARY KEY, note text, at timestamptz DEFAULT now())");
      await caller.rows("CREATE INDEX churn_note ON churn (note)");
    },
    async one(caller, n) {
      await caller.rows("INSERT INTO churn (id, note) VALUES ($1, $2)", [n, sentence(n)]);
      if (n > LIVES) await caller.rows("DELETE FROM churn WHERE id = $1", [n - LIVES]);
    },
  },
  {
    kind: "batch",
    share: 3,
    async one(caller) {
      const statements = Array.from({ length: 10 }, () => ({
        sql: "UPDATE kv SET n = n + 1 WHERE id = $1",
        parameters: [1 + any(KEYS)],
      }));
      await caller.want(200, "POST", "/v1/query/execute/batch", { statements, transactional: true });
    },
  },
  {
    kind: "aggregate",
    share: 2,
    async one(caller) {
      const from = 1 + any(KEYS - 2000);
      const rows = await caller.rows("SELECT count(*), sum(n), max(v) FROM kv WHERE id BETWEEN $1 AND $2", [
        from,
        from + 1999,
      ]);
      expect(rows[0]![0] === 2000, `2000 rows are ${rows[0]![0]}`);
    },
  },
  {
    kind: "ad-hoc statement",
    share: 3,
    // Each has a text of its own, which no cache of plans knows.
    async one(caller, n) {
      const rows = await caller.rows(`SELECT k.id + ${n} AS a${n} FROM kv k JOIN kv j ON j.id = k.id WHERE k.id = 7`);
      expect(rows[0]![0] === 7 + n, "a join gave another sum");
    },
  },
  {
    kind: "transaction",
    share: 3,
    async one(caller) {
      const { id } = (await caller.want(201, "POST", "/v1/transactions")).data;
      const path = `/v1/transactions/${id}`;
      const parameters = [1 + any(KEYS)];
      await caller.want(200, "POST", `${path}/execute`, { sql: "SELECT n FROM kv WHERE id = $1", parameters });
      await caller.want(200, "POST", `${path}/execute`, { sql: "UPDATE kv SET n = n + 1 WHERE id = $1", parameters });
      // Another one may have changed the row since it was read: then the client gives up.
      await caller.want(200, "POST", `${path}/commit`, undefined, { conflict: "is an answer" });
    },
  },
  {
    kind: "definitions",
    everySeconds: 5,
    async one(caller, n) {
      await caller.rows(`CREATE TABLE passing_${n} (id integer PRIMARY KEY, v text)`);
      await caller.rows(`INSERT INTO passing_${n} SELECT i, 'x' FROM generate_series(1, 200) AS g(i)`);
      await caller.rows(`CREATE INDEX ON passing_${n} (v)`);
      await caller.rows(`DROP TABLE passing_${n}`);
    },
  },
  {
    kind: "export",
    everySeconds: 10,
    async one(caller) {
      const text = (await caller.want(200, "GET", "/v1/data/export?table=kv")) as string;
      expect(text.split("\n").length >= KEYS, `an export of ${KEYS} rows has ${text.length} characters`);
    },
  },
  {
    kind: "import",
    everySeconds: 20,
    prepare: async (caller) => {
      await caller.rows("CREATE TABLE taken (id integer, v text)");
    },
    async one(caller) {
      await caller.rows("TRUNCATE taken");
      const lines = Array.from({ length: 3000 }, (_, i) => `${i},line ${i}`);
      const headers = { "content-type": "text/csv" };
      await caller.want(200, "POST", "/v1/data/import/csv?table=taken", `id,v\n${lines.join("\n")}\n`, { headers });
    },
  },
];

/** Documents, text, vectors and the graph. */
const modelWorks: readonly Work[] = [
  {
    kind: "document put",
    share: 8,
    async prepare(caller) {
      const fields = [
        { name: "n", type: "integer" },
        { name: "title", type: "string", embed: true },
      ];
      const indexes = [
        { name: "by_n", fields: ["n"], type: "btree" },
        { name: "words", fields: ["title"], type: "text" },
      ];
      await caller.want(201, "POST", "/v1/collections", { name: "paper", schema: { fields, indexes } });
      for (let from = 0; from < DOCUMENTS; from += 500) {
        const documents = Array.from({ length: 500 }, (_, i) => documentOf(from + i, 0));
        await caller.want(201, "POST", "/v1/collections/paper/documents/bulk", { documents });
      }
    },
    async one(caller, n) {
      const id = any(DOCUMENTS);
      const { id: _id, ...document } = documentOf(id, n);
      await caller.want(200, "PUT", `/v1/collections/paper/documents/p${id}`, document);
    },
  },
  {
    kind: "document get",
    share: 8,
    async one(caller) {
      const id = any(DOCUMENTS);
      const { data } = await caller.want(200, "GET", `/v1/collections/paper/documents/p${id}`);
      expect(JSON.stringify(data).includes(`"p${id}"`), `document p${id} is another one`);
    },
  },
  {
    kind: "text search",
    share: 4,
    one: (caller, n) =>
      searchPapers(caller, { query: `${pick(SUBJECTS, n)} ${pick(VERBS, n)}`, mode: "text", limit: 10 }),
  },
  {
    kind: "hybrid search",
    share: 3,
    one: (caller, n) => searchPapers(caller, { query: sentence(n), mode: "hybrid", limit: 10 }),
  },
  {
    kind: "vector upsert",
    share: 6,
    async prepare(caller) {
      const body = { name: "dot", dimensions: DIMENSIONS, metric: "cosine" };
      await caller.want(201, "POST", "/v1/vectors/collections", body);
      for (let from = 0; from < VECTORS; from += 500) {
        const vectors = Array.from({ length: 500 }, (_, i) => ({ id: `v${from + i}`, vector: vectorOf(from + i) }));
        await caller.want(201, "POST", "/v1/vectors/collections/dot/vectors", { vectors });
      }
    },
    async one(caller, n) {
      const vectors = [{ id: `v${any(VECTORS)}`, vector: vectorOf(n), metadata: { n } }];
      await caller.want(201, "POST", "/v1/vectors/collections/dot/vectors", { vectors, on_conflict: "replace" });
    },
  },
  {
    kind: "vector search",
    share: 8,
    async one(caller, n) {
      const { data } = await caller.want(200, "POST", "/v1/vectors/collections/dot/search", {
        vector: vectorOf(n),
        limit: 10,
      });
      expect(data.length === 10, `a search for 10 vectors found ${data.length}`);
    },
  },
  {
    kind: "graph merge",
    share: 4,
    async prepare(caller) {
      await caller.rows("CREATE INDEX FOR (p:Person) ON (p.n)");
      for (let n = 0; n < PEOPLE; n += 50) {
        await cypher(caller, "UNWIND $all AS n CREATE (:Person {n: n})", {
          all: Array.from({ length: 50 }, (_, i) => n + i),
        });
      }
    },
    async one(caller, n) {
      const a = any(PEOPLE);
      const b = (a * 7 + 1 + (n % 4)) % PEOPLE;
      await cypher(caller, "MERGE (a:Person {n: $a}) MERGE (b:Person {n: $b}) MERGE (a)-[k:KNOWS]->(b) SET k.at = $n", {
        a,
        b,
        n,
      });
    },
  },
  {
    kind: "graph read",
    share: 6,
    async one(caller) {
      await cypher(caller, "MATCH (:Person {n: $a})-[:KNOWS*1..3]->(x) RETURN count(DISTINCT x)", { a: any(PEOPLE) });
    },
  },
  {
    kind: "graph create and delete",
    share: 2,
    async one(caller, n) {
      await cypher(caller, "MATCH (p:Person {n: $a}) CREATE (p)-[:WROTE]->(:Post {n: $n})", { a: any(PEOPLE), n });
      await cypher(caller, "MATCH (t:Post) WHERE t.n <= $old DETACH DELETE t", { old: n - 100 });
    },
  },
  {
    kind: "graph algorithm",
    everySeconds: 30,
    one: async (caller) => {
      await cypher(caller, "CALL algo.pagerank() YIELD node, score RETURN count(*)", {});
    },
  },
];

/** Models, language, agents and what else is served. */
const modelsWorks: readonly Work[] = [
  {
    kind: "embedding",
    share: 6,
    async one(caller, n) {
      const { data } = await caller.want(200, "POST", "/v1/ai/embeddings", { text: sentence(n) });
      expect(JSON.stringify(data).length > 1000, "an embedding is short");
    },
  },
  {
    kind: "claim",
    share: 2,
    async one(caller, n) {
      const body = { statement: sentence(n), truth_anchors: [sentence(n + 1), sentence(n + 2)] };
      await caller.want(200, "POST", "/v1/ai/nli/verify", body);
    },
  },
  {
    kind: "memory",
    share: 3,
    async one(caller, n) {
      await caller.want(200, "PUT", `/v1/ai/memory/soak/m${n % 200}`, { content: sentence(n) });
      const { data } = await caller.want(200, "POST", "/v1/ai/memory/soak/recall", { query: sentence(n), k: 3 });
      expect(data.memories.length > 0, "nothing is recalled");
    },
  },
  {
    kind: "mcp",
    share: 3,
    async one(caller, n) {
      const params = { name: "query", arguments: { sql: `SELECT v FROM kv WHERE id = ${1 + (n % KEYS)}` } };
      const method = n % 5 === 0 ? "tools/list" : "tools/call";
      const reply = await caller.want(200, "POST", "/v1/mcp", {
        jsonrpc: "2.0",
        id: n,
        method,
        ...(n % 5 === 0 ? {} : { params }),
      });
      expect(reply.error === undefined, JSON.stringify(reply.error));
    },
  },
  {
    kind: "sentiment and entities",
    share: 1,
    async one(caller, n) {
      await caller.want(200, "POST", `/v1/ai/${n % 2 === 0 ? "sentiment" : "entities"}`, { text: sentence(n) });
    },
  },
  {
    kind: "question",
    everySeconds: 5,
    async one(caller) {
      await caller.want(200, "POST", "/v1/nl2sql/query", { question: "How many taken are there?", method: "rules" });
    },
  },
  {
    kind: "chat",
    everySeconds: 10,
    async one(caller, n) {
      const session = (await caller.want(201, "POST", "/v1/ai/sessions", {})).data.session_id;
      const body = { session_id: session, content: sentence(n), max_tokens: 12 };
      await caller.want(200, "POST", n % 2 === 0 ? "/v1/ai/chat" : "/v1/ai/chat/stream", body);
      await caller.want(204, "DELETE", `/v1/ai/sessions/${session}`);
    },
  },
  {
    kind: "user and key",
    everySeconds: 15,
    async one(caller, n) {
      const operator = { token: caller.operatorToken };
      const user = { username: `passing${n}`, password: "a password for the soak" };
      const made = (await caller.want(201, "POST", "/admin/tenants/soak/users", user, operator)).data;
      const { access_token: token } = await caller.want(200, "POST", "/v1/auth/login", user);
      const { data } = await caller.want(
        201,
        "POST",
        "/v1/api-keys",
        { name: "soak", permission: "ReadOnly" },
        { token },
      );
      await caller.want(200, "POST", "/v1/query/execute", { sql: "SELECT 1" }, { token: data.raw_key });
      await caller.want(204, "DELETE", `/v1/api-keys/${data.api_key.id}`, undefined, { token });
      await caller.want(204, "DELETE", `/admin/tenants/soak/users/${made.id}`, undefined, operator);
    },
  },
  {
    kind: "recipe",
    everySeconds: 30,
    async one(caller) {
      const body = { parameters: { query: "warm jacket" } };
      await caller.want(200, "POST", "/v1/recipes/product-search/execute", body);
    },
  },
  {
    kind: "automl",
    everySeconds: 600,
    async prepare(caller) {
      await caller.rows("CREATE TABLE loan (id int PRIMARY KEY, age int, income float8, good text)");
      await caller.rows(
        "INSERT INTO loan SELECT i, 20 + i % 50, 1000 + (i * 37) % 5000, CASE WHEN (i * 37) % 5000 + (i % 50) * 40 > 3500 THEN 'yes' ELSE 'no' END FROM generate_series(1, 1000) AS g(i)",
      );
    },
    async one(caller) {
      const body = { table: "loan", features: ["age", "income"], target: "good", max_trials: 4, name: "credit" };
      const { data } = await caller.want(202, "POST", "/v1/automl/train", body);
      const job = await ended(caller, `/v1/automl/jobs/${data.job_id}`);
      expect(job.status === "completed", `a training ended as ${JSON.stringify(job)}`);
      const rows = [{ age: 41, income: 4200 }];
      await caller.want(200, "POST", `/v1/automl/models/${job.model_id}/predict`, { rows });
      await caller.want(204, "DELETE", `/v1/automl/models/${job.model_id}`);
    },
  },
  {
    kind: "backup",
    everySeconds: 600,
    async one(caller) {
      const { id } = (await caller.want(202, "POST", "/v1/backups", {})).data;
      const backup = await ended(caller, `/v1/backups/${id}`);
      expect(backup.status === "completed", `a backup ended as ${JSON.stringify(backup)}`);
      await caller.want(204, "DELETE", `/v1/backups/${id}`);
    },
  },
];

/** A folder of files, one of which changes now and then. */
function folderWork(folder: string): Work {
  const write = (i: number, n: number): void =>
    writeFileSync(
      join(folder, `note-${i}.md`),
      `# Note ${i}\n\n${Array.from({ length: 20 }, (_, k) => sentence(n + k)).join(" ")}\n`,
    );
  return {
    kind: "file",
    everySeconds: 5,
    async prepare(caller) {
      for (let i = 0; i < FILES; i++) write(i, i);
      await caller.want(201, "POST", "/v1/filesystem-collections", { name: "folder", watch_dir: folder });
    },
    async one(caller, n) {
      if (n % 7 === 0) rmSync(join(folder, `note-${n % FILES}.md`), { force: true });
      else write(n % FILES, n);
      await caller.want(200, "POST", "/v1/collections/folder/search", { query: sentence(n), limit: 5 });
    },
  };
}

export function allWorks(folder: string): readonly Work[] {
  return [...rowWorks, ...modelWorks, ...modelsWorks, folderWork(folder), ...liveWorks];
}

function documentOf(id: number, n: number): { id: string; n: number; title: string; body: string } {
  return { id: `p${id}`, n, title: sentence(id + n), body: `${sentence(n)} ${sentence(n + 3)} ${sentence(n + 11)}` };
}

async function searchPapers(caller: Caller, body: object): Promise<void> {
  const { data } = await caller.want(200, "POST", "/v1/collections/paper/search", body);
  expect(data.documents.length > 0, `nothing is found by ${JSON.stringify(body)}`);
}

async function cypher(caller: Caller, text: string, parameters: object): Promise<void> {
  await caller.want(200, "POST", "/v1/graph/match", { cypher: text, parameters });
}

// biome-ignore lint/suspicious/noExplicitAny: a job or a backup.
async function ended(caller: Caller, path: string): Promise<any> {
  for (;;) {
    const { data } = await caller.want(200, "GET", path);
    if (data.status !== "running" && data.status !== "pending") return data;
    await sleep(POLL_MS);
  }
}
