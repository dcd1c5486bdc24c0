/** The state of one run of a PL/pgSQL body: values of its variables, its rows, the errors that it handles. */
import type { DbError } from "../../../protocol/errors.js";
import type { ExecContext } from "../../../query/exec/context.js";
import { sumOfBytes } from "../../../query/exec/value-bytes.js";
import type { SqlType, Value } from "../../../values/values.js";
import type { Invocation } from "../prepared-routine.js";
import { statementContext } from "../prepared-routine.js";

/** How a statement ended. */
export const NORMAL = 0;
export const EXIT = 1;
export const CONTINUE = 2;
export const RETURN = 3;
export type Signal = 0 | 1 | 2 | 3;

export type Run = (frame: Frame) => Signal | Promise<Signal>;

export class Frame {
  /** By slot; statements of SQL get them as parameters. */
  readonly values: Value[];
  /** Of variables of type record, the type of the row that they hold; null: none was assigned. */
  readonly types: (SqlType | null)[];
  /** For expressions: its parameters are `values` themselves. */
  readonly context: ExecContext;
  result: Value = null;
  resultType: SqlType | null = null;
  readonly rows: (readonly Value[])[] = [];
  /** Where EXIT or CONTINUE goes; null: the innermost loop. */
  label: string | null = null;
  rowCount = 0;
  readonly errors: DbError[] = [];

  constructor(
    slots: number,
    readonly invocation: Invocation,
    /** A row of the result of a function that returns a set. */
    readonly shape: SqlType,
  ) {
    this.values = new Array<Value>(slots).fill(null);
    this.types = new Array<SqlType | null>(slots).fill(null);
    this.context = statementContext(invocation.context, this.values);
  }

  addRow(row: readonly Value[]): void {
    this.invocation.context.statement.reserve(sumOfBytes(row, row.length));
    this.rows.push(row);
  }
}
