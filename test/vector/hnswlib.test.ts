/**
 * hnswlib as an oracle: its exact search finds the same vectors, and its graph with the same parameters finds no more
 * of them. The package is one of the bench's peers (`make vector-peers`); without it these tests are skipped.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import t, { type Test } from "tap";
import type { VectorMetric } from "../../src/values/vector-metric.js";
import { VectorGraph } from "../../src/vector/vector-graph.js";
import { clusteredVectors, distanceOf, recallOf } from "./vectors.js";

const PEERS = new URL("../../../bench/peers/vectors/", import.meta.url).pathname;
const K = 10;
const M = 16;
const EF_CONSTRUCTION = 100;

/** What is used of the package. */
interface Index {
  initIndex(maxElements: number, m?: number, efConstruction?: number, randomSeed?: number): void;
  addPoint(vector: readonly number[], label: number): void;
  searchKnn(vector: readonly number[], k: number): { readonly neighbors: readonly number[] };
}
interface Hnswlib {
  readonly HierarchicalNSW: new (space: string, dimensions: number) => Index & { setEf(ef: number): void };
  readonly BruteforceSearch: new (space: string, dimensions: number) => Index;
}

/** The metrics that hnswlib has, too, and its names for them. */
const SPACES: readonly (readonly [metric: VectorMetric, space: string])[] = [
  ["cosine", "cosine"],
  ["l2", "l2"],
  ["dot", "ip"],
];

const hnswlib = load();
const skip = hnswlib === null ? "hnswlib-node is not installed: make vector-peers" : false;

function load(): Hnswlib | null {
  try {
    return createRequire(join(PEERS, "package.json"))("hnswlib-node") as Hnswlib;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "MODULE_NOT_FOUND") return null;
    throw error;
  }
}

function graphOf(vectors: readonly Float32Array[], metric: VectorMetric): VectorGraph {
  const dimensions = vectors[0]!.length;
  const graph = new VectorGraph({ dimensions, metric, storage: "f32", m: M, efConstruction: EF_CONSTRUCTION });
  for (const vector of vectors) graph.add(vector);
  return graph;
}

function fill(index: Index, vectors: readonly Float32Array[]): void {
  for (const [i, vector] of vectors.entries()) index.addPoint([...vector], i);
}

function sameDistances(
  t: Test,
  metric: VectorMetric,
  query: Float32Array,
  pairs: readonly (readonly number[])[],
): void {
  const [ours, theirs] = pairs.map((slots) => slots.map((slot) => distanceOf(metric, query, vectors[slot]!)));
  // Equal distances may come in any order, so distances are compared.
  const differs = ours!.findIndex(
    (distance, i) => Math.abs(distance - theirs![i]!) > 1e-4 * Math.max(1, Math.abs(distance)),
  );
  t.equal(differs, -1, `${metric}: ${ours} and ${theirs}`);
}

const vectors = clusteredVectors(3_050, 48, 11);
const queries = vectors.splice(3_000);

for (const [metric, space] of SPACES) {
  t.test(`${metric}: the exact search finds what hnswlib's finds`, { skip }, async (t) => {
    const index = new hnswlib!.BruteforceSearch(space, 48);
    index.initIndex(vectors.length);
    fill(index, vectors);
    const graph = graphOf(vectors, metric);
    for (const query of queries) {
      const { neighbors } = index.searchKnn([...query], K);
      const ours = [...graph.exact(query, K).slots];
      t.equal(ours.length, K);
      sameDistances(t, metric, query, [ours, neighbors.toSorted(byDistance(metric, query))]);
    }
  });

  t.test(`${metric}: the graph finds as much as hnswlib's`, { skip }, async (t) => {
    const index = new hnswlib!.HierarchicalNSW(space, 48);
    index.initIndex(vectors.length, M, EF_CONSTRUCTION, 1);
    fill(index, vectors);
    const graph = graphOf(vectors, metric);
    const truth = queries.map((query) => graph.exact(query, K));
    for (const ef of [16, 32, 64]) {
      index.setEf(ef);
      const ours = recallOf(
        queries.map((query) => graph.search(query, K, ef)),
        truth,
      );
      const found = queries.map((query) => ({
        ...truth[0]!,
        slots: Uint32Array.from(index.searchKnn([...query], K).neighbors),
      }));
      const theirs = recallOf(found, truth);
      t.ok(ours >= theirs - 0.02, `ef ${ef}: ${ours.toFixed(3)}, hnswlib ${theirs.toFixed(3)}`);
    }
  });
}

function byDistance(metric: VectorMetric, query: Float32Array): (a: number, b: number) => number {
  return (a, b) => distanceOf(metric, query, vectors[a]!) - distanceOf(metric, query, vectors[b]!);
}
