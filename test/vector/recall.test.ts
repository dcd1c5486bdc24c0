/** How much of the exact answer the graph finds: metrics, storages, filters, churn, and SIFT with its ground truth. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { METRIC_ENTRIES, VECTOR_METRICS, type VectorMetric } from "../../src/values/vector-metric.js";
import type { VectorStorage } from "../../src/vector/graph-parameters.js";
import { VectorGraph } from "../../src/vector/vector-graph.js";
import { SUITES } from "../conformance/sql-suites.js";
import { randomFrom } from "../fuzz/random.js";
import { sized } from "../lengths.js";
import { bitmapOf, clusteredVectors, recallOf } from "./vectors.js";

const K = 10;
/** Vectors in most of the graphs. */
const COUNT = sized(1_000, 2_000);

function built(vectors: readonly Float32Array[], metric: VectorMetric, storage: VectorStorage): VectorGraph {
  const graph = new VectorGraph({ dimensions: vectors[0]!.length, metric, storage });
  for (const vector of vectors) graph.add(vector);
  return graph;
}

/** Recall of walks with `ef` against the exact answers of the same graph. */
function recallAt(graph: VectorGraph, queries: readonly Float32Array[], ef: number, allowed?: Uint32Array): number {
  const found = queries.map((query) => graph.search(query, K, ef, allowed));
  return recallOf(
    found,
    queries.map((query) => graph.exact(query, K, allowed)),
  );
}

t.test("every metric and storage", async (t) => {
  const vectors = clusteredVectors(COUNT + 60, 48, 1);
  const queries = vectors.splice(COUNT);
  const least = [
    { storage: "f32", ef: 48, recall: 0.98 },
    { storage: "int8", ef: 48, recall: 0.98 },
    { storage: "binary", ef: 400, recall: 0.9 },
  ] as const;
  for (const [metric] of METRIC_ENTRIES) {
    for (const { storage, ef, recall } of least) {
      const got = recallAt(built(vectors, metric, storage), queries, ef);
      t.ok(got >= (metric === "dot" ? recall - 0.1 : recall), `${metric} ${storage}: ${got}`);
    }
  }
});

t.test("bits by Hamming's and Jaccard's distance", async (t) => {
  const centred = clusteredVectors(COUNT + 30, 100, 11);
  const bits = centred.map((vector) => vector.map((x) => (x > 0.4 ? 1 : 0)));
  // Vectors that are equal, and some without a bit.
  for (let i = 0; i < 40; i++) bits[2 * i] = i % 2 === 0 ? new Float32Array(100) : bits[1]!;
  const queries = bits.splice(COUNT);
  for (const metric of ["l2", "jaccard"] as const) {
    const graph = built(bits, metric, "bits");
    const { distance } = VECTOR_METRICS[metric];
    const truth = queries.map((query) =>
      bits
        .map((vector) => Math.fround(distance(query, vector)))
        .sort((a, b) => a - b)
        .slice(0, K),
    );
    const passes = (slot: number) => slot % 3 !== 0;
    let near = 0;
    for (const [i, query] of queries.entries()) {
      const far = truth[i]!.at(-1)!;
      const exact = graph.exact(query, K);
      t.same(Array.from(exact.distances, Math.fround), truth[i], metric);
      near += [...graph.search(query, K, 64).distances].filter((each) => Math.fround(each) <= far).length;
      const some = graph.exactPassing(query, K, K, passes);
      t.ok([...graph.searchPassing(query, K, 64, passes).slots, ...some.slots].every(passes), metric);
      t.equal(some.complete, some.slots.length === K);
    }
    t.ok(near >= 0.98 * K * queries.length, `${metric}: ${near / (K * queries.length)}`);
    t.same(graph.vector(1), bits[1]);
    t.ok(graph.bytes < COUNT * 250 + 200_000, `${graph.bytes} bytes`);
  }
  t.throws(() => built(bits, "jaccard", "f32"), /not measured/);
  t.throws(() => built(bits, "cosine", "bits"), /not measured/);
});

t.test("filters of every selectivity, with the exact search where the walk says that it fell short", async (t) => {
  const vectors = clusteredVectors(4 * COUNT + 40, 24, 2);
  const queries = vectors.splice(4 * COUNT);
  for (const storage of ["f32", "int8"] as const) {
    const graph = built(vectors, "cosine", storage);
    for (const share of [0.9, 0.5, 0.2, 0.05, 0.005, 0.0005]) {
      const random = randomFrom(3);
      const slots = vectors.map((_, slot) => slot).filter(() => random() < share);
      const allowed = bitmapOf(slots, graph.slotCount);
      const isAllowed = new Set(slots);
      const found = queries.map((query) => {
        const walked = graph.search(query, K, 64, allowed);
        t.ok(walked.slots.every((slot) => isAllowed.has(slot)));
        return walked.complete ? walked : graph.exact(query, K, allowed);
      });
      t.ok(found.every(({ slots }) => slots.length === Math.min(K, isAllowed.size)));
      const recall = recallOf(
        found,
        queries.map((query) => graph.exact(query, K, allowed)),
      );
      t.ok(recall >= 0.97, `${storage} ${share}: ${recall}`);
    }
  }
});

t.test("a filter whose matches are all far from the query", async (t) => {
  const vectors = clusteredVectors(4_000, 16, 4, 10);
  const graph = built(vectors, "l2", "f32");
  const query = vectors[0]!;
  const farthest = vectors
    .map((_, slot) => slot)
    .sort((a, b) => distanceTo(graph, query, b) - distanceTo(graph, query, a))
    .slice(0, 400);
  const allowed = bitmapOf(farthest, graph.slotCount);
  const found = graph.search(query, K, 100, allowed);
  t.ok(found.complete);
  const recall = recallOf([found], [graph.exact(query, K, allowed)]);
  t.ok(recall >= 0.8, `${recall}`);
});

function distanceTo(graph: VectorGraph, query: Float32Array, slot: number): number {
  return graph.exactOf(query, 1, [slot]).distances[0]!;
}

t.test("recall holds while all vectors are replaced again and again", async (t) => {
  // Many small groups: removals cut them off from each other sooner than one large one.
  const count = COUNT + 500;
  const vectors = clusteredVectors(count * 4 + 80, 32, 5, 80);
  const queries = vectors.splice(count * 4);
  const graph = built(vectors.slice(0, count), "cosine", "f32");
  const before = recallAt(graph, queries, 32);
  const random = randomFrom(6);
  const slots = Array.from({ length: count }, (_, i) => i);
  for (const vector of vectors.slice(count)) {
    const at = Math.floor(random() * slots.length);
    t.ok(graph.remove(slots[at]!) || t.fail("a live slot could not be removed"));
    slots[at] = graph.add(vector);
  }
  const after = recallAt(graph, queries, 32);
  t.equal(graph.count, count);
  t.ok(after >= before - 0.02 && after >= 0.96, `before ${before}, after ${after}`);
  t.ok(graph.slotCount < count * 1.2, `slots are used again: ${graph.slotCount}`);
  const reached = graph.search(queries[0]!, count, count).slots.length;
  t.ok(reached >= count * 0.999, `all are reachable: ${reached}`);
});

t.test("most vectors removed", async (t) => {
  const vectors = clusteredVectors(2_000, 32, 7);
  const graph = built(vectors, "l2", "int8");
  const random = randomFrom(8);
  for (let slot = 0; slot < vectors.length; slot++) if (random() < 0.9) graph.remove(slot);
  const recall = recallAt(graph, clusteredVectors(60, 32, 7), 48);
  t.ok(recall >= 0.97, `${recall}`);
});

t.test("large groups of nearly equal vectors", async (t) => {
  const random = randomFrom(10);
  const vectors = clusteredVectors(1_560, 24, 11, 60);
  const queries = vectors.splice(1_500);
  const graph = new VectorGraph({ dimensions: 24, metric: "l2" });
  for (const [i, vector] of vectors.entries()) {
    graph.add(vector);
    for (const group of [0, 1]) graph.add(vectors[group]!.map((x) => x + (random() + (i % 3)) * 1e-3));
  }
  const recall = recallAt(graph, queries, 64);
  t.ok(recall >= 0.95, `${recall}`);
});

t.test("thousands of equal vectors hide none of the others", async (t) => {
  const others = clusteredVectors(2_000, 24, 9);
  const same = Float32Array.from({ length: 24 }, (_, i) => (i % 5) - 2);
  for (const storage of ["f32", "int8"] as const) {
    const graph = new VectorGraph({ dimensions: 24, metric: "cosine", storage });
    for (const [i, vector] of others.entries()) {
      graph.add(vector);
      graph.add(same);
      if (i % 2 === 0) graph.add(same);
    }
    const found = graph.search(same, 50, 64);
    t.equal(found.slots.length, 50);
    t.ok(found.distances.every((distance) => Math.abs(distance) < 1e-5));
    const queries = clusteredVectors(60, 24, 9);
    const recall = recallAt(graph, queries, 64);
    t.ok(recall >= 0.97, `${storage}: ${recall}`);
    const odd = Array.from({ length: graph.slotCount }, (_, slot) => slot).filter((slot) => slot % 2 === 1);
    const allowed = bitmapOf(odd, graph.slotCount);
    t.ok(graph.search(same, 50, 64, allowed).slots.every((slot) => slot % 2 === 1));
    t.equal(graph.search(same, 50, 64, allowed).slots.length, 50);
    // All equal ones but the last go, the first of them, which stands for the others, too.
    const equal = graph.exact(same, 3_000).slots.slice().sort();
    for (const slot of equal.subarray(0, -1)) graph.remove(slot);
    t.same([...graph.search(same, 1, 64).slots], [equal.at(-1)]);
    t.ok(graph.remove(equal.at(-1)!));
    t.equal(graph.count, others.length);
    t.ok(graph.search(same, 1, 64).distances[0]! > 1e-3);
    t.ok(recallAt(graph, queries, 64) >= 0.97);
  }
});

const SIFT = join(SUITES, "vectors/sift10k");

t.test("SIFT", { skip: existsSync(SIFT) ? false : "the suites are not there" }, async (t) => {
  const base = readVectors("base.bvecs");
  t.setTimeout(300_000);
  const queries = readVectors("query.bvecs");
  const files = { l2: "gt-l2", cosine: "gt-cosine", dot: "gt-ip" } as const satisfies Partial<
    Record<VectorMetric, string>
  >;
  const all = ["f32", "int8"] as const;
  for (const [i, [metric, file]] of (Object.entries(files) as [VectorMetric, string][]).entries()) {
    const truth = readIntegers(`${file}.ivecs`);
    for (const storage of sized<readonly VectorStorage[]>([all[i % 2]!], all)) {
      const graph = built(base, metric, storage);
      let hits = 0;
      for (const [i, query] of queries.entries()) {
        const nearest = new Set(truth[i]!.slice(0, K));
        for (const slot of graph.search(query, K, 64).slots) if (nearest.has(slot)) hits++;
      }
      const recall = hits / (queries.length * K);
      t.ok(recall >= 0.97, `${metric} ${storage}: ${recall}`);
    }
  }
});

/** Each vector: its length (int32), then a byte per element. */
function readVectors(name: string): Float32Array[] {
  const bytes = readFileSync(join(SIFT, name));
  const vectors: Float32Array[] = [];
  for (let at = 0; at < bytes.length; at += 4 + bytes.readInt32LE(at))
    vectors.push(Float32Array.from(bytes.subarray(at + 4, at + 4 + bytes.readInt32LE(at))));
  return vectors;
}

function readIntegers(name: string): number[][] {
  const bytes = readFileSync(join(SIFT, name));
  const lists: number[][] = [];
  for (let at = 0; at < bytes.length; at += 4 + 4 * bytes.readInt32LE(at))
    lists.push(Array.from({ length: bytes.readInt32LE(at) }, (_, i) => bytes.readInt32LE(at + 4 + 4 * i)));
  return lists;
}
