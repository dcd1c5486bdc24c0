/** Vectors over HTTP, as clients send and read them: parameters, literals, operators, files, errors, restarts. */
import t from "tap";
import { TestServer } from "./server.js";

const server = await TestServer.start({ TESSERA_ACTORS: "1" });
t.teardown(() => server.stop());

const refusal = async (sql: string, params: unknown[] = []): Promise<string> => {
  const { status, body } = await server.sql(sql, params);
  return `${status} ${body.error?.details?.sqlstate} ${body.error?.message}`;
};

t.test("parameters and cells are lists of numbers", async (t) => {
  await server.rows("CREATE TABLE doc (id integer PRIMARY KEY, v vector(3), any_length vector, title text)");
  await server.rows(
    "CREATE INDEX doc_near ON doc USING HNSW (v vector_cosine_ops) WITH (m = 16, ef_construction = 100)",
  );
  await server.rows("INSERT INTO doc VALUES ($1, $2, $3, 'a'), ($4, $5, $6, 'b')", [
    1,
    [0.1, 0.2, -0.3],
    [1],
    2,
    "[1, 0, 0]",
    "[1,2,3,4]",
  ]);
  await server.rows("INSERT INTO doc VALUES (3, [0.5, 0.5, 0.5], NULL, 'c')");
  await server.rows("INSERT INTO doc (id, v) VALUES (4, ARRAY[0.25, 1, 2])");
  await server.rows("INSERT INTO doc (id, v) SELECT 5, $1::real[]", [[1e-7, 3e38, 2]]);
  t.same(await server.rows("SELECT id, v, any_length FROM doc ORDER BY id"), [
    [1, [0.1, 0.2, -0.3], [1]],
    [2, [1, 0, 0], [1, 2, 3, 4]],
    [3, [0.5, 0.5, 0.5], null],
    [4, [0.25, 1, 2], null],
    [5, [1e-7, 3e38, 2], null],
  ]);
  const described = await server.sql("SELECT v, any_length FROM doc LIMIT 0");
  t.match(described.body.data.columns, [{ data_type: "vector(3)" }, { data_type: "vector" }]);
  const [[cell]] = (await server.rows("SELECT v FROM doc WHERE id = 1")) as [[number[]]];
  t.same(await server.rows("SELECT id FROM doc WHERE v = $1", [cell]), [[1]], "a cell comes back as a parameter");
});

t.test("nearest rows", async (t) => {
  await server.rows("DELETE FROM doc WHERE id > 3");
  const query = [0.9, 0.1, 0];
  t.same(await server.rows("SELECT id FROM doc ORDER BY v <-> $1 LIMIT 2", [query]), [[2], [3]]);
  t.same(await server.rows("SELECT id FROM doc ORDER BY v <=> [0.9, 0.1, 0] LIMIT 1"), [[2]]);
  t.same(await server.rows("SELECT id, (v <#> $1)::numeric(4,2) AS d FROM doc ORDER BY d LIMIT 2", [query]), [
    [2, -0.9],
    [3, -0.5],
  ]);
  t.same(
    await server.rows(
      "SELECT id, ROUND(COSINE_SIMILARITY(v, $1)::numeric, 3) AS s FROM doc WHERE title <> 'x' ORDER BY s DESC LIMIT 1",
      [query],
    ),
    [[2, 0.994]],
  );
  t.same(
    await server.rows(
      "SELECT EUCLIDEAN_DISTANCE(v, $1), L2_DISTANCE(v, $1), INNER_PRODUCT(v, $1), DOT_PRODUCT(v, $1), v <+> $1 FROM doc WHERE id = 2",
      [[1, 3, 4]],
    ),
    [[5, 5, 1, 1, 7]],
  );
  t.same(
    await server.rows("SELECT COSINE_SIMILARITY($1, $2), $1 <-> $2", [
      [1, 0],
      [0, 2],
    ]),
    [[0, Math.sqrt(5)]],
  );
  t.same(await server.rows("SELECT avg(v), sum(v), count(DISTINCT v) FROM doc WHERE id > 1"), [
    [[0.75, 0.25, 0.25], [1.5, 0.5, 0.5], 2],
  ]);
  t.same(await server.rows("SELECT id FROM doc WHERE v <-> $1 < 0.3", [query]), [[2]]);
});

t.test("what is refused", async (t) => {
  t.equal(await refusal("INSERT INTO doc (id, v) VALUES (9, $1)", [[1, 2]]), "400 22000 expected 3 dimensions, not 2");
  t.equal(await refusal("INSERT INTO doc (id, v) VALUES (9, [1, 2])"), "400 22000 expected 3 dimensions, not 2");
  t.equal(
    await refusal("INSERT INTO doc (id, v) VALUES (9, $1)", [[1, 2, "x"]]),
    "400 22P02 members of a vector must be numbers",
  );
  t.equal(await refusal("INSERT INTO doc (id, v) VALUES (9, '[1,NaN,2]')"), "400 22000 NaN not allowed in vector");
  t.equal(
    await refusal("INSERT INTO doc (id, any_length) VALUES (9, '[]')"),
    "400 22000 vector must have at least 1 dimension",
  );
  t.equal(await refusal("SELECT v <-> $1 FROM doc", [[1, 2]]), "400 22000 different vector dimensions 3 and 2");
  t.equal(await refusal("SELECT '[1,2'::vector"), '400 22P02 invalid input syntax for type vector: "[1,2"');
  t.equal(await refusal("SELECT '[1]'::vector(0)"), "400 22023 dimensions for type vector must be at least 1");
  t.equal(
    await refusal("CREATE TABLE wide (v vector(16001))"),
    "400 22023 dimensions for type vector cannot exceed 16000",
  );
  t.match(await refusal("SELECT '[1,2]'::vector::int"), /^400 42846 cannot cast type vector to integer/);
});

t.test("casts", async (t) => {
  t.same(
    await server.rows(`SELECT ARRAY[1,2]::vector, ARRAY[1.5,2]::numeric[]::vector(2), '{1,2}'::float8[]::vector::text,
      '[1,2.5]'::vector::real[], '[1,2.5]'::vector::float8[]::text, '[0.1,2]'::vector::text, '[1, 2]'::jsonb::vector,
      ('{"e": [3, 4.5]}'::jsonb -> 'e')::vector, to_jsonb('[0.1,2]'::vector)`),
    [[[1, 2], [1.5, 2], "[1,2]", [1, 2.5], "{1,2.5}", "[0.1,2]", [1, 2], [3, 4.5], [0.1, 2]]],
  );
  t.match(await refusal("SELECT ARRAY[1,NULL]::vector"), /^400 22004 array must not contain nulls/);
  t.match(await refusal("SELECT ARRAY[[1],[2]]::vector"), /^400 22000 array must be 1-D/);
  t.match(await refusal(`SELECT '[1, "a"]'::jsonb::vector`), /^400 22023 cannot cast jsonb string/);
  t.match(await refusal(`SELECT '{}'::jsonb::vector`), /^400 22023 cannot cast jsonb object to type vector/);
});

t.test("files in and out", async (t) => {
  const send = (path: string, body: string) =>
    server.call("POST", path, body, { headers: { "content-type": "application/octet-stream" } });
  await server.rows("CREATE TABLE item (id integer PRIMARY KEY, v vector(3))");
  await server.rows("CREATE INDEX item_near ON item USING hnsw (v) WITH (metric = 'l2')");
  const csv = 'id,v\n1,"[0.1,2,3]"\n2," [4, 5, 6e-3] "\n3,\n';
  t.match((await send("/v1/data/import/csv?table=item", csv)).body.data, { rows: 3 });
  const lines = '{"id": 4, "v": [0.5, 1, 2]}\n{"id": 5, "v": "[7,8,9]"}\n{"id": 6, "v": null}\n';
  t.match((await send("/v1/data/import/ndjson?table=item", lines)).body.data, { rows: 3 });
  t.same(await server.rows("SELECT id, v FROM item ORDER BY id"), [
    [1, [0.1, 2, 3]],
    [2, [4, 5, 0.006]],
    [3, null],
    [4, [0.5, 1, 2]],
    [5, [7, 8, 9]],
    [6, null],
  ]);
  for (const [path, body, error] of [
    ["csv", 'id,v\n7,"[1,2]"\n', "expected 3 dimensions, not 2"],
    ["csv", 'id,v\n7,"[1,2,x]"\n', "invalid input syntax for type vector"],
    ["ndjson", '{"id": 7, "v": [1, 2]}\n', "expected 3 dimensions, not 2"],
    ["ndjson", '{"id": 7, "v": [1, 2, "3"]}\n', "members of a vector must be numbers"],
  ]) {
    const { status, body: reply } = await send(`/v1/data/import/${path}?table=item`, body!);
    t.equal(status, 400);
    t.match(reply.error.message, error, error);
  }
  let bulk = "";
  for (let i = 1000; i < 6000; i++) bulk += `{"id": ${i}, "v": [${i}, 0, ${i / 8}]}\n`;
  t.match((await send("/v1/data/import/ndjson?table=item", bulk)).body.data, { rows: 5000 });
  t.same(await server.rows("SELECT id FROM item ORDER BY v <-> '[4000,0,500]' LIMIT 2"), [[4000], [3999]]);
});

t.test("after a restart", async (t) => {
  await server.kill();
  await server.boot();
  t.same(await server.rows("SELECT v FROM doc WHERE id = 1"), [[[0.1, 0.2, -0.3]]]);
  t.same(await server.rows("SELECT indexdef FROM pg_indexes WHERE indexname = 'doc_near'"), [
    ["CREATE INDEX doc_near ON public.doc USING hnsw (v vector_cosine_ops) WITH (m='16', ef_construction='100')"],
  ]);
  const indexes = await server.call("GET", "/v1/schema/tables/doc/indexes");
  t.match(indexes.body.data, [
    { name: "doc_pkey" },
    { name: "doc_near", type: "hnsw", columns: ["v"], is_unique: false },
  ]);
  await server.rows("DROP INDEX doc_near");
});

t.test("a map gives vectors places, those that are alike beside each other", async (t) => {
  await server.rows("CREATE TABLE placed (id integer PRIMARY KEY, kind integer, v vector(8), note text)");
  // Three kinds around three corners, and one row without a vector.
  await server.rows(
    `INSERT INTO placed SELECT i, i % 3,
       (SELECT array_agg(CASE WHEN d = i % 3 THEN 1 ELSE 0.05 * ((i * (d + 7)) % 11) / 11 END) FROM generate_series(0, 7) d)::vector,
       '<b>' || i FROM generate_series(1, 120) i`,
  );
  await server.rows("INSERT INTO placed VALUES (1000, 0, NULL, 'no vector')");
  const map = async (more: object) =>
    (await server.expect(200, "POST", "/v1/vectors/map", { sql: "SELECT id, kind, v, note FROM placed", ...more })).body
      .data;
  for (const method of ["neighbours", "principal"]) {
    const { columns, rows, x, y, column, dimensions, truncated } = await map({ method });
    t.same([column, dimensions, truncated, rows.length], ["v", 8, false, 120]);
    t.same(
      columns.map(({ name }: { name: string }) => name),
      ["id", "kind", "note"],
    );
    t.ok([...x, ...y].every((value: number) => value >= -1 && value <= 1));
    t.equal(rows.filter((row: unknown[], i: number) => row[1] === rows[nearestTo(i, x, y)]![1]).length, 120, method);
  }
  t.same((await map({ max_points: 50 })).rows.length, 50);
  t.same((await map({ max_points: 50 })).truncated, true);
  t.same(await map({ max_points: 60 }), await map({ max_points: 60 }), "the same again");
  t.same((await map({ sql: "SELECT v FROM placed WHERE id = $1", parameters: [1] })).rows, [[]]);
  t.same((await map({ sql: "SELECT v FROM placed WHERE false" })).x, []);
});

t.test("a tenant has one map at a time", async (t) => {
  const sql = "SELECT v FROM placed";
  const maps = await Promise.all([1, 2, 3].map(() => server.call("POST", "/v1/vectors/map", { sql })));
  const codes = maps.map(({ status, body }) => (status === 200 ? "done" : body.error.code)).sort();
  t.match(codes, ["done", "overloaded", "overloaded"]);
  t.equal((await server.call("POST", "/v1/vectors/map", { sql })).status, 200, "the next one is computed");
});

t.test("a map refuses what has no vectors, and what changes rows", async (t) => {
  const refused = async (body: object): Promise<unknown> => {
    const { body: answer } = await server.expect(400, "POST", "/v1/vectors/map", body);
    return answer.error.details?.field;
  };
  t.equal(await refused({ sql: "SELECT 1 AS one" }), "sql");
  t.equal(await refused({ sql: "SELECT id, v FROM placed", column: "id" }), "column");
  t.equal(await refused({ sql: "SELECT '[1,2]'::vector AS v UNION ALL SELECT '[1]'::vector" }), "sql");
  t.equal(await refused({ sql: "SELECT v FROM placed", metric: "nearness" }), "metric");
  for (const sql of ["CREATE TABLE made (id integer PRIMARY KEY)", "DELETE FROM placed RETURNING v"]) {
    t.match((await server.expect(403, "POST", "/v1/vectors/map", { sql })).body.error.message, /ReadOnly/);
  }
  t.same(await server.rows("SELECT count(*) FROM placed"), [[121]]);
});

function nearestTo(index: number, x: readonly number[], y: readonly number[]): number {
  const distance = (i: number): number => (i === index ? Infinity : Math.hypot(x[i]! - x[index]!, y[i]! - y[index]!));
  return x.reduce((best, _, i) => (distance(i) < distance(best) ? i : best), index === 0 ? 1 : 0);
}
