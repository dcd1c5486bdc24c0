/**
 * Conditions on each relationship of a path that read other parts of the pattern, wherever the planner begins: the rows
 * are those of the same condition said of the whole list in WHERE.
 */
import t from "tap";
import type { GraphCommand } from "../../src/catalog/graph-command.js";
import { bindCypher } from "../../src/cypher/bind/bind-cypher.js";
import { parseCypher } from "../../src/cypher/parse/parse.js";
import type { DbError } from "../../src/protocol/errors.js";
import { compilePlan } from "../../src/query/exec/compile-plan.js";
import { runToCompletion } from "../../src/query/exec/run.js";
import { optimize } from "../../src/query/optimize/optimize.js";
import type { Transaction } from "../../src/storage/store.js";
import { variantToJson } from "../../src/values/variant-format.js";
import { Random } from "../fuzz/random.js";
import { tries } from "../lengths.js";
import { GraphDatabase } from "../query/graphs.js";

const NODES = 5;
const EDGES = 9;
const GRAPHS = tries(12);

const INDEX: GraphCommand = {
  ...{ kind: "create graph index", graph: "default", name: null, of: "nodes", label: "N", properties: ["i"] },
  ...{ ifNotExists: false, method: "range" },
};

/** With `%` for a small number. */
const PAIRS: readonly (readonly [text: string, plain: string])[] = [
  ["(a:N)-[r:X*1..2 {w: a.y}]->(b:N {i: %})", "(a:N)-[r:X*1..2]->(b:N {i: %}) WHERE all(e IN r WHERE e.w = a.y)"],
  ["(a:N {i: %})-[r:X*1..3 {w: b.y}]->(b:N)", "(a:N {i: %})-[r:X*1..3]->(b:N) WHERE all(e IN r WHERE e.w = b.y)"],
  ["(a:N)-[r:X*1..2 {w: a.y, v: b.y}]-(b:N)", "(a:N)-[r:X*1..2]-(b:N) WHERE all(e IN r WHERE e.w = a.y AND e.v = b.y)"],
  [
    "(a:N {i: %})-[q:X]->(c:N)-[r:X*1..2 {w: q.w}]->(b:N)",
    "(a:N {i: %})-[q:X]->(c:N)-[r:X*1..2]->(b:N) WHERE all(e IN r WHERE e.w = q.w)",
  ],
  [
    "(c:N)-[r:X*1..2 {w: q.w}]->(b:N), (a:N)-[q:X {v: %}]->(c)",
    "(c:N)-[r:X*1..2]->(b:N), (a:N)-[q:X {v: %}]->(c) WHERE all(e IN r WHERE e.w = q.w)",
  ],
  [
    "(a:N)-[q:X*1..2]->(c:N {i: %})-[r:X*1..2 {w: size(q)}]->(b:N)",
    "(a:N)-[q:X*1..2]->(c:N {i: %})-[r:X*1..2]->(b:N) WHERE all(e IN r WHERE e.w = size(q))",
  ],
  [
    "(a:N) ((x)-[r:X {w: b.y}]->(m)-[s:X]->(y)){1,2} (b:N {i: %})",
    "(a:N) ((x)-[r:X]->(m)-[s:X]->(y)){1,2} (b:N {i: %}) WHERE all(e IN r WHERE e.w = b.y)",
  ],
  [
    "(a:N {i: %}) ((x)-[r:X]->(m)-[s:X {w: a.y}]->(y)){1,2} (b:N)",
    "(a:N {i: %}) ((x)-[r:X]->(m)-[s:X]->(y)){1,2} (b:N) WHERE all(e IN s WHERE e.w = a.y)",
  ],
];

function rowsOf(db: GraphDatabase, tx: Transaction, text: string): readonly string[] {
  const bound = bindCypher(parseCypher(text), text, { graph: db.graphIn(tx) });
  if (bound.kind !== "query") throw new Error("a query was expected");
  const result = runToCompletion(compilePlan(optimize(bound.plan)), db.context(tx), { maxRows: 10_000 });
  if (result instanceof Promise) throw new Error("the plan waited although its turn was not over");
  return result.rows.map((row) => row.map((value) => variantToJson(value)).join(" | ")).sort();
}

function makeGraph(db: GraphDatabase, random: Random): void {
  const below = (bound: number) => random.below(bound);
  const write = (text: string) => db.commit((tx) => db.cypher(tx, text));
  write(`UNWIND range(0, ${NODES - 1}) AS i CREATE (:N {i: i, y: i % 2})`);
  for (let i = 0; i < EDGES; i++) {
    const [from, to] = [below(NODES), below(NODES)];
    const properties = `{w: ${below(2)}, v: ${below(2)}}`;
    write(`MATCH (a:N {i: ${from}}), (b:N {i: ${to}}) CREATE (a)-[:X ${properties}]->(b)`);
  }
}

t.test("they hold wherever the planner begins", async (t) => {
  let found = 0;
  for (let seed = 1; seed <= GRAPHS; seed++) {
    const random = new Random(seed);
    const db = await GraphDatabase.open(t);
    // With an index it begins where one node is asked for.
    if (seed % 2 === 0) db.define(INDEX);
    makeGraph(db, random);
    const tx = db.shard.begin({ readOnly: true });
    for (const pair of PAIRS) {
      const number = String(random.below(pair[0].includes("v: %") ? 2 : NODES));
      const [text, plain] = pair.map((pattern) => `MATCH ${pattern.replaceAll("%", number)} RETURN id(a), id(b), r`);
      const expected = rowsOf(db, tx, plain!);
      found += expected.length;
      t.same(rowsOf(db, tx, text!), expected, `${seed}: ${text}`);
    }
    tx.rollback();
  }
  t.ok(found > 0, `${found} rows`);
});

t.test("those that read each other's path are refused with the remedy", async (t) => {
  const db = await GraphDatabase.open(t);
  const tx = db.shard.begin({ readOnly: true });
  const text = "MATCH (a)-[q:X*1..2 {w: size(r)}]->(b)-[r:X*1..2 {w: size(q)}]->(c) RETURN a";
  const told = (text: string): string => {
    try {
      return rowsOf(db, tx, text).join();
    } catch (error) {
      const { message, details } = error as DbError;
      return `${details?.sqlstate} ${message}: ${details?.hint ?? ""}`;
    }
  };
  t.match(told(text), /^0A000 conditions on .* read each other's path: .*all\(r IN/);
  t.match(
    told("MATCH p = (a)-[r:X* {w: length(p)}]->(b) RETURN a"),
    /^0A000 .* reads the whole path belongs into the WHERE/,
  );
  tx.rollback();
});
