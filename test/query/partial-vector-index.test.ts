/** An hnsw index with a condition: it has the rows that satisfy it, and finds what reading all rows gives. */
import t from "tap";
import { open } from "../conformance/sql-adapter.js";

const VECTOR = "ARRAY[sin(i), cos(i * 3), sin(i * 7)]::real[]::vector";
const QUERY = "[0.3,0.1,-0.2]";
/** Conditions of queries, and whether one of the indexes has all rows that satisfy it. */
const CONDITIONS: readonly (readonly [condition: string, index: string | null])[] = [
  ["shop = 3", "of_three"],
  ["id % 2 = 0 AND shop = 3", "of_three"],
  ["shop IN (3)", "of_three"],
  ["price > 50", "dear"],
  ["price > 40", "dear"],
  ["price BETWEEN 60 AND 70 AND shop = 4", "dear"],
  ["shop = 4", null],
  ["price > 39", null],
  ["shop = 3 OR shop = 4", null],
  ["true", null],
];

t.test("the same rows as without the index", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  const exec = (sql: string, params: readonly string[] = []) => database.exec(sql, [...params]);
  await exec("CREATE TABLE item (id int PRIMARY KEY, shop int, price numeric, v vector(3))");
  await exec(`INSERT INTO item SELECT i, i % 5, i % 97, CASE WHEN i % 50 = 0 THEN NULL ELSE ${VECTOR} END
     FROM generate_series(1, 900) i`);
  await exec("CREATE INDEX of_three ON item USING hnsw (v vector_l2_ops) WHERE (shop = 3)");
  await exec("CREATE INDEX dear ON item USING hnsw (v vector_l2_ops) WHERE price > 40 AND shop IS NOT NULL");
  for (let i = 0; i < 400; i++) await new Promise((resolve) => setImmediate(resolve));
  const compare = async (when: string) => {
    for (const [condition, index] of CONDITIONS) {
      const where = condition.includes("price") ? `${condition} AND shop IS NOT NULL` : condition;
      const sql = (order: string) => `SELECT id, v <-> $1 FROM item WHERE ${where} ORDER BY ${order} LIMIT 9`;
      const plan = (await exec(`EXPLAIN ${sql("v <-> $1")}`, [QUERY])).rows.join("\n");
      if (index === null) t.notMatch(plan, /Vector Search/, where);
      else t.match(plan, new RegExp(`Vector Search using ${index} `), where);
      const found = await exec(sql("v <-> $1"), [QUERY]);
      t.same(found.rows, (await exec(sql("(v <-> $1) + 0"), [QUERY])).rows, `${when}: ${where}`);
    }
  };
  await compare("when it is ready");
  const items = async () =>
    (await exec("SELECT indexname, items FROM tessera_search_indexes ORDER BY 1")).rows.map((row) => row.join(" "));
  t.same(await items(), ["dear 495", "of_three 180"], "rows that fail the condition, or have no vector, are not in it");
  await exec("UPDATE item SET shop = 3 WHERE id % 10 = 4");
  await exec("UPDATE item SET shop = 1 WHERE id % 20 = 8");
  await exec(`UPDATE item SET v = '${QUERY}' WHERE id = 203`);
  await exec("DELETE FROM item WHERE id % 10 = 7");
  await exec(
    `INSERT INTO item VALUES (2000, 3, 96, '${QUERY}'), (2001, 4, 96, '[0.3,0.1,-0.21]'), (2002, NULL, 99, '${QUERY}')`,
  );
  await compare("after changes");
  await exec("BEGIN");
  await exec("UPDATE item SET shop = 3, v = '[0.3,0.1,-0.19]' WHERE id = 30");
  await exec("UPDATE item SET shop = 2 WHERE id = 2000");
  await compare("in the transaction that changes rows");
  await exec("ROLLBACK");
  t.same((await exec("SELECT indexdef FROM pg_indexes WHERE indexname = 'of_three'")).rows, [
    [
      "CREATE INDEX of_three ON public.item USING hnsw (v vector_l2_ops) WITH (m='16', ef_construction='64') WHERE (shop = 3)",
    ],
  ]);
  await exec("ALTER TABLE item RENAME COLUMN shop TO branch");
  const plan = await exec(`EXPLAIN SELECT id FROM item WHERE branch = 3 ORDER BY v <-> '${QUERY}' LIMIT 2`);
  t.match(plan.rows.join("\n"), /Vector Search using of_three/);
  const near = `SELECT id FROM item WHERE branch = 3 ORDER BY v <-> '${QUERY}' LIMIT 2`;
  t.same((await exec(near)).rows, [["203"], ["2000"]]);
  await exec("CREATE TABLE copy (LIKE item INCLUDING ALL)");
  const copied = await exec(
    "SELECT indexdef FROM pg_indexes WHERE tablename = 'copy' AND indexdef LIKE '%branch = 3%'",
  );
  t.equal(copied.rows.length, 1);
  await t.rejects(exec("ALTER TABLE item ALTER COLUMN branch TYPE text"), {
    message: 'index "of_three" has a condition on column "branch"',
  });
  await exec("ALTER TABLE item DROP COLUMN branch");
  t.same((await exec("SELECT indexname FROM pg_indexes WHERE tablename = 'item'")).rows, [["item_pkey"]]);
});

t.test("a time zone decides once what a condition means", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  const exec = (sql: string) => database.exec(sql, []);
  const rowsOf = async (sql: string) => (await exec(sql)).rows;
  await exec("CREATE TABLE item (id int PRIMARY KEY, day timestamptz, price int, until date, v vector(3))");
  await exec(`INSERT INTO item SELECT i, '2024-01-01 00:00Z'::timestamptz + i * interval '10 minutes', i % 97,
     CASE WHEN i % 3 = 0 THEN 'infinity'::date ELSE '2024-01-01'::date + i END, ${VECTOR}
     FROM generate_series(1, 900) i`);
  await exec("SET TIME ZONE 'Asia/Tokyo'");
  await exec("CREATE INDEX late ON item USING hnsw (v vector_l2_ops) WHERE day > '2024-01-05 00:00'");
  await exec("CREATE INDEX late_price ON item (price) WHERE day > '2024-01-05 00:00'::timestamptz");
  await exec("CREATE INDEX open_price ON item (price) WHERE until = 'infinity'");
  for (let i = 0; i < 400; i++) await new Promise((resolve) => setImmediate(resolve));
  t.same(
    await rowsOf("SELECT substring(indexdef from 'WHERE.*') FROM pg_indexes WHERE indexname LIKE 'late%' ORDER BY 1"),
    [
      ["WHERE (day > '2024-01-04 15:00:00+00'::timestamp with time zone)"],
      ["WHERE (day > '2024-01-04 15:00:00+00'::timestamp with time zone)"],
    ],
  );
  for (const [zone, text, count, uses] of [
    ["Asia/Tokyo", "2024-01-05 00:00", "378", false],
    ["America/New_York", "2024-01-05 00:00", "294", false],
    ["America/New_York", "2024-01-04 15:00:00+00", "378", true],
    ["America/New_York", "2024-01-05 00:00:00-05", "294", true],
    ["America/New_York", "2024-01-04 14:00:00+00", "384", false],
  ] as const) {
    await exec(`SET TIME ZONE '${zone}'`);
    for (const rest of [`ORDER BY v <-> '${QUERY}'`, "AND price BETWEEN 0 AND 96 ORDER BY price"]) {
      const sql = `SELECT id FROM item WHERE day > '${text}' ${rest} LIMIT 900`;
      t.equal((await rowsOf(`SELECT count(*) FROM (${sql}) found`))[0]![0], count, `${zone}: ${sql}`);
      const few = sql.replace("900", "3");
      t.equal(/ using late/.test((await rowsOf(`EXPLAIN ${few}`)).join("\n")), uses, `${zone}: ${few}`);
    }
  }
  const open3 = "SELECT id FROM item WHERE until = 'infinity' AND price = 3 ORDER BY price";
  t.match((await rowsOf(`EXPLAIN ${open3}`)).join("\n"), / using open_price/);
  for (const where of [
    "day::date > '2024-01-05'",
    "day > date '2024-01-05'",
    "until < 'today'",
    "until < '02/01/2024'",
  ]) {
    for (const kind of ["USING hnsw (v vector_l2_ops)", "(price)"]) {
      const message = "functions in index predicate must be marked IMMUTABLE";
      await t.rejects(exec(`CREATE INDEX ON item ${kind} WHERE ${where}`), { message }, where);
    }
  }
  await t.rejects(exec("CREATE INDEX ON item ((day::date))"), {
    message: "functions in index expression must be marked IMMUTABLE",
  });
  await exec("CREATE INDEX ON item (((day AT TIME ZONE 'UTC')::date)) WHERE until > '2024-01-05'");
});

t.test("rows whose condition fails are not in the index, and all others stay in it", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  const exec = (sql: string) => database.exec(sql, []);
  await exec("CREATE TABLE item (id int PRIMARY KEY, k int, v vector(3))");
  await exec(`INSERT INTO item SELECT i, i % 2, ${VECTOR} FROM generate_series(1, 300) i`);
  await exec("CREATE INDEX shares ON item USING hnsw (v vector_l2_ops) WHERE 10 / k > 0");
  const sql = (order: string) => `SELECT id FROM item WHERE k <> 0 AND 10 / k > 0 ORDER BY ${order} LIMIT 5`;
  const compare = async (items: string, when: string) => {
    await exec(sql(`v <-> '${QUERY}'`));
    for (let i = 0; i < 400; i++) await new Promise((resolve) => setImmediate(resolve));
    const found = (await exec(sql(`v <-> '${QUERY}'`))).rows;
    t.same(found, (await exec(sql(`(v <-> '${QUERY}') + 0`))).rows, when);
    t.same((await exec("SELECT items FROM tessera_search_indexes")).rows, [[items]], when);
  };
  await compare("150", "of rows that were there");
  await exec(`INSERT INTO item VALUES (1000, 0, '${QUERY}'), (1001, 1, '${QUERY}')`);
  await exec("UPDATE item SET k = 0 WHERE id = 1");
  await compare("150", "after changes");
});

t.test("what a condition cannot be", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  await database.exec("CREATE TABLE item (id int, day timestamptz, v vector(3), s sparsevec(30000))");
  await database.exec(
    "CREATE FUNCTION odd(n int) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN n % 2 = 1; END'",
  );
  for (const [where, message] of [
    ["day < now()", "functions in index predicate must be marked IMMUTABLE"],
    ["odd(id)", "such a function in the predicate of an hnsw index is not supported"],
    ["nothing > 1", 'column "nothing" does not exist'],
  ]) {
    const sql = `CREATE INDEX ON item USING hnsw (v vector_l2_ops) WHERE ${where}`;
    await t.rejects(database.exec(sql), { message }, where);
  }
  await t.rejects(database.exec("CREATE INDEX ON item USING hnsw (s sparsevec_l2_ops) WHERE id > 1"), {
    message: "a partial index of the kind hnsw is not supported for such a column",
  });
});
