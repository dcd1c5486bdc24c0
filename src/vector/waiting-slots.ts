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
    return { from, to, listed: reused, allowed, count: Math.min(possible, to - from + reused.size) };
  }

  /** After it: offers those that waited then; returns how many the pool holds. */
  offer(size: number, allowed: Uint32Array | undefined): number {
    const { module } = this;
    const most = module.batchLength();
    let total = size;
    let count = 0;
    // Measuring takes no memory, so the view lasts.
    const batch = wordsAt(module, module.batchAt(), most);
    for (const slot of this.reused) {
      if (!passes(allowed, slot) || module.slotState(slot) !== FOUND) continue;
      batch[count++] = slot;
      if (count < most) continue;
      total = module.offerWritten(count, BY_CODE);
      count = 0;
    }
    if (count > 0) total = module.offerWritten(count, BY_CODE);
    return this.from < module.slotCount() >>> 0 ? module.offerWaiting(this.from, allowed === undefined ? 0 : 1) : total;
  }

  private waits(slot: number): boolean {
    return this.module.firstWaiting(slot, slot + 1) >>> 0 === slot;
  }

  private advance(): void {
    this.from = this.module.firstWaiting(this.from, this.module.slotCount()) >>> 0;
  }
}
