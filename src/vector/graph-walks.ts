/**
 * The walks through a graph, and what is measured beside or instead of them: the vectors that wait to be linked, or
 * all. The query, and the filter's bits, are the module's when they are asked. Owned by the graph.
 */
import { isScanCheaper, wideWalk } from "./filter-costs.js";
import { BY_CODE, type EXACTLY, floatsAt, type GraphModule } from "./graph-module.js";
import { EF_MAX } from "./graph-parameters.js";
import type { Slots } from "./long-search.js";
import type { SharedLinks } from "./shared-links.js";
import type { SlotMeasures } from "./slot-measures.js";
import type { WaitingSlots } from "./waiting-slots.js";

/** Of more vectors only those that wait are measured. */
const MEASURED_MAX = 20_000;
/** Searches that may take turns measure all rather than walk with a longer list, which takes four milliseconds. */
const WIDTH_MAX = 1536;
const WIDTH_FIRST = 128;

/** What is in the pool. */
export interface Walked {
  /** How many it holds; −1: there is no room for it. */
  readonly size: number;
  /** How many a walk found, without those that wait, and what was measured for the last of them. Null: no walk. */
  readonly walked: number | null;
  readonly last: number;
}

export class GraphWalks {
  constructor(
    private readonly module: GraphModule,
    private readonly waiting: WaitingSlots,
    private readonly measures: SlotMeasures,
    private readonly links: SharedLinks,
  ) {}

  /** All, or those allowed. */
  slotsOf(allowed: Uint32Array | undefined, possible: number): Slots {
    return { of: "all", from: 0, to: this.module.slotCount() >>> 0, listed: [], allowed, count: possible };
  }

  /** Whether measuring all that pass costs least, with recall; see the constants for what was measured. */
  isScanned(width: number, possible: number, isFiltered: boolean): boolean {
    const { count } = this;
    if (this.isMostlyWaiting()) return true;
    if (!isFiltered) return width > this.widthMax;
    return Math.max(width, wideWalk(width, possible, count)) > this.widthMax || isScanCheaper(width, possible, count);
  }

  /** How many the pool holds of the nearest, `width` at most; −1: there is no room for it. */
  scan(width: number, slots: Slots, how: typeof EXACTLY | typeof BY_CODE): number {
    if (this.module.startScan(width) === 0) return -1;
    // Of what was measured in turns there are as many as the pool takes, so that none is nearer.
    if (how === BY_CODE) return this.measures.offer(slots, how, width).size;
    return this.module.scanSlots(0, this.module.slotCount(), slots.allowed === undefined ? 0 : 1, how);
  }

  /**
   * Removed vectors that are still in the graph take places in a walk's list: if few others have one, another walk
   * keeps a longer list. At last all are measured. Those that wait to be linked say nothing about the walk.
   */
  walk(wanted: number, ef: number, possible: number, allowed: Uint32Array | undefined): number {
    const least = Math.min(possible, Math.max(wanted, ef / 2));
    for (let width = ef; ; width *= 4) {
      const isWaiting = this.waiting.prepare();
      const walked = this.walkOnce(width, possible, allowed);
      if (walked < 0) return walked;
      if (walked >= least || this.links.pendingCount === 0)
        return isWaiting ? this.offerWaiting(walked, width, possible, allowed) : walked;
      const widened = width * 4;
      if (widened * 2 > this.count || widened > this.widthMax)
        return this.scan(ef, this.slotsOf(allowed, possible), BY_CODE);
    }
  }

  /** One walk, or all where most vectors wait. */
  walkOrScan(ef: number): Walked {
    const { count } = this;
    if (this.isMostlyWaiting())
      return { size: this.scan(ef, this.slotsOf(undefined, count), BY_CODE), walked: null, last: 0 };
    const isWaiting = this.waiting.prepare();
    const walked = this.walkOnce(ef, count, undefined);
    const { module } = this;
    const last = walked > 0 ? floatsAt(module, module.poolAt(), 2 * walked)[2 * walked - 2]! : Number.NEGATIVE_INFINITY;
    const size = walked < 0 || !isWaiting ? walked : this.offerWaiting(walked, ef, count, undefined);
    return { size, walked, last };
  }

  /** Longer and longer lists, to try walks with. */
  *widths(): Generator<number> {
    const { widthMax } = this;
    for (let width = WIDTH_FIRST; width < widthMax; width *= 4) yield width;
    yield widthMax;
  }

  /** Of walks. */
  private get widthMax(): number {
    return this.measures.mayTakeTurns ? WIDTH_MAX : EF_MAX;
  }

  private get count(): number {
    return this.module.vectorCount() >>> 0;
  }

  private isMostlyWaiting(): boolean {
    return this.count <= MEASURED_MAX && this.waiting.count * 2 > this.count;
  }

  private walkOnce(width: number, possible: number, allowed: Uint32Array | undefined): number {
    if (allowed === undefined) return this.module.search(width, 0, 0, 0);
    return this.module.search(width, 1, Math.min(EF_MAX, wideWalk(width, possible, this.count)), possible);
  }

  /** After a walk that left so many in the pool: those that waited before it are offered; how many it holds then. */
  private offerWaiting(walked: number, width: number, possible: number, allowed: Uint32Array | undefined): number {
    const { module, waiting } = this;
    const { isShared } = this.links;
    const known = this.measures.known(waiting.slots(allowed, possible), BY_CODE, width);
    const size =
      known === null ? waiting.offer(allowed, walked, isShared) : waiting.offerOf(known.slots, walked, isShared);
    return isShared ? module.cleanPool() : size;
  }
}
