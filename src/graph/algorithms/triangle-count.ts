/**
 * Triangles that each node is part of, in the undirected graph without loops and parallel relationships (networkx's
 * `triangles` and `clustering`). Each triangle is found once, from its node of lowest degree (Schank and Wagner, 2005).
 */
import { type Algorithm, indexes } from "./algorithm.js";
import { simple } from "./csr.js";

const NODES_PER_PROGRESS = 4096;

export const triangleCount: Algorithm = {
  name: "triangleCount",
  aliases: ["triangles"],
  options: [],
  isWeighted: false,
  columns: [
    { name: "node", kind: "node" },
    { name: "triangles", kind: "integer" },
    { name: "coefficient", kind: "float" },
  ],
  run(graph, _options, progress) {
    const { count, offsets, targets } = simple(graph);
    const degree = (node: number) => offsets[node + 1]! - offsets[node]!;
    const isBefore = (a: number, b: number) => degree(a) < degree(b) || (degree(a) === degree(b) && a < b);
    // Neighbours that come later in the order of degrees.
    const starts = new Uint32Array(count + 1);
    const later = new Uint32Array(targets.length / 2);
    let length = 0;
    for (let node = 0; node < count; node++) {
      for (let i = offsets[node]!; i < offsets[node + 1]!; i++) {
        if (isBefore(node, targets[i]!)) later[length++] = targets[i]!;
      }
      starts[node + 1] = length;
    }
    const triangles = new Float64Array(count);
    /** Marked with the node whose later neighbour it is. */
    const mark = new Int32Array(count).fill(-1);
    let total = 0;
    for (let a = 0; a < count; a++) {
      for (let i = starts[a]!; i < starts[a + 1]!; i++) mark[later[i]!] = a;
      for (let i = starts[a]!; i < starts[a + 1]!; i++) {
        const b = later[i]!;
        for (let j = starts[b]!; j < starts[b + 1]!; j++) {
          const c = later[j]!;
          if (mark[c] !== a) continue;
          triangles[a]!++;
          triangles[b]!++;
          triangles[c]!++;
          total++;
        }
      }
      if (a % NODES_PER_PROGRESS === 0) progress(a / count);
    }
    const coefficients = triangles.map((found, node) => {
      const pairs = (degree(node) * (degree(node) - 1)) / 2;
      return pairs === 0 ? 0 : found / pairs;
    });
    return {
      columns: [
        { name: "node", kind: "node", values: indexes(count) },
        { name: "triangles", kind: "integer", values: triangles },
        { name: "coefficient", kind: "float", values: coefficients },
      ],
      rows: count,
      summary: { triangles: total },
    };
  },
};
