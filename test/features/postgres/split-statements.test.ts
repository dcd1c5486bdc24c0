/** The text of a Query message is cut into statements, which know where they stood. */
import t from "tap";
import { statementsIn } from "../../../src/features/postgres/split-statements.js";

const cut = (text: string) => [...statementsIn(text)].map(({ sql, start }) => [sql.trim(), start]);

t.test("statements and where they begin, in characters", async (t) => {
  t.same(cut("SELECT 1"), [["SELECT 1", 0]]);
  t.same(cut("SELECT 1; "), [["SELECT 1", 0]]);
  t.same(cut("SELECT '😀;'; SELECT 2;; -- end\n;"), [
    ["SELECT '😀;'", 0],
    ["SELECT 2", 13],
  ]);
  t.same(cut("SELECT $$;$$; /* ; */ SELECT 3"), [
    ["SELECT $$;$$", 0],
    ["SELECT 3", 22],
  ]);
  for (const nothing of ["", " ;", ";;", "-- x", "/* x */ ; -- y\n;"]) t.same(cut(nothing), [], nothing);
});

t.test("what has an open quote is the last statement, as it is", async (t) => {
  t.same(cut("SELECT 1; SELECT 'open; SELECT 2"), [
    ["SELECT 1", 0],
    ["SELECT 'open; SELECT 2", 9],
  ]);
});

t.test("statements are looked for one at a time, and a text of many costs what its length does", async (t) => {
  const many = statementsIn("SELECT 1;\n".repeat(200_000));
  t.same(many.next().value, { sql: "SELECT 1", start: 0 });
  t.same(many.next().value, { sql: "SELECT 1", start: 10 });
  let count = 2;
  for (const { start } of many) {
    if (start !== count * 10) t.equal(start, count * 10);
    count++;
  }
  t.equal(count, 200_000);
});
