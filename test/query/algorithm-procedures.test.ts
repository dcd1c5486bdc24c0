/**
 * CALL algo.…: options and their refusals, parts of the graph, weights, nodes as entities, and results that are written
 * back; with the adjacency in memory and without.
 */
import t from "tap";
import { bindCypher } from "../../src/cypher/bind/bind-cypher.js";
import { parseCypher } from "../../src/cypher/parse/parse.js";
import { registerAlgorithms } from "../../src/features/graph/algorithm-procedures.js";
import { findAdjacency } from "../../src/query/exec/adjacency-index.js";
import { compilePlan } from "../../src/query/exec/compile-plan.js";
import type { ExecContext } from "../../src/query/exec/context.js";
import { runToCompletion } from "../../src/query/exec/run.js";
import { optimize } from "../../src/query/optimize/optimize.js";
import type { Transaction } from "../../src/storage/store.js";
import { variantToJson } from "../../src/values/variant-format.js";
import { GraphDatabase } from "./graphs.js";
import { openIndexes } from "./open-indexes.js";

registerAlgorithms();

async function answer(db: GraphDatabase, tx: Transaction, text: string, extra: Partial<ExecContext> = {}) {
  const bound = bindCypher(parseCypher(text), text, { graph: db.graphIn(tx) });
  if (bound.kind !== "query") throw new Error("a query was expected");
  const context = { ...db.context(tx), ...extra };
  const { rows } = await runToCompletion(compilePlan(optimize(bound.plan)), context, { maxRows: 1000 });
  return rows.map((row) => row.map((value) => variantToJson(value)).join(" | "));
}

/** Two triangles, joined by one relationship; a node alone. */
const GRAPH = `
  CREATE (a:P {name: 'a'}), (b:P {name: 'b'}), (c:P {name: 'c'}), (d:Q {name: 'd'}), (e:Q {name: 'e'}), (f:Q {name: 'f'}),
    (:R {name: 'alone'}), (a)-[:X {w: 1}]->(b), (b)-[:X {w: 2}]->(c), (c)-[:X {w: 3}]->(a), (d)-[:X {w: 1.5}]->(e),
    (e)-[:X]->(f), (f)-[:X]->(d), (a)-[:Y {w: 10}]->(d)`;

t.test("algorithms as procedures", async (t) => {
  const db = await GraphDatabase.open(t);
  const making = db.shard.begin();
  await answer(db, making, GRAPH);
  making.commit();
  db.shard.flush();
  const tx = db.shard.begin();
  const derived = openIndexes(db.shard, null);
  findAdjacency({ ...db.context(tx), derived }, db.graphIn(tx).edges);
  await derived.idle();
  const gives = async (text: string, rows: readonly string[]) => {
    t.strictSame(await answer(db, tx, text), rows, text);
    t.strictSame(await answer(db, tx, text, { derived }), rows, `${text}, with the adjacency`);
  };
  await gives(
    "CALL algo.wcc() YIELD node, component RETURN component, count(*) AS n, min(node.name) ORDER BY component",
    ['0 | 6 | "a"', '1 | 1 | "alone"'],
  );
  await gives(
    "CALL algo.wcc({relationshipTypes: ['X'], nodeLabels: ['P', 'Q']}) YIELD nodeId, component RETURN component, count(*) ORDER BY component",
    ["0 | 3", "1 | 3"],
  );
  await gives(
    "CALL algo.triangleCount({node_labels: 'P'}) YIELD node, triangles RETURN node.name, triangles ORDER BY node.name",
    ['"a" | 1', '"b" | 1', '"c" | 1'],
  );
  await gives(
    "MATCH (s {name: 'b'}) CALL algo.dijkstra({source: s, weightProperty: 'w'}) YIELD node, distance RETURN node.name, distance ORDER BY distance, node.name",
    ['"b" | 0.0', '"c" | 2.0', '"a" | 5.0', '"d" | 15.0', '"e" | 16.5', '"f" | 17.5'],
  );
  await gives(
    "MATCH (s {name: 'b'}), (e {name: 'd'}) CALL algo.bfs({source: id(s), target: id(e)}) YIELD distance, path MATCH (n) WHERE id(n) IN path RETURN distance, collect(n.name)",
    ['3.0 | ["a","b","c","d"]'],
  );
  await gives(
    "MATCH (n) WHERE n.name <> 'a' WITH collect(n) AS nodes CALL algo.degree({nodeIds: nodes}) YIELD node, score RETURN sum(score)",
    ["8.0"],
  );
  await gives("CALL algo.pageRank({maxIterations: 5}) YIELD score RETURN round(sum(score) * 1000) / 1000", ["1.0"]);
  const refused = async (text: string, message: RegExp) => t.rejects(answer(db, tx, text), message, text);
  await refused("CALL algo.pageRank({maxIterations: 0}) YIELD score RETURN score", /from 1 to 10000/);
  await refused("CALL algo.pageRank({speed: 3}) YIELD score RETURN score", /has no option "speed"/);
  await refused("CALL algo.kCore({weightProperty: 'w'}) YIELD core RETURN core", /does not read weights/);
  await refused(
    "CALL algo.degree({weightProperty: 'name', relationshipTypes: 3}) YIELD score RETURN score",
    /must be text/,
  );
  await refused("CALL algo.bfs({source: 99}) YIELD node RETURN node", /is not in the graph/);
});

t.test("results are written back, and what the transaction wrote is there", async (t) => {
  const db = await GraphDatabase.open(t);
  const tx = db.shard.begin();
  await answer(db, tx, GRAPH);
  await answer(
    db,
    tx,
    "CALL algo.louvain({relationshipTypes: 'X', seed: 1}) YIELD node, community SET node.community = community",
  );
  const rows = await answer(db, tx, "MATCH (n) RETURN n.community AS c, collect(n.name) ORDER BY c");
  t.strictSame(rows.map((row) => row.slice(row.indexOf("|") + 2)).sort(), [
    '["a","b","c"]',
    '["alone"]',
    '["d","e","f"]',
  ]);
  tx.rollback();
});

t.test("another thread computes, and is told when nobody waits any more", async (t) => {
  const db = await GraphDatabase.open(t);
  const tx = db.shard.begin();
  await answer(db, tx, "UNWIND range(1, 1200) AS i CREATE (:N {i: i})");
  const services = db.context(tx).services;
  const text = "CALL algo.wcc() YIELD component RETURN count(*)";
  let told = false;
  let isCancelled = false;
  const waiting = {
    ...services,
    runAlgorithm: (job: { readonly control: Int32Array }) =>
      new Promise<never>((_, reject) => {
        const timer = setInterval(() => {
          isCancelled = true;
          if (Atomics.load(job.control, 1) !== 1) return;
          told = true;
          clearInterval(timer);
          reject(new Error("it ended"));
        }, 5);
      }),
  };
  const checkpoint = () => {
    if (isCancelled) throw new Error("cancelled");
  };
  await t.rejects(answer(db, tx, text, { services: waiting, checkpoint }), /cancelled/);
  // The job sees it at its next look.
  while (!told) await new Promise((resolve) => setTimeout(resolve, 5));
  const { runAlgorithm } = await import("../../src/graph/algorithms/run-algorithm.js");
  const there = { ...services, runAlgorithm: async (job: Parameters<typeof runAlgorithm>[0]) => runAlgorithm(job) };
  t.strictSame(await answer(db, tx, text, { services: there }), ["1200"]);
  tx.rollback();
});
