/**
 * The rows of a WITH table: computed on first use, as far as they are read, and shared by all its readers. Kept in the
 * statement's state while the `with` node that defines the table is open; `with.ts` and `recursive.ts` own them.
 */
import type { Batch } from "../expr/expr.js";
import type { CommonScanPlan, CommonTable, OutputColumn } from "../plan/plan.js";
import type { CommonRows, ExecContext } from "./context.js";
import { drain, type Open, type Operator, type Pulled } from "./operator.js";
import { RowBuffer } from "./row-buffer.js";

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

/** Frees the table's rows, if there are any: the next reader computes them anew. */
export function dropCommonRows(table: CommonTable, context: ExecContext): void {
  context.statement.commonRows?.get(table)?.close();
  context.statement.commonRows?.delete(table);
}

class ComputedRows implements CommonRows {
  readonly rows: RowBuffer;
  private readonly operator: Operator;
  private done = false;

  constructor(
    private readonly program: CommonProgram,
    private readonly context: ExecContext,
  ) {
    this.rows = new RowBuffer(program.columns, context);
    this.operator = program.open(context);
  }

  more(): boolean | Promise<boolean> {
    if (this.done) return false;
    if (this.program.modifies) return this.all();
    const batch = this.operator.next();
    return batch instanceof Promise ? batch.then(this.accept) : this.accept(batch);
  }

  private readonly accept = (batch: Batch | null): boolean => {
    if (batch === null) this.done = true;
    else this.rows.append(batch);
    return batch !== null;
  };

  /** A change is made as a whole; the rows it changes are not those that the statement reports. */
  private all(): boolean | Promise<boolean> {
    const { statement } = this.context;
    const before = statement.rowsAffected;
    return drain(
      this.operator,
      (batch) => this.rows.append(batch),
      () => {
        this.done = true;
        statement.rowsAffected = before;
        return this.rows.length > 0;
      },
    );
  }

  close(): void {
    this.operator.close();
    this.rows.release();
  }
}

export function compileCommonScan(plan: CommonScanPlan, programs: CommonPrograms): Open {
  return (context) => new CommonScanOperator(plan.table, programs, context);
}

class CommonScanOperator implements Operator {
  private position = 0;
  /** Looked up with the first batch: a recursive query has put the rows of its last step there by then. */
  private source: CommonRows | null = null;

  constructor(
    private readonly table: CommonTable,
    private readonly programs: CommonPrograms,
    private readonly context: ExecContext,
  ) {}

  next(): Pulled {
    this.source ??= commonRowsOf(this.table, this.programs, this.context);
    const { source } = this;
    while (this.position === source.rows.length) {
      const more = source.more();
      if (more instanceof Promise) return more.then((came) => (came ? this.next() : null));
      if (!more) return null;
    }
    if (this.context.shouldYield()) return this.context.yieldTurn().then(() => this.batch(source.rows));
    return this.batch(source.rows);
  }

  private batch(rows: CommonRows["rows"]): Batch {
    const from = this.position;
    const to = Math.min(from + this.context.batchRows, rows.length);
    this.position = to;
    return { columns: rows.columns.map((values) => values.slice(from, to)), length: to - from };
  }

  close(): void {}
}
