/**
 * The times in which nobody may change a graph's links but other threads, which link, or nobody at all, while its
 * memory is copied. The owner goes on searching, adding and removing; what it removes leaves the graph later. Owned by
 * the graph.
 */
import type { GraphModule } from "./graph-module.js";
import type { GraphParameters } from "./graph-parameters.js";
import type { LinkJob } from "./link-graph.js";

/** Of one step. */
const STEP_SLOTS = 16_384;

export class SharedLinks {
  private shared = false;
  /** Removed meanwhile, and not taken out yet. */
  private readonly gone: number[] = [];

  constructor(
    private readonly module: GraphModule,
    private readonly parameters: GraphParameters,
    private readonly bytesMax: number,
  ) {}

  get isShared(): boolean {
    return this.shared;
  }

  /**
   * Of a graph with a node: so many other threads link what waits from slot `from` on, each with its job
   * (link-graph.ts).
   */
  begin(threads: number, from: number): readonly LinkJob[] {
    if (this.shared) throw new Error("other threads link already");
    this.module.beginSharing(from);
    this.shared = true;
    const { parameters, bytesMax } = this;
    const { memory } = this.module;
    return Array.from({ length: threads }, (_, thread) => ({ memory, parameters, bytesMax, thread }));
  }

  /** The other threads are to end soon. */
  stop(): void {
    if (this.shared) this.module.stopOthers();
  }

  /** After all of them have ended; in steps. */
  *end(): Generator<undefined, void> {
    for (let from = 0; from < this.module.slotCount() >>> 0; from += STEP_SLOTS) {
      this.module.settle(from, from + STEP_SLOTS);
      yield;
    }
    this.release();
  }

  /** Until `release` no links change. */
  hold(): void {
    this.module.holdLinks();
    this.shared = true;
  }

  release(): void {
    this.module.endSharing();
    this.shared = false;
  }

  /** The slot's vector was removed. */
  removed(slot: number): void {
    if (this.module.isGoneSlot(slot) === 1) this.gone.push(slot);
  }

  /** Slots for `takeOutOne`. */
  get goneCount(): number {
    return this.shared ? 0 : this.gone.length;
  }

  /** Removed vectors that are still in the graph. */
  get pendingCount(): number {
    return this.gone.length;
  }

  /** Before a copy is made: all that was removed up to now is removed in it, too. */
  markRemoved(): void {
    for (const slot of this.gone) this.module.setGoneBefore(slot);
  }

  takeOutOne(): void {
    this.module.removeGone(this.gone.pop()!);
  }

  /** After a graph was loaded; in steps. */
  *read(): Generator<undefined, void> {
    const slots = this.module.slotCount() >>> 0;
    for (let from = 0; from < slots; from += STEP_SLOTS) {
      const to = Math.min(slots, from + STEP_SLOTS);
      for (let slot = from; slot < to; slot++) {
        slot = this.module.nextGone(slot, to) >>> 0;
        if (slot < to) this.gone.push(slot);
      }
      yield;
    }
  }
}
