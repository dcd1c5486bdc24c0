/** What newcomers get wrong, area by area: each is a 4xx that names the place and what to do about it. */
import t from "tap";
import { ERRORS } from "../../src/protocol/errors.js";
import { type CallOptions, TestServer } from "./server.js";
import { SocketClient } from "./socket-client.js";

const server = await TestServer.start({ TESSERA_NLI_ENABLED: "true" });
t.teardown(() => server.stop());

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

await server.rows("CREATE TABLE city (id int PRIMARY KEY, name text NOT NULL, people bigint)");
await server.rows("INSERT INTO city VALUES (1, 'Lisbon', 545000)");
const books = { fields: [{ name: "title", type: "string", required: true }] };
await server.expect(201, "POST", "/v1/collections", { name: "books", schema: books });
await server.expect(201, "POST", "/v1/vectors/collections", { name: "paint", dimensions: 3 });
const transaction: string = (await server.expect(201, "POST", "/v1/transactions")).body.data.id;
const readOnly: string = (await server.expect(201, "POST", "/v1/api-keys", { name: "reader", permission: "ReadOnly" }))
  .body.raw_key;

/** What is sent, and what message and hint say about it. */
type Mistake = readonly [
  method: string,
  path: string,
  body: unknown,
  status: number,
  message: RegExp | string,
  hint?: RegExp | string,
  options?: CallOptions,
];

const sql = (text: string, ...told: readonly [RegExp | string, (RegExp | string)?]): Mistake => [
  "POST",
  "/v1/query/execute",
  { sql: text },
  400,
  ...told,
];
const cypher = (text: string, ...told: readonly [RegExp | string, (RegExp | string)?]): Mistake => [
  "POST",
  "/v1/graph/match",
  { cypher: text },
  400,
  ...told,
];

const MISTAKES: Readonly<Record<string, readonly Mistake[]>> = {
  SQL: [
    sql("SELCT * FROM city", /at or near "SELCT"/, "Did you mean SELECT?"),
    sql("SELECT * FROM citys", /"citys" does not exist/, "Did you mean city?"),
    sql('SELECT * FROM city WHERE name = "Lisbon"', /"Lisbon" does not exist/, /'Lisbon'/),
    sql("SELECT * FROM city WHERE id = $1", "the statement takes 1 parameter, but 0 were sent", /\$1, \$2/),
    sql("SELECT substr()", /function substr\(\) does not exist/, /^There are substr\(text, integer\)/),
    sql(
      "SELECT EMBED(5)",
      /function embed\(integer\) does not exist/,
      /^There are embed\(text\), embed\(text, text\)\./,
    ),
    [
      "POST",
      "/v1/query/execute",
      { sqll: "SELECT 1" },
      400,
      /Unknown field "sqll". Known: sql,/,
      'Did you mean "sql"?',
    ],
    ["POST", "/v1/query/execute", {}, 400, 'Missing field "sql".', 'Send "sql": a string.'],
    ["POST", "/v1/query/execute", "SELECT 1", 400, /not valid JSON: .* at position 0 \(line 1, column 1\)/],
    ["POST", "/v1/query/execute", "[1]", 400, /^The body must be an object \(fields: sql, .*\), not an array\.$/],
    [
      "POST",
      "/v1/query/execute",
      { sql: "SELECT 1", max_rows: "10" },
      400,
      /^The field "max_rows" must be a whole number from 1 to 10000000, not a string; leave the quotes out\.$/,
    ],
    ["GET", "/v1/query/execute", undefined, 405, /does not serve GET, only POST/],
    ["GET", "/v1/schema/tables/citys", undefined, 404, /"citys" does not exist/, "Did you mean city?"],
  ],
  documents: [
    ["POST", "/v1/collections/boks/documents", { title: "x" }, 404, /"boks" does not exist/, "Did you mean books?"],
    ["POST", "/v1/collections/elsewhere/documents", { title: "x" }, 404, /does not exist/, /GET \/v1\/collections/],
    ["POST", "/v1/collections/books/documents", { title: 5 }, 400, /title: must be a string, not a number/],
    ["GET", "/v1/collections/books/documents?limit=many", undefined, 400, /"limit" must be a whole number/],
    ["POST", "/v1/collections/books/search", { query: "x", limit: 0 }, 400, /"limit" must be from 1 to \d+, not 0/],
    ["POST", "/v1/collections/books/search", { query: "x", filtr: {} }, 400, /"filtr"/, /Did you mean "filters?"/],
  ],
  vectors: [
    ["POST", "/v1/vectors/collections", { name: "p" }, 400, 'Missing field "dimensions".', /a whole number from 1 to/],
    ["POST", "/v1/vectors/collections", { name: "p", dimension: 3 }, 400, /"dimension"/, 'Did you mean "dimensions"?'],
    ["POST", "/v1/vectors/collections/pain/search", { vector: [1, 2, 3] }, 404, /"pain" does/, "Did you mean paint?"],
    ["POST", "/v1/vectors/collections/paint/search", { vector: [1, 2] }, 400, /"vector" has 2 numbers, .* have 3/],
    [
      "POST",
      "/v1/vectors/collections/paint/search",
      { vector: "[1,2,3]" },
      400,
      /"vector" must be an array of numbers/,
    ],
    [
      "POST",
      "/v1/vectors/collections/paint/search",
      { vector: [1, 2, 3], filters: {} },
      400,
      /"filters"/,
      /"filter"\?/,
    ],
  ],
  graph: [
    cypher("MTCH (n) RETURN n", /offset 0 \(line 1, column 1\)/, "Did you mean MATCH?"),
    cypher("MATCH (n) RETRUN n", /offset 10/, "Did you mean RETURN?"),
    cypher("SELECT * FROM city", /offset 0/, /SQL.*\/v1\/query\/execute/),
    cypher("SHOW TABLES", /offset 0/, "SHOW TABLES is SQL. Send it to POST /v1/query/execute."),
    cypher("show tables;", /offset 0/, "SHOW TABLES is SQL. Send it to POST /v1/query/execute."),
    cypher("SHOW GRAPHS", /offset 0/, "GET /v1/graph/graphs lists the graphs."),
    cypher("SHOW LABELS", /offset 0/, "CALL db.labels() lists the labels."),
    cypher("SHOW", /offset 0/, /^In Cypher, SHOW lists INDEXES/),
    cypher("MATCH (n) RETURN m", /`m` is not defined/),
    ["POST", "/v1/graph/algorithms", { algorithm: "pagerankk" }, 400, /pagerankk/, /Did you mean "pageRank"\?/],
    [
      "POST",
      "/v1/graph/algorithms",
      { algorithm: "page_rank", options: { damping_factor: 5 } },
      400,
      'The option "damping_factor" must be at least 0 and less than 1, not 5.',
    ],
    ["POST", "/v1/graph/graphs", { name: "a b" }, 400, /"name" must be 1 to 63 characters of letters, digits/],
    ["GET", "/v1/graph/nodes/abc", undefined, 400, /path variable "id" must be a whole number/],
  ],
  "embeddings and models": [
    ["POST", "/v1/ai/embeddings", { text: ["a"] }, 400, /"text" must be a string, not an array/],
    ["POST", "/v1/ai/embeddings", { text: "" }, 400, /"text" must not be empty/],
    ["POST", "/v1/ai/embeddings", { text: "a", model: "gpt" }, 404, /no model "gpt"; installed: /, /PULL_MODEL/],
    ["POST", "/v1/ai/embeddings/batch", { texts: "a" }, 400, /"texts" must be an array of strings, not a string/],
    ["POST", "/v1/ai/classify", { text: "x", categories: "a" }, 400, /"categories" must be an array of strings/],
  ],
  claims: [
    ["POST", "/v1/ai/nli/verify", { statement: "x" }, 400, /"truth_anchors"/],
    ["POST", "/v1/ai/nli/verify", { statement: "x", anchors: ["x"] }, 400, /"anchors"/, /"truth_anchors"/],
    ["POST", "/v1/ai/nli/verify", { statement: "x", truth_anchors: ["x"], model: "gpt" }, 404, /"gpt"/, /nli\/models/],
    ["POST", "/v1/ai/nli/pairs", { pairs: [["a", "b"]] }, 400, /pairs\[0\] must be/],
    sql("SELECT NLI_VERIFY('x', '[]')", /nli_verify/, /^There is nli_verify\(text, text, json or text\[\]/),
  ],
  chat: [
    ["POST", "/v1/ai/chat", {}, 400, /content: must be a text/],
    ["POST", "/v1/ai/chat", { session_id: "nope", content: "x" }, 404, /"nope" does not exist/, /ai\/sessions/],
    ["POST", "/v1/ai/chat", { content: "x", temperature: 9 }, 400, /"temperature" must be from 0 to 2, not 9/],
    ["POST", "/v1/ai/sessions", { model: "gpt-4o" }, 404, /no model "gpt-4o"/],
    ["PUT", "/v1/ai/provider", { provider: "openai" }, 400, /"api_key" is missing/, /api_key/],
  ],
  agents: [
    sql("SELECT AGENT_RUN('x')", /agent_run/, /^There are agent_run\(text, text/),
    sql(
      "SELECT AGENT_RUN('x', 'y', '{\"max_step\":3}')",
      /no option "max_step"/,
      /Did you mean "max_steps"\? Options: /,
    ),
    sql("SELECT GENERATE('x', '{\"max_tokens\":\"9\"}')", /"max_tokens" must be a whole number .*, not a string/),
    sql("CREATE AGENT a WITH (tools = 'x')", /"tools" must be an array of strings/, /^Options: /),
    sql("EXECUTE AGENT nosuch 'x'", /agent "nosuch" does not exist/, /SHOW AGENTS/),
  ],
  AutoML: [
    ["POST", "/v1/automl/train", { dataset_id: "nosuch", target_column: "x" }, 404, /"nosuch" does not exist/],
    ["POST", "/v1/automl/train", { dataset_id: "city", target_column: "peple" }, 400, /no column "peple"/],
    [
      "POST",
      "/v1/automl/train",
      { dataset_id: "city", target: "id", max_trials: 0 },
      400,
      /"max_trials" must be from 1/,
    ],
    ["POST", "/v1/automl/train", { dataset_id: "city", target: "id", algorithms: "x" }, 400, /must be an array/],
    ["GET", "/v1/automl/jobs/nope", undefined, 404, /"nope" does not exist/, /automl\/jobs/],
  ],
  memory: [
    ["POST", "/v1/ai/memory/notes", { contents: "x" }, 400, /"contents"/, 'Did you mean "content"?'],
    ["POST", "/v1/ai/memory/my%20notes", { content: "x" }, 400, /"namespace" must be 1 to 55 characters of letters/],
    sql("SELECT MEMORY_STORE('notes')", /memory_store/, /^There are memory_store\(text, text\)/),
    sql("SELECT MEMORY_STORE('notes', 'x', 'y')", /the metadata of a memory must be a JSON object, not "y"/),
    ["DELETE", "/v1/ai/memory/nosuch", undefined, 404, /namespace not found/],
  ],
  files: [
    ["POST", "/v1/filesystem-collections", { name: "f" }, 400, /"watch_dir"/],
    ["POST", "/v1/filesystem-collections", { name: "f", watch_dir: "/etc" }, 403, /permission/, /roots/],
    [
      "POST",
      "/v1/filesystem-collections",
      { name: "f", watchdir: "/x" },
      400,
      /"watchdir"/,
      'Did you mean "watch_dir"?',
    ],
    ["POST", "/v1/filesystem-collections", { name: "f", watch_dir: 5 }, 400, /"watch_dir" must be a string, not a/],
    ["GET", "/v1/filesystem-collections/nope", undefined, 404, /"nope" does not exist/, /filesystem-collections/],
  ],
  multimodal: [
    ["POST", "/v1/multimodal/transcribe", {}, 400, /"audio" is missing/],
    ["POST", "/v1/multimodal/search", { query: "cat" }, 400, /"query" must be an object \(fields: .*text.*\), not a/],
    ["POST", "/v1/multimodal/describe", { image: `data:image/png;base64,${PNG}` }, 400, /base64 alone/],
    [
      "POST",
      "/v1/multimodal/embed",
      { input: { image_url: "data:image/svg+xml,<svg/>" } },
      400,
      /^input\.image_url: a "data:" address must hold base64/,
      /;base64,/,
    ],
    [
      "POST",
      "/v1/multimodal/search",
      { query: { text: "a" }, modalities: ["picture"] },
      400,
      /one of text, image, audio/,
    ],
  ],
  "import and export": [
    ["POST", "/v1/data/import/csv?table=nosuch", "a\n1", 404, /"nosuch" does not exist/, /create=true/],
    ["POST", "/v1/data/import/csv?table=city", "idd,name\n5,x", 400, /column "idd"/, "Did you mean id?"],
    ["POST", "/v1/data/import/csv?tabel=city", "id\n5", 400, /"tabel"/, 'Did you mean "table"?'],
    ["POST", "/v1/data/import/csv?table=city&create=yes", "id\n5", 400, /"create" must be one of true, false/],
    [
      "POST",
      "/v1/data/import/ndjson?table=city",
      "{id: 5}",
      400,
      /^Line 1 is not valid JSON: .*double quotes.* position 1/,
    ],
    ["POST", "/v1/query/script", { sql: "SELECT 1" }, 400, /at or near "\{"/, /script itself, not JSON/],
    ["GET", "/v1/data/export?table=city&format=xlsx", undefined, 400, /"format" must be one of csv, ndjson/],
  ],
  transactions: [
    sql("BEGIN", /POST \/v1\/transactions/),
    sql("SAVEPOINT s", /SAVEPOINT/, /POST \/v1\/transactions/),
    ["POST", "/v1/transactions", { timeout_secs: "10" }, 400, /"timeout_secs" must be a number .*leave the quotes out/],
    ["POST", "/v1/transactions/nope/commit", undefined, 404, /"nope" does not exist/, /POST \/v1\/transactions/],
    ["POST", `/v1/transactions/${transaction}/savepoint`, {}, 400, 'Missing field "name".', /Send "name"/],
    ["POST", `/v1/transactions/${transaction}/execute`, { sql: "COMMIT" }, 400, /still open/, /\/commit/],
  ],
  backups: [
    ["POST", "/v1/backups", { increment: true }, 400, /"increment"/, 'Did you mean "incremental"?'],
    ["GET", "/v1/backups/nope", undefined, 404, /"nope" does not exist/],
    ["POST", "/v1/backup-schedules", {}, 400, 'Missing field "cron".'],
    ["POST", "/v1/backup-schedules", { cron: "every day" }, 400, /^cron: "every day" is no schedule/, /0 3 \* \* \*/],
    ["POST", "/v1/backup-schedules", { cron: "0 3 * * *", timezone: "Moon" }, 400, /^timezone: "Moon"/, /Europe/],
    ["POST", "/v1/backups", {}, 403, /ReadOnly/, undefined, { token: readOnly }],
  ],
  "sign-in, keys and tenants": [
    ["POST", "/v1/auth/login", { username: "admin" }, 400, 'Missing field "password".', undefined, { token: null }],
    ["POST", "/v1/auth/login", { username: "admin", password: "wrong" }, 401, /password/, undefined, { token: null }],
    ["GET", "/v1/users/me", undefined, 401, /Authorization: Bearer/, undefined, { token: null }],
    ["GET", "/v1/users/me", undefined, 401, /token is not valid; POST \/v1\/auth\/login/, undefined, { token: "nope" }],
    ["GET", "/v1/users/me", undefined, 401, /API key is not valid/, undefined, { token: "ak_nope" }],
    ["GET", "/v1/users/me", undefined, 401, /API key is not valid/, undefined, { token: "tessera_sk_nope" }],
    [
      "POST",
      "/v1/api-keys",
      { name: "x", permission: "readonly" },
      400,
      /"permission" must be one of ReadOnly, FullAccess/,
    ],
    [
      "POST",
      "/admin/tenants",
      { id: "Acme Corp" },
      400,
      /"id" must be 1 to 63 characters of small letters, digits, _, -/,
    ],
    ["POST", "/admin/tenants/nosuch/users", { username: "u", password: "long-enough" }, 404, /"nosuch" does not exist/],
  ],
  subscriptions: [
    ["GET", "/v1/subscribe", undefined, 400, /"collection", "table"/],
    ["GET", "/v1/subscribe?collection=boks", undefined, 404, /"boks" does not exist/, "Did you mean books?"],
    ["GET", "/v1/subscribe?colection=books", undefined, 400, /"colection"/, 'Did you mean "collection"?'],
    ["GET", "/v1/subscribe?collection=books&filter=x", undefined, 400, /"filter" is not valid JSON/],
    ["GET", "/v1/subscribe?sql=SELECT%201&parameters=1", undefined, 400, /"parameters" must be a list or an object/],
    ["POST", "/v1/subscribe", { collection: "books" }, 405, /does not serve POST, only GET/],
  ],
};

const holds = (told: string | undefined, expected: RegExp | string): boolean =>
  typeof expected === "string" ? told === expected : expected.test(told ?? "");

for (const [area, mistakes] of Object.entries(MISTAKES)) {
  t.test(area, async (t) => {
    t.ok(mistakes.length >= 5);
    for (const [method, path, body, status, message, hint, options] of mistakes) {
      const reply = await server.call(method, path, body, options);
      const what = `${method} ${path} ${JSON.stringify(body)?.slice(0, 100) ?? ""}: ${JSON.stringify(reply.body.error)}`;
      const error = reply.body.error ?? {};
      t.equal(reply.status, status, what);
      t.ok(Object.hasOwn(ERRORS, error.code), what);
      t.ok(holds(error.message, message), what);
      if (hint !== undefined) t.ok(holds(error.details?.hint, hint), what);
    }
  });
}

t.test("WebSocket", async (t) => {
  const socket = await SocketClient.open(server.url, "/v1/ws", { authorization: `Bearer ${server.token}` });
  t.teardown(() => socket.destroy());
  const told = async (message: object | string) => {
    socket.send(message);
    return socket.next();
  };
  t.match(await told("hello"), { type: "error", code: "invalid_json", message: /JSON object.*"type":"ping"/ });
  t.match(await told({}), { code: "invalid_request", message: /^Missing field "type"\. Known: .*ping/ });
  t.match(await told({ type: "sql.execute" }), { code: "invalid_request", message: /no message type "sql\.execute"/ });
  t.match(await told({ type: "query", sqll: "SELECT 1" }), { details: { hint: 'Did you mean "sql"?' } });
  t.match(await told({ type: "query", sql: 5 }), { message: 'The field "sql" must be a string, not a number.' });
  t.match(await told({ type: "subscribe", collection: "boks" }), { details: { hint: "Did you mean books?" } });
});
