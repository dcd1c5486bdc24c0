/**
 * A graph's adjacency as an index in memory (src/derived) over its table of relationships: their types and ends by id
 * (edge-chunks.ts), and pages made from those (adjacency-pages.ts). At first, and after many changes at once, the pages
 * are made in steps between other work, of what there was when that began. After single changes, the affected pages
 * are replaced: at the next read, or in steps if there are more than a few.
 */
import type { IndexBody } from "../derived/index-body.js";
import { type AllPages, allPages } from "./adjacency-build.js";
import { settle, type TypedEdge } from "./adjacency-changes.js";
import { readSaved, savedParts } from "./adjacency-file.js";
import { type AdjacencyView, PAGE_NODES } from "./adjacency-pages.js";
import { EdgeChunks, NO_TYPE } from "./edge-chunks.js";

export interface EdgeItem {
  readonly id: number;
  readonly type: string;
  readonly src: number;
  readonly dst: number;
}

/** Number of changes, and their share of all relationships, from which on all pages are rebuilt. */
const REBUILT_MIN = 20_000;
const REBUILT_SHARE = 0.1;
/** Changes that a read puts into the pages by itself. */
const READ_CHANGES_MAX = 128;

export class AdjacencyBody implements IndexBody<EdgeItem> {
  count = 0;
  private readonly edges = new EdgeChunks();
  private readonly typeNames: string[] = [];
  private readonly typeNumbers = new Map<string, number>();
  /** Greatest id that was ever here. */
  private maxId = -1;
  private maxNode = 0;
  /** Null: pages are to be made of everything. */
  private built: AllPages | null = null;
  private building: Generator<undefined, AllPages> | null = null;
  private settling: Generator<undefined, void> | null = null;
  /** Relationships that came since the pages were made, or since that began. */
  private readonly added = new Set<number>();
  /** Those that were removed since, as they were. */
  private readonly removed = new Map<number, TypedEdge>();
  private current: AdjacencyView | null = null;

  static *load(bytes: Uint8Array): Generator<undefined, AdjacencyBody> {
    const body = new AdjacencyBody();
    const { types, chunks } = readSaved(bytes);
    for (const name of types) body.numberOf(name);
    let id = 0;
    for (const { type, src, dst } of chunks) {
      for (let at = 0; at < type.length; at++, id++) {
        if (type[at] === NO_TYPE) continue;
        if (type[at]! > types.length) throw new Error("it has a type without a name");
        body.note({ id, type: type[at]! - 1, src: src[at]!, dst: dst[at]! });
      }
      yield;
    }
    return body;
  }

  /** As it is when this is called. */
  saveNow(): Iterable<Uint8Array> {
    return savedParts([...this.typeNames], this.edges.frozen(), this.maxId + 1);
  }

  save(): Iterable<Uint8Array> {
    return this.saveNow();
  }

  /** Nothing has waited. */
  saved(): void {}

  get bytes(): number {
    const pageCount = this.built?.pageCount ?? 0;
    const changes = this.added.size + this.removed.size;
    return this.edges.bytes + this.count * 16 + pageCount * (PAGE_NODES * 4 + 200) + changes * 128;
  }

  /** Slots are the relationships' ids. */
  add({ id, type, src, dst }: EdgeItem): number {
    this.note({ id, type: this.numberOf(type), src, dst });
    if (this.isTracked) this.added.add(id);
    this.changed();
    return id;
  }

  replace(item: EdgeItem): void {
    if (this.has(item.id)) {
      if (this.holds(item.id, item)) return;
      this.remove(item.id);
    }
    this.add(item);
  }

  remove(id: number): void {
    if (this.isTracked && !this.added.delete(id)) this.removed.set(id, this.edgeAt(id));
    this.edges.remove(id);
    this.count--;
    this.changed();
  }

  has(id: number): boolean {
    return this.edges.typeAt(id) !== NO_TYPE;
  }

  holds(id: number, { type, src, dst }: EdgeItem): boolean {
    return this.typeOf(id) === type && this.edges.srcAt(id) === src && this.edges.dstAt(id) === dst;
  }

  endsOf(id: number): { readonly src: number; readonly dst: number } {
    return { src: this.edges.srcAt(id), dst: this.edges.dstAt(id) };
  }

  typeOf(id: number): string {
    return this.typeNames[this.edges.typeAt(id) - 1]!;
  }

  /** Pages are to be made, or to be changed in more than a few places. */
  get hasWork(): boolean {
    return this.built === null || this.settling !== null || this.changes > READ_CHANGES_MAX;
  }

  /** Changes go into pages in steps; while all pages are made, others may come. */
  get isBusy(): boolean {
    return this.settling !== null;
  }

  get waitingCount(): number {
    return this.built === null ? this.count : 0;
  }

  work(): void {
    if (this.built === null) {
      const { count, maxNode, typeNames } = this;
      this.building ??= allPages(this.edges.frozen(), { count, maxNode, types: typeNames.length });
      const step = this.building.next();
      if (step.done !== true) return;
      this.building = null;
      this.built = step.value;
      return;
    }
    this.settling ??= this.settle(this.built);
    if (this.settling.next().done === true) this.settled();
  }

  /** All that is held; null while the pages are being made. */
  view(): AdjacencyView | null {
    if (this.built === null || this.settling !== null || this.changes > READ_CHANGES_MAX) return null;
    if (this.current !== null) return this.current;
    for (const _ of this.settle(this.built));
    this.settled();
    const { typeNames, count, maxNode } = this;
    this.current = { types: [...typeNames], out: [...this.built.out], in: [...this.built.in], count, maxNode };
    return this.current;
  }

  private settle(built: AllPages): Generator<undefined, void> {
    return settle(built, this.typeNames.length, { added: this.added, edgeAt: this.edgeAt, removed: this.removed });
  }

  private readonly edgeAt = (id: number): TypedEdge => ({
    id,
    type: this.edges.typeAt(id) - 1,
    src: this.edges.srcAt(id),
    dst: this.edges.dstAt(id),
  });

  private settled(): void {
    this.settling = null;
    this.added.clear();
    this.removed.clear();
  }

  private get isTracked(): boolean {
    return this.built !== null || this.building !== null;
  }

  private get changes(): number {
    return this.added.size + this.removed.size;
  }

  private changed(): void {
    this.current = null;
    if (!this.isTracked || this.changes < REBUILT_MIN || this.changes < this.count * REBUILT_SHARE) return;
    this.built = null;
    this.building = null;
    this.added.clear();
    this.removed.clear();
  }

  private note({ id, type, src, dst }: TypedEdge): void {
    this.edges.set(id, type + 1, src, dst);
    this.count++;
    this.maxId = Math.max(this.maxId, id);
    this.maxNode = Math.max(this.maxNode, src, dst);
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
}

const TYPES_MAX = 65_535;
