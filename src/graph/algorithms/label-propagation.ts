/**
 * Communities by labels that spread (Raghavan, Albert and Kumara, 2007): each node in turn takes the label that weighs
 * most among its neighbours, keeping its own where that is one of them; ties and the order follow from the seed.
 * Directions do not count.
 */

import { randomFrom } from "../../values/random-from.js";
import { type Algorithm, indexes, numbered, SEED, shuffled } from "./algorithm.js";
import { undirected } from "./csr.js";

export const labelPropagation: Algorithm = {
  name: "labelPropagation",
  aliases: ["lpa"],
  options: [
    { name: "max_iterations", aliases: ["iterations"], type: "integer", default: 100, min: 1, max: 10_000 },
    SEED,
  ],
  isWeighted: true,
  columns: [
    { name: "node", kind: "node" },
    { name: "community", kind: "integer" },
  ],
  run(graph, options, progress) {
    const { count, offsets, targets, weights } = undirected(graph);
    const random = randomFrom(options.seed as number);
    const labels = indexes(count);
    const sums = new Float64Array(count);
    const touched = new Uint32Array(count);
    const iterationsMax = options.max_iterations as number;
    let iterations = 0;
    for (let isStill = false; !isStill && iterations < iterationsMax; ) {
      iterations++;
      isStill = true;
      for (const node of shuffled(count, random)) {
        let touching = 0;
        for (let i = offsets[node]!; i < offsets[node + 1]!; i++) {
          const label = labels[targets[i]!]!;
          if (sums[label] === 0) touched[touching++] = label;
          sums[label]! += weights === null ? 1 : weights[i]!;
        }
        let most = touching === 0 ? 0 : sums[labels[node]!]!;
        let best = labels[node]!;
        let ties = 1;
        for (let k = 0; k < touching; k++) {
          const sum = sums[touched[k]!]!;
          if (sum > most) {
            most = sum;
            best = touched[k]!;
            ties = 1;
          } else if (sum === most && best !== labels[node] && random() * ++ties < 1) best = touched[k]!;
        }
        for (let k = 0; k < touching; k++) sums[touched[k]!] = 0;
        if (best === labels[node]) continue;
        labels[node] = best;
        isStill = false;
      }
      progress(iterations / iterationsMax);
    }
    const { of, count: communities } = numbered(labels);
    return {
      columns: [
        { name: "node", kind: "node", values: indexes(count) },
        { name: "community", kind: "integer", values: of },
      ],
      rows: count,
      summary: { communities, iterations, did_converge: iterations < iterationsMax },
    };
  },
};
