/**
 * A table's rows in the order of an index, kept in memory for a statement that looks up so many of its keys that one
 * pass over the table costs less (an eager index spool; Graefe, "Query Evaluation Techniques for Large Databases", ACM
 * Computing Surveys 1993, calls it a temporary index). The rows come from column segments, which see what the
 * statement sees. Only over keys that are numbers. It is made bit by bit beside the lookups, as the expressions that
 * look up cannot wait. Used by index-scan.ts; owned by the statement.
 */
import { newColumnId } from "../optimize/new-column-id.js";
import type { IndexScanPlan, OutputColumn, ScanPlan } from "../plan/plan.js";
import { AroundOperator } from "./around-operator.js";
import type { ExecContext, KeptForLookups } from "./context.js";
import { type KeptRows, type KeptRowsProgram, keepRows } from "./kept-rows.js";
import type { KeyRangesProgram } from "./key-ranges.js";
import type { Open, Operator, Pulled } from "./operator.js";
import { compileScan } from "./scan.js";
import { chunkOf } from "./segments/chunk.js";
import { holdsNumbers, isLookedUp } from "./segments/column.js";
import { ColumnBuffer } from "./segments/column-buffer.js";
import { type KeyLayout, layoutOf, type TableLayout } from "./table-layout.js";

export interface IndexSpoolProgram extends KeptRowsProgram {
  readonly layout: TableLayout;
  /** The columns that are kept: those of the index scan, and what else the key has. */
  readonly ids: readonly number[];
  readonly outputs: readonly OutputColumn[];
  readonly scan: Open;
}

/** Null: the scan is of another kind. */
export function compileIndexSpool(
  plan: IndexScanPlan,
  key: KeyLayout,
  ranges: KeyRangesProgram,
): IndexSpoolProgram | null {
  const layout = layoutOf(plan.table);
  const isByNumbers = key.columns.every(({ type }) => holdsNumbers(type) && type.name !== "numeric");
  if (key === layout.primaryKey || key.computed || !isByNumbers || plan.rowKey !== null) return null;
  if (plan.keySets !== null || plan.isNull === true || plan.labels !== undefined) return null;
  if (plan.prefix.length === 0 && plan.lower === null && plan.upper === null) return null;
  if (!plan.columns.every(({ type }) => isLookedUp(type))) return null;
  const ids = [...plan.source];
  const outputs = [...plan.columns];
  for (const [i, id] of key.columnIds.entries()) {
    if (ids.includes(id)) continue;
    ids.push(id);
    outputs.push({ id: newColumnId(), name: key.columnNames[i]!, type: key.columns[i]!.type, nullable: true });
  }
  const { table, alias } = plan;
  const scan: ScanPlan = {
    kind: "scan",
    table,
    alias,
    source: ids,
    columns: outputs,
    filter: null,
    reverse: false,
    rowKey: null,
  };
  const keySlots = key.columnIds.map((id) => ids.indexOf(id));
  return { layout, ids, outputs, scan: compileScan(scan), key, keySlots, ranges };
}

/** Rows that are kept in the time of one lookup, and rows that a lookup reads in the time of another one. */
const ROWS_PER_LOOKUP = 512;
const ROWS_LIKE_A_LOOKUP = 16;
/** Lookups between two looks whether the pass is worth it. */
const LOOKUPS_BETWEEN = 32;
/** Milliseconds that a lookup works on it. */
const LOOKUP_MS_MAX = 0.5;
/** Bytes of a row, beside its columns: its key twice, and its place. */
const KEY_BYTES = 16;
const PLACE_BYTES = 16;
const COLUMN_BYTES = 12;
/** Part of the statement's memory that it may take, with what others have. */
const MEMORY_SHARE = 0.4;

/** Null: the run is no lookup, or it sees what the statement writes. */
export function spoolOf(program: IndexSpoolProgram, context: ExecContext): IndexSpool | null {
  const { statement, outer, segments, graphWriter, edgeSources } = context;
  if (outer === null || segments === null || graphWriter !== undefined || edgeSources !== undefined) return null;
  statement.indexSpools ??= new Map();
  let spool = statement.indexSpools.get(program) as IndexSpool | undefined;
  if (spool === undefined) {
    spool = new IndexSpool(program, context);
    statement.indexSpools.set(program, spool);
  }
  return spool;
}

/** Ends what was begun for lookups when the statement ends. */
export function withoutSpoolsAtEnd(open: Open): Open {
  return (context) => new ForgettingOperator(open(context), context);
}

class ForgettingOperator extends AroundOperator {
  constructor(
    operator: Operator,
    private readonly context: ExecContext,
  ) {
    super(operator);
  }

  next(): Pulled {
    return this.operator.next();
  }

  override close(): void {
    this.operator.close();
    this.context.statement.forgetRead();
  }
}

/** Of one index scan in one statement. */
export class IndexSpool implements KeptForLookups {
  private lookups = 0;
  /** Of all of them, each of few rows as one. */
  private cost = 0;
  private nextLook = 0;
  private steps: Iterator<undefined, KeptRows | null> | null = null;
  private kept: KeptRows | null = null;
  private isOff = false;
  private bytes = 0;

  constructor(
    private readonly program: IndexSpoolProgram,
    private readonly context: ExecContext,
  ) {}

  /** The rows, if they are all there: counts a lookup, and goes on making them. */
  lookUp(): KeptRows | null {
    if (this.kept !== null || this.isOff) return this.kept;
    this.lookups++;
    this.cost++;
    if (this.steps === null && !this.begin()) return null;
    const end = performance.now() + LOOKUP_MS_MAX;
    for (let step = this.steps!.next(); ; step = this.steps!.next()) {
      if (step.done !== true) {
        if (performance.now() < end) continue;
        return null;
      }
      this.kept = step.value;
      if (this.kept === null) this.stop();
      return this.kept;
    }
  }

  /** That many rows were read from records. */
  noteRead(rows: number): void {
    this.cost += rows / ROWS_LIKE_A_LOOKUP;
  }

  /** Nobody looks up any more, or rows may have changed. */
  readonly stop = (): void => {
    this.isOff = true;
    this.kept = null;
    this.steps?.return?.();
    this.steps = null;
    this.context.statement.canRelease.delete(this.stop);
    this.context.statement.release(this.bytes);
    this.bytes = 0;
  };

  private begin(): boolean {
    const { context, program } = this;
    const { segments, tenantNumber, statement } = context;
    if (this.lookups < this.nextLook) return false;
    this.nextLook = this.lookups + Math.min(LOOKUPS_BETWEEN, segments!.sizes.lookupsBefore);
    const table = segments?.find(tenantNumber, program.layout, program.ids) ?? null;
    const isHeld = table !== null && program.ids.every((id) => table.holds(program.layout, id) === "yes");
    if (!isHeld) return false;
    const { rows } = table;
    const coming = statement.rowsAtWork * (this.cost / this.lookups);
    if ((this.cost + coming) * ROWS_PER_LOOKUP < rows) return false;
    if (statement.memoryBytes + rows * bytesPerRow(program) > MEMORY_SHARE * statement.memoryBytesMax) {
      this.isOff = true;
      return false;
    }
    statement.canRelease.add(this.stop);
    this.steps = this.make(rows);
    return true;
  }

  /** Null: it cannot be made. `expected`: about how many rows there are. */
  private *make(expected: number): Generator<undefined, KeptRows | null> {
    const { program, context } = this;
    const { keySlots, outputs } = program;
    const { statement } = context;
    const rows = new ColumnBuffer(outputs, context, expected);
    const input = program.scan({ ...context, ...IN_STEPS });
    input.acceptChunks?.();
    let isPending = false;
    try {
      for (let batch = input.next(); batch !== null; batch = input.next()) {
        if (batch instanceof Promise) {
          // The segments are not at hand.
          isPending = true;
          const close = (): void => input.close();
          batch.then(close, close);
          return null;
        }
        const chunk = chunkOf(batch);
        rows.append(chunk);
        this.reserve(chunk.length * (KEY_BYTES * keySlots.length + PLACE_BYTES));
        if (statement.memoryBytes > MEMORY_SHARE * statement.memoryBytesMax) return null;
        yield;
      }
      while (!rows.settle()) yield;
      return yield* keepRows(program, rows.vectors(), rows.length);
    } finally {
      this.bytes += rows.bytes;
      if (!isPending) input.close();
    }
  }

  private reserve(bytes: number): void {
    this.bytes += bytes;
    this.context.statement.reserve(bytes);
  }
}

/** Each lookup lets it do one step, and looks at the clock by itself. */
const IN_STEPS = { outer: null, checkpoint: () => undefined, shouldYield: () => false };

function bytesPerRow({ outputs, keySlots }: IndexSpoolProgram): number {
  return COLUMN_BYTES * outputs.length + KEY_BYTES * keySlots.length + PLACE_BYTES;
}
