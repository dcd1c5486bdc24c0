/** Runs plans in tests: a shard in memory, and contexts whose bounds and turns the test decides. */
import type { Test } from "tap";
import type { TableDef } from "../../src/catalog/table.js";
import { DbError } from "../../src/protocol/errors.js";
import { compilePlan } from "../../src/query/exec/compile-plan.js";
import type { ExecContext } from "../../src/query/exec/context.js";
import { type ContextInit, createContext } from "../../src/query/exec/create-context.js";
import { createRowNumbers, type RowNumbers } from "../../src/query/exec/row-numbers.js";
import { type ResultRows, runToCompletion } from "../../src/query/exec/run.js";
import type { Plan } from "../../src/query/plan/plan.js";
import type { Shard } from "../../src/storage/shard.js";
import type { Transaction } from "../../src/storage/store.js";
import type { Value } from "../../src/values/values.js";
import { openShard } from "../storage/shards.js";
import { newColumn } from "./plan-builder.js";

export type RunOptions = Partial<ContextInit> & { readonly maxRows?: number };

export class Database {
  readonly rowNumbers: RowNumbers;
  tx: Transaction;

  private constructor(readonly shard: Shard) {
    this.rowNumbers = this.newRowNumbers();
    this.tx = shard.begin();
  }

  static async open(t: Test): Promise<Database> {
    const database = new Database(await openShard(t));
    t.teardown(() => database.tx.rollback());
    return database;
  }

  /** What an actor has after a restart. */
  newRowNumbers(): RowNumbers {
    return createRowNumbers(() => this.shard.begin({ readOnly: true }));
  }

  /** Commits and goes on in a new transaction. */
  commit(): void {
    this.tx.commit();
    this.shard.flush();
    this.tx = this.shard.begin();
  }

  context(options: RunOptions = {}): ExecContext {
    return createContext({
      tx: this.tx,
      tenantNumber: 1,
      tenant: "test",
      user: "test",
      params: [],
      rowNumbers: this.rowNumbers,
      transactionMicros: 0,
      statementMicros: 0,
      timeZone: "UTC",
      memoryBytesMax: 64 * 1024 * 1024,
      checkpoint() {},
      shouldYield: () => false,
      yieldTurn: async () => {},
      ...options,
    });
  }

  /** The result of a plan that must not wait. */
  result(plan: Plan, options: RunOptions = {}): ResultRows {
    const result = this.start(plan, options);
    if (result instanceof Promise) throw new Error("the plan waited although its turn was not over");
    return result;
  }

  start(plan: Plan, options: RunOptions = {}): ResultRows | Promise<ResultRows> {
    const maxRows = options.maxRows ?? Number.POSITIVE_INFINITY;
    return runToCompletion(compilePlan(plan), this.context(options), { maxRows });
  }

  rows(plan: Plan, options: RunOptions = {}): readonly (readonly Value[])[] {
    return this.result(plan, options).rows;
  }

  /** The expected error that the plan ends in; what it wrote is undone, as the session does. */
  errorOf(plan: Plan, options: RunOptions = {}): DbError {
    const savepoint = this.tx.savepoint();
    try {
      this.result(plan, options);
    } catch (error) {
      this.tx.rollbackTo(savepoint);
      if (error instanceof DbError) return error;
      throw error;
    }
    throw new Error("the plan did not fail");
  }

  /** The result with a turn given up whenever an operator asks. */
  async yieldingRows(plan: Plan, options: RunOptions = {}): Promise<readonly (readonly Value[])[]> {
    const turns = { shouldYield: () => true, yieldTurn: () => Promise.resolve() };
    return (await this.start(plan, { ...turns, ...options })).rows;
  }

  insert(def: TableDef, rows: readonly (readonly Value[])[]): void {
    this.result(insertPlan(def, rows));
  }
}

export function insertPlan(def: TableDef, rows: readonly (readonly Value[])[]): Extract<Plan, { kind: "insert" }> {
  return insertFrom(def, {
    kind: "values",
    columns: def.columns.map((column) => newColumn(column.name, column.type)),
    rows: rows.map((row) => row.map((value, i) => ({ kind: "const", type: def.columns[i]!.type, value }))),
  });
}

export function insertFrom(def: TableDef, input: Plan): Extract<Plan, { kind: "insert" }> {
  return {
    kind: "insert",
    table: def,
    input,
    rowColumns: def.columns.map((column) => newColumn(column.name, column.type)),
    checks: [],
    returning: null,
    onConflict: null,
    columns: [],
  };
}
