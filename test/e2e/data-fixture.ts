/**
 * What the data directories in test/fixtures/releases hold: requests that fill a server with something of every model,
 * and requests whose answers are kept beside the directory and have to stay the same in every later release. Used by
 * scripts/make-data-fixture.mjs, which makes a fixture, and by data-fixture.test.ts, which opens them all.
 */
import { TOTP } from "otpauth";
import { trainingRows } from "./automl-rows.js";
import type { TestServer } from "./server.js";

export const TENANT = "keeper";
export const PASSWORD = `password of ${TENANT}`;

/** Answers and secrets that the test needs, as they were when the fixture was made. */
export interface Recorded {
  /** Of the program that wrote the directory. */
  readonly release: string;
  readonly format: number;
  readonly partitions: number;
  /** An API key of the tenant's. */
  readonly apiKey: string;
  /** Of the user "guarded", base32. */
  readonly totpSecret: string;
  readonly reads: readonly { readonly what: string; readonly ask: Ask; readonly answer: unknown }[];
}

interface Ask {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

const sql = (text: string, parameters: readonly unknown[] = []): Ask => ({
  method: "POST",
  path: "/v1/query/execute",
  body: { sql: text, parameters },
});
const cypher = (text: string): Ask => ({ method: "POST", path: "/v1/graph/match", body: { cypher: text } });
const get = (path: string): Ask => ({ method: "GET", path });
const post = (path: string, body: unknown): Ask => ({ method: "POST", path, body });

const TABLES = [
  "CREATE TYPE mood AS ENUM ('calm', 'glad')",
  "CREATE TYPE spot AS (x int, label text)",
  "CREATE DOMAIN small AS int CHECK (VALUE < 100)",
  "CREATE SEQUENCE ticket START 100 INCREMENT 5",
  `CREATE TABLE every_type (
     id bigint PRIMARY KEY, b boolean, i2 smallint, i4 integer, i8 bigint, f4 real, f8 double precision, n numeric(20, 6), c char(4),
     v varchar(20), t text, y bytea, u uuid, j json, jb jsonb, d date, tm time, tz timetz, ts timestamp, tstz timestamptz,
     iv interval, ip inet, net cidr, mac macaddr, bits bit varying(12), ai integer[], at text[][], m mood, s spot, sm small,
     vec vector(3), tsv tsvector, p point, g text GENERATED ALWAYS AS (upper(t)) STORED)`,
  "CREATE INDEX every_lower ON every_type (lower(t))",
  "CREATE INDEX every_partial ON every_type (i4) INCLUDE (v) WHERE i4 > 0",
  "CREATE TABLE parent (id int PRIMARY KEY, name text UNIQUE NOT NULL)",
  "CREATE TABLE child (id serial PRIMARY KEY, parent_id int REFERENCES parent ON DELETE CASCADE, note text DEFAULT 'none' CHECK (note <> ''))",
  "CREATE TABLE measure (at date, value int) PARTITION BY RANGE (at)",
  "CREATE TABLE measure_2025 PARTITION OF measure FOR VALUES FROM ('2025-01-01') TO ('2026-01-01')",
  "CREATE TABLE measure_later PARTITION OF measure DEFAULT",
  "CREATE VIEW glad AS SELECT id, t FROM every_type WHERE m = 'glad'",
  "CREATE FUNCTION twice(n int) RETURNS int LANGUAGE sql AS 'SELECT n * 2'",
  "CREATE TABLE audit (what text)",
  "CREATE FUNCTION note_child() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO audit VALUES ('child ' || NEW.note); RETURN NEW; END $$",
  "CREATE TRIGGER child_noted AFTER INSERT ON child FOR EACH ROW EXECUTE FUNCTION note_child()",
  "CREATE TABLE passage (id int PRIMARY KEY, body text, v vector(3))",
  "CREATE INDEX passage_v ON passage USING hnsw (v vector_cosine_ops)",
  "CREATE INDEX passage_text ON passage USING gin (to_tsvector('english', body))",
  "CREATE TABLE loans (id int PRIMARY KEY, age int, income float8, region text, note text, good text)",
];

const ROWS = [
  `INSERT INTO every_type VALUES (1, true, -7, 42, 9007199254740993, 1.5, 0.1, 12345.678901, 'ab', 'grüße', 'Straße 雪 🎈',
     '\\x00ff10', '7e2f0a4e-55d1-4c0b-9e0b-5f3a0e1d2c3b', '{"a": [1, 2]}', '{"k": {"deep": [true, null, 1.50]}}', '2024-02-29', '23:59:59.5',
     '10:00:00+02', '2025-03-01 12:00:00.123456', '2025-03-01 12:00:00+05', '1 year 2 mons 3 days 04:05:06', '10.1.2.3/24',
     '10.0.0.0/8', '08:00:2b:01:02:03', B'10110', '{1,NULL,3}', '{{a,b},{c,"d e"}}', 'glad', ROW(4, 'here'), 99,
     '[1,2,3]', 'fat:1A cat:2', '(1.5,-2)')`,
  "INSERT INTO every_type (id) VALUES (2)",
  "INSERT INTO every_type (id, t, i4, m) SELECT i, 'row ' || i, i, 'calm' FROM generate_series(3, 300) AS i",
  "UPDATE every_type SET v = 'changed' WHERE id % 50 = 0",
  "DELETE FROM every_type WHERE id BETWEEN 200 AND 220",
  "INSERT INTO parent SELECT i, 'parent ' || i FROM generate_series(1, 5) AS i",
  "INSERT INTO child (parent_id, note) SELECT 1 + i % 5, 'note ' || i FROM generate_series(0, 9) AS i",
  "INSERT INTO measure VALUES ('2025-06-01', 1), ('2026-06-01', 2), ('2024-06-01', 3)",
  "INSERT INTO passage SELECT i, 'The ' || (ARRAY['quick fox', 'lazy dogs', 'running water', 'old harbour'])[1 + i % 4] || ' of passage ' || i, ARRAY[i, i % 7, 1]::vector FROM generate_series(1, 80) AS i",
  "ALTER TABLE parent ADD COLUMN added int DEFAULT 7",
  "SELECT nextval('ticket')",
  "SELECT nextval('ticket')",
];

const RECIPE = `id: kept-counters
version: 1.0.0
engine: ">=0.1.0"
name: Counters
category: samples
parameters:
  by: {type: integer, default: 1}
schema:
  - CREATE TABLE counters (name text PRIMARY KEY, value int NOT NULL)
seed:
  - {table: counters, columns: [name, value], rows: [[visits, 10]]}
workflow:
  - name: count
    sql: UPDATE counters SET value = value + $by RETURNING name, value
tests:
  - name: counts
    parameters: {by: 5}
    expect:
      - {step: count, rows: [[visits, 15]]}
`;

/** What is asked again of every later release; each answer is about what the directory holds. */
const READS: Readonly<Record<string, Ask>> = {
  "rows of all types": sql("SELECT * FROM every_type WHERE id <= 3 ORDER BY id"),
  "all rows": sql("SELECT count(*), sum(id), sum(i4), max(v), count(g) FROM every_type"),
  "an index on an expression": sql("SELECT id FROM every_type WHERE lower(t) = 'row 77'"),
  "a partial index": sql("SELECT i4, v FROM every_type WHERE i4 = 150"),
  "foreign keys and checks": sql(
    "SELECT c.id, p.name, p.added, c.note FROM child c JOIN parent p ON p.id = c.parent_id ORDER BY c.id",
  ),
  "a trigger's rows": sql("SELECT what FROM audit ORDER BY what"),
  partitions: sql("SELECT tableoid::regclass::text, at, value FROM measure ORDER BY at"),
  "a view and a function": sql("SELECT id, t, twice(21) FROM glad"),
  definitions: sql(
    "SELECT table_name, column_name, data_type, is_nullable, column_default FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, ordinal_position",
  ),
  indexes: sql("SELECT tablename, indexname FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1, 2"),
  "a search of vectors": sql("SELECT id FROM passage ORDER BY v <=> '[3,3,1]' LIMIT 5"),
  "a search of texts": sql(
    "SELECT id FROM passage WHERE to_tsvector('english', body) @@ to_tsquery('english', 'run & water') ORDER BY id",
  ),
  collections: get("/v1/collections/article"),
  documents: get("/v1/collections/article/documents"),
  "a document": get("/v1/collections/article/documents/first"),
  "a filter of documents": post("/v1/collections/article/search", { filter: { tags: "sea" } }),
  "a vector collection": get("/v1/vectors/collections/shape"),
  "a vector": get("/v1/vectors/collections/shape/vectors/b"),
  "the nearest": post("/v1/vectors/collections/shape/search", { vector: [1, 0.1, 0], k: 2 }),
  nodes: cypher("MATCH (c:City) RETURN c.name, c.size, c.tags ORDER BY c.name"),
  relationships: cypher("MATCH (a)-[r:NEAR]->(b) RETURN a.name, r.km, b.name ORDER BY r.km"),
  paths: cypher("MATCH (a:City {name: 'Faro'})-[:NEAR*1..3]->(b) RETURN b.name ORDER BY b.name"),
  "indexes of the graph": get("/v1/graph/indexes"),
  memories: get("/v1/ai/memory/helper"),
  "a recollection": post("/v1/ai/memory/helper/recall", { query: "what does Ann drink", k: 1 }),
  chats: get("/v1/ai/sessions"),
  models: get("/v1/automl/models"),
  predictions: post("/v1/automl/models/kept/predict", { rows: trainingRows(4).map(({ good: _good, ...row }) => row) }),
  jobs: get("/v1/automl/jobs"),
  recipes: get("/v1/recipes/kept-counters"),
  "what the recipe made": sql("SELECT name, value FROM counters"),
  backups: get("/v1/backups"),
  users: get(`/admin/tenants/${TENANT}/users`),
  keys: get("/v1/api-keys"),
};

/**
 * How long an answer took, how far an index in memory is, and numbers that another way of computing may round
 * differently.
 */
const PASSING =
  /^(execution_time_ms|meta|request_id|took_ms|elapsed_ms|processing_time_ms|duration_ms|micros|last_used|usage_count|last_login|relevance|similarity|score|distance|progress|state|items|items_waiting)$/;

/** The answer's data without what differs each time it is asked. */
export function lasting(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lasting);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !PASSING.test(key))
      .map(([key, inner]) => [key, lasting(inner)]),
  );
}

/** Fills a new server, and says what it answers then. */
export async function fill(server: TestServer): Promise<Pick<Recorded, "apiKey" | "totpSecret" | "reads">> {
  const as = { token: await server.tenant(TENANT, ["super_admin"]) };
  const need = async (status: number, method: string, path: string, body?: unknown) =>
    (await server.expect(status, method, path, body, as)).body;
  for (const text of [...TABLES, ...ROWS]) await server.rows(text, [], as);
  await server.rows(
    "INSERT INTO loans SELECT * FROM json_to_recordset($1::json) AS r(id int, age int, income float8, region text, note text, good text)",
    [JSON.stringify(trainingRows(120))],
    as,
  );
  await need(201, "POST", "/v1/collections", { name: "article" });
  for (const [id, body] of [
    ["first", { title: "Harbour", tags: ["sea", "town"], deep: { list: [1, { a: null }] } }],
    ["second", { title: "Hill", tags: ["walk"], n: 1.5 }],
  ] as const) {
    await need(201, "POST", "/v1/collections/article/documents", { id, ...body });
  }
  await need(201, "POST", "/v1/vectors/collections", { name: "shape", dimensions: 3, metric: "cosine" });
  await need(201, "POST", "/v1/vectors/collections/shape/vectors", {
    vectors: [
      { id: "a", vector: [1, 0, 0], metadata: { colour: "red" } },
      { id: "b", vector: [0, 1, 0], metadata: { colour: "blue" } },
      { id: "c", vector: [0.9, 0.2, 0] },
    ],
  });
  for (const text of [
    "CREATE INDEX city_name FOR (c:City) ON (c.name)",
    "CREATE (a:City {name: 'Faro', size: 64000, tags: ['sea']}), (b:City {name: 'Olhão'}), (c:City:Capital {name: 'Lisboa', size: 5.5e5}), (a)-[:NEAR {km: 9}]->(b), (b)-[:NEAR {km: 280}]->(c)",
  ]) {
    await need(200, "POST", "/v1/graph/match", { cypher: text });
  }
  await need(201, "POST", "/v1/ai/memory/helper", { content: "Ann prefers tea", metadata: { who: "Ann" } });
  await need(200, "PUT", "/v1/ai/memory/helper/lunch", { content: "Lunch is at noon" });
  const { session_id } = await need(201, "POST", "/v1/ai/sessions", { system_prompt: "be kind" });
  await need(200, "POST", "/v1/ai/chat", { session_id, content: "Say hello.", max_tokens: 8 });
  await need(200, "POST", "/v1/automl/train", {
    ...{
      collection: "loans",
      target: "good",
      name: "kept",
      features: ["age", "income", "region"],
      seed: 7,
      max_trials: 1,
    },
    ...{ algorithms: ["linear"], task_type: "binary_classification", async_mode: false },
  });
  await server.expect(201, "POST", "/v1/recipes/import", RECIPE, {
    ...as,
    headers: { "content-type": "application/yaml" },
  });
  await need(200, "POST", "/v1/recipes/kept-counters/execute", { parameters: { by: 3 } });
  const { raw_key: apiKey } = await need(201, "POST", "/v1/api-keys", { name: "kept", permission: "ReadOnly" });
  await need(201, "POST", `/admin/tenants/${TENANT}/users`, {
    username: "guarded",
    password: PASSWORD,
    roles: ["user"],
  });
  const guarded = { token: await server.login("guarded", PASSWORD) };
  const enrolled = (await server.expect(200, "POST", "/v1/auth/mfa/enroll", {}, guarded)).body.data;
  const totpSecret = enrolled.secret as string;
  await server.expect(
    200,
    "POST",
    "/v1/auth/mfa/confirm",
    { code: new TOTP({ secret: totpSecret }).generate() },
    guarded,
  );
  const { id } = (await need(202, "POST", "/v1/backups", {})).data;
  while ((await need(200, "GET", `/v1/backups/${id}`)).data.status === "running") {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const reads = [];
  const asks = { ...READS, "the chat's messages": get(`/v1/ai/sessions/${session_id}/messages`) };
  for (const [what, ask] of Object.entries(asks)) {
    const { status, body } = await server.call(ask.method, ask.path, ask.body, as);
    if (status !== 200) throw new Error(`${what} answered ${status}: ${JSON.stringify(body)}`);
    reads.push({ what, ask, answer: lasting(body.data) });
  }
  return { apiKey, totpSecret, reads };
}
