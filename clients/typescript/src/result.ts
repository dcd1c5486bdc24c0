/** Rows of a statement as a program reads them. Pure. */

import type { ColumnValues } from "./packed.js";

/** A column of a result. */
export interface Column {
  readonly name: string;
  /** Its type in SQL. */
  readonly data_type: string;
  readonly nullable: boolean;
}

/** A row by its columns' names. Of two columns with one name the last counts; `lists` has both. */
export type Row = Readonly<Record<string, unknown>>;

/** What a statement answers: a list of rows, with what else is known of it. */
export interface Result<R = Row> extends ReadonlyArray<R> {
  readonly columns: readonly Column[];
  /** The rows as lists, in the order of the columns. */
  readonly lists: readonly (readonly unknown[])[];
  /** Rows that were inserted, changed or deleted; undefined for a query. */
  readonly rowsAffected: number | undefined;
  readonly executionTimeMs: number;
  readonly notices: readonly string[];
  /** True: there are more rows than `maxRows`. */
  readonly truncated: boolean;
}

/** As the server sends it. */
export interface SentResult {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly unknown[])[];
  readonly rows_affected?: number;
  readonly execution_time_ms: number;
  readonly notices?: readonly string[];
  readonly truncated?: boolean;
}

export function resultOf<R>({ columns, rows, ...facts }: SentResult): Result<R> {
  const make = rowMaker<R>(columns);
  return Object.assign(
    rows.map((row) => make(row)),
    {
      columns,
      lists: rows,
      rowsAffected: facts.rows_affected,
      executionTimeMs: facts.execution_time_ms,
      notices: facts.notices ?? [],
      truncated: facts.truncated ?? false,
    },
  );
}

/** Makes objects of rows. */
export function rowMaker<R>(columns: readonly Column[]): (row: readonly unknown[]) => R {
  const names = columns.map(({ name }) => name);
  const { length } = names;
  // A member of that name would set the object's prototype.
  if (names.includes("__proto__")) return (row) => Object.fromEntries(names.map((name, i) => [name, row[i]])) as R;
  const [a, b, c, d, e, f, g, h] = names as Eight<string>;
  return (row) => {
    const made: Record<string, unknown> = {};
    // A place in the program for each column: V8 keeps what it learns by place, and this takes a fifth of a loop.
    if (length > 0) made[a] = row[0];
    if (length > 1) made[b] = row[1];
    if (length > 2) made[c] = row[2];
    if (length > 3) made[d] = row[3];
    if (length > 4) made[e] = row[4];
    if (length > 5) made[f] = row[5];
    if (length > 6) made[g] = row[6];
    if (length > 7) made[h] = row[7];
    for (let i = 8; i < length; i++) made[names[i]!] = row[i];
    return made as R;
  };
}

/** Makes objects of rows that come by columns. */
export function columnRowMaker<R>(columns: readonly Column[]): (values: readonly ColumnValues[]) => (row: number) => R {
  const names = columns.map(({ name }) => name);
  const { length } = names;
  if (names.includes("__proto__")) {
    return (values) => (row) => Object.fromEntries(names.map((name, i) => [name, values[i]![row]])) as R;
  }
  const [a, b, c, d, e, f, g, h] = names as Eight<string>;
  return (values) => {
    const [va, vb, vc, vd, ve, vf, vg, vh] = values as unknown as Eight<ColumnValues>;
    return (row) => {
      const made: Record<string, unknown> = {};
      if (length > 0) made[a] = va[row];
      if (length > 1) made[b] = vb[row];
      if (length > 2) made[c] = vc[row];
      if (length > 3) made[d] = vd[row];
      if (length > 4) made[e] = ve[row];
      if (length > 5) made[f] = vf[row];
      if (length > 6) made[g] = vg[row];
      if (length > 7) made[h] = vh[row];
      for (let i = 8; i < length; i++) made[names[i]!] = values[i]![row];
      return made as R;
    };
  };
}

type Eight<T> = [T, T, T, T, T, T, T, T];
