/**
 * UPDATE of many rows in column segments writes the same records as where the table has none, for columns of all kinds,
 * and fails with the same errors.
 */
import t from "tap";
import { ChunkUpdates } from "../../src/query/exec/chunk-updates.js";
import { contentOf, makeColumns, open, ROWS, run } from "./file-and-plain.js";
import type { Side } from "./segment-histories.js";

/** Rows whose records were made of columns. */
let made = 0;
const { take } = ChunkUpdates.prototype;
ChunkUpdates.prototype.take = function (chunk, from) {
  const count = take.call(this, chunk, from);
  made += count;
  return count;
};

const CREATE = `CREATE TABLE g (a int8, b int2, i int4, big int8, f float8, r float4, n numeric(12, 2), o bool, name text,
  kind varchar(20), p char(8), u uuid, d date, s timestamp, z timestamptz, j jsonb, l int4[],
  e text NOT NULL, gone int4, PRIMARY KEY (a, b))`;
const FILL = `INSERT INTO g SELECT k * 1000003::int8, k % 50 - 20, CASE WHEN k % 7 > 0 THEN k * 31 END, k * -5000000001::int8,
  k / 7.0, k / 3.0, k / 100.0, k % 3 = 0, CASE WHEN k % 11 > 0 THEN 'name ünï ' || k END, 'kind ' || k % 5, 'p' || k % 9,
  ('00000000-0000-0000-0000-' || lpad(k::text, 12, '0'))::uuid, DATE '2020-01-01' + k, TIMESTAMP '2020-01-01' + k * INTERVAL '1 hour',
  TIMESTAMPTZ '1970-01-01' - k * INTERVAL '1 minute', jsonb_build_object('k', k), ARRAY[k, NULL, 3],
  'e' || k, k FROM generate_series(1, ${ROWS}) k`;

async function filled(test: Parameters<typeof open>[0], hasFiles: boolean): Promise<Side> {
  const side = await open(test, hasFiles);
  await run(test, side, CREATE);
  await run(test, side, "CREATE INDEX ON g (name)");
  await run(test, side, "ALTER TABLE g DROP COLUMN gone");
  await run(test, side, "ALTER TABLE g ADD COLUMN late int4 DEFAULT 5");
  await run(test, side, FILL);
  if (hasFiles) await makeColumns(side);
  return side;
}

const ASSIGNMENTS = [
  "f = f + 1",
  "i = NULL, big = big + 9223372036854770000, f = 'NaN'",
  "i = CASE WHEN b > 0 THEN a % 1000 END, f = CASE WHEN o THEN f END, n = n * 2",
  "d = CASE WHEN o THEN DATE 'infinity' ELSE d + 1 END, s = s + INTERVAL '1 day', z = 'infinity'",
  "kind = 'longer ' || b, p = 'q' || b, u = '11111111-0000-0000-0000-000000000000', e = coalesce(name, 'none')",
  "j = j || '{\"y\": 1}', l = l || b::int4, o = NOT o, r = -r, late = late + b",
];

for (const assignments of ASSIGNMENTS) {
  t.test(assignments, async (t) => {
    const [side, plain] = [await filled(t, true), await filled(t, false)];
    made = 0;
    for (const each of [side, plain]) await run(t, each, `UPDATE g SET ${assignments} WHERE b % 9 <> 4`);
    t.same(contentOf(side), contentOf(plain));
    t.ok(made > 500, `${made} rows`);
  });
}

t.test("assigned keys and columns of indexes, RETURNING and checks are changed row by row", async (t) => {
  const [side, plain] = [await filled(t, true), await filled(t, false)];
  made = 0;
  for (const sql of [
    "UPDATE g SET name = 'x' || b, f = 1 WHERE b <> 3",
    "UPDATE g SET a = a + 1 WHERE b <> 4",
    "UPDATE g SET f = 2 WHERE b <> 5 RETURNING a",
    "ALTER TABLE g ADD CHECK (f > 0)",
    "UPDATE g SET f = f + 1 WHERE b <> 6",
  ]) {
    for (const each of [side, plain]) await run(t, each, sql);
  }
  t.same(contentOf(side), contentOf(plain));
  t.equal(made, 0);
});

t.test("rows of the transaction, of later commits and of a rollback", async (t) => {
  const [side, plain] = [await filled(t, true), await filled(t, false)];
  made = 0;
  for (const sql of [
    "UPDATE g SET e = 'single' WHERE b = 7",
    "BEGIN",
    "UPDATE g SET f = f * 2 WHERE b <> 1",
    "ROLLBACK",
    "BEGIN",
    "DELETE FROM g WHERE b = 2",
    "UPDATE g SET i = i + 1 WHERE b = 11",
    "UPDATE g SET f = f * 2, e = e || 'y' WHERE b <> 1",
    "UPDATE g SET f = f + 0.5 WHERE b <> 12",
    "COMMIT",
    "UPDATE g SET i = 0",
  ]) {
    for (const each of [side, plain]) await run(t, each, sql);
  }
  t.same(contentOf(side), contentOf(plain));
  t.ok(made > 500, `${made} rows`);
});

t.test("errors are those of the first row that fails, and nothing is changed", async (t) => {
  const [side, plain] = [await filled(t, true), await filled(t, false)];
  const before = contentOf(side);
  made = 0;
  for (const assignments of [
    "e = CASE WHEN a = 2100 * 1000003::int8 THEN NULL ELSE e END, i = 1 / CASE WHEN a > 2100 * 1000003::int8 THEN 0 ELSE 1 END",
    "e = CASE WHEN a > 2100 * 1000003::int8 THEN NULL ELSE e END, i = 1 / CASE WHEN a = 2100 * 1000003::int8 THEN 0 ELSE 1 END",
    "kind = CASE WHEN a > 2000 * 1000003::int8 THEN repeat('x', 30) END",
    "i = CASE WHEN a > 2000 * 1000003::int8 THEN big ELSE 1 END",
  ]) {
    const sql = `UPDATE g SET ${assignments}`;
    const error = await side.run(0, sql, true);
    t.match(error, /^error/);
    t.equal(error, await plain.run(0, sql, true));
  }
  t.same(contentOf(side), before);
  t.ok(made > 500, `${made} rows`);
});
