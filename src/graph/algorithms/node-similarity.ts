/**
 * Pairs of nodes that point to the same nodes: the part of all that either points to (Jaccard, 1901), of which each
 * node's `top_k` best are given.
 */
import type { Algorithm } from "./algorithm.js";
import { incoming, outgoing, sorted, withoutRepeats } from "./csr.js";

export const nodeSimilarity: Algorithm = {
  name: "nodeSimilarity",
  aliases: ["jaccard"],
  options: [
    { name: "top_k", aliases: ["k"], type: "integer", default: 10, min: 1, max: 1_000_000 },
    { name: "similarity_cutoff", aliases: ["cutoff"], type: "float", default: 1e-42, min: 0, max: 1 },
    { name: "degree_cutoff", type: "integer", default: 1, min: 1 },
  ],
  isWeighted: false,
  columns: [
    { name: "node", kind: "node" },
    { name: "other", kind: "node" },
    { name: "similarity", kind: "float" },
  ],
  run(graph, options, progress) {
    const out = withoutRepeats(sorted(outgoing(graph)), true);
    const into = withoutRepeats(sorted(incoming(graph)), true);
    const { count } = out;
    const degree = (node: number) => out.offsets[node + 1]! - out.offsets[node]!;
    const least = options.degree_cutoff as number;
    const common = new Uint32Array(count);
    const nodes: number[] = [];
    const others: number[] = [];
    const similarities: number[] = [];
    for (let node = 0; node < count; node++) {
      if (degree(node) < least) continue;
      const touched: number[] = [];
      for (let i = out.offsets[node]!; i < out.offsets[node + 1]!; i++) {
        const target = out.targets[i]!;
        for (let j = into.offsets[target]!; j < into.offsets[target + 1]!; j++) {
          const other = into.targets[j]!;
          if (other === node) continue;
          if (common[other]!++ === 0) touched.push(other);
        }
      }
      const found: (readonly [other: number, similarity: number])[] = [];
      for (const other of touched) {
        const similarity = common[other]! / (degree(node) + degree(other) - common[other]!);
        if (degree(other) >= least && similarity >= (options.similarity_cutoff as number))
          found.push([other, similarity]);
        common[other] = 0;
      }
      found.sort((a, b) => b[1] - a[1] || a[0] - b[0]);
      for (const [other, similarity] of found.slice(0, options.top_k as number)) {
        nodes.push(node);
        others.push(other);
        similarities.push(similarity);
      }
      progress(node / count);
    }
    return {
      columns: [
        { name: "node", kind: "node", values: nodes },
        { name: "other", kind: "node", values: others },
        { name: "similarity", kind: "float", values: similarities },
      ],
      rows: nodes.length,
      summary: { pairs: nodes.length },
    };
  },
};
