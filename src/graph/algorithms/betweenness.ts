/**
 * Shortest paths through each node (Brandes, "A Faster Algorithm for Betweenness Centrality", 2001), as networkx's
 * `betweenness_centrality`: all relationships count one, parallel ones once. With `samples`, estimated from so many
 * nodes that follow from the seed.
 */

import { randomFrom } from "../../values/random-from.js";
import { type Algorithm, indexes, SEED, shuffled } from "./algorithm.js";
import { outgoing, simple, sorted, withoutRepeats } from "./csr.js";

export const betweenness: Algorithm = {
  name: "betweenness",
  aliases: ["betweennessCentrality"],
  options: [
    { name: "directed", type: "boolean", default: true },
    { name: "normalized", type: "boolean", default: true },
    { name: "samples", aliases: ["sampling_size", "k"], type: "integer", default: null, min: 1 },
    SEED,
  ],
  isWeighted: false,
  columns: [
    { name: "node", kind: "node" },
    { name: "score", kind: "float" },
  ],
  run(graph, options, progress) {
    const directed = options.directed as boolean;
    const { count, offsets, targets } = directed ? withoutRepeats(sorted(outgoing(graph))) : simple(graph);
    const samples = options.samples === null ? count : Math.min(count, options.samples as number);
    const sources = samples === count ? indexes(count) : shuffled(count, randomFrom(options.seed as number));
    const scores = new Float64Array(count);
    const distance = new Int32Array(count).fill(-1);
    const ways = new Float64Array(count);
    const dependency = new Float64Array(count);
    const queue = new Uint32Array(count);
    for (let s = 0; s < samples; s++) {
      const source = sources[s]!;
      let end = 0;
      queue[end++] = source;
      distance[source] = 0;
      ways[source] = 1;
      for (let at = 0; at < end; at++) {
        const node = queue[at]!;
        for (let i = offsets[node]!; i < offsets[node + 1]!; i++) {
          const other = targets[i]!;
          if (distance[other] === -1) {
            distance[other] = distance[node]! + 1;
            queue[end++] = other;
          }
          if (distance[other] === distance[node]! + 1) ways[other]! += ways[node]!;
        }
      }
      for (let at = end - 1; at >= 0; at--) {
        const node = queue[at]!;
        let sum = 0;
        for (let i = offsets[node]!; i < offsets[node + 1]!; i++) {
          const other = targets[i]!;
          if (distance[other] === distance[node]! + 1) sum += (ways[node]! / ways[other]!) * (1 + dependency[other]!);
        }
        dependency[node] = sum;
        if (node !== source) scores[node]! += sum;
      }
      for (let at = 0; at < end; at++) {
        distance[queue[at]!] = -1;
        ways[queue[at]!] = 0;
      }
      progress(s / samples);
    }
    const pairs = options.normalized ? (count - 1) * (count - 2) : directed ? 1 : 2;
    const scale = pairs <= 0 || samples === 0 ? 1 : count / samples / pairs;
    return {
      columns: [
        { name: "node", kind: "node", values: indexes(count) },
        { name: "score", kind: "float", values: scores.map((score) => score * scale) },
      ],
      rows: count,
      summary: { samples },
    };
  },
};
