/**
 * The rows of a WITH table: computed on first use, as far as they are read, and shared by all its readers
 * (spill/shared-rows.ts). Kept in the statement's state while the `with` node that defines the table is open; `with.ts`
 * and `recursive.ts` own them.
 */
import type { Batch } from "../expr/expr.js";
import type { CommonScanPlan, CommonTable, OutputColumn } from "../plan/plan.js";
import type { CommonRows, CommonRowsReader, ExecContext } from "./context.js";
import { after, drain, type Open, type Operator, type Pulled } from "./operator.js";
import { Chunk } from "./segments/chunk.js";
import { FEW_ROWS, SharedRows } from "./spill/shared-rows.js";

/** How to open the rows of each WITH table of a program; filled in while the program is compiled. */
export type CommonPrograms = Map<CommonTable, CommonProgram>;

export interface CommonProgram {
  readonly open: Open;
  readonly columns: readonly OutputColumn[];
  readonly modifies: boolean;
}

/** The table's rows in this statement, opened if nobody has read them yet. */
export function commonRowsOf(table: CommonTable, programs: CommonPrograms, context: ExecContext): CommonRows {
  const { statement } = context;
  statement.commonRows ??= new Map();
  let rows = statement.commonRows.get(table);
  if (rows === undefined) {
    const program = programs.get(table);
    if (program === undefined) throw new Error(`the WITH table ${table.name} is read outside of its query`);
    rows = new ComputedRows(program, context);
    statement.commonRows.set(table, rows);
  }
  return rows;
}

/** Frees the table's rows, if there are any: the next reader computes them again. */
export function dropCommonRows(table: CommonTable, context: ExecContext): void {
  context.statement.commonRows?.get(table)?.close();
  context.statement.commonRows?.delete(table);
}

class ComputedRows implements CommonRows {
  private readonly rows: SharedRows;
  private operator: Operator | null = null;
  private done = false;
  private failure: { readonly error: unknown } | null = null;
  /** A copy of the last batch; null: it was no short one. */
  private few: Batch | null = null;
  /** The reader that waits for rows now: one inside an expression cannot give turns, others do. */
  private reader: ExecContext;
  private readonly context: ExecContext;

  constructor(
    private readonly program: CommonProgram,
    context: ExecContext,
  ) {
    this.rows = new SharedRows(program.columns, context);
    this.reader = context;
    this.context = {
      ...context,
      checkpoint: () => this.reader.checkpoint(),
      shouldYield: () => this.reader.shouldYield(),
      yieldTurn: () => this.reader.yieldTurn(),
    };
  }

  open(context: ExecContext, slots: readonly number[], asChunks: boolean): CommonRowsReader {
    if (this.operator === null) {
      // The rows are kept as their first reader likes them; any reader can be given both forms of either.
      this.operator = this.program.open(this.context);
      if (asChunks) this.operator.acceptChunks?.();
    }
    const cursor = this.rows.cursor(slots, asChunks, context);
    const next = (): Pulled => {
      if (cursor.isAtEnd) {
        const more = this.more(context);
        if (more instanceof Promise) return more.then((came) => (came ? next() : null));
        if (!more) return null;
        const few = this.few;
        if (few !== null) {
          cursor.skip(few.length);
          return { columns: slots.map((slot) => few.columns[slot]!), length: few.length };
        }
      }
      return context.shouldYield() ? context.yieldTurn().then(() => cursor.read()) : cursor.read();
    };
    return { next, close: () => cursor.close() };
  }

  complete(context: ExecContext): void | Promise<void> {
    this.operator ??= this.program.open(this.context);
    for (;;) {
      const more = this.more(context);
      if (more instanceof Promise) return more.then((came) => (came ? this.complete(context) : undefined));
      if (!more) return;
    }
  }

  /** Adds rows; false at the end. An error ends the rows for every reader that comes so far. */
  private more(reader: ExecContext): boolean | Promise<boolean> {
    if (this.failure !== null) throw this.failure.error;
    if (this.done) return false;
    this.reader = reader;
    try {
      const more = this.program.modifies ? this.all() : after(this.operator!.next(), this.accept);
      return more instanceof Promise ? more.catch(this.fail) : more;
    } catch (error) {
      return this.fail(error);
    }
  }

  private readonly fail = (error: unknown): never => {
    this.failure = { error };
    throw error;
  };

  private readonly accept = (batch: Batch | null): boolean | Promise<boolean> => {
    if (batch === null) {
      this.done = true;
      this.operator!.close();
      return false;
    }
    const isShort = batch.length <= FEW_ROWS && !(batch instanceof Chunk);
    this.few = isShort ? { columns: batch.columns.map((values) => Array.from(values)), length: batch.length } : null;
    return after(this.rows.append(batch, this.reader), () => true);
  };

  /** A change is made as a whole; the rows it changes are not those that the statement reports. */
  private all(): boolean | Promise<boolean> {
    const { statement } = this.context;
    const before = statement.rowsAffected;
    return drain(
      this.operator!,
      (batch) => this.rows.append(batch, this.reader),
      () => {
        this.done = true;
        statement.rowsAffected = before;
        return this.rows.length > 0;
      },
    );
  }

  close(): void {
    this.operator?.close();
    this.rows.close();
  }
}

export function compileCommonScan(plan: CommonScanPlan, programs: CommonPrograms): Open {
  const slots = plan.source ?? plan.columns.map((_, slot) => slot);
  return (context) => new CommonScanOperator(plan.table, slots, programs, context);
}

class CommonScanOperator implements Operator {
  /** Opened with the first batch: a recursive query has put the rows of its last step there by then. */
  private reader: CommonRowsReader | null = null;
  private takesChunks = false;

  constructor(
    private readonly table: CommonTable,
    private readonly slots: readonly number[],
    private readonly programs: CommonPrograms,
    private readonly context: ExecContext,
  ) {}

  acceptChunks(): void {
    this.takesChunks = true;
  }

  next(): Pulled {
    if (this.reader === null) {
      const rows = commonRowsOf(this.table, this.programs, this.context);
      this.reader = rows.open(this.context, this.slots, this.takesChunks);
    }
    return this.reader.next();
  }

  close(): void {
    this.reader?.close();
  }
}
