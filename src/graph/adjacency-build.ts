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
/** Of a node with more, places up to which a place fits behind an id in one number. */
const PLACE_BITS = 21;

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
          else sortMany(page.others.subarray(first, last), page.edges.subarray(first, last));
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

function sortMany(others: Uint32Array, edges: Uint32Array): void {
  const [othersBefore, edgesBefore] = [others.slice(), edges.slice()];
  let places: ArrayLike<number>;
  if (others.length <= 2 ** PLACE_BITS) {
    const keys = new Float64Array(others.length);
    for (let i = 0; i < keys.length; i++) keys[i] = others[i]! * 2 ** PLACE_BITS + i;
    places = keys.sort().map((key) => key % 2 ** PLACE_BITS);
  } else places = Uint32Array.from(others.keys()).sort((a, b) => othersBefore[a]! - othersBefore[b]! || a - b);
  for (let i = 0; i < others.length; i++) {
    others[i] = othersBefore[places[i]!]!;
    edges[i] = edgesBefore[places[i]!]!;
  }
}
