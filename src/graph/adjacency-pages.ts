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

/** A page without those that are gone, and with others. `isGone`: null where none of any page is. */
export function changedPage(
  old: Page | undefined,
  isGone: ((id: number) => boolean) | null,
  added: readonly PageEdge[],
): Page {
  const left = old === undefined ? EMPTY : isGone === null ? old : withoutGone(old, isGone);
  return added.length === 0 ? left : withAdded(left, added);
}

const EMPTY: Page = {
  offsets: new Uint32Array(PAGE_NODES + 1),
  others: new Uint32Array(0),
  edges: new Uint32Array(0),
};

function withoutGone(old: Page, isGone: (id: number) => boolean): Page {
  const edges = new Uint32Array(old.edges.length);
  const others = new Uint32Array(old.edges.length);
  const offsets = new Uint32Array(PAGE_NODES + 1);
  let length = 0;
  for (let node = 0; node < PAGE_NODES; node++) {
    const to = old.offsets[node + 1]!;
    for (let at = old.offsets[node]!; at < to; at++) {
      if (isGone(old.edges[at]!)) continue;
      edges[length] = old.edges[at]!;
      others[length++] = old.others[at]!;
    }
    offsets[node + 1] = length;
  }
  return length === edges.length ? old : { offsets, others: others.slice(0, length), edges: edges.slice(0, length) };
}

/** What lies between two places where something comes in is copied at once. */
function withAdded(old: Page, added: readonly PageEdge[]): Page {
  const sorted = added.toSorted(
    (a, b) => (a.end & PAGE_MASK) - (b.end & PAGE_MASK) || a.other - b.other || a.id - b.id,
  );
  const edges = new Uint32Array(old.edges.length + added.length);
  const others = new Uint32Array(old.edges.length + added.length);
  const offsets = new Uint32Array(PAGE_NODES + 1);
  let [copied, node] = [0, 0];
  for (let i = 0; i < sorted.length; i++) {
    const { end, other, id } = sorted[i]!;
    for (; node < (end & PAGE_MASK); node++) offsets[node + 1] = old.offsets[node + 1]! + i;
    const to = placeOf(old, Math.max(copied, old.offsets[node]!), old.offsets[node + 1]!, other, id);
    copyPart(old.edges, copied, to, edges, copied + i);
    copyPart(old.others, copied, to, others, copied + i);
    copied = to;
    edges[to + i] = id;
    others[to + i] = other;
  }
  for (; node < PAGE_NODES; node++) offsets[node + 1] = old.offsets[node + 1]! + sorted.length;
  copyPart(old.edges, copied, old.edges.length, edges, copied + sorted.length);
  copyPart(old.others, copied, old.edges.length, others, copied + sorted.length);
  return { offsets, others, edges };
}

/** Where a relationship belongs among a node's. */
function placeOf({ others, edges }: Page, from: number, to: number, other: number, id: number): number {
  let at = lowerBound(others, from, to, other);
  while (at < to && others[at] === other && edges[at]! < id) at++;
  return at;
}

/** Up to which a loop is faster than a call of the runtime. */
const LOOPED_MAX = 64;

function copyPart(source: Uint32Array, from: number, to: number, target: Uint32Array, at: number): void {
  if (to - from > LOOPED_MAX) target.set(source.subarray(from, to), at);
  else for (let i = from, place = at; i < to; i++, place++) target[place] = source[i]!;
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
