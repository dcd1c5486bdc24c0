/**
 * UPDATE of many rows that column segments have: records are made column by column, with the columns that the
 * statement does not assign as the segments have them. Only for rows whose keys and entries of indexes stay as they
 * are, and of which nobody asks more. Owned by one run of the statement.
 */
import { beginKey } from "../../storage/key-codec.js";
import type { SqlType, Value } from "../../values/values.js";
import type { Evaluate } from "../expr/expr.js";
import { columnsOf } from "../expr/walk.js";
import type { UpdatePlan } from "../plan/change-plans.js";
import type { BulkChanges } from "./bulk-changes.js";
import { touchesColumns } from "./changed-entries.js";
import { ChunkRecords, GROUP_ROWS } from "./chunk-records.js";
import type { ExecContext } from "./context.js";
import { ALL_ROWS, Chunk, plainColumn } from "./segments/chunk.js";
import type { Column } from "./segments/column.js";
import { type KeyLayout, layoutOf } from "./table-layout.js";

/**
 * When changing some rows took longer than this, half as many are changed next; when it took less than that, twice as
 * many. So new values that cost much leave the loop its turns.
 */
const ROWS_MS_MAX = 0.5;
const ROWS_MS_MIN = 0.2;
const ROWS_AT_FIRST = 8;

/** Types whose values are numbers, which need not be looked at one by one to be stored. */
const NUMBERS = new Set(["int2", "int4", "int8", "oid", "float8", "date", "time", "timestamp", "timestamptz"]);

/** What is known of the statement. */
interface UpdateOfTable {
  readonly plan: UpdatePlan;
  /** Of live columns. */
  readonly columnIds: readonly number[];
  /** By live column: where the input has its old value. */
  readonly oldSlots: readonly number[];
  /** By live column; null: it keeps the old value. */
  readonly newValues: readonly (Evaluate | null)[];
  readonly generated: readonly number[];
  readonly assigned: ReadonlySet<number>;
  readonly checks: readonly unknown[];
}

/** An assigned column's place among the live ones, and the type of its values. */
interface Assigned {
  readonly place: number;
  readonly type: SqlType;
  readonly isNotNull: boolean;
}

export class ChunkUpdates {
  private readonly records: ChunkRecords;
  private readonly assigned: readonly Assigned[];
  /** Slots of the chunks that new values are computed from. */
  private readonly read: readonly number[];
  private readonly prefix: Buffer;
  private readonly row: Value[] = [];
  /** Rows that are changed next, at most. */
  private rowsMax = ROWS_AT_FIRST;

  /**
   * @param keySlots where chunks have the primary key, in its order.
   * @param refuse throws for a row of the chunk with NULL where none may be.
   */
  constructor(
    private readonly program: UpdateOfTable,
    private readonly primaryKey: KeyLayout,
    private readonly keySlots: readonly number[],
    private readonly changes: BulkChanges,
    private readonly context: ExecContext,
    private readonly refuse: (chunk: Chunk, row: number) => never,
  ) {
    const { plan, columnIds, newValues, oldSlots } = program;
    const read = readBy(plan);
    const layout = layoutOf(plan.table);
    this.records = new ChunkRecords(layout, columnIds);
    this.prefix = layout.rowPrefixOf(context.tenantNumber);
    this.assigned = newValues.flatMap((evaluate, place) => {
      const id = columnIds[place]!;
      const isNotNull = layout.notNull.some((column) => column.id === id);
      return evaluate === null ? [] : [{ place, type: layout.types[id]!, isNotNull }];
    });
    this.read = plan.oldColumns.flatMap(({ id }, place) => (read.has(id) ? [oldSlots[place]!] : []));
  }

  /** Whether the statement is of that kind: then its primary key. */
  static keyOf({ plan, assigned, checks, generated }: UpdateOfTable): KeyLayout | null {
    const { table, returning, membership, partitions, oldColumns } = plan;
    const { primaryKey, indexes, computed } = layoutOf(table);
    if (primaryKey === null || computed || table.immutable) return null;
    if (table.foreignKeys !== undefined || table.referencedBy !== undefined) return null;
    if (returning !== null || membership !== undefined || partitions !== undefined) return null;
    if (checks.length > 0 || generated.length > 0) return null;
    if ([...readBy(plan)].some((read) => !oldColumns.some(({ id }) => id === read))) return null;
    return [primaryKey, ...indexes].some((key) => touchesColumns(key, assigned)) ? null : primaryKey;
  }

  /** Changes some rows of the chunk. Answers how many. */
  take(chunk: Chunk, from: number): number {
    const count = Math.min(this.rowsMax, chunk.length - from);
    const began = performance.now();
    this.change(chunk, from, count);
    const tookMs = performance.now() - began;
    if (tookMs > ROWS_MS_MAX) this.rowsMax = Math.max(1, this.rowsMax >>> 1);
    else if (tookMs < ROWS_MS_MIN) this.rowsMax = Math.min(GROUP_ROWS, 2 * this.rowsMax);
    return count;
  }

  private change(chunk: Chunk, from: number, count: number): void {
    const old = chunk.slice(from, count);
    const changed = this.changed(old);
    const failing = this.records.measure(changed, 0, count);
    if (failing !== -1) this.refuse(changed, failing);
    this.changes.putChunk(changed, this.records, count, (number) => this.beginKey(old, number));
  }

  private beginKey(chunk: Chunk, number: number): void {
    const { row, primaryKey, keySlots, prefix } = this;
    const { columnIds, columns } = primaryKey;
    for (let k = 0; k < keySlots.length; k++) row[columnIds[k]!] = chunk.value(keySlots[k]!, number);
    beginKey(prefix, columns, row, columnIds);
  }

  /** With the new values, which are computed row by row. */
  private changed(chunk: Chunk): Chunk {
    const { assigned, context } = this;
    const { newValues } = this.program;
    const source = chunk.only(this.read);
    const values = assigned.map(() => new Array<Value>(chunk.length));
    for (let row = 0; row < chunk.length; row++) {
      for (let a = 0; a < assigned.length; a++) values[a]![row] = newValues[assigned[a]!.place]!(source, row, context);
      // Before a later row fails.
      for (let a = 0; a < assigned.length; a++) {
        if (values[a]![row] === null && assigned[a]!.isNotNull) this.refuse(this.chunkOf(chunk, values), row);
      }
    }
    return this.chunkOf(chunk, values);
  }

  /** By place among the live columns. */
  private chunkOf(chunk: Chunk, values: readonly Value[][]): Chunk {
    const { oldSlots } = this.program;
    const vectors = oldSlots.map((slot) => chunk.vectors[slot]!);
    const selections = oldSlots.map((slot) => chunk.selections[slot]!);
    this.assigned.forEach(({ place, type }, a) => {
      vectors[place] = columnOfValues(type, values[a]!);
      selections[place] = ALL_ROWS;
    });
    return new Chunk(
      vectors,
      selections,
      chunk.length,
      vectors.map(() => []),
    );
  }
}

/** Ids of the input's columns that new values are computed from. */
const readBy = ({ assignments }: UpdatePlan): Set<number> =>
  new Set(assignments.flatMap(({ expr }) => [...columnsOf(expr)]));

/** Numbers in an array, if they are some. */
function columnOfValues(type: SqlType, values: readonly Value[]): Column {
  const { length } = values;
  if (!NUMBERS.has(type.name)) return plainColumn(values);
  const data = new Float64Array(length);
  let nulls: Uint8Array | null = null;
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let hasNaN = false;
  for (let i = 0; i < length; i++) {
    const value = values[i]!;
    if (typeof value === "number") {
      data[i] = value;
      if (value < min) min = value;
      if (value > max) max = value;
      if (Number.isNaN(value)) hasNaN = true;
    } else if (value === null) {
      nulls ??= new Uint8Array(length);
      nulls[i] = 1;
    } else return plainColumn(values);
  }
  return { kind: "number", data, nulls, min, max, hasNaN, scale: -1, bytes: data.byteLength };
}
