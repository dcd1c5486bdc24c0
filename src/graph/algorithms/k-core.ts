/**
 * The greatest k for which a node is in a part of the graph where all have k neighbours (networkx's `core_number`), in
 * the undirected graph without loops and parallel relationships; by buckets of degrees (Batagelj and Zaveršnik, 2003).
 */
import { type Algorithm, indexes } from "./algorithm.js";
import { simple } from "./csr.js";

export const kCore: Algorithm = {
  name: "kCore",
  aliases: ["coreNumber", "kCoreDecomposition"],
  options: [],
  isWeighted: false,
  columns: [
    { name: "node", kind: "node" },
    { name: "core", kind: "integer" },
  ],
  run(graph) {
    const { count, offsets, targets } = simple(graph);
    const core = new Uint32Array(count);
    let most = 0;
    for (let node = 0; node < count; node++) {
      core[node] = offsets[node + 1]! - offsets[node]!;
      most = Math.max(most, core[node]!);
    }
    /** Where nodes of each degree begin in `order`. */
    const begins = new Uint32Array(most + 2);
    for (let node = 0; node < count; node++) begins[core[node]! + 1]!++;
    for (let d = 0; d <= most; d++) begins[d + 1]! += begins[d]!;
    const at = begins.slice();
    const order = new Uint32Array(count);
    const place = new Uint32Array(count);
    for (let node = 0; node < count; node++) {
      place[node] = at[core[node]!]!++;
      order[place[node]!] = node;
    }
    for (let i = 0; i < count; i++) {
      const node = order[i]!;
      for (let j = offsets[node]!; j < offsets[node + 1]!; j++) {
        const other = targets[j]!;
        const degree = core[other]!;
        if (degree <= core[node]!) continue;
        // To the front of its bucket, which then begins behind it.
        const front = begins[degree]!;
        const swapped = order[front]!;
        order[place[other]!] = swapped;
        place[swapped] = place[other]!;
        order[front] = other;
        place[other] = front;
        begins[degree]!++;
        core[other]!--;
      }
    }
    return {
      columns: [
        { name: "node", kind: "node", values: indexes(count) },
        { name: "core", kind: "integer", values: core },
      ],
      rows: count,
      summary: { degeneracy: core.reduce((greatest, k) => Math.max(greatest, k), 0) },
    };
  },
};
