/** EMBED is computed by projections, which give way between rows, wherever a statement has it. */
import t from "tap";
import { open } from "../conformance/sql-adapter.js";

const STATEMENTS = [
  "SELECT count(embed(body)), max(vector_dims(embed(body))) FROM note",
  "SELECT vector_norm(embed(body)) > 0.5, count(*) FROM note GROUP BY 1",
  "SELECT id FROM note ORDER BY embed(body) <=> embed('number three') LIMIT 3",
  "SELECT id FROM note ORDER BY embed(body) <-> embed('number three')",
  "SELECT id, rank() OVER (ORDER BY embed(body) <=> embed('number three')) FROM note ORDER BY id",
  "SELECT count(*) FILTER (WHERE cosine_similarity(embed(body), embed('number four')) > 0.8) FROM note",
];

t.test("the same answers, and a projection below what would compute it", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  await database.exec("CREATE TABLE note (id int PRIMARY KEY, body text, v vector(384))");
  const words = "ARRAY['zero','one','two','three','four','five','six','seven','eight','nine']";
  await database.exec(`INSERT INTO note SELECT i, 'number ' || (${words})[i % 10 + 1] FROM generate_series(1, 40) i`);
  await database.exec("UPDATE note SET v = embed(body)");
  for (const sql of STATEMENTS) {
    const plan = (await database.exec(`EXPLAIN ${sql}`)).rows.join("\n");
    t.match(plan, /Project.*\n.*embed\(body\).*\n.*Seq Scan on note/, sql);
    const above = plan.slice(0, plan.lastIndexOf("Project"));
    t.notMatch(above, /embed\(body\)/, plan);
    const stored = await database.exec(sql.replaceAll("embed(body)", "v"));
    t.same((await database.exec(sql)).rows, stored.rows, sql);
  }
  const constant = (await database.exec("EXPLAIN SELECT id FROM note ORDER BY v <=> embed('x') LIMIT 3")).rows.join(
    "\n",
  );
  t.match(constant, /Sort Key: \(v <=> embed/, "what depends on no row stays where it is");
});

/** `@`: a subquery for each row. */
const CORRELATED: readonly (readonly [sql: string, rows: readonly string[]])[] = [
  ["SELECT max(@), sum(@) FILTER (WHERE o.n < 3) FROM t o", ["10|2"]],
  ["SELECT (SELECT max(@)) FROM t o", ["10"]],
  ["SELECT @ % 2, count(*) FROM t o GROUP BY 1 ORDER BY 1", ["0|3", "1|1"]],
  ["SELECT o.n FROM t o ORDER BY @ DESC", ["4", "3", "2", "1"]],
  ["SELECT o.n FROM t o ORDER BY @ DESC LIMIT 1", ["4"]],
  ["SELECT o.n, sum(@) OVER (ORDER BY o.n) FROM t o ORDER BY 1", ["1|0", "2|2", "3|7", "4|17"]],
  ["SELECT DISTINCT ON (@ % 2) o.n FROM t o ORDER BY @ % 2, o.n DESC", ["4", "3"]],
  ["SELECT o.n, p.n FROM t o JOIN t p ON p.n = @ % 5 ORDER BY 1", ["2|2"]],
  ["SELECT o.n, p.n FROM t o LEFT JOIN t p ON p.n = @ % 5 ORDER BY 1", ["1|NULL", "2|2", "3|NULL", "4|NULL"]],
  // What FILTER leaves out is not computed.
  ["SELECT sum((SELECT 1 / (o.n - 2) + count(*) FROM t i)) FILTER (WHERE o.n <> 2) FROM t o", ["12"]],
];

t.test("correlated subqueries are computed so, too", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  await database.exec("CREATE TABLE t (n int PRIMARY KEY, v int)");
  await database.exec("INSERT INTO t VALUES (1, 0), (2, 2), (3, 5), (4, 10)");
  for (const [sql, rows] of CORRELATED) {
    const statement = sql.replaceAll("@", "(SELECT sum(i.v) FROM t i WHERE i.n = o.n OR i.v < 0)");
    const told = (await database.exec(statement)).rows;
    t.same(
      told.map((row) => row.map((value) => value ?? "NULL").join("|")),
      rows,
      statement,
    );
    const plan = (await database.exec(`EXPLAIN ${statement}`)).rows.map(([line]) => line as string);
    const computing = plan.findIndex((line) => line.includes("SubPlan 1") && !line.trimStart().startsWith("SubPlan"));
    t.match(plan[computing], /Output: .*SubPlan 1/, plan.join("\n"));
  }
});
