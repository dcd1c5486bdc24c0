/**
 * How many relationships each node has; a loop counts at both of its ends. networkx's `degree`, `in_degree`,
 * `out_degree`.
 */
import { type Algorithm, indexes } from "./algorithm.js";

export const degree: Algorithm = {
  name: "degree",
  aliases: ["degreeCentrality"],
  options: [
    { name: "direction", type: "text", default: "both", values: ["both", "out", "in"] },
    { name: "normalized", type: "boolean", default: false },
  ],
  isWeighted: true,
  columns: [
    { name: "node", kind: "node" },
    { name: "score", kind: "float" },
  ],
  run({ nodes, src, dst, weights }, { direction, normalized }) {
    const count = nodes.length;
    const scores = new Float64Array(count);
    for (let i = 0; i < src.length; i++) {
      const weight = weights === null ? 1 : weights[i]!;
      if (direction !== "in") scores[src[i]!]! += weight;
      if (direction !== "out") scores[dst[i]!]! += weight;
    }
    if (normalized && count > 1) for (let i = 0; i < count; i++) scores[i]! /= count - 1;
    return {
      columns: [
        { name: "node", kind: "node", values: indexes(count) },
        { name: "score", kind: "float", values: scores },
      ],
      rows: count,
      summary: {},
    };
  },
};
