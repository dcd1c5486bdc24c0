/** Kuzu in this process, through its npm package of bench/peers/graph, with its extension of algorithms. */
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { csv, type Data, writePieces } from "./data.js";
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

const SCHEMA = ["CREATE NODE TABLE N (id INT64 PRIMARY KEY)", "CREATE REL TABLE E (FROM N TO N)"];

interface OpenKuzu {
  readonly version: string;
  readonly directory: string;
  readonly connection: Connection;
  readonly stop: () => Promise<void>;
}

/** With the graph's tables, empty. Null when it is not installed. */
export async function openKuzu(): Promise<OpenKuzu | null> {
  let kuzu: Kuzu;
  try {
    kuzu = createRequire(GRAPH_PEERS)("kuzu") as Kuzu;
  } catch {
    return null;
  }
  const directory = mkdtempSync(join(tmpdir(), "tessera-graph-kuzu-"));
  const database = new kuzu.Database(join(directory, "graph"));
  const connection = new kuzu.Connection(database);
  for (const text of SCHEMA) await connection.query(text);
  return {
    version: kuzu.VERSION,
    directory,
    connection,
    stop: async () => {
      await connection.close();
      await database.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** By COPY from files, which are made before. */
export function kuzuFiles(directory: string, { nodes, from, to }: Data): { nodes: string; edges: string } {
  const files = { nodes: join(directory, "nodes.csv"), edges: join(directory, "edges.csv") };
  writePieces(
    files.nodes,
    csv("", nodes, (i) => `${i + 1}`),
  );
  writePieces(
    files.edges,
    csv("", from.length, (i) => `${from[i]},${to[i]}`),
  );
  return files;
}

/** Null when it is not installed. */
export async function kuzuSide(): Promise<Side | null> {
  const open = await openKuzu();
  if (open === null) return null;
  const { connection, directory, version } = open;
  const prepared = new Map<Question, unknown>();
  return {
    name: "kuzu",
    version,
    load: async (data) => {
      const files = kuzuFiles(directory, data);
      await connection.query(`COPY N FROM '${files.nodes}'`);
      await connection.query(`COPY E FROM '${files.edges}'`);
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
    stop: open.stop,
  };
}
