/**
 * Search over HTTP at 64 connections: DOCUMENTS (20,000) short texts with words by Zipf's law, each with a vector of
 * 384 numbers (both from fixed seeds). Words of any kind, words that most documents have, vectors, and both fused.
 * Beside Tessera, for the words, SQLite's FTS5 behind fastify, in the same rounds (PEERS=none: without).
 */
import { join } from "node:path";
import { type Corpus, corpusOf } from "./hybrid/corpus.js";
import { latency, loadGenerator, throughput } from "./load/generators.js";
import { FIRST_KEY, jsonRequest, type Request, writeRequests } from "./load/requests.js";
import { peakMemoryOf } from "./processes.js";
import { post, type Running, removeDirectory, startPeer, startTessera, temporaryDirectory } from "./servers.js";
import { median } from "./statistics.js";
import { clusteredVectors, nearestByCosine, type VectorData, vectorJson } from "./vector/data.js";

const K = 10;
const QUERIES = 1000;
/** Of the queries, those that recall is measured with. */
const RECALL_QUERIES = 200;
const DIMENSIONS = 384;
const CONNECTIONS = 64;
const WARM_UP_SECONDS = 2;
/** Of the throughput: the rate at which latencies are measured. */
const RATE_SHARE = 0.7;
/** Documents of one request while loading. */
const LOAD_DOCUMENTS = 200;

const SEARCH = "SELECT id, score, title FROM search('document', $1, $2, 'text')";
const SEARCH_VECTOR = "SELECT id, score, title FROM search('document', $1::vector, $2)";
const SEARCH_BOTH = "SELECT id, score, title FROM search('document', $1, $2, 'hybrid', $3::vector)";

interface Entry {
  readonly server: Running;
  readonly label: string;
  readonly file: string;
  readonly perSecond: number[];
  readonly perCpuSecond: number[];
  readonly p50Ms: number[];
  readonly p99Ms: number[];
}

export async function hybrid(rounds: number, seconds: number): Promise<void> {
  const count = Number(process.env.DOCUMENTS ?? 20_000);
  const corpus = corpusOf(count, QUERIES);
  const data = clusteredVectors(count, QUERIES, DIMENSIONS);
  const directory = temporaryDirectory("hybrid");
  const servers: Running[] = [];
  console.log(`${count} documents, vectors of ${DIMENSIONS}, k = ${K}, ${CONNECTIONS} connections`);
  try {
    const tessera = await startTessera();
    servers.push(tessera);
    await fill(tessera, () => loadTessera(tessera, corpus, data));
    console.log(`recall@${K} of vectors: ${(await recall(tessera, data)).toFixed(4)}`);
    const entries = entriesOf(tessera, tesseraRequests(tessera, corpus, data), directory);
    const sqlite = process.env.PEERS === "none" ? null : await startPeer("sqlite-text", "fastify + SQLite FTS5");
    if (sqlite !== null) {
      servers.push(sqlite);
      await fill(sqlite, () => loadPeer(sqlite, corpus));
      entries.push(...entriesOf(sqlite, peerRequests(sqlite, corpus), directory));
    }
    await measure(entries, rounds, seconds);
    print(entries);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    removeDirectory(directory);
  }
}

async function fill(server: Running, load: () => Promise<void>): Promise<void> {
  const cpuBefore = server.cpuSeconds();
  const before = performance.now();
  await load();
  const seconds = ((performance.now() - before) / 1000).toFixed(1);
  const cpu = (server.cpuSeconds() - cpuBefore).toFixed(1);
  const memory = Math.round(peakMemoryOf(server.roots) / 2 ** 20);
  console.log(`${server.name.padEnd(24)} loaded in ${seconds} s, ${cpu} s of CPU, peak ${memory} MiB`);
}

const execute = (server: Running, sql: string, parameters: readonly unknown[] = []) =>
  post(`${server.url}/v1/query/execute`, { sql, parameters, max_rows: K }, server.token);

/** Documents come into indexes that are there, and are searched when the indexes have them all. */
async function loadTessera(server: Running, { documents }: Corpus, { vectors }: VectorData): Promise<void> {
  const columns = `id int PRIMARY KEY, title text NOT NULL, body text NOT NULL, vector vector(${DIMENSIONS}) NOT NULL`;
  await execute(server, `CREATE TABLE document (${columns})`);
  await execute(server, "CREATE INDEX ON document USING text (title, body)");
  await execute(server, "CREATE INDEX ON document USING hnsw (vector) WITH (m = 16, ef_construction = 100)");
  for (let first = 0; first < documents.length; first += LOAD_DOCUMENTS) {
    const part = documents.slice(first, first + LOAD_DOCUMENTS);
    const rows = part.map((_, i) => `($${4 * i + 1}, $${4 * i + 2}, $${4 * i + 3}, $${4 * i + 4})`);
    const values = part.flatMap(({ title, body }, i) => [first + i, title, body, vectorJson(vectors[first + i]!)]);
    await execute(server, `INSERT INTO document VALUES ${rows.join(", ")}`, values);
  }
  await execute(server, SEARCH_BOTH, ["word", K, vectorJson(vectors[0]!)]);
}

async function loadPeer(server: Running, { documents }: Corpus): Promise<void> {
  for (let first = 0; first < documents.length; first += LOAD_DOCUMENTS) {
    const part = documents.slice(first, first + LOAD_DOCUMENTS);
    await post(`${server.url}/load`, { first, documents: part }, server.token);
  }
}

async function recall(server: Running, { vectors, queries }: VectorData): Promise<number> {
  let hits = 0;
  for (const query of queries.slice(0, RECALL_QUERIES)) {
    const near = nearestByCosine(vectors, query, K);
    const answer = await execute(server, SEARCH_VECTOR, [vectorJson(query), K]);
    const { rows } = answer.data as { rows: readonly (readonly unknown[])[] };
    hits += rows.filter(([id]) => near.has(String(id))).length;
  }
  return hits / (K * RECALL_QUERIES);
}

type Requests = Readonly<Record<string, readonly Request[]>>;

function tesseraRequests({ token }: Running, corpus: Corpus, { queries: vectors }: VectorData): Requests {
  const request = (sql: string, parameters: readonly unknown[]) =>
    jsonRequest("/v1/query/execute", token, JSON.stringify({ sql, parameters, max_rows: K }));
  return {
    words: corpus.queries.map((words) => request(SEARCH, [words, K])),
    "common words": corpus.commonQueries.map((words) => request(SEARCH, [words, K])),
    vector: vectors.map((vector) => request(SEARCH_VECTOR, [vectorJson(vector), K])),
    hybrid: corpus.queries.map((words, i) => request(SEARCH_BOTH, [words, K, vectorJson(vectors[i]!)])),
  };
}

function peerRequests({ token }: Running, { queries, commonQueries }: Corpus): Requests {
  const request = (words: string) => jsonRequest("/search", token, JSON.stringify({ words, k: K }));
  return { words: queries.map(request), "common words": commonQueries.map(request) };
}

function entriesOf(server: Running, requests: Requests, directory: string): Entry[] {
  return Object.entries(requests).map(([label, list]) => {
    const file = join(directory, `${server.pid}-${label.replaceAll(" ", "-")}`);
    writeRequests(file, server.url, list, true);
    return { server, label, file, perSecond: [], perCpuSecond: [], p50Ms: [], p99Ms: [] };
  });
}

/** In each round another begins. */
async function measure(entries: readonly Entry[], rounds: number, seconds: number): Promise<void> {
  const generator = loadGenerator();
  for (let round = -1; round < rounds; round++) {
    const first = Math.max(0, round) % entries.length;
    for (const entry of [...entries.slice(first), ...entries.slice(0, first)]) {
      const { server, file } = entry;
      const load = { url: server.url, file, firstKey: FIRST_KEY, connections: CONNECTIONS, keepAlive: true, seconds };
      const before = server.cpuSeconds();
      const done = await throughput(round < 0 ? { ...load, seconds: WARM_UP_SECONDS } : load, generator);
      const cpuSeconds = server.cpuSeconds() - before;
      if (done.errors > 0) throw new Error(`${server.name}, ${entry.label}: ${done.errors} answers were errors`);
      if (round < 0) continue;
      const perSecond = done.requests / done.seconds;
      const { p50Ms, p99Ms } = await latency(load, RATE_SHARE * perSecond);
      entry.perSecond.push(perSecond);
      entry.perCpuSecond.push(done.requests / cpuSeconds);
      entry.p50Ms.push(p50Ms);
      entry.p99Ms.push(p99Ms);
    }
  }
}

/** Ratios are medians of the rounds' ratios of Tessera to the peer. */
function print(entries: readonly Entry[]): void {
  for (const entry of entries) {
    const { server, label, perSecond, perCpuSecond, p50Ms, p99Ms } = entry;
    const own = entries.find((other) => other.label === label)!;
    const ratio = (of: (one: Entry) => readonly number[]) =>
      median(of(own).map((value, i) => value / of(entry)[i]!)).toFixed(1);
    const ratios =
      own === entry
        ? ""
        : `  Tessera: ${ratio((one) => one.perSecond)}×, per CPU s ${ratio((one) => one.perCpuSecond)}×`;
    console.log(
      `${server.name.padEnd(24)} ${label.padEnd(13)} ${median(perSecond).toFixed(0).padStart(7)}/s ` +
        `${median(perCpuSecond).toFixed(0).padStart(7)} per CPU s  p50 ${median(p50Ms).toFixed(1)} p99 ${median(p99Ms).toFixed(1)} ms ` +
        `at ${(RATE_SHARE * median(perSecond)).toFixed(0)}/s${ratios}`,
    );
  }
}
