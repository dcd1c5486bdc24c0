/**
 * An index of trigrams names every row that LIKE, ILIKE or an operator of pg_trgm finds, whatever the transaction
 * changed.
 */
import fc from "fast-check";
import t, { type Test } from "tap";
import { likeMatcher, likeParts } from "../../src/query/expr/functions/like.js";
import { trigramsOfPattern, trigramsOfText } from "../../src/values/trigrams.js";
import { open } from "../conformance/sql-adapter.js";

type Database = Awaited<ReturnType<typeof open>>;

const PIECES = [
  "ab",
  "abc",
  "C",
  "σ",
  "Σ",
  "ς",
  "ß",
  "ẞ",
  "İ",
  "ı",
  "K",
  "K",
  "ſ",
  "é",
  "日本",
  "1",
  " ",
  "-",
  "́",
  "😀x",
];
const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 8 }).map((pieces) => pieces.join(""));
const pattern = fc
  .array(fc.constantFrom(...PIECES, "%", "_", "\\%"), { maxLength: 8 })
  .map((pieces) => pieces.join(""));

t.test("a text that a pattern matches has the pattern's trigrams", async (t) => {
  let matched = 0;
  fc.assert(
    fc.property(text, pattern, fc.boolean(), (text, pattern, ignoreCase) => {
      if (!likeMatcher(pattern, ignoreCase)(text)) return true;
      matched++;
      const own = new Set(trigramsOfText(text));
      return trigramsOfPattern(likeParts(pattern)!).every((trigram) => own.has(trigram));
    }),
    {
      numRuns: 20_000,
      examples: [
        ["ΟΔΟΣΑ", "%ΔΟΣ%", false],
        ["ΟΔΟΣ", "%ος", true],
        ["Straße", "%STRAẞ%", true],
      ],
    },
  );
  t.ok(matched > 100, `${matched} matched`);
});

t.test("trigrams of patterns", async (t) => {
  const of = (pattern: string) => trigramsOfPattern(likeParts(pattern)!);
  t.same(of("%abcd%"), ["abc", "bcd"]);
  t.same(of("abc"), ["  a", " ab", "abc", "bc "]);
  t.same(of("%ab"), ["ab "]);
  t.same(of("a_c%"), ["  a"]);
  t.same(of("%ab xy%"), ["ab ", "  x", " xy"]);
  t.same(of("%a%"), []);
});

const WORDS = "river stone Bird runs house Garden rivers banks ship harbour night morning stones birds".split(" ");
const ROWS = `SELECT i, CASE WHEN i % 9 = 0 THEN NULL ELSE
   (SELECT string_agg((ARRAY['${WORDS.join("','")}'])[1 + (i * j * 7 + j) % 14], ' ') FROM generate_series(1, 1 + i % 4) j) END
   FROM generate_series(1, 300) i`;

const CONDITIONS = [
  "name LIKE '%ston%'",
  "name LIKE '%s b%' AND id > 100",
  "name ILIKE '%GARDEN%'",
  "name ILIKE 'bird%s'",
  "name LIKE '%ver_'",
  "name LIKE '%o%'",
  "name LIKE '%ou_e ri%'",
  "name LIKE NULL",
  "name % 'riverstone'",
  "'harbor' <% name",
  "name %> 'harbor' AND id < 200",
  "'ship' <<% name",
  "name LIKE '%' || chr(110) || 'ight%'",
  "name ILIKE ANY (ARRAY['%ship%', '%morn%'])",
  "name NOT LIKE '%ston%'",
];

async function compare(t: Test, database: Database, when: string): Promise<void> {
  for (const condition of CONDITIONS) {
    const found = await database.exec(`SELECT id FROM story WHERE ${condition} ORDER BY id`);
    const expected = await database.exec(
      `SELECT id FROM (SELECT * FROM story OFFSET 0) s WHERE ${condition} ORDER BY id`,
    );
    t.same(found.rows, expected.rows, `${when}: ${condition}`);
  }
}

async function plan(database: Database, condition: string): Promise<string> {
  return (await database.exec(`EXPLAIN SELECT id FROM story WHERE ${condition}`)).rows.flat().join("\n");
}

t.test("rows by the index", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  await database.exec("CREATE TABLE story (id int PRIMARY KEY, name varchar(200))");
  await database.exec(`INSERT INTO story ${ROWS}`);
  await database.exec("CREATE INDEX story_name ON story USING gin (name gin_trgm_ops)");
  t.match(await plan(database, CONDITIONS[0]!), /Text Search using story_name/);
  t.match(await plan(database, "name % 'river'"), /Text Search using story_name/);
  t.notMatch(await plan(database, "name LIKE '%o%'"), /story_name/, "no trigram");
  t.notMatch(await plan(database, "name NOT LIKE '%stone%'"), /story_name/);
  await compare(t, database, "while it is made");
  for (let i = 0; i < 500; i++) await new Promise((resolve) => setImmediate(resolve));
  await compare(t, database, "when it is ready");
  await database.exec("BEGIN");
  await database.exec("UPDATE story SET name = 'a stone in the river' WHERE id BETWEEN 10 AND 13");
  await database.exec("DELETE FROM story WHERE id IN (3, 8, 21)");
  await database.exec("INSERT INTO story VALUES (1000, 'running harbours'), (1001, NULL)");
  await compare(t, database, "own changes");
  await database.exec("COMMIT");
  await compare(t, database, "when they are committed");
  const indexes = await database.exec("SELECT indexdef FROM pg_indexes WHERE indexname = 'story_name'");
  t.same(indexes.rows, [["CREATE INDEX story_name ON public.story USING gin (name gin_trgm_ops)"]]);
  await t.rejects(database.exec("SELECT * FROM search('story', 'river')"), { code: "0A000" }, "no index of words");
  await database.exec("CREATE INDEX story_btree ON story (name)");
  t.notMatch(await plan(database, "name LIKE 'river%'"), /story_name/, "an ordered index knows the beginning");
  await t.rejects(database.exec("CREATE INDEX ON story USING gin (id gin_trgm_ops)"), { code: "42804" });
});
