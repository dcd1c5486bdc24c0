/**
 * A scan whose rows are to be changed: it gives their keys as a last column. The key of a row in a table with a
 * primary key is encoded from its values, so the scan beneath need not read keys; without one, the scan beneath gives
 * them. Where column segments have the columns of the filter but not all that are wanted, the records of the rows that
 * pass are looked up. Scans with conditions on keys are left to scan.ts.
 */
import { beginKey } from "../../storage/key-codec.js";
import { copyKey } from "../../storage/key-writer.js";
import type { RecordDecoder } from "../../storage/record-codec.js";
import type { Value } from "../../values/values.js";
import type { Batch } from "../expr/expr.js";
import { columnsOf, isVolatile } from "../expr/walk.js";
import { newColumnId } from "../optimize/new-column-id.js";
import type { OutputColumn, ScanPlan } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { type Open, type Operator, type Pulled, pull } from "./operator.js";
import { emptyColumns } from "./row-buffer.js";
import { compileScan, compileStretchScan, type OpenStretch, type Stretch } from "./scan.js";
import { valuesOfBatch } from "./segments/chunk.js";
import { decoderOf, type KeyLayout, layoutOf, type TableLayout } from "./table-layout.js";

interface KeyedScan {
  readonly layout: TableLayout;
  /** Null: the scan beneath gives the keys behind its columns. */
  readonly primaryKey: KeyLayout | null;
  /** Columns that are given besides the key. */
  readonly width: number;
  /** Slots of the primary key's columns in the rows of the scan beneath. */
  readonly places: readonly number[];
  /** Of the columns that are given; null: the rows have them already. */
  readonly decode: RecordDecoder | null;
}

/** A scan beneath, the ids of the table's columns that it reads, and what is made of its rows. */
interface Source extends KeyedScan {
  readonly open: OpenStretch;
  readonly ids: readonly number[];
}

/** What a plan's rows are read from. */
interface Sources {
  readonly whole: Source;
  /** With the filter's columns only; null: there are none, or each row is to be asked about. */
  readonly filtering: Source | null;
}

export function compileKeyedScan(plan: ScanPlan): Open {
  const sources = compileSources(plan);
  if (sources === null) return compileScan(plan);
  const { whole } = sources;
  return (context) =>
    openHeld(sources, context, null) ??
    // Segments of a table that is about to change would not be worth their making.
    new KeyedScanOperator(whole, whole.open({ ...context, segments: null }, null), context);
}

/** The same for a long range of the primary key (index-scan.ts); the scan is null where segments lack columns. */
export function compileKeyedStretch(
  plan: ScanPlan,
): ((context: ExecContext, stretch: Stretch) => Operator | null) | null {
  const sources = compileSources(plan);
  return sources === null ? null : (context, stretch) => openHeld(sources, context, stretch);
}

/** Null: keys are to be read. */
function compileSources(plan: ScanPlan): Sources | null {
  const layout = layoutOf(plan.table);
  const { primaryKey } = layout;
  const { filter, rowKey } = plan;
  if (rowKey === null || plan.reverse) return null;
  // A condition on ctid reads the key itself.
  if (filter !== null && columnsOf(filter).has(rowKey)) return null;
  const slots = plan.source.map((_, slot) => slot);
  const whole = sourceOf(plan, layout, primaryKey, slots);
  if (filter === null || isVolatile(filter)) return { whole, filtering: null };
  const read = columnsOf(filter);
  const filtered = slots.filter((slot) => read.has(plan.columns[slot]!.id));
  return { whole, filtering: sourceOf(plan, layout, primaryKey, filtered) };
}

function openHeld({ whole, filtering }: Sources, context: ExecContext, stretch: Stretch | null): Operator | null {
  const source = [whole, filtering].find((one) => one !== null && isHeld(one, context)) ?? null;
  return source === null ? null : new KeyedScanOperator(source, source.open(context, stretch), context);
}

/** Reads the plan's columns in those slots, and the primary key's or the keys. */
function sourceOf(plan: ScanPlan, layout: TableLayout, primaryKey: KeyLayout | null, slots: readonly number[]): Source {
  const columns: OutputColumn[] = slots.map((slot) => plan.columns[slot]!);
  const ids = slots.map((slot) => plan.source[slot]!);
  const keyIds = primaryKey?.columnIds ?? [];
  for (const id of keyIds) {
    if (ids.includes(id)) continue;
    ids.push(id);
    const { name, type } = layout.table.columns.find((column) => column.id === id)!;
    columns.push({ id: newColumnId(), name, type, nullable: false });
  }
  if (primaryKey === null) columns.push(plan.columns.at(-1)!);
  const { nearest: _, ...scan } = plan;
  const isWhole = slots.length === plan.source.length;
  return {
    open: compileStretchScan({ ...scan, columns, source: ids, rowKey: primaryKey === null ? plan.rowKey : null }),
    ids,
    layout,
    primaryKey,
    width: plan.source.length,
    places: keyIds.map((id) => ids.indexOf(id)),
    decode: isWhole ? null : decoderOf(layout, plan.source),
  };
}

/** Whether column segments have all columns that the scan beneath reads. */
function isHeld({ layout, ids }: Source, { segments, tenantNumber }: ExecContext): boolean {
  const held = segments?.find(tenantNumber, layout, []) ?? null;
  return held !== null && held.segments.length > 0 && ids.every((id) => held.holds(layout, id) === "yes");
}

const SLAB_BYTES = 16 * 1024;

class KeyedScanOperator implements Operator {
  private readonly prefix: Buffer;
  /** A row of the scan beneath. */
  private readonly row: Value[] = [];
  private slab = Buffer.alloc(0);
  private used = 0;
  private areKeysLeftOut = false;

  constructor(
    private readonly scan: KeyedScan,
    private readonly input: Operator,
    private readonly context: ExecContext,
  ) {
    this.prefix = scan.layout.rowPrefixOf(context.tenantNumber);
  }

  /** Chunks come once keys are left out. */
  acceptChunks(): void {
    if (this.mayLeaveOutKeys) this.input.acceptChunks?.();
  }

  private get mayLeaveOutKeys(): boolean {
    return this.scan.primaryKey !== null && this.scan.decode === null;
  }

  leaveOutKeys(): readonly number[] | null {
    const { places } = this.scan;
    if (!this.mayLeaveOutKeys) return null;
    this.areKeysLeftOut = true;
    return places;
  }

  next(): Pulled {
    return pull(this.input, (batch) => (batch === null ? null : this.keyed(batch)));
  }

  /** Undefined: nothing is left of the batch. */
  private keyed(some: Batch): Batch | undefined {
    if (this.areKeysLeftOut) return some;
    const batch = valuesOfBatch(some);
    const { width, decode, primaryKey } = this.scan;
    const keys =
      primaryKey === null
        ? (batch.columns.at(-1) as Uint8Array[]).slice(0, batch.length)
        : this.keysOf(batch, primaryKey);
    return decode === null
      ? { columns: [...batch.columns.slice(0, width), keys], length: batch.length }
      : this.lookedUp(keys, decode);
  }

  /** The scan beneath has counted all rows as read. */
  private lookedUp(keys: readonly Uint8Array[], decode: RecordDecoder): Batch | undefined {
    const { tx } = this.context;
    const columns = emptyColumns(this.scan.width);
    const found: Uint8Array[] = [];
    const records = tx.unread(() => tx.getMany(keys));
    for (let i = 0; i < keys.length; i++) {
      const record = records[i];
      if (record === undefined) continue;
      decode(record, columns, found.length);
      found.push(keys[i]!);
    }
    return found.length === 0 ? undefined : { columns: [...columns, found], length: found.length };
  }

  private keysOf(batch: Batch, primaryKey: KeyLayout): Uint8Array[] {
    const keys = new Array<Uint8Array>(batch.length);
    for (let row = 0; row < batch.length; row++) keys[row] = this.keyOf(batch, row, primaryKey);
    return keys;
  }

  private keyOf({ columns }: Batch, number: number, primaryKey: KeyLayout): Uint8Array {
    const { row, prefix, scan } = this;
    for (const place of scan.places) row[place] = columns[place]![number]!;
    const length = beginKey(prefix, primaryKey.columns, row, scan.places);
    if (this.used + length > this.slab.length) {
      this.slab = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, length));
      this.used = 0;
    }
    const { slab, used } = this;
    copyKey(0, length, slab, used);
    this.used += length;
    return new Uint8Array(slab.buffer, used, length);
  }

  close(): void {
    this.input.close();
  }
}
