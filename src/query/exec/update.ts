/**
 * UPDATE. The input is read to its end before anything is written, so the statement does not see its own changes;
 * then stale keys of all rows go before new ones come, so unique keys may be swapped or shifted by one statement.
 * Changes of many rows go into loads as the rows come, because nobody sees a load before it is attached at the end.
 * A row that the input gives several times (UPDATE … FROM) is changed once, by the first.
 */

import type { Value } from "../../values/values.js";
import { compileExpr } from "../expr/compile.js";
import type { Batch, Evaluate } from "../expr/expr.js";
import type { UpdatePlan } from "../plan/change-plans.js";
import { BULK_ROWS } from "./bulk-writer.js";
import type { Move } from "./changed-entries.js";
import { RowsChangedOnce } from "./changed-once.js";
import { checkRow } from "./check-row.js";
import { ChunkUpdates } from "./chunk-updates.js";
import type { ExecContext } from "./context.js";
import { compileInsteadOf } from "./instead-of.js";
import { after, drain, type Open, type Operator, storeInTurns } from "./operator.js";
import { belongs, compileRoutes, type RouteProgram } from "./partition-router.js";
import { type ChangedRows, compileReturning, modifying, type ReturningProgram } from "./returning.js";
import { emptyColumns, RowBuffer } from "./row-buffer.js";
import { compileChecks, type RowCheck } from "./row-checks.js";
import { RowsForLoad } from "./rows-for-load.js";
import { Chunk, valuesOfBatch } from "./segments/chunk.js";
import { slotsOf } from "./slots.js";
import { writingContext } from "./statement-snapshot.js";
import type { KeyLayout } from "./table-layout.js";
import { assignedColumns, emptyRow, type Row, TableWriter } from "./table-writer.js";
import { isTriggered } from "./triggered-rows.js";
import { compileTriggeredUpdate } from "./triggered-update.js";
import { compileFamilyUpdate } from "./update-family.js";

interface UpdateProgram {
  readonly plan: UpdatePlan;
  readonly columnIds: readonly number[];
  /** Per live column, where the input has its old value. */
  readonly oldSlots: readonly number[];
  readonly rowKeySlot: number;
  /** Per live column its new value, or null when it keeps the old one. */
  readonly newValues: readonly (Evaluate | null)[];
  /** Places of generated columns among the live ones. */
  readonly generated: readonly number[];
  readonly assigned: ReadonlySet<number>;
  readonly checks: readonly RowCheck[];
  readonly routes: RouteProgram;
}

export function compileUpdate(plan: UpdatePlan, input: Open): Open {
  if (plan.instead) return compileInsteadOf(plan, compileUpdateReturning(plan), input);
  if (isTriggered(plan)) return compileTriggeredUpdate(plan, input);
  if (plan.heirs !== undefined) return compileFamilyUpdate(plan, plan.heirs, input);
  const slotOf = slotsOf(plan.input.columns);
  const columnIds = plan.table.columns.map((column) => column.id);
  const program: UpdateProgram = {
    plan,
    columnIds,
    oldSlots: plan.oldColumns.map((column) => slotOf(column.id)),
    rowKeySlot: slotOf(plan.rowKey),
    newValues: columnIds.map((id) => {
      const assignment = plan.assignments.find(({ columnId }) => columnId === id);
      return assignment === undefined ? null : compileExpr(assignment.expr, slotOf);
    }),
    generated: plan.table.columns.flatMap((column, i) => (column.generatedSql ? [i] : [])),
    assigned: assignedColumns(plan.table, plan.assignments),
    checks: compileChecks(plan.checks, slotsOf(plan.rowColumns)),
    routes: compileRoutes(plan.partitions, plan.membership, slotsOf(plan.rowColumns)),
  };
  const returning = compileUpdateReturning(plan);
  return modifying(input, returning, (operator, context) => new Updater(program, operator, context));
}

/** RETURNING sees the new row first, then whatever else the input has (FROM). */
function compileUpdateReturning({ returning, input }: UpdatePlan): ReturningProgram | null {
  return compileReturning(returning, slotsOf([...(returning?.rowColumns ?? []), ...input.columns]));
}

class Updater {
  private readonly rows: RowBuffer;
  /** The rows that are being changed. */
  private source: Batch;
  private readonly writer: TableWriter;
  /** New values by live column, parallel to the input's rows. */
  private readonly newColumns: Value[][];
  private readonly changed: number[] = [];
  private readonly moves: Move[] = [];
  private readonly once: RowsChangedOnce;
  private readonly incoming: RowsForLoad;
  private readonly oldRow: Row;
  private readonly newRow: Row;
  /** Of rows that chunks of the input may be changed of; null: they are changed one by one. */
  private readonly primaryKey: KeyLayout | null;
  /** Changes chunks of the input, which have no keys from then on; null: they have. */
  private chunks: ChunkUpdates | null = null;

  constructor(
    private readonly program: UpdateProgram,
    private readonly input: Operator,
    private readonly context: ExecContext,
  ) {
    const { plan } = program;
    this.rows = new RowBuffer(plan.input.columns, context);
    this.source = this.rows;
    this.writer = new TableWriter(plan.table, writingContext(context));
    this.newColumns = emptyColumns(program.columnIds.length);
    this.oldRow = emptyRow(plan.table);
    this.newRow = emptyRow(plan.table);
    this.once = new RowsChangedOnce(plan.input, context);
    this.incoming = new RowsForLoad(
      this.rows,
      plan.returning === null && context.live === undefined,
      () => this.beginLoad(),
      (batch) => this.load(batch),
    );
    this.primaryKey = this.once.takesAll ? ChunkUpdates.keyOf(program) : null;
    if (this.primaryKey !== null) input.acceptChunks?.();
  }

  run(): ChangedRows | Promise<ChangedRows> {
    const { rows, context, writer, program, incoming } = this;
    return drain(
      this.input,
      (batch) => incoming.take(incoming.loaded === null ? valuesOfBatch(batch) : batch),
      () => {
        if (incoming.loaded !== null) {
          const result: ChangedRows = { columns: [], rows: [], count: incoming.loaded };
          return after(writer.endChanges(program.assigned), () => result);
        }
        const result: ChangedRows = { columns: [...this.newColumns, ...rows.columns], rows: this.changed };
        return storeInTurns(context, rows.length, this.evaluate, () => this.inNextTurn(() => this.write(result)));
      },
    );
  }

  private beginLoad(): boolean {
    const changes = this.writer.beginChanges();
    const keySlots = changes === null || this.primaryKey === null ? null : (this.input.leaveOutKeys?.() ?? null);
    if (keySlots !== null) {
      const refuse = (chunk: Chunk, row: number) => this.refuseNull(chunk, row);
      this.chunks = new ChunkUpdates(this.program, this.primaryKey!, keySlots, changes!, this.context, refuse);
    }
    return changes !== null;
  }

  private load(batch: Batch): void | Promise<void> {
    const { chunks } = this;
    if (chunks === null || !(batch instanceof Chunk)) return this.loadRows(valuesOfBatch(batch));
    return this.loadChunk(batch, chunks, 0);
  }

  private loadChunk(chunk: Chunk, chunks: ChunkUpdates, from: number): void | Promise<void> {
    const { context, incoming } = this;
    for (let at = from; at < chunk.length; ) {
      const count = chunks.take(chunk, at);
      incoming.countRows(count);
      at += count;
      context.checkpoint();
      if (context.shouldYield()) return context.yieldTurn().then(() => this.loadChunk(chunk, chunks, at));
    }
  }

  /** A column of the new row is NULL that must not be. */
  private refuseNull(chunk: Chunk, number: number): never {
    const { newRow, writer, program } = this;
    program.columnIds.forEach((id, c) => {
      newRow[id] = chunk.value(c, number);
    });
    writer.checkNotNull(newRow);
    throw new Error("no column of the row is NULL");
  }

  private loadRows(batch: Batch): void | Promise<void> {
    const { context, changed } = this;
    this.source = batch;
    return storeInTurns(context, batch.length, this.evaluate, () =>
      storeInTurns(context, changed.length, this.change, () => this.incoming.count(changed)),
    );
  }

  private write(result: ChangedRows): ChangedRows | Promise<ChangedRows> {
    const { context, changed, writer, program } = this;
    if (changed.length >= BULK_ROWS && writer.beginChanges()) {
      return storeInTurns(context, changed.length, this.change, () =>
        after(writer.endChanges(program.assigned), () => result),
      );
    }
    return storeInTurns(context, changed.length, this.takeOut, () =>
      this.inNextTurn(() => storeInTurns(context, changed.length, this.putBack, () => result)),
    );
  }

  /**
   * At once while the turn lasts. Few rows may have used it up: the step before takes milliseconds for a large
   * document.
   */
  private inNextTurn(next: () => ChangedRows | Promise<ChangedRows>): ChangedRows | Promise<ChangedRows> {
    const { context } = this;
    return context.shouldYield() ? context.yieldTurn().then(next) : next();
  }

  release(): void {
    this.rows.release();
  }

  /** Computes the row's new values and checks them, before anything of the statement is written. */
  private readonly evaluate = (number: number): void => {
    const { program, source, newColumns, newRow, writer, context } = this;
    const { columnIds, newValues, oldSlots } = program;
    for (let c = 0; c < columnIds.length; c++) {
      const evaluate = newValues[c]!;
      const value = evaluate === null ? source.columns[oldSlots[c]!]![number]! : evaluate(source, number, context);
      newColumns[c]![number] = value;
      newRow[columnIds[c]!] = value;
    }
    if (!this.isTaken(number)) return;
    if (program.generated.length > 0) {
      writer.generate(newRow);
      for (const c of program.generated) newColumns[c]![number] = newRow[columnIds[c]!]!;
    }
    const batch = { columns: newColumns, length: number + 1 };
    if (!belongs(program.routes, batch, number, context)) throw writer.partitionViolation(newRow);
    checkRow(writer, newRow, program.checks, batch, number, context);
    this.changed.push(number);
  };

  private isTaken(number: number): boolean {
    if (this.lacksKeys) return true;
    // An outer join may give rows of the target without a match of their own: they have no key.
    const key = this.source.columns[this.program.rowKeySlot]![number] as Uint8Array | null;
    return key !== null && this.once.takes(key);
  }

  private get lacksKeys(): boolean {
    return this.chunks !== null && this.source !== this.rows;
  }

  private readonly change = (i: number): void => {
    const number = this.changed[i]!;
    this.writer.change(this.keyOf(number), this.fillOldRow(number), this.fillNewRow(number), this.program.assigned);
  };

  private readonly takeOut = (i: number): void => {
    const number = this.changed[i]!;
    const key = this.keyOf(number);
    this.moves.push(this.writer.takeOut(key, this.fillOldRow(number), this.fillNewRow(number), this.program.assigned));
  };

  private keyOf(number: number): Uint8Array {
    if (this.lacksKeys) return this.writer.keyOfNewRow(this.fillOldRow(number));
    return this.source.columns[this.program.rowKeySlot]![number] as Uint8Array;
  }

  private fillOldRow(number: number): Row {
    const { program, source, oldRow } = this;
    const { columnIds, oldSlots } = program;
    for (let c = 0; c < columnIds.length; c++) oldRow[columnIds[c]!] = source.columns[oldSlots[c]!]![number]!;
    return oldRow;
  }

  private readonly putBack = (i: number): void => {
    const { program, source, changed } = this;
    const move = this.moves[i]!;
    this.writer.putBack(move, this.fillNewRow(changed[i]!), program.assigned);
    // For RETURNING: where the row is now.
    if (move.newKey !== move.oldKey) (source.columns[program.rowKeySlot] as Value[])[changed[i]!] = move.newKey;
  };

  private fillNewRow(number: number): Row {
    const { newRow, newColumns } = this;
    const { columnIds } = this.program;
    for (let c = 0; c < columnIds.length; c++) newRow[columnIds[c]!] = newColumns[c]![number]!;
    return newRow;
  }
}
