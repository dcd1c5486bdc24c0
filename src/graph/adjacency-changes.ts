/** Puts single changes into the pages of an adjacency (adjacency-body.ts): the affected pages are replaced. */
import type { AllPages } from "./adjacency-build.js";
import { changedPage, PAGE_BITS, type PageEdge, type Pages } from "./adjacency-pages.js";

/** Changes, or relationships of changed pages, between two pauses. */
const STEP = 4096;

export interface TypedEdge {
  readonly id: number;
  /** Its number. */
  readonly type: number;
  readonly src: number;
  readonly dst: number;
}

export interface EdgeChanges {
  readonly added: ReadonlySet<number>;
  /** One that was added. */
  readonly edgeAt: (id: number) => TypedEdge;
  /** As the pages have them. */
  readonly removed: ReadonlyMap<number, TypedEdge>;
}

/** In short steps, between which nothing may change. */
export function* settle(built: AllPages, types: number, changes: EdgeChanges): Generator<undefined, void> {
  const { removed } = changes;
  const isGone = removed.size === 0 ? null : (id: number) => removed.has(id);
  for (const tables of [built.out, built.in]) {
    while (tables.length < types) tables.push([]);
    const isOut = tables === built.out;
    const touched = yield* touchedPages(isOut, changes);
    let done = 0;
    for (const [type, pages] of touched) {
      const table = [...tables[type]!];
      for (const [page, edges] of pages) {
        const old: Pages[number] = table[page];
        if (old === undefined) built.pageCount++;
        table[page] = changedPage(old, isGone, edges);
        done += edges.length + (old?.edges.length ?? 0);
        if (done < STEP) continue;
        done = 0;
        yield;
      }
      tables[type] = table;
    }
  }
}

/** By type and page: what is to be added there. */
function* touchedPages(
  isOut: boolean,
  { added, edgeAt, removed }: EdgeChanges,
): Generator<undefined, Map<number, Map<number, PageEdge[]>>> {
  const touched = new Map<number, Map<number, PageEdge[]>>();
  const touch = (type: number, node: number): PageEdge[] => {
    let pages = touched.get(type);
    if (pages === undefined) {
      pages = new Map();
      touched.set(type, pages);
    }
    let list = pages.get(node >>> PAGE_BITS);
    if (list === undefined) {
      list = [];
      pages.set(node >>> PAGE_BITS, list);
    }
    return list;
  };
  let done = 0;
  for (const { type, src, dst } of removed.values()) {
    touch(type, isOut ? src : dst);
    if (++done % STEP === 0) yield;
  }
  for (const id of added) {
    const { type, src, dst } = edgeAt(id);
    touch(type, isOut ? src : dst).push({ id, end: isOut ? src : dst, other: isOut ? dst : src });
    if (++done % STEP === 0) yield;
  }
  return touched;
}
