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
