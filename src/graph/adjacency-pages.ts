/**
 * Adjacent nodes in typed arrays: per type and direction one page for each 256 nodes, which has their relationships
 * side by side (a compressed sparse row), each node's in the order of the nodes at the other end. Pages are never
 * changed, only replaced, so a reader keeps the pages it began with. Made by adjacency-body.ts.
 */

export const PAGE_BITS = 8;
export const PAGE_NODES = 1 << PAGE_BITS;
export const PAGE_MASK = PAGE_NODES - 1;

export interface Page {
  /** Of a node's first relationship, by the lower bits of its id; one more entry for the end. */
  readonly offsets: Uint32Array;
  readonly others: Uint32Array;
  readonly edges: Uint32Array;
}

/** By the upper bits of a node's id. */
export type Pages = readonly (Page | undefined)[];

/** All relationships at one moment. */
export interface AdjacencyView {
  /** By a type's number. */
  readonly types: readonly string[];
  readonly out: readonly Pages[];
  readonly in: readonly Pages[];
  readonly count: number;
  /** Greatest id of a node that has relationships. */
  readonly maxNode: number;
}

/** One page of relationships that all have an end in it, in the order of their other ends. */
export function pageOf(edges: Uint32Array, ends: Uint32Array, others: Uint32Array): Page {
  const offsets = new Uint32Array(PAGE_NODES + 1);
  for (let i = 0; i < edges.length; i++) offsets[(ends[edges[i]!]! & PAGE_MASK) + 1]!++;
  for (let i = 0; i < PAGE_NODES; i++) offsets[i + 1]! += offsets[i]!;
  const at = offsets.slice();
  const pageEdges = new Uint32Array(edges.length);
  const pageOthers = new Uint32Array(edges.length);
  for (let i = 0; i < edges.length; i++) {
    const edge = edges[i]!;
    const node = ends[edge]! & PAGE_MASK;
    const place = at[node]!;
    at[node] = place + 1;
    pageEdges[place] = edge;
    pageOthers[place] = others[edge]!;
  }
  return { offsets, others: pageOthers, edges: pageEdges };
}

/** The first position in [from, to) whose value is not below; `to` when all are. */
export function lowerBound(values: ArrayLike<number>, from: number, to: number, value: number): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
