/**
 * INSERT, with ON CONFLICT and RETURNING. All input rows are read before the first is written, so INSERT … SELECT from
 * the same table does not meet its own rows.
 */

import { type DbError, sqlError } from "../../protocol/errors.js";
import type { Value } from "../../values/values.js";
import type { Batch } from "../expr/expr.js";
import { oidOfId } from "../expr/types.js";
import type { InsertPlan } from "../plan/change-plans.js";
import { BULK_ROWS, BulkWriter, type FindTable, requiresSingleRows } from "./bulk-writer.js";
import { checkRow } from "./check-row.js";
import { ChunkRecords, GROUP_ROWS } from "./chunk-records.js";
import { type ExecContext, storesAhead } from "./context.js";
import {
  type ConflictProgram,
  compileTarget,
  type InsertProgram,
  insertProgramOf,
  type TargetProgram,
} from "./insert-program.js";
import { compileInsteadOf } from "./instead-of.js";
import { after, drain, inOrder, inTurns, type Open, type Operator, storeInTurns } from "./operator.js";
import { belongs, findRoute, type RoutedTable, routeRow } from "./partition-router.js";
import { type ChangedRows, compileReturning, modifying } from "./returning.js";
import { RowBuffer } from "./row-buffer.js";
import { failedCheck, type RowCheck, requirePolicies } from "./row-checks.js";
import { Chunk, valuesOfBatch } from "./segments/chunk.js";
import { slotsOf } from "./slots.js";
import { writingContext } from "./statement-snapshot.js";
import { layoutOf } from "./table-layout.js";
import { fireBefore, movedByTrigger, noteAfter, type RowTriggers, StatementFiring } from "./table-triggers.js";
import { emptyRow, type Row, TableWriter } from "./table-writer.js";

export function compileInsert(plan: InsertPlan, input: Open): Open {
  const program = insertProgramOf(plan);
  const { rowColumns = [] } = plan.returning ?? {};
  const besides = [plan.tableOid, plan.rowKey, plan.wasThere].filter((id) => id !== undefined);
  const returning = compileReturning(plan.returning, (id) =>
    besides.includes(id) ? rowColumns.length + besides.indexOf(id) : slotsOf(rowColumns)(id),
  );
  if (plan.instead) return compileInsteadOf(plan, returning, input);
  return modifying(input, returning, (operator, context) => new Inserter(program, operator, context));
}

/** A table that takes rows of the statement: its own, or a partition of it. */
class Target {
  readonly writer: TableWriter;
  readonly row: Row;
  readonly program: TargetProgram;

  constructor(
    readonly routed: RoutedTable,
    program: InsertProgram,
    context: ExecContext,
  ) {
    const { table, columnIds } = routed;
    this.writer = new TableWriter(table, writingContext(context), columnIds);
    this.row = emptyRow(table);
    this.program = compileTarget(program, routed);
  }
}

export class Inserter {
  private readonly rows: RowBuffer;
  private readonly own: Target | null;
  private partitions: Map<RoutedTable, Target> | null = null;
  private readonly changed: number[] = [];
  /** Of partitioned tables: the OID of each row's partition, for RETURNING. */
  private readonly oids: Value[] | null;
  /** For RETURNING, of each row, where it asks for them: its key, and whether it was there before. */
  private readonly keys: Value[] | null;
  private readonly wereThere: Value[] | null;
  /** What takes the rows once they are many. */
  private bulk: BulkWriter | null = null;
  /** Makes records of chunks; null: rows are needed for more than their records and keys. */
  private readonly records: ChunkRecords | null = null;
  /** Slots of the columns that keys and entries are made of. */
  private keySlots: readonly number[] = [];
  /** The rows that go into the load. */
  private loading: Batch;
  private readonly findTable: FindTable = (id) => this.context.services.catalogView().tableById(id);
  /** Keys of rows that this statement wrote, as text; for ON CONFLICT DO UPDATE. */
  private written: Set<string> | null = null;
  private readonly firing: StatementFiring | null;

  constructor(
    private readonly program: InsertProgram,
    private readonly input: Operator,
    private readonly context: ExecContext,
  ) {
    const { plan, own, routes } = program;
    this.rows = new RowBuffer(plan.input.columns, context);
    this.loading = this.rows;
    this.own = routes.root === null ? new Target(own, program, context) : null;
    this.oids = plan.tableOid === undefined ? null : [];
    this.keys = plan.rowKey === undefined ? null : [];
    this.wereThere = plan.wasThere === undefined ? null : [];
    this.firing = program.triggers === null ? null : new StatementFiring(program.triggers, context);
    // Rows of VALUES never come as chunks.
    if (plan.input.kind === "values") return;
    const read = this.loadable && this.own!.program.generated.length === 0 ? BulkWriter.columnsRead(own.table) : null;
    const isChecked = own.checks.length > 0 || plan.membership !== undefined;
    if (read === null || isChecked) return;
    this.records = new ChunkRecords(layoutOf(own.table), own.columnIds);
    this.keySlots = own.columnIds.flatMap((id, slot) => (read.has(id) ? [slot] : []));
    this.input.acceptChunks?.();
  }

  run(): ChangedRows | Promise<ChangedRows> {
    const { firing } = this;
    return firing === null ? this.insertAll() : firing.begin(() => this.insertAll());
  }

  private insertAll(): ChangedRows | Promise<ChangedRows> {
    const { rows, context, oids, keys, wereThere, firing } = this;
    const besides = [oids, keys, wereThere].filter((values) => values !== null);
    const load = this.loadable ? (batch: Batch) => this.collect(batch) : null;
    const done = (): ChangedRows => {
      firing?.end();
      return { columns: besides.length === 0 ? rows.columns : [...rows.columns, ...besides], rows: this.changed };
    };
    return drain(this.input, load ?? ((batch) => rows.append(batch)), () =>
      this.bulk !== null
        ? this.finishLoad(this.bulk)
        : this.program.waits
          ? inOrder(context, rows.length, this.insertRow, done)
          : storeInTurns(context, rows.length, this.insertRow, done),
    );
  }

  release(): void {
    this.rows.release();
  }

  /** Stores the batch's only row; for statements without triggers, partitions and ON CONFLICT (repeated-insert.ts). */
  insertSingle(batch: Batch): void {
    const { rows, context } = this;
    const bytes = rows.bytesOf(batch);
    context.statement.reserve(bytes);
    for (let c = 0; c < rows.columns.length; c++) rows.columns[c]![0] = batch.columns[c]![0]!;
    this.changed.length = 0;
    this.insertRow(0);
    context.statement.release(bytes);
  }

  /** Rows may go into the table many at a time, and nobody asks for them afterwards. */
  private get loadable(): boolean {
    const { context, program, own } = this;
    const { conflict, plan } = program;
    if (own === null || conflict !== null || plan.returning !== null || context.live !== undefined) return false;
    return requiresSingleRows(plan.table, this.findTable) === null;
  }

  /**
   * Keeps the rows until there are enough for a load to pay off; from then on passes them to the load, batch by batch.
   */
  private collect(batch: Batch): void | Promise<void> {
    const { rows, context, program } = this;
    if (batch instanceof Chunk) {
      if (this.bulk !== null) return this.loadChunk(batch);
      return this.collect(valuesOfBatch(batch));
    }
    // Generated columns are written into the batch.
    if (this.bulk !== null && this.own!.program.generated.length === 0) return this.loadRows(batch);
    rows.append(batch);
    if (this.bulk === null) {
      if (rows.length < BULK_ROWS) return;
      const load = context.tx.beginLoad();
      if (load === null && storesAhead(program.plan.table, context) === null) return;
      this.bulk = new BulkWriter(program.plan.table, context, load, this.findTable);
    }
    return after(this.loadRows(rows), () => rows.clear());
  }

  private loadRows(batch: Batch): void | Promise<void> {
    this.loading = batch;
    return storeInTurns(this.context, batch.length, this.loadRow, () => this.bulk!.storeIfFull());
  }

  private loadChunk(chunk: Chunk): void | Promise<void> {
    const { bulk, own, keySlots } = this;
    const { row, routed } = own!;
    const records = this.records!;
    const load = (group: number): void => {
      const from = group * GROUP_ROWS;
      const count = Math.min(GROUP_ROWS, chunk.length - from);
      const failing = records.measure(chunk, from, count);
      if (failing !== -1) this.refuseNull(chunk, from + failing);
      bulk!.addChunk(chunk, records, count, (number) => {
        for (const slot of keySlots) row[routed.columnIds[slot]!] = chunk.value(slot, from + number);
        return row;
      });
    };
    return inTurns(this.context, Math.ceil(chunk.length / GROUP_ROWS), load, () => bulk!.storeIfFull(), 0, 1);
  }

  /** A column of the row is NULL that must not be. */
  private refuseNull(chunk: Chunk, number: number): never {
    const { row, routed, writer } = this.own!;
    routed.columnIds.forEach((id, slot) => {
      row[id] = chunk.value(slot, number);
    });
    writer.checkNotNull(row);
    throw new Error("no column of the row is NULL");
  }

  private finishLoad(bulk: BulkWriter): ChangedRows | Promise<ChangedRows> {
    return after(bulk.finish(), () => ({ columns: [], rows: [], count: bulk.count }));
  }

  private targetOf(number: number): Target {
    if (this.own !== null) return this.own;
    const { rows, context, program } = this;
    const { root } = program.routes;
    if (!belongs(program.routes, rows, number, context)) throw this.outsideOwn(number);
    const routed = routeRow(root!, rows, number, context);
    if (this.oids !== null) this.oids[number] = oidOfId(routed.table.id);
    this.partitions ??= new Map();
    let target = this.partitions.get(routed);
    if (target === undefined) {
      target = new Target(routed, program, context);
      this.partitions.set(routed, target);
    }
    return target;
  }

  /** The statement names a partition that has partitions of its own, and the row belongs to neither. */
  private outsideOwn(number: number): DbError {
    const { own } = this.program;
    const row = emptyRow(own.table);
    own.columnIds.forEach((id, c) => {
      row[id] = this.rows.columns[c]![number]!;
    });
    return new TableWriter(own.table, this.context).partitionViolation(row);
  }

  private readonly insertRow = (number: number): void | Promise<void> => {
    const { rows } = this;
    const target = this.targetOf(number);
    const { row } = target;
    const { columnIds } = target.routed;
    for (let c = 0; c < columnIds.length; c++) row[columnIds[c]!] = rows.columns[c]![number]!;
    const { onInsert } = target.program;
    if (onInsert === null || onInsert.before.length === 0) return this.store(target, number);
    return after(fireBefore(onInsert, null, row, this.context), (given) => {
      if (given === null) return;
      // Meanwhile the trigger may have inserted rows of its own, but not by this statement's arrays.
      for (let c = 0; c < columnIds.length; c++) {
        const id = columnIds[c]!;
        row[id] = given[id]!;
        rows.columns[c]![number] = given[id]!;
      }
      this.checkRoute(target, number);
      return this.store(target, number);
    });
  };

  /** A trigger may not give a row a key of another partition. Throws 0A000. */
  private checkRoute({ routed, row, writer, program: { onInsert } }: Target, number: number): void {
    const { root } = this.program.routes;
    if (root === null || findRoute(root, this.rows, number, this.context) === routed) return;
    throw movedByTrigger(onInsert!, writer, row);
  }

  private store(target: Target, number: number): void | Promise<void> {
    const { rows } = this;
    const { conflict } = this.program;
    const { row, writer } = target;
    const { generated } = target.program;
    const { columnIds } = target.routed;
    if (generated.length > 0) {
      writer.generate(row);
      for (const c of generated) rows.columns[c]![number] = row[columnIds[c]!]!;
    }
    this.check(target, row, rows, number);
    if (conflict === null) {
      this.write(target, number);
      return;
    }
    return after(writer.conflicting(row, target.program.arbiter), (key) =>
      key === null ? this.write(target, number) : this.resolve(conflict, target, key, number),
    );
  }

  private write(target: Target, number: number): void {
    const { row, writer } = target;
    const { conflict, isTriggered } = this.program;
    const key = writer.insert(row);
    if (conflict !== null && conflict.update !== null) this.noteWritten(key);
    this.noteChanged(number, key, false);
    if (isTriggered) this.noteTriggers(target, "insert", target.program.onInsert, null, row);
  }

  private noteChanged(number: number, key: Uint8Array, wasThere: boolean): void {
    if (this.keys !== null) this.keys[number] = Buffer.from(key);
    if (this.wereThere !== null) this.wereThere[number] = wasThere;
    this.changed.push(number);
  }

  private noteTriggers(
    { routed }: Target,
    event: "insert" | "update",
    triggers: RowTriggers | null,
    old: Row | null,
    row: Row,
  ): void {
    const { firing, context } = this;
    firing?.capture(event, routed.columnIds, old, row);
    noteAfter(triggers, old, row, context, firing?.rowsOf(event) ?? null);
  }

  private noteWritten(key: Uint8Array): void {
    this.written ??= new Set();
    this.written.add(keyText(key));
  }

  private readonly loadRow = (number: number): void => {
    const { rows, bulk, loading } = this;
    const target = this.own!;
    const { row, routed } = target;
    const { generated } = target.program;
    const { columnIds } = routed;
    const { columns } = loading;
    for (let c = 0; c < columnIds.length; c++) row[columnIds[c]!] = columns[c]![number]!;
    if (generated.length > 0) {
      bulk!.generate(row);
      for (const c of generated) rows.columns[c]![number] = row[columnIds[c]!]!;
    }
    this.check(target, row, loading, number);
    bulk!.addRow(row);
  };

  /** `policies`: those of an update; null: those of INSERT, which are among the checks. */
  private check(
    { writer, routed }: Target,
    row: Row,
    batch: Batch,
    number: number,
    policies: readonly RowCheck[] | null = null,
  ): void {
    const { program, context } = this;
    requirePolicies(policies ?? program.policies, batch, number, context);
    const checks = policies === null ? routed.checks : routed.checks.filter(isNoPolicy);
    checkRow(writer, row, checks, batch, number, context);
    const failed = failedCheck(program.viewChecks, batch, number, context);
    if (failed !== null) throw writer.checkViolation(row, failed);
    const isOwn = program.routes.root === null;
    if (isOwn && !belongs(program.routes, batch, number, context)) throw writer.partitionViolation(row);
  }

  /** DO NOTHING, or updates the stored row and shows it in place of the proposed one. */
  private resolve({ update }: ConflictProgram, target: Target, key: Uint8Array, number: number): void | Promise<void> {
    if (update === null) return;
    const { rows, context } = this;
    const { writer } = target;
    const { onUpdate } = target.program;
    if (this.written?.has(keyText(key))) {
      throw sqlError("21000", "ON CONFLICT DO UPDATE command cannot affect row a second time", {
        hint: "Ensure that no rows proposed for insertion within the same command have duplicate constrained values.",
      });
    }
    const existing = writer.read(key);
    const { columnIds } = target.routed;
    const pair: Batch = {
      columns: [...columnIds.map((id) => [existing[id]!]), ...rows.columns.map((values) => [values[number]!])],
      length: 1,
    };
    // Before WHERE, which could otherwise be asked what a hidden row is like.
    const hidden = update.policies === null ? null : failedCheck(update.policies.using, pair, 0, context);
    if (hidden !== null) throw writer.checkViolation(existing, hidden);
    if (update.where !== null && !update.where(pair, 0, context)) return;
    const row = existing.slice();
    for (const { place, evaluate } of update.assignments) row[columnIds[place]!] = evaluate(pair, 0, context);
    if (onUpdate === null || onUpdate.before.length === 0) {
      this.storeUpdate(target, key, existing, row, number);
      return;
    }
    return after(fireBefore(onUpdate, existing, row, context), (given) => {
      if (given !== null) this.storeUpdate(target, key, existing, given, number);
    });
  }

  private storeUpdate(target: Target, key: Uint8Array, existing: Row, row: Row, number: number): void {
    const { rows, context, program } = this;
    const { writer } = target;
    const { assigned, onUpdate } = target.program;
    const { columnIds } = target.routed;
    writer.generate(row);
    const shown: Batch = { columns: columnIds.map((id) => [row[id]!]), length: 1 };
    const { root } = program.routes;
    if (root !== null && routeRow(root, shown, 0, context) !== target.routed) {
      throw sqlError("0A000", "invalid ON UPDATE specification", {
        detail: "The result tuple would appear in a different partition than the original tuple.",
      });
    }
    this.check(target, row, shown, 0, program.conflict!.update!.policies?.checks ?? null);
    const move = writer.takeOut(key, existing, row, assigned);
    writer.putBack(move, row, assigned);
    this.noteWritten(move.newKey);
    for (let c = 0; c < columnIds.length; c++) rows.columns[c]![number] = row[columnIds[c]!]!;
    this.noteChanged(number, move.newKey, true);
    if (program.isTriggered) this.noteTriggers(target, "update", onUpdate, existing, row);
  }
}

const isNoPolicy = ({ policy }: RowCheck): boolean => policy === undefined;

function keyText(key: Uint8Array): string {
  return Buffer.from(key).toString("latin1");
}
