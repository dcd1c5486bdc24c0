/** Kuzu in this process, through its npm package of bench/peers/graph, with its extension of algorithms. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DAMPING, GRAPH_PEERS, ITERATIONS, type Question, type Side, STEPS_MAX } from "./side.js";

interface Result {
  getAll(): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

interface Connection {
  query(text: string): Promise<Result>;
  prepare(text: string): Promise<unknown>;
  execute(statement: unknown, params: Readonly<Record<string, unknown>>): Promise<Result>;
  close(): Promise<void>;
}

interface Kuzu {
  readonly VERSION: string;
  readonly Database: new (path: string) => { close(): Promise<void> };
  readonly Connection: new (database: unknown) => Connection;
}

const TEXTS: Readonly<Record<Question, string>> = {
  "2 hops from one node": "MATCH (a:N {id: $a})-[:E]->(:N)-[:E]->(c:N) RETURN count(*)",
  "all paths of 2 hops": "MATCH (a:N)-[:E]->(b:N)-[:E]->(c:N) RETURN count(*)",
  "3 hops, distinct nodes": "MATCH (a:N {id: $a})-[:E*1..3]->(c:N) RETURN count(DISTINCT c.id)",
  triangles: "MATCH (a:N)-[:E]->(b:N)-[:E]->(c:N)-[:E]->(a) RETURN count(*)",
  "shortest path": `MATCH p = (a:N {id: $a})-[:E* SHORTEST 1..${STEPS_MAX}]->(b:N {id: $b}) RETURN length(p)`,
  "PageRank, 20 iterations": `CALL page_rank('G', dampingFactor := ${DAMPING}, maxIterations := ${ITERATIONS}, tolerance := 0.0)
    RETURN node.id, rank ORDER BY rank DESC, node.id LIMIT 10`,
  Louvain: "CALL louvain('G') RETURN count(DISTINCT louvain_id)",
};

/** Null when it is not installed. */
export function kuzuSide(): Side | null {
  let kuzu: Kuzu;
  try {
    kuzu = createRequire(GRAPH_PEERS)("kuzu") as Kuzu;
  } catch {
    return null;
  }
  const directory = mkdtempSync(join(tmpdir(), "tessera-graph-kuzu-"));
  const database = new kuzu.Database(join(directory, "graph"));
  const connection = new kuzu.Connection(database);
  const prepared = new Map<Question, unknown>();
  return {
    name: "kuzu",
    version: kuzu.VERSION,
    load: async ({ nodes, edges }) => {
      const files = [join(directory, "nodes.csv"), join(directory, "edges.csv")] as const;
      writeFileSync(files[0], Array.from({ length: nodes }, (_, i) => `${i + 1}\n`).join(""));
      writeFileSync(files[1], edges.map(([from, to]) => `${from},${to}\n`).join(""));
      await connection.query("CREATE NODE TABLE N (id INT64 PRIMARY KEY)");
      await connection.query("CREATE REL TABLE E (FROM N TO N)");
      await connection.query(`COPY N FROM '${files[0]}'`);
      await connection.query(`COPY E FROM '${files[1]}'`);
      await connection.query("INSTALL algo");
      await connection.query("LOAD EXTENSION algo");
      await connection.query("CALL project_graph('G', ['N'], ['E'])");
    },
    ask: async (question, [a, b]) => {
      const given = { ...(a !== undefined && { a }), ...(b !== undefined && { b }) };
      let statement = prepared.get(question);
      if (statement === undefined) {
        statement = await connection.prepare(TEXTS[question]);
        prepared.set(question, statement);
      }
      const rows = await (await connection.execute(statement, given)).getAll();
      return question === "Louvain" ? [] : rows.flatMap((row) => Object.values(row).map(Number));
    },
    stop: async () => {
      await connection.close();
      await database.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
