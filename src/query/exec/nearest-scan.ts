/**
 * A scan that only needs the rows nearest to a vector (NearestSearch). A vector index names them, in no order, and
 * some more if the statement's transaction sees other rows than the index. It waits for an index that is being made. If
 * there is none, or if the statement wants a large part of the table, it is a scan like any other; it may always give
 * more rows.
 *
 * With a filter, the nearest rows that pass are wanted. Which rows pass is remembered by slot (derived/slot-marks.ts).
 * If few do, their vectors are all compared; if many do, the graph is walked and hands out only those.
 */
import type { IndexKind } from "../../derived/index-body.js";
import type { SlotMarks } from "../../derived/slot-marks.js";
import { keyText } from "../../storage/ordered-map.js";
import { numbersOf } from "../../values/vector-form.js";
import { EF_MAX } from "../../vector/graph-parameters.js";
import type { LongSearch } from "../../vector/long-search.js";
import type { VectorBody } from "../../vector/vector-body.js";
import { compileExpr } from "../expr/compile.js";
import type { Batch, Evaluate } from "../expr/expr.js";
import type { ScanPlan } from "../plan/plan.js";
import type { NearestSearch } from "../plan/search-plans.js";
import type { ExecContext } from "./context.js";
import { limitValue } from "./limit.js";
import { compileNearestRows, type FoundRows, type NearestRows, withVector } from "./nearest-rows.js";
import type { Open, Operator, Pulled } from "./operator.js";
import { compileScan } from "./scan.js";
import {
  findSearchIndex,
  LargeCommitWait,
  plainKindOf,
  vectorDimensions,
  vectorKindFor,
  whileOpening,
} from "./search-index-kind.js";
import { compileSlotFilter, SlotFilter, type SlotFilterProgram } from "./slot-filter.js";
import { compileMaybe, EMPTY_ROW, NO_SLOTS } from "./slots.js";
import { layoutOf, type TableLayout } from "./table-layout.js";
import { FoldedForSearch, type VectorIndex, vectorCorrections } from "./vector-corrections.js";

/** More rows than this, or than this part of the table, are not worth a search. */
const COUNT_MAX = 10_000;
const COUNT_SHARE_MAX = 0.25;
/**
 * Up to this many passing rows, or this share of all, are compared one by one: a walk that hands out few rows costs
 * more.
 */
const COMPARED_MAX = 1000;
const COMPARED_SHARE_MAX = 0.03;
/** Number of rows from which a filter's share is estimated. */
const SAMPLE_ROWS = 128;
/** A filter that passes this part or more is asked of the candidates only. */
const LOOSE_SHARE = 0.2;
/** The same where the setting hnsw.filter_mode is post; with pre all that pass are compared. */
const LOOSE_SHARE_POST = 0.01;
/** Candidates for each row wanted, beyond what the share says. */
const SPARE_FACTOR = 1.5;
/** Rows between two looks at the clock. */
const STEP_ROWS = 64;

interface NearestProgram {
  readonly search: NearestSearch;
  readonly layout: TableLayout;
  readonly query: Evaluate;
  readonly counts: readonly (Evaluate | null)[];
  /** Null: all rows pass. */
  readonly filter: SlotFilterProgram | null;
  readonly plainKind: IndexKind<Float32Array, VectorBody> | null;
  readonly dimensions: number;
  /** Where the distance is a column, with the vector in its place. */
  readonly openScan: Open;
  readonly openRows: (context: ExecContext) => NearestRows;
  /** The distance is a column. */
  readonly isMeasured: boolean;
}

export function compileNearestScan(given: ScanPlan, search: NearestSearch): Open {
  const { distance } = search;
  // Without the distance, whose place is behind the table's columns.
  const plan = distance === undefined ? given : { ...given, columns: given.columns.slice(0, -1) };
  const layout = layoutOf(plan.table);
  const columnId = search.index.columnIds[0]!;
  const program: NearestProgram = {
    search,
    layout,
    query: compileExpr(search.query, NO_SLOTS),
    counts: search.counts.map((count) => compileMaybe(count, NO_SLOTS)),
    filter: compileSlotFilter(plan),
    plainKind: plainKindOf(plan.table, search.index),
    dimensions: vectorDimensions(layout, search.index),
    openScan: compileScan(distance === undefined ? plan : withVector(plan, distance.vector, columnId)),
    openRows: compileNearestRows(plan, distance, columnId),
    isMeasured: distance !== undefined,
  };
  return (context) => new NearestScanOperator(program, context);
}

interface Nearest {
  readonly slots: ArrayLike<number>;
  readonly distances: ArrayLike<number>;
}

class NearestScanOperator implements Operator {
  private readonly filter: SlotFilter<Float32Array, VectorBody> | null;
  private found: FoundRows | null = null;
  private rows: NearestRows | null = null;
  /** Reads the table instead. */
  private scan: Operator | null = null;
  private handsOutChunks = false;
  /** It measures in turns. */
  private long: LongSearch | null = null;
  /** All rows are asked the filter: they were before, or too few of the nearest pass. */
  private isAskedAll = false;
  /** Slots of rows that the transaction sees otherwise than the index, when it was last searched. */
  private seen: ReadonlySet<number> = new Set();
  /** There were some once. */
  private isBeside = false;
  private folded: FoldedForSearch | null = null;
  private readonly wait: LargeCommitWait;
  private kind: IndexKind<Float32Array, VectorBody> | null = null;

  constructor(
    private readonly program: NearestProgram,
    private readonly context: ExecContext,
  ) {
    this.filter = program.filter && new SlotFilter(program.filter, context);
    this.wait = new LargeCommitWait(context);
  }

  acceptChunks(): void {
    this.handsOutChunks = true;
  }

  next(): Pulled {
    if (this.scan !== null) return this.scanned(this.scan);
    if (this.found !== null) return this.openRows().next(this.found);
    this.context.checkpoint();
    const index = this.index();
    const opening = index === null ? whileOpening(this.context, this.program.search.index) : null;
    return opening === null ? this.begin(index) : opening.then(() => this.begin(this.index()));
  }

  private begin(index: VectorIndex | null): Pulled {
    const query = index === null ? null : this.query();
    const count = index === null ? 0 : this.wanted();
    if (index === null || query === null || query.length !== this.program.dimensions || count === 0)
      return this.readTable();
    if (count > COUNT_SHARE_MAX * index.count) return this.ofFew(index);
    const ready = this.ready(index, count);
    return ready === true ? this.finish(index, query, count) : ready.then(() => this.finish(index, query, count));
  }

  /** Reads the table, unless most of its rows are still to come into the index. */
  private ofFew(index: VectorIndex): Pulled {
    const isPart = vectorCorrections(index, this.program.layout, this.context) === null;
    return isPart ? this.afterLargeCommit(index) : this.readTable();
  }

  private query(): Float32Array | null {
    return numbersOf(this.program.query(EMPTY_ROW, 0, this.context) as Float32Array | string | null);
  }

  close(): void {
    this.scan?.close();
    this.filter?.close();
    this.endLong();
  }

  private endLong(): void {
    this.long?.close();
    this.long = null;
  }

  private index(): VectorIndex | null {
    const { context, program } = this;
    const { index } = program.search;
    const { table } = program.layout;
    this.kind ??= program.plainKind ?? vectorKindFor(context, table, index);
    return findSearchIndex(context, table, index, this.kind);
  }

  /** 0: too many for a search. */
  private wanted(): number {
    let count = 0;
    for (const each of this.program.counts) count += limitValue(each, this.context);
    return count > COUNT_MAX ? 0 : count;
  }

  private readTable(): Pulled {
    this.scan = this.program.openScan(this.context);
    if (this.handsOutChunks && !this.program.isMeasured) this.scan.acceptChunks?.();
    return this.scanned(this.scan);
  }

  private scanned(scan: Operator): Pulled {
    const pulled = scan.next();
    if (!this.program.isMeasured || pulled === null) return pulled;
    const measured = (batch: Batch | null) => (batch === null ? null : this.openRows().measuredBatch(batch));
    return pulled instanceof Promise ? pulled.then(measured) : measured(pulled);
  }

  private openRows(): NearestRows {
    this.rows ??= this.program.openRows(this.context);
    return this.rows;
  }

  private finish(index: VectorIndex, query: Float32Array, count: number): Pulled {
    const found = index.state === "ready" ? this.search(index, query, count) : null;
    if (found === "later") return this.goOn(index, query, count);
    this.endLong();
    this.found = found;
    return found === null ? this.afterLargeCommit(index) : this.openRows().next(found);
  }

  /** Searches again, or reads the table where there is no such commit. */
  private afterLargeCommit(index: VectorIndex): Pulled {
    const again = () => {
      this.folded = null;
      return this.begin(this.index());
    };
    return this.wait.before(again, index) ?? this.readTable();
  }

  /** What the search is still to measure or to ask, and then the search again. */
  private async goOn(index: VectorIndex, query: Float32Array, count: number): Promise<Batch | null> {
    const { context, program } = this;
    for (;;) {
      await context.yieldTurn();
      if (index.state !== "ready") break;
      // Rows that have come are measured if they pass.
      if (this.filter !== null && !this.step(index, count)) continue;
      // What was seen otherwise may be in the index by now.
      const corrections = vectorCorrections(index, program.layout, context);
      if (corrections === null) break;
      this.seen = corrections.slots;
      const passing = this.allowed(index) ?? undefined;
      let isDone = this.long!.step(passing);
      while (!isDone && !context.shouldYield()) isDone = this.long!.step(passing);
      if (isDone && this.step(index, count)) break;
    }
    return this.finish(index, query, count);
  }

  /** Has the body hold what the engine did when this began, and the filter's marks be known as far as they must be. */
  private ready(index: VectorIndex, count: number): true | Promise<void> {
    if (this.step(index, count)) return true;
    return (async () => {
      do await this.context.yieldTurn();
      while (index.state === "ready" && !this.step(index, count));
    })();
  }

  /** Works until its turn ends; true when nothing is left to do. */
  private step(index: VectorIndex, count: number): boolean {
    const { context } = this;
    this.folded ??= new FoldedForSearch(index);
    if (!this.folded.goOn(() => context.shouldYield())) return false;
    if (this.filter === null) return true;
    const marks = this.filter.marks(index);
    const isKnown = marks.knownCount >= index.count || (!this.isAskedAll && this.isLoose(index, marks, count));
    return isKnown || this.filter.askAll(index);
  }

  /** Enough rows pass that it suffices to test those that a search names. */
  private isLoose(index: VectorIndex, marks: SlotMarks, count: number): boolean {
    const stride = Math.max(1, Math.floor(index.slotCount / SAMPLE_ROWS));
    for (let slot = 0; marks.knownCount < SAMPLE_ROWS && slot < index.slotCount; slot += stride) {
      if (!marks.isKnown(slot) && index.isUsed(slot)) this.filter!.ask(index, marks, slot);
    }
    const share = marks.passingCount / Math.max(1, marks.knownCount);
    return share >= this.looseShare() && marks.knownCount < index.count && count / share < COUNT_MAX / 4;
  }

  /**
   * In one go: what it finds is of one state of the index. Null: the transaction sees too many other rows. later: more
   * is to be measured or asked before, in turns.
   */
  private search(index: VectorIndex, query: Float32Array, count: number): FoundRows | null | "later" {
    const { context, program } = this;
    const corrections = vectorCorrections(index, program.layout, context);
    if (corrections === null) return null;
    const { corrected, keys, slots: seen } = corrections;
    this.seen = seen;
    this.long ??= index.body.longSearch(query);
    const found = this.long.run(() => this.nearest(index, query, count));
    if (found === null) return "later";
    const { slots, distances } = found;
    const suffixes: string[] = [];
    const far: number[] = [];
    for (let i = 0; i < slots.length; i++) {
      suffixes.push(index.suffixAt(slots[i]!));
      far.push(distances[i]!);
    }
    const rest: Uint8Array[] = [];
    // Rows without a vector are part of the answer where the others do not fill it.
    if (index.restCount > 0 && (program.search.nullsFirst || slots.length < count)) {
      for (const key of index.restKeys()) if (!keys.has(keyText(key))) rest.push(key);
    }
    return { suffixes, distances: far, rest, corrected };
  }

  /** Those nearest beside the rows that are seen otherwise. Null: the filter is to be asked of all rows before. */
  private nearest(index: VectorIndex, query: Float32Array, count: number): Nearest | null {
    const ef = this.candidates(index, count);
    if (this.filter === null) return this.unfiltered(index, query, count, ef);
    const marks = this.filter.marks(index);
    if (marks.knownCount < index.count) {
      const found = this.asking(index, marks, query, count, ef);
      this.isAskedAll ||= found === null;
      return found;
    }
    // From now on rows that come are asked first.
    this.isAskedAll = true;
    const passing = marks.passingCount;
    const allowed = this.allowed(index)!;
    const mayWalk = ef !== Number.POSITIVE_INFINITY && this.filterMode() !== "pre";
    if (mayWalk && passing > Math.max(COMPARED_MAX, COMPARED_SHARE_MAX * index.count)) {
      const found = index.body.search(query, count, ef, allowed);
      let seenPassing = 0;
      for (const slot of this.seen) if (marks.passes(slot)) seenPassing++;
      if (found.slots.length >= Math.min(count, passing - seenPassing)) return found;
    }
    return index.body.nearest(query, count, allowed);
  }

  private unfiltered(index: VectorIndex, query: Float32Array, count: number, ef: number): Nearest {
    const { body } = index;
    const { seen } = this;
    if (ef === Number.POSITIVE_INFINITY) return body.nearest(query, count, this.allowed(index));
    if (seen.size > 0) {
      // Rows that a load has brought meanwhile may be many.
      const spare = spareOf(ef);
      let named = 0;
      const isOther = (slot: number): boolean => {
        const isSeen = seen.has(slot);
        if (isSeen) named++;
        return !isSeen;
      };
      const found = body.searchPassing(query, count, Math.min(EF_MAX, ef + spare), isOther);
      // With more of them fewer others were candidates than are wanted.
      if (found.slots.length === count && named <= spare) return found;
    }
    const found = body.search(query, count, ef, this.allowed(index));
    return found.complete ? found : body.nearest(query, count, this.allowed(index));
  }

  /** Slots that count as far as is known: all or those that pass the filter, but those seen otherwise. Null: all. */
  private allowed(index: VectorIndex): Uint32Array | null {
    const { seen, filter } = this;
    this.isBeside ||= seen.size > 0;
    const passing = filter !== null && this.isAskedAll ? filter.marks(index).words : null;
    if (!this.isBeside) return passing;
    const words = passing?.slice() ?? new Uint32Array((index.slotCount + 31) >>> 5).fill(0xffffffff);
    for (const slot of seen) if (slot >>> 5 < words.length) words[slot >>> 5]! &= ~(1 << (slot & 31));
    return words;
  }

  /** Asks the filter of the nearest only, in their order; null when too few of them pass. */
  private asking(index: VectorIndex, marks: SlotMarks, query: Float32Array, count: number, ef: number): Nearest | null {
    const { seen, context } = this;
    const share = marks.passingCount / Math.max(1, marks.knownCount);
    const candidates = Math.ceil((count / Math.max(share, 0.01)) * SPARE_FACTOR) + STEP_ROWS;
    let asked = 0;
    const passes = (slot: number): boolean => {
      if (seen.has(slot)) return false;
      if (!marks.isKnown(slot)) {
        if (asked > 0 && asked % STEP_ROWS === 0 && context.shouldYield()) this.long!.giveUp();
        asked++;
        this.filter!.ask(index, marks, slot);
      }
      return marks.passes(slot);
    };
    // A few of them are among the candidates to spare.
    const allowed = seen.size > spareOf(candidates) || this.isBeside ? this.allowed(index)! : undefined;
    const most = Math.min(EF_MAX, candidates);
    if (ef === Number.POSITIVE_INFINITY) {
      const found = index.body.nearestPassing(query, count, most, passes, allowed);
      return found.complete ? found : null;
    }
    const found = index.body.searchPassing(query, count, Math.max(Math.min(EF_MAX, ef), most), passes, allowed);
    return found.slots.length === count ? found : null;
  }

  private filterMode(): string | null {
    return this.context.services.setting("hnsw.filter_mode");
  }

  private looseShare(): number {
    const mode = this.filterMode();
    if (mode === "pre") return Number.POSITIVE_INFINITY;
    return mode === "post" ? LOOSE_SHARE_POST : LOOSE_SHARE;
  }

  /** How many a walk keeps, as the setting hnsw.ef_search or the index's definition says, or else as was measured. */
  private candidates(index: VectorIndex, count: number): number {
    const setting = this.context.services.givenSetting("hnsw.ef_search");
    const named = setting === null ? this.program.search.index.vector!.efSearch : Number(setting);
    return named === undefined ? index.body.candidatesFor(count) : Math.max(count, named);
  }
}

/** Of so many candidates, those that rows may take that do not count. */
function spareOf(candidates: number): number {
  return candidates >> 2;
}
