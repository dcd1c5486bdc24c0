/**
 * Joins whose bounds of an index's range come from the other side: they find what the same join finds without an
 * index, with NULLs, empty sides, repeated values, and bounds that lie the wrong way round.
 */
import t from "tap";
import { open } from "../conformance/sql-adapter.js";
import { Random } from "../fuzz/random.js";

const ROWS = 250;
const PERIODS = 30;

const CONDITIONS = [
  "e.at >= p.a AND e.at < p.b",
  "e.at > p.a AND e.at <= p.b",
  "e.at BETWEEN p.a AND p.b",
  "p.a <= e.at AND e.at < p.a + interval '3 hours'",
  "e.at > p.a - interval '1 hour' AND e.at < p.b AND e.n > p.k",
  "e.k = p.k AND e.at >= p.a AND e.at < p.b",
  "e.k = p.k AND e.at >= p.a",
  "e.k = p.k AND e.at >= timestamp '2024-01-02' AND e.at >= p.a AND e.at < p.b AND e.at < '2024-01-05'",
  "e.n >= p.k AND e.n < p.k + 2",
  "e.n >= p.k AND e.at < p.b AND e.n <= p.m",
  "e.at >= p.a AND e.at < p.b AND (e.n > 10 OR p.k IS NULL)",
];

t.test("the same rows as without an index", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  const random = new Random(Number(process.env.SEED ?? 7));
  const moment = () => {
    const hours = random.below(6 * 24);
    return random.below(12) === 0 ? "NULL" : `timestamp '2024-01-01' + ${hours} * interval '1 hour'`;
  };
  const small = () => (random.below(12) === 0 ? "NULL" : String(random.below(30)));
  const columns = "id int PRIMARY KEY, k int, n bigint, at timestamp, note text";
  for (const name of ["e", "bare"]) await database.exec(`CREATE TABLE ${name} (${columns})`);
  await database.exec("CREATE TABLE p (id int PRIMARY KEY, k int, m int, a timestamp, b timestamp)");
  await database.exec("CREATE INDEX ON e (at DESC, id)");
  await database.exec("CREATE INDEX ON e (k, at)");
  await database.exec("CREATE INDEX ON e (n)");
  const events = Array.from({ length: ROWS }, (_, i) => `(${i}, ${small()}, ${small()}, ${moment()}, 'note ${i}')`);
  const periods = Array.from({ length: PERIODS }, (_, i) => `(${i}, ${small()}, ${small()}, ${moment()}, ${moment()})`);
  await database.exec(`INSERT INTO bare VALUES ${events.join()}`);
  await database.exec("INSERT INTO e SELECT * FROM bare");
  await database.exec(`INSERT INTO p VALUES ${periods.join()}`);
  // Its changes lie above what the indexes have.
  for (const name of ["e", "bare"]) {
    await database.exec(`UPDATE ${name} SET at = at + interval '1 hour' WHERE id % 7 = 0`);
    await database.exec(`DELETE FROM ${name} WHERE id % 11 = 0`);
  }
  let byIndex = 0;
  const compare = async (left: string, right: string) => {
    for (const condition of CONDITIONS) {
      const statements = ["JOIN", "LEFT JOIN", "RIGHT JOIN"].map(
        (join) => `SELECT p.id, e.id, e.note FROM ${left} p ${join} ${right} e ON ${condition}`,
      );
      for (const not of ["", "NOT "]) {
        statements.push(`SELECT p.id FROM ${left} p WHERE ${not}EXISTS (SELECT 1 FROM ${right} e WHERE ${condition})`);
      }
      statements.push(`SELECT e.id, p.id, p.m FROM ${right} e LEFT JOIN ${left} p ON ${condition}`);
      for (const sql of statements) {
        const plan = (await database.exec(`EXPLAIN ${sql}`)).rows.join("\n");
        if (/Index Cond: .*[<>].*\bp\./.test(plan)) byIndex++;
        const expected = await database.exec(
          sql.replaceAll(` ${right} e`, ` ${right.replace(/^e\b|\be\b/, "bare")} e`),
        );
        t.same(found(await database.exec(sql)), found(expected), `${sql}\n${plan}`);
      }
    }
  };
  await compare("p", "e");
  t.ok(byIndex > 5, `${byIndex} by an index whose bounds the other side gives`);
  for (const name of ["e", "bare", "p"]) await database.exec(`ANALYZE ${name}`);
  byIndex = 0;
  await compare("(SELECT * FROM p WHERE id < 3)", "e");
  t.ok(byIndex > 30, `${byIndex} by an index, analyzed`);
  await compare("(SELECT * FROM p WHERE id < 0)", "e");
  await compare("p", "(SELECT * FROM e WHERE id < 0)");
});

function found({ rows }: { readonly rows: readonly (readonly unknown[])[] }): readonly string[] {
  return rows.map((row) => row.map(String).join()).toSorted();
}
