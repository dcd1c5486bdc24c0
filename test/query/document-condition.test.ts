/** `to_tsvector(…) @@ query` by a text index: the same rows as without one, for queries and texts of every kind. */
import t from "tap";
import { open } from "../conformance/sql-adapter.js";

type Database = Awaited<ReturnType<typeof open>>;

const TEXTS = [
  "The quick brown foxes are jumping",
  "A fox, jumped over the lazy dogs",
  "state-of-the-art search engines",
  "mail to someone@example.com or see www.example.com/path/index.html",
  "version 1.2.3 costs 12.50 of -7 units",
  "it's the river's bank; banks' money",
  "café naïve Ångström ﬁne",
  "<b>bold</b> words &amp; entities",
  "file /usr/local/readme.txt foo_bar x1y2 2nd",
  "RUNNING runner runs ran",
  "東京 tower 日本語",
  "",
];
const QUERIES = [
  ...["fox", "foxes & jump", "fox | dog", "fox & !lazy", "!fox", "jump <-> over", "lazi:*", "quick:*", "'art'", "run"],
  ...[
    "search <2> engine",
    "state-of-the-art",
    "12.50",
    "1.2.3",
    "foo_bar",
    "bank & river",
    "x1y2",
    "(fox | search) & !dog",
  ],
];
const PLAIN = [
  ...["jumping foxes", "the", "", "state-of-the-art", "someone@example.com", "www.example.com", "example", "café"],
  ...["naive", "fine", "ﬁne", "it's bank", "bold words", "readme.txt", "/usr/local/readme.txt", "東京", "2nd", "-7"],
];
const DOCUMENT = "to_tsvector('english', coalesce(title, '') || ' ' || coalesce(body, ''))";

async function filled(t: { teardown(run: () => unknown): void }): Promise<Database> {
  const database = await open();
  t.teardown(() => database.close());
  for (const table of ["story", "plain"]) {
    await database.exec(`CREATE TABLE ${table} (id int PRIMARY KEY, title varchar(200), body text, kind int)`);
  }
  await database.exec(`CREATE INDEX story_t ON story USING gin (${DOCUMENT})`);
  await fill(database, 0);
  return database;
}

async function fill(database: Database, first: number): Promise<void> {
  const quoted = (text: string | undefined) => (text === undefined ? "NULL" : `'${text.replaceAll("'", "''")}'`);
  const rows = TEXTS.flatMap((title, i) =>
    [0, 1, 5, 20].map((step, j) => `(${first + 4 * i + j}, ${quoted(title)}, ${quoted(TEXTS[i + step])}, ${i % 3})`),
  );
  for (const table of ["story", "plain"]) await database.exec(`INSERT INTO ${table} VALUES ${rows.join(", ")}`);
}

async function compare(t: Tap, database: Database, when: string): Promise<void> {
  const documents = [DOCUMENT, "to_tsvector('english', body)", "to_tsvector('english', title || ' ' || body)"];
  const queries = [
    ...QUERIES.map((query) => ["to_tsquery('english', $1)", query] as const),
    ...QUERIES.map((query) => ["$1::tsquery", query] as const),
    ...PLAIN.flatMap((query) =>
      ["plainto_tsquery", "phraseto_tsquery", "websearch_to_tsquery"].map(
        (name) => [`${name}('english', $1)`, query] as const,
      ),
    ),
    ["plainto_tsquery('simple', $1)", "Foxes"] as const,
  ];
  for (const document of documents) {
    for (const [query, value] of queries) {
      const sql = (table: string) => `SELECT id FROM ${table} WHERE ${document} @@ ${query} AND kind < 2 ORDER BY id`;
      const found = (await database.exec(sql("story"), [value])).rows;
      t.same(found, (await database.exec(sql("plain"), [value])).rows, `${when}: ${document} @@ ${query} of ${value}`);
    }
  }
}

interface Tap {
  same(found: unknown, wanted: unknown, message: string): void;
}

t.test("rows", async (t) => {
  const database = await filled(t);
  await compare(t, database, "while the index is made");
  for (let i = 0; i < 300; i++) await new Promise((resolve) => setImmediate(resolve));
  await compare(t, database, "when it is ready");
  await database.exec("BEGIN");
  await fill(database, 1000);
  for (const table of ["story", "plain"]) {
    await database.exec(`DELETE FROM ${table} WHERE id % 5 = 0`);
    await database.exec(`UPDATE ${table} SET title = 'a fox of example.com', body = NULL WHERE id % 7 = 0`);
  }
  await compare(t, database, "in a transaction");
  await database.exec("COMMIT");
  await compare(t, database, "after it");
  for (const table of ["story", "plain"]) {
    await database.exec(`UPDATE ${table} SET kind = 9 WHERE ${DOCUMENT} @@ to_tsquery('english', 'fox & dog')`);
  }
  await compare(t, database, "after an update by the condition");
});

t.test("plans", async (t) => {
  const database = await filled(t);
  const plan = async (where: string) =>
    (await database.exec(`EXPLAIN SELECT id FROM story WHERE ${where}`, ["x"])).rows.join("\n");
  const query = "plainto_tsquery('english', $1)";
  const uses = /Text Search using story_t on story/;
  t.match(await plan(`${DOCUMENT} @@ ${query}`), uses);
  t.match(await plan(`${query} @@ ${DOCUMENT}`), uses);
  t.match(await plan(`to_tsvector('english', body) @@ ${query} AND kind = 1`), uses);
  t.match(await plan(`to_tsvector('english', body) @@ ${query}`), /Filter: .*@@/, "which is asked of each again");
  for (const other of [
    `to_tsvector('simple', body) @@ ${query}`,
    `to_tsvector(body) @@ ${query}`,
    `to_tsvector('english', title || body) @@ ${query}`,
    `to_tsvector('english', body || ' more') @@ ${query}`,
    `to_tsvector('english', lower(body)) @@ ${query}`,
    `to_tsvector('english', body) @@ plainto_tsquery('english', title || $1)`,
    `to_tsvector('english', body) @@ ${query} OR kind = 1`,
  ]) {
    t.notMatch(await plan(other), /Text Search/, other);
  }
  t.match(await plan(`to_tsvector('english', body) @@ ${query} AND id = 3`), /Point Get/);
});
