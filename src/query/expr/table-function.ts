/**
 * Functions that return rows, for FROM, ROWS FROM and the select list. The SQL functions among them are in
 * `functions/`; another room adds its own with `registerTableFunction` when the process starts, and reaches what it
 * needs through `EvalContext.services`. Resolved by `resolve.ts`, run by `query/exec/set-rows.ts`.
 */
import { RECORD, type SqlType, type Value } from "../../values/values.js";
import type { EvalContext, RoutineCall } from "./expr.js";

/** The rows of one call. Made per call by `TableFunction.open`; its state lives as long as the call. */
export interface TableRows {
  /**
   * Writes at most `max` (≥ 1) further rows: field c of the i-th into `out[c][at + i]`. Answers how many; 0 is the end.
   * A promise where rows have to be waited for. It may give fewer than asked for, so as not to work long at a stretch.
   */
  next(out: readonly Value[][], at: number, max: number): number | Promise<number>;
  /** Frees what the call holds; may come before the end. Not called while a promise of `next` is pending. */
  close?(): void;
}

/** One overload of a function that returns rows. */
export interface TableFunction {
  readonly name: string;
  readonly args: readonly SqlType[];
  /** The type of any further argument; absent: fixed arity. */
  readonly variadic?: SqlType;
  /**
   * A row: a record type gives a column per field, any other type one column. RECORD itself: the call names its
   * columns, `AS t(a int, b text)`.
   */
  readonly returns: SqlType;
  /** Of one column: the name that it keeps whatever the call is called. */
  readonly column?: string;
  /** True (the usual case): any NULL argument gives no rows. */
  readonly strict: boolean;
  /** Gives one value, of a record the whole of it: a scalar function that may have to wait. */
  readonly oneValue?: true;
  /** Of a function that a statement made. */
  readonly routine?: RoutineCall;
  /**
   * The row of a call whose constant arguments tell it, on behalf of a session's client. It is waited for before the
   * statement is planned; a call that names its columns needs none.
   */
  readonly shapeOf?: (client: object, args: readonly Value[]) => Promise<SqlType>;
  /** It finds its columns by their names, so those that nobody reads may be left out. */
  readonly readsColumns?: true;
  /** `shape` is `returns`, or the record of the columns that the call named. Arguments have the declared types. */
  readonly open: (context: EvalContext, args: readonly Value[], shape: SqlType) => TableRows;
}

/** The columns that rows of a shape have; the name of the only column of a plain value is the caller's. */
export function shapeColumns(
  shape: SqlType,
  name: string,
): readonly { readonly name: string; readonly type: SqlType }[] {
  return shape.fields ?? [{ name, type: shape }];
}

/** True when the call itself must say which columns it returns. */
export function needsDefinition(returns: SqlType): boolean {
  return returns === RECORD;
}

/** Rows of one column out of an iterator. */
export function valueRows(values: Iterable<Value>): TableRows {
  const iterator = values[Symbol.iterator]();
  return {
    next(out, at, max) {
      const column = out[0]!;
      let count = 0;
      for (; count < max; count++) {
        const { done, value } = iterator.next();
        if (done === true) break;
        column[at + count] = value;
      }
      return count;
    },
    close: () => void iterator.return?.(),
  };
}

/** Rows of several columns out of an iterator. */
export function recordRows(rows: Iterable<readonly Value[]>): TableRows {
  const iterator = rows[Symbol.iterator]();
  return {
    next(out, at, max) {
      let count = 0;
      for (; count < max; count++) {
        const { done, value } = iterator.next();
        if (done === true) break;
        for (let c = 0; c < out.length; c++) out[c]![at + count] = value[c] ?? null;
      }
      return count;
    },
    close: () => void iterator.return?.(),
  };
}

/** An overload with the usual settings. */
export function tableFn(
  name: string,
  args: readonly SqlType[],
  returns: SqlType,
  // biome-ignore lint/suspicious/noExplicitAny: each overload names the parameter types that it declares
  open: (...args: any[]) => TableRows,
  options: { readonly strict?: boolean; readonly column?: string; readonly variadic?: SqlType } = {},
): TableFunction {
  return Object.freeze({
    name,
    args,
    returns,
    strict: true,
    ...options,
    open: (_context: EvalContext, values: readonly Value[]) => open(...values),
  });
}

/** Rows that one call has made, given out piece by piece. */
export class MadeRows implements TableRows {
  private rows: readonly (readonly Value[])[] | null = null;
  private given = 0;

  constructor(private readonly make: () => Promise<readonly (readonly Value[])[]>) {}

  async next(out: readonly Value[][], at: number, max: number): Promise<number> {
    this.rows ??= await this.make();
    const rows = this.rows.slice(this.given, this.given + max);
    for (const [i, row] of rows.entries()) for (let c = 0; c < out.length; c++) out[c]![at + i] = row[c]!;
    this.given += rows.length;
    return rows.length;
  }
}
