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

/** A relationship by the node in the page and the one at its other end. */
export interface PageEdge {
  readonly id: number;
  readonly end: number;
  readonly other: number;
}

/** A page without those that are gone, and with others. */
export function changedPage(old: Page | undefined, isGone: (id: number) => boolean, added: readonly PageEdge[]): Page {
  const sorted = added.toSorted(
    (a, b) => (a.end & PAGE_MASK) - (b.end & PAGE_MASK) || a.other - b.other || a.id - b.id,
  );
  const lengthMax = (old?.edges.length ?? 0) + added.length;
  const edges = new Uint32Array(lengthMax);
  const others = new Uint32Array(lengthMax);
  const offsets = new Uint32Array(PAGE_NODES + 1);
  let [length, next] = [0, 0];
  const take = ({ id, other }: PageEdge): void => {
    edges[length] = id;
    others[length++] = other;
  };
  for (let node = 0; node < PAGE_NODES; node++) {
    const isNext = () => next < sorted.length && (sorted[next]!.end & PAGE_MASK) === node;
    const to = old?.offsets[node + 1] ?? 0;
    for (let at = old?.offsets[node] ?? 0; at < to; at++) {
      const [id, other] = [old!.edges[at]!, old!.others[at]!];
      while (isNext() && (sorted[next]!.other - other || sorted[next]!.id - id) < 0) take(sorted[next++]!);
      if (isGone(id)) continue;
      edges[length] = id;
      others[length++] = other;
    }
    while (isNext()) take(sorted[next++]!);
    offsets[node + 1] = length;
  }
  return { offsets, others: others.slice(0, length), edges: edges.slice(0, length) };
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
