/** One statement with several sets of parameters. */
import t from "tap";
import { TestServer } from "./server.js";

const server = await TestServer.shared();
t.teardown(() => server.stop());
await server.rows("CREATE TABLE city (id int PRIMARY KEY, name text, tags text[], more jsonb)");
t.beforeEach(() => server.rows("DELETE FROM city"));

const INSERT = "INSERT INTO city (id, name) VALUES ($1, $2)";
const execute = (body: object) => server.call("POST", "/v1/query/execute", body);
const count = async () => (await server.rows("SELECT count(*) FROM city"))[0]![0];

t.test("each set is a run; rows_affected is the sum", async (t) => {
  const sets = Array.from({ length: 300 }, (_, i) => [i, `city ${i}`]);
  const inserted = await execute({ sql: INSERT, parameters: sets });
  t.match(inserted, { status: 200, body: { data: { rows: [], rows_affected: 300 } } });
  t.equal(await count(), 300);
  const updated = await execute({
    sql: "UPDATE city SET name = $2 WHERE id < $1",
    params: [
      [10, "a"],
      [5, "b"],
      [0, "c"],
    ],
  });
  t.match(updated, { status: 200, body: { data: { rows_affected: 15 } } });
  t.same(await server.rows("SELECT name, count(*) FROM city WHERE id < 10 GROUP BY 1 ORDER BY 1"), [
    ["a", 5],
    ["b", 5],
  ]);
  const deleted = await execute({ sql: "DELETE FROM city WHERE id = $1", parameters: [[1], [2], [1000]] });
  t.match(deleted, { status: 200, body: { data: { rows_affected: 2 } } });
});

t.test("all or nothing: the error says which set it was", async (t) => {
  for (const sql of [INSERT, `${INSERT} ON CONFLICT DO NOTHING`]) {
    const failed = await execute({
      sql,
      parameters: [
        [1, "a"],
        [2, "b"],
        ["x", "c"],
      ],
    });
    t.match(failed, { status: 400, body: { error: { details: { sqlstate: "22P02", parameter_set: 2 } } } });
    t.equal(await count(), 0);
  }
  const twice = await execute({
    sql: INSERT,
    parameters: [
      [1, "a"],
      [1, "b"],
    ],
  });
  t.match(twice, { status: 409, body: { error: { details: { sqlstate: "23505", parameter_set: 1 } } } });
  t.equal(await count(), 0);
});

t.test("lists that are values stay values", async (t) => {
  t.same((await execute({ sql: "SELECT id FROM city WHERE id = ANY ($1)", parameters: [[1, 2]] })).body.data.rows, []);
  t.same((await execute({ sql: "SELECT cardinality($1::int[])", parameters: [[7]] })).body.data.rows, [[1]]);
  t.same(
    (
      await execute({
        sql: "SELECT $1 = $2",
        parameters: [
          [1, 2],
          [1, 2],
        ],
      })
    ).body.data.rows,
    [[true]],
  );
  const both = "INSERT INTO city (id, tags, more) VALUES (1, $1, $2)";
  t.equal(
    (
      await execute({
        sql: both,
        parameters: [
          ["a", "b"],
          ["c", "d"],
        ],
      })
    ).status,
    200,
  );
  t.same(await server.rows("SELECT tags, more FROM city"), [
    [
      ["a", "b"],
      ["c", "d"],
    ],
  ]);
  const mixed = "INSERT INTO city (id, tags) VALUES ($1, $2)";
  t.match(
    await execute({
      sql: mixed,
      parameters: [
        [2, ["x"]],
        [3, ["y"]],
      ],
    }),
    { body: { data: { rows_affected: 2 } } },
  );
});

t.test("what cannot be sets is refused", async (t) => {
  const rows = await execute({
    sql: `${INSERT} RETURNING id`,
    parameters: [
      [1, "a"],
      [2, "b"],
      [3, "c"],
    ],
  });
  t.match(rows, {
    status: 400,
    body: { error: { code: "invalid_request", message: /batch/, details: { field: "parameters" } } },
  });
  const uneven = await execute({ sql: INSERT, parameters: [[1, "a"], [2], [3, "c"]] });
  t.match(uneven, { status: 400, body: { error: { details: { sqlstate: "08P01" } } } });
  const select = await execute({ sql: "SELECT name FROM city WHERE id = $1", params: [[1], [2]] });
  t.match(select, { status: 400, body: { error: { code: "invalid_request", details: { field: "params" } } } });
  t.equal(await count(), 0);
});

t.test("in a batch an item with sets is one statement", async (t) => {
  const sets = {
    sql: INSERT,
    parameters: [
      [1, "a"],
      [2, "b"],
      [3, "c"],
    ],
  };
  const one = { sql: INSERT, parameters: [9, "i"] };
  for (const transactional of [true, false]) {
    await server.rows("DELETE FROM city");
    const statements = [
      one,
      {
        ...sets,
        parameters: [
          [4, "d"],
          [4, "e"],
        ],
      },
      sets,
    ];
    const { status, body } = await server.call("POST", "/v1/query/execute/batch", { statements, transactional });
    if (transactional) {
      t.match([status, body], [409, { error: { details: { statement: 1, parameter_set: 1 } } }]);
      t.equal(await count(), 0);
    } else {
      t.match(body.data.results, [
        { type: "success", rows_affected: 1 },
        { type: "error", error: { details: { parameter_set: 1 } } },
        { type: "success", rows_affected: 3, data: { rows_affected: 3 } },
      ]);
      t.equal(await count(), 4);
    }
  }
  await server.rows("DELETE FROM city");
  const within = await server.call("POST", "/v1/query/execute/batch", { statements: ["BEGIN", sets, "ROLLBACK", one] });
  t.match(within.body.data.results[1], { rows_affected: 3 });
  t.equal(await count(), 1);
});

t.test("in an interactive transaction", async (t) => {
  const { id } = (await server.expect(201, "POST", "/v1/transactions", {})).body.data;
  const run = (body: object) => server.call("POST", `/v1/transactions/${id}/execute`, body);
  t.match(
    await run({
      sql: INSERT,
      parameters: [
        [1, "a"],
        [2, "b"],
      ],
    }),
    { status: 200, body: { data: { rows_affected: 2 } } },
  );
  await server.expect(201, "POST", `/v1/transactions/${id}/savepoint`, { name: "here" });
  t.match(
    await run({
      sql: INSERT,
      parameters: [
        [3, "c"],
        [1, "d"],
      ],
    }),
    { status: 409 },
  );
  await server.expect(200, "POST", `/v1/transactions/${id}/savepoint/here/rollback`, {});
  await server.expect(200, "POST", `/v1/transactions/${id}/commit`, {});
  t.same(await server.rows("SELECT id FROM city ORDER BY id"), [[1], [2]]);
});

t.test("a prepared statement, and a repeated answer", async (t) => {
  const { statement_id } = (await server.expect(201, "POST", "/v1/query/prepare", { sql: INSERT })).body.data;
  const ran = await server.call("POST", "/v1/query/exec", {
    statement_id,
    parameters: [
      [1, "a"],
      [2, "b"],
      [3, "c"],
    ],
  });
  t.match(ran, { status: 200, body: { data: { rows_affected: 3 } } });
  const headers = { "idempotency-key": "sets-1" };
  const body = {
    sql: INSERT,
    parameters: [
      [4, "d"],
      [5, "e"],
      [6, "f"],
    ],
  };
  for (let i = 0; i < 2; i++) {
    const { body: answer } = await server.call("POST", "/v1/query/execute", body, { headers });
    t.match(answer, { data: { rows_affected: 3 } });
  }
  t.equal(await count(), 6);
});

t.test("CREATE TABLE AS has parameters in its query", async (t) => {
  await execute({
    sql: INSERT,
    parameters: [
      [1, "a"],
      [2, "b"],
      [3, "c"],
    ],
  });
  const sql = "CREATE TABLE picked AS SELECT id, $1 || name AS name FROM city WHERE id > $2";
  t.match(await execute({ sql, parameters: ["x", 1] }), { status: 200 });
  t.same(await server.rows("SELECT * FROM picked ORDER BY id"), [
    [2, "xb"],
    [3, "xc"],
  ]);
  const tooFew = await execute({ sql: sql.replace("picked", "other"), parameters: ["x"] });
  t.match(tooFew, { status: 400, body: { error: { details: { sqlstate: "08P01" } } } });
  await server.rows("DROP TABLE picked");
});
