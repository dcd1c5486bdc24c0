/**
 * Pages of an order, as programs ask for them: `WHERE (at, id) > (…) ORDER BY at, id LIMIT 20`. An index gives them
 * from where the page begins; the same rows come from a sort.
 */
import t from "tap";
import { open } from "../conformance/sql-adapter.js";
import { Random } from "../fuzz/random.js";

type Database = Awaited<ReturnType<typeof open>>;
const ROWS = 400;

async function filled(t: { teardown(end: () => unknown): void }): Promise<Database> {
  const database = await open();
  t.teardown(() => database.close());
  for (const sql of [
    "CREATE TABLE p (id int PRIMARY KEY, of int NOT NULL, at int, word text NOT NULL)",
    `INSERT INTO p SELECT i, i * 7 % 5, CASE WHEN i % 9 = 0 THEN NULL ELSE i * 31 % 20 END, 'w' || i * 13 % 6
       FROM generate_series(1, ${ROWS}) i`,
    "CREATE INDEX p_at ON p (at)",
    "CREATE INDEX p_of_at ON p (of, at DESC)",
    "CREATE INDEX p_word ON p (word DESC)",
  ])
    await database.exec(sql);
  return database;
}

t.test("the index gives a page from where it begins", async (t) => {
  const database = await filled(t);
  const plan = async (sql: string): Promise<string> => (await database.exec(`EXPLAIN ${sql}`)).rows.join("\n");
  const pages: [string, RegExp][] = [
    ["(at, id) > (7, 100) ORDER BY at, id", /Index Scan using p_at[^\n]*\n +Index Cond: \(at >= 7\)/],
    ["(at, id) < (7, 100) ORDER BY at DESC, id DESC", /Scan Backward using p_at[^\n]*\n +Index Cond: \(at <= 7\)/],
    ["at > 7 ORDER BY at", /Index Scan using p_at[^\n]*\n +Index Cond: \(at > 7\)/],
    [
      "of = 3 AND (at < 9 OR (at = 9 AND id > 4)) ORDER BY at DESC, id",
      /p_of_at[^\n]*\n +Index Cond:.*of = 3.*at <= 9/,
    ],
    ["word < 'w3' ORDER BY word DESC, id", /Index Scan using p_word[^\n]*\n +Index Cond: \(word < 'w3'/],
  ];
  for (const [sql, wanted] of pages) {
    const text = await plan(`SELECT * FROM p WHERE ${sql} LIMIT 10`);
    t.match(text, wanted, sql);
    t.notMatch(text, /Sort/, sql);
  }
  const sorted = ["at > 7 ORDER BY at, id DESC", "(at > 7 OR id = 3) ORDER BY id + 0", "at > 7 ORDER BY at, word, id"];
  for (const sql of sorted) t.match(await plan(`SELECT * FROM p WHERE ${sql} LIMIT 10`), /Sort/, sql);
});

t.test("the same rows as by a sort", async (t) => {
  const database = await filled(t);
  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
  const random = new Random(seed);
  const number = () => random.below(22) - 1;
  const conditions = [
    () => `(at, id) ${random.one(["<", "<=", ">", ">="])} (${number()}, ${random.below(ROWS)})`,
    () => `(of, at, id) ${random.one(["<", ">="])} (${random.below(6)}, ${number()}, ${random.below(ROWS)})`,
    () => `(at > ${number()} OR at = ${number()})`,
    () => `(at < ${number()} OR (at = ${number()} AND word > 'w2') OR at IS NULL)`,
    () => `of = ${random.below(5)}`,
    () => `of IN (${random.below(5)}, ${random.below(5)})`,
    () => `word >= 'w${random.below(6)}'`,
    () => `at BETWEEN ${number()} AND ${number()}`,
    () => "at IS NULL",
    () => `id % 3 = ${random.below(3)}`,
  ];
  const orders = [
    "at, id",
    "at DESC, id DESC",
    "at DESC NULLS LAST, id DESC",
    "of, at DESC, id",
    "of DESC, at, id DESC",
  ];
  orders.push("word DESC, id", "word, id DESC", "at, of, id", "word, id", "of, at DESC NULLS LAST, id");
  for (const known of [false, true]) {
    if (known) await database.exec("ANALYZE p");
    for (let n = 0; n < 80; n++) {
      const where = Array.from({ length: 1 + random.below(2) }, () => random.one(conditions)()).join(" AND ");
      const order = random.one(orders);
      const page = `LIMIT ${1 + random.below(30)} OFFSET ${random.one([0, 0, random.below(40)])}`;
      const rows = async (by: string) =>
        (await database.exec(`SELECT id, of, at, word FROM p WHERE ${where} ORDER BY ${by} ${page}`)).rows;
      const bySort = order.replace(/\b(id|of|at)\b/g, "$1 + 0").replace("word", "word || ''");
      const found = await rows(order);
      if (JSON.stringify(found) !== JSON.stringify(await rows(bySort)))
        t.same(found, [], `seed ${seed}: ${where}, ${order} ${page}`);
    }
  }
  t.pass(`seed ${seed}`);
});
