/**
 * Conditions on paths by an ordered index: the rows that reading all gives, for constants, parameters and other
 * columns.
 */
import t from "tap";
import { open } from "../conformance/sql-adapter.js";

const CONDITIONS = [
  "path <@ 'a.b'",
  "'a.b.c' @> path",
  "path <@ ''",
  "path @> 'a.b.c.a'",
  "'b' <@ path",
  "path ~ 'a.b.*'",
  "path ~ 'a.b'",
  "path ~ 'a.b{2}.*'",
  "path ~ 'a.b*.c'",
  "path ~ 'a.!b'",
  "path ~ 'a|b.c'",
  "'c.*{1}' ~ path",
  "path <@ 'zz'",
];

t.test("the same rows as without the index", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  await database.exec("CREATE TABLE node (id int PRIMARY KEY, path ltree)");
  // All paths of up to five labels out of six, and neighbours of the bounds: `ab` and `a_` follow `a.…`.
  await database.exec(
    `WITH RECURSIVE p(path, n) AS (SELECT '', 0 UNION ALL
       SELECT CASE WHEN path = '' THEN l ELSE path || '.' || l END, n + 1
       FROM p, unnest(ARRAY['a', 'b', 'c', 'ab', 'a_', 'é']) l WHERE n < 4)
     INSERT INTO node SELECT row_number() OVER (), path::ltree FROM p`,
  );
  await database.exec("INSERT INTO node VALUES (0, NULL)");
  const asked = CONDITIONS.map((condition) => `SELECT id FROM node WHERE ${condition} ORDER BY id`);
  const expected: unknown[] = [];
  for (const sql of asked) expected.push((await database.exec(sql)).rows);
  await database.exec("CREATE INDEX node_path ON node (path)");
  await database.exec("ANALYZE node");
  for (const [i, sql] of asked.entries()) t.same((await database.exec(sql)).rows, expected[i], sql);
  for (const condition of ["path <@ 'a.b'", "path @> 'a.b.c.a'", "path ~ 'a.b.c.*'", "path <@ $1::ltree"]) {
    const params = condition.includes("$1") ? ["a.b"] : [];
    const { rows } = await database.exec(`EXPLAIN SELECT id FROM node WHERE ${condition}`, params);
    t.match(rows.join("\n"), /Index Scan using node_path/, condition);
  }
  const byParameter = await database.exec("SELECT id FROM node WHERE path <@ $1::ltree ORDER BY id", ["a.b"]);
  t.same(byParameter.rows, expected[0], "a parameter");
  const joined =
    "SELECT a.id, count(*) FROM node a JOIN node b ON b.path <@ a.path WHERE a.id < 12 GROUP BY a.id ORDER BY 1";
  const withIndex = (await database.exec(joined)).rows;
  await database.exec("DROP INDEX node_path");
  t.same(withIndex, (await database.exec(joined)).rows, "a join");
});
