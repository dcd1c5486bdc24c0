/**
 * DELETE. The input is read to its end before anything is removed; a row that it gives twice is removed once. Keys of
 * many rows go into a load as the rows come, because nobody sees a load before it is attached at the end.
 */

import type { SlotOf } from "../expr/compile.js";
import type { Batch } from "../expr/expr.js";
import type { DeletePlan } from "../plan/change-plans.js";
import type { OutputColumn } from "../plan/plan.js";
import { BULK_ROWS } from "./bulk-writer.js";
import { RowsChangedOnce } from "./changed-once.js";
import { ChunkRemovals, REMOVED_ROWS } from "./chunk-removals.js";
import type { ExecContext } from "./context.js";
import { compileFamily, Family, type FamilyProgram } from "./family.js";
import { compileInsteadOf } from "./instead-of.js";
import { after, drain, inOrder, inTurns, type Open, type Operator } from "./operator.js";
import { type ChangedRows, compileReturning, modifying } from "./returning.js";
import { RowBuffer } from "./row-buffer.js";
import { RowsForLoad } from "./rows-for-load.js";
import { Chunk, valuesOfBatch } from "./segments/chunk.js";
import { slotsOf } from "./slots.js";
import { writingContext } from "./statement-snapshot.js";
import { layoutOf } from "./table-layout.js";
import { emptyRow, type Row, TableWriter } from "./table-writer.js";
import { compileTriggeredDelete } from "./triggered-delete.js";
import { isTriggered } from "./triggered-rows.js";

interface DeleteProgram {
  readonly plan: DeletePlan;
  readonly columnIds: readonly number[];
  /** Per live column, where the input has its value. */
  readonly oldSlots: readonly number[];
  readonly rowKeySlot: number;
  /** Ids of the primary key's columns, in its order. */
  readonly keyIds: readonly number[];
  /** Null: all rows are the table's own. */
  readonly family: FamilyProgram | null;
}

export function compileDelete(plan: DeletePlan, input: Open): Open {
  const slotOf = slotsOf(plan.input.columns);
  const program: DeleteProgram = {
    plan,
    columnIds: plan.table.columns.map((column) => column.id),
    oldSlots: plan.oldColumns.map((column) => slotOf(column.id)),
    rowKeySlot: slotOf(plan.rowKey),
    keyIds: layoutOf(plan.table).primaryKey?.columnIds ?? [],
    family: plan.heirs === undefined ? null : compileFamily(plan.heirs),
  };
  const returning = compileReturning(plan.returning, returningSlots(plan.returning?.rowColumns ?? [], program, slotOf));
  if (plan.instead) return compileInsteadOf(plan, returning, input);
  if (isTriggered(plan)) return compileTriggeredDelete(plan, returning, input);
  return modifying(input, returning, (operator, context) => new Deleter(program, operator, context));
}

/** RETURNING reads the input's columns; its row columns are the table's, in the same order as the old ones. */
function returningSlots(rowColumns: readonly OutputColumn[], program: DeleteProgram, slotOf: SlotOf): SlotOf {
  return (id) => {
    const slot = slotOf(id);
    return slot >= 0 ? slot : (program.oldSlots[rowColumns.findIndex((column) => column.id === id)] ?? -1);
  };
}

class Deleter {
  private readonly rows: RowBuffer;
  /** The rows that are being removed. */
  private source: Batch;
  private readonly writer: TableWriter;
  private readonly family: Family | null;
  private readonly row: Row;
  private readonly changed: number[] = [];
  private readonly once: RowsChangedOnce;
  private readonly incoming: RowsForLoad;
  /** By column of the primary key: where batches that go into the load have its values; null: they have keys. */
  private keySlots: readonly number[] | null = null;
  /** Takes chunks of them; null: their rows are taken one by one. */
  private chunks: ChunkRemovals | null = null;

  constructor(
    private readonly program: DeleteProgram,
    private readonly input: Operator,
    private readonly context: ExecContext,
  ) {
    this.rows = new RowBuffer(program.plan.input.columns, context);
    this.source = this.rows;
    this.writer = new TableWriter(program.plan.table, writingContext(context));
    this.family = program.family === null ? null : new Family(program.family, context);
    this.row = emptyRow(program.plan.table);
    this.once = new RowsChangedOnce(program.plan.input, context);
    this.incoming = new RowsForLoad(
      this.rows,
      program.plan.returning === null && context.live === undefined && this.family === null,
      () => this.beginLoad(),
      (batch) => this.load(batch),
    );
    if (this.once.takesAll) input.acceptChunks?.();
  }

  run(): ChangedRows | Promise<ChangedRows> {
    const { rows, context, incoming } = this;
    return drain(
      this.input,
      (batch) => incoming.take(incoming.loaded === null ? valuesOfBatch(batch) : batch),
      () => {
        if (incoming.loaded !== null) {
          const result: ChangedRows = { columns: [], rows: [], count: incoming.loaded };
          return after(this.writer.endChanges(), () => result);
        }
        if (rows.length >= BULK_ROWS && this.family === null) this.writer.beginRemovals();
        return inTurns(context, rows.length, this.remove, () =>
          after(this.writer.endChanges(), () => ({ columns: rows.columns, rows: this.changed })),
        );
      },
    );
  }

  private beginLoad(): boolean {
    const changes = this.writer.beginRemovals();
    if (changes === null) return false;
    if (!this.once.takesAll) return true;
    const keySlots = this.input.leaveOutKeys?.() ?? null;
    if (keySlots === null) return true;
    const { keyIds, columnIds, oldSlots, plan } = this.program;
    const slotOf = (id: number) => keySlots[keyIds.indexOf(id)] ?? oldSlots[columnIds.indexOf(id)]!;
    this.keySlots = keySlots;
    this.chunks = ChunkRemovals.of(layoutOf(plan.table), this.context.tenantNumber, changes, slotOf);
    return true;
  }

  private load(batch: Batch): void | Promise<void> {
    if (batch instanceof Chunk && this.chunks !== null) return this.loadChunk(batch, this.chunks);
    return this.loadRows(batch);
  }

  private loadRows(batch: Batch): void | Promise<void> {
    this.source = valuesOfBatch(batch);
    const remove = this.keySlots === null || batch === this.rows ? this.remove : this.removeUnkeyed;
    return inTurns(this.context, batch.length, remove, () => this.incoming.count(this.changed));
  }

  private loadChunk(chunk: Chunk, chunks: ChunkRemovals): void | Promise<void> {
    const load = (group: number): void | Promise<void> => {
      const from = group * REMOVED_ROWS;
      const count = Math.min(REMOVED_ROWS, chunk.length - from);
      if (chunks.take(chunk, from, count)) this.incoming.countRows(count);
      else return this.loadRows(chunk.slice(from, count));
    };
    return inOrder(this.context, Math.ceil(chunk.length / REMOVED_ROWS), load, () => undefined);
  }

  release(): void {
    this.rows.release();
  }

  private readonly remove = (number: number): void => {
    const { source, program } = this;
    const key = source.columns[program.rowKeySlot]![number] as Uint8Array | null;
    if (key === null || !this.once.takes(key)) return;
    this.changed.push(number);
    if (this.family !== null) {
      const { writer } = this.family.of(key);
      writer.remove(key, writer.read(key));
      return;
    }
    this.fillRow(number);
    this.writer.remove(key, this.row);
  };

  private readonly removeUnkeyed = (number: number): void => {
    const { source, row, program, keySlots } = this;
    const { keyIds } = program;
    this.changed.push(number);
    this.fillRow(number);
    for (let k = 0; k < keyIds.length; k++) row[keyIds[k]!] = source.columns[keySlots![k]!]![number]!;
    this.writer.removeInLoad(null, row);
  };

  /** Columns that neither an index nor RETURNING needs are not in the input. */
  private fillRow(number: number): void {
    const { source, row, program } = this;
    const { columnIds, oldSlots } = program;
    for (let c = 0; c < columnIds.length; c++) {
      if (oldSlots[c]! >= 0) row[columnIds[c]!] = source.columns[oldSlots[c]!]![number]!;
    }
  }
}
