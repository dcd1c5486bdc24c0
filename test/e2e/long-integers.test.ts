/**
 * Whole numbers beyond 2^53 in bodies: kept to the digit as values of columns and properties, refused where a number is
 * a double.
 */
import { pack } from "msgpackr";
import t from "tap";
import { TestServer } from "./server.js";

const server = await TestServer.shared();
t.teardown(() => server.stop());

const LONG = "9007199254740993";
const post = (path: string, body: string | Uint8Array, headers: Record<string, string> = {}) =>
  server.call("POST", path, body, { headers: { "content-type": "application/json", ...headers } });
const query = (sql: string, parameters: string) =>
  post("/v1/query/execute", `{"sql": ${JSON.stringify(sql)}, "parameters": ${parameters}}`);

t.test("parameters of statements", async (t) => {
  const one = await query("SELECT $1 AS a, $2 AS b", `[${LONG}, -12345678901234567890]`);
  t.same(one.body.data.rows, [[LONG, "-12345678901234567890"]]);
  t.same(
    one.body.data.columns.map((column: { data_type: string }) => column.data_type),
    ["bigint", "numeric"],
  );
  await server.rows("CREATE TABLE item (id bigint PRIMARY KEY, n numeric, j jsonb)");
  const values = `[9223372036854775807, 1234567890123456789012345, {"a": [${LONG}]}]`;
  t.equal((await query("INSERT INTO item VALUES ($1, $2, $3)", values)).status, 200);
  t.same(await server.rows("SELECT id::text, n::text, j::text FROM item"), [
    ["9223372036854775807", "1234567890123456789012345", `{"a": [${LONG}]}`],
  ]);
  t.same((await query("SELECT count(*) FROM item WHERE id = ANY($1)", "[[9223372036854775807, 1]]")).body.data.rows, [
    [1],
  ]);
  const beyond = await query("INSERT INTO item (id) VALUES ($1)", "[9223372036854775808]");
  t.match(beyond.body.error, { message: /"9223372036854775808" is out of range/, details: { sqlstate: "22003" } });
  const batch = await post(
    "/v1/query/execute/batch",
    `{"statements": [{"sql": "SELECT $1", "parameters": [${LONG}]}]}`,
  );
  t.same(batch.body.data.results[0].data.rows, [[LONG]]);
  t.same((await query("SELECT $1::float8, $2::float8", "[1e20, 100000000000000000000]")).body.data.rows, [
    [1e20, 1e20],
  ]);
  t.equal((await post("/v1/query/execute", `{"sql": "SELECT 1", "max_rows": ${LONG}0}`)).status, 400);
});

t.test("properties of a graph, also in MessagePack", async (t) => {
  const body = `{"cypher": "RETURN $a AS a, $m AS m", "parameters": {"a": ${LONG}, "m": {"x": [${LONG}]}}}`;
  t.same((await post("/v1/graph/match", body)).body.data.rows, [[LONG, { x: [LONG] }]]);
  const made = await post("/v1/graph/nodes", `{"label": "A", "properties": {"k": ${LONG}}}`);
  t.match(made, { status: 201, body: { data: { properties: { k: LONG } } } });
  const packed = pack({ label: "A", properties: { k: BigInt(LONG) } });
  const other = await post("/v1/graph/nodes", packed, { "content-type": "application/msgpack" });
  t.match(other, { status: 201, body: { data: { properties: { k: LONG } } } });
  t.same((await post("/v1/graph/match", '{"cypher": "MATCH (n:A) RETURN n.k"}')).body.data.rows, [[LONG], [LONG]]);
});

t.test("documents, whose numbers are doubles", async (t) => {
  await server.expect(201, "POST", "/v1/collections", { name: "note" });
  for (const body of [`{"id": "a", "n": ${LONG}}`, `{"id": "a", "deep": {"n": [${LONG}]}}`]) {
    const { status, body: reply } = await post("/v1/collections/note/documents", body);
    t.match([status, reply.error.message], [400, /9007199254740993 is too large .* send it as a string/]);
  }
  const found = await post("/v1/collections/note/search", `{"filter": {"n": ${LONG}}}`);
  t.match([found.status, found.body.error.message], [400, /send it as a string/]);
  await server.expect(201, "POST", "/v1/collections/note/documents", { id: "a", n: 2 ** 53, s: LONG });
  t.match((await server.call("GET", "/v1/collections/note/documents/a")).body.data, { n: 2 ** 53, s: LONG });
});
