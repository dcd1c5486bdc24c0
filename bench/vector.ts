/**
 * Nearest vectors over HTTP: 50,000 × 384 from a fixed seed, k = 10, cosine, 64 connections. Each contender is asked
 * with the fewest candidates (ef) that give the recall wanted; then all take turns. After that Tessera alone: filters
 * that few and many match, and recall in a sample of SIFT. VECTORS (50,000), RECALL (0.96), PEERS, QUANTIZATION (none).
 */
import { join } from "node:path";
import { loadGenerator, throughput } from "./load/generators.js";
import { FIRST_KEY, type Request, writeRequests } from "./load/requests.js";
import { peakMemoryOf } from "./processes.js";
import { removeDirectory, temporaryDirectory } from "./servers.js";
import { median } from "./statistics.js";
import {
  DIMENSIONS,
  sendRequest,
  startVectorContender,
  VECTOR_CONTENDERS,
  type VectorContender,
} from "./vector/contenders.js";
import { clusteredVectors, nearestByCosine, randomFrom } from "./vector/data.js";
import { siftRecall } from "./vector/sift.js";

const K = 10;
const QUERIES = 1000;
/** Of the queries, those that recall is measured with. */
const RECALL_QUERIES = 200;
const CONNECTIONS = 64;
const WARM_UP_SECONDS = 2;
const EFS = [10, 12, 16, 20, 24, 28, 32, 36, 40, 48, 56, 64, 80, 96, 128, 192, 256, 400];
/** What a vector's metadata says: `{"n": 0 … 9999}` at random, so that n below a bound selects a share. */
const NUMBERS = 10_000;
const SHARES = [0.5, 0.05, 0.005, 0.0005];

interface Entry {
  readonly contender: VectorContender;
  readonly label: string;
  readonly file: string;
  readonly recall: number;
  readonly perSecond: number[];
  readonly perCpuSecond: number[];
}

type Truth = readonly ReadonlySet<string>[];

async function recallOf(
  contender: VectorContender,
  queries: readonly Float32Array[],
  truth: Truth,
  filter?: string,
): Promise<number> {
  let hits = 0;
  let wanted = 0;
  for (const [i, near] of truth.entries()) {
    const ids = contender.idsOf(await sendRequest(contender, contender.search(queries[i]!, K, filter)));
    hits += ids.filter((id) => near.has(id)).length;
    wanted += near.size;
  }
  return hits / wanted;
}

function rounded(seconds: number): string {
  return `${seconds.toFixed(1)} s`;
}

export async function vector(rounds: number, seconds: number): Promise<void> {
  const count = Number(process.env.VECTORS ?? 50_000);
  const recallWanted = Number(process.env.RECALL ?? 0.96);
  const named = process.env.PEERS?.split(/[ ,]+/).filter((name) => name !== "" && name !== "none");
  const ids = ["tessera", ...VECTOR_CONTENDERS.filter((id) => id !== "tessera" && (named?.includes(id) ?? true))];
  const { vectors, queries } = clusteredVectors(count, QUERIES, DIMENSIONS);
  const truth = queries.slice(0, RECALL_QUERIES).map((query) => nearestByCosine(vectors, query, K));
  const random = randomFrom(1);
  const numbers = vectors.map(() => Math.floor(NUMBERS * random()));
  const directory = temporaryDirectory("vectors");
  const entries: Entry[] = [];
  const started: VectorContender[] = [];
  console.log(`${count} × ${DIMENSIONS}, k = ${K}, cosine, ${CONNECTIONS} connections, recall@${K} ≥ ${recallWanted}`);
  try {
    for (const id of ids) {
      const contender = await startOrTell(id);
      if (contender === null) continue;
      started.push(contender);
      await fill(contender, vectors, (i) => `{"n":${numbers[i]!}}`);
      const entry = await tuned(contender, queries, truth, recallWanted, directory);
      if (entry !== null) entries.push(entry);
    }
    await measured(entries, rounds, seconds);
    print(entries);
    const tessera = started[0]!;
    await tessera.setEf(64);
    const filtered: Entry[] = [];
    for (const share of SHARES) {
      const below = share * NUMBERS;
      const filter = `{"n":{"$lt":${below}}}`;
      const near = queries
        .slice(0, RECALL_QUERIES)
        .map((query) => nearestByCosine(vectors, query, K, (i) => numbers[i]! < below));
      const recall = await recallOf(tessera, queries, near, filter);
      const label = `filter that ${(100 * share).toFixed(2)}% match`;
      filtered.push(entryOf(tessera, label, recall, queries, directory, filter));
    }
    await measured(filtered, rounds, seconds);
    print(filtered);
    await siftRecall(tessera);
  } finally {
    await Promise.all(started.map((contender) => contender.stop()));
    removeDirectory(directory);
  }
}

async function startOrTell(id: string): Promise<VectorContender | null> {
  try {
    return await startVectorContender(id);
  } catch (error) {
    if (id === "tessera") throw error;
    console.log(`${id} is left out: ${(error as Error).message}`);
    return null;
  }
}

async function fill(
  contender: VectorContender,
  vectors: readonly Float32Array[],
  metadata: (index: number) => string,
): Promise<void> {
  const cpuBefore = contender.cpuSeconds();
  const before = performance.now();
  await contender.load(vectors, metadata);
  const loaded = performance.now();
  await contender.build();
  const built = performance.now();
  const memory = Math.round(peakMemoryOf(contender.roots) / 2 ** 20);
  console.log(
    `${contender.name.padEnd(32)} loaded in ${rounded((loaded - before) / 1000)}, index after ${rounded((built - loaded) / 1000)} more, ` +
      `${rounded(contender.cpuSeconds() - cpuBefore)} of CPU, peak ${memory} MiB  ${JSON.stringify(contender.versions)}`,
  );
}

/** With the fewest candidates that give the recall. */
async function tuned(
  contender: VectorContender,
  queries: readonly Float32Array[],
  truth: Truth,
  recallWanted: number,
  directory: string,
): Promise<Entry | null> {
  for (const ef of EFS) {
    await contender.setEf(ef);
    const recall = await recallOf(contender, queries, truth);
    if (recall >= recallWanted) return entryOf(contender, `ef ${ef}`, recall, queries, directory);
  }
  console.log(`${contender.name} is left out: it does not reach the recall`);
  return null;
}

function entryOf(
  contender: VectorContender,
  label: string,
  recall: number,
  queries: readonly Float32Array[],
  directory: string,
  filter?: string,
): Entry {
  const file = join(directory, `${contender.id}-${label.replaceAll(/\W+/g, "-")}`);
  const requests: Request[] = queries.map((query) => contender.search(query, K, filter));
  writeRequests(file, contender.url, requests, true);
  return { contender, label, file, recall, perSecond: [], perCpuSecond: [] };
}

/** In each round another begins. */
async function measured(entries: readonly Entry[], rounds: number, seconds: number): Promise<void> {
  const generator = loadGenerator();
  for (let round = -1; round < rounds; round++) {
    const first = Math.max(0, round) % entries.length;
    for (const entry of [...entries.slice(first), ...entries.slice(0, first)]) {
      const { contender, file } = entry;
      const load = { url: contender.url, file, firstKey: FIRST_KEY, connections: CONNECTIONS, keepAlive: true };
      const before = contender.cpuSeconds();
      const done = await throughput({ ...load, seconds: round < 0 ? WARM_UP_SECONDS : seconds }, generator);
      const cpuSeconds = contender.cpuSeconds() - before;
      if (done.errors > 0) throw new Error(`${contender.name}: ${done.errors} answers were errors`);
      if (round < 0) continue;
      entry.perSecond.push(done.requests / done.seconds);
      entry.perCpuSecond.push(done.requests / cpuSeconds);
    }
  }
}

/** Ratios are medians of the rounds' ratios to the first. */
function print(entries: readonly Entry[]): void {
  const first = entries[0]!;
  for (const { contender, label, recall, perSecond, perCpuSecond } of entries) {
    const ratio = median(perSecond.map((value, i) => value / first.perSecond[i]!));
    const cpuRatio = median(perCpuSecond.map((value, i) => value / first.perCpuSecond[i]!));
    const cpu = median(perCpuSecond);
    console.log(
      `${contender.name.padEnd(32)} ${label.padEnd(24)} recall ${recall.toFixed(4)} ${median(perSecond).toFixed(0).padStart(7)}/s (${ratio.toFixed(2)}) ` +
        `${cpu.toFixed(0).padStart(7)} per CPU s (${cpuRatio.toFixed(2)}), ${((1e6 / cpu) | 0).toString().padStart(6)} µs each`,
    );
  }
}
