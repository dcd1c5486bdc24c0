/** The main job, as a user does it: sign in, define a table, write and read, find it again after a restart. */
import t from "tap";
import { TestServer } from "./server.js";

const server = await TestServer.start();
t.teardown(() => server.stop());

t.test("create, insert, read back", async (t) => {
  const created = await server.sql(
    "CREATE TABLE book (id integer PRIMARY KEY, title text NOT NULL, price numeric(8,2), read boolean DEFAULT false)",
  );
  t.equal(created.status, 200);
  t.same(
    created.body.data.columns.map((column: { name: string }) => column.name),
    ["result"],
  );

  const inserted = await server.sql("INSERT INTO book (id, title, price) VALUES ($1, $2, $3), ($4, $5, $6)", [
    1,
    "Emma",
    "7.50",
    2,
    "Ulysses",
    12.25,
  ]);
  t.equal(inserted.status, 200);
  t.equal(inserted.body.data.rows_affected, 2);
  t.same(inserted.body.data.rows, []);

  const read = await server.sql("SELECT id, title, price, read FROM book WHERE id = $1", [1]);
  t.match(read.body, {
    data: {
      columns: [
        { name: "id", data_type: "integer", nullable: false },
        { name: "title", data_type: "text", nullable: false },
        { name: "price", data_type: "numeric(8,2)", nullable: true },
        { name: "read", data_type: "boolean", nullable: true },
      ],
      rows: [[1, "Emma", 7.5, false]],
    },
    meta: { request_id: String, timestamp: /^\d{4}-\d\d-\d\dT.*Z$/ },
  });
  t.notOk("rows_affected" in read.body.data, "a SELECT affects no rows");
  t.type(read.body.data.execution_time_ms, "number");
});

t.test("statements of every kind", async (t) => {
  t.same(await server.rows("UPDATE book SET price = price + 1 WHERE id = 2 RETURNING id, price"), [[2, 13.25]]);
  t.same(await server.rows("SELECT count(*), sum(price), max(title) FROM book"), [[2, 20.75, "Ulysses"]]);
  await server.rows("CREATE TABLE loan (book_id integer NOT NULL, who text NOT NULL)");
  await server.rows("INSERT INTO loan VALUES (1, 'Ann'), (1, 'Bob')");
  t.same(
    await server.rows(
      "SELECT b.title, l.who FROM book b LEFT JOIN loan l ON l.book_id = b.id ORDER BY b.title, l.who DESC",
    ),
    [
      ["Emma", "Bob"],
      ["Emma", "Ann"],
      ["Ulysses", null],
    ],
  );
  t.same(
    await server.rows(
      "SELECT b.title, count(l.who) FROM book b LEFT JOIN loan l ON l.book_id = b.id GROUP BY b.title ORDER BY 2 DESC LIMIT 1",
    ),
    [["Emma", 2]],
  );
  t.equal((await server.sql("DELETE FROM loan WHERE who = $1", ["Ann"])).body.data.rows_affected, 1);
  const plan = (await server.rows("EXPLAIN SELECT * FROM book WHERE id = 1")).flat().join("\n");
  t.match(plan, /book_pkey/);
});

t.test("errors say what and where", async (t) => {
  const syntax = await server.sql("SELECT * FORM book");
  t.equal(syntax.status, 400);
  t.match(syntax.body.error, {
    code: "syntax_error",
    message: /syntax error at or near/,
    details: { sqlstate: "42601", position: 10 },
  });
  t.match((await server.sql("SELECT * FROM nowhere")).body.error, { code: "query_error", message: /does not exist/ });
  const duplicate = await server.sql("INSERT INTO book (id, title) VALUES (1, 'again')");
  t.equal(duplicate.status, 409);
  t.match(duplicate.body.error.message, /duplicate key value violates unique constraint "book_pkey"/);
  const notNull = await server.sql("INSERT INTO book (id) VALUES (9)");
  t.match(notNull.body.error, { code: "constraint_violation", message: /null value in column "title"/ });
  t.equal((await server.sql("CREATE TABLE book (id integer)")).status, 409);
  t.match((await server.sql("SELECT $1::integer", [])).body.error.message, /takes 1 parameter, but 0 were sent/);
});

t.test("the row cap", async (t) => {
  const capped = await server.call("POST", "/v1/query/execute", {
    sql: "SELECT id FROM book ORDER BY id",
    max_rows: 1,
  });
  t.match(capped.body.data, { rows: [[1]], truncated: true });
});

t.test("MessagePack in and out", async (t) => {
  const { pack, unpack } = await import("msgpackr");
  const response = await fetch(`${server.url}/v1/query/execute`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${server.token}`,
      "content-type": "application/msgpack",
      accept: "application/msgpack",
    },
    body: pack({ sql: "SELECT id, title FROM book WHERE id = $1", parameters: [2] }),
  });
  t.equal(response.headers.get("content-type"), "application/msgpack");
  t.match(unpack(new Uint8Array(await response.arrayBuffer())), {
    data: { rows: [[2, "Ulysses"]] },
    meta: { request_id: String },
  });
});

t.test("batches and prepared statements", async (t) => {
  const batch = await server.expect(200, "POST", "/v1/query/execute/batch", {
    statements: [
      "INSERT INTO book (id, title) VALUES (3, 'Dune')",
      { sql: "SELECT nonsense" },
      { sql: "SELECT title FROM book WHERE id = $1", parameters: [3] },
    ],
  });
  t.match(batch.body.data.results, [
    { type: "success", data: { rows_affected: 1 } },
    { type: "error", error: { code: "query_error" } },
    { type: "success", data: { rows: [["Dune"]] } },
  ]);
  const whole = await server.call("POST", "/v1/query/execute/batch", {
    queries: ["INSERT INTO book (id, title) VALUES (4, 'Kim')", "INSERT INTO book (id, title) VALUES (3, 'again')"],
    transactional: true,
  });
  t.equal(whole.status, 409);
  t.equal(whole.body.error.details.statement, 1);
  t.same(await server.rows("SELECT id FROM book WHERE id = 4"), []);
  const begun = await server.expect(200, "POST", "/v1/query/execute/batch", {
    statements: [
      "BEGIN",
      "INSERT INTO book (id, title) VALUES (5, 'Faust')",
      "ROLLBACK",
      "SELECT count(*) FROM book WHERE id = 5",
    ],
  });
  t.same(begun.body.data.results[3].data.rows, [[0]]);

  const prepared = await server.expect(201, "POST", "/v1/query/prepare", {
    sql: "SELECT title FROM book WHERE id = $1",
  });
  const { statement_id, param_count } = prepared.body.data;
  t.equal(param_count, 1);
  t.same((await server.expect(200, "POST", "/v1/query/exec", { statement_id, params: [1] })).body.data.rows, [
    ["Emma"],
  ]);
  t.same((await server.expect(200, "POST", "/v1/query/close", { statement_id })).body.data, { closed: true });
  t.equal((await server.call("POST", "/v1/query/exec", { statement_id, params: [1] })).status, 404);
});

t.test("the schema is described", async (t) => {
  const tables = (await server.expect(200, "GET", "/v1/schema/tables")).body.data;
  t.match(tables, [
    { name: "book", type: "table", column_count: 4, row_count: 3 },
    { name: "loan", row_count: 1 },
  ]);
  const book = (await server.expect(200, "GET", "/v1/schema/tables/book")).body.data;
  t.match(book.columns[0], {
    name: "id",
    data_type: "integer",
    nullable: false,
    is_primary_key: true,
    is_unique: true,
    ordinal_position: 1,
  });
  t.match(book.constraints, [{ name: "book_pkey", type: "PRIMARY KEY" }]);
  t.equal((await server.call("GET", "/v1/schema/tables/nowhere")).status, 404);
});

t.test("tables of the server's own and of graphs are listed on demand only", async (t) => {
  const token = await server.tenant("lists");
  const options = { token };
  await server.rows("CREATE TABLE shelf (id int PRIMARY KEY)", [], options);
  await server.rows("CREATE VIEW _kept AS SELECT id FROM shelf", [], options);
  await server.expect(201, "POST", "/v1/ai/sessions", {}, options);
  await server.expect(200, "POST", "/v1/graph/match", { cypher: "CREATE (:Person)" }, options);
  const listed = async (query: string): Promise<string[]> => {
    const { body } = await server.expect(200, "GET", `/v1/schema/tables${query}`, undefined, options);
    return body.data.map(({ schema, name }: { schema: string; name: string }) => `${schema}.${name}`);
  };
  t.same(await listed(""), ["public.shelf"]);
  t.same(await listed("?include_system=false"), ["public.shelf"]);
  t.same(await listed("?limit=1"), ["public.shelf"], "what is left out takes no place on a page");
  const all = await listed("?include_system=true");
  for (const name of ["public.shelf", "public._kept", "graph:default.nodes"]) {
    t.ok(all.includes(name), `${name} of ${all.join(" ")}`);
  }
  t.notOk(all.includes("public._chat_sessions"), "a feature keeps it for itself");
  t.same((await server.rows("SHOW TABLES", [], options)) as unknown, [["shelf", "public"]]);
  for (const value of ["1", "yes", ""]) {
    const { status, body } = await server.call("GET", `/v1/schema/tables?include_system=${value}`, undefined, options);
    t.equal(status, 400);
    t.match(body.error, { code: "invalid_request", details: { field: "include_system" } });
  }
});

t.test("an Idempotency-Key gives the first answer again", async (t) => {
  const headers = { "idempotency-key": "order-17" };
  const body = { sql: "INSERT INTO loan VALUES (2, 'Cy') RETURNING who" };
  const first = await server.call("POST", "/v1/query/execute", body, { headers });
  const again = await server.call("POST", "/v1/query/execute", body, { headers });
  t.same(again.body.data, first.body.data);
  t.same(await server.rows("SELECT count(*) FROM loan WHERE who = 'Cy'"), [[1]]);
  const other = await server.call("POST", "/v1/query/execute", { sql: "SELECT 1" }, { headers });
  t.match([other.status, other.body.error.code], [409, "idempotency_conflict"]);
});

t.test("kept answers of batches and of commits", async (t) => {
  const headers = { "idempotency-key": "batch-1" };
  const body = { statements: ["INSERT INTO loan VALUES (7, 'Di')", "INSERT INTO loan VALUES (8, 'Di')"] };
  for (let i = 0; i < 2; i++) await server.expect(200, "POST", "/v1/query/execute/batch", body, { headers });
  t.same(await server.rows("SELECT count(*) FROM loan WHERE who = 'Di'"), [[2]]);
  const { id } = (await server.expect(201, "POST", "/v1/transactions")).body.data;
  const commit = () =>
    server.call("POST", `/v1/transactions/${id}/commit`, {}, { headers: { "idempotency-key": "commit-1" } });
  t.same((await commit()).body.data, (await commit()).body.data);
});

t.test("everything is there after SIGKILL and after SIGTERM", async (t) => {
  await server.kill();
  await server.boot();
  t.same(await server.rows("SELECT id, title FROM book ORDER BY id"), [
    [1, "Emma"],
    [2, "Ulysses"],
    [3, "Dune"],
  ]);
  const again = await server.call(
    "POST",
    "/v1/query/execute",
    { sql: "INSERT INTO loan VALUES (2, 'Cy') RETURNING who" },
    { headers: { "idempotency-key": "order-17" } },
  );
  t.same(again.body.data.rows, [["Cy"]]);
  t.same(await server.rows("SELECT count(*) FROM loan WHERE who = 'Cy'"), [[1]], "kept answers survive too");
  t.equal(await server.terminate(), 0);
  await server.boot();
  t.same(await server.rows("SELECT count(*) FROM book"), [[3]]);
});
