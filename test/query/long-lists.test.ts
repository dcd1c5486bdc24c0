/** IN lists of many constants, which become one array: the same rows as short lists, and the plans that lists get. */
import t, { type Test } from "tap";
import { open } from "../conformance/sql-adapter.js";
import { sized } from "../lengths.js";

const COUNT = 400;

async function opened(t: Test): Promise<Awaited<ReturnType<typeof open>>> {
  const database = await open();
  t.teardown(() => database.close());
  await database.exec(
    "CREATE TABLE r (id bigint PRIMARY KEY, k smallint, t text, v varchar(20), c char(9), n numeric, f float8, d date, u uuid)",
  );
  await database.exec(
    `INSERT INTO r SELECT i, CASE WHEN i % 9 = 0 THEN NULL ELSE i % 500 END, 't' || i % 400, 'v' || i, 'c' || i % 300, i / 2.0,
       CASE WHEN i % 11 = 0 THEN 'NaN' ELSE i / 4.0 END::float8, date '2020-01-01' + i, lpad(to_hex(i), 32, '0')::uuid
     FROM generate_series(1, ${sized(500, 1500)}) i`,
  );
  return database;
}

const LISTS: Readonly<Record<string, (i: number) => string>> = {
  id: (i) => String(i * 5),
  k: (i) => String(i * 3),
  t: (i) => `'t${i * 2}'`,
  v: (i) => `'v${i * 3}'`,
  c: (i) => `'c${i}  '`,
  n: (i) => (i % 2 === 0 ? `${i}.50` : String(i)),
  f: (i) => (i === 7 ? "'NaN'" : `${i}.25`),
  d: (i) => `'2020-0${1 + (i % 9)}-1${i % 10}'`,
  u: (i) => `'${(i * 4).toString(16).padStart(32, "0")}'`,
};

t.test("a long list is as many short ones", async (t) => {
  const database = await opened(t);
  for (const [column, make] of Object.entries(LISTS)) {
    for (const withNull of [false, true]) {
      const items = Array.from({ length: COUNT }, (_, i) => make(i));
      if (withNull) items.push("NULL");
      const short = Array.from({ length: Math.ceil(items.length / 100) }, (_, part) => {
        return `${column} IN (${items.slice(part * 100, part * 100 + 100)})`;
      }).join(" OR ");
      for (const [long, other] of [
        [`${column} IN (${items})`, short],
        [`${column} NOT IN (${items})`, `NOT (${short})`],
        [`(${column} IN (${items})) IS NULL`, `(${short}) IS NULL`],
      ]) {
        const sql = (condition: string) => `SELECT id FROM r WHERE ${condition} ORDER BY id`;
        t.same(
          (await database.exec(sql(long!))).rows,
          (await database.exec(sql(other!))).rows,
          `${column}, ${withNull}`,
        );
      }
    }
  }
});

t.test("its plans are those of lists", async (t) => {
  const database = await opened(t);
  const list = Array.from({ length: COUNT }, (_, i) => i * 2);
  const planOf = async (sql: string) => (await database.exec(`EXPLAIN ${sql}`)).rows.join("\n");
  t.match(await planOf(`SELECT t FROM r WHERE id IN (${list})`), /Index Scan using r_pkey/);
  const left = `SELECT a.id FROM r a LEFT JOIN r b ON a.id = b.k WHERE b.id IN (${list})`;
  t.notMatch(await planOf(left), /Left/, "no row without a match passes");
  const equal = `SELECT a.t, b.t FROM r a JOIN r b ON a.id = b.id WHERE a.id IN (${list.slice(0, 250)})`;
  t.equal((await database.exec(equal)).rows.length, 249);
  await database.exec(`CREATE INDEX r_k ON r (t) WHERE k IS NOT NULL`);
  t.match(await planOf(`SELECT id FROM r WHERE t = 't3' AND k IN (${list})`), /r_k/, "it implies IS NOT NULL");
  await t.rejects(database.exec(`SELECT id FROM r WHERE id IN (${[...list, "'x'"]})`), { code: "22P02" });
  const { rows } = await database.exec(
    `SELECT id FROM r WHERE id IN (${[...list, "1 + 2", "k"]}) AND id < 4 ORDER BY id`,
  );
  t.same(rows, [["1"], ["2"], ["3"]], "items that are no constants");
});
