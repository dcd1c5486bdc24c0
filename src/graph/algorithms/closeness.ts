/**
 * How near each node is to those that reach it, as networkx's `closeness_centrality`: the inverse of the mean distance
 * to it, scaled by the part of the graph from which it is reached (Wasserman and Faust, 1994) unless `wf_improved` is
 * false.
 */
import { type Algorithm, indexes } from "./algorithm.js";
import { incoming, undirected } from "./csr.js";

export const closeness: Algorithm = {
  name: "closeness",
  aliases: ["closenessCentrality"],
  options: [
    { name: "directed", type: "boolean", default: true },
    { name: "wf_improved", aliases: ["use_wasserman_faust"], type: "boolean", default: true },
  ],
  isWeighted: false,
  columns: [
    { name: "node", kind: "node" },
    { name: "score", kind: "float" },
  ],
  run(graph, options, progress) {
    const { count, offsets, targets } = options.directed ? incoming(graph) : undirected(graph);
    const scores = new Float64Array(count);
    const distance = new Int32Array(count).fill(-1);
    const queue = new Uint32Array(count);
    for (let source = 0; source < count; source++) {
      let end = 0;
      let sum = 0;
      queue[end++] = source;
      distance[source] = 0;
      for (let at = 0; at < end; at++) {
        const node = queue[at]!;
        sum += distance[node]!;
        for (let i = offsets[node]!; i < offsets[node + 1]!; i++) {
          const other = targets[i]!;
          if (distance[other] !== -1) continue;
          distance[other] = distance[node]! + 1;
          queue[end++] = other;
        }
      }
      for (let at = 0; at < end; at++) distance[queue[at]!] = -1;
      if (sum > 0) scores[source] = ((end - 1) / sum) * (options.wf_improved ? (end - 1) / (count - 1) : 1);
      progress(source / count);
    }
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
