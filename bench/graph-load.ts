/**
 * A graph of NODES (20,000) and EDGES (100,000) comes into a server: by UNWIND over HTTP and over Bolt, ROWS (10,000) a
 * statement, and as files in the bulk format; each on a new server, and each commit on disk before its answer. Beside
 * it Kuzu in this process (PEERS=kuzu), by UNWIND and by COPY from files.
 *
 * DOORS: names of some, separated by commas.
 */
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { BoltClient } from "../test/e2e/bolt-client.js";
import { freePort } from "../test/free-port.js";
import { bulkFiles, type Data, graphData, pairsOf } from "./graph/data.js";
import { kuzuFiles, openKuzu } from "./graph/kuzu-side.js";
import { settledMemoryOf } from "./processes.js";
import { PASSWORD, post, type Running, send, startTessera } from "./servers.js";

const CONSTRAINT = "CREATE CONSTRAINT FOR (n:N) REQUIRE n.id IS UNIQUE";
const NODES = "UNWIND $ids AS id CREATE (:N {id: id})";
const EDGES = "UNWIND $rows AS r MATCH (a:N {id: r[0]}), (b:N {id: r[1]}) CREATE (a)-[:E]->(b)";
/** Kuzu has no lists of lists as parameters. */
const EDGES_OF_KUZU = "UNWIND $rows AS r MATCH (a:N {id: r.a}), (b:N {id: r.b}) CREATE (a)-[:E]->(b)";
/** Relationships that Kuzu makes by UNWIND: each takes it a millisecond, or more in a larger graph. */
const KUZU_SAMPLE = 500;
const BOUNDARY = "graph-load";
/** Of CPU in a second, below which a server has nothing to do. */
const IDLE_SHARE = 0.03;
const SECONDS_TO_IDLE = 60;

interface Meter {
  cpuSeconds(): number;
}

/** Loads the nodes, then the relationships, each by `timed`. */
type Door = (data: Data, timed: Timed) => Promise<void>;
type Timed = (what: string, count: number, load: () => Promise<void>) => Promise<void>;

const rowsOfStatement = Number(process.env.ROWS ?? 10_000);

/** The statements that make the graph, by whatever sends them. */
async function unwind(data: Data, timed: Timed, run: (text: string, parameters: object) => Promise<unknown>) {
  await run(CONSTRAINT, {});
  await timed("nodes", data.nodes, async () => {
    for (let first = 0; first < data.nodes; first += rowsOfStatement) {
      const length = Math.min(rowsOfStatement, data.nodes - first);
      await run(NODES, { ids: Array.from({ length }, (_, i) => first + i + 1) });
    }
  });
  await timed("relationships", data.from.length, async () => {
    for (let first = 0; first < data.from.length; first += rowsOfStatement) {
      await run(EDGES, { rows: pairsOf(data, first, rowsOfStatement) });
    }
  });
}

const doors: Readonly<Record<string, (server: Running, boltPort: number) => Door>> = {
  "UNWIND over HTTP": (server) => (data, timed) =>
    unwind(data, timed, (cypher, parameters) =>
      post(`${server.url}/v1/graph/match`, { cypher, parameters }, server.token),
    ),
  "UNWIND over Bolt": (_, port) => async (data, timed) => {
    const client = await BoltClient.connect(port);
    await client.start([5, 8], { user: "admin", password: PASSWORD });
    await unwind(data, timed, async (text, parameters) => {
      const rows = await client.rows(text, parameters as never);
      if (!Array.isArray(rows)) throw new Error(`${text}: ${String(rows)}`);
    });
    client.close();
  },
  "files in the bulk format": (server) => async (data, timed) => {
    await timed("nodes and relationships", data.nodes + data.from.length, async () => {
      const type = `multipart/form-data; boundary=${BOUNDARY}`;
      await send(server, "/v1/graph/import", type, Readable.from(form(data), { objectMode: false }));
    });
    await post(`${server.url}/v1/graph/match`, { cypher: CONSTRAINT }, server.token);
  },
};

/** The body of a form with both files. */
function* form(data: Data): Generator<string> {
  const part = (name: string) =>
    `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"; filename="${name}.csv"\r\n\r\n`;
  const files = bulkFiles(data);
  yield part("nodes:N");
  yield* files.nodes;
  yield `\r\n${part("relationships:E")}`;
  yield* files.relationships;
  yield `\r\n--${BOUNDARY}--\r\n`;
}

export async function graphLoad(): Promise<void> {
  const data = graphData(Number(process.env.NODES ?? 20_000), Number(process.env.EDGES ?? 100_000));
  const peers = process.env.PEERS?.split(/[ ,]+/) ?? ["kuzu"];
  const wanted = process.env.DOORS?.split(",");
  console.log(`${data.nodes} nodes, ${data.from.length} relationships; microseconds each`);
  for (const [name, door] of Object.entries(doors)) {
    if (wanted === undefined || wanted.includes(name)) await loadServer(name, door, data);
  }
  if (peers.includes("kuzu")) await loadKuzu(data);
}

async function loadServer(name: string, door: (typeof doors)[string], data: Data): Promise<void> {
  const port = await freePort();
  const server = await startTessera({ TESSERA_BOLT_PORT: String(port), TESSERA_ACTORS: "1" });
  try {
    const before = await settledMemoryOf(server.roots);
    await door(server, port)(data, timedBy(name, server));
    await afterwards(name, server);
    const loaded = await settledMemoryOf(server.roots);
    await timedBy(name, server)("adjacency, at the first walk", data.from.length, () => walk(server, data));
    await afterwards(name, server);
    const walked = await settledMemoryOf(server.roots);
    const mib = (bytes: number) => (bytes / 2 ** 20).toFixed(0);
    const each = (await adjacencyBytes(server)) / data.from.length;
    console.log(
      `  ${name}: memory ${mib(before)} MiB at the start, ${mib(loaded)} loaded, ${mib(walked)} with the adjacency, ` +
        `whose own count is ${each.toFixed(0)} bytes a relationship`,
    );
  } finally {
    await server.stop();
  }
}

/** Until the adjacency answers: the first walks go by indexes. */
async function walk(server: Running, { from }: Data): Promise<void> {
  const cypher = "MATCH ()-[:E]->(b) RETURN count(b)";
  const { rows } = await post(`${server.url}/v1/graph/match`, { cypher }, server.token);
  const [[count]] = rows as [[number]];
  if (count !== from.length) throw new Error(`the graph has ${count} relationships, not ${from.length}`);
  await post(`${server.url}/v1/graph/match`, { cypher: "MATCH (:N {id: 1})-[:E]->(b) RETURN count(b)" }, server.token);
  await untilIdle(server);
}

async function adjacencyBytes({ url, token }: Running): Promise<number> {
  const answer = await fetch(`${url}/v1/graph/graphs`, { headers: { authorization: `Bearer ${token}` } });
  const { graphs } = (await answer.json()) as { graphs: readonly { adjacency_bytes: number }[] };
  return graphs[0]!.adjacency_bytes;
}

/** What is done after the answers. */
async function afterwards(name: string, server: Running): Promise<void> {
  const before = server.cpuSeconds();
  await untilIdle(server);
  console.log(`  ${name}: ${(server.cpuSeconds() - before).toFixed(1)} CPU s after the answers`);
}

/** A server with a profiler is never idle. */
async function untilIdle(server: Running): Promise<void> {
  for (let calm = 0, seconds = 0, last = server.cpuSeconds(); calm < 2 && seconds < SECONDS_TO_IDLE; seconds++) {
    await sleep(1000);
    const now = server.cpuSeconds();
    calm = now - last < IDLE_SHARE ? calm + 1 : 0;
    last = now;
  }
}

function timedBy(name: string, meter: Meter): Timed {
  return async (what, count, load) => {
    const [started, cpu] = [performance.now(), meter.cpuSeconds()];
    await load();
    const wall = (1000 * (performance.now() - started)) / count;
    const used = (1e6 * (meter.cpuSeconds() - cpu)) / count;
    console.log(
      `  ${name.padEnd(26)}${what.padEnd(30)}${wall.toFixed(2).padStart(9)} ${used.toFixed(2).padStart(9)} CPU`,
    );
  };
}

async function loadKuzu(data: Data): Promise<void> {
  const own = { cpuSeconds: () => (process.cpuUsage().user + process.cpuUsage().system) / 1e6 };
  for (const door of ["Kuzu, COPY", "Kuzu, UNWIND"]) {
    const kuzu = await openKuzu();
    if (kuzu === null) {
      console.log("  Kuzu is not installed here (npm ci --prefix bench/peers/graph): left out.");
      return;
    }
    const { connection, directory } = kuzu;
    const timed = timedBy(door, own);
    if (door === "Kuzu, COPY") {
      const files = kuzuFiles(directory, data);
      await timed("nodes", data.nodes, async () => void (await connection.query(`COPY N FROM '${files.nodes}'`)));
      await timed("relationships", data.from.length, async () => {
        await connection.query(`COPY E FROM '${files.edges}'`);
      });
    } else {
      const [nodes, edges] = [await connection.prepare(NODES), await connection.prepare(EDGES_OF_KUZU)];
      const sample = { ...data, from: data.from.subarray(0, KUZU_SAMPLE), to: data.to.subarray(0, KUZU_SAMPLE) };
      await unwind(sample, timed, async (text, parameters) => {
        if (text === NODES) await connection.execute(nodes, parameters as { ids: number[] });
        if (text !== EDGES) return;
        const { rows } = parameters as { rows: [number, number][] };
        await connection.execute(edges, { rows: rows.map(([a, b]) => ({ a, b })) });
      });
    }
    await kuzu.stop();
  }
}
