/** Tessera in this process: a shard on disk and one session, without the gateway, as the peers run without theirs. */
import { sharedByNobody } from "../../src/actor/actor-shared.js";
import "../../src/features/features.js";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Partition } from "../../src/actor/partition.js";
import { DEFAULT_GRAPH } from "../../src/catalog/graph.js";
import { loadConfig } from "../../src/config/load-config.js";
import { type GraphFile, importGraph } from "../../src/features/import/graph/graph-import.js";
import type { ImportClient } from "../../src/features/import/import-rows.js";
import { SpillArea } from "../../src/query/exec/spill/spill-area.js";
import { Session } from "../../src/session/session.js";
import { plainRows } from "../../src/session/sql-result.js";
import { loadParser } from "../../src/sql/parse/parse.js";
import { openShardOnDisk } from "../../src/storage/shard-on-disk.js";
import { applyBacklog } from "../../test/storage/apply-backlog.js";
import { computeProcesses } from "../../workers/compute-processes.js";
import { longTasks } from "../../workers/long-tasks.js";
import { taskPool } from "../../workers/task-pool.js";
import { tesseraVersion } from "../contenders/contenders.js";
import { bulkFiles, type Data } from "./data.js";
import { DAMPING, ITERATIONS, type Question, type Side } from "./side.js";

const TENANT = 1;

const TEXTS: Readonly<Record<Question, string>> = {
  "2 hops from one node": "MATCH (a:N {id: $a})-[:E]->()-[:E]->(c) RETURN count(*)",
  "all paths of 2 hops": "MATCH (a)-[:E]->(b)-[:E]->(c) RETURN count(*)",
  "3 hops, distinct nodes": "MATCH (a:N {id: $a})-[:E*1..3]->(c) RETURN count(DISTINCT c)",
  triangles: "MATCH (a)-[:E]->(b)-[:E]->(c)-[:E]->(a) RETURN count(*)",
  "shortest path": "MATCH p = shortestPath((a:N {id: $a})-[:E*]->(b:N {id: $b})) RETURN length(p)",
  "PageRank, 20 iterations": `CALL algo.pageRank({dampingFactor: ${DAMPING}, maxIterations: ${ITERATIONS}, tolerance: 0})
    YIELD nodeId, score WITH nodeId, score ORDER BY score DESC, nodeId LIMIT 10
    MATCH (n) WHERE id(n) = nodeId RETURN n.id, score ORDER BY score DESC, n.id`,
  Louvain: "CALL algo.louvain({}) YIELD nodeId, community RETURN count(DISTINCT community)",
};

const alone = { checkpoint: () => undefined, shouldYield: () => false, yieldTurn: () => Promise.resolve() };

const FILES = {
  ...{ graph: DEFAULT_GRAPH, delimiter: ",", arrayDelimiter: ";", quote: '"', idType: "string" },
  ...{ skipsDuplicates: false, skipsUnconnected: false },
};

/** In the bulk format. */
async function* filesOf(data: Data): AsyncGenerator<GraphFile> {
  const { nodes, relationships } = bulkFiles(data);
  yield { name: "nodes.csv", kind: "nodes", kinds: ["N"], pieces: piecesOf(nodes) };
  yield { name: "relationships.csv", kind: "relationships", kinds: ["E"], pieces: piecesOf(relationships) };
}

async function* piecesOf(texts: Iterable<string>): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

export async function tesseraSide(): Promise<Side> {
  await loadParser();
  const directory = mkdtempSync(join(tmpdir(), "tessera-graph-"));
  const config = loadConfig({ env: {} });
  const { cacheBytes, recordCacheBytes } = config.storage;
  const shard = await openShardOnDisk(join(directory, "partition-0"), { cacheBytes, recordCacheBytes });
  const pool = taskPool({ name: "graph", threads: 1, waitingMax: 16 });
  const tasks = longTasks(pool, computeProcesses());
  // As in a server: rows of a long load wait in a file for the commit.
  const spill = new SpillArea(join(directory, "spill"), config.storage.spillBytesMax);
  const partition = new Partition(0, shard, config, () => undefined, sharedByNobody(config, { tasks, spill }));
  const tenant = partition.tenant(TENANT);
  const options = {
    isolation: null,
    readOnly: false,
    user: "bench",
    tenantName: "bench",
    control: "statements",
  } as const;
  const session = new Session(tenant, options);

  async function run(sql: string, params: Readonly<Record<string, unknown>> = {}): Promise<readonly unknown[][]> {
    const outcome = await session.execute(
      { sql, params, language: "cypher", maxRows: 1000, collector: plainRows, request: alone },
      (tx) => tenant.commit(tx),
    );
    shard.flush();
    // The engine takes a large commit afterwards; what follows would wait for it.
    await applyBacklog(shard);
    return outcome.rows.plain as unknown[][];
  }

  return {
    name: "tessera",
    version: tesseraVersion(),
    load: async (data) => {
      const client: ImportClient = { ...alone, tenant, signal: () => new AbortController().signal };
      const nothing = () => undefined;
      await importGraph(client, filesOf(data), { ...FILES, session: options }, nothing, (tx) => tenant.commit(tx));
      shard.flush();
      await applyBacklog(shard);
      await run("CREATE CONSTRAINT FOR (n:N) REQUIRE n.id IS UNIQUE");
      // The adjacency is made when it is first asked for.
      await run("MATCH (a:N {id: 1})-[:E]->(b) RETURN count(*)");
      await partition.derived.idle();
    },
    ask: async (question, [a, b]) => {
      const rows = await run(TEXTS[question], { ...(a !== undefined && { a }), ...(b !== undefined && { b }) });
      return question === "Louvain" ? [] : (rows.flat() as number[]);
    },
    stop: async () => {
      await partition.derived.close();
      await shard.close();
      await pool.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
