/**
 * What a scan of segments needs once per plan: its filter as tests of columns. Made for scan.ts, and in threads that
 * read for it.
 */
import type { RecordDecoder } from "../../../storage/record-codec.js";
import { BOOL, type SqlType } from "../../../values/values.js";
import { compilePredicate, type Predicate } from "../../expr/compile.js";
import type { ColumnId, Expr } from "../../expr/expr.js";
import { andOf, columnsOf, isVolatile, someExpr } from "../../expr/walk.js";
import type { ScanPlan } from "../../plan/plan.js";
import type { RowDecoderProgram } from "../row-decoder.js";
import { slotsOf } from "../slots.js";
import { decoderOf, layoutOf, type TableLayout } from "../table-layout.js";
import { isSegmentable, type NumberColumn } from "./column.js";
import type { PieceProgram } from "./corrected-piece.js";
import { type ComputedTest, computedTestOf, type PairTest, pairTestOf } from "./row-kernels.js";
import { ROW_KEYS, type Segment } from "./segment.js";
import { type VectorTest, vectorTestOf } from "./vector-filter.js";

export interface Conjunct {
  readonly test: VectorTest | null;
  /** Of the test's column. */
  readonly slot: number;
  readonly predicate: Predicate;
  /** Slots that the predicate reads. */
  readonly slots: readonly number[];
  readonly pair: PairTest | null;
  readonly computed: ComputedTest | null;
  /** Another one says it, too: where no kernel can ask it, it is left out. */
  readonly isImplied: boolean;
}

/** What a scan asks of the columns of segments. */
export interface SegmentTests {
  readonly conjuncts: readonly Conjunct[];
  /** Slots that the conjuncts read. */
  readonly tested: ReadonlySet<number>;
  /** A test may fail on some rows. */
  readonly mayFail: boolean;
}

export interface SegmentScanProgram extends SegmentTests {
  readonly layout: Pick<TableLayout, "rowPrefixOf">;
  /** Column ids by slot. */
  readonly source: readonly number[];
  /** Null: there is nothing but segments. */
  readonly records: {
    readonly layout: TableLayout;
    readonly rows: RowDecoderProgram;
    /** By slot. */
    readonly types: readonly SqlType[];
    readonly decode: RecordDecoder;
  } | null;
}

/** Null when the scan must read records: backwards, tested by their keys, or for columns that segments do not hold. */
export function compileSegmentScan(plan: ScanPlan, rows: RowDecoderProgram): SegmentScanProgram | null {
  const { rowKey } = plan;
  if (plan.reverse || (rowKey !== null && plan.filter !== null && columnsOf(plan.filter).has(rowKey))) return null;
  if (plan.columns.some(({ id, type }) => id !== rowKey && !isSegmentable(type))) return null;
  // A volatile condition sees the rows that the others leave, in their order: that is the predicate's business.
  if (plan.filter !== null && isVolatile(plan.filter)) return null;
  const layout = layoutOf(plan.table);
  // The key comes behind the table's columns.
  const source = rowKey === null ? plan.source : [...plan.source, ROW_KEYS];
  const types = source.map((id, slot) => layout.types[id] ?? plan.columns[slot]!.type);
  const records = { layout, rows, types, decode: decoderOf(layout, plan.source) };
  return { ...compileSegmentTests(plan), layout, source, records };
}

export function compileSegmentTests(plan: Pick<ScanPlan, "columns" | "filter">): SegmentTests {
  const slotOf = slotsOf(plan.columns);
  const whole = conjunctsOf(plan.filter);
  const conditions = whole.flatMap((expr) => [...weakerTests(expr), expr]);
  const conjuncts: Conjunct[] = conditions.map((expr) => {
    const test = vectorTestOf(expr);
    return {
      test,
      slot: test === null ? -1 : slotOf(test.column),
      predicate: compilePredicate(expr, slotOf),
      slots: [...columnsOf(expr)].map(slotOf).filter((slot) => slot >= 0),
      pair: pairTestOf(expr, slotOf),
      computed: computedTestOf(expr, slotOf),
      isImplied: !whole.includes(expr),
    };
  });
  const mayFail =
    conjuncts.some(({ test, pair }) => pair === null && !test?.entries && !test?.bounds) ||
    conditions.some((expr) => someExpr(expr, ({ kind }) => kind === "subquery"));
  const tested = new Set(conjuncts.flatMap(({ slots, slot }) => (slot < 0 ? slots : [slot, ...slots])));
  return { conjuncts, tested, mayFail };
}

/** Of more, asking each value of a column would take as long as asking the rows. */
const ARMS_MAX = 16;

/**
 * What an OR over several columns asks of single ones, as tests of columns that come first and leave it few rows:
 *
 *   (a = 1 AND b < 5) OR (a = 2 AND c)   ⇒   a = 1 OR a = 2
 */
function weakerTests(expr: Expr): readonly Expr[] {
  if (expr.kind !== "or" || expr.args.length > ARMS_MAX) return [];
  const columns = columnsOf(expr);
  if (columns.size < 2) return [];
  const arms = expr.args.map((arm) => conjunctsOf(arm));
  const weaker: Expr[] = [];
  for (const id of columns) {
    const parts = arms.map((arm) => arm.filter((part) => isOnlyOver(part, id)));
    if (parts.some((part) => part.length === 0)) continue;
    const test: Expr = { kind: "or", type: BOOL, args: parts.map((part) => andOf(part)!) };
    if (vectorTestOf(test)?.entries) weaker.push(test);
  }
  return weaker;
}

function isOnlyOver(expr: Expr, id: ColumnId): boolean {
  const columns = columnsOf(expr);
  return columns.size === 1 && columns.has(id);
}

function conjunctsOf(filter: Expr | null): readonly Expr[] {
  if (filter === null) return [];
  return filter.kind === "and" ? filter.args.flatMap(conjunctsOf) : [filter];
}

/** The least and the greatest value of each column, as two rows; null: they are not known without reading pages. */
export function segmentExtremes(segment: Segment, { source, records }: SegmentScanProgram): NumberColumn[] | null {
  if (segment.stored === null || records === null) return null;
  const columns: NumberColumn[] = [];
  for (const [slot, id] of source.entries()) {
    const known = segment.known(id);
    if (known === null || known.hasNaN) return null;
    const { min, max } = known;
    // Of -0 and 0, which are equal, a file only knows 0.
    if (records.types[slot]!.name.startsWith("float") && (min === 0 || max === 0)) return null;
    const nulls = min > max ? new Uint8Array([1, 1]) : null;
    columns.push({ ...known, data: Float64Array.of(min, max), nulls });
  }
  return columns;
}

/** `tested`: slots whose columns are needed to tell whether a row passes. */
export function pieceProgramOf({ source, records }: SegmentScanProgram, tested: ReadonlySet<number>): PieceProgram {
  const { layout, types, decode } = records!;
  const slots = source.flatMap((id, slot) => (id === ROW_KEYS ? [] : [slot]));
  if (tested.size === 0 || tested.size === source.length) return { types, first: { slots, decode }, rest: null };
  const part = (isTested: boolean) => {
    const some = slots.filter((slot) => tested.has(slot) === isTested);
    return {
      slots: some,
      decode: decoderOf(
        layout,
        some.map((slot) => source[slot]!),
      ),
    };
  };
  return { types, first: part(true), rest: part(false) };
}

/** No more is asked than how many rows there are. */
export function isCountOnly({ source, conjuncts, records }: SegmentScanProgram): boolean {
  return source.length === 0 && conjuncts.length === 0 && records !== null;
}
