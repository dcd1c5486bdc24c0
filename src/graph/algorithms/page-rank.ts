/**
 * PageRank by power iteration (Page, Brin, Motwani and Winograd, "The PageRank Citation Ranking", 1999), as networkx
 * defines it: ranks sum up to 1, what nodes without relationships have goes to all alike, parallel relationships count
 * each, and it ends when the ranks change by less than `tolerance` per node.
 */
import type { Algorithm, AlgorithmGraph, Options, Progress } from "./algorithm.js";
import { incoming } from "./csr.js";

export const pageRank: Algorithm = {
  name: "pageRank",
  options: [
    {
      name: "damping_factor",
      aliases: ["damping", "alpha"],
      type: "float",
      default: 0.85,
      min: 0,
      max: 1,
      isBelowMax: true,
    },
    { name: "max_iterations", aliases: ["iterations", "max_iter"], type: "integer", default: 100, min: 1, max: 10_000 },
    { name: "tolerance", aliases: ["tol"], type: "float", default: 1e-6, min: 0, max: 1 },
  ],
  isWeighted: true,
  columns: [
    { name: "node", kind: "node" },
    { name: "score", kind: "float" },
  ],
  run(graph, options, progress) {
    const { ranks, iterations, didConverge } = ranksOf(graph, options, progress);
    const count = graph.nodes.length;
    return {
      columns: [
        { name: "node", kind: "node", values: Uint32Array.from({ length: count }, (_, i) => i) },
        { name: "score", kind: "float", values: ranks },
      ],
      rows: count,
      summary: { iterations, did_converge: didConverge },
    };
  },
};

function ranksOf(graph: AlgorithmGraph, options: Options, progress: Progress) {
  const count = graph.nodes.length;
  const damping = options.damping_factor as number;
  const iterationsMax = options.max_iterations as number;
  const limit = (options.tolerance as number) * count;
  const { offsets, targets: sources, weights } = incoming(graph);
  const out = new Float64Array(count);
  for (let i = 0; i < graph.src.length; i++) out[graph.src[i]!]! += graph.weights === null ? 1 : graph.weights[i]!;
  let ranks = new Float64Array(count).fill(1 / count);
  let next = new Float64Array(count);
  /** A node's rank per unit of weight that leaves it. */
  const shares = new Float64Array(count);
  for (let iteration = 1; iteration <= iterationsMax; iteration++) {
    let dangling = 0;
    for (let node = 0; node < count; node++) {
      if (out[node]! > 0) shares[node] = ranks[node]! / out[node]!;
      else dangling += ranks[node]!;
    }
    const base = (1 - damping + damping * dangling) / count;
    let change = 0;
    for (let node = 0; node < count; node++) {
      let sum = 0;
      const end = offsets[node + 1]!;
      if (weights === null) for (let i = offsets[node]!; i < end; i++) sum += shares[sources[i]!]!;
      else for (let i = offsets[node]!; i < end; i++) sum += shares[sources[i]!]! * weights[i]!;
      const rank = base + damping * sum;
      change += Math.abs(rank - ranks[node]!);
      next[node] = rank;
    }
    [ranks, next] = [next, ranks];
    if (change < limit) return { ranks, iterations: iteration, didConverge: true };
    progress(iteration / iterationsMax);
  }
  return { ranks, iterations: iterationsMax, didConverge: false };
}
