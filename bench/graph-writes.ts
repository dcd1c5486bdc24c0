/**
 * Writes to a graph over HTTP: PAIRS (10,000) MERGEs of two nodes and an edge between them, 100 a request by UNWIND,
 * first when nothing is there and then when everything is; and CREATE of one node at 64 connections. Each commit is on
 * disk before its answer.
 */
import { join } from "node:path";
import { loadGenerator, throughput } from "./load/generators.js";
import { FIRST_KEY, jsonRequest, writeRequests } from "./load/requests.js";
import { post, type Running, removeDirectory, startTessera, temporaryDirectory } from "./servers.js";
import { median } from "./statistics.js";

const PAIRS_PER_REQUEST = 100;
const CONNECTIONS = 64;
/** Of the requests that are sent in turn. */
const CREATES = 1000;
const MULTIPLIER = 7919;

const MERGE =
  "UNWIND $pairs AS pair MERGE (a:Account {id: pair.a}) MERGE (b:Account {id: pair.b}) MERGE (a)-[:PAID]->(b)";
const CREATE = "CREATE (:Event {kind: $kind, at: $at})";

export async function graphWrites(rounds: number, seconds: number): Promise<void> {
  const count = Number(process.env.PAIRS ?? 10_000);
  const server = await startTessera();
  const directory = temporaryDirectory("graph-writes");
  try {
    await runCypher(server, "CREATE CONSTRAINT FOR (n:Account) REQUIRE n.id IS UNIQUE");
    for (const what of ["new", "known"]) await mergePairs(server, count, what);
    const file = join(directory, "creates");
    const body = (i: number) => JSON.stringify({ cypher: CREATE, parameters: { kind: "login", at: i } });
    const requests = Array.from({ length: CREATES }, (_, i) => jsonRequest("/v1/graph/match", server.token, body(i)));
    writeRequests(file, server.url, requests, true);
    await measureCreates(server, file, rounds, seconds);
  } finally {
    await server.stop();
    removeDirectory(directory);
  }
}

const runCypher = (server: Running, cypher: string, parameters: object = {}) =>
  post(`${server.url}/v1/graph/match`, { cypher, parameters }, server.token) as Promise<{ rows: unknown[][] }>;

/** Pairs of `count` / 2 accounts, so that a node is in several of them. */
async function mergePairs(server: Running, count: number, what: string): Promise<void> {
  const accounts = Math.ceil(count / 2);
  const cpuBefore = server.cpuSeconds();
  const started = performance.now();
  for (let first = 0; first < count; first += PAIRS_PER_REQUEST) {
    const pairs = Array.from({ length: PAIRS_PER_REQUEST }, (_, i) => pairOf(first + i, accounts));
    await runCypher(server, MERGE, { pairs });
  }
  const elapsed = (performance.now() - started) / 1000;
  const cpu = server.cpuSeconds() - cpuBefore;
  const [row] = (await runCypher(server, "MATCH (a:Account)-[r:PAID]->() RETURN count(r)")).rows;
  console.log(
    `MERGE of ${count} pairs, ${what}: ${elapsed.toFixed(2)} s, ${(count / elapsed).toFixed(0)} pairs/s, ` +
      `${(count / cpu).toFixed(0)} per CPU s (${String(row?.[0])} edges)`,
  );
}

/** No two are alike. */
function pairOf(i: number, accounts: number): { a: number; b: number } {
  return { a: i % accounts, b: (i * MULTIPLIER + Math.floor(i / accounts) + 1) % accounts };
}

async function measureCreates(server: Running, file: string, rounds: number, seconds: number): Promise<void> {
  const perSecond: number[] = [];
  const perCpuSecond: number[] = [];
  for (let round = -1; round < rounds; round++) {
    const before = server.cpuSeconds();
    const load = { url: server.url, file, firstKey: FIRST_KEY, connections: CONNECTIONS, keepAlive: true, seconds };
    const done = await throughput(load, loadGenerator());
    if (done.errors > 0) throw new Error(`${done.errors} answers were errors`);
    if (round < 0) continue;
    perSecond.push(done.requests / done.seconds);
    perCpuSecond.push(done.requests / (server.cpuSeconds() - before));
  }
  console.log(
    `CREATE of a node, ${CONNECTIONS} connections: ${median(perSecond).toFixed(0)}/s, ` +
      `${median(perCpuSecond).toFixed(0)} per CPU s`,
  );
}
