/** Compressed sparse rows of a graph, as algorithms want them: directed, turned round, undirected, simple. */
import type { AlgorithmGraph } from "./algorithm.js";

export interface Csr {
  readonly count: number;
  /** Of a node's first neighbour; one more entry for the end. */
  readonly offsets: Uint32Array;
  readonly targets: Uint32Array;
  readonly weights: Float64Array | null;
}

function rows(
  count: number,
  from: readonly Uint32Array[],
  to: readonly Uint32Array[],
  weights: Float64Array | null,
): Csr {
  const offsets = new Uint32Array(count + 1);
  let total = 0;
  for (const list of from) {
    for (let i = 0; i < list.length; i++) offsets[list[i]! + 1]!++;
    total += list.length;
  }
  for (let i = 0; i < count; i++) offsets[i + 1]! += offsets[i]!;
  const at = offsets.slice();
  const targets = new Uint32Array(total);
  const weighted = weights === null ? null : new Float64Array(total);
  from.forEach((list, k) => {
    const other = to[k]!;
    for (let i = 0; i < list.length; i++) {
      const place = at[list[i]!]!;
      at[list[i]!] = place + 1;
      targets[place] = other[i]!;
      if (weighted !== null) weighted[place] = weights![i]!;
    }
  });
  return { count, offsets, targets, weights: weighted };
}

/** Along the arrows. */
export function outgoing({ nodes, src, dst, weights }: AlgorithmGraph): Csr {
  return rows(nodes.length, [src], [dst], weights);
}

/** Against the arrows. */
export function incoming({ nodes, src, dst, weights }: AlgorithmGraph): Csr {
  return rows(nodes.length, [dst], [src], weights);
}

/** Both ways; a loop comes twice, parallel relationships each. */
export function undirected({ nodes, src, dst, weights }: AlgorithmGraph): Csr {
  return rows(nodes.length, [src, dst], [dst, src], weights);
}

/** Each neighbour once, ascending, whichever way; no loops, no weights. */
export function simple(graph: AlgorithmGraph): Csr {
  return withoutRepeats(sorted(undirected({ ...graph, weights: null })));
}

/** The same rows with ascending targets: turned round twice, by counting. */
export function sorted({ count, offsets, targets }: Csr): Csr {
  const turned = turnedRound(count, offsets, targets);
  return turnedRound(count, turned.offsets, turned.targets);
}

function turnedRound(count: number, offsets: Uint32Array, targets: Uint32Array): Csr {
  const starts = new Uint32Array(count + 1);
  for (let i = 0; i < targets.length; i++) starts[targets[i]! + 1]!++;
  for (let i = 0; i < count; i++) starts[i + 1]! += starts[i]!;
  const at = starts.slice();
  const turned = new Uint32Array(targets.length);
  for (let node = 0; node < count; node++) {
    for (let i = offsets[node]!; i < offsets[node + 1]!; i++) turned[at[targets[i]!]!++] = node;
  }
  return { count, offsets: starts, targets: turned, weights: null };
}

/** Of ascending rows. */
export function withoutRepeats({ count, offsets, targets }: Csr, keepsLoops = false): Csr {
  const starts = new Uint32Array(count + 1);
  const kept = new Uint32Array(targets.length);
  let length = 0;
  for (let node = 0; node < count; node++) {
    let last = node;
    let isFirst = true;
    for (let i = offsets[node]!; i < offsets[node + 1]!; i++) {
      const target = targets[i]!;
      if ((target === node && !keepsLoops) || (!isFirst && target === last)) continue;
      isFirst = false;
      last = target;
      kept[length++] = target;
    }
    starts[node + 1] = length;
  }
  return { count, offsets: starts, targets: kept.subarray(0, length), weights: null };
}
