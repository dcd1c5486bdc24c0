/**
 * Which slots of a graph wait to be linked, so that a search measures them beside its walk: those that were used before
 * one by one, and all from one slot on. Other threads may link them meanwhile. Owned by the graph.
 */
import { BY_CODE, type GraphModule, wordsAt } from "./graph-module.js";
import { passes, type Slots } from "./long-search.js";

const FOUND = 1;
/** Of those used before, how many are looked at before a walk. */
const LOOKS = 1024;

export class WaitingSlots {
  private readonly reused = new Set<number>();
  /** Goes round in them. */
  private looking: Iterator<number> | null = null;
  /** Of those from here on none was used before. */
  private from = 0;

  constructor(private readonly module: GraphModule) {}

  get count(): number {
    return this.module.waiting() >>> 0;
  }

  appended(slot: number): void {
    if (slot < this.from) this.reused.add(slot);
  }

  removed(slot: number): void {
    this.reused.delete(slot);
  }

  /** One of them. */
  next(): number | null {
    if (this.count === 0) return null;
    for (const slot of this.reused) {
      if (this.waits(slot)) return slot;
      this.reused.delete(slot);
    }
    this.advance();
    return this.from < this.module.slotCount() >>> 0 ? this.from : null;
  }

  /** None is below. */
  least(): number {
    this.advance();
    let least = this.from;
    for (const slot of this.reused) least = Math.min(least, slot);
    return least;
  }

  /** Before a walk: forgets some of those that the walk will find. False: none waits. */
  prepare(): boolean {
    if (this.count === 0) return false;
    for (let looks = Math.min(LOOKS, this.reused.size); looks > 0; looks--) {
      this.looking ??= this.reused.values();
      const next = this.looking.next();
      if (next.done === true) this.looking = null;
      else if (!this.waits(next.value)) this.reused.delete(next.value);
    }
    this.advance();
    return true;
  }

  /** After `prepare`: those that wait are among them. At most `possible` are allowed. */
  slots(allowed: Uint32Array | undefined, possible: number): Slots {
    const { from, reused } = this;
    const to = this.module.slotCount() >>> 0;
    const count = Math.min(possible, to - from + reused.size);
    return { of: "waiting", from, to, listed: reused, allowed, count };
  }

  /**
   * After a walk that left `walked` in the pool: offers those that waited before it; returns how many the pool holds.
   * While others link, also those that they have linked meanwhile; then the pool is to be cleaned.
   */
  offer(allowed: Uint32Array | undefined, walked: number, isShared: boolean): number {
    const { module, reused } = this;
    const size = this.offerSome(reused, allowed, walked, isShared);
    return this.from < module.slotCount() >>> 0 ? module.offerWaiting(this.from, allowed === undefined ? 0 : 1) : size;
  }

  /** The same of these: those that wait are among them, and others. */
  offerOf(slots: readonly number[], walked: number, isShared: boolean): number {
    return this.offerSome(slots, undefined, walked, isShared);
  }

  /** None takes two places of the pool: what is linked is left to the walk, or was not met by it. */
  private offerSome(
    slots: Iterable<number>,
    allowed: Uint32Array | undefined,
    walked: number,
    isShared: boolean,
  ): number {
    const { module } = this;
    const met = isShared ? this.pooled(walked) : null;
    const most = module.batchLength();
    let count = 0;
    // Measuring takes no memory, so the view lasts.
    const batch = wordsAt(module, module.batchAt(), most);
    for (const slot of slots) {
      if (!passes(allowed, slot) || module.slotState(slot) !== FOUND) continue;
      if (met === null ? !this.waits(slot) : met.has(slot)) continue;
      batch[count++] = slot;
      if (count < most) continue;
      module.offerWritten(count, BY_CODE);
      count = 0;
    }
    return module.offerWritten(count, BY_CODE);
  }

  private pooled(size: number): Set<number> {
    const words = wordsAt(this.module, this.module.poolAt(), 2 * size);
    const slots = new Set<number>();
    // The topmost bit is the walk's.
    for (let i = 0; i < size; i++) slots.add(words[2 * i + 1]! & 0x7fffffff);
    return slots;
  }

  private waits(slot: number): boolean {
    return this.module.firstWaiting(slot, slot + 1) >>> 0 === slot;
  }

  private advance(): void {
    this.from = this.module.firstWaiting(this.from, this.module.slotCount()) >>> 0;
  }
}
