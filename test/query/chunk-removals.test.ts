/**
 * DELETE of many rows in column segments removes the same keys and entries of indexes as where the table has none: for
 * all types whose keys are made from arrays, and where a segment has values that are written otherwise.
 */
import t, { type Test } from "tap";
import { ChunkRemovals } from "../../src/query/exec/chunk-removals.js";
import { contentOf, makeColumns, open, ROWS, run } from "./file-and-plain.js";
import type { Side } from "./segment-histories.js";

/** Groups of rows whose keys were made from arrays, and those whose rows were looked at. */
const groups = { made: 0, others: 0 };
const { take } = ChunkRemovals.prototype;
ChunkRemovals.prototype.take = function (chunk, from, count) {
  const isMade = take.call(this, chunk, from, count);
  if (isMade) groups.made++;
  else groups.others++;
  return isMade;
};

interface Case {
  readonly name: string;
  readonly columns: string;
  readonly rows: string;
  readonly indexes: readonly string[];
  /** Fills segments of other values behind the first ones. */
  readonly others?: string;
}

const CASES: readonly Case[] = [
  {
    name: "integers",
    columns: "a int8, b int2, c int4, o oid, big int8, PRIMARY KEY (a, b)",
    rows: `i * 1000003::int8 - 1000000000, i % 60 - 30, (i * 482711::int8 % 4000000000 - 2000000000)::int4, (i * 700001::int8)::oid,
      i * -5000000001::int8`,
    indexes: ["(c)", "(c DESC, b)", "(o)", "(o DESC)", "(big DESC NULLS LAST, c)", "(b)"],
  },
  {
    name: "moments",
    columns: "d date, s timestamp, z timestamptz, f time, PRIMARY KEY (d, s)",
    rows: `DATE '1960-01-01' + i * 11, TIMESTAMP '1900-01-01' + i * INTERVAL '7 hours', TIMESTAMPTZ '2020-01-01' - i * INTERVAL '1 minute',
      TIME '00:00' + i * INTERVAL '13 seconds'`,
    indexes: ["(z, f)", "(s DESC)", "(f DESC, d DESC)"],
    others: "'infinity'::date, TIMESTAMP '2030-01-01' + i * INTERVAL '1 day', 'infinity'::timestamptz, TIME '12:00'",
  },
  {
    name: "NULLs, unique keys, values that arrays do not have",
    columns: "a int8 PRIMARY KEY, n int4, u int4 UNIQUE, big int8",
    rows: "i, CASE WHEN i > 1850 AND i % 5 = 0 THEN NULL ELSE i END, CASE WHEN i < 700 THEN NULL ELSE i END, i",
    indexes: ["(n)", "(n DESC NULLS LAST)", "(big)"],
    others: "i, i, NULL, 9223372036854770000 + i",
  },
  {
    name: "names are looked at row by row",
    columns: "a int4 PRIMARY KEY, name text, x int4",
    rows: "i, 'name ' || i, i % 10",
    indexes: ["(name)", "(x)", "((x + 1))", "(x) WHERE x > 3", "(x) INCLUDE (name)"],
  },
];

async function filled(t: Test, { columns, rows, indexes, others }: Case, hasFiles: boolean): Promise<Side> {
  const side = await open(t, hasFiles);
  await run(t, side, `CREATE TABLE g (${columns})`);
  for (const index of indexes) await run(t, side, `CREATE INDEX ON g ${index}`);
  await run(t, side, `INSERT INTO g SELECT ${rows} FROM generate_series(1, ${ROWS}) i`);
  if (others !== undefined) {
    await run(t, side, `INSERT INTO g SELECT ${others} FROM generate_series(${ROWS + 1}, ${ROWS + 700}) i`);
  }
  if (hasFiles) await makeColumns(side);
  return side;
}

for (const one of CASES) {
  t.test(one.name, async (t) => {
    const [side, plain] = [await filled(t, one, true), await filled(t, one, false)];
    groups.made = 0;
    groups.others = 0;
    const [first] = one.columns.split(" ");
    const hash = `abs(hashtext(${first}::text))`;
    for (const where of [`${hash} % 16 > 0`, "true"]) {
      for (const each of [side, plain]) await run(t, each, `DELETE FROM g WHERE ${where}`);
      t.same(contentOf(side), contentOf(plain), where);
    }
    t.equal(groups.made > 0, one.name !== "names are looked at row by row", `${groups.made} groups`);
    if (one.others !== undefined) t.ok(groups.others > 0);
  });
}

t.test("rows of the transaction, of later commits and of a rollback", async (t) => {
  const one = CASES[0]!;
  const [side, plain] = [await filled(t, one, true), await filled(t, one, false)];
  groups.made = 0;
  for (const each of [side, plain]) {
    for (const sql of [
      "UPDATE g SET c = c / 2 WHERE b % 9 = 0",
      "BEGIN",
      "INSERT INTO g SELECT i, 7, i, 7, 7 FROM generate_series(1, 50) i",
      "UPDATE g SET o = 1 WHERE b = 11",
      "DELETE FROM g WHERE b % 10 <> 0",
      "ROLLBACK",
      "BEGIN",
      "DELETE FROM g WHERE b % 10 <> 1",
      "INSERT INTO g SELECT i, 5, i, 5, 5 FROM generate_series(1, 50) i",
      "DELETE FROM g WHERE b % 5 = 0",
      "COMMIT",
    ]) {
      await run(t, each, sql);
    }
  }
  t.same(contentOf(side), contentOf(plain));
  t.ok(contentOf(side).rows!.length > 100);
  t.ok(groups.made > 0);
});
