/** Cypher's semantic check: what it refuses and how, and what it lets through. */
import t from "tap";
import { checkStatement } from "../../src/cypher/bind/check.js";
import { parseCypher } from "../../src/cypher/parse/parse.js";
import { DbError } from "../../src/protocol/errors.js";
import { runGolden } from "../sql/golden.js";
import { proceduresOf } from "./procedure-signatures.js";

const PROCEDURES = proceduresOf(["test.one(in :: INTEGER?) :: (out :: STRING?)", "test.none() :: VOID"]);

const check = (text: string, parameters: readonly string[] = []): void =>
  checkStatement(parseCypher(text), text, PROCEDURES, new Set(parameters));

t.test("mistakes", async (t) => {
  runGolden(t, "../cypher/check-errors.txt", (text) => {
    try {
      check(text);
    } catch (error) {
      if (!(error instanceof DbError)) throw error;
      const { type, detail, phase } = error.details ?? {};
      return `${type} ${detail} (${phase}): ${error.message}`;
    }
    return "passes";
  });
});

t.test("what is right passes", async (t) => {
  const texts = [
    "MATCH () WITH * RETURN 1",
    "MATCH (n) RETURN *, n",
    "MATCH (a {x: b.y})-->(b) RETURN a",
    "MATCH (a)-[r]->(b) MATCH (c)-[r]->(d) RETURN c",
    "MATCH ()-[r1]->()-[r2]->() WITH [r1, r2] AS rs MATCH (x)-[rs*]->(y) RETURN x, y",
    "WITH null AS n OPTIONAL MATCH p = (n)-->() RETURN p",
    "MATCH (n) UNWIND nodes($p) AS m MATCH (m)-->(o) RETURN o",
    "MATCH (n) WITH collect(n) AS ns UNWIND ns AS m MATCH (m)-->() RETURN m",
    "MATCH (n) WITH head(collect(n)) AS m MATCH (m)-->() RETURN m",
    "MATCH (a), (b) CREATE (a)-[r:R {x: b.x}]->(b)-[:S]->(c) CREATE (c)-[:T]->(a)",
    "CREATE (a {x: 1}), (b {y: a.x}) RETURN b",
    "MATCH (n) RETURN [n IN [1, 2] | n + 1], n.x",
    "MATCH (m)--(y) RETURN m.age, m.age + count(y.age)",
    "MATCH (m)--(y) WITH m, m.age + count(y.age) + $p + 1 AS x RETURN x",
    "MATCH (m)--(y) WITH *, count(y) + m.x AS c RETURN c",
    "MATCH (m)--(y) RETURN m, [x IN collect(y) | x.age + m.age]",
    "MATCH (n) RETURN n.x AS x, count(*) AS c ORDER BY n.x, count(*) + c DESC, x",
    "MATCH (n) RETURN DISTINCT n.x + 1 ORDER BY n.x + 1",
    "MATCH (n) WITH DISTINCT n.x AS x WHERE n.x = 1 RETURN x",
    "MATCH (n) WITH n.x AS x WHERE n.y = x RETURN x ORDER BY x SKIP $s LIMIT toInteger(ceil(1.7))",
    "MATCH (n) WHERE EXISTS { MATCH (n)-->(m) WITH n, count(*) AS c WHERE c = 3 RETURN true } RETURN n",
    "MATCH (n) RETURN n, COUNT { (n)-->(m) WHERE m.x > n.x } AS c, COLLECT { MATCH (n)-->(m) RETURN m.x } AS l",
    "MATCH (n) WHERE (n)-->() AND NOT (n)<--() RETURN n",
    "MATCH (a), (b) RETURN shortestPath((a)-[r*]->(b)) AS p",
    "UNWIND [true, false, null] AS a RETURN a AND $b, a XOR null",
    "RETURN date('2020-01-01').year, duration('P1D') * 2, -duration('P1D')",
    "RETURN [1] + 'a' + 1, 'a' + 1, 1 + 'a', null + 1",
    "MATCH (n) FOREACH (x IN [1, 2] | CREATE (m {x: x}) CREATE (m)-[:R]->(n) SET m.y = x)",
    "CALL test.one(null) YIELD out AS o WHERE o = 'a' RETURN o",
    "MATCH (n) CALL test.none() RETURN n",
    "MATCH (n) DELETE n, [n][0], {k: n}.k",
    "RETURN 1 AS a UNION MATCH (a) RETURN *",
  ];
  for (const text of texts) t.doesNotThrow(() => check(text), text);
  t.doesNotThrow(() => check("CALL test.one", ["in"]), "the argument is a parameter");
});

t.test("an error of a procedure is no syntax error", async (t) => {
  try {
    check("MATCH (n)\nCALL no.such() YIELD x RETURN x");
    t.fail("it passed");
  } catch (error) {
    const { code, details } = error as DbError;
    t.equal(code, "syntax_error");
    t.match(details, { type: "ProcedureError", detail: "ProcedureNotFound", line: 2, column: 1, sqlstate: "42883" });
  }
});
