/**
 * A graph's adjacency as an index in memory (src/derived) over its table of relationships: their types and ends by id,
 * and pages made from those (adjacency-pages.ts). At first, and after many changes at once, the pages are made in
 * steps between other work. After single changes, the affected pages are replaced at the next read.
 */
import type { IndexBody } from "../derived/index-body.js";
import { type AdjacencyView, PAGE_BITS, PAGE_NODES, type Page, type Pages, pageOf } from "./adjacency-pages.js";

export interface EdgeItem {
  readonly id: number;
  readonly type: string;
  readonly src: number;
  readonly dst: number;
}

/** Number of changes, and their share of all relationships, from which on all pages are rebuilt. */
const REBUILT_MIN = 20_000;
const REBUILT_SHARE = 0.25;
/** Relationships between two pauses. */
const STEP_EDGES = 16_384;
const NO_TYPE = 0;

export class AdjacencyBody implements IndexBody<EdgeItem> {
  count = 0;
  /** By id: its type's number plus one; 0: there is none. */
  private type = new Uint16Array(1024);
  private src = new Uint32Array(1024);
  private dst = new Uint32Array(1024);
  private readonly typeNames: string[] = [];
  private readonly typeNumbers = new Map<string, number>();
  /** Greatest id that was ever here. */
  private maxId = 0;
  private maxNode = 0;
  /** Null: pages are to be made of everything. */
  private built: { out: Pages[]; in: Pages[] } | null = null;
  private building: Generator<undefined, { out: Pages[]; in: Pages[] }> | null = null;
  /** Relationships that came since the pages were made. */
  private readonly added = new Set<number>();
  /** Former ends and types of relationships that were removed since. */
  private readonly removed = new Map<number, { type: number; src: number; dst: number }>();
  private current: AdjacencyView | null = null;
  private pageCount = 0;

  static *load(bytes: Uint8Array): Generator<undefined, AdjacencyBody> {
    const body = new AdjacencyBody();
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const namesEnd = 8 + view.getUint32(4, true);
    const length = view.getUint32(0, true);
    const names = JSON.parse(Buffer.from(bytes.subarray(8, namesEnd)).toString()) as string[];
    for (const name of names) body.numberOf(name);
    if (bytes.length !== namesEnd + length * BYTES_PER_EDGE) throw new Error("its parts do not fit its length");
    body.reserve(length);
    const read = (array: Uint16Array | Uint32Array, at: number): void => {
      const size = length * array.BYTES_PER_ELEMENT;
      new Uint8Array(array.buffer, 0, size).set(bytes.subarray(at, at + size));
    };
    read(body.type, namesEnd);
    read(body.src, namesEnd + 2 * length);
    read(body.dst, namesEnd + 6 * length);
    for (let id = 0; id < length; id++) {
      const type = body.type[id]!;
      if (type > names.length) throw new Error("it has a type without a name");
      if (type !== NO_TYPE) body.note(id);
      if (id % STEP_EDGES === 0) yield;
    }
    return body;
  }

  *save(): Iterable<Uint8Array> {
    const names = Buffer.from(JSON.stringify(this.typeNames));
    const length = this.maxId + 1;
    const head = Buffer.alloc(8);
    head.writeUInt32LE(length, 0);
    head.writeUInt32LE(names.length, 4);
    yield head;
    yield names;
    for (const array of [this.type, this.src, this.dst]) {
      for (let from = 0; from < length; from += STEP_EDGES) {
        const some = array.subarray(from, Math.min(length, from + STEP_EDGES));
        yield new Uint8Array(some.buffer, some.byteOffset, some.byteLength);
      }
    }
  }

  get bytes(): number {
    return (
      this.type.length * BYTES_PER_EDGE +
      this.count * 16 +
      this.pageCount * (PAGE_NODES * 4 + 200) +
      (this.added.size + this.removed.size) * 64
    );
  }

  /** Slots are the relationships' ids. */
  add({ id, type, src, dst }: EdgeItem): number {
    this.reserve(id + 1);
    this.type[id] = this.numberOf(type) + 1;
    this.src[id] = src;
    this.dst[id] = dst;
    this.note(id);
    if (this.built !== null) this.added.add(id);
    this.changed();
    return id;
  }

  remove(id: number): void {
    const type = this.type[id]!;
    this.type[id] = NO_TYPE;
    this.count--;
    if (this.built !== null && !this.added.delete(id)) {
      this.removed.set(id, { type: type - 1, src: this.src[id]!, dst: this.dst[id]! });
    }
    this.changed();
  }

  has(id: number): boolean {
    return id <= this.maxId && this.type[id] !== NO_TYPE;
  }

  holds(id: number, { type, src, dst }: EdgeItem): boolean {
    return this.typeNames[this.type[id]! - 1] === type && this.src[id] === src && this.dst[id] === dst;
  }

  endsOf(id: number): { readonly src: number; readonly dst: number } {
    return { src: this.src[id]!, dst: this.dst[id]! };
  }

  typeOf(id: number): string {
    return this.typeNames[this.type[id]! - 1]!;
  }

  /** Pages are to be made. */
  get hasWork(): boolean {
    return this.built === null;
  }

  get isBusy(): boolean {
    return this.building !== null;
  }

  get waitingCount(): number {
    return this.built === null ? this.count : 0;
  }

  work(): void {
    this.building ??= this.build();
    const step = this.building.next();
    if (step.done !== true) return;
    this.building = null;
    this.built = step.value;
  }

  /** All that is held; null while the pages are being made. */
  view(): AdjacencyView | null {
    if (this.built === null) return null;
    if (this.current !== null) return this.current;
    this.settle(this.built);
    const { typeNames, count, maxNode } = this;
    this.current = { types: [...typeNames], out: [...this.built.out], in: [...this.built.in], count, maxNode };
    return this.current;
  }

  private changed(): void {
    this.current = null;
    const changes = this.added.size + this.removed.size;
    if (this.built === null || changes < REBUILT_MIN || changes < this.count * REBUILT_SHARE) return;
    this.built = null;
    this.added.clear();
    this.removed.clear();
  }

  private note(id: number): void {
    this.count++;
    if (id > this.maxId) this.maxId = id;
    this.maxNode = Math.max(this.maxNode, this.src[id]!, this.dst[id]!);
  }

  private numberOf(type: string): number {
    let number = this.typeNumbers.get(type);
    if (number === undefined) {
      number = this.typeNames.push(type) - 1;
      if (number >= TYPES_MAX) throw new Error("a graph has too many types of relationships to be held in memory");
      this.typeNumbers.set(type, number);
    }
    return number;
  }

  private reserve(length: number): void {
    if (length <= this.type.length) return;
    const size = Math.max(length, 2 * this.type.length);
    const grown = <T extends Uint16Array | Uint32Array>(next: T, old: T): T => {
      next.set(old);
      return next;
    };
    this.type = grown(new Uint16Array(size), this.type);
    this.src = grown(new Uint32Array(size), this.src);
    this.dst = grown(new Uint32Array(size), this.dst);
  }

  // ---- pages ----

  /** All pages: relationships are counted and laid out by type and page, then each page by itself. */
  private *build(): Generator<undefined, { out: Pages[]; in: Pages[] }> {
    this.pageCount = 0;
    const out = yield* this.buildDirection(this.src, this.dst);
    const into = yield* this.buildDirection(this.dst, this.src);
    return { out, in: into };
  }

  /**
   * Relationships in the order of their other ends, then those of each page together in that order, by counting: the
   * order within a node comes of itself.
   */
  private *buildDirection(ends: Uint32Array, others: Uint32Array): Generator<undefined, Pages[]> {
    const pageTotal = (this.maxNode >>> PAGE_BITS) + 1;
    const ids = new Uint32Array(this.count);
    let length = 0;
    for (let id = 0; id <= this.maxId; id++) {
      if (this.type[id] !== NO_TYPE) ids[length++] = id;
      if (id % STEP_EDGES === 0) yield;
    }
    const { sorted } = yield* counted(ids, this.maxNode + 1, (id) => others[id]!);
    const groupOf = (id: number) => (this.type[id]! - 1) * pageTotal + (ends[id]! >>> PAGE_BITS);
    const { sorted: grouped, starts } = yield* counted(sorted, this.typeNames.length * pageTotal, groupOf);
    const tables: Pages[] = [];
    let done = 0;
    for (let type = 0; type < this.typeNames.length; type++) {
      const pages: (Page | undefined)[] = [];
      for (let page = 0; page < pageTotal; page++) {
        const group = type * pageTotal + page;
        const edges = grouped.subarray(starts[group], starts[group + 1]);
        if (edges.length === 0) continue;
        pages[page] = pageOf(edges, ends, others);
        this.pageCount++;
        done += edges.length;
        if (done < STEP_EDGES) continue;
        done = 0;
        yield;
      }
      tables.push(pages);
    }
    return tables;
  }

  /** Replaces the pages that changes are in. */
  private settle(built: { out: Pages[]; in: Pages[] }): void {
    while (built.out.length < this.typeNames.length) {
      built.out.push([]);
      built.in.push([]);
    }
    if (this.added.size + this.removed.size === 0) return;
    this.settleDirection(built.out, "src", "dst");
    this.settleDirection(built.in, "dst", "src");
    this.added.clear();
    this.removed.clear();
  }

  private settleDirection(tables: Pages[], end: "src" | "dst", other: "src" | "dst"): void {
    const touched = new Map<number, Map<number, number[]>>();
    const touch = (type: number, node: number): number[] => {
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
    for (const { type, ...ends } of this.removed.values()) touch(type, ends[end]);
    for (const id of this.added) touch(this.type[id]! - 1, this[end][id]!).push(id);
    for (const [type, pages] of touched) {
      const table = [...tables[type]!];
      for (const [page, added] of pages) {
        const old = table[page];
        // One that was removed and added again has lost its place.
        const kept =
          old === undefined
            ? []
            : old.edges.filter((id) => this.has(id) && !this.added.has(id) && !this.removed.has(id));
        const edges = Uint32Array.from([...kept, ...added]);
        const others = this[other];
        edges.sort((a, b) => others[a]! - others[b]! || a - b);
        if (old === undefined) this.pageCount++;
        table[page] = pageOf(edges, this[end], others);
      }
      tables[type] = table;
    }
  }
}

/** Ids by their group, in the order in which they come, and where each group starts (a counting sort). */
function* counted(
  ids: Uint32Array,
  groups: number,
  groupOf: (id: number) => number,
): Generator<undefined, { sorted: Uint32Array; starts: Uint32Array }> {
  const starts = new Uint32Array(groups + 1);
  for (let i = 0; i < ids.length; i++) {
    starts[groupOf(ids[i]!) + 1]!++;
    if (i % STEP_EDGES === 0) yield;
  }
  for (let i = 1; i < starts.length; i++) starts[i]! += starts[i - 1]!;
  const at = starts.slice(0, -1);
  const sorted = new Uint32Array(ids.length);
  for (let i = 0; i < ids.length; i++) {
    const group = groupOf(ids[i]!);
    sorted[at[group]!] = ids[i]!;
    at[group]!++;
    if (i % STEP_EDGES === 0) yield;
  }
  return { sorted, starts };
}

/** In the arrays by id. */
const BYTES_PER_EDGE = 10;
const TYPES_MAX = 65_535;
