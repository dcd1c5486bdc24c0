/**
 * Makes all pages of an adjacency from its relationships: they are put together by type and page, by counting, and
 * sorted within each node. In short steps.
 */
import { PAGE_BITS, PAGE_MASK, PAGE_NODES, type Page, type Pages } from "./adjacency-pages.js";
import { CHUNK_EDGES, type EdgeChunk, type FrozenEdges, NO_TYPE } from "./edge-chunks.js";

/** Relationships between two pauses, and groups. */
const STEP_EDGES = 16_384;
const STEP_GROUPS = 262_144;
/** Relationships of a node up to which moving one by one is the fastest way to sort them. */
const MOVED_MAX = 24;

/** A node's relationships: the other ends, and the ids. */
type NodeEdges = Pick<Page, "others" | "edges">;

export interface AllPages {
  out: Pages[];
  in: Pages[];
  pageCount: number;
}

export interface BuildSize {
  /** Relationships. */
  readonly count: number;
  readonly maxNode: number;
  readonly types: number;
}

/** Relationships of one direction, those of each type and page side by side, in the order of their ids. */
interface Grouped {
  readonly ids: Uint32Array;
  readonly others: Uint32Array;
  /** Lower bits of the node in the page. */
  readonly ends: Uint8Array;
  /** Where each type's and page's end. */
  readonly to: Uint32Array;
  readonly pageTotal: number;
}

export function* allPages(frozen: FrozenEdges, size: BuildSize): Generator<undefined, AllPages> {
  const out = yield* pagesOf(yield* grouped(frozen, size, true), size.types);
  const into = yield* pagesOf(yield* grouped(frozen, size, false), size.types);
  return { out: out.tables, in: into.tables, pageCount: out.pageCount + into.pageCount };
}

function* grouped(frozen: FrozenEdges, size: BuildSize, isOut: boolean): Generator<undefined, Grouped> {
  const pageTotal = (size.maxNode >>> PAGE_BITS) + 1;
  const next = new Uint32Array(size.types * pageTotal + 1);
  for (const chunk of frozen) {
    if (chunk === null) continue;
    countChunk(chunk, isOut ? chunk.src : chunk.dst, pageTotal, next);
    yield;
  }
  for (let group = 1; group < next.length; group++) {
    next[group]! += next[group - 1]!;
    if (group % STEP_GROUPS === 0) yield;
  }
  const [ids, others] = [new Uint32Array(size.count), new Uint32Array(size.count)];
  const made = { ids, others, ends: new Uint8Array(size.count), to: next, pageTotal };
  for (const [number, chunk] of frozen.entries()) {
    if (chunk === null) continue;
    if (isOut) placeChunk(chunk.type, chunk.src, chunk.dst, number * CHUNK_EDGES, made);
    else placeChunk(chunk.type, chunk.dst, chunk.src, number * CHUNK_EDGES, made);
    yield;
  }
  return made;
}

/** Counts each group's relationships at the place behind it. */
function countChunk({ type }: EdgeChunk, ends: Uint32Array, pageTotal: number, counts: Uint32Array): void {
  for (let at = 0; at < CHUNK_EDGES; at++) {
    if (type[at] !== NO_TYPE) counts[(type[at]! - 1) * pageTotal + (ends[at]! >>> PAGE_BITS) + 1]!++;
  }
}

/** Puts each relationship where the next one of its group belongs. Afterwards that is where the group ends. */
function placeChunk(type: Uint16Array, ends: Uint32Array, others: Uint32Array, firstId: number, made: Grouped): void {
  const { pageTotal, to } = made;
  for (let at = 0; at < CHUNK_EDGES; at++) {
    if (type[at] === NO_TYPE) continue;
    const end = ends[at]!;
    const place = to[(type[at]! - 1) * pageTotal + (end >>> PAGE_BITS)]!++;
    made.ids[place] = firstId + at;
    made.others[place] = others[at]!;
    made.ends[place] = end & PAGE_MASK;
  }
}

function* pagesOf(made: Grouped, types: number): Generator<undefined, { tables: Pages[]; pageCount: number }> {
  const { pageTotal, to } = made;
  const tables: Pages[] = [];
  let pageCount = 0;
  let [from, done] = [0, 0];
  for (let type = 0; type < types; type++) {
    const pages: (Page | undefined)[] = [];
    for (let number = 0; number < pageTotal; number++) {
      const end = to[type * pageTotal + number]!;
      done += end - from + 1;
      if (end > from) {
        const page = unsortedPage(made, from, end);
        for (let node = 0; node < PAGE_NODES; node++) {
          const [first, last] = [page.offsets[node]!, page.offsets[node + 1]!];
          if (last - first <= MOVED_MAX) sortNode(page, first, last);
          else yield* sortMany({ others: page.others.subarray(first, last), edges: page.edges.subarray(first, last) });
          if (last - first > STEP_EDGES) yield;
        }
        pages[number] = page;
        pageCount++;
      }
      from = end;
      if (done < STEP_EDGES) continue;
      done = 0;
      yield;
    }
    tables.push(pages);
  }
  return { tables, pageCount };
}

/** Each node's relationships in the order of their ids. */
function unsortedPage({ ids, others, ends }: Grouped, from: number, to: number): Page {
  const offsets = new Uint32Array(PAGE_NODES + 1);
  for (let i = from; i < to; i++) offsets[ends[i]! + 1]!++;
  for (let i = 0; i < PAGE_NODES; i++) offsets[i + 1]! += offsets[i]!;
  const next = offsets.slice();
  const page = { offsets, others: new Uint32Array(to - from), edges: new Uint32Array(to - from) };
  for (let i = from; i < to; i++) {
    const at = next[ends[i]!]!++;
    page.edges[at] = ids[i]!;
    page.others[at] = others[i]!;
  }
  return page;
}

/** By the other end; those of one other end stay in the order of their ids. */
function sortNode({ others, edges }: Page, from: number, to: number): void {
  for (let i = from + 1; i < to; i++) {
    const [other, edge] = [others[i]!, edges[i]!];
    let at = i;
    for (; at > from && others[at - 1]! > other; at--) {
      others[at] = others[at - 1]!;
      edges[at] = edges[at - 1]!;
    }
    others[at] = other;
    edges[at] = edge;
  }
}

/** The same of many, in short steps: runs are sorted, and then merged. */
function* sortMany(page: NodeEdges): Generator<undefined, void> {
  const { others, edges } = page;
  const { length } = others;
  for (let from = 0; from < length; from += STEP_EDGES) {
    if (from > 0) yield;
    sortRun(others.subarray(from, from + STEP_EDGES), edges.subarray(from, from + STEP_EDGES));
  }
  if (length <= STEP_EDGES) return;
  let [from, to]: [NodeEdges, NodeEdges] = [page, { others: others.slice(), edges: edges.slice() }];
  for (let size = STEP_EDGES; size < length; size *= 2) {
    yield* mergeRuns(from, to, size);
    [from, to] = [to, from];
  }
  if (from === page) return;
  others.set(from.others);
  edges.set(from.edges);
}

function sortRun(others: Uint32Array, edges: Uint32Array): void {
  const [othersBefore, edgesBefore] = [others.slice(), edges.slice()];
  const keys = new Float64Array(others.length);
  for (let i = 0; i < keys.length; i++) keys[i] = others[i]! * STEP_EDGES + i;
  keys.sort();
  for (let i = 0; i < keys.length; i++) {
    const place = keys[i]! % STEP_EDGES;
    others[i] = othersBefore[place]!;
    edges[i] = edgesBefore[place]!;
  }
}

/** Each two runs of that size into one. */
function* mergeRuns(from: NodeEdges, to: NodeEdges, size: number): Generator<undefined, void> {
  const { length } = from.others;
  for (let start = 0; start < length; start += 2 * size) {
    const [middle, end] = [Math.min(length, start + size), Math.min(length, start + 2 * size)];
    let [left, right] = [start, middle];
    for (let at = start; at < end; at++) {
      const isLeft = right === end || (left < middle && from.others[left]! <= from.others[right]!);
      const place = isLeft ? left++ : right++;
      to.others[at] = from.others[place]!;
      to.edges[at] = from.edges[place]!;
      if ((at + 1) % STEP_EDGES === 0) yield;
    }
  }
}
