/** search() in FROM: what it ranks by, how rankings are fused, its plans and what it refuses. */
import t, { type Test } from "tap";
import { open } from "../conformance/sql-adapter.js";

type Database = Awaited<ReturnType<typeof open>>;

const WORDS = "river stone bird house garden banks ship harbour night morning".split(" ");
const ROWS = 300;

async function stories(t: Test): Promise<Database> {
  const database = await open();
  t.teardown(() => database.close());
  const values = Array.from({ length: ROWS }, (_, i) => {
    const word = (j: number) => WORDS[(i * j * 7 + j * j + i) % WORDS.length]!;
    const vector = i % 10 === 9 ? "NULL" : `'[${[i % 7, (i * 3) % 11, (i * 5) % 13].map((x) => x - 4.5)}]'`;
    return `(${i}, '${word(1)} ${word(2)}', '${word(3)} ${word(4)} ${word(5)}', ${i % 3}, ${vector})`;
  });
  for (const sql of [
    "CREATE TABLE story (id int PRIMARY KEY, title text, body text, kind int, v vector(3))",
    `INSERT INTO story VALUES ${values.join(", ")}`,
    "CREATE INDEX story_t ON story USING text (title, body)",
    "CREATE INDEX story_v ON story USING hnsw (v)",
  ]) {
    await database.exec(sql);
  }
  return database;
}

t.test("rankings", async (t) => {
  const database = await stories(t);
  const rows = async (sql: string, params: string[] = []) => (await database.exec(sql, params)).rows;
  const match = "MATCH (title, body) AGAINST ('river stone')";
  t.same(
    await rows("SELECT id, score FROM search('story', 'river stone', 7)"),
    await rows(`SELECT id, ${match} FROM story WHERE ${match} ORDER BY ${match} DESC LIMIT 7`),
    "by words",
  );
  t.same(
    await rows("SELECT id, score FROM search('story', $1::vector, 7)", ["[1,2,3]"]),
    await rows("SELECT id, 1 - (v <=> '[1,2,3]') FROM story WHERE v IS NOT NULL ORDER BY v <=> '[1,2,3]' LIMIT 7"),
    "by a vector",
  );
  const byWords = await rows(`SELECT id, ${match} FROM story WHERE ${match} ORDER BY ${match} DESC LIMIT 50`);
  const distance = "(v <=> '[1,2,3]')::real";
  const byVector = await rows(`SELECT id, ${distance} FROM story WHERE v IS NOT NULL ORDER BY 2 LIMIT 50`);
  const scores = new Map<string, number>();
  const add = (id: string, points: number) => scores.set(id, (scores.get(id) ?? 0) + points);
  const [near, edge] = [Number(byVector[0]![1]), Number(byVector.at(-1)![1])];
  for (const [id, score] of byWords) add(id!, (0.6 * Number(score)) / Number(byWords[0]![1]));
  for (const [id, far] of byVector) add(id!, (0.4 * (edge - Number(far))) / (edge - near));
  const best = [...scores].sort(([a, x], [b, y]) => y - x || Number(a) - Number(b)).slice(0, 12);
  const found = await rows("SELECT id, score, title FROM search('story', 'river stone', 12, 'hybrid', '[1,2,3]')");
  const isNear = (a: number, b: number) => Math.abs(a - b) < 2e-6;
  t.equal(found.length, best.length);
  t.ok(
    found.every(([, score], rank) => isNear(Number(score), best[rank]![1])),
    "by both",
  );
  t.ok(found.every(([id, score]) => isNear(scores.get(id!)!, Number(score))));
  t.same(await rows("SELECT id FROM search('story', NULL, 3)"), [], "NULL finds nothing");
  t.equal((await rows("SELECT * FROM search('public.story', 'river')")).length, 10, "ten rows unless said");
  t.same(
    await rows("SELECT id FROM search(query => 'river', k => 2, collection => 'story')"),
    await rows("SELECT id FROM search('story', $1, $2)", ["river", "2"]),
  );
  t.same(
    await rows(
      "SELECT s.id, o.id FROM story o, search('story', o.v, 1) s WHERE o.kind = 1 AND o.id < 30 ORDER BY o.id",
    ),
    await rows(
      "SELECT (SELECT id FROM story i ORDER BY i.v <=> o.v LIMIT 1), id FROM story o WHERE kind = 1 AND id < 30 AND v IS NOT NULL ORDER BY o.id",
    ),
    "beside the rows that it is called for",
  );
  await database.exec(
    "CREATE TABLE marks (score int, rank int, distance int, body text, v vector(2), PRIMARY KEY (score, rank))",
  );
  await database.exec("INSERT INTO marks VALUES (1, 2, 3, 'red', '[1,0]'), (4, 5, 6, 'red hat', '[0,1]')");
  await database.exec("CREATE INDEX ON marks USING text (body)");
  await database.exec("CREATE INDEX ON marks USING hnsw (v vector_l2_ops)");
  t.same(
    await rows(
      "SELECT score, rank, distance, round(score_::numeric, 4) FROM search('marks', 'hat', 5, 'hybrid', '[0,1]')",
    ),
    [
      ["4", "5", "6", "1.0000"],
      ["1", "2", "3", "0.0000"],
    ],
    "names that the table has already",
  );
});

t.test("a view of a search goes with its table", async (t) => {
  const database = await stories(t);
  await database.exec("CREATE VIEW found AS SELECT id, score FROM search('story', 'river', 3)");
  t.equal((await database.exec("SELECT id FROM found")).rows.length, 3);
  await t.rejects(database.exec("DROP TABLE story"), /other objects depend on it/);
  await database.exec("DROP TABLE story CASCADE");
  await t.rejects(database.exec("SELECT id FROM found"), /does not exist/);
});

t.test("plans", async (t) => {
  const database = await stories(t);
  const plan = async (sql: string) => (await database.exec(`EXPLAIN ${sql}`)).rows.join("\n");
  const hybrid = await plan("SELECT id FROM search('story', 'river', 3, 'hybrid', '[1,2,3]')");
  t.match(hybrid, /Text Search using story_t[\s\S]*Count: '50'/);
  t.match(hybrid, /Vector Search using story_v[\s\S]*Count: '50'/);
  await database.exec("CREATE VIEW best AS SELECT id, score FROM search('story', 'river', 3)");
  t.match(await plan("SELECT id FROM best"), /Text Search using story_t/);
});

t.test("what it refuses", async (t) => {
  const database = await stories(t);
  const refuses = async (sql: string, message: RegExp) => t.rejects(database.exec(sql), message, sql);
  await database.exec("CREATE TABLE plain (a int)");
  await refuses("SELECT * FROM search('nothing', 'x')", /relation "nothing" does not exist/);
  await refuses("SELECT * FROM search('plain', 'x')", /neither a text index nor a vector index/);
  await refuses("SELECT * FROM search('plain', 'x', 1, 'text')", /no text index/);
  await refuses("SELECT * FROM search('story', 'x', 1, 'odd')", /one of text, vector, hybrid/);
  await refuses("SELECT * FROM search('story', '[1,2,3]'::vector, 1, 'text')", /asks for words/);
  await refuses("SELECT * FROM search('story')", /takes a table, a query/);
  await refuses("SELECT * FROM search('story', 'x', 'many')", /invalid input syntax for type bigint/);
  await refuses("SELECT * FROM search(title, 'x') FROM story", /syntax error/);
  await refuses("SELECT * FROM story, search(title, 'x')", /must be written as a constant/);
  await database.exec("CREATE FUNCTION search(a text, b text) RETURNS int LANGUAGE sql AS 'SELECT 7'");
  t.same(
    (await database.exec("SELECT * FROM search('story', 'x')")).rows,
    [["7"]],
    "a function of that name comes first",
  );
});
