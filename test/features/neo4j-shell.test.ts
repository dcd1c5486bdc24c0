/** Parameters of a script for Neo4j's shells, put into its statements. */
import t from "tap";
import { Neo4jShell } from "../../src/features/import/neo4j-shell.js";

t.test("parameters are put where they stand, and nowhere else", (t) => {
  const shell = new Neo4jShell();
  shell.statementOf(":param rows => [{id: 1}]");
  shell.statementOf(":param `a b` => 'x'");
  t.equal(
    shell.filled("UNWIND $rows AS r RETURN r, $`a b`, $other"),
    "UNWIND ([{id: 1}]) AS r RETURN r, ('x'), $other",
  );
  for (const text of [
    `RETURN "$rows \\" $rows", '$rows', 1`,
    "RETURN `$rows` // $rows\n, 1 /* $rows */",
    'RETURN "$rows',
    "RETURN 1 /* $rows",
  ]) {
    t.equal(shell.filled(text), text, text);
  }
  t.equal(
    shell.filled("MATCH (a {id: $rows})--(b) RETURN b // $rows"),
    "MATCH (a {id: ([{id: 1}])})--(b) RETURN b // $rows",
  );
  const quotes = `SELECT 1 -- rows ${'"\\'.repeat(500_000)}`;
  t.equal(shell.filled(quotes), quotes);
  const texts = `RETURN $rows ${"'a' ".repeat(500_000)}`;
  t.equal(shell.filled(texts).length, texts.length + 6);
  shell.statementOf(`:param long => '${"x".repeat(1_000_000)}'`);
  t.throws(() => shell.filled("$long ".repeat(40)), { message: "a statement with its parameters is too long" });
  t.end();
});
