/**
 * Algorithms over published graphs and a random one with parallel relationships and loops: the answers are networkx's
 * (test/golden/graph/answers.py).
 */
import { readFileSync } from "node:fs";
import t, { type Test } from "tap";
import type { AlgorithmGraph, AlgorithmResult, ResultColumn } from "../../src/graph/algorithms/algorithm.js";
import { outgoing, undirected } from "../../src/graph/algorithms/csr.js";
import { modularityOf } from "../../src/graph/algorithms/louvain.js";
import { ALGORITHMS, algorithmNamed, checkedOptions, runAlgorithm } from "../../src/graph/algorithms/run-algorithm.js";
import { goldenPath } from "../query/golden.js";

type Numbers = readonly (number | null)[];
interface Known {
  readonly nodes: number;
  readonly edges: readonly (readonly [number, number, number])[];
  readonly jaccard: Readonly<Record<string, number>>;
  readonly modularityOfOneEach: number;
  readonly louvainModularity: number;
  readonly [answer: string]: unknown;
}

const GRAPHS = JSON.parse(readFileSync(goldenPath("graph/answers.json"), "utf8")) as Readonly<Record<string, Known>>;

/** Nodes have ids that are not their places. */
function graphOf({ nodes, edges }: Known, isWeighted = false): AlgorithmGraph {
  return {
    nodes: Float64Array.from({ length: nodes }, (_, i) => 10 * i + 5),
    src: Uint32Array.from(edges, ([a]) => a),
    dst: Uint32Array.from(edges, ([, b]) => b),
    weights: isWeighted ? Float64Array.from(edges, ([, , weight]) => weight) : null,
  };
}

function run(graph: AlgorithmGraph, name: string, given: Readonly<Record<string, unknown>> = {}): AlgorithmResult {
  const algorithm = algorithmNamed(name);
  const control = new Int32Array(new SharedArrayBuffer(8));
  const result = runAlgorithm({ algorithm: name, graph, options: checkedOptions(algorithm, given), control });
  const shape = result.columns.map(({ name: column, kind }) => ({ name: column, kind }));
  if (JSON.stringify(shape) !== JSON.stringify(algorithm.columns)) throw new Error(`${name} gives other columns`);
  if (result.columns.some((column) => column.values.length !== result.rows)) throw new Error("rows are missing");
  return result;
}

function valuesOf(result: AlgorithmResult, name: string): number[] {
  const column = result.columns.find((one) => one.name === name) as Exclude<ResultColumn, { kind: "nodes" }>;
  return Array.from(column.values);
}

function near(t: Test, found: readonly number[], known: unknown, name: string): void {
  const wanted = known as Numbers;
  const off = found.findIndex((value, i) => !(Math.abs(value - (wanted[i] ?? Number.NaN)) < 1e-9));
  t.ok(off === -1 && found.length === wanted.length, `${name}: ${off}: ${found[off]} is not ${wanted[off]}`);
}

for (const [name, known] of Object.entries(GRAPHS)) {
  t.test(name, async (t) => {
    const plain = graphOf(known);
    const weighted = graphOf(known, true);
    const exact = { tolerance: 1e-13, max_iterations: 10_000 };
    near(t, valuesOf(run(plain, "pageRank", exact), "score"), known.pageRank, "PageRank");
    const other = run(weighted, "page_rank", { ...exact, dampingFactor: 0.7 });
    near(t, valuesOf(other, "score"), known.pageRankWeighted, "PageRank with weights");
    const triangles = run(plain, "triangleCount");
    near(t, valuesOf(triangles, "triangles"), known.triangles, "triangles");
    near(t, valuesOf(triangles, "coefficient"), known.coefficient, "clustering");
    for (const components of ["wcc", "scc"]) {
      const groups = valuesOf(run(plain, components), "component");
      const firsts = groups.map((group) => groups.indexOf(group));
      near(t, firsts, known[components], components);
    }
    near(t, valuesOf(run(plain, "betweenness"), "score"), known.betweenness, "betweenness");
    const between = run(plain, "betweenness", { directed: false, normalized: false });
    near(t, valuesOf(between, "score"), known.betweennessUndirected, "betweenness, undirected");
    near(t, valuesOf(run(plain, "closeness"), "score"), known.closeness, "closeness");
    const close = run(plain, "closeness", { directed: false, wfImproved: false });
    near(t, valuesOf(close, "score"), known.closenessUndirected, "closeness, undirected");
    near(t, valuesOf(run(plain, "degree"), "score"), known.degree, "degree");
    near(t, valuesOf(run(weighted, "degree", { direction: "in" }), "score"), known.inDegreeWeighted, "in-degree");
    near(t, valuesOf(run(plain, "kCore"), "core"), known.core, "cores");
    for (const [algorithm, answer] of [
      ["bfs", known.hops],
      ["dijkstra", known.dijkstra],
    ] as const) {
      const found = run(weighted, algorithm, { source: 5 });
      const distances = new Array<number | null>(known.nodes).fill(null);
      valuesOf(found, "node").forEach((node, i) => {
        distances[node] = valuesOf(found, "distance")[i]!;
      });
      t.strictSame(distances, answer, algorithm);
    }
    const similar = run(plain, "nodeSimilarity", { topK: 1000 });
    const pairs = valuesOf(similar, "node").map((node, i) => [
      `${node} ${valuesOf(similar, "other")[i]}`,
      valuesOf(similar, "similarity")[i]!,
    ]);
    t.strictSame(Object.fromEntries(pairs), known.jaccard, "similarity");
  });

  t.test(`${name}: communities`, async (t) => {
    const graph = graphOf(known);
    const both = undirected(graph);
    const apart = Float64Array.from({ length: known.nodes }, (_, i) => i);
    const ofWeights = modularityOf(undirected(graphOf(known, true)), apart, 1);
    t.ok(Math.abs(ofWeights - known.modularityOfOneEach) < 1e-9, "modularity");
    let best = 0;
    for (let seed = 0; seed < 20; seed++) {
      const found = run(graph, "louvain", { seed });
      const modularity = modularityOf(both, valuesOf(found, "community"), 1);
      t.ok(Math.abs(modularity - (found.summary.modularity as number)) < 1e-9);
      best = Math.max(best, modularity);
    }
    t.ok(best > known.louvainModularity - 0.01, `the best of 20: ${best}, networkx's ${known.louvainModularity}`);
    t.strictSame(run(graph, "louvain", { seed: 3 }), run(graph, "louvain", { seed: 3 }), "a seed decides");
    const labels = valuesOf(run(graph, "labelPropagation", { seed: 1 }), "community");
    // Stable: no node has more neighbours of another label than of its own.
    for (let node = 0; node < known.nodes; node++) {
      const counts = new Map<number, number>();
      for (let i = both.offsets[node]!; i < both.offsets[node + 1]!; i++) {
        const label = labels[both.targets[i]!]!;
        counts.set(label, (counts.get(label) ?? 0) + 1);
      }
      t.ok((counts.get(labels[node]!) ?? 0) === Math.max(0, ...counts.values()));
    }
  });
}

t.test("paths", async (t) => {
  const graph = graphOf(
    {
      ...GRAPHS.karate!,
      edges: [
        [0, 1, 4],
        [0, 2, 1],
        [2, 1, 1],
        [1, 3, 5],
      ],
    },
    true,
  );
  const found = run(graph, "dijkstra", { source: 5, target: 35 });
  t.strictSame(valuesOf(found, "distance"), [7]);
  t.strictSame(found.columns[2]!.values, [[0, 2, 1, 3]]);
  t.strictSame(run(graph, "bfs", { source: 5, target: 35 }).columns[2]!.values, [[0, 1, 3]]);
  t.strictSame(run(graph, "bfs", { source: 35, direction: "in", target: 5 }).rows, 1);
  t.strictSame(run(graph, "bfs", { source: 35, target: 5 }).rows, 0);
});

t.test("Louvain tells how far it is while its first level goes on, and can be ended there", async (t) => {
  const nodes = 20_000;
  const ring: AlgorithmGraph = {
    nodes: Float64Array.from({ length: nodes }, (_, i) => i),
    src: Uint32Array.from({ length: nodes }, (_, i) => i),
    dst: Uint32Array.from({ length: nodes }, (_, i) => (i + 1) % nodes),
    weights: null,
  };
  const louvain = algorithmNamed("louvain");
  const options = checkedOptions(louvain, {});
  const told: number[] = [];
  louvain.run(ring, options, (done) => told.push(done));
  t.same(
    told,
    told.toSorted((a, b) => a - b),
    "never less than before",
  );
  t.ok(told.filter((done) => done > 0 && done < 1 / 3).length > 2, "within the first level");
  t.ok(told.at(-1)! < 1);
  const stop = (done: number) => {
    if (done > 0) throw new Error("ended");
  };
  t.throws(() => louvain.run(ring, options, stop), /ended/);
});

t.test("what is refused", async (t) => {
  const graph = graphOf(GRAPHS.karate!);
  t.throws(() => run(graph, "pageRang"), /there is no graph algorithm "pageRang"/);
  t.throws(() => run(graph, "pageRank", { damping: 1 }), /option "damping" must be at least 0 and less than 1, not 1/);
  t.throws(() => run(graph, "pageRank", { max_iterations: 2.5 }), /must be a whole number/);
  t.throws(() => run(graph, "pageRank", { nonsense: 1 }), /pageRank has no option "nonsense"; it has damping_factor/);
  t.throws(() => run(graph, "bfs"), /bfs needs the option "source"/);
  t.throws(() => run(graph, "bfs", { source: 7 }), /the node 7 that option "source" names is not in the graph/);
  t.throws(() => run(graph, "degree", { direction: "up" }), /must be one of both, out, in/);
  const control = new Int32Array(new SharedArrayBuffer(8));
  Atomics.store(control, 1, 1);
  const options = checkedOptions(algorithmNamed("pageRank"), {});
  t.throws(() => runAlgorithm({ algorithm: "pageRank", graph, options, control }), /told to end/);
});

t.test("an empty graph, and nodes alone", async (t) => {
  for (const count of [0, 3]) {
    const graph = graphOf({ ...GRAPHS.karate!, nodes: count, edges: [] });
    for (const { name, options } of ALGORITHMS) {
      if (options.some(({ type }) => type === "node")) continue;
      t.equal(run(graph, name).rows, name === "nodeSimilarity" ? 0 : count, name);
    }
    t.equal(outgoing(graph).targets.length, 0);
  }
});
