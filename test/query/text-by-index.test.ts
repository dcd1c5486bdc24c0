/**
 * MATCH … AGAINST by a text index: the rows and scores of its words, with filters, in transactions, after any change.
 */
import t from "tap";
import { open } from "../conformance/sql-adapter.js";
import { sized } from "../lengths.js";

type Database = Awaited<ReturnType<typeof open>>;

const WORDS = "river stone bird runs house garden river banks ship harbour night morning stones birds".split(" ");
const SETUP = [
  "CREATE TABLE story (id int PRIMARY KEY, kind int, title text, body text)",
  `INSERT INTO story SELECT i, i % 4, (ARRAY['${WORDS.join("','")}'])[1 + i % 14],
     CASE WHEN i % 9 = 0 THEN NULL ELSE (SELECT string_agg((ARRAY['${WORDS.join("','")}'])[1 + (i * j * 7 + j) % 14], ' ') FROM generate_series(1, 5 + i % 8) j) END
     FROM generate_series(1, 400) i`,
  "CREATE INDEX story_text ON story USING text (title, body) WITH (language = 'english')",
];

const MATCH = "MATCH (title, body) AGAINST ($1)";
const QUERIES = [
  "river",
  "running stone",
  '"bird house"',
  "+river -stone",
  "har* ship",
  "(night OR morning) AND river",
  "the",
];
/** Of the filters, with each query. */
const EVERY = sized(2, 1);
const FILTERS = ["true", "kind = 1", "id > 350", "title LIKE 'b%' OR kind = 2"];

/** The same rows and scores by an index that is made for the statement: the table is a copy that was just filled. */
async function compare(database: Database, when: string): Promise<void> {
  await database.exec("SAVEPOINT copy");
  await database.exec("CREATE TABLE again AS SELECT * FROM story");
  await database.exec("CREATE INDEX ON again USING text (title, body) WITH (language = 'english')");
  for (const [i, query] of QUERIES.entries()) {
    for (const filter of FILTERS.filter((_, k) => (i + k) % EVERY === 0)) {
      const sql = (table: string) =>
        `SELECT id, round(${MATCH}::numeric, 6) AS score FROM ${table} WHERE ${MATCH} AND (${filter}) ORDER BY score DESC, id`;
      const found = await database.exec(sql("story"), [query]);
      const expected = await database.exec(sql("again"), [query]);
      t.same(found.rows, expected.rows, `${when}: ${query} where ${filter}`);
      const best = await database.exec(`${sql("story")} LIMIT 7 OFFSET 2`, [query]);
      t.same(best.rows, expected.rows.slice(2, 9), `${when}: the best of ${query} where ${filter}`);
    }
  }
  await database.exec("ROLLBACK TO copy");
}

async function inTransaction(database: Database, work: () => Promise<void>, end: "COMMIT" | "ROLLBACK"): Promise<void> {
  await database.exec("BEGIN");
  await work();
  await database.exec(end);
}

async function ready(database: Database): Promise<void> {
  await database.exec(`SELECT id FROM story WHERE ${MATCH}`, ["river"]);
  for (let i = 0; i < 500; i++) await new Promise((resolve) => setImmediate(resolve));
}

t.test("rows and scores", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  for (const sql of SETUP) await database.exec(sql);
  await inTransaction(database, () => compare(database, "while it is made"), "COMMIT");
  await ready(database);
  await inTransaction(database, () => compare(database, "when it is ready"), "COMMIT");
  const change = async () => {
    await database.exec("UPDATE story SET body = 'a stone in the river' WHERE id BETWEEN 10 AND 13");
    await database.exec("DELETE FROM story WHERE id IN (3, 8, 21)");
    await database.exec("INSERT INTO story VALUES (1000, 1, 'bird house', 'running rivers')");
  };
  const found = () => database.exec(`SELECT id FROM story WHERE ${MATCH} ORDER BY id`, ['"bird house"']);
  await inTransaction(
    database,
    async () => {
      const before = (await found()).rows.flat();
      await change();
      const after = (await found()).rows.flat();
      t.ok(after.includes("1000") && !before.includes("1000"), "own rows are found");
      t.notOk(
        after.some((id) => ["3", "8", "21"].includes(id as string)),
        "and deleted ones are not",
      );
    },
    "ROLLBACK",
  );
  await inTransaction(database, () => compare(database, "after rollback"), "COMMIT");
  await change();
  await database.exec("UPDATE story SET kind = 1, title = 'harbour' WHERE id % 3 = 0");
  await ready(database);
  await inTransaction(database, () => compare(database, "after changes"), "COMMIT");
});

t.test("plans", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  for (const sql of SETUP) await database.exec(sql);
  const plan = async (sql: string) => (await database.exec(`EXPLAIN ${sql}`, ["river"])).rows.join("\n");
  const best = await plan(
    `SELECT id, ${MATCH} AS score FROM story WHERE ${MATCH} AND kind = 2 ORDER BY score DESC LIMIT 5 OFFSET 2`,
  );
  t.match(best, /Text Search using story_text on story/);
  t.match(best, /Search For: \$1/);
  t.match(best, /Count: 5 \+ 2|Count: .*5.*2/);
  t.match(best, /Filter: \(kind = 2\)/);
  t.match(
    await plan(
      `SELECT s.id FROM story s JOIN story o ON o.id = s.kind WHERE MATCH (s.body, s.title) AGAINST ('bird' IN BOOLEAN MODE)`,
    ),
    /Text Search using story_text on story s/,
  );
  t.match(
    await plan(`SELECT kind, count(*), max(${MATCH}) FROM story WHERE ${MATCH} > 0 GROUP BY kind`),
    /Text Search/,
  );
  t.same(
    (await database.exec(`SELECT count(*) FROM story WHERE MATCH (title, body) AGAINST ('river stone' IN ALL MODE)`))
      .rows,
    (await database.exec(`SELECT count(*) FROM story WHERE ${MATCH}`, ["+river +stone"])).rows,
  );
  await t.rejects(
    database.exec("SELECT id FROM story WHERE MATCH (title) AGAINST ('x')"),
    /text index of just these columns/,
  );
  await t.rejects(
    database.exec(
      "SELECT text_score(title, body, 'x', 'odd') FROM story WHERE text_score(title, body, 'x', 'odd') > 0",
    ),
    /mode must be one of/,
  );
});

t.test("other statements", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  for (const sql of SETUP) await database.exec(sql);
  const rows = async (sql: string) => (await database.exec(sql)).rows;
  const match = "MATCH (title, body) AGAINST ('harbour')";
  const count = (await rows(`SELECT count(*) FROM story WHERE ${match}`))[0]![0];
  t.same(
    await rows(
      `SELECT (SELECT count(*) FROM story o WHERE MATCH (o.title, o.body) AGAINST (w.word)) FROM (VALUES ('harbour'), ('zzz')) w(word)`,
    ),
    [[count], ["0"]],
    "in a correlated subquery, while the index is made",
  );
  t.same(
    await rows(
      "SELECT count(o.id) FROM story s LEFT JOIN story o ON o.id = s.id WHERE MATCH (o.title, o.body) AGAINST ('harbour')",
    ),
    [[count]],
    "on the side of an outer join that may have no row",
  );
  t.same((await rows(`UPDATE story SET kind = 77 WHERE ${match} RETURNING id`)).length, Number(count), "UPDATE");
  t.same(await rows("SELECT count(*) FROM story WHERE kind = 77"), [[count]]);
  t.match((await rows(`EXPLAIN DELETE FROM story WHERE ${match}`)).join("\n"), /Text Search using story_text/);
  t.same((await rows(`DELETE FROM story WHERE ${match} AND id > 100 RETURNING id`)).length > 0, true, "DELETE");
  t.same(await rows(`SELECT count(*) FROM story WHERE ${match} AND id > 100`), [["0"]]);
});
