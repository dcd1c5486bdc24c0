/** INSERT of many rows goes through a load: what it stores, byte by byte, and what it refuses is as of single rows. */
import fc from "fast-check";
import t from "tap";
import { open } from "../conformance/sql-adapter.js";
import { contents } from "../features/placement/stored-entries.js";
import { script } from "./sql-script.js";

type Database = Awaited<ReturnType<typeof open>>;

/** More than a load needs, in two halves that are less. */
const ROWS = 1400;
const HALF = 700;

const SCHEMA = [
  "create table city (code int primary key, name text)",
  "insert into city select g, 'city ' || g from generate_series(0, 60) g",
  "create table source (n int, id int, k int, name text, x numeric, city int, boss int)",
  `create table target (
     id int primary key, k int not null check (k >= 0), name text unique, x numeric default 1.50,
     city int references city, boss int references target, twice bigint generated always as (k * 2) stored)`,
  "create index on target (k desc, name)",
  "create index on target (lower(name)) where x > 3",
  "create unique index on target (x, city) nulls not distinct where k = 5",
  "create table unkeyed (k int, name text)",
  "create unique index on unkeyed (name)",
];

async function outcome(database: Database, statements: readonly string[]): Promise<string> {
  try {
    for (const sql of statements) await database.exec(sql);
    return "done";
  } catch (error) {
    return (error as Error & { code: string }).code;
  }
}

interface Row {
  readonly id: number;
  readonly k: number;
  readonly name: string | null;
  readonly x: string;
  readonly city: number | null;
}

const row: fc.Arbitrary<Row> = fc.record({
  id: fc.integer({ max: 2_147_483_000 }),
  k: fc.nat(20),
  name: fc.option(fc.string({ maxLength: 8, unit: fc.constantFrom(..."abcAB é\u00ff") })),
  x: fc.nat(500).map((n) => (n / 100).toFixed(2)),
  city: fc.option(fc.nat(60)),
});

/** What makes a table of good rows a bad one. */
const fault = fc.constantFrom("none", "none", "none", "id", "name", "check", "null", "city", "boss", "partial");

async function fill(database: Database, rows: readonly Row[], kind: string): Promise<void> {
  const literal = (value: string | number | null) => (typeof value === "string" ? `'${value}'` : String(value));
  const tuples = rows.map((each, n) => {
    const isFaulty = n === 1203;
    let { id, name, city } = each;
    let k: number | null = each.k;
    let boss: number | null = n % 3 === 0 ? rows[(n * 7) % rows.length]!.id : null;
    if (k === 5) k = 6;
    if (isFaulty && kind === "id") id = rows[3]!.id;
    if (isFaulty && kind === "name") name = "twice";
    if (n === 100 && kind === "name") name = "twice";
    if (isFaulty && kind === "check") k = -1;
    if (isFaulty && kind === "null") k = null;
    if (isFaulty && kind === "city") city = 61;
    if (isFaulty && kind === "boss") boss = 2_147_483_647;
    if (kind === "partial" && (n === 90 || isFaulty)) {
      k = 5;
      city = null;
    }
    const x = kind === "partial" ? "1.5" : each.x;
    return `(${[n, id, k, literal(name), x, city, boss].map(String).join(",")})`;
  });
  for (let from = 0; from < tuples.length; from += 350) {
    await database.exec(`insert into source values ${tuples.slice(from, from + 350).join(",")}`);
  }
}

t.test("a load is what single rows are", async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(row, { minLength: ROWS, maxLength: ROWS, selector: ({ id }) => id }),
      fault,
      async (rows, kind) => {
        const seen = new Set<string | null>();
        const named = rows.map((each) => {
          const name = seen.has(each.name) ? null : each.name;
          seen.add(each.name);
          return { ...each, name, city: each.city ?? null };
        });
        const [loaded, single] = [await open(), await open()];
        try {
          for (const database of [loaded, single]) {
            for (const sql of SCHEMA) await database.exec(sql);
            await fill(database, named, kind);
          }
          const into = "insert into target (id, k, name, x, city, boss) select id, k, name, x, city, boss from source";
          const plain = "insert into unkeyed select k, name from source";
          const one = [`${into} order by n`, `${plain} order by n`];
          // Bosses come first or not at all: within one statement the order does not matter.
          const two = [
            "begin",
            `${into.replace("boss from", "null from")} where n < ${HALF} order by n`,
            `${into.replace("boss from", "null from")} where n >= ${HALF} order by n`,
            `update target set boss = s.boss from source s where s.id = target.id and s.n < ${HALF}`,
            `update target set boss = s.boss from source s where s.id = target.id and s.n >= ${HALF}`,
            `${plain} where n < ${HALF} order by n`,
            `${plain} where n >= ${HALF} order by n`,
            "commit",
          ];
          const results = [await outcome(loaded, one), await outcome(single, two)];
          if (results[1] !== "done") await outcome(single, ["rollback"]);
          t.equal(results[0], results[1], kind);
          t.equal(results[0] === "done", kind === "none", `${kind}: ${results[0]}`);
          t.strictSame(await contents(loaded), await contents(single), kind);
        } finally {
          await Promise.all([loaded.close(), single.close()]);
        }
      },
    ),
    // A smaller example would take hours to find, and tell no more.
    { numRuns: 5, endOnFailure: true },
  );
});

t.test("a load within a transaction: savepoints, later statements, errors that name the first bad row", async (t) => {
  const { rows, run, fails } = await script(t);
  const many = "select g, g % 10, 'name ' || g from generate_series(1, 3000) g";
  await run(
    "create table t (id int primary key, k int, name text unique)",
    "create index on t (k)",
    "begin",
    "insert into t values (5000, 1, 'single')",
    `insert into t ${many}`,
    "update t set name = 'changed' where id = 7",
    "delete from t where k = 3",
    "savepoint s",
    "insert into t select g, 3, 'again ' || g from generate_series(6000, 8000) g",
  );
  t.same(await rows("select count(*), count(*) filter (where k = 3), min(id) from t"), ["4702|2001|1"]);
  await run("rollback to s");
  t.same(await rows("select count(*), count(*) filter (where k = 3), max(id) from t"), ["2701|0|5000"]);
  t.same(await rows("select id from t where name = 'changed'"), ["7"]);
  await run("commit");
  t.same(await rows("select count(*), sum(k) from t where k > 4"), ["1500|10500"]);
  t.match(
    await fails(`insert into t select 9000 - g, 0, 'name ' || g + 2000 from generate_series(1, 3000) g`),
    /^23505 duplicate key value violates unique constraint "t_(pkey|name_key)"/,
  );
  t.same(await rows("select count(*) from t"), ["2701"]);
});

t.test("indexes of filled tables, dropped ones and emptied tables", async (t) => {
  const { rows, run, fails } = await script(t);
  await run(
    "create table t (id int primary key, k int, name text, x numeric)",
    "insert into t select g, (g * 7) % 3000, 'name ' || g % 2999, g / 2.0 from generate_series(1, 3000) g",
    "create index on t (k desc, name)",
    "create unique index on t (x)",
    "create index on t (lower(name)) where k > 1000",
  );
  t.same(await rows("select id from t where k = 21"), ["3"]);
  t.same(await rows("select id from t where x = 750.5"), ["1501"]);
  t.same(await rows("select count(*) from t where lower(name) = 'name 7' and k > 1000"), ["0"]);
  t.same(await fails("create unique index bad on t (name)"), '23505 could not create unique index "bad"');
  t.match(
    await fails("alter table t add constraint worse unique (name)"),
    /^23505 could not create unique index "worse"/,
  );
  t.match(await fails("insert into t values (5000, 1, 'x', 1.5)"), /^23505 duplicate key value .*"t_x_idx"/);
  await run("begin", "delete from t where id % 2 = 0", "insert into t values (2, 14, 'back', 1)");
  t.same(await rows("select count(*) from t where k >= 0"), ["1501"]);
  t.same(await rows("select id from t where k = 14"), ["2"]);
  t.same(await rows("select id from t where x = 751"), []);
  await run("rollback");
  t.same(await rows("select count(*) from t where k >= 0"), ["3000"]);
  await run("begin", "truncate t", "insert into t select g, g, 'n', g from generate_series(1, 10) g");
  t.same(await rows("select count(*), sum(k) from t where k < 6"), ["5|15"]);
  await run("rollback", "begin", "truncate t", "commit", "insert into t values (1, 1, 'again', 1)");
  t.same(await rows("select id, k, name, x from t where x = 1"), ["1|1|again|1"]);
  t.same(await rows("select count(*) from t"), ["1"]);
});
