/**
 * Communities by modularity (Blondel, Guillaume, Lambiotte and Lefebvre, "Fast unfolding of communities in large
 * networks", 2008). Directions do not count; parallel relationships add up. Nodes are moved in an order that follows
 * from the seed.
 */

import { randomFrom } from "../../values/random-from.js";
import { type Algorithm, indexes, numbered, type Options, type Progress, SEED, shuffled } from "./algorithm.js";
import { type Csr, undirected } from "./csr.js";

export const louvain: Algorithm = {
  name: "louvain",
  options: [
    { name: "resolution", aliases: ["gamma"], type: "float", default: 1, min: 0, max: 1000 },
    { name: "tolerance", aliases: ["threshold"], type: "float", default: 1e-7, min: 0, max: 1 },
    { name: "max_levels", type: "integer", default: 50, min: 1, max: 1000 },
    SEED,
  ],
  isWeighted: true,
  columns: [
    { name: "node", kind: "node" },
    { name: "community", kind: "integer" },
  ],
  run(graph, options, progress) {
    const count = graph.nodes.length;
    const { of, levels, modularity } = communitiesOf(undirected(graph), options, progress);
    const { of: communities, count: total } = numbered(of);
    return {
      columns: [
        { name: "node", kind: "node", values: Uint32Array.from({ length: count }, (_, i) => i) },
        { name: "community", kind: "integer", values: communities },
      ],
      rows: count,
      summary: { communities: total, levels, modularity },
    };
  },
};

/** How often a level's nodes are looked at on average, at most; rounding could have some go to and fro for ever. */
const LOOKS_MAX = 100;
const GAIN_MIN = 1e-12;
/** And after how many looks the work tells how far it is. */
const LOOKS_PER_PROGRESS = 4096;
/** How often a level's nodes are looked at on average, about. */
const LOOKS_USUAL = 3;

function communitiesOf(graph: Csr, options: Options, progress: Progress) {
  const random = randomFrom(options.seed as number);
  const resolution = options.resolution as number;
  const tolerance = options.tolerance as number;
  const levelsMax = options.max_levels as number;
  let level = graph;
  let of = Uint32Array.from({ length: graph.count }, (_, i) => i);
  let modularity = modularityOf(level, of, resolution);
  let levels = 0;
  while (levels < levelsMax) {
    const [from, to] = [shareDone(levels), shareDone(levels + 1)];
    const moved = moveNodes(level, resolution, random, (part) => progress(from + (to - from) * part));
    if (moved === null) break;
    levels++;
    const { of: groups, count } = numbered(moved);
    of = of.map((node) => groups[node]!);
    const better = modularityOf(level, groups, resolution);
    level = merged(level, groups, count);
    const isOver = better - modularity <= tolerance;
    modularity = better;
    if (isOver) break;
  }
  return { of, levels, modularity };
}

/** Of all the work, when so many levels are done; how many there will be is not known. */
const shareDone = (levels: number): number => levels / (levels + 2);

/** Weight that leaves each node, a loop twice, and the sum of all. */
function strengths({ count, offsets, weights }: Csr): { readonly of: Float64Array; readonly total: number } {
  const of = new Float64Array(count);
  let total = 0;
  for (let node = 0; node < count; node++) {
    let sum = 0;
    for (let i = offsets[node]!; i < offsets[node + 1]!; i++) sum += weights === null ? 1 : weights[i]!;
    of[node] = sum;
    total += sum;
  }
  return { of, total };
}

/**
 * Moves each node to the neighbouring community where modularity gains most, until none gains; a node is looked at
 * again when a neighbour has left for another community (the fast local move of Traag, Waltman and van Eck, "From
 * Louvain to Leiden", 2019). Null: none ever moved.
 */
function moveNodes(graph: Csr, resolution: number, random: () => number, progress: Progress): Uint32Array | null {
  const { count, offsets, targets, weights } = graph;
  const { of: strength, total } = strengths(graph);
  if (total === 0) return null;
  const community = indexes(count);
  const sums = strength.slice();
  /** Weight from the current node to each community that it touches. */
  const towards = new Float64Array(count);
  const touched = new Uint32Array(count);
  /** Nodes to look at, in a ring. */
  const queue = shuffled(count, random);
  const waits = new Uint8Array(count).fill(1);
  let [head, length] = [0, count];
  let moves = 0;
  for (let looks = 0; length > 0 && looks < count * LOOKS_MAX; looks++) {
    if (looks % LOOKS_PER_PROGRESS === 0) progress(Math.min(1, looks / (count * LOOKS_USUAL)));
    const node = queue[head]!;
    head = head + 1 === count ? 0 : head + 1;
    length--;
    waits[node] = 0;
    const own = community[node]!;
    const [begin, end] = [offsets[node]!, offsets[node + 1]!];
    let touching = 0;
    for (let i = begin; i < end; i++) {
      const target = targets[i]!;
      if (target === node) continue;
      const other = community[target]!;
      if (towards[other] === 0) touched[touching++] = other;
      towards[other]! += weights === null ? 1 : weights[i]!;
    }
    const part = (resolution * strength[node]!) / total;
    sums[own]! -= strength[node]!;
    let best = own;
    let most = towards[own]! - part * sums[own]!;
    for (let k = 0; k < touching; k++) {
      const other = touched[k]!;
      const gain = towards[other]! - part * sums[other]!;
      towards[other] = 0;
      if (gain > most + GAIN_MIN) {
        most = gain;
        best = other;
      }
    }
    sums[best]! += strength[node]!;
    if (best === own) continue;
    community[node] = best;
    moves++;
    for (let i = begin; i < end; i++) {
      const target = targets[i]!;
      if (waits[target] === 1 || community[target] === best) continue;
      waits[target] = 1;
      const tail = head + length;
      queue[tail >= count ? tail - count : tail] = target;
      length++;
    }
  }
  return moves === 0 ? null : community;
}

/** Communities as nodes; what is inside one is its loop. */
function merged({ offsets, targets, weights }: Csr, groups: Uint32Array, count: number): Csr {
  const members = new Uint32Array(groups.length);
  const starts = new Uint32Array(count + 1);
  for (let node = 0; node < groups.length; node++) starts[groups[node]! + 1]!++;
  for (let i = 0; i < count; i++) starts[i + 1]! += starts[i]!;
  const at = starts.slice();
  for (let node = 0; node < groups.length; node++) members[at[groups[node]!]!++] = node;
  const mergedOffsets = new Uint32Array(count + 1);
  const mergedTargets = new Uint32Array(targets.length);
  const mergedWeights = new Float64Array(targets.length);
  const sums = new Float64Array(count);
  const touched = new Uint32Array(count);
  let length = 0;
  for (let group = 0; group < count; group++) {
    let touching = 0;
    for (let m = starts[group]!; m < starts[group + 1]!; m++) {
      const node = members[m]!;
      for (let i = offsets[node]!; i < offsets[node + 1]!; i++) {
        const other = groups[targets[i]!]!;
        if (sums[other] === 0) touched[touching++] = other;
        sums[other]! += weights === null ? 1 : weights[i]!;
      }
    }
    for (let k = 0; k < touching; k++) {
      mergedTargets[length] = touched[k]!;
      mergedWeights[length++] = sums[touched[k]!]!;
      sums[touched[k]!] = 0;
    }
    mergedOffsets[group + 1] = length;
  }
  return {
    count,
    offsets: mergedOffsets,
    targets: mergedTargets.subarray(0, length),
    weights: mergedWeights.subarray(0, length),
  };
}

/** Newman and Girvan's, with a resolution. */
export function modularityOf(graph: Csr, groups: ArrayLike<number>, resolution: number): number {
  const { count, offsets, targets, weights } = graph;
  const { of: strength, total } = strengths(graph);
  if (total === 0) return 0;
  const sums = new Float64Array(count);
  let inside = 0;
  for (let node = 0; node < count; node++) {
    const group = groups[node]!;
    sums[group]! += strength[node]!;
    for (let i = offsets[node]!; i < offsets[node + 1]!; i++) {
      if (groups[targets[i]!] === group) inside += weights === null ? 1 : weights[i]!;
    }
  }
  let expected = 0;
  for (const sum of sums) expected += (sum / total) ** 2;
  return inside / total - resolution * expected;
}
