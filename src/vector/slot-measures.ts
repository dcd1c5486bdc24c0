/**
 * Measures many slots of a graph, in one go or, for a search that may take turns (long-search.ts), in several. Owned by
 * the graph.
 */
import { AddedSlots } from "./added-slots.js";
import type { AT_LEAST, BY_CODE, GraphModule } from "./graph-module.js";
import { LongSearch, type MeasuredHow, type Measuring, offerSlots, passes, type Slots } from "./long-search.js";
import type { Reads } from "./rank-originals.js";

export class SlotMeasures implements Measuring {
  asked: LongSearch | null = null;
  readonly added = new AddedSlots();
  private readonly searches = new Set<LongSearch>();

  constructor(
    readonly module: GraphModule,
    readonly dimensions: number,
    readonly onceNumbers: number,
    private readonly graph: Pick<Measuring, "prepare" | "rank">,
  ) {}

  longSearch(query: Float32Array): LongSearch {
    const search = new LongSearch(this, query);
    this.searches.add(search);
    return search;
  }

  ended(search: LongSearch): void {
    this.searches.delete(search);
    this.forgetAdded();
  }

  /** A vector has come into the slot. */
  appended(slot: number): void {
    if (this.searches.size === 0) return;
    this.added.add(slot);
    if (this.added.isLong) this.forgetAdded();
  }

  /** Those that every search has measured. */
  private forgetAdded(): void {
    let least = this.added.count;
    for (const search of this.searches) least = Math.min(least, search.addedFrom);
    this.added.forgetBefore(least);
  }

  prepare(query: Float32Array, allowed: Uint32Array | undefined): void {
    this.graph.prepare(query, allowed);
  }

  rank(most: number, slots: readonly number[]): ReturnType<Measuring["rank"]> {
    return this.graph.rank(most, slots);
  }

  get mayTakeTurns(): boolean {
    return this.asked !== null;
  }

  /** Of the search that is asked, if it may take turns. */
  get reads(): Reads | undefined {
    return this.asked?.reads;
  }

  /** What a search that takes turns has left of the slots; null: all are to be measured now. */
  known(slots: Slots, how: MeasuredHow, most: number): ReturnType<LongSearch["known"]> | null {
    const { asked } = this;
    return asked === null || asked.isShort(slots.count, how, most) ? null : asked.known(slots, how, most);
  }

  /**
   * Offers slots to the pool, which is of `most`: how many it holds then; those that were not offered are not nearer
   * than `bound`.
   */
  offer(
    slots: Slots,
    how: typeof BY_CODE | typeof AT_LEAST,
    most: number,
  ): { readonly size: number; readonly bound: number } {
    const { module } = this;
    const known = this.known(slots, how, most);
    if (known !== null) return { size: offerSlots(module, known.slots, how), bound: known.bound };
    const { from, to, listed, allowed } = slots;
    const filtered = allowed === undefined ? 0 : 1;
    const size = from < to ? module.scanSlots(from, to, filtered, how) : offerSlots(module, listed, how);
    return { size, bound: Number.POSITIVE_INFINITY };
  }
}

export function listedSlots(listed: readonly number[]): Slots {
  return { of: "listed", from: 0, to: 0, listed, allowed: undefined, count: listed.length };
}

/** All of the slots, also those that are free. */
export function* each({ from, to, listed, allowed }: Slots): Generator<number> {
  for (let slot = from; slot < to; slot++) if (passes(allowed, slot)) yield slot;
  yield* listed;
}
