/** Searches by a vector index give what reading all rows gives: with filters, in transactions, after any change. */
import t from "tap";
import { open } from "../conformance/sql-adapter.js";

type Database = Awaited<ReturnType<typeof open>>;

const ROWS = 300;
const SETUP = [
  "CREATE TABLE item (id int PRIMARY KEY, kind text, price numeric, v vector(4), tags jsonb)",
  `INSERT INTO item SELECT i, 'k' || i % 5, i * 1.5,
     CASE WHEN i % 50 = 0 THEN NULL ELSE ARRAY[sin(i), cos(i * 3), sin(i * 7), i / 300.0]::real[]::vector(4) END,
     jsonb_build_object('n', i % 7) FROM generate_series(1, ${ROWS}) i`,
  "CREATE INDEX item_cosine ON item USING hnsw (v vector_cosine_ops)",
  "CREATE INDEX item_l2 ON item USING hnsw (v vector_l2_ops)",
  "CREATE INDEX item_ip ON item USING hnsw (v vector_ip_ops)",
];

const DISTANCES = ["v <=> $1", "v <-> $1", "v <#> $1", "$1 <=> v", "l2_distance(v, $1)"];
const FILTERS = ["true", "kind = 'k1'", "price > 440", "tags->>'n' = '3' AND kind <> 'k2'", "id IN (3, 50, 100)"];
const QUERY = "[0.3,0.1,-0.2,0.9]";

/** The same question with an order that no index has. */
const exactly = (distance: string) => `(${distance}) + 0`;

async function compare(t: Tap, database: Database, when: string): Promise<void> {
  for (const distance of DISTANCES) {
    for (const filter of FILTERS) {
      const sql = (order: string) =>
        `SELECT id, round((${distance})::numeric, 4) AS d FROM item WHERE ${filter} ORDER BY ${order} LIMIT 12 OFFSET 2`;
      const found = await database.exec(sql(distance), [QUERY]);
      const expected = await database.exec(sql(exactly(distance)), [QUERY]);
      t.same(found.rows, expected.rows, `${when}: ${distance} where ${filter}`);
      for (const columns of ["id", "kind, id"]) {
        const single = await database.exec(
          `SELECT ${columns}, (${distance})::real FROM item WHERE ${filter} ORDER BY ${distance} LIMIT 12 OFFSET 2`,
          [QUERY],
        );
        const what = `${when}: ${distance} in single precision where ${filter}, with ${columns}`;
        const ids = (rows: readonly (readonly (string | null)[])[]) => rows.map((row) => row.at(-2));
        t.same(ids(single.rows), ids(expected.rows), what);
        const differs = single.rows.some((row, i) => {
          const [measured, exact] = [row.at(-1)!, expected.rows[i]!.at(-1)!];
          return (measured === null) !== (exact === null) || Math.abs(Number(measured) - Number(exact)) > 1e-4;
        });
        t.notOk(differs, `${what}: the distances`);
      }
    }
  }
}

type Tap = Pick<typeof t, "same" | "notOk">;

/** Searches until the answer comes from the index. */
async function untilReady(database: Database): Promise<void> {
  for (const distance of DISTANCES.slice(0, 3)) {
    await database.exec(`SELECT id FROM item ORDER BY ${distance} LIMIT 1`, [QUERY]);
  }
  for (let i = 0; i < 500; i++) await new Promise((resolve) => setImmediate(resolve));
}

t.test("the same rows as without the index", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  for (const sql of SETUP) await database.exec(sql);
  await compare(t, database, "while it is made");
  await untilReady(database);
  const measured = await database.exec("EXPLAIN ANALYZE SELECT id FROM item ORDER BY v <-> $1 LIMIT 5", [QUERY]);
  t.match(measured.rows.join("\n"), /Vector Search.*actual .*rows=5\b/, "no more rows than are wanted");
  await compare(t, database, "when it is ready");
  await database.exec("BEGIN");
  await database.exec("UPDATE item SET v = '[0.3,0.1,-0.2,0.8]', kind = 'k1' WHERE id BETWEEN 10 AND 13");
  await database.exec("DELETE FROM item WHERE id IN (3, 8, 21)");
  await database.exec("INSERT INTO item VALUES (1000, 'k1', 500, '[0.3,0.1,-0.2,0.9]', '{\"n\": 3}')");
  await compare(t, database, "in a transaction");
  await database.exec("ROLLBACK");
  await compare(t, database, "after rollback");
  await database.exec("UPDATE item SET kind = 'k1', price = 1 WHERE id % 3 = 0");
  await database.exec("UPDATE item SET v = NULL WHERE id % 20 = 0");
  await database.exec("DELETE FROM item WHERE id % 11 = 0");
  await compare(t, database, "after changes");
  await database.exec("TRUNCATE item");
  await compare(t, database, "of nothing");
  await database.exec(SETUP[1]!);
  await compare(t, database, "filled again");
  await untilReady(database);
  await compare(t, database, "and ready again");
});

t.test("which questions the index answers", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  for (const sql of SETUP) await database.exec(sql);
  const plan = async (sql: string) => (await database.exec(`EXPLAIN ${sql}`, [QUERY])).rows.join("\n");
  for (const [sql, index] of [
    ["SELECT id FROM item ORDER BY v <=> $1 LIMIT 5", "item_cosine"],
    ["SELECT id, v <-> $1 AS far FROM item WHERE price > 3 ORDER BY far LIMIT 5 OFFSET 5", "item_l2"],
    ["SELECT * FROM (SELECT id, v <#> $1 AS d FROM item) x ORDER BY d LIMIT 3", "item_ip"],
    ["SELECT id, cosine_similarity(v, $1) s FROM item WHERE v IS NOT NULL ORDER BY s DESC LIMIT 3", "item_cosine"],
    ["SELECT i.id, n.id FROM item i, LATERAL (SELECT id FROM item j ORDER BY j.v <-> i.v LIMIT 2) n", "item_l2"],
  ] as const) {
    t.match(await plan(sql), new RegExp(`Vector Search using ${index} on item`), sql);
  }
  for (const [sql, told] of [
    ["SELECT id, (v <=> $1)::real AS d FROM item ORDER BY d LIMIT 5", "Distance: by the index, without the rows"],
    ["SELECT id, kind, (v <-> $1)::real FROM item ORDER BY v <-> $1 LIMIT 5", "Distance: by the index$"],
  ] as const) {
    t.match(await plan(sql), new RegExp(told, "m"), sql);
  }
  for (const sql of [
    "SELECT id, v, (v <=> $1)::real FROM item ORDER BY v <=> $1 LIMIT 5",
    "SELECT id, (v <=> $1)::real FROM item WHERE v IS NOT NULL ORDER BY v <=> $1 LIMIT 5",
    "SELECT id, v <=> $1 FROM item ORDER BY v <=> $1 LIMIT 5",
    "SELECT id FROM item ORDER BY v <=> $1 LIMIT 5",
  ]) {
    t.notMatch(await plan(sql), /Distance: by the index/, sql);
  }
  for (const sql of [
    "SELECT id FROM item ORDER BY v <=> $1",
    "SELECT id FROM item ORDER BY v <=> $1 DESC LIMIT 5",
    "SELECT id FROM item ORDER BY v <+> $1 LIMIT 5",
    "SELECT id FROM item ORDER BY v <=> $1, id LIMIT 5",
    "SELECT id FROM item ORDER BY v <-> v LIMIT 5",
  ]) {
    t.notMatch(await plan(sql), /Vector Search/, sql);
  }
  await t.rejects(database.exec("SELECT id FROM item ORDER BY v <=> '[1,2]' LIMIT 3"), /different vector dimensions/);
});

t.test("graphs of every storage find nearly all, with filters and after changes", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  await database.exec("CREATE TABLE big (id int PRIMARY KEY, half bool, v vector(12))");
  const members = Array.from({ length: 12 }, (_, k) => `sin(i * ${k + 1}.7) * cos(i * 0.${k}31 + ${k})`).join(", ");
  await database.exec(
    `INSERT INTO big SELECT i, i % 2 = 0, ARRAY[${members}]::real[]::vector(12) FROM generate_series(1, 1500) i`,
  );
  for (const storage of ["f32", "int8", "binary"]) {
    await database.exec(`CREATE INDEX big_v ON big USING hnsw (v vector_l2_ops) WITH (storage = '${storage}')`);
    const recall = async (filter: string): Promise<number> => {
      let hits = 0;
      for (let id = 1; id <= 20; id++) {
        const query = `(SELECT v FROM big WHERE id = ${id * 70})`;
        const sql = (order: string) => `SELECT id FROM big WHERE ${filter} ORDER BY ${order} LIMIT 10`;
        const found = (await database.exec(sql(`v <-> ${query}`))).rows.flat();
        const exact = (await database.exec(sql(`(v <-> ${query}) + 0`))).rows.flat();
        if (found.length !== 10) return 0;
        hits += found.filter((each) => exact.includes(each)).length;
      }
      return hits / 200;
    };
    await database.exec("SELECT id FROM big ORDER BY v <-> (SELECT v FROM big WHERE id = 1) LIMIT 1");
    for (let i = 0; i < 3000; i++) await new Promise((resolve) => setImmediate(resolve));
    const least = storage === "binary" ? 0.4 : 0.95;
    for (const filter of ["true", "half", "id % 40 = 0"]) {
      const found = await recall(filter);
      t.ok(found >= least, `${storage} where ${filter}: ${found}`);
    }
    await database.exec("UPDATE big SET half = NOT half WHERE id % 3 = 0");
    const found = await recall("half");
    t.ok(found >= least, `${storage} after changes: ${found}`);
    await database.exec("DROP INDEX big_v");
  }
});
