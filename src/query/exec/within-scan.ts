/**
 * A scan that only needs the rows within a distance of a vector (NearestSearch.within). A vector index names them,
 * approximately all, and some more if the statement's transaction sees other rows than the index. The scan's filter is
 * tested on each. While no index is ready, or if too many rows are near, all rows are read. Opened for every row of
 * the surrounding query (lateral-join.ts).
 */
import type { IndexKind } from "../../derived/index-body.js";
import { keyText } from "../../storage/ordered-map.js";
import type { LongSearch } from "../../vector/long-search.js";
import type { VectorBody } from "../../vector/vector-body.js";
import { compileExpr } from "../expr/compile.js";
import type { Batch, Evaluate, Expr } from "../expr/expr.js";
import type { ScanPlan } from "../plan/plan.js";
import type { NearestSearch } from "../plan/search-plans.js";
import type { ExecContext } from "./context.js";
import { compileNearestRows, type FoundRows, type NearestRows } from "./nearest-rows.js";
import type { Open, Operator, Pulled } from "./operator.js";
import { compileScan } from "./scan.js";
import { findSearchIndex, LargeCommitWait, plainKindOf, vectorDimensions, whileOpening } from "./search-index-kind.js";
import { EMPTY_ROW, NO_SLOTS } from "./slots.js";
import { layoutOf, type TableLayout } from "./table-layout.js";
import { FoldedForSearch, type VectorIndex, vectorCorrections } from "./vector-corrections.js";

/** More than these are found by reading. */
const FOUND_MAX = 16_000;

interface WithinProgram {
  readonly search: NearestSearch;
  readonly layout: TableLayout;
  readonly query: Evaluate;
  readonly radius: Evaluate;
  readonly kind: IndexKind<Float32Array, VectorBody>;
  readonly dimensions: number;
  readonly openScan: Open;
  readonly openRows: (context: ExecContext) => NearestRows;
}

export function compileWithinScan(plan: ScanPlan, search: NearestSearch, within: Expr): Open {
  const layout = layoutOf(plan.table);
  const columnId = search.index.columnIds[0]!;
  const program: WithinProgram = {
    search,
    layout,
    query: compileExpr(search.query, NO_SLOTS),
    radius: compileExpr(within, NO_SLOTS),
    kind: plainKindOf(plan.table, search.index)!,
    dimensions: vectorDimensions(layout, search.index),
    openScan: compileScan(plan),
    openRows: compileNearestRows(plan, undefined, columnId),
  };
  return (context) => new WithinScanOperator(program, context);
}

class WithinScanOperator implements Operator {
  private found: FoundRows | null = null;
  private rows: NearestRows | null = null;
  /** Reads the table instead. */
  private scan: Operator | null = null;
  /** It measures in turns. */
  private long: LongSearch | null = null;
  private folded: FoldedForSearch | null = null;
  private readonly wait: LargeCommitWait;

  constructor(
    private readonly program: WithinProgram,
    private readonly context: ExecContext,
  ) {
    this.wait = new LargeCommitWait(context);
  }

  next(): Pulled {
    const { program, context } = this;
    if (this.scan !== null) return this.scan.next();
    if (this.found !== null) return this.rows!.next(this.found);
    context.checkpoint();
    // Asking has it made.
    const index = this.index();
    const opening = index === null ? whileOpening(context, program.search.index) : null;
    return opening === null ? this.begin(index) : opening.then(() => this.begin(this.index()));
  }

  private index(): VectorIndex | null {
    const { layout, search, kind } = this.program;
    return findSearchIndex(this.context, layout.table, search.index, kind);
  }

  private begin(index: VectorIndex | null): Pulled {
    const { program, context } = this;
    const query = program.query(EMPTY_ROW, 0, context) as Float32Array | null;
    const radius = program.radius(EMPTY_ROW, 0, context) as number | null;
    if (query === null || radius === null) return null;
    if (index === null) return this.read();
    const folded = new FoldedForSearch(index);
    this.folded = folded;
    if (folded.goOn(() => context.shouldYield())) return this.finish(index, query, radius);
    return this.afterFolding(index, folded).then(() => this.finish(index, query, radius));
  }

  close(): void {
    this.endLong();
    this.scan?.close();
  }

  private endLong(): void {
    this.long?.close();
    this.long = null;
  }

  private read(): Pulled {
    this.scan = this.program.openScan(this.context);
    return this.scan.next();
  }

  private async afterFolding(index: VectorIndex, folded: FoldedForSearch): Promise<void> {
    do await this.context.yieldTurn();
    while (index.state === "ready" && !folded.goOn(() => this.context.shouldYield()));
  }

  private finish(index: VectorIndex, query: Float32Array, radius: number): Pulled {
    const found = index.state === "ready" ? this.search(index, query, radius) : null;
    if (found === "later") return this.goOn(index, query, radius);
    this.endLong();
    if (found === "many") return this.read();
    if (found === null) return this.wait.before(() => this.begin(this.index()), index) ?? this.read();
    this.found = found;
    this.rows = this.program.openRows(this.context);
    return this.rows.next(found);
  }

  /** What the search is still to measure, and then the search again. */
  private async goOn(index: VectorIndex, query: Float32Array, radius: number): Promise<Batch | null> {
    const { context } = this;
    for (;;) {
      await context.yieldTurn();
      if (index.state !== "ready") break;
      let isDone = this.long!.step();
      while (!isDone && !context.shouldYield()) isDone = this.long!.step();
      if (isDone && this.folded!.goOn(() => context.shouldYield())) break;
    }
    return this.finish(index, query, radius);
  }

  /**
   * In one go: what it finds is of one state of the index. Null: the transaction sees too many other rows. many: too
   * many are near. later: more is to be measured before.
   */
  private search(index: VectorIndex, query: Float32Array, radius: number): FoundRows | null | "many" | "later" {
    const { program, context } = this;
    const corrections = vectorCorrections(index, program.layout, context);
    if (corrections === null) return null;
    const { corrected, keys } = corrections;
    // Vectors of another length are not in the index, and those of its length are not similar to them.
    if (query.length !== program.dimensions) {
      const rest = index.restKeys().filter((key) => !keys.has(keyText(key)));
      return { suffixes: [], distances: [], rest, corrected };
    }
    this.long ??= index.body.longSearch(query);
    const found = this.long.run(() => index.body.within(query, radius, FOUND_MAX));
    if (found === null) return "later";
    const { slots, distances } = found;
    if (slots.length === FOUND_MAX) return "many";
    const suffixes: string[] = [];
    for (const slot of slots) if (!corrections.slots.has(slot)) suffixes.push(index.suffixAt(slot));
    return { suffixes, distances: [...distances], rest: [], corrected };
  }
}
