/** INSERT of many rows goes through a load: what it stores, byte by byte, and what it refuses is as of single rows. */
import fc from "fast-check";
import t from "tap";
import { prefixRange, tenantPrefix } from "../../src/storage/keys.js";
import { open } from "../conformance/sql-adapter.js";
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

async function contents({ shard, tenantNumber }: Database): Promise<string[]> {
  const tx = shard.begin({ readOnly: true });
  const cursor = tx.scan(prefixRange(tenantPrefix(tenantNumber)));
  const { keys, values } = cursor.next(1_000_000);
  const texts = keys.map((key, i) => `${Buffer.from(key).toString("hex")} ${Buffer.from(values[i]!).toString("hex")}`);
  cursor.close();
  tx.rollback();
  // Space 1 holds definitions, with the time of their making.
  return texts.filter((text) => text[9] !== "1");
}

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

t.test("tables that a query fills, and rewritten ones", async (t) => {
  const { rows, run, fails } = await script(t);
  await run(
    "create table s as select g as id, g % 7 as k, 'name ' || g as name from generate_series(1, 3000) g",
    "create materialized view m as select k, name, count(*) as n from s group by k, name",
    "create unique index m_name on m (name)",
    "create index on m (k)",
  );
  t.same(await rows("select count(*), sum(k) from m where k > 5"), ["428|2568"]);
  await run(
    "insert into s select 3000 + g, 6, 'more ' || g from generate_series(1, 2000) g",
    "refresh materialized view m",
  );
  t.same(await rows("select count(*), min(n) from m where k = 6"), ["2428|1"]);
  t.same(await rows("select k from m where name = 'more 77'"), ["6"]);
  await run("insert into s values (9000, 5, 'more 77')");
  t.match(await fails("refresh materialized view m"), /^23505 could not create unique index "m_name"/);
  t.same(await rows("select count(*) from m"), ["5000"]);
  await run("begin", "delete from s where k = 5", "refresh materialized view m");
  t.same(await rows("select count(*), count(*) filter (where k = 5) from m"), ["4572|0"]);
  await run("rollback");
  t.same(await rows("select count(*), count(*) filter (where k = 5) from m"), ["5000|428"]);
  await run(
    "drop materialized view m",
    "create index on s (k)",
    "alter table s alter k type text using 'k' || k, add twice int generated always as (id * 2) stored",
  );
  t.same(await rows("select count(*), sum(twice) from s where k = 'k1'"), ["429|1286142"]);
  t.match(await fails("alter table s add unique (name)"), /^23505 could not create unique index "s_name_key"/);
  t.match(await fails("alter table s add primary key (twice, k), add unique (name)"), /^23505 .*"s_name_key"/);
  await run("alter table s add primary key (twice)");
  t.same(await rows("select id, name from s where twice = 154"), ["77|name 77"]);
  await run("begin", "alter table s alter name type varchar(40)", "rollback");
  t.same(await rows("select count(*), pg_typeof(min(name)) from s"), ["5001|text"]);
});

t.test("UPDATE of many rows stores what UPDATE of each stores", async (t) => {
  const changes = [
    "update t set k = k + 1",
    "update t set x = x + 1, name = upper(name)",
    "update t set id = id + 1, name = name || '!'",
    "update t set id = -id, k = 5 where id % 2 = 0",
    "update t set name = null where k = 5",
    "update t set k = 7",
  ];
  const schema = [
    "create table t (id int primary key, k int, name text unique, x int unique, twice int generated always as (k * 2) stored)",
    "create index on t (k desc, name)",
    "create index on t (twice) where k > 400",
    "insert into t (id, k, name, x) select g, g % 1000, 'name ' || g, g from generate_series(1, 2500) g",
  ];
  const [many, single] = [await open(), await open()];
  t.teardown(() => Promise.all([many.close(), single.close()]));
  for (const database of [many, single]) for (const sql of schema) await database.exec(sql);
  for (const sql of changes) {
    await many.exec(sql);
    // A statement that gives fewer rows goes the other way; keys are only checked between the two.
    for (const part of ["<", ">="]) {
      const isMoving = sql.includes("id = id + 1") || sql.includes("x = x + 1");
      if (isMoving && part === "<") await single.exec("begin");
      const where = sql.includes("where") ? " and" : " where";
      const order = isMoving ? (part === "<" ? ">=" : "<") : part;
      for (const third of [0, 1, 2]) {
        const edge = (n: number) => (n === 3 ? 100_000 : n === 0 ? -100_000 : n * 800);
        const steps = isMoving ? 2 - third : third;
        const half = order === "<" ? "x % 2 = 0" : "x % 2 <> 0";
        if (isMoving) {
          if (order === "<") continue;
          await single.exec(`${sql}${where} id > ${edge(steps)} and id <= ${edge(steps + 1)}`);
        } else await single.exec(`${sql}${where} ${half} and x > ${edge(third)} and x <= ${edge(third + 1)}`);
      }
      if (isMoving && part === ">=") await single.exec("commit");
    }
    t.strictSame(await contents(many), await contents(single), sql);
  }
});

t.test("UPDATE of many rows: keys that change hands, duplicates, rollback, savepoints, RETURNING", async (t) => {
  const { rows, run, fails } = await script(t);
  await run(
    "create table t (id int primary key, k int unique, name text)",
    "insert into t select g, g, 'name ' || g from generate_series(1, 3000) g",
    "create index on t (name)",
    "update t set id = id % 3000 + 1, k = 3001 - k",
  );
  t.same(await rows("select id, k, name from t where k in (1, 3000) order by k"), ["1|1|name 3000", "2|3000|name 1"]);
  t.same(await rows("select id from t where name = 'name 77'"), ["78"]);
  t.match(await fails("update t set k = k / 2"), /^23505 duplicate key value violates unique constraint "t_k_key"/);
  t.match(await fails("update t set id = 4000 where id > 1"), /^23505 .*"t_pkey"/);
  t.match(await fails("update t set k = 3000 where k < 2500"), /^23505 .*"t_k_key"/);
  t.match(await fails("update t set k = k + 1 where k < 2500"), /^23505 .*"t_k_key"/);
  t.match(await fails("update t set id = id + 1 where id < 2500"), /^23505 .*"t_pkey"/);
  t.same(await rows("select count(*), sum(k), sum(id) from t"), ["3000|4501500|4501500"]);
  await run(
    "begin",
    "update t set k = k + 1",
    "savepoint s",
    "update t set k = -k, name = 'x'",
    "delete from t where id < 5",
  );
  t.same(await rows("select count(*), max(k) from t where name = 'x'"), ["2996|-3"]);
  t.same(await rows("select id from t where k = -2000"), ["1003"]);
  await run("rollback to s");
  t.same(await rows("select count(*), max(k), min(k) from t"), ["3000|3001|2"]);
  await run("update t set k = k - 1", "insert into t values (9000, 3001, 'y')", "rollback");
  t.same(await rows("select count(*), max(k), min(k) from t"), ["3000|3000|1"]);
  t.equal((await rows("update t set k = k + 1 returning k, name")).length, 3000);
  t.same(await rows("with u as (update t set k = k - 1 returning k) select count(*), sum(k) from u"), ["3000|4501500"]);
});
