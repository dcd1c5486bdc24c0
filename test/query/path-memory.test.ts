/** What searches for paths hold counts as the statement's memory, and is given back. */
import t from "tap";
import type { DbError } from "../../src/protocol/errors.js";
import { StatementState } from "../../src/query/exec/context.js";
import { GraphDatabase } from "./graphs.js";

const NODES = 4000;
const QUESTIONS: readonly (readonly [cypher: string, answer: number])[] = [
  ["MATCH (a:Hub), p = shortestPath((a)-[*]->(b:N)) RETURN count(p)", NODES],
  ["MATCH p = SHORTEST 2 (a:Hub)-->{1,3}(b:N) RETURN count(p)", NODES],
  ["MATCH (a:Hub)-[*1..3]->(b) RETURN count(DISTINCT b)", NODES + 1],
  ["MATCH (a:Hub)-[r:TO]->(b) RETURN count(r.w)", NODES],
  ["MATCH (a:Hub)-[r:TO* {w: 1}]->(b:N) RETURN count(b)", NODES],
];

t.test("paths", async (t) => {
  const db = await GraphDatabase.open(t);
  db.commit((tx) => {
    db.cypher(tx, `CREATE (h:Hub) WITH h UNWIND range(1, ${NODES}) AS i CREATE (h)-[:TO {w: 1}]->(:N)`);
    db.cypher(tx, "MATCH (n:N) WITH n LIMIT 1 CREATE (n)-[:END]->(:End)");
  });
  for (const [cypher, answer] of QUESTIONS) {
    db.read((tx) => {
      const run = (bytes: number) => {
        const context = { ...db.context(tx), statement: new StatementState(bytes) };
        const { rows } = db.run(tx, db.planned(tx, cypher).plan, context);
        return { rows, statement: context.statement };
      };
      const { rows, statement } = run(64 * 1024 * 1024);
      t.same(rows, [[answer]], cypher);
      t.ok(statement.memoryBytesPeak > 100_000, `${cypher}: ${statement.memoryBytesPeak} bytes`);
      t.equal(statement.memoryBytes, 0, "all of it is given back");
      try {
        run(100_000);
        t.fail(`${cypher} had to end for want of memory`);
      } catch (error) {
        t.equal((error as DbError).details?.sqlstate, "53200", cypher);
      }
    });
  }
});
